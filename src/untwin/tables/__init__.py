"""The two tables of counts: class x term (`Contingency`) and true x predicted (`Confusion`)."""

from untwin.tables.confusion import Confusion
from untwin.tables.contingency import Contingency

__all__ = ["Confusion", "Contingency"]

"""What follows from the answers of any classifier, which nobody here has trained."""

from untwin.model.auditing.audited import Audit, audit

__all__ = ["Audit", "audit"]

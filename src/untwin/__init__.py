"""untwin tells near-twin classes apart.

Everything public is importable from here and loaded on first use, so that ``import untwin`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from untwin.data.counts import TextCounts as TextCounts

__version__ = "0.1.0"

_HOME = {
    "TextCounts": "untwin.data.counts",
}

__all__ = ["TextCounts", "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name from the room it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module 'untwin' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

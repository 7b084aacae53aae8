"""What rules about several objects of a model share: parts of a reasonable number, classes and columns that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.store.refusal import require

if TYPE_CHECKING:
    from untwin._types import Array

MOST_PARTS = 32  # members, models of a stack, ways to count: each is asked, and trained again when a model learns


def require_parts(parts: Any, said: str) -> None:
    """Refuse parts of an unreasonable number: one array may stand for hundreds of them."""
    require(isinstance(parts, list | tuple) and len(parts) <= MOST_PARTS, f"{said} must be at most {MOST_PARTS}")


def require_named(steps: Any, said: str) -> None:
    """Refuse what is no list of things with a name each."""
    require_parts(steps, said)
    pairs = isinstance(steps, list) and all(type(step) is tuple and len(step) == 2 for step in steps)
    names = [step[0] for step in steps] if pairs else []
    distinct = all(type(name) is str for name in names) and len(set(names)) == len(names)
    require(pairs and distinct, f"{said} must have a name each")


def same(a: Array, b: Array) -> bool:
    """Tell whether two lists of classes are the same, in one order and of one kind."""
    return (a.dtype.kind in "biuf") == (b.dtype.kind in "biuf") and bool(np.array_equal(a, b))


def require_classifier(model: Any, classes: Array | None, n_columns: int | None, said: str) -> None:
    """Refuse a part that is no fitted classifier of some of these classes, for rows of so many columns."""
    known: Any = getattr(model, "classes_", None)
    require(isinstance(known, np.ndarray) and known.ndim == 1, f"{said} must be a fitted classifier")
    width = getattr(model, "n_features_in_", None)
    require(n_columns is None or width == n_columns, f"{said} must be for the columns of the rows")
    if classes is not None:
        numbers = (known.dtype.kind in "biuf") == (classes.dtype.kind in "biuf")
        require(numbers and bool(np.isin(known, classes).all()), f"{said} must be of the classes of the whole")

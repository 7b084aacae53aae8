"""What all our values share: class names, read-only arrays, a table for notebooks.

A value (`Contingency`, `Confusion`, `SprinklingPlan`, `Hierarchy`, `ConfusionGraph`) never changes after it is made, is
equal to another by content, and knows its classes by name, so that combining two values never mixes up columns.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._labels import label_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike
    from scipy.sparse import csr_array

    from untwin._types import Array, Indices


def freeze(array: ArrayLike) -> Array:
    """Return a read-only view of `array` (the caller's own array stays writable)."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def freeze_csr(matrix: Any, dtype: Any = None) -> csr_array:
    """Return `matrix` as canonical CSR (sorted, no duplicates, no stored zeros) whose arrays are read-only."""
    from scipy.sparse import csr_array  # slow to load, and not needed by what only answers

    result = csr_array(matrix, dtype=dtype, copy=True)
    result.sum_duplicates()
    result.eliminate_zeros()
    for part in (result.data, result.indices, result.indptr):
        part.flags.writeable = False
    return result


def class_names(classes: ArrayLike | Iterable[Any]) -> Array:
    """Return a read-only copy of class names, 1-d; a name that occurs twice is refused."""
    names = label_array(classes if isinstance(classes, np.ndarray) else list(classes)).copy()  # type: ignore[arg-type]
    if names.ndim != 1:
        raise ValueError(f"classes must be one-dimensional. Got {names.ndim} dimensions instead.")
    distinct, counts = np.unique(names, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"classes must be distinct. Got {distinct[counts > 1][0]!r} more than once instead.")
    return freeze(names)


def join_classes(a: Array, b: Array) -> Array:
    """Return the union of two lists of classes: sorted if both are, else `a`'s order, then what is new in `b`.

    >>> join_classes(np.array(["ape", "cat"]), np.array(["bee", "cat"])).tolist()
    ['ape', 'bee', 'cat']
    >>> join_classes(np.array(["cat", "ape"]), np.array(["bee", "cat"])).tolist()
    ['cat', 'ape', 'bee']
    """
    if np.array_equal(a, b):
        return freeze(a)
    if np.array_equal(a, np.sort(a)) and np.array_equal(b, np.sort(b)):
        return freeze(np.union1d(a, b))
    return freeze(np.concatenate([a, b[~np.isin(b, a)]]))


def positions(names: ArrayLike, classes: Array) -> Indices:
    """Return where each of `names` stands in `classes`; an unknown name is an error that lists a few known ones.

    >>> positions(["cat", "ape"], np.array(["ape", "bee", "cat"])).tolist()
    [2, 0]
    """
    wanted = np.asarray(names)
    order = np.argsort(classes, kind="stable")
    if len(order) == 0 and wanted.size:
        raise ValueError(f"Unknown class {wanted.flat[0]!r}: there are no classes.")
    slots = np.minimum(np.searchsorted(classes, wanted, sorter=order), max(len(order) - 1, 0))
    found = order[slots]
    unknown = wanted[classes[found] != wanted]
    if unknown.size:
        known = ", ".join(repr(name) for name in classes[:5].tolist())
        raise ValueError(f"Unknown class {unknown.ravel()[:1].tolist()[0]!r}. Known classes: {known}, ...")
    return found


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a small HTML table; every cell is escaped."""
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(_format_cell(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _format_cell(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)

"""`ClassSums`: sums of labelled rows by class, kept instead of the rows.

Glossary
--------
X         n x m    rows of terms: counts, intervals, weights
Y         n x C    one column a class
sums      C x m    Z' = Y'X, sparse: the attribute-class table of paper 4, one row a class
sizes     C        rows of each class
squares   C        sum of |x|^2 over the rows of each class
totals    m        sum of |x_t| over all rows

All of them are sums over rows, so that two parts of the data add up to the whole: bit for bit if
X holds whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.utils.extmath import row_norms

from untwin._compat import is_sparse
from untwin._values import freeze, freeze_csr, join_classes, positions
from untwin.represent.incremental import widen_matrix

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices


@dataclass(frozen=True, eq=False, slots=True)
class ClassSums:
    """Sums of rows by class; made by `of_rows`, added by `+`.

    >>> part = ClassSums.of_rows(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array(["b", "b"]))
    >>> whole = part + ClassSums.of_rows(np.array([[0.0, 0.0, 4.0]]), np.array(["a"]))
    >>> whole.classes.tolist(), whole.sums.toarray().tolist()
    (['a', 'b'], [[0.0, 0.0, 4.0], [2.0, 2.0, 0.0]])
    """

    sums: csr_array
    sizes: Floats
    squares: Floats
    totals: Floats
    classes: Array

    @classmethod
    def of_rows(cls, X: Any, y: Array) -> ClassSums:
        """Return the sums of the rows of X (n x m, sparse or dense) by their labels y."""
        rows: Any = csr_array(X) if is_sparse(X) else X  # sums of a sparse matrix would have two dimensions
        classes, codes = np.unique(y, return_inverse=True)
        Y = placement(codes, len(classes))
        squares, totals = Y @ row_norms(rows, squared=True), abs(rows).sum(axis=0)
        return cls(freeze_csr(Y @ rows), freeze(Y.sum(axis=1)), freeze(squares), freeze(totals), freeze(classes))

    def __add__(self, other: ClassSums) -> ClassSums:
        names = join_classes(self.classes, other.classes)
        width = max(self.sums.shape[1], other.sums.shape[1])
        mine, theirs = self._place(names, width), other._place(names, width)
        return ClassSums(
            freeze_csr(mine.sums + theirs.sums),
            freeze(mine.sizes + theirs.sizes),
            freeze(mine.squares + theirs.squares),
            freeze(mine.totals + theirs.totals),
            names,
        )

    def without(self, X: Any, y: Array) -> ClassSums:
        """Return the sums without these rows, scaled to the size of all rows.

        Each class is multiplied up to its old size (a class that loses all its rows has none), and `totals`, which know
        no label, stay: so scores by these sums can be compared with scores by the whole.
        """
        out = ClassSums.of_rows(X, y)._place(self.classes, self.sums.shape[1])
        left = self.sizes - out.sizes
        growth = np.where(left > 0, self.sizes / np.maximum(left, 1), 0.0)
        return ClassSums(
            freeze_csr(diags_array(growth) @ (self.sums - out.sums)),
            freeze(growth * left),
            freeze(growth * (self.squares - out.squares)),
            self.totals,
            self.classes,
        )

    def _place(self, names: Array, width: int) -> ClassSums:
        """Return the same sums with a row for each of `names` and `width` columns."""
        places = placement(positions(self.classes, names), len(names))
        sums = widen_matrix(places @ self.sums, width)
        totals = np.pad(self.totals, (0, width - len(self.totals)))
        return ClassSums(sums, places @ self.sizes, places @ self.squares, totals, names)


def placement(places: Indices, n: int) -> csr_array:
    """Return the n x len(places) matrix that adds row i of what it multiplies to row `places[i]`."""
    return csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(n, len(places)))

"""Terms as points of a space: who is near whom."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from sklearn.preprocessing import normalize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array

Term = int | str
ROUNDED = 6  # digits of similarities that are compared


class Terms:
    """Terms as rows of `vectors` (m x k), addressed by row number or by name; similarity is the cosine.

    >>> terms = Terms(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), ["opec", "crude", "dividend"])
    >>> round(terms.similarity("opec", "crude"), 3), terms.similarity(0, 2)
    (0.707, 0.0)
    >>> [name for name, similarity in terms.similar("dividend", 2)]
    ['crude', 'opec']
    """

    def __init__(self, vectors: Array, names: ArrayLike | None = None) -> None:
        self.vectors = vectors
        self.names = None if names is None else np.asarray(names)
        if self.names is not None and len(self.names) != len(vectors):
            raise ValueError(f"names must name all {len(vectors)} terms. Got {len(self.names)} names instead.")

    def similarity(self, a: Term, b: Term) -> float:
        """Return the cosine between two terms; a term without a place in the space is similar to none."""
        u, v = normalize(self.vectors[[self._row(a), self._row(b)]])
        return float(u @ v)

    def similar(self, term: Term, n: int) -> list[tuple[Term, float]]:
        """Return the n terms nearest to `term` with their similarity, nearest first; itself is left out.

        Terms of the same rows are equally near, whatever a machine's rounding says: they come in their order.
        """
        row = self._row(term)
        lengths = np.linalg.norm(self.vectors, axis=1)
        similarity = self.vectors @ self.vectors[row] / np.maximum(lengths * lengths[row], np.finfo(lengths.dtype).tiny)
        similarity[row] = -np.inf
        nearest = np.argsort(-np.round(similarity, ROUNDED), kind="stable")[: min(n, len(lengths) - 1)]
        called = nearest if self.names is None else self.names[nearest]
        return list(zip(called.tolist(), similarity[nearest].tolist(), strict=True))

    def _row(self, term: Term) -> int:
        if isinstance(term, Integral):
            if not 0 <= term < len(self.vectors):
                raise ValueError(f"A term must be a column from 0 to {len(self.vectors) - 1}. Got {term} instead.")
            return int(term)
        if self.names is None:
            raise ValueError(f"Terms have no names here: pass names=[...], or a column number. Got {term!r} instead.")
        found = np.flatnonzero(self.names == term)
        if not found.size:
            raise ValueError(f"A term must be one of the {len(self.names)} names. Got {term!r} instead.")
        return int(found[0])

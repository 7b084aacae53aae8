"""The class space of paper 4 (LSI_ac): few directions, spanned by what the classes sum up to.

Glossary
--------
Z         m x C    one column a class: the sum of its rows, or their mean; each term multiplied by its scale
d         m        scale of the terms: 1 / sqrt(how often), or 1
Z = A W C'         its SVD, with r <= C singular values: A m x r, W r, C (the "class vectors") C x r
x         m        a row, d x the same with scaled terms
s         C        scores C W^p A'(d x), p = -1 as in the paper (then s = pinv(Z) d x) or 0

The SVD comes from Z'Z = C W^2 C', so that Z stays sparse: A'x = W^-1 C'(Z'x). A singular value below 1e-7 of the
largest drowns in the rounding of Z'Z; it counts as zero, for its inverse would multiply noise by ten million anyway.

A semi-discrete decomposition may stand for Z (linalg/sdd.py): P diag(e) Q' with entries -1, 0 and 1, which take two
bits. Everything else follows from its Z'Z and its products with rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array

from untwin._compat import as_dense, is_sparse
from untwin.linalg.blocks import product
from untwin.linalg.sdd import SemiDiscrete, semi_discrete
from untwin.linalg.svd import fixed_signs

if TYPE_CHECKING:
    from untwin._types import Floats
    from untwin.classify.latent.class_sums import ClassSums

Columns = Literal["counts", "means"]

ROUNDING = 1e-7
WORTH_DENSE = 0.2  # share of non-zeros above which a dense table is multiplied faster than a sparse one


class DiscreteTerms(NamedTuple):
    """A semi-discrete table in place of d Z: `scale` is d, `table` stands for Z."""

    scale: Floats
    table: SemiDiscrete

    def sums(self, X: Any) -> Floats:
        """Return X d Z: n x C."""
        scaled: Any = csr_array((X @ diags_array(self.scale)).T) if is_sparse(X) else (X * self.scale).T
        return np.asarray(self.table.transposed_times(scaled).T)

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        return self.scale.nbytes + self.table.nbytes


class ClassSpace(NamedTuple):
    """Made by `class_space`: `coordinates` and `scores` of rows.

    `terms` is d Z (m x C, sparse, dense or semi-discrete), `directions` C W^(p-1) (C x r), `class_vectors` C (C x r).
    """

    terms: Any
    directions: Floats
    class_vectors: Floats
    singular_values: Floats

    def coordinates(self, X: Any) -> Floats:
        """Return W^p A'x of each row x of X: n x r."""
        return np.asarray(as_dense(self._sums(X)) @ self.directions)

    def _sums(self, X: Any) -> Any:
        if isinstance(self.terms, DiscreteTerms):
            return self.terms.sums(X)
        return X @ self.terms if is_sparse(self.terms) else product(X, self.terms)

    def scores(self, X: Any) -> Floats:
        """Return the score of each class for each row of X: n x C."""
        return np.asarray(self.coordinates(X) @ self.class_vectors.T)


def class_space(
    sums: ClassSums, *, columns: Columns, inverse: bool, scale_terms: bool, discrete: int | None = None
) -> ClassSpace:
    """Return the class space of the sums; a class without rows has no place in it (scores of 0).

    With `discrete` a semi-discrete decomposition of so many terms stands for Z.

    >>> from untwin.classify.latent.class_sums import ClassSums
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), np.array([0, 0, 1])
    >>> space = class_space(ClassSums.of_rows(X, y), columns="counts", inverse=True, scale_terms=False)
    >>> bool(np.allclose(space.scores(X), X @ np.linalg.pinv(X.T @ np.eye(2)[y]).T))
    True
    """
    often = np.where(sums.totals > 0, sums.totals, 1.0)
    scale = often**-0.5 if scale_terms else np.ones_like(often)
    share = 1 / np.maximum(sums.sizes, 1) if columns == "means" else np.ones_like(sums.sizes)
    Zt = csr_array(diags_array(share) @ sums.sums @ diags_array(scale))
    found = None if discrete is None else semi_discrete(csr_array(Zt.T), discrete)
    squares, C = eigh((Zt @ Zt.T).toarray() if found is None else _gram(found))
    kept = np.flatnonzero(squares > ROUNDING**2 * squares[-1])[::-1]
    W, C = np.sqrt(squares[kept]), C[:, kept]
    C *= fixed_signs(C)
    terms = _terms(csr_array((Zt @ diags_array(scale)).T)) if found is None else DiscreteTerms(scale, found)
    return ClassSpace(terms, C * W ** (-2.0 if inverse else -1.0), C, W)


def _gram(found: SemiDiscrete) -> Floats:
    """Return Z'Z of Z = P diag(e) Q'."""
    weighted = found.Q.unpacked() * found.d
    return np.asarray(weighted @ found.P.gram() @ weighted.T)


def _terms(terms: csr_array) -> Any:
    dense = terms.nnz > WORTH_DENSE * np.prod(terms.shape)
    return terms.toarray() if dense else terms

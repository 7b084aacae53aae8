"""Measures of a space: the distance of documents from it, and the similarity of terms in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin.linalg.blocks import product, squared_length
from untwin.represent.terms import Term, Terms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array
    from untwin.represent.learnt import LearntMatrix

FLOATS = [np.float64, np.float32]


class SpaceMeasures:
    """Methods of `SprinkledLSI` that read: its `components_` (k x m) are orthonormal, `whitening_` may follow."""

    components_: Array
    singular_values_: Array
    whitening_: Array
    whiten: bool
    _learnt: LearntMatrix

    @property
    def explained_energy_(self) -> Array:
        """Share of the sum of squares of the documents that lies along each component."""
        check_is_fitted(self)
        X = self._learnt.all_documents()
        Z = product(X, self.components_.T)
        return np.asarray(np.einsum("ij,ij->j", Z, Z) / squared_length(X))

    def residual_norms(self, X: Any) -> Array:
        """Return the distance of each document of X from the space, sqrt(|x|^2 - |Q'x|^2).

        As one more coordinate (zero for reconstructed training documents) it makes Euclidean distances those between
        the documents themselves, so that votes can be weighted by them.
        """
        return np.sqrt(_squared_residuals(*self._project(X)))

    def reconstruction_error(self, X: Any, Z: Any = None) -> float:
        """Return the mean square of the differences between X and the documents that the space makes of it.

        Z are the documents in the space: `transform(X)` if not given; give what `fit_transform` returned to judge the
        reconstructed training documents.
        """
        X, projected = self._project(X)
        error = float(_squared_residuals(X, projected).sum())
        if Z is not None:
            plain = np.linalg.solve(self.whitening_, np.transpose(Z)).T if self.whiten else np.asarray(Z)
            error += squared_length(plain - projected)
        return float(error / (len(projected) * self.components_.shape[1]))

    def term_similarity(self, a: Term, b: Term, *, names: ArrayLike | None = None) -> float:
        """Return the cosine between two terms in the space.

        A term is a column number or a name: of `names` (what a vectorizer's `get_feature_names_out` gives), else of
        the columns of the frame that the space was fitted on.
        """
        return self._terms(names).similarity(a, b)

    def similar_terms(self, term: Term, n: int = 10, *, names: ArrayLike | None = None) -> list[tuple[Term, float]]:
        """Return the n terms most similar to `term`, with their similarity, most similar first; itself is left out."""
        return self._terms(names).similar(term, n)

    def _project(self, X: Any) -> tuple[Any, Array]:
        """Return X, checked, and Q'x of each of its rows x."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return X, product(X, self.components_.T)

    def _terms(self, names: ArrayLike | None) -> Terms:
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None) if names is None else names
        return Terms(self.components_.T * self.singular_values_, known)


def _squared_residuals(X: Any, Z: Array) -> Array:
    """Return |x|^2 - |Q'x|^2 of each row x of X, given Q'x as the rows of Z."""
    residuals: Array = np.maximum(row_norms(X, squared=True) - row_norms(Z, squared=True), 0)
    return residuals

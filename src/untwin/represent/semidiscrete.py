"""`SemiDiscreteLSI`: plain latent semantic indexing by directions of -1, 0 and 1 (paper 4).

Glossary
--------
X        n x m    documents x terms; X ~ P diag(d) Q', entries -1, 0 and 1 in P (n x k) and Q (m x k)
D        n x m    P diag(d) Q': the documents as the decomposition has them. Never built.
G        k x k    Q'Q = E diag(g) E'
B        k x r    E diag(g)^(-1/2): Q B has orthonormal columns (r < k if those of Q depend on each other)
z        r        a document in the space: B'Q'x; of D_i it is diag(g)^(1/2) E'(d p_i)

The columns of Q are not orthogonal, so that Q'x alone would not keep angles. In the basis Q B the products z_i . z are
D_i . x and lengths are |D_i|: neighbours are those among the documents D themselves.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import TransformerTags
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, StrOptions, inherited_tags, validating
from untwin.linalg.blocks import squared_length
from untwin.linalg.sdd import semi_discrete

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from untwin._types import Array

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class SemiDiscreteLSI(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent semantic indexing whose directions of terms take two bits an entry.

    `SprinkledLSI` keeps a float for every term and direction; here it is -1, 0 or 1. It takes more directions to hold
    as much of the documents, and longer to find them, yet they are many times smaller.

    Parameters
    ----------
    n_components : int, default=100
        Terms of the semi-discrete decomposition; fewer, if they leave nothing.
    training : {"projected", "reconstructed"}, default="projected"
        What `fit_transform` gives for the training documents: the same as `transform`, or what the decomposition makes
        of them. Unseen documents are projected in both cases.

    Attributes
    ----------
    decomposition_ : SemiDiscrete
        `P`, `d` and `Q`; `nbytes` is what they take.
    discarded_energy_ : float
        Share of the sum of squares of the documents that the decomposition does not hold.
    basis_ : (k, r) array
        What the products of a document with the directions are multiplied by.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> X = np.array([[3.0, 3.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0]])
    >>> space = SemiDiscreteLSI(n_components=2).fit(X)
    >>> space.decomposition_.Q.unpacked().T
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]], dtype=int8)
    >>> space.decomposition_.nbytes, round(space.discarded_energy_, 3)
    (23, 0.048)
    >>> space.transform(X).shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "training": [StrOptions({"projected", "reconstructed"})],
    }

    def __init__(
        self, *, n_components: int = 100, training: Literal["projected", "reconstructed"] = "projected"
    ) -> None:
        self.n_components = n_components
        self.training = training

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the space from documents X (n x m, sparse or dense); y is not looked at."""
        self.fit_transform(X)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Learn the space and return the training documents in it, as `training` asks."""
        X = validate_data(self, X, **CHECKS)
        energy = squared_length(X)
        if energy == 0:
            raise ValueError("X must hold something other than zeros. Got zeros only instead.")
        self.decomposition_ = semi_discrete(X, self.n_components)
        self.discarded_energy_ = self.decomposition_.squared_residual(X) / energy
        g, E = eigh(self.decomposition_.Q.gram())
        kept = g > np.finfo(np.float64).eps * len(g) * g[-1]
        self.basis_ = (E[:, kept] / np.sqrt(g[kept])).astype(X.dtype)
        if self.training == "projected":
            return self._place(X)
        Z: Array = self.decomposition_.P.times(self.decomposition_.d[:, np.newaxis] * E[:, kept] * np.sqrt(g[kept]))
        return Z.astype(X.dtype)

    def transform(self, X: Any) -> Array:
        """Return documents in the space: B'Q'x."""
        check_is_fitted(self)
        return self._place(validate_data(self, X, reset=False, **CHECKS))

    def _place(self, X: Any) -> Array:
        sparse: bool = issparse(X)
        columns = csr_array(X.T) if sparse else X.T
        placed: Array = self.decomposition_.Q.transposed_times(columns).T @ self.basis_
        return placed

    @property
    def _n_features_out(self) -> int:
        return int(self.basis_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

"""`SprinkledLSI`: a latent space for documents that knows their classes (paper 1).

Glossary
--------
X        n x m    documents x terms.
Y        n x C    membership in classes: labels, several labels, or probabilities.
K = F F' C x C    the plan's class kernel.
A        [X | Y F], with rows of background knowledge below: what is decomposed.
Q        m x k    orthonormal directions of terms, left when the sprinkled columns are dropped (`components_.T`).
Z        n x k    the documents in the space.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self
from warnings import warn

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import TransformerTags, check_array, check_consistent_length
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, StrOptions, inherited_tags, validating
from untwin.linalg.blocks import Blocks, product, squared_length
from untwin.linalg.svd import Solver, TruncatedSVD, truncated_svd
from untwin.represent.membership import membership
from untwin.represent.rank import Criterion, grown
from untwin.represent.terms import Term, Terms
from untwin.represent.unsprinkle import unsprinkled
from untwin.represent.whiten import within_class_whitening
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    Array = NDArray[Any]
    Training = Literal["projected", "reconstructed"]

FLOATS = [np.float64, np.float32]


class SprinkledLSI(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent semantic indexing with class knowledge; plain LSI without a plan.

    The documents are decomposed together with columns that say their classes, as strongly as the plan asks, and these
    columns are dropped again. Terms of one class move together, and so do its documents. Nothing dense of the size of
    X is built, and the sprinkled columns cost next to nothing, however many the plan asks for.

    Parameters
    ----------
    n_components : int, "mdl" or "aic", default=100
        Directions to keep; a criterion grows the space until it turns ("aic" keeps many more than "mdl").
    plan : SprinklingPlan or None, default=None
        How strongly to sprinkle which classes.
    training : {"projected", "reconstructed"}, default="projected"
        What `fit_transform` gives for the training documents: the same as `transform`, or (as in the paper) what the
        decomposition, which knows their classes, makes of them. Unseen documents are projected in both cases.
    background : array or sparse matrix of shape (b, m), or None, default=None
        Rows of terms that belong together, without class: they shape the space and are not part of the result.
    whiten : bool, default=False
        Scale the space so that documents of one class scatter alike in all directions; needs `y`.
    solver : {"auto", "gram", "randomized", "arpack"}, default="auto"
        See `untwin.linalg.svd.truncated_svd`.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    components_ : array of shape (k, m)
        Orthonormal directions; k is less than `n_components` if there are no more.
    singular_values_ : array of shape (k,)
        Of the documents as the decomposition approximates them, sprinkled columns dropped; one a component.
    explained_energy_ : array of shape (k,)
        Share of the sum of squares of X that lies along each component.
    plan_ : SprinklingPlan or None
        The plan for the classes of the data.
    classes_ : array of shape (C,)
        The classes, if labels were used.
    whitening_ : array of shape (k, k)
        What coordinates are multiplied by, if `whiten`.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from untwin.represent.analysis import separation
    >>> from untwin.structure.plan import SprinklingPlan
    >>> terms = ["opec", "refinery", "price", "dividend"]
    >>> X = np.array([[1.0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> y = ["crude", "crude", "earn", "earn"]
    >>> plain = SprinkledLSI(n_components=2).fit(X)
    >>> sprinkled = SprinkledLSI(n_components=2, plan=SprinklingPlan.uniform(s=4)).fit(X, y)
    >>> [round(space.term_similarity("opec", "refinery", names=terms), 2) for space in (plain, sprinkled)]
    [0.0, 0.99]
    >>> [round(separation(space.transform(X), y), 2) for space in (plain, sprinkled)]
    [0.34, 0.15]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"mdl", "aic"})],
        "plan": [SprinklingPlan, None],
        "training": [StrOptions({"projected", "reconstructed"})],
        "background": ["array-like", "sparse matrix", None],
        "whiten": ["boolean"],
        "solver": [StrOptions({"auto", "gram", "randomized", "arpack"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_components: int | Criterion = 100,
        plan: SprinklingPlan | None = None,
        training: Training = "projected",
        background: Any = None,
        whiten: bool = False,
        solver: Solver = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.plan = plan
        self.training = training
        self.background = background
        self.whiten = whiten
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the space from documents X (n x m) and their classes y.

        y holds labels, or has one column for each of `plan.classes` with ones and zeros (several labels a document) or
        probabilities (soft labels). Plain LSI does not look at it.
        """
        self.fit_transform(X, y)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> Array:  # type: ignore[override]
        """Learn the space and return the training documents in it, as `training` asks."""
        X, Y = self._checked(X, y)
        return self._settled(X, Y, self._decomposed(self._stacked(X, Y)))

    def nested(self, X: Any, y: Any, dimensions: Sequence[int]) -> Iterator[tuple[Self, Array]]:
        """Yield for each number of dimensions a fitted space and its training documents, from one decomposition.

        They are what clones of this space with these `n_components` would give: the leading directions are the same
        (a randomized solver, asked for more, finds them more precisely).
        """
        largest = clone(self).set_params(n_components=max(dimensions))
        U, S, V = largest._decomposed(largest._stacked(*largest._checked(X, y)))
        for k in dimensions:
            space = clone(self).set_params(n_components=k)
            yield space, space._settled(*space._checked(X, y), TruncatedSVD(U[:, :k], S[:k], V[:, :k]))

    def transform(self, X: Any) -> Array:
        """Return documents in the space: Q'x, whitened if asked."""
        _, Z = self._projected(X)
        return Z @ self.whitening_ if self.whiten else Z

    # ------------------------------------------------------------------ what the space does

    def residual_norms(self, X: Any) -> Array:
        """Return the distance of each document of X from the space, sqrt(|x|^2 - |Q'x|^2).

        As one more coordinate (zero for reconstructed training documents) it makes Euclidean distances those between
        the documents themselves, so that votes can be weighted by them.
        """
        return np.sqrt(_squared_residuals(*self._projected(X)))

    def reconstruction_error(self, X: Any, Z: Any = None) -> float:
        """Return the mean square of the differences between X and the documents that the space makes of it.

        Z are the documents in the space: `transform(X)` if not given; give what `fit_transform` returned to judge the
        reconstructed training documents.
        """
        X, projected = self._projected(X)
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

    # ------------------------------------------------------------------ steps

    def _checked(self, X: Any, y: Any) -> tuple[Any, csr_array | None]:
        """Return X and Y, and learn what the input looks like."""
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        return X, self._membership(X, y)

    def _settled(self, X: Any, Y: csr_array | None, decomposition: TruncatedSVD) -> Array:
        """Learn the space from a decomposition of A; return the training documents in it."""
        space = unsprinkled(decomposition, X.shape[1])
        self._notice_missing_directions(space.Q.shape[1])
        self.components_, self.singular_values_ = space.Q.T, space.S
        Z = product(X, space.Q)
        self.explained_energy_ = np.einsum("ij,ij->j", Z, Z) / squared_length(X)
        if self.training == "reconstructed":
            Z = space.Z[: len(Z)]  # background rows are no documents
        if not self.whiten or Y is None:
            return Z
        self.whitening_ = within_class_whitening(Z, Y)
        return Z @ self.whitening_

    def _membership(self, X: Any, y: Any) -> csr_array | None:
        """Return Y and bind the plan to its classes; None if nobody asks for classes."""
        self.plan_ = None
        if self.plan is None and not self.whiten:
            return None
        if y is None:
            raise ValueError("With a plan or whiten=True, fit requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        Y, self.classes_ = membership(y, None if self.plan is None else self.plan.classes)
        if self.plan is not None:
            self.plan_ = self.plan.aligned(self.classes_)
        return Y

    def _stacked(self, X: Any, Y: csr_array | None) -> Blocks:
        """Return A: documents with their sprinkled columns, rows of background knowledge with none."""
        if self.background is not None:
            rows = check_array(self.background, accept_sparse="csr", dtype=X.dtype, input_name="background")
            if rows.shape[1] != X.shape[1]:
                raise ValueError(f"background must have the {X.shape[1]} columns of X. Got {rows.shape[1]} instead.")
            dense = not issparse(X)
            X = np.vstack([X, csr_array(rows).toarray()]) if dense else csr_array(vstack([X, csr_array(rows)]))
            Y = None if Y is None else csr_array(vstack([Y, csr_array((rows.shape[0], Y.shape[1]))]))
        return Blocks(X) if self.plan_ is None else Blocks(X, Y, self.plan_.factor())

    def _decomposed(self, A: Blocks) -> TruncatedSVD:
        energy = A.energy()
        if energy == 0:
            raise ValueError("X must hold something other than zeros. Got zeros only instead.")

        def decomposed(k: int) -> TruncatedSVD:
            return truncated_svd(A, k, solver=self.solver, random_state=self.random_state)

        if isinstance(self.n_components, str):
            return grown(decomposed, energy, A.shape, self.n_components)
        return decomposed(self.n_components)

    def _notice_missing_directions(self, found: int) -> None:
        if not isinstance(self.n_components, str) and found < self.n_components:
            warn(
                f"The space has {found} components, since X has no more directions than that. "
                f"Got n_components={self.n_components}.",
                stacklevel=4,
            )

    def _projected(self, X: Any) -> tuple[Any, Array]:
        """Return X, checked, and Q'x of each of its rows x."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return X, product(X, self.components_.T)

    def _terms(self, names: ArrayLike | None) -> Terms:
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None) if names is None else names
        return Terms(self.components_.T * self.singular_values_, known)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        tags.target_tags.required = self.plan is not None or self.whiten
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags


def _squared_residuals(X: Any, Z: Array) -> Array:
    """Return |x|^2 - |Q'x|^2 of each row x of X, given Q'x as the rows of Z."""
    residuals: Array = np.maximum(row_norms(X, squared=True) - row_norms(Z, squared=True), 0)
    return residuals

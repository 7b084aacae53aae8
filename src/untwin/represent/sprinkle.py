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
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import TransformerTags, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, StrOptions, inherited_tags, validating
from untwin.linalg.svd import Solver, TruncatedSVD
from untwin.represent.incremental import (
    any_batch,
    extend_plan,
    merge_classes,
    move_columns,
    validate_growth,
    widen_matrix,
)
from untwin.represent.learnt import WORTH_MERGING, LearntMatrix, background_rows, one_thread, spare
from untwin.represent.membership import membership
from untwin.represent.rank import Criterion, decompose
from untwin.represent.space_measures import FLOATS, SpaceMeasures
from untwin.represent.unsprinkle import unsprinkle
from untwin.represent.whiten import within_class_whitening
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from untwin._types import Array

    Training = Literal["projected", "reconstructed"]


class SprinkledLSI(SpaceMeasures, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent semantic indexing with class knowledge; plain LSI without a plan.

    The documents are decomposed together with columns that say their classes, as strongly as the plan asks, and these
    columns are dropped again. Terms of one class move together, and so do its documents. Nothing dense of the size of
    X is built, and the sprinkled columns cost next to nothing, however many the plan asks for.

    The space learns on: `partial_fit` adds documents, also with unseen terms and classes, `relabel` and `remove` change
    their labels or withdraw them. The decomposition is updated, not computed anew, until it has drifted too far.

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
        Share of the sum of squares of the documents that lies along each component.
    discarded_energy_ : float
        Share of the sum of squares of documents and sprinkled columns that the space does not hold. Where updates have
        made it rise too far, all is decomposed anew (see `untwin.linalg.drift`).
    n_updates_ : int
        Updates since the last full decomposition.
    ids_ : array of shape (n,)
        The documents learnt and not removed, by their numbers in order of arrival.
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
        self._learn(X, y)
        return self.documents()

    def nested(self, X: Any, y: Any, dimensions: Sequence[int]) -> Iterator[tuple[Self, Array]]:
        """Yield for each number of dimensions a fitted space and its training documents, from one decomposition.

        They are what clones of this space with these `n_components` would give: the leading directions are the same
        (a randomized solver, asked for more, finds them more precisely).
        """
        largest = clone(self).set_params(n_components=max(dimensions))
        largest._learn(X, y)
        for k in dimensions:
            space = clone(self).set_params(n_components=k)
            U, S, V = largest._learnt.svd
            space._learn(X, y, TruncatedSVD(U[:, :k], S[:k], V[:, :k]))
            yield space, space.documents()

    # ------------------------------------------------------------------ learning on

    @validating
    @any_batch()
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn more documents; X may have more columns than before, and y labels that were not there before.

        A few documents are folded in at once, and merged by an exact update when there are enough of them. A class
        that the plan does not know receives the mean of what its classes receive. The first call is `fit`.
        """
        if not hasattr(self, "components_"):
            return self.fit(X, y)
        Y, classes = self._membership(X, y)
        order = merge_classes(self._learnt.classes, classes)
        X = validate_growth(self, X, accept_sparse="csr", dtype=FLOATS)
        self._grow(X.shape[1], order)
        self._learnt = self._learnt.folded(X, move_columns(Y, classes, order))
        return self if self._learnt.n_waiting < WORTH_MERGING else self._update(lambda learnt: learnt)

    @any_batch()
    def relabel(self, ids: ArrayLike, y: Any) -> Self:
        """Give documents other classes, by their numbers in order of arrival; y as in `fit`, one row an id."""
        check_is_fitted(self)
        Y, classes = self._membership(np.atleast_1d(np.asarray(ids)), y)
        self._grow(self._learnt.X.shape[1], merge_classes(self._learnt.classes, classes))
        return self._update(lambda learnt: learnt.relabel(ids, move_columns(Y, classes, learnt.classes)))

    def remove(self, ids: ArrayLike) -> Self:
        """Remove documents, by their numbers in order of arrival; the others keep their numbers."""
        check_is_fitted(self)
        return self._update(lambda learnt: learnt.without(ids))

    def recompute(self) -> Self:
        """Decompose all documents again, with extra triples for updates."""
        check_is_fitted(self)
        learnt = self._learnt.merge()
        size = self.n_components if isinstance(self.n_components, str) else self.n_components + spare(learnt.k)
        self._decompose(learnt, size)
        return self._take_space()

    def documents(self, ids: ArrayLike | None = None) -> Array:
        """Return the documents learnt, all or those with these numbers, in the space as it is now.

        They are projected or reconstructed as `training` asks; after `fit` it is what `fit_transform` returns.
        """
        check_is_fitted(self)
        Z = self._training_rows(ids)
        return Z @ self.whitening_ if self.whiten else Z

    def transform(self, X: Any) -> Array:
        """Return documents in the space: Q'x, whitened if asked."""
        _, Z = self._project(X)
        return Z @ self.whitening_ if self.whiten else Z

    @property
    def ids_(self) -> Array:
        """Numbers of the documents learnt and not removed."""
        check_is_fitted(self)
        return self._learnt.ids

    # ------------------------------------------------------------------ steps

    def _learn(self, X: Any, y: Any, decomposition: TruncatedSVD | None = None) -> None:
        """Learn the space, from a decomposition that is there already or from one made here."""
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        Y, classes = self._membership(X, y)
        if self._uses_labels:
            self.classes_ = classes
        self.plan_ = None if self.plan is None else self.plan.aligned(classes)
        first = LearntMatrix.at_first(X, Y, self._factor(classes), classes, background_rows(self.background, X))
        self._decompose(first, self.n_components, decomposition)
        self._take_space()
        self._notice_missing_directions()

    def _decompose(
        self, learnt: LearntMatrix, size: int | Criterion, decomposition: TruncatedSVD | None = None
    ) -> None:
        how = {"solver": self.solver, "random_state": self.random_state}
        svd = decomposition or decompose(learnt.blocks(), size, **how)
        k = len(svd.S) if isinstance(self.n_components, str) else self.n_components
        self._learnt = learnt.decompose_anew(svd, k)

    def _grow(self, n_terms: int, order: Array) -> None:
        """Make room for terms and classes that were not there before; classes are in order of arrival."""
        learnt = self._learnt
        if n_terms == learnt.X.shape[1] and len(order) == len(learnt.classes):
            return
        if self._uses_labels:
            self.classes_ = np.sort(order)
        self.plan_ = None if self.plan is None else extend_plan(self.plan, self.classes_)
        self._learnt = learnt.grow(n_terms, order, self._factor(order))
        self.components_ = widen_matrix(self.components_, n_terms)
        if self._learnt.svd.U is not learnt.svd.U:  # sprinkled anew
            self._take_space()

    def _update(self, change: Callable[[LearntMatrix], LearntMatrix]) -> Self:
        """Merge waiting documents, apply the change, and decompose again if the space has drifted too far."""
        with one_thread():
            self._learnt = change(self._learnt.merge())
        return self.recompute() if self._learnt.has_drifted else self._take_space()

    def _take_space(self) -> Self:
        """Take the space from the decomposition."""
        learnt = self._learnt
        self.discarded_energy_, self.n_updates_ = learnt.discarded_share(), learnt.n_updates
        with one_thread():
            space = unsprinkle(learnt.leading(), learnt.X.shape[1])
            self._turn = learnt.leading().V[: len(space.Q)].T @ space.Q
        self.components_, self.singular_values_ = space.Q.T, space.S
        if self.whiten:
            self.whitening_ = within_class_whitening(self._training_rows(None), learnt.all_memberships())
        return self

    def _training_rows(self, ids: ArrayLike | None) -> Array:
        if self.training == "projected":
            return self._learnt.projected(ids, self.components_.T)
        with one_thread():
            return self._learnt.reconstructed(ids, self._turn)

    @property
    def _uses_labels(self) -> bool:
        return self.plan is not None or self.whiten

    def _membership(self, X: Any, y: Any) -> tuple[csr_array, Array]:
        """Return Y and its classes; no columns if nobody asks for classes."""
        if not self._uses_labels:
            return csr_array((X.shape[0] if hasattr(X, "shape") else len(X), 0)), np.array([])
        if y is None:
            raise ValueError("With a plan or whiten=True, fit requires y to be passed, but the target y is None.")
        check_consistent_length(X, y)
        return membership(y, None if self.plan is None else self.plan.classes)

    def _factor(self, classes: Array) -> csr_array:
        """Return F (C x r) for classes in this order."""
        return csr_array((len(classes), 0)) if self.plan_ is None else self.plan_.aligned(classes).factor()

    def _notice_missing_directions(self) -> None:
        found = len(self.components_)
        if not isinstance(self.n_components, str) and found < self.n_components:
            warn(
                f"The space has {found} components, since X has no more directions than that. "
                f"Got n_components={self.n_components}.",
                stacklevel=4,
            )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        tags.target_tags.required = self._uses_labels
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

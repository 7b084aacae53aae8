"""`MultiLevelClassifier`: a classifier for the root of a tree of classes, one for each group below it (paper 2).

Glossary
--------
C                 number of classes
tree              `Hierarchy` of the classes, cut into branches (classify/groups.py), each with an expert
S        n x C    log-scores: sum over the branches on the way to a class, mean over the trees
flat              a tree whose root decides between all classes: what the groups miss, it sees
T                 temperature: softmax(S / T) are probabilities; fitted to rows that the model had not seen
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, StrOptions, inherited_tags, validating
from untwin._values import positions
from untwin.calibrate.temperature import fit_temperature
from untwin.calibrate.threshold import surest_threshold
from untwin.classify.approximate import ApproximateLabels
from untwin.classify.base import FLOATS, RowClassifier
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.experts import fit_experts
from untwin.classify.linear import LinearSVM
from untwin.classify.multilevel.descent import ExpertTree, branch_jobs
from untwin.classify.multilevel.groups import FEWEST, cut_branches, flat_branch, given_branches
from untwin.classify.multilevel.heldout import held_out_folds
from untwin.classify.multilevel.trees import SOURCES, class_trees
from untwin.crossfit.outoffold import class_scores, out_of_fold_confusion
from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from untwin._types import Array, Flags, Floats, Floats32, Indices
    from untwin.classify.multilevel.groups import Branch
    from untwin.tables import Confusion

BEAM = 10  # branches of a level that soft routing asks: as good as all
FLAT_WEIGHT = 2.0  # of flat log-scores, which have one level where others have two or more
N_FOLDS = 5  # of the base's confusion where `cv` is None
MOST_HELD_OUT = 10_000  # rows that are enough to grow a tree by their confusion, and to fit a temperature


class LevelReport(NamedTuple):
    """Where the first tree gains and loses, as shares of the rows.

    `root`: the root names the right group. `experts`, `flat`: the right class is found if the right group is given, by
    the group's expert and by a flat classifier whose other classes are crossed out. `end_to_end`: the right class, by
    all trees.
    """

    root: float
    experts: float
    flat: float
    end_to_end: float


class MultiLevelClassifier(RowClassifier):
    """Classify by groups first, within groups second; made for hundreds to thousands of classes.

    Parameters
    ----------
    hierarchy : "centroids", "confusion", "both", Hierarchy, list of these, or None, default=None
        Trees of the classes: grown from their centroids, from the out-of-fold confusion of `base`, from both, or
        given. The scores of several are averaged. None grows one of each kind, and adds the scores of one classifier
        for all classes at once (except in hard routing), so that groups do no harm.
    base : classifier or None, default=None
        Whose confusion is studied; by default `CentroidClassifier`.
    root, expert : classifier or None, default=None
        Decide between groups, and within each group: any classifier with `decision_function` or `predict_proba`. By
        default `LinearSVM()`; linear models are stored on their own terms only.
    groups : "balanced", "inflection", int, or groups of class names, default="balanced"
        How the trees are cut: about 2 sqrt(C) groups of similar size (more levels above 4,096 classes); where the merge
        distances suggest; into so many groups; or not at all, with the groups given (a single tree then). A group of
        more than 64 classes is cut again.
    routing : "soft", "hard" or int, default="soft"
        "hard" uses only the expert of the root's first choice, a number the experts of so many first choices on each
        level, "soft" those of ten; log-scores of root and experts are added.
    select : int, float in (0, 1], selector or None, default=None
        Terms that each group keeps of those its rows use: so many or this share, by information gain, or as a
        scikit-learn feature selector says.
    cv : int, splitter, (n,) fold numbers or None, default=5
        Folds for the confusion of `base`, and for the held-out rows on which probabilities are calibrated. Of many rows
        a part is held out once. None skips calibration, which saves half of the time.
    n_jobs : int or None, default=None
        Experts trained at a time, in threads.
    random_state : int, RandomState or None, default=0
        Seeds the folds and the default experts.

    Attributes
    ----------
    classes_ : (C,) array
    hierarchies_ : list of Hierarchy
        The trees; empty if groups were given.
    groups_ : list of tuples of class names
        Groups of the first tree.
    base_ : classifier
        The base, fitted to all rows.
    trees_ : list of ExpertTree
        Of the flat classifier, which comes last, a tree with a root only.
    temperature_ : float
        1 without calibration.
    judged_ : (confidence, right) or None
        Of the held-out rows, surest first: the probability of the predicted class, and whether it was right.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MultiLevelClassifier().fit(X[::2], y[::2])
    >>> len(model.groups_), len(model.trees_)
    (2, 4)
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> approximate = model.predict_group(X[1::2], error_rate=0.01)
    >>> bool((approximate.labels == y[1::2])[approximate.sure].mean() > model.score(X[1::2], y[1::2]))
    True
    """

    trees_: list[ExpertTree]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hierarchy": [StrOptions(set(SOURCES)), Hierarchy, list, tuple, None],
        "base": [BaseEstimator, None],
        "root": [BaseEstimator, None],
        "expert": [BaseEstimator, None],
        "groups": [StrOptions({"balanced", "inflection"}), Interval(Integral, 1, None, closed="left"), list, tuple],
        "routing": [StrOptions({"soft", "hard"}), Interval(Integral, 1, None, closed="left")],
        "select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            BaseEstimator,
            None,
        ],
        "cv": ["cv_object", "array-like", None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        hierarchy: Any = None,
        base: Any = None,
        root: Any = None,
        expert: Any = None,
        groups: Any = "balanced",
        routing: str | int = "soft",
        select: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.hierarchy = hierarchy
        self.base = base
        self.root = root
        self.expert = expert
        self.groups = groups
        self.routing = routing
        self.select = select
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model: build and cut the trees, train an expert for each branch, calibrate on held-out rows."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        codes = self._encode(y)
        self.base_ = clone(CentroidClassifier() if self.base is None else self.base).fit(X, y)
        self._train(X, codes)
        self.temperature_ = 1.0
        self.judged_: tuple[Array, Array] | None = None
        if self.cv is not None:
            self._calibrate(X, codes)
        return self

    def decision_function(self, X: Any) -> Floats32:
        """Return S; of two classes, by how much the second one's is larger."""
        S = self._scores(X)
        return S[:, 1] - S[:, 0] if len(self.classes_) == 2 else S

    def predict_proba(self, X: Any) -> Floats32:
        """Return softmax(S / T)."""
        return np.asarray(softmax(self._scores(X) / self.temperature_, axis=1))

    def predict_group(self, X: Any, *, error_rate: float = 0.05) -> ApproximateLabels:
        """Return the class where it is sure enough, else the group (paper 2's approximate label).

        Parameters
        ----------
        X : rows
        error_rate : float
            Share of the classes called sure that may be wrong. The threshold is the lowest probability that kept to it
            on the rows held out in `fit`.
        """
        P = self.predict_proba(X)
        best, threshold = P.argmax(axis=1), self._threshold(error_rate)
        of_group = np.arange(len(self.groups_)) == self.trees_[0].groups[:, np.newaxis]
        groups = (P @ of_group.astype(P.dtype)).argmax(axis=1)
        return ApproximateLabels(self.classes_[best], P[np.arange(len(P)), best] >= threshold, groups)

    def report(self, X: Any, y: Any, *, flat: Any = None) -> LevelReport:
        """Return the accuracy of root and experts of the first tree on labelled rows that `fit` has not seen.

        `flat` is a fitted classifier to compare with, by default the fast base; it is given the right group too, a
        comparison that paper 2 leaves out.
        """
        check_is_fitted(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, reset=False)
        codes = positions(y, self.classes_)
        flat = self.base_ if flat is None else flat
        group_of, tree = self.trees_[0].groups, self.trees_[0]
        outside = group_of != group_of[codes][:, np.newaxis]
        aligned = np.full((len(codes), len(self.classes_)), -np.inf)
        aligned[:, positions(flat.classes_, self.classes_)] = class_scores(flat, X)[0]
        told = [np.where(outside, -np.inf, scores).argmax(axis=1) for scores in (tree.descend(X), aligned)]
        root = tree.experts[0].log_scores(X).argmax(axis=1)
        found = (root == group_of[codes], *(chosen == codes for chosen in told), self.predict(X) == y)
        return LevelReport(*(float(right.mean()) for right in found))

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        parts = (model for model in (self.base, self.root, self.expert) if model is not None)
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in parts)
        return tags

    def _scores(self, X: Any) -> Floats32:
        X = self._checked_rows(X)
        beam = {"soft": BEAM, "hard": 1}.get(self.routing, self.routing)  # type: ignore[arg-type]
        S = np.zeros((X.shape[0], len(self.classes_)), dtype=np.float32)
        averaged = [tree for tree in self.trees_ if not tree.flat] or self.trees_
        for tree in self.trees_:
            S += np.float32(1 / len(averaged) if tree in averaged else FLAT_WEIGHT) * tree.descend(X, beam)
        return S

    def _train(self, X: Any, codes: Indices) -> None:
        """Cut the trees, and train an expert for each branch."""
        usual, cuts = LinearSVM(random_state=self.random_state), self._branches(X, codes)
        root, expert = (usual if model is None else model for model in (self.root, self.expert))
        jobs = [job for branches in cuts for job in branch_jobs(branches, codes, root, expert, self.select)]
        experts = iter(fit_experts(None, X, jobs, n_jobs=self.n_jobs))
        self.trees_ = [ExpertTree(tuple(cut), tuple(next(experts) for _ in cut)) for cut in cuts]
        group_of = self.trees_[0].groups
        self.groups_ = [tuple(self.classes_[group_of == number].tolist()) for number in range(group_of.max() + 1)]

    def _branches(self, X: Any, codes: Indices) -> list[list[Branch]]:
        """Return the cuts of all trees."""
        self.hierarchies_ = []
        if isinstance(self.groups, list | tuple):
            return [given_branches(self.groups, self.classes_)]
        wanted = SOURCES if self.hierarchy is None else self.hierarchy
        sources = wanted if isinstance(wanted, list | tuple) else [wanted]
        if len(self.classes_) < FEWEST:
            sources = sources[:1]  # too few for groups: all trees would be the same
        confusion = self._confusion(X, codes) if {"confusion", "both"} & set(map(str, sources)) else None
        self.hierarchies_ = class_trees(sources, self._centroids(X, codes), confusion, self.classes_)
        cuts = [cut_branches(tree, self.classes_, self.groups) for tree in self.hierarchies_]
        beside = self.hierarchy is None and self.routing != "hard" and len(self.classes_) >= FEWEST
        return [*cuts, [flat_branch(len(self.classes_))]] if beside else cuts

    def _centroids(self, X: Any, codes: Indices) -> Any:
        by_words = self.base_ if isinstance(self.base_, CentroidClassifier) else CentroidClassifier().fit(X, codes)
        return by_words.centroids_

    def _confusion(self, X: Any, codes: Indices) -> Confusion | None:
        """Return the base's confusion of rows held out."""
        cv = N_FOLDS if self.cv is None else self.cv
        found = held_out_folds(X, codes, cv, MOST_HELD_OUT, self.random_state)
        return None if found is None else out_of_fold_confusion(self.base_, X, self.classes_[codes], cv=found[1])

    def _calibrate(self, X: Any, codes: Indices) -> None:
        """Fit the temperature to rows held out from a model like this one."""
        found = held_out_folds(X, codes, self.cv, MOST_HELD_OUT, self.random_state)
        if found is None or len(self.classes_) < 2:
            return
        folds, parts = found
        held_out = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
        said = (self._out_of_fold(X, codes, parts != fold, rows) for fold, rows in enumerate(held_out))
        scores, truth = np.vstack(list(said)), codes[np.concatenate(held_out)]
        self.temperature_ = fit_temperature(scores, truth, cautious=True)
        P = softmax(scores / self.temperature_, axis=1)
        order = np.argsort(-P.max(axis=1), kind="stable")
        self.judged_ = P.max(axis=1)[order], (P.argmax(axis=1) == truth)[order]

    def _out_of_fold(self, X: Any, codes: Indices, train: Flags, rows: Indices) -> Floats:
        """Return the scores of the rows `rows` by a clone of this model fitted to the rows `train`."""
        twin = clone(self).set_params(cv=None).fit(X[train], self.classes_[codes[train]])
        scores = np.full((len(rows), len(self.classes_)), -np.inf)
        scores[:, positions(twin.classes_, self.classes_)] = twin._scores(X[rows])
        return scores

    def _threshold(self, error_rate: float) -> float:
        """Return the lowest probability at and above which held-out rows were wrong in at most this share."""
        if self.judged_ is None:
            raise ValueError("predict_group needs rows held out in fit. Got none instead; set cv to a number of folds.")
        return surest_threshold(*self.judged_, error_rate)

"""`AdaptiveSprinkling`: find which classes a classifier confuses, build a space that separates them, classify there.

For each fold the plan comes from the confusions of the other folds, the space from their rows, and the rows of the fold
are the test. The models behind the other folds' confusions (and scores) were trained on this fold's labels: this is an
approximation that saves a second cross-validation inside the first. The choice is fair, but the accuracy of the choice,
the largest of several, is a little too high: report the accuracy on a separate test set.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from itertools import chain
from numbers import Integral, Real
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from untwin import _progress
from untwin._compat import Interval, StrOptions, if_estimator_has, inherited_tags, rows_of, validating
from untwin.classify.adaptive.choices import Choices, Representation, Trial
from untwin.classify.adaptive.spaces import PLANS, JoinedSpace, candidate_specs, dimensions, join_spaces
from untwin.classify.base import FLOATS, RowClassifier
from untwin.crossfit.folds import possible_folds
from untwin.crossfit.outoffold import OutOfFold, out_of_fold
from untwin.represent.scores import ScoreSpace
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn.utils import Tags

    from untwin._types import Array

    View = tuple[ScoreSpace, Any]


class AdaptiveSprinkling(MetaEstimatorMixin, RowClassifier):
    """Classify in a space that is built from the classifier's own confusion.

    The classifier predicts the rows out of fold; its confusion becomes a plan (which classes to sprinkle how strongly),
    the plan a space, and the same classifier is fitted there. Which plan, strength and dimension, and whether the raw
    rows, plain LSI or the scores of a classifier serve better, is chosen on the same folds.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier for numeric rows: `KNNClassifier`, a linear SVM, naive Bayes on raw rows.
    space : SprinkledLSI or None, default=None
        The space to sprinkle, its plan and dimensions aside; None: `SprinkledLSI(whiten=True)`.
    scores : ScoreSpace or None, default=None
        Try the scores of a classifier too, alone (with each kind of coordinates) and beside the space of terms.
    plan : str or SprinklingPlan, default="adaptive"
        "adaptive", "uniform", "contrast", "hierarchy", "ordinal" (classes in sorted order), "best": the best of the
        first four; or a plan of your own.
    msl : float or "cv", default="cv"
        Maximum sprinkling length of the adaptive and contrast plans, columns a class (on average) of the others;
        "cv" tries two strengths that suit the length of the rows.
    n_components : int or "cv", default="cv"
        Dimensions of the space; "cv" tries as many as there are classes, and twice as many, within 50 and 300.
    trial : classifier or None, default=None
        The classifier to choose with if `estimator` is slow (because it tunes its parameters); None: `estimator`.
    cv : int, splitter or (n,) fold numbers, default=5
        Folds, as `out_of_fold` takes them: one set for confusion, plan, scores and choice.
    n_jobs : int or None, default=None
        Folds at a time.
    random_state : int, RandomState or None, default=0
        Seeds folds and decompositions.

    Attributes
    ----------
    classes_ : (C,) array
    confusion_ : Confusion
        Of the classifier on the raw rows, out of fold.
    plan_ : SprinklingPlan or None
        The plan of the chosen space; None where sprinkling did not win.
    confusion_after_ : Confusion
        Of the classifier on the chosen representation, out of fold.
    choices_ : Choices
        Everything that was tried; `choices_.describe()` says what was chosen and what sprinkling did.
    space_ : fitted space with `transform`, or None for raw rows
    estimator_ : classifier
        Fitted in the chosen representation.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from untwin import AdaptiveSprinkling, KNNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AdaptiveSprinkling(KNNClassifier(n_neighbors=5), n_components=20).fit(X[::2], y[::2])
    >>> print(model.choices_.describe())
    LSI, k = 20: accuracy 0.9855 out of fold, raw rows 0.9800; sprinkling does not win: ... has 0.9822
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": "no_validation",  # type: ignore[dict-item]
        "space": [SprinkledLSI, None],
        "scores": [ScoreSpace, None],
        "plan": [StrOptions({*PLANS, "best"}), SprinklingPlan],
        "msl": [Interval(Real, 0, None, closed="neither"), StrOptions({"cv"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"cv"})],
        "trial": "no_validation",  # type: ignore[dict-item]
        "cv": "no_validation",  # type: ignore[dict-item]
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        space: SprinkledLSI | None = None,
        scores: ScoreSpace | None = None,
        plan: str | SprinklingPlan = "adaptive",
        msl: float | str = "cv",
        n_components: int | str = "cv",
        trial: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.scores = scores
        self.plan = plan
        self.msl = msl
        self.n_components = n_components
        self.trial = trial
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the representation of rows X with labels y, and fit the classifier in it."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        codes = self._encode(y)
        if len(self.classes_) < 2:
            raise ValueError("y must name at least two classes. Got 1 class instead.")
        folds = possible_folds(X, codes, self.cv, random_state=self.random_state)
        if folds is None:  # nobody can tell what is better than the rows as they are
            views: dict[str, View] = {}
            self.confusion_ = Confusion.from_predictions(y[:0], y[:0], classes=self.classes_)
            self.choices_ = Choices((Trial(Representation("raw"), self.confusion_),))
        else:
            raw = out_of_fold(self._judge(), X, y, cv=folds[1], n_jobs=self.n_jobs, with_scores=False)
            views = self._views(X, y, raw)
            self.confusion_ = raw.confusion
            self.choices_ = Choices(tuple(self._trials(X, y, raw, views)))
        self.confusion_after_ = self.choices_.chosen.confusion
        self.estimator_ = clone(self.estimator).fit(self._fit_chosen(X, y, views), y)
        self._terms = X
        return self

    def predict(self, X: Any) -> Array:
        """Return the class of each row."""
        rows = self.represent(X)
        return np.asarray(self.estimator_.predict(rows))

    @if_estimator_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, as `estimator` gives it."""
        rows = self.represent(X)
        return np.asarray(self.estimator_.predict_proba(rows))

    @if_estimator_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the decision values, as `estimator` gives them."""
        rows = self.represent(X)
        return np.asarray(self.estimator_.decision_function(rows))

    @if_estimator_has("explain")
    def explain(self, X: Any, *, top: int = 5, feature_names: Any = None) -> list[Any]:
        """Return an explanation of each row's class: neighbours in the space, and the terms shared with them."""
        rows = self.represent(X)
        explanations: list[Any] = self.estimator_.explain(
            rows, top=top, terms=(X, self._terms), feature_names=feature_names
        )
        return explanations

    def represent(self, X: Any) -> Any:
        """Return rows in the chosen representation."""
        X = self._checked_rows(X)
        return X if self.space_ is None else self.space_.transform(X)

    # ------------------------------------------------------------------ what is tried

    def _judge(self) -> Any:
        return self.estimator if self.trial is None else self.trial

    def _views(self, X: Any, y: Array, raw: OutOfFold) -> dict[str, View]:
        """Return a fitted score space and its training rows for each kind of coordinates."""
        if self.scores is None:
            return {}
        shared = clone(self.scores).set_params(cv=raw.folds)
        return {space.coordinates: (space, rows) for space, rows in shared.views(X, y)}

    def _trials(self, X: Any, y: Array, raw: OutOfFold, views: dict[str, View]) -> Iterator[Trial]:
        """Return trials of raw rows, score spaces, then spaces of terms, alone and beside the best score space."""
        yield Trial(Representation("raw"), raw.confusion)
        alone = [Trial(Representation(scores=name), self._confusion(rows, y, raw)) for name, (_, rows) in views.items()]
        yield from alone
        best = max(alone, key=lambda trial: trial.accuracy, default=None)
        beside = None if best is None else (best.representation.scores, views[best.representation.scores][1])
        single = X.astype(np.float32, copy=False)  # trials choose and do not answer: half the time and memory will do
        n_folds = len(raw.fold_confusions)
        work = [delayed(self._try_on_fold)(single, y, raw, fold, beside) for fold in range(n_folds)]
        tried = Parallel(n_jobs=self.n_jobs, return_as="generator")(work)
        found: dict[Representation, list[Confusion]] = defaultdict(list)
        for representation, confusion in chain.from_iterable(_progress.reporting("trying spaces", tried, n_folds)):
            found[representation].append(confusion)
        yield from (Trial(representation, reduce(add, parts)) for representation, parts in found.items())

    def _confusion(self, rows: Any, y: Array, raw: OutOfFold) -> Confusion:
        """Return the out-of-fold confusion of the classifier on other coordinates of the same rows."""
        judged = out_of_fold(self._judge(), rows, y, cv=raw.folds, n_jobs=self.n_jobs, with_scores=False)
        return judged.confusion

    def _try_on_fold(
        self, X: Any, y: Array, raw: OutOfFold, fold: int, beside: tuple[str, Any] | None
    ) -> list[tuple[Representation, Confusion]]:
        """Return the confusions of all spaces of terms on one fold, built from the other folds."""
        train, test = np.flatnonzero(raw.folds != fold), np.flatnonzero(raw.folds == fold)
        asked, known = X[test], X[train]

        def confusion(rows: Any, held_out: Any) -> Confusion:
            predicted = clone(self._judge()).fit(rows, y[train]).predict(held_out)
            return Confusion.from_predictions(y[test], predicted, classes=self.classes_)

        tried = []
        for spec in (None, *candidate_specs(self.plan, self.msl)):
            plan = None if spec is None else spec.plan(known, raw.without(fold))
            for space, rows in self._spaces(plan, known, y[train]):
                kind = Representation("lsi") if spec is None else Representation(spec.name, spec.amount)
                kind = replace(kind, n_components=int(space.n_components))
                held_out = space.transform(asked)
                tried.append((kind, confusion(rows, held_out)))
                if beside is not None and spec is not None:
                    name, scores = beside
                    ours, theirs = (rows_of(scores, part) for part in (train, test))
                    joined = confusion(join_spaces(rows, ours), join_spaces(held_out, theirs))
                    tried.append((replace(kind, scores=name), joined))
        return tried

    def _spaces(self, plan: SprinklingPlan | None, X: Any, y: Array) -> Iterator[tuple[SprinkledLSI, Array]]:
        """Yield spaces of all sizes with the rows in them."""
        sizes = dimensions(self.n_components, len(self.classes_), X.shape)
        with _fewer_directions():
            yield from self._template(plan).nested(X, y, sizes)

    def _template(self, plan: SprinklingPlan | None, n_components: int | None = None) -> SprinkledLSI:
        template: Any = SprinkledLSI(whiten=True, random_state=self.random_state) if self.space is None else self.space
        size = template.n_components if n_components is None else n_components
        space: SprinkledLSI = clone(template).set_params(plan=plan, n_components=size)
        return space

    # ------------------------------------------------------------------ what is chosen

    def _fit_chosen(self, X: Any, y: Array, views: dict[str, View]) -> Any:
        """Fit the chosen space to all rows, and return the rows in it."""
        chosen = self.choices_.chosen.representation
        self.plan_: SprinklingPlan | None = None
        self.space_: Any = None
        if chosen.terms == "raw":
            return X
        scores, beside = views.get(chosen.scores, (None, None))
        if not chosen.terms:
            self.space_ = scores
            return beside
        if chosen.sprinkled:
            wanted = (chosen.terms, chosen.strength)
            spec = next(known for known in candidate_specs(self.plan, self.msl) if (known.name, known.amount) == wanted)
            self.plan_ = spec.plan(X, self.confusion_)
        space = self._template(self.plan_, chosen.n_components)
        with _fewer_directions():
            rows = space.fit_transform(X, y)
        self.space_ = space if scores is None else JoinedSpace(space, scores)
        return rows if scores is None else join_spaces(rows, beside)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


@contextmanager
def _fewer_directions() -> Iterator[None]:
    """Ignore the warning that X has fewer directions than one of the sizes tried."""
    with catch_warnings():
        simplefilter("ignore", UserWarning)
        yield

"""`ConfusionGraphClassifier`: a fast classifier for all classes, experts only where it confuses them (paper 2).

Steps for a training row: the base classifier ranks its classes out of fold; the best of them that the confusion graph
links are its candidates (candidates.py); the experts of its candidates are trained on it (panels.py, pairs.py). Experts
that were not trained on the first fold predict its rows: this gives the weights of experts and base (blend.py), and
which errors the experts corrected and made. A new row goes through the same steps.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from numbers import Integral, Real
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, StrOptions, is_sparse, require_classes, validating
from untwin.classify.base import FLOATS, RowClassifier
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.blend import Blend, fit_blend
from untwin.classify.graph.candidates import rank_classes, rank_out_of_fold, without
from untwin.classify.graph.findings import Change, changes, sparest, sweep
from untwin.classify.graph.pairs import PairPanel
from untwin.classify.graph.panels import ClassPanel, SubgraphPanel, TrainingRows
from untwin.classify.linear import LinearSVM
from untwin.crossfit.folds import possible_folds
from untwin.structure.graph import THRESHOLDS, ConfusionGraph
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices
    from untwin.classify.graph.candidates import Candidates

    Panel = ClassPanel | SubgraphPanel | PairPanel

CANDIDATES, PAIR_CANDIDATES = 30, 5
PASSES = 12  # of the default expert: experts see rows in orders of their own, so that what is left to learn differs
PAIR_ROWS = 3  # with bounded candidates, a pair that fewer rows ask for gets no expert
TIE = 1e-9  # equal scores: the base's order decides


class ConfusionGraphClassifier(RowClassifier):
    """Rank all classes by a fast classifier; let experts decide between those that it confuses.

    Parameters
    ----------
    base : classifier or None, default=None
        Fast, with `decision_function` or `predict_proba`. None: cosine class centroids, `CentroidClassifier`.
    expert : classifier or None, default=None
        Decides between few classes, same demands. None: `LinearSVM`. Linear ones are kept as weights of their terms.
    threshold : float, None or "sweep", default="sweep"
        An edge from class j to class i where the base takes more than this share of class i for j, out of fold. A row
        that the base gives to j is judged between j and its neighbours. None: between any classes. "sweep": the
        largest threshold that leaves 99 % of the rows that experts could save within reach, or None where even zero
        does not (in "one-vs-rest" with bounded candidates).
    approach : {"one-vs-rest", "max-wins", "verify"}, default="one-vs-rest"
        One expert for each class, the largest margin wins; or one for each pair, and the largest sum of winning margins
        wins; or one for each pair, and whoever beats the base's class takes its place: of two such classes the winner
        between them, of more the one with the heaviest edge.
    candidates : int, None or "auto", default="auto"
        Judge a row between so many classes at most, those that the base ranks highest for it; the expert of a class is
        trained on the rows that have it among their candidates. "auto": 30, for pairs of classes 5, and no more than
        half of the classes. None: as published, all neighbours; in "one-vs-rest" each sub-graph has its own experts.
    blend : bool, default=True
        Add the base's scores to the experts', with the weight that makes held-out labels likeliest, but not more than
        the experts'. False: experts alone decide, as published; so they always do in "verify".
    cv : int, splitter or (n,) fold numbers, default=5
        Folds, as `out_of_fold` takes them. The experts are judged on the first fold.
    n_jobs : int or None, default=None
        Threads that train.
    random_state : int, RandomState or None, default=0
        Seeds the folds and the default expert.

    Attributes
    ----------
    classes_ : (C,) array
    base_ : classifier
        Fitted to all rows.
    confusion_ : Confusion
        The base's, out of fold.
    threshold_ : float or None
    sweep_ : list of SweepRow
        What each threshold would give; edges and bound come from different folds.
    graph_ : ConfusionGraph
        At `threshold_`; where that is None, all edges.
    upper_bound_ : float
        The share of held-out rows whose class is among their candidates: what perfect experts would reach.
    n_experts_, n_numbers_ : int
        Experts, and the numbers that linear ones hold: weights and the places of their terms.
    blend_ : (expert, base)
        Weights of the experts' margins and the base's scores in log-probabilities.
    changes_ : list of Change
        What the experts corrected and broke in the first fold, best first; `polars.DataFrame(model.changes_)`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Paper 2 as published: ``ConfusionGraphClassifier(base=MultinomialNB(), threshold=0.03, candidates=None,
    blend=False)``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ConfusionGraphClassifier().fit(X[::2], y[::2])
    >>> round(model.base_.score(X[1::2], y[1::2]), 2), round(model.score(X[1::2], y[1::2]), 2)
    (0.9, 0.93)
    >>> model.graph_.edges[0]
    Edge(predicted=9, true=5, weight=0.0...)
    >>> model.changes_[0]
    Change(predicted=9, became=5, corrected=2, broke=0, neither=0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": "no_validation",  # type: ignore[dict-item]
        "expert": "no_validation",  # type: ignore[dict-item]
        "threshold": [Interval(Real, 0, 1, closed="left"), StrOptions({"sweep"}), None],
        "approach": [StrOptions({"one-vs-rest", "max-wins", "verify"})],
        "candidates": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "blend": ["boolean"],
        "cv": ["cv_object", "array-like"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        base: Any = None,
        expert: Any = None,
        threshold: float | str | None = "sweep",
        approach: str = "one-vs-rest",
        candidates: int | str | None = "auto",
        blend: bool = True,
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.base = base
        self.expert = expert
        self.threshold = threshold
        self.approach = approach
        self.candidates = candidates
        self.blend = blend
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Run the base out of fold, draw the graph, train the experts."""
        X, y = self._checked(X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y must have at least two classes. Got one class instead.")
        base, expert = self._workers()
        dealt = possible_folds(X, codes, self.cv, random_state=self.random_state)
        folds = None if dealt is None else dealt[:2]
        found, confusions = self._rank(base, X, y, codes, folds)
        self.threshold_, _, _, self.upper_bound_ = sparest(self.sweep_, self.confusion_.accuracy)
        training = TrainingRows(expert, X, codes, np.arange(len(codes)), self.n_jobs)
        found = found.within(self.threshold_)
        self.blend_, self.changes_ = Blend(1.0, 0.0), list[Change]()
        if folds is not None:
            first, others = np.flatnonzero(folds[0] == 0), np.flatnonzero(folds[1] != 0)
            panel = self._panel(replace(training, rows=others), found, without(self.confusion_, confusions[0]))
            self._judge(X[first], codes[first], found[first], panel)
        self.graph_ = ConfusionGraph.from_confusion(self.confusion_, self.threshold_ or 0.0)
        self._experts = self._panel(training, found, self.confusion_)
        self.n_experts_ = len(self._experts.experts)
        self.n_numbers_ = sum(expert.n_numbers for expert in self._experts.experts)
        return self

    def predict(self, X: Any) -> Array:
        """Return the class of each row."""
        found, log_p = self._answers(X)
        return np.asarray(self.classes_[found.best(log_p)])

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`."""
        found, log_p = self._answers(X)
        n_open = found.open.sum(axis=1)
        n_classes = len(self.classes_)
        # At least what chance would give: so no class outside is likelier than the best candidate.
        reach = np.where(n_open < n_classes, np.maximum(self.upper_bound_, n_open / n_classes), 1.0)
        outside = np.log((1 - reach).clip(np.finfo(float).tiny) / np.maximum(n_classes - n_open, 1))
        result = np.repeat(outside[:, None], n_classes, axis=1)
        row, column = np.nonzero(found.open)
        result[row, found.codes[row, column]] = log_p[row, column] + np.log(reach)[row]
        return result

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, calibrated on held-out rows; classes that are no candidates share the rest."""
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """Return log-probabilities; of two classes, the log-odds of the second."""
        log_p = self.predict_log_proba(X)
        return log_p[:, 1] - log_p[:, 0] if len(self.classes_) == 2 else log_p

    def _checked(self, X: Any, y: Any) -> tuple[Any, Array]:
        if self.candidates is None and self.threshold is None:
            raise ValueError("threshold must be a share or 'sweep' where candidates is None. Got None instead.")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, multi_output=True, ensure_min_samples=2)
        if type_of_target(y, input_name="y").startswith("multilabel"):
            raise ValueError("y must name one class for each row. Got multi-label y instead; use KNNClassifier.")
        y = column_or_1d(y, warn=True)
        require_classes(y)
        return _rows(X), y

    def _rank(
        self, base: Any, X: Any, y: Array, codes: Indices, folds: tuple[Indices, Indices] | None
    ) -> tuple[Candidates, list[Confusion]]:
        """Fit the base; return the candidates of each row and the confusion of each fold, both out of fold.

        If no row can be held out, candidates come from the base fitted to the same rows, and there is no confusion.
        """
        self.base_ = clone(base).fit(X, y)
        if folds is None:
            self.confusion_ = Confusion.from_predictions(y[:0], y[:0], classes=self.classes_)
            found = rank_classes(self.base_, X, self.classes_, self._n_ranked())
            self.sweep_ = sweep(found, codes, self.confusion_, self._thresholds())
            return found, []
        found, confusions = rank_out_of_fold(
            base, X, y, classes=self.classes_, folds=folds, k=self._n_ranked(), n_jobs=self.n_jobs
        )
        self.confusion_, held = reduce(add, confusions), folds[0] >= 0
        self.sweep_ = sweep(found[held], codes[held], self.confusion_, self._thresholds())
        return found, confusions

    def _workers(self) -> tuple[Any, Any]:
        """Return base and expert, or their defaults for None."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        base = CentroidClassifier() if self.base is None else self.base
        return base, LinearSVM(passes=PASSES, random_state=seed) if self.expert is None else self.expert

    def _n_ranked(self) -> int:
        n_classes = len(self.classes_)
        if self.candidates == "auto":
            most = CANDIDATES if self.approach == "one-vs-rest" else PAIR_CANDIDATES
            return min(most, max(2, n_classes // 2))
        return n_classes if self.candidates is None else min(int(self.candidates), n_classes)

    def _thresholds(self) -> list[float | None]:
        """Return the thresholds to try, the one that gives most candidates first.

        One expert for each class works with any candidates; experts that belong to edges need a graph.
        """
        if self.threshold != "sweep":
            return [self.threshold]  # type: ignore[list-item]
        shared = self.approach == "one-vs-rest" and self.candidates is not None
        return [None, *THRESHOLDS] if shared else list(THRESHOLDS)

    def _panel(self, training: TrainingRows, found: Candidates, confusion: Confusion) -> Panel:
        """Return the experts trained on rows whose confusion is `confusion`."""
        if self.candidates is None:
            incidence = ConfusionGraph.from_confusion(confusion, self.threshold_ or 0.0).incidence
            subgraphs = csr_array(((incidence > 0) + eye_array(len(self.classes_))) > 0).astype(np.intp)
            if self.approach == "one-vs-rest":
                return SubgraphPanel.fit(training, subgraphs)
            return PairPanel.fit(training, subgraphs, least=1, rule=self.approach)
        if self.approach == "one-vs-rest":
            return ClassPanel.fit(training, found)
        return PairPanel.fit(
            training, found[training.rows].sets(len(self.classes_)), least=PAIR_ROWS, rule=self.approach
        )

    def _judge(self, X: Any, codes: Indices, found: Candidates, panel: Panel) -> None:
        """Fit the blend, and count the changes, on rows that the experts of `panel` were not trained on."""
        margins = panel.margins(X, found)
        with_base = self.blend and self.approach != "verify"
        self.blend_ = fit_blend(margins, found.scores, found.hits(codes), with_base=with_base)
        after = found.best(self._log_shares(margins, found))
        self.changes_ = changes(codes, found.codes[:, 0], after, self.classes_)

    def _answers(self, X: Any) -> tuple[Candidates, Floats]:
        """Return the candidates of new rows and their log-probabilities."""
        X = _rows(self._checked_rows(X))
        found = rank_classes(self.base_, X, self.classes_, self._n_ranked())
        found = found.linked(self.confusion_).within(self.threshold_)
        return found, self._log_shares(self._experts.margins(X, found), found)

    def _log_shares(self, margins: Floats, found: Candidates) -> Floats:
        order = np.arange(margins.shape[1])
        return np.asarray(log_softmax(self.blend_(margins, found.scores) - TIE * order, axis=1))


def _rows(X: Any) -> Any:
    return csr_array(X) if is_sparse(X) else X

"""`UntwinClassifier`: the whole product behind one estimator.

Steps of `fit` (modules in brackets): check the rows and labels (features/inputs); turn them into numbers
(features/choose); choose C of the linear SVM (selection/strength); let all candidates (selection/candidates) predict
the same held-out rows, and a stack learn from these answers (selection/select); train the best one, or the best average
(selection/averages), on all rows (ensemble). Its out-of-fold answers (out_of_fold) give confusion, tree, graph,
calibration and threshold (derived), and the neighbours that explain answers (neighbours). All of this is the fitted
state (state); `add`, `relabel` and `remove` update it (teaching, updating), and so do changes of the classes, which are
kept with their history (history).

Threads: each answer is computed by a copy of the model that is taken first (`_now`). An update replaces all attributes
in one assignment (`_hold`), and updates from several threads wait for each other (locks).

Modules that only training, updates and findings need are imported inside methods, so that a model that only answers
loads fast.
"""

from __future__ import annotations

from copy import copy
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, StrOptions, inherited_tags, validating
from untwin.answer.predictions import Decision, probabilities_of
from untwin.data.frames import as_frame
from untwin.model.derived import derive
from untwin.model.features.inputs import as_labels, as_texts, kind_of, require_threads
from untwin.model.locks import learning
from untwin.model.notes import NotesMixin
from untwin.model.ordinal import SCORINGS, answers, class_order
from untwin.model.promises import PromisesMixin
from untwin.model.row_ids import first_ids
from untwin.model.teaching import TeachingMixin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from untwin._types import Array, Flags, Floats, Floats32
    from untwin.answer.reasons import Reason
    from untwin.crossfit import OutOfFold
    from untwin.model.selection.comparison import Candidate
    from untwin.model.state import FittedState
    from untwin.structure.graph import ConfusionGraph
    from untwin.structure.hierarchy import Hierarchy
    from untwin.structure.plan import SprinklingPlan
    from untwin.tables.confusion import Confusion

FLOATS = [np.float64, np.float32]
PRESETS = ("fast", "balanced", "best")


class UntwinClassifier(NotesMixin, PromisesMixin, TeachingMixin, ClassifierMixin, BaseEstimator):
    """Classify texts, tables or vectors by the candidate that is best on them; explain answers, tell which are unsure.

    Parameters
    ----------
    preset : {"fast", "balanced", "best"}, default="balanced"
        How much to try. "fast": one linear SVM. "balanced": also naive Bayes, centroids, averages of two, and a stack:
        a second stage that learns from the out-of-fold answers of the others, chosen only if it is better than all of
        these beyond chance; for tables and matrices also C of the SVM. "best": also C for texts, the confusion graph,
        groups of classes, class space and sprinkled spaces, and averages of up to three candidates.
    encoder : transformer or None, default=None
        Turns the given rows into numbers. None: texts are counted by stems, pairs of stems and, unless they are long,
        characters, and weighted by tf-idf; frames go through `TableEncoder`, matrices stay as they are. Texts of a
        frame are counted in the same ways, and its numbers are used as intervals and as standard scores, unless the
        `TableEncoder` that is given has `counts`, or a discretizer.
    scoring : {"accuracy", "macro_f1", "mae", "kappa"}, default="accuracy"
        The score that decides between candidates; "mae" and "kappa" need `order`, and make `predict` return the median.
    order : sequence of classes or None, default=None
        The classes from low to high, if they are grades.
    target_error : float or None, default=None
        The share of sure answers that may be wrong; `predict_all` and others take another one without a new fit. None:
        half of the error to expect, 10 % at most.
    cv : "auto", int, splitter, (n,) fold numbers, (train, test) pairs or None, default="auto"
        One set of folds for everything that is measured. "auto": 5 folds, 3 from 100,000 rows on. A number of folds:
        neighbouring rows of a class are held out together, since they often come from one author; identical rows share
        a fold. Otherwise as in `out_of_fold`.
    time_budget : float or None, default=None
        Seconds after which `fit` tries nothing more; what has been begun is finished.
    n_jobs : int or None, default=None
        Threads that work on folds. It never changes an answer.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_ : (C,) array
    candidates_ : list of Candidate
        All candidates, the chosen one first: scores with intervals, seconds, and why some were dropped.
    scores_ : dict
        The scores to expect on new rows: the answers to each fold come from the candidates that the other folds choose.
        C of the linear SVM is not chosen again for each fold.
    confusion_, hierarchy_, graph_, plan_
        The out-of-fold confusion of the ensemble, and the tree, graph and sprinkling plan made from it.
    groups_ : list of tuples of classes
        Groups of similar classes: the tree, cut at one height.
    calibration_error_ : float
        Expected calibration error, out of fold; the few calibration parameters are fitted to the same rows.
    target_error_, threshold_ : float
        The share of sure answers that may be wrong, and the probability from which on an answer counts as sure.
    promises_ : Promises
        What sets of classes, heights of the tree and sure answers promise; see `shortlist`, `heights`, `unknown`.
    ids_ : (n,) array
        Names of the training rows: the `ids` given, as strings, or their numbers in order of arrival, from 0.
    findings_, neighbours_, group_range_, curves_
        What the report shows. Computed at the first use and saved with the model; `measure` computes all of it, the
        curves of sprinkled spaces for the preset "best" only.
    taxonomy_ : Taxonomy
        The classes with ids that are never used again, definitions, parents and links, and what became of former ones.
    state_ : FittedState
        Everything that answers need: view, ensemble, out-of-fold answers, neighbours.
    n_features_in_, feature_names_in_
        As in scikit-learn; not for texts.

    Notes
    -----
    Threads may share a model: each answer comes from one state of it, before or after an update by another thread, and
    no update is lost. To read several attributes of the same state, read them from a `copy.copy` of the model.

    Examples
    --------
    >>> from untwin.model import UntwinClassifier
    >>> texts = ["my card has not arrived", "card still not here", "where is the card I ordered", "no card in my post",
    ...     "the machine ate my card", "card stuck in the machine", "machine kept the card", "machine swallowed it"]
    >>> model = UntwinClassifier(preset="fast").fit(texts, ["arrival"] * 4 + ["swallowed"] * 4)
    >>> model.predict(["the machine has my card", "the post brought no card"]).tolist()
    ['swallowed', 'arrival']
    >>> model.candidates_[0].name, model.confusion_.total
    ('linear SVM', 8)
    """

    state_: FittedState
    candidates_: list[Candidate]
    scores_: dict[str, float]
    classes_: Array
    confusion_: Confusion
    hierarchy_: Hierarchy
    groups_: list[tuple[Any, ...]]
    graph_: ConfusionGraph
    plan_: SprinklingPlan
    calibration_error_: float
    threshold_: float
    about_: dict[str, Any]
    sha256_: str
    _noted: dict[str, Any]
    _held_out: dict[str, Floats32] | None = None  # scores of the first stage, kept from one change to the next

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [StrOptions(set(PRESETS))],
        "encoder": "no_validation",  # type: ignore[dict-item]
        "scoring": [StrOptions(set(SCORINGS))],
        "order": ["array-like", None],
        "target_error": [Interval(Real, 0, 1, closed="both"), None],
        "cv": [StrOptions({"auto"}), "cv_object", "array-like"],
        "time_budget": [Interval(Real, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        preset: str = "balanced",
        encoder: Any = None,
        scoring: str = "accuracy",
        order: ArrayLike | None = None,
        target_error: float | None = None,
        cv: Any = "auto",
        time_budget: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.preset = preset
        self.encoder = encoder
        self.scoring = scoring
        self.order = order
        self.target_error = target_error
        self.cv = cv
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any, *, ids: ArrayLike | None = None) -> Self:
        """Fit the candidates of the preset to rows `X` with labels `y` and names `ids`, and keep the best."""
        with learning(self):
            fresh = copy(self)
            fresh.__dict__ = {name: value for name, value in vars(self).items() if not name.endswith("_")}
            self.__dict__ = vars(fresh._fit_this_copy(X, y, ids))
        return self

    def predict(self, X: Any, *, height: str = "class", target_error: float | None = None) -> Array:
        """Return the class of each row: the likeliest, or the median grade where `scoring` counts distances.

        With the height "auto" (or "known", see `heights`) it is a class, a tuple of classes, or None, so that about the
        share `target_error` of these answers is wrong.
        """
        if height != "class":
            return self.heights(X, target_error=target_error, tree=height).labels()  # type: ignore[arg-type]
        now = self._now()
        return now._answer(now._log_proba(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, calibrated on held-out rows; class frequencies for texts without a known word."""
        return probabilities_of(self._now()._log_proba(X))

    def without_evidence(self, X: Any) -> Flags:
        """Tell which texts contain no known term; their probabilities are the class frequencies."""
        now = self._now()
        return now.state_.without_evidence(now._prepare_rows(X, reset=False))

    def explain(self, X: Any, *, top: int = 5, ids: ArrayLike | None = None) -> list[Reason]:
        """Return an explanation of each answer: what speaks for it, and training rows that are similar.

        `ids` are the names of the rows if they are training rows: a reason then tells the row's own label, and a row is
        no neighbour of itself. `top` says how many neighbours, and how many words or cells for each of two classes.
        """
        now = self._now()
        return now.state_.explainer.explain(now._prepare_rows(X, reset=False), now._decision(), top, ids)

    def save(
        self,
        folder: str | Path,
        *,
        texts: bool = True,
        about: Mapping[str, Any] | None = None,
        overwrite: bool = False,
        precision: str | None = None,
    ) -> None:
        """Write the model into a folder. If this is interrupted, the folder still holds the old model or the new one.

        Parameters
        ----------
        folder : str or Path
            A new folder, an empty one, or a saved model, which is replaced.
        texts : bool
            False leaves the documents out (their terms and counts stay); explanations then show ids only.
        about : mapping, optional
            More facts to keep, in values that JSON knows; loaded as `about_`. None: the facts that were loaded, if any.
        overwrite : bool
            False raises `UntwinError` if the model there has changed since this one was read from it or saved to it.
        precision : {"default", "small", "full"}, optional
            The weights to keep of linear models: those that answer, half of them, or all. None: those that answer.
        """
        from untwin.model.saving import save_model

        self._write_events(folder)
        noted = save_model(self._now(), folder, texts=texts, about=about, overwrite=overwrite, precision=precision)
        vars(self).update(noted)

    def export(self, folder: str | Path, *, precision: str = "default") -> None:
        """Write the part of a model that answers into a folder of its own: see `AnswerModel`.

        `precision`: "full" keeps all weights, in 16 bits; "default" the largest, in 8 bits, and "small" half of them.
        Of a matrix all weights are kept, in 23, 16 and 8 bits; of a table weights have 16, 16 and 8 bits.
        """
        from untwin.model.saving.exporting import export_answers

        export_answers(self._now(), folder, precision=precision)

    @classmethod
    def load(cls, folder: str | Path) -> UntwinClassifier:
        """Return the model saved in a folder; raise `ModelRefused` if anything is wrong with it.

        The folder need not be trusted: no code in it is run. The model answers, explains and learns like the one that
        was saved; `sha256_` is the digest of what was read or saved.
        """
        from untwin.model.saving import load_model

        return load_model(folder)

    @property
    def ids_(self) -> Array:
        """Names of the training rows."""
        return self.state_.ids

    @property
    def out_of_fold_(self) -> OutOfFold:
        """Out-of-fold answers to the training rows; scores are calibrated log-probabilities."""
        return self.state_.answers.out_of_fold

    def _fit_this_copy(self, X: Any, y: Any, ids: ArrayLike | None) -> Self:
        """Return this model fitted; `fit` calls it on a copy, so that a failure leaves the model unchanged."""
        from untwin.model.fitting import fit_state

        self._kind, self._noted, self._held_out = kind_of(X), {}, None
        require_threads(self._kind)
        given = self._prepare_rows(X, reset=True)
        known, choice = fit_state(self, given, *self._prepare_labels(given, y, ids))
        noted = {"by_words": known.view.shares_words()}
        return self._hold(known, candidates_=choice.candidates, scores_=choice.scores, _noted=noted)

    def _now(self) -> Self:
        """Return a copy of the fitted model: one consistent state that no other thread replaces."""
        check_is_fitted(self)
        now = copy(self)
        require_threads(now._kind)
        return now

    def _prepare_rows(self, X: Any, *, reset: bool) -> Any:
        """Return rows as they are kept: a list of texts, a Polars frame, a matrix."""
        kind = kind_of(X)
        if not reset and kind != self._kind:
            raise ValueError(f"X must be what fit saw: {self._kind}. Got {kind} instead.")
        if kind == "matrix":
            return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset)
        if kind == "texts":
            return as_texts(X)
        frame = as_frame(X)
        validate_data(self, frame, skip_check_array=True, reset=reset)
        return frame

    @staticmethod
    def _prepare_labels(given: Any, y: Any, ids: ArrayLike | None = None) -> tuple[Array, Array]:
        labels = as_labels(y)
        check_consistent_length(given, labels)
        return labels, first_ids(ids, len(labels))

    def _log_proba(self, X: Any) -> Floats32:
        return self.state_.log_proba(self._prepare_rows(X, reset=False))[0]

    def _decision(self) -> Decision:
        order = class_order(self.order, self.classes_, self.scoring)
        widest = self.state_.known.threshold()
        return Decision(self.classes_, self.groups_, self.threshold_, self.scoring, order, widest, self.by_words_)

    def _answer(self, log_p: Array, classes: Array | None = None) -> Array:
        return answers(log_p, self.classes_ if classes is None else classes, scoring=self.scoring, order=self.order)

    def _hold(self, known: FittedState, **more: Any) -> Self:
        """Replace the fitted state, all attributes derived from it, and others, in one assignment."""
        fresh = copy(self)
        vars(fresh).update(state_=known, **more)
        self.__dict__ = {**vars(fresh), **derive(known, fresh.target_error_)}
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

"""`audit`: everything that follows from a confusion, by the answers of any classifier; nothing is trained.

Glossary
--------
n rows, C classes
listed   an answer that names one of the classes. Others are wrong, but are no confusion of two classes: accuracy counts
         them, confusion, tree and twins do not
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from untwin._labels import label_array
from untwin._plain import plain
from untwin._wording import format_count
from untwin.model.auditing.annotators import (
    AnnotatorAgreement,
    annotator_confusions,
    annotators_finding,
    unstable_answers,
)
from untwin.model.auditing.given import answers_as_given, scores_of_classes
from untwin.model.auditing.unlisted import unlisted_answers
from untwin.model.derived import EDGE
from untwin.model.features.choose import make_view
from untwin.model.findings.evidence import Evidence
from untwin.model.findings.finding import SEVERITIES, records
from untwin.model.findings.kinds import KINDS, found
from untwin.model.findings.nearest import neighbours_of_other_folds
from untwin.model.notes import times_redrawn
from untwin.model.selection.comparison import binomial_interval
from untwin.structure.graph import ConfusionGraph
from untwin.tables.annotations import Annotations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats
    from untwin.model.findings.finding import Finding
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.structure.hierarchy import GroupRange, Hierarchy
    from untwin.tables.confusion import Confusion

BY_CONFUSION = ("twins", "tiny-class", "also-see")
BY_SCORES = ("label-error",)
BY_TEXTS = ("conflicting-text", "indistinguishable-classes", "split-class", "group-names")
READ_LABELS = "Read them from the top and correct the label where it is wrong; stop where most of them are right."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Audit:
    """What `audit` found; `write_report` takes it like a model.

    Attributes
    ----------
    evidence_ : Evidence
        The answers beside the labels, the texts and their terms: what findings are made from.
    findings_ : list of Finding
        The most serious first: those of a model that need no training, and `unlisted-answers`, `annotators`,
        `annotator-confusions`, `unstable-answers` (docs/audit.md).
    scores_ : dict
        `accuracy` with its 95 % interval, `macro_f1`, and what guessing would reach. Answers that are no class are
        wrong.
    parents_ : dict or None
    agreement_ : AnnotatorAgreement or None
        Of the annotators, if there are several.
    calibration_error_ : float or None
        Of the scores, after one temperature was fitted to them; None without scores.
    """

    evidence_: Evidence
    findings_: list[Finding]
    scores_: dict[str, float]
    calibration_error_: float | None
    parents_: dict[Any, Any] | None = None
    agreement_: AnnotatorAgreement | None = None
    about_: dict[str, Any] = field(default_factory=dict)
    candidates_: ClassVar[tuple[Any, ...]] = ()  # the report asks: nothing was tried
    curves_: ClassVar[None] = None
    scoring: ClassVar[str] = "accuracy"
    measured_: ClassVar[frozenset[str]] = frozenset({"findings", "neighbours", "group_range", "curves"})

    @property
    def answers_(self) -> OutOfFoldAnswers:
        """The answers; `said` is -1 where an answer is none of the classes."""
        return self.evidence_.answers

    @property
    def classes_(self) -> Array:
        """The classes, sorted."""
        return self.answers_.classes

    @property
    def ids_(self) -> Array:
        """Names of the rows."""
        return np.asarray(self.evidence_.ids)

    @property
    def confusion_(self) -> Confusion:
        """True x predicted of the rows whose answer names a class."""
        return self.answers_.confusion

    @property
    def hierarchy_(self) -> Hierarchy:
        """The tree of the classes."""
        return self.evidence_.hierarchy

    @cached_property
    def groups_(self) -> list[tuple[Any, ...]]:
        """The tree, cut at one height."""
        return self.hierarchy_.cut()

    @cached_property
    def graph_(self) -> ConfusionGraph:
        """Which classes are often taken for which others."""
        return ConfusionGraph.from_confusion(self.confusion_, EDGE)

    @cached_property
    def group_range_(self) -> GroupRange:
        """How far the number of groups can be trusted."""
        return self.hierarchy_.group_range(n_bootstrap=times_redrawn(len(self.classes_)))

    def measure(self) -> Audit:
        """Return the audit: the report asks a model to measure what it shows, and here all is measured."""
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return no parameters: the report asks for them."""
        return {}

    def __repr__(self) -> str:
        n, C = len(self.answers_.rows), len(self.classes_)
        return f"Audit({format_count(n, 'row')}, {C:,} classes, accuracy {self.scores_['accuracy']:.4f})"

    def per_class(self) -> list[dict[str, Any]]:
        """Return rows, precision, recall and F1 of each class; an answer that is no class finds none of them."""
        rows, said, right = self.answers_.sizes, self.confusion_.predicted, self.confusion_.correct
        columns = {
            "class": self.classes_,
            "rows": rows,
            "precision": right / np.maximum(said, 1),
            "recall": right / np.maximum(rows, 1),
            "f1": 2 * right / np.maximum(rows + said, 1),
        }
        return list(records({name: column.tolist() for name, column in columns.items()}))

    def to_dict(self) -> dict[str, Any]:
        """Return all but the rows as plain values, ready for JSON."""
        content: dict[str, Any] = plain(
            {
                "rows": len(self.answers_.rows),
                "listed": int(self.answers_.held.sum()),
                **self.scores_,
                "calibration_error": self.calibration_error_,
                "classes": self.classes_.tolist(),
                "confused": [
                    dict(zip(pair.dtype.names, pair.tolist(), strict=True)) for pair in self.confusion_.pairs()
                ],
                "per_class": self.per_class(),
                "tree": self.hierarchy_.to_dict(),
                "groups": self.groups_,
                "agreement": self.agreement_,
                "findings": self.findings_,
            }
        )
        return content


def audit(
    y: ArrayLike,
    predicted: ArrayLike,
    *,
    ids: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
    scores: Mapping[Any, ArrayLike] | None = None,
    classes: Iterable[Any] | None = None,
    parents: Mapping[Any, object] | None = None,
    annotators: Mapping[str, ArrayLike] | None = None,
    units: ArrayLike | None = None,
) -> Audit:
    """Return everything that follows from the answers `predicted` to rows with the labels `y`.

    Parameters
    ----------
    y, predicted : (n,) labels
        A prediction that is none of the classes is wrong, and a finding.
    ids : (n,) names of the rows, optional
        Their positions if None.
    texts : (n,) str, optional
        Give terms, equal rows, and quotes.
    scores : mapping from class to (n,) numbers, optional
        Probabilities, their logarithms, or other scores; NaN where there is none. They give label errors.
    classes : names, optional
        Classes that may occur beside those of `y`.
    parents : mapping from class to parent, or to a tuple of ancestors, optional
        A known tree, for soft links.
    annotators : mapping from name to (n,) labels, optional
        Labels by several people, or from asking several times; the empty string is no label.
    units : (n,) names, optional
        What each row is an answer about: rows of one unit are repeated answers. None: equal texts are.

    Examples
    --------
    >>> y = ["late_fee"] * 20 + ["refund"] * 20 + ["other"] * 10
    >>> said = ["late_fee"] * 12 + ["refund"] * 8 + ["refund"] * 18 + ["Refund", "money back"] + ["other"] * 10
    >>> found = audit(y, said)
    >>> found
    Audit(50 rows, 3 classes, accuracy 0.8000)
    >>> for finding in found.findings_:
    ...     print(finding.code, finding.title)
    unlisted-answers 2 answers name no class (4.0% of the rows; 2 different; 1 near a class by their spelling).
    twins 1 pair of classes is often confused. With such classes merged, accuracy would be ... points higher.
    """
    truth, said = label_array(y), label_array(predicted)
    names = np.arange(len(truth)) if ids is None else np.asarray(ids)
    listed = _listed(truth, said, classes, scores)
    columns = {name: label_array(column) for name, column in (annotators or {}).items()}
    _require_lengths(
        len(truth), {"predicted": said, "ids": names, "texts": texts, "units": units, **(scores or {}), **columns}
    )
    tree = None if parents is None else {name: parents.get(name, name) for name in listed.tolist()}
    S = None if scores is None else scores_of_classes(scores, listed)
    answers = answers_as_given(listed, truth, said, scores=S, texts=texts)
    evidence = _evidence(answers, names, texts, tree)
    agreement = _agreement(columns)
    judged = [_of_given(one) for one in found(evidence, _kinds(scores is not None, texts is not None))]
    told = [
        unlisted_answers(listed, truth, said, names.tolist()),
        None if agreement is None else annotators_finding(truth, columns, agreement),
        annotator_confusions(truth, columns),
        unstable_answers(said, names, texts=texts, units=units),
    ]
    findings = [*(one for one in told if one is not None), *judged]
    return Audit(
        evidence_=evidence,
        findings_=sorted(findings, key=lambda one: -SEVERITIES.index(one.severity)),
        scores_=_scores(answers),
        calibration_error_=None if S is None else answers.calibration_error,
        parents_=tree,
        agreement_=agreement,
    )


def _listed(truth: Array, said: Array, classes: Iterable[Any] | None, scores: Mapping[Any, Any] | None) -> Array:
    """Return all classes: those of the labels, those given, and those that have scores."""
    if truth.ndim != 1 or not len(truth):
        raise ValueError("y must hold at least one label. Got none instead.")
    if (truth.dtype.kind in "biuf") != (said.dtype.kind in "biuf"):
        raise ValueError(f"y and predicted must be of one kind. Got {truth.dtype} and {said.dtype} instead.")
    more = [label_array(list(part)) for part in (classes, scores) if part is not None]
    listed = np.unique(np.concatenate([truth, *more]))
    if len(listed) < 2:
        raise ValueError(
            f"There must be two classes at least. Got only {listed.tolist()[0]!r}; name others as classes."
        )
    return listed


def _require_lengths(n_rows: int, given: Mapping[Any, Any]) -> None:
    for name, column in given.items():
        if column is not None and len(column) != n_rows:
            raise ValueError(f"{name} must have one value for each of {n_rows} rows. Got {len(column)} instead.")


def _evidence(
    answers: OutOfFoldAnswers, ids: Array, texts: Sequence[str] | None, parents: Mapping[Any, object] | None
) -> Evidence:
    """Return what findings are made from; without texts, or words in them, rows have no terms."""
    X, terms, near = csr_array((len(answers.rows), 0), dtype=np.float32), None, None
    if texts is not None and any(text.strip() for text in texts):
        view = make_view(list(texts), answers.true, kind="texts", encoder=None)
        prepared = view.prepare(answers.true)
        X, terms = view.readable_terms(prepared.rows, prepared.preprocessing)
        near = neighbours_of_other_folds(X, answers)
    return Evidence(answers=answers, X=X, terms=terms, neighbours=near, ids=ids, texts=texts, parents=parents)


def _kinds(scored: bool, written: bool) -> list[str]:
    """Return the codes of the findings that can be made without a model."""
    kept = {*BY_CONFUSION, *(BY_SCORES if scored else ()), *(BY_TEXTS if written else ())}
    return [code for code in KINDS if code in kept]


def _of_given(finding: Finding) -> Finding:
    """Return a finding without advice to fit another model."""
    return replace(finding, advice=READ_LABELS) if finding.code == "label-error" else finding


def _agreement(columns: Mapping[str, Array]) -> AnnotatorAgreement | None:
    if len(columns) < 2:
        return None
    return AnnotatorAgreement.of(Annotations.of_columns(list(columns.values())), list(columns))


def _scores(answers: OutOfFoldAnswers) -> dict[str, float]:
    """Return the figures of all rows; an answer that is no class is wrong, and takes nothing from any class."""
    right = answers.said == answers.true
    low, high = binomial_interval(right)
    said = answers.confusion.predicted
    occurs = answers.sizes + said > 0
    f1: Floats = (2 * answers.confusion.correct)[occurs] / (answers.sizes + said)[occurs]
    sizes = answers.sizes / len(right)
    return {
        "accuracy": float(right.mean()),
        "accuracy_low": low,
        "accuracy_high": high,
        "macro_f1": float(f1.mean()),
        "chance": float(sizes @ (said / len(right))),
        "largest_class": float(sizes.max()),
    }

"""Compare two sets of answers to the same labelled rows: what got better, what got worse, and where.

Glossary
--------
n rows, C classes
mistaken    a row is mistaken about a class if it has the class and was answered otherwise, or the other way round
broken      mistaken by the new answers only; mended: by the old ones only
chance      of a difference between broken and mended at least as large if either were as likely (sign test)

Right and wrong are compared row by row (paired), so that rows that are hard for both do not blur the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import binom

from untwin._labels import label_array
from untwin._plain import plain
from untwin._values import positions
from untwin._wording import format_count
from untwin.model.findings.twins import twin_pairs
from untwin.model.records import Effect, Flip
from untwin.model.selection.comparison import paired_effect
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array, Flags, Floats, Indices

SURE = 0.05  # chance, shared by all classes, of saying of any of them that it changed although it did not


class GivenAnswers(NamedTuple):
    """Answers to n rows, and what was promised of them, if anything.

    `unsure` are the rows on whose answer nobody should rely; `sets` are classes of which one is to be the right one.
    """

    labels: Any
    unsure: ArrayLike | None = None
    sets: Sequence[Collection[Any]] | None = None

    def promises(self, y: Array, right: Flags) -> dict[str, float | None]:
        """Return what was promised and can be checked by the labels."""
        kept: dict[str, float | None] = {}
        if self.unsure is not None:
            sure = ~np.asarray(self.unsure, dtype=np.bool_)
            kept["sure answers"] = float(sure.mean())
            kept["right among sure answers"] = float(right[sure].mean()) if sure.any() else None
        if self.sets is not None:
            held = [name in one for name, one in zip(y.tolist(), self.sets, strict=True)]
            kept["sets that hold the truth"] = float(np.mean(held))
            kept["mean size of a set"] = float(np.mean([len(one) for one in self.sets]))
        return kept


class Promise(NamedTuple):
    """What a promise came to before and after; None where it was not made."""

    name: str
    before: float | None
    after: float | None


class ClassChange(NamedTuple):
    """How a class fared: shares before and after, None without rows or answers; the counts and `chance` as above."""

    name: Any
    rows: int
    recall_before: float | None
    recall_after: float | None
    precision_before: float | None
    precision_after: float | None
    broken: int
    mended: int
    chance: float
    beyond_chance: bool


class TwinChange(NamedTuple):
    """Two classes that are twins in one of both sets of answers only, and the errors between them, either way."""

    a: Any
    b: Any
    errors_before: int
    errors_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerComparison:
    """What `compare_answers` found.

    Attributes
    ----------
    rows : int
    accuracy : Effect
        Before and after, with the 95 % interval of the difference (paired).
    macro_f1 : (before, after)
    broken, mended : int
        Rows right before and wrong now, and the other way round.
    fell, rose : tuple of ClassChange
        Classes about which more rows are mistaken than before, or fewer; the largest differences first.
    twins_new, twins_gone : tuple of TwinChange
    flipped : tuple of Flip
        Rows answered otherwise: first those that broke, then the mended ones, then those wrong both times.
    promises : tuple of Promise
    """

    rows: int
    accuracy: Effect
    macro_f1: tuple[float, float]
    broken: int
    mended: int
    fell: tuple[ClassChange, ...]
    rose: tuple[ClassChange, ...]
    twins_new: tuple[TwinChange, ...]
    twins_gone: tuple[TwinChange, ...]
    flipped: tuple[Flip, ...]
    promises: tuple[Promise, ...] = ()

    @property
    def drop(self) -> float:
        """By how many points accuracy is lower than before; negative if it is higher."""
        return 100 * (self.accuracy.before - self.accuracy.after)

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy.before:.4f} before, {self.accuracy.after:.4f} after, {self.accuracy} on "
            f"{format_count(self.rows, 'row')}; {self.broken:,} broken, {self.mended:,} mended; "
            f"{len(self.twins_new):,} new and {len(self.twins_gone):,} gone twins"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings, ready for JSON."""
        content: dict[str, Any] = plain(self)
        return content

    def to_markdown(self, top: int = 10) -> str:
        """Return the comparison as Markdown, for a pull request; of classes, twins and rows the first `top`."""
        from untwin.model.comparing_markdown import comparison_page

        return comparison_page(self, top)


def compare_answers(
    y: ArrayLike,
    old: ArrayLike | GivenAnswers,
    new: ArrayLike | GivenAnswers,
    *,
    ids: ArrayLike | None = None,
) -> AnswerComparison:
    """Compare old and new answers, of whatever classifiers, to rows that have the labels `y`.

    Parameters
    ----------
    y : (n,) labels
    old, new : (n,) labels, or GivenAnswers
    ids : (n,) names of the rows, optional
        Their positions if None.

    Examples
    --------
    >>> y = ["cat"] * 4 + ["dog"] * 4
    >>> old = ["cat", "cat", "cat", "dog", "dog", "dog", "dog", "dog"]
    >>> new = ["cat", "cat", "cat", "cat", "dog", "dog", "cat", "cat"]
    >>> found = compare_answers(y, old, new)
    >>> print(found)
    accuracy 0.8750 before, 0.7500 after, -12.50 points [-54.04, +29.04] on 8 rows; 2 broken, 1 mended; ...
    >>> [(flip.row, flip.label, flip.before, flip.after) for flip in found.flipped]
    [(6, 'dog', 'dog', 'cat'), (7, 'dog', 'dog', 'cat'), (3, 'cat', 'dog', 'cat')]
    """
    given = [one if isinstance(one, GivenAnswers) else GivenAnswers(one) for one in (old, new)]
    truth, before, after = label_array(y), label_array(given[0].labels), label_array(given[1].labels)
    _require_same_rows(truth, before, after)
    names = np.arange(len(truth)) if ids is None else np.asarray(ids)
    classes = np.unique(np.concatenate([truth, before, after]))
    confusions = [Confusion.from_predictions(truth, answers, classes=classes) for answers in (before, after)]
    right = before == truth, after == truth
    broken, mended = right[0] & ~right[1], right[1] & ~right[0]
    fell, rose = _class_changes(confusions, *(positions(part, classes) for part in (truth, before, after)))
    twins_new, twins_gone = _twin_changes(*confusions)
    order = _flips(before != after, broken, mended)
    parts = (part[order].tolist() for part in (names, truth, before, after))
    return AnswerComparison(
        rows=len(truth),
        accuracy=paired_effect(*right),
        macro_f1=(confusions[0].macro_f1, confusions[1].macro_f1),
        broken=int(broken.sum()),
        mended=int(mended.sum()),
        fell=fell,
        rose=rose,
        twins_new=twins_new,
        twins_gone=twins_gone,
        flipped=tuple(Flip(*flip) for flip in zip(*parts, strict=True)),
        promises=_promises(*(one.promises(truth, good) for one, good in zip(given, right, strict=True))),
    )


def _require_same_rows(truth: Array, *answers: Array) -> None:
    for found in answers:
        if truth.ndim != 1 or found.shape != truth.shape:
            raise ValueError(
                f"y and both answers must be one-dimensional and of one length. Got shapes {truth.shape} and "
                f"{found.shape} instead."
            )
        if (truth.dtype.kind in "biuf") != (found.dtype.kind in "biuf"):
            raise ValueError(f"Labels and answers must be of one kind. Got {truth.dtype} and {found.dtype} instead.")
    if not len(truth):
        raise ValueError("y must hold at least one row. Got none instead.")


def _flips(changed: Flags, broken: Flags, mended: Flags) -> Indices:
    """Return the rows that are answered otherwise, broken ones first, then mended ones."""
    rows = np.flatnonzero(changed)
    rank = np.where(broken, 0, np.where(mended, 1, 2))[rows]
    return rows[np.argsort(rank, kind="stable")]


def _class_changes(
    confusions: Sequence[Confusion], true: Indices, before: Indices, after: Indices
) -> tuple[tuple[ClassChange, ...], tuple[ClassChange, ...]]:
    """Return the classes about which more rows are mistaken than before, and those about which fewer are."""
    classes = confusions[0].classes
    once, now = _mistaken(true, before, len(classes)), _mistaken(true, after, len(classes))
    broken, mended = (
        np.bincount(np.setdiff1d(a, b, assume_unique=True) % len(classes), minlength=len(classes))
        for a, b in ((now, once), (once, now))
    )
    chance = _sign_test(broken, mended)
    beyond = chance * np.count_nonzero(broken + mended) < SURE
    support, said = confusions[0].support, [one.predicted for one in confusions]

    def change(c: int) -> ClassChange:
        right = [one.correct[c] for one in confusions]
        return ClassChange(
            name=classes[[c]].tolist()[0],
            rows=int(support[c]),
            recall_before=_share(right[0], support[c]),
            recall_after=_share(right[1], support[c]),
            precision_before=_share(right[0], said[0][c]),
            precision_after=_share(right[1], said[1][c]),
            broken=int(broken[c]),
            mended=int(mended[c]),
            chance=float(chance[c]),
            beyond_chance=bool(beyond[c]),
        )

    difference = broken - mended
    fell, rose = (np.flatnonzero(sign * difference > 0) for sign in (1, -1))
    largest_first = [codes[np.argsort(-abs(difference[codes]), kind="stable")] for codes in (fell, rose)]
    worse, better = (tuple(change(c) for c in codes.tolist()) for codes in largest_first)
    return worse, better


def _mistaken(true: Indices, said: Indices, n_classes: int) -> Indices:
    """Return all pairs of a row and a class that it is mistaken about, each as one number."""
    rows = np.flatnonzero(true != said)
    return np.concatenate([rows * n_classes + true[rows], rows * n_classes + said[rows]])


def _sign_test(a: Indices, b: Indices) -> Floats:
    """Return the chance that a fair coin gives two counts that differ at least so much.

    >>> _sign_test(np.array([5, 3, 0]), np.array([0, 3, 0])).tolist()
    [0.0625, 1.0, 1.0]
    """
    return np.minimum(2 * binom.cdf(np.minimum(a, b), a + b, 0.5), 1.0)


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _twin_changes(old: Confusion, new: Confusion) -> tuple[tuple[TwinChange, ...], tuple[TwinChange, ...]]:
    """Return the twins of the new answers alone, and of the old ones alone, those with most errors first."""
    errors = [{(a, b): n for a, b, n in one.pairs()[["a", "b", "errors"]].tolist()} for one in (old, new)]
    twins = [twin_pairs(one)[["a", "b"]].tolist() for one in (old, new)]  # most errors first
    gone, came = (
        tuple(TwinChange(*pair, *(found.get(pair, 0) for found in errors)) for pair in here if pair not in set(there))
        for here, there in (twins, twins[::-1])
    )
    return came, gone


def _promises(before: dict[str, float | None], after: dict[str, float | None]) -> tuple[Promise, ...]:
    return tuple(Promise(name, before.get(name), after.get(name)) for name in {**before, **after})

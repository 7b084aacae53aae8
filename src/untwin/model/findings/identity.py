"""What a record of a finding is about: an id that stays while it is about the same, and what was measured of it.

Glossary
--------
subject     the rows and classes that a record is about; its numbers are not among them
id          code and a digest of the subject: `twins-1f0c...`; the same in every run that finds the same
measure     the number that makes it a finding, with the 95 % interval of what chance does to it
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

Z = 1.96  # of the 95 % interval
BELIEF_ROWS = 20  # neighbours that a belief rests on: it is as uncertain as a share of so many
ID_BYTES = 6
SUBJECTS = {
    "split-leak": ("training rows", "test rows"),
    "label-error": ("row", "label", "rather"),
    "conflicting-text": ("rows", "labels"),
    "twins": ("a", "b"),
    "indistinguishable-classes": ("kind", "classes"),
    "tiny-class": ("class",),
    "split-class": ("class",),
    "also-see": ("a", "b"),
    "group-names": ("classes",),
    "label-next": ("row",),
    # of audits
    "unlisted-answers": ("answer",),
    "unstable-answers": ("rows", "answers"),
    "annotators": ("annotator",),
    "annotator-confusions": ("annotator", "truth", "said"),
}
SYMMETRIC = ("twins", "also-see")  # a with b is b with a
CLASSES_OF = ("a", "b", "class", "classes", "label", "labels", "rather")  # values of a subject that are classes
NAMED = 4  # rows or classes of a subject that are spelled out


class RecordMeasure(NamedTuple):
    """A number with the ends of its interval."""

    value: float
    low: float
    high: float


def record_id(code: str, record: Mapping[str, Any]) -> str:
    """Return the id of a record.

    >>> record_id("twins", {"a": "cat", "b": "lynx", "rate": 0.25}) == record_id("twins", {"a": "lynx", "b": "cat"})
    True
    """
    return id_of_subject(code, [record.get(key) for key in SUBJECTS[code]])


def id_of_subject(code: str, subject: Sequence[Any]) -> str:
    """Return the id of a record about a subject: the values that `SUBJECTS` names."""
    ordered = [_in_order(value) for value in subject]
    if code in SYMMETRIC:
        ordered.sort(key=str)
    spelled = json.dumps([code, ordered], default=str, ensure_ascii=True)
    return f"{code}-{blake2b(spelled.encode(), digest_size=ID_BYTES).hexdigest()}"


def renamed_id(code: str, subject: Sequence[Any], names: Mapping[str, str]) -> str:
    """Return the id of a record after classes have got other names.

    >>> renamed_id("tiny-class", ["ape"], {"ape": "monkey"}) == record_id("tiny-class", {"class": "monkey"})
    True
    """
    pairs = zip(SUBJECTS[code], subject, strict=True)
    return id_of_subject(code, [_renamed(value, names) if key in CLASSES_OF else value for key, value in pairs])


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list | tuple):
        return [_renamed(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def subject_of(code: str, record: Mapping[str, Any]) -> str:
    """Return what a record is about, in a few words.

    >>> subject_of("twins", {"a": "cat", "b": "lynx", "rate": 0.25})
    'a: cat; b: lynx'
    >>> subject_of("conflicting-text", {"rows": [1, 2, 3, 4, 5], "labels": ["cat", "dog"]})
    'rows: 1, 2, 3, 4 and 1 more; labels: cat, dog'
    """
    return "; ".join(f"{key}: {_listed(record.get(key))}" for key in SUBJECTS[code])


def measure_of(code: str, record: Mapping[str, Any]) -> RecordMeasure | None:
    """Return what was measured of a record; None for a finding that is a fact, which chance does not change.

    >>> measure = measure_of("tiny-class", {"class": "yak", "rows": 9, "recall": None})
    >>> measure.value, round(measure.low, 2), round(measure.high, 2)
    (9.0, 3.12, 14.88)
    """
    match code:
        case "twins" | "also-see":
            rate = float(record["rate"])
            beside = rate - float(record.get("rate at least", rate))
            return RecordMeasure(rate, rate - beside, rate + beside)
        case "label-error":
            return _share(float(record["belief in other"]), BELIEF_ROWS)
        case "split-class":
            one, other = int(record["rows of one"]), int(record["rows of other"])
            return _share(min(one, other) / (one + other), one + other)
        case "tiny-class":
            return _number(int(record["rows"]))
        case "indistinguishable-classes":
            return _number(int(record["taken for each other"]))
    return None


def _share(p: float, n: int) -> RecordMeasure:
    """Return a share of n with Wilson's interval."""
    middle, beside = (p + Z**2 / (2 * n)), Z * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    whole = 1 + Z**2 / n
    return RecordMeasure(p, float((middle - beside) / whole), float((middle + beside) / whole))


def _number(count: int) -> RecordMeasure:
    """Return a count with the interval of Poisson's distribution."""
    beside = Z * count**0.5
    return RecordMeasure(float(count), count - beside, count + beside)


def _in_order(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, list | tuple) else value


def _listed(value: Any) -> str:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return str(value)
    more = f" and {len(value) - NAMED:,} more" if len(value) > NAMED else ""
    return ", ".join(map(str, value[:NAMED])) + more

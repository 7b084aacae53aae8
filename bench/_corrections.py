"""Corrections: what a change of some rows costs, and how far it is from a fit of the changed rows.

A share of the labels is wrong and is corrected, or a share of the rows comes late, or goes. Beside a fit from nothing
stand scikit-learn's linear SVM and naive Bayes that learn by `partial_fit`: they cannot unlearn, so that a corrected
row is only learnt once more, and rows that go stay.
"""

from __future__ import annotations

import time
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import ComplementNB

from bench._sets import documents, parts
from untwin import UntwinClassifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

SETS = ("banking77", "20newsgroups")
SHARES = (0.01, 0.05, 0.2)
SEEDS = 10
ONE_BY_ONE = 10  # corrections, of which the median counts
KINDS = ("relabel", "add", "remove")


class Rows(NamedTuple):
    """Texts and labels, to train and to test."""

    texts: Array
    labels: Array
    asked: list[str]
    truth: Array

    @classmethod
    def of_set(cls, data: Path, name: str) -> Rows:
        """Return the published split of a set."""
        table = documents(data, name)
        texts, labels = np.array(table["text"].to_list(), dtype=object), table["label"].to_numpy()
        train, test = next(parts(table))
        return cls(texts[train], labels[train], texts[test].tolist(), labels[test])


def corrections(data: Path) -> Iterator[dict[str, Any]]:
    """Yield what changes cost and do on each set."""
    for name in SETS:
        rows = Rows.of_set(data, name)
        yield from one_by_one(name, rows)
        for share in SHARES:
            for kind in KINDS:
                yield many_at_once(name, rows, share, kind)


def one_by_one(name: str, rows: Rows) -> Iterator[dict[str, Any]]:
    """Yield the processor seconds of single changes in a loaded model; findings are looked for again after each."""
    fitted, fit = _seconds(lambda: UntwinClassifier().fit(rows.texts.tolist(), rows.labels))
    _, first = _seconds(lambda: fitted.findings_)
    with TemporaryDirectory() as folder:
        fitted.save(f"{folder}/model")
        model = UntwinClassifier.load(f"{folder}/model").set_params(n_jobs=1)  # two threads take more processor time
    rng, classes = np.random.default_rng(0), fitted.classes_
    texts, labels = rows.texts.tolist(), rows.labels

    def change(kind: str, size: int) -> None:
        picked = rng.choice(len(model.ids_), size, replace=False)
        if kind == "relabel":
            model.relabel(model.ids_[picked], rng.choice(classes, size))
        elif kind == "add":
            model.add([texts[row] + " again" for row in picked.tolist()], labels[picked])
        else:
            model.remove(model.ids_[picked])

    yield {"set": name, "what": "fit; findings", "seconds": fit, "findings": first}
    for kind, size, times in [*((kind, 1, ONE_BY_ONE) for kind in KINDS), ("relabel", 100, 3)]:
        spent = []
        for _ in range(times):
            _, seconds = _seconds(lambda kind=kind, size=size: change(kind, size))
            _, shown = _seconds(lambda: model.findings_)
            spent.append((seconds, seconds + shown))
        yield {
            "set": name,
            "what": f"{kind} {size}",
            "first": spent[0][0],
            "median": median(one for one, _ in spent),
            "with findings": median(both for _, both in spent),
        }


def many_at_once(name: str, rows: Rows, share: float, kind: str) -> dict[str, Any]:
    """Return accuracies after a change of a share of the rows: learnt on, fitted from nothing, by `partial_fit`."""
    found = np.array([_changed(rows, share, kind, np.random.default_rng(seed)) for seed in range(SEEDS)])
    means = dict(zip(("test", "held out", "s", "fit test", "fit held out", "fit s"), found.mean(axis=0), strict=False))
    means |= dict(zip(("SGD test", "SGD s", "NB test", "NB s"), found[:, 6:].mean(axis=0), strict=True))
    test, told = found[:, 0] - found[:, 3], found[:, 1] - found[:, 4]
    return {"set": name, "what": f"{kind} {share:.0%}"} | means | {"test ±": _half(test), "held out ±": _half(told)}


def _changed(rows: Rows, share: float, kind: str, rng: np.random.Generator) -> list[float]:
    n = len(rows.labels)
    picked = rng.choice(n, max(1, int(share * n)), replace=False)
    rest = np.setdiff1d(np.arange(n), picked)
    begin, begin_labels, end, end_labels = np.arange(n), rows.labels, np.arange(n), rows.labels
    if kind == "relabel":
        begin_labels = rows.labels.copy()
        begin_labels[picked] = rng.choice(np.unique(rows.labels), len(picked))
    elif kind == "add":
        begin, begin_labels = rest, rows.labels[rest]
        end = np.concatenate([rest, picked])
        end_labels = rows.labels[end]
    else:
        end, end_labels = rest, rows.labels[rest]
    model = UntwinClassifier().fit(rows.texts[begin].tolist(), begin_labels)
    learn: dict[str, Callable[[], object]] = {
        "relabel": lambda: model.relabel(model.ids_[picked], rows.labels[picked]),
        "add": lambda: model.add(rows.texts[picked].tolist(), rows.labels[picked]),
        "remove": lambda: model.remove(model.ids_[picked]),
    }
    _, seconds = _seconds(learn[kind])
    again, fit = _seconds(lambda: UntwinClassifier().fit(rows.texts[end].tolist(), end_labels))
    told = [
        value
        for one, spent in ((model, seconds), (again, fit))
        for value in (float((one.predict(rows.asked) == rows.truth).mean()), one.confusion_.accuracy, spent)
    ]
    more = picked if kind != "remove" else picked[:0]
    return told + _partial_fits(rows, begin, begin_labels, more)


def _partial_fits(rows: Rows, begin: Array, labels: Array, more: Array) -> list[float]:
    """Return test accuracy and processor seconds of scikit-learn's models after they have learnt some rows more."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit(rows.texts[begin])
    X, classes, found = words.transform(rows.texts[begin]), np.unique(rows.labels), []
    for model in (SGDClassifier(alpha=1e-5, random_state=0), ComplementNB(alpha=0.1)):
        for _ in range(5 if isinstance(model, SGDClassifier) else 1):
            model.partial_fit(X, labels, classes)
        seconds = 0.0
        if len(more):
            late = words.transform(rows.texts[more])
            _, seconds = _seconds(lambda model=model, late=late: model.partial_fit(late, rows.labels[more]))
        found += [float(model.score(words.transform(rows.asked), rows.truth)), seconds]
    return found


def _half(differences: Array) -> str:
    """Return a mean difference and half of its 95 % interval, in points."""
    half = 1.96 * float(differences.std(ddof=1)) / len(differences) ** 0.5
    return f"{100 * float(differences.mean()):+.2f} ± {100 * half:.2f}"


def _seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    return work(), time.process_time() - begun

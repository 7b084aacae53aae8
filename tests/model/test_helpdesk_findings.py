"""A help desk's tickets: 65 classes, most of them with few rows, and rows that share most of their words and cells.

What is found must not contradict the confusion of the same model, and planted twins must be found all the same.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from untwin.model import UntwinClassifier

CLASSES = 65
TWINS = {9: 3, 20: 4}  # these speak with the words of another class


def tickets(twins):
    """Return the texts, the same with the cells of a table beside them, and the labels."""
    rng = np.random.default_rng(0)
    common = 1 / np.arange(1, 61)
    texts, labels = [], []
    for number in range(CLASSES):
        for _ in range(round(60 / (1 + number) ** 0.5)):
            words = [f"word{word}" for word in rng.choice(60, 14, p=common / common.sum())]
            own = [f"topic{twins.get(number, number)}x{rng.integers(3)}"] if rng.random() < 0.8 else []
            texts.append(" ".join(rng.permutation([*words, *own])))
            labels.append(f"class {number:02d}")
    order = rng.permutation(len(texts))
    cells = {
        name: rng.choice(values, len(texts), p=shares)
        for name, values, shares in (
            ("status", ["open", "closed"], [0.1, 0.9]),
            ("channel", ["mail", "phone", "web"], [0.7, 0.2, 0.1]),
            ("site", ["A", "B"], [0.8, 0.2]),
        )
    }
    shuffled = [texts[row] for row in order]
    return shuffled, pl.DataFrame({"text": shuffled, **cells}), np.array(labels)[order]


@pytest.fixture(scope="module", params=["texts", "table"])
def fitted(request):
    """Return models of tickets without and with planted twins."""
    models = []
    for twins in ({}, TWINS):
        texts, table, labels = tickets(twins)
        models.append(UntwinClassifier(preset="fast").fit(texts if request.param == "texts" else table, labels))
    return models


def sets_of(model, code):
    """Return the classes that each record of a finding names."""
    (records,) = [finding.evidence for finding in model.findings_ if finding.code == code] or [()]
    return [set(record["classes"]) if "classes" in record else {record["a"], record["b"]} for record in records]


def test_no_classes_are_called_indistinguishable_that_are_told_apart(fitted):
    plain, planted = fitted
    assert sets_of(plain, "indistinguishable-classes") == []
    assert sets_of(plain, "twins") == []
    f1 = dict(zip(planted.classes_.tolist(), planted.confusion_.f1.tolist(), strict=True))
    for names in sets_of(planted, "indistinguishable-classes"):
        assert len(names) == 2
        assert max(f1[name] for name in names) < 0.6


def test_planted_twins_are_found(fitted):
    planted = {frozenset((f"class {a:02d}", f"class {b:02d}")) for a, b in TWINS.items()}
    for code in ("twins", "indistinguishable-classes"):
        assert set(map(frozenset, sets_of(fitted[1], code))) == planted


def test_what_is_said_of_single_classes_agrees_with_the_confusion(fitted):
    for model in fitted:
        confusion = model.confusion_
        recall = dict(zip(confusion.classes.tolist(), confusion.recall.tolist(), strict=True))
        found = {finding.code: finding for finding in model.findings_}
        for record in found["tiny-class"].evidence:
            assert record["rows"] < 10
            assert record["recall"] == recall[record["class"]]
        said = dict(zip(model.ids_.tolist(), model.out_of_fold_.predictions.tolist(), strict=True))
        for record in found["label-error"].evidence if "label-error" in found else ():
            assert said[record["row"]] != record["label"]  # nobody doubts a label that the model confirms
        assert "split-class" not in found

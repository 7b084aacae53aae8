from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from untwin.model.findings.rows_twice import conflicting_rows, leaks

Y = np.array(["a", "a", "b", "b"])


def test_equal_texts_with_two_labels(evidence):
    finding = conflicting_rows(evidence(Y, texts=["My card", "other", "my  CARD ", "third"]))
    assert finding.evidence == ({"rows": [0, 2], "labels": ["a", "b"], "text": "My card"},)
    assert "1 row occurs again" in finding.title


def test_equal_texts_with_one_label_and_empty_texts_are_fine(evidence):
    assert conflicting_rows(evidence(Y, texts=["same", "same", "", " "])) is None
    assert conflicting_rows(evidence(Y, texts=["", "one", " ", "two"])) is None


@pytest.mark.parametrize("kind", [np.array, csr_array, csr_matrix])
def test_without_texts_equal_rows_count(evidence, kind):
    X = kind([[1.0, 0], [0, 0], [1, 0], [0, 0]])
    assert conflicting_rows(evidence(Y, X=X)).evidence == ({"rows": [0, 2], "labels": ["a", "b"], "text": None},)
    assert conflicting_rows(evidence(Y, X=kind([[1.0, 0], [1, 0], [0, 1], [0, 0]]))) is None


@given(given=st.lists(st.tuples(st.sampled_from(["x", "y", "X", " z", ""]), st.sampled_from("ab")), min_size=1))
@settings(max_examples=50, deadline=None)
def test_conflicts_are_those_of_a_plain_loop(evidence, given):
    texts, labels = zip(*given, strict=True)
    rows = defaultdict(list)
    for row, text in enumerate(texts):
        rows[text.lower().strip()].append(row)
    y = np.array([*labels, "a", "b"])  # both classes, in rows of their own
    wanted = {tuple(group) for text, group in rows.items() if text and len({labels[row] for row in group}) > 1}
    finding = conflicting_rows(evidence(y, texts=[*texts, "first", "second"]))
    shown = set() if finding is None else {tuple(record["rows"]) for record in finding.evidence}
    assert shown == {group[:10] for group in wanted}


def test_a_test_text_that_was_learnt_by_heart(evidence):
    texts = ["one", "two", "three", "four"]
    finding = leaks(evidence(Y, texts=texts, test_texts=["new", "ONE ", "one"], test_labels=["b", "b", "a"]))
    assert finding.severity == "serious"
    assert "2 test rows are in the training rows too (66.7% of the test part)" in finding.title
    (leak,) = finding.evidence
    assert (leak["training rows"], leak["test rows"]) == ([0], [1, 2])
    assert (leak["training labels"], leak["test labels"]) == (["a"], ["a", "b"])


def test_no_leak(evidence):
    texts = ["one", "", "three", "four"]
    assert leaks(evidence(Y, texts=texts)) is None
    assert leaks(evidence(Y, test_texts=["one"])) is None
    assert leaks(evidence(Y, texts=texts, test_texts=["new", ""])) is None


@pytest.mark.parametrize(
    ("repeated", "severity", "told"),
    [(1, "info", "less than 0.1%"), (4, "warning", "0.1%"), (40, "serious", "1.3%")],
)
def test_a_leak_is_as_serious_as_it_is_large(evidence, repeated, severity, told):
    texts = [f"text {number}" for number in range(60)]
    test = [*texts[:repeated], *(f"new {number}" for number in range(3080 - repeated))]
    finding = leaks(evidence(np.repeat(["a", "b"], 30), texts=texts, test_texts=test))
    assert finding.severity == severity
    assert f"({told} of the test part)" in finding.title
    assert "(0.0" not in finding.title


def test_test_rows_have_ids_too(evidence):
    names = np.array(["t1", "t2"], dtype=object)
    finding = leaks(evidence(Y, texts=["one", "two", "three", "four"], test_texts=["new", "one"], test_ids=names))
    assert finding.evidence[0]["test rows"] == ["t2"]

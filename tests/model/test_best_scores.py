"""Scores of which the best are kept: what is asked of them without all classes of all rows is what these would say."""

from __future__ import annotations

import numpy as np
import pytest

from untwin.model import best_scores
from untwin.model.best_scores import BestScores
from untwin.model.findings.label_errors import _believed, _confident_errors, label_trust, suspected_rows


@pytest.mark.parametrize("n_classes", [2, 10, 11, 30])
def test_classes_and_the_likeliest_are_those_of_all_classes(n_classes):
    rng = np.random.default_rng(n_classes)
    scores = BestScores.of(np.log(rng.dirichlet(np.full(n_classes, 0.3), 200)))
    dense, asked = scores.dense(), rng.integers(n_classes, size=200)
    np.testing.assert_array_equal(scores.of_classes(asked), dense[np.arange(200), asked])
    np.testing.assert_array_equal(scores.highest(), dense.max(axis=1))


def test_blocks_are_all_rows_once(monkeypatch):
    monkeypatch.setattr(best_scores, "MOST_CELLS", 100)
    scores = BestScores.of(np.zeros((95, 7)))
    rows = [np.arange(95)[block] for block in scores.blocks()]
    assert np.concatenate(rows).tolist() == list(range(95))
    assert {len(some) for some in rows} == {14, 11}
    few = BestScores.of(np.zeros((3, 700)))
    assert [np.arange(3)[block].tolist() for block in few.blocks()] == [[0], [1], [2]]


def test_label_errors_do_not_depend_on_blocks(model_of_wrong_labels, monkeypatch):
    evidence = model_of_wrong_labels.evidence_
    rows = np.flatnonzero(evidence.answers.held)
    whole = (suspected_rows(evidence), label_trust(evidence), _confident_errors(evidence, rows))
    believed = _believed(evidence, rows)
    assert len(whole[0])
    monkeypatch.setattr(best_scores, "MOST_CELLS", 13)
    np.testing.assert_array_equal(suspected_rows(evidence), whole[0])
    np.testing.assert_array_equal(label_trust(evidence), whole[1])
    assert _confident_errors(evidence, rows) == whole[2]
    for one, other in zip(_believed(evidence, rows), believed, strict=True):
        np.testing.assert_array_equal(one, other)
    index = np.vstack(list(model_of_wrong_labels.state_.log_proba_of_all_rows()))
    assert index.shape == (len(evidence.answers.rows), len(evidence.answers.classes))


@pytest.fixture
def model_of_wrong_labels():
    from untwin import UntwinClassifier

    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    texts = [" ".join([f"own{label}", f"word{rng.integers(20)}", f"word{rng.integers(20)}"]) for label in y]
    y[:15] = (y[:15] + 1) % 3
    return UntwinClassifier(preset="fast").fit(texts, y)


def test_as_many_classes_are_kept_as_hold_nearly_all_true_ones():
    rng = np.random.default_rng(0)
    log_p = np.log(rng.dirichlet(np.full(60, 0.3), 1000))
    true = np.argsort(-log_p, axis=1)[:, 24]
    true[:4] = log_p[:4].argmin(axis=1)
    assert best_scores.enough_for(log_p, true) == 25
    held = np.arange(1000) % 2 == 0
    assert best_scores.enough_for(np.where(held[:, np.newaxis], log_p, np.nan), true) == 25
    assert best_scores.enough_for(log_p, log_p.argmax(axis=1)) == best_scores.KEPT
    assert best_scores.enough_for(log_p[:0], true[:0]) == best_scores.KEPT


def test_many_rows_keep_few_classes(monkeypatch):
    monkeypatch.setattr(best_scores, "MORE_CELLS", 1500)
    log_p = np.log(np.random.default_rng(0).dirichlet(np.ones(40), 100))
    assert best_scores.enough_for(log_p, log_p.argmin(axis=1)) == 15

from __future__ import annotations

import numpy as np

from untwin.model import UntwinClassifier
from untwin.model.chance import verdict


def test_labels_without_any_signal_are_called_a_guess():
    rng = np.random.default_rng(0)
    for classes in (2, 5):
        X, y = rng.normal(size=(150, 4)), rng.integers(0, classes, 150)
        assert verdict(UntwinClassifier(preset="fast").fit(X, y).scores_).startswith("No better than guessing")


def test_a_signal_is_none(texts, labels):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    assert verdict(model.scores_) == ""
    assert model.scores_["largest_class"] == 0.25


def test_nothing_measured_is_no_guess():
    assert verdict({}) == ""

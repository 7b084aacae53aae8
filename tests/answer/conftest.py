"""Small models of each kind that answers in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from untwin import UntwinClassifier
from untwin.model.selection import averages, candidates, select

WORDS = {
    "billing": "invoice charge payment refund bill price fee",
    "delivery": "parcel courier late delivery address arrived tracking",
    "password": "login password reset account locked code access",
    "printer": "printer paper jam toner page print cable",
}


def tickets(n_classes, n_rows=160):
    rng = np.random.default_rng(n_classes)
    labels = rng.choice(list(WORDS)[:n_classes], n_rows)
    pool = " ".join(WORDS.values()).split()
    return [" ".join([*rng.choice(WORDS[label].split(), 2), *rng.choice(pool, 3)]) for label in labels], labels


@pytest.fixture(scope="session", params=["pair", "two classes", "one", "stack", "cosine"])
def model(request):
    texts, labels = tickets(2 if request.param == "two classes" else 4)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "stack":
            patch.setattr(select.Trials, "_is_ahead", lambda *_: True)
            patch.setattr(select.Trials, "_is_better", lambda *_: True)
            patch.setattr(averages.Averages, "grow", lambda self: [self._candidates[-1]])
        if request.param == "cosine":
            patch.setattr(candidates, "NaiveBayes", lambda **_: candidates.CentroidClassifier())
        if request.param in ("pair", "cosine"):
            patch.setattr(select.Trials, "_try_stack", lambda _: None)
            patch.setattr(averages.Averages, "_is_better", lambda *_: True)
        preset = "fast" if request.param == "one" else "balanced"
        fitted = UntwinClassifier(preset=preset).fit(texts, labels)
    names = {"pair": "linear SVM + ", "one": "linear SVM", "stack": "stack", "cosine": " + "}
    assert names.get(request.param, "") in fitted.candidates_[0].name
    return fitted

"""Models that several tests show, each made once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.report.made import cheap_model, made_model, twin_texts

from untwin.report import Report
from untwin.report.study import Study

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "\u202eevil\u202c right to left",
    "javascript:alert(3)",
    "{{ 7 * 7 }} ${8 * 8} <!--",
    "\x00 null \ud800 half",
]


ROWS = {3: 30, 48: 12, 300: 6, 1_000: 4}  # of each class, by the number of classes


@pytest.fixture(scope="session")
def model_of():
    """Models by their number of classes, each made once, without curves."""

    @cache
    def made(n_classes):
        return made_model(n_classes, ROWS[n_classes])

    return made


@pytest.fixture(scope="session")
def model():
    """Six classes, twelve rows each; with the curves that the preset "best" measures."""
    model = cheap_model(*twin_texts(6, 12, length=12))
    assert model.curves_ is not None
    return model


@pytest.fixture(scope="session")
def study(model):
    return Study.of(model)


@pytest.fixture(scope="session")
def report(model):
    return Report.of(model)


@pytest.fixture(scope="session")
def hostile_report():
    """Names and texts that want to be more than text."""
    texts, labels = twin_texts(len(HOSTILE), 12, length=12)
    number = np.unique(labels, return_inverse=True)[1]
    spoken = [name.encode("utf-8", "replace").decode() for name in HOSTILE]  # texts cannot hold half a character
    spiteful = [f"{text} {spoken[row % len(spoken)]}" for row, text in enumerate(texts)]
    ids = [f"{spoken[row % len(spoken)]} {row}" for row in range(len(spiteful))]
    return Report.of(cheap_model(spiteful, np.array(HOSTILE)[number], ids=ids))

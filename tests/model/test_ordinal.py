"""Ordered classes."""

from __future__ import annotations

import numpy as np
import pytest

from untwin.answer.predictions import median_classes
from untwin.model import UntwinClassifier
from untwin.model.selection.averages import Averages


def test_the_median_grade():
    log_p = np.log(np.array([[0.4, 0.2, 0.4], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]))
    assert median_classes(log_p, np.array([0, 1, 2])).tolist() == [1, 0, 2]
    assert median_classes(log_p, np.array([0, 2, 1])).tolist() == [2, 0, 2]


def _named(candidates, name):
    """Return the candidate of this name, or the first one as long as it has not been tried."""
    return [result for result in candidates if result.name == name] or candidates[:1]


def test_best_takes_grades_whose_names_sort_otherwise(make_texts):
    """The papers' spaces are tried on numbers of classes and trained on their names; either must know the classes."""
    texts, names = make_texts(120, 3, 0)
    order = ["low", "middle", "high"]
    grades = np.array(order)[np.unique(names, return_inverse=True)[1]]
    model = UntwinClassifier(preset="best", scoring="mae", order=order, cv=3).fit(texts, grades)
    tried = [candidate.name for candidate in model.candidates_ if candidate.score is not None]
    assert {"sprinkled SVM", "neighbours in the adaptive space"} <= {
        name for line in tried for name in line.split(" + ")
    }
    for name in ("sprinkled SVM", "neighbours in the adaptive space"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Averages, "grow", lambda self, name=name: _named(self._candidates, name))
            forced = UntwinClassifier(preset="best", scoring="mae", order=order, cv=3).fit(texts, grades)
        assert forced.candidates_[0].name == name
        assert set(forced.predict(texts)) <= set(order)

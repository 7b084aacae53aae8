"""`StandardNumbers`: numbers on one scale, whatever they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from untwin.data.standard import FARTHEST, StandardNumbers

NAN = float("nan")


def test_as_scikit_learn_has_it_where_nothing_is_missing():
    X = np.random.default_rng(0).normal(7.0, 3.0, size=(50, 3))
    np.testing.assert_allclose(StandardNumbers().fit_transform(X), StandardScaler().fit_transform(X), atol=1e-12)


def test_missing_numbers_are_the_mean_and_say_so():
    numbers = StandardNumbers().fit([[1.0, 5.0], [3.0, NAN], [2.0, 7.0]])
    assert numbers.means_.tolist() == [2.0, 6.0]
    assert numbers.transform([[NAN, NAN], [2.0, 7.0]]).tolist() == [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    assert numbers.get_feature_names_out().tolist() == ["x0", "x1", "x1 missing"]


@pytest.mark.parametrize("column", [[0.1] * 3, [NAN] * 3, [0.0] * 3, [1e15 + 0.3] * 3])
def test_a_column_without_any_difference_says_nothing(column):
    Z = StandardNumbers().fit_transform(np.array(column)[:, np.newaxis])
    np.testing.assert_allclose(Z[:, 0], 0.0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e307, 1.0, 1e-300])
def test_numbers_of_any_size(scale):
    X = scale * np.arange(-3.0, 4.0)[:, np.newaxis]
    np.testing.assert_allclose(StandardNumbers().fit_transform(X)[:, 0], np.arange(-3.0, 4.0) / 2.0, atol=1e-12)


def test_one_wild_number_is_far_away_and_no_farther():
    numbers = StandardNumbers().fit([[1e-9], [2e-9]])
    assert numbers.transform([[1.7e308], [-1.7e308]])[:, 0].tolist() == [FARTHEST, -FARTHEST]

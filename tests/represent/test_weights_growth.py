"""`SupervisedWeights` learning on: old weights stay, new ones come from all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.represent.weights import SupervisedWeights

rng = np.random.default_rng(0)
X = rng.poisson(0.5, size=(60, 12)).astype(float)
X[:40, 9:] = 0
Y = np.r_[np.array(["cat", "dog"])[rng.integers(2, size=40)], np.array(["cat", "owl"])[rng.integers(2, size=20)]]
SCHEMES = ["bin", "tf", "tfidf", "chi2", "ig"]


def grown(**parameters):
    return SupervisedWeights(**parameters).fit(X[:40, :9], Y[:40]).partial_fit(csr_array(X[40:]), Y[40:])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_old_terms_keep_their_weights_and_new_ones_get_those_of_all_rows(scheme):
    weights = grown(scheme=scheme)
    before = SupervisedWeights(scheme=scheme).fit(X[:40, :9], Y[:40])
    whole = SupervisedWeights(scheme=scheme).fit(X, Y)
    np.testing.assert_array_equal(weights.weights_[:9], before.weights_)
    np.testing.assert_array_equal(weights.weights_[9:], whole.weights_[9:])
    assert weights.contingency_ == whole.contingency_
    assert weights.transform(X).shape == (60, 12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("select", [None, 0.5, 4])
def test_recomputing_gives_the_weights_of_the_whole(scheme, select):
    weights, whole = grown(scheme=scheme, select=select).recompute(), SupervisedWeights(scheme=scheme, select=select)
    trained = whole.fit_transform(X, Y)
    np.testing.assert_array_equal(weights.weights_, whole.weights_)
    np.testing.assert_array_equal(weights.kept_, whole.kept_)
    np.testing.assert_array_equal(weights.labelled(X, Y).toarray(), trained.toarray())


def test_the_first_call_is_fit():
    one, other = SupervisedWeights(scheme="ig").fit(X, Y), SupervisedWeights(scheme="ig").partial_fit(X, Y)
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert other.classes_.tolist() == ["cat", "dog", "owl"]


def test_selected_columns_keep_their_places_and_a_share_lets_new_ones_in():
    few = grown(scheme="tf", select=4)
    assert len(few.kept_) == 4
    assert (few.kept_ < 9).all()
    share = grown(scheme="tf", select=0.5)  # round(4.5) = 4 of 9, then 6 of 12
    np.testing.assert_array_equal(share.kept_[:4], few.kept_)
    best = np.argsort(-share.contingency_.chi2()[9:], kind="stable")[:2] + 9
    np.testing.assert_array_equal(share.kept_[4:], np.sort(best))


def test_narrower_counts_are_refused():
    with pytest.raises(ValueError, match="X has 5 features, but SupervisedWeights is expecting 12 features"):
        grown().partial_fit(X[:, :5])


def test_no_label_of_a_new_row_is_used_without_need():
    weights = SupervisedWeights().fit(X).partial_fit(X)
    assert not hasattr(weights, "classes_")
    assert weights.contingency_.n_documents == 120

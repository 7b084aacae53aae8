import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency

from untwin.tables import measures

two_by_two = st.tuples(*[st.integers(0, 30)] * 4).filter(lambda cells: sum(cells) > 0)


def margins(cells):
    a, b, c, d = cells
    return np.array(a), np.array(a + b), np.array(a + c), a + b + c + d


@settings(max_examples=150, deadline=None)
@given(two_by_two)
def test_chi2_is_pearsons_and_zero_at_a_zero_margin(cells):
    table = np.reshape(cells, (2, 2))
    found = measures.chi2(*margins(cells))
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        assert found == 0
    else:
        assert found == pytest.approx(chi2_contingency(table, correction=False).statistic, abs=1e-10)


@settings(max_examples=150, deadline=None)
@given(two_by_two)
def test_information_gain_is_mutual_information_by_a_plain_loop(cells):
    table = np.reshape(cells, (2, 2))
    total, bits = table.sum(), 0.0
    for row in range(2):
        for column in range(2):
            if table[row, column]:
                chance = table[row].sum() * table[:, column].sum() / total
                bits += table[row, column] / total * np.log2(table[row, column] / chance)
    assert measures.information_gain(*margins(cells)) == pytest.approx(bits, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(two_by_two)
def test_odds_ratio_and_pointwise_information(cells):
    a, b, c, d = cells
    expected = (a + 0.5) * (d + 0.5) / ((b + 0.5) * (c + 0.5))
    assert measures.odds_ratio(*margins(cells)) == pytest.approx(expected)
    lift = a * (a + b + c + d) / ((a + b) * (a + c)) if a else 1
    assert measures.pointwise_information(*margins(cells)) == pytest.approx(np.log2(lift))


@pytest.mark.parametrize("measure", [measures.chi2, measures.information_gain, measures.pointwise_information])
def test_no_documents_say_nothing(measure):
    nothing = np.zeros((2, 3), dtype=np.int64)
    assert measure(nothing, nothing[0], nothing[:, :1], 0).tolist() == [[0, 0, 0], [0, 0, 0]]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(0, 60))
def test_wilson_is_scipys(trials, successes):
    successes = min(successes, trials)
    interval = binomtest(successes, trials).proportion_ci(method="wilson")
    low, high = measures.wilson_interval(np.array([successes]), np.array([trials]))
    assert (low[0], high[0]) == pytest.approx((interval.low, interval.high), abs=1e-12)

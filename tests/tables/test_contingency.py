import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_matrix
from scipy.stats import chi2_contingency

from untwin.tables import Contingency, measures


def corpus(seed, n=40, m=7, n_classes=4):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.6, (n, m))
    X[:, 0], X[:, 1] = 0, 1  # a term that never occurs, and one that always does
    return X, np.array(["ant", "bee", "cat", "dog", "eel"])[rng.integers(0, n_classes, n)]


def entropy(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -(shares * np.log2(shares)).sum()


seeds = st.integers(0, 10_000)
few = settings(max_examples=25, deadline=None)


@few
@given(seeds)
def test_counts_by_a_plain_loop(seed):
    X, y = corpus(seed)
    table = Contingency.from_counts(X, y)
    for row, name in enumerate(table.classes):
        assert_array_equal(table.documents.toarray()[row], (X[y == name] > 0).sum(axis=0))
        assert_array_equal(table.occurrences.toarray()[row], X[y == name].sum(axis=0))
        assert table.class_sizes[row] == (y == name).sum()
    assert table.n_documents == len(y)
    assert table.documents.dtype == table.occurrences.dtype == np.int64


@few
@given(seeds)
def test_information_gain_is_the_entropy_that_the_term_removes(seed):
    X, y = corpus(seed)
    expected = []
    for column in X.T:
        parts = [y[column > 0], y[column == 0]]
        expected.append(entropy(y) - sum(len(part) / len(y) * entropy(part) for part in parts if len(part)))
    assert_allclose(Contingency.from_counts(X, y).information_gain(), expected, atol=1e-12)


@few
@given(seeds)
def test_chi2_of_the_whole_table(seed):
    X, y = corpus(seed)
    table = Contingency.from_counts(X, y)
    found = table.chi2()
    assert_allclose(found, (1 - table.class_sizes / len(y)) @ table.chi2(per_class=True), atol=1e-9)
    assert found[0] == found[1] == 0
    for column in range(2, X.shape[1]):
        inside = table.documents.toarray()[:, column]
        if 0 < inside.sum() < len(y):
            cells = np.array([inside, table.class_sizes - inside])
            assert found[column] == pytest.approx(chi2_contingency(cells, correction=False).statistic)


@few
@given(seeds)
def test_mean_mutual_information_weighs_by_class_priors(seed):
    X, y = corpus(seed)
    table = Contingency.from_counts(X, y)
    assert_allclose(table.mutual_information(), table.class_sizes / len(y) @ table.mutual_information(per_class=True))


@few
@given(seeds)
def test_ordinal_gain_is_the_mean_over_splits(seed):
    X, y = corpus(seed)
    order = ["cat", "ant", "dog", "bee"]
    place = np.array([order.index(label) for label in y])
    splits = [Contingency.from_counts(X, place >= t, classes=[False, True]).information_gain() for t in range(1, 4)]
    table = Contingency.from_counts(X, y, classes=order)
    assert_allclose(table.ordinal_information_gain(), np.mean(splits, axis=0), atol=1e-12)


def results(table):
    return {
        "ig": table.information_gain(),
        "chi2": table.chi2(),
        "mi": table.mutual_information(),
        "ig per class": table.information_gain(per_class=True),
        "chi2 per class": table.chi2(per_class=True),
        "mi per class": table.mutual_information(per_class=True),
        "odds": table.odds_ratio(),
        "cells": table.per_cell(measures.chi2).toarray(),
    }


@few
@given(seeds, st.permutations(range(4)), st.permutations(range(7)))
def test_permuting_classes_and_terms_permutes_every_result(seed, classes, terms):
    X, y = corpus(seed)
    names = np.array(["ant", "bee", "cat", "dog"])
    plain = results(Contingency.from_counts(X, y, classes=names))
    turned = results(Contingency.from_counts(X[:, terms], y, classes=names[list(classes)]))
    for name, found in plain.items():
        expected = found[terms] if found.ndim == 1 else found[np.ix_(classes, terms)]
        assert_allclose(turned[name], expected, atol=1e-12, err_msg=name)


@few
@given(seeds, st.integers(1, 39))
def test_parts_add_up_to_the_whole_bit_for_bit(seed, cut):
    X, y = corpus(seed, n_classes=5)
    terms = [f"t{i}" for i in range(7)]
    parts = [Contingency.from_counts(X[rows], y[rows], terms=terms) for rows in (slice(cut), slice(cut, None))]
    whole = Contingency.from_counts(X, y, terms=terms)
    assert parts[0] + parts[1] == whole
    assert parts[1] + parts[0] == whole
    assert whole != parts[0]


def test_sparse_dense_and_duplicated_cells_are_the_same_counts():
    X, y = corpus(0)
    doubled = coo_array((np.r_[X.ravel(), X.ravel()], [np.tile(part.ravel(), 2) for part in np.indices(X.shape)]))
    expected = Contingency.from_counts(2 * X, y)
    assert Contingency.from_counts(csr_matrix(2.0 * X), y) == expected
    assert Contingency.from_counts(doubled, y) == expected


def test_per_class_rows_can_be_asked_for_by_name():
    table = Contingency.from_counts(*corpus(1))
    for measure in (table.chi2, table.information_gain, table.mutual_information):
        assert_array_equal(measure(classes=["dog", "ant"]), measure(per_class=True)[[3, 0]])
    assert_array_equal(table.odds_ratio(classes=["dog"]), table.odds_ratio()[[3]])


def test_per_cell_holds_the_per_class_measure_where_term_and_class_meet():
    table = Contingency.from_counts(*corpus(2))
    cells, meet = table.per_cell(measures.information_gain), table.documents.toarray() > 0
    assert_allclose(cells.toarray()[meet], table.information_gain(per_class=True)[meet])
    assert cells.nnz == meet.sum()


def test_top_terms_are_those_of_chi2_with_positive_association():
    X, y = corpus(3)
    table = Contingency.from_counts(X, y)
    both, chi2 = table.documents.toarray(), table.chi2(per_class=True)
    for row, name in enumerate(table.classes):
        commoner = both[row] * len(y) > table.term_documents * table.class_sizes[row]
        expected = sorted(np.flatnonzero(commoner), key=lambda t: -chi2[row, t])
        found = table.top_terms(name)
        assert [best.term for best in found] == expected
        assert_allclose([best.score for best in found], chi2[row, expected])
        assert all(best.inside > best.outside for best in found)


def test_between_sees_the_documents_of_both_sides_only():
    X, y = corpus(4)
    table = Contingency.from_counts(X, y)
    either = np.isin(y, ["ant", "bee", "cat"])
    side = np.where(np.isin(y[either], ["ant", "bee"]), "left", "right")
    small = Contingency.from_counts(X[either], side)
    for_left, for_right = table.between(["ant", "bee"], "cat")
    assert for_left == small.top_terms("left")
    assert for_right == small.top_terms("right")
    assert table.top_terms(["ant", "bee"]) == table.between(("bee", "ant"), ["cat", "dog"])[0]
    assert len(table.top_terms("ant", n=1)) == 1
    with pytest.raises(ValueError, match="no class in common"):
        table.between(["ant", "bee"], "bee")


def test_multi_label_counts_memberships_and_documents():
    X = np.array([[1, 0], [2, 1], [0, 1], [0, 0]])
    Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    table = Contingency.from_counts(X, Y, classes=["a", "b"])
    assert table.documents.toarray().tolist() == [[2, 1], [1, 2]]
    assert table.class_sizes.tolist() == [2, 2]
    assert table.term_documents.tolist() == [2, 2]
    assert table.n_documents == 4
    single = Contingency.from_counts(X, Y[:, 0], classes=[0, 1])
    assert_allclose(table.chi2(classes=["a"]), single.chi2(classes=[1]))
    copies = Contingency.from_counts(X[[0, 1, 1, 2]], ["a", "a", "b", "b"])
    assert_allclose(table.information_gain(), copies.information_gain())
    assert_allclose(table.chi2(), copies.chi2())
    assert table == Contingency.from_counts(X, csr_matrix(Y), classes=["a", "b"])


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[0.5]], ["a"], {}, "whole counts. Got 0.5"),
        ([[np.nan]], ["a"], {}, "whole counts. Got nan"),
        ([[-1]], ["a"], {}, "none below zero. Got -1"),
        ([[1]], ["a", "b"], {}, r"for each row of X \(1\). Got 2"),
        ([[1]], ["a"], {"classes": ["b"]}, "Unknown class 'a'"),
        ([[1]], ["a"], {"terms": ["x", "y"]}, "all 1 columns. Got 2"),
        ([[1]], [[1, 0]], {}, "name the 2 columns"),
        ([[1]], [[2, 0]], {"classes": ["a", "b"]}, "zeros and ones"),
    ],
)
def test_wrong_input_is_named(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        Contingency.from_counts(X, y, **options)


def test_different_terms_do_not_add():
    one, other = (Contingency.from_counts([[1]], ["a"], terms=[term]) for term in "xy")
    with pytest.raises(ValueError, match="same terms in the same columns"):
        one + other


def test_a_value_is_read_only_picklable_and_shown():
    table = Contingency.from_counts(*corpus(5), terms=[f"<{i}>" for i in range(7)])
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    for value in (table, again):
        with pytest.raises(ValueError, match="read-only"):
            value.documents.data[0] = 9
    with pytest.raises(AttributeError):
        table.n_documents = 3
    frame = table.frame()
    assert frame.columns == ["class", "term", "documents", "occurrences"]
    assert frame["occurrences"].sum() == corpus(5)[0].sum()
    assert f"&lt;{table.top_terms('ant')[0].term[1]}&gt;" in table._repr_html_()
    assert repr(table) == "Contingency(4 classes x 7 terms, 40 documents)"


def test_an_empty_corpus_and_one_class_say_nothing():
    empty = Contingency.from_counts(np.zeros((0, 2), dtype=int), np.array([], dtype=str), classes=["a", "b"])
    one = Contingency.from_counts([[1, 0], [0, 1]], ["a", "a"])
    for table in (empty, one):
        found = results(table) | {"ordinal": table.ordinal_information_gain()}
        assert all(not found[name].any() for name in found if name != "odds")
    assert one.top_terms("a") == []

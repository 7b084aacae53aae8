import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.metrics import (
    cohen_kappa_score,
    confusion_matrix,
    multilabel_confusion_matrix,
    precision_recall_fscore_support,
)

from untwin.tables import Confusion
from untwin.tables.distances import SMOOTHING

NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])
seeds = st.integers(0, 10_000)
few = settings(max_examples=25, deadline=None)


def answers(seed, n=60, n_classes=5):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_classes, n)
    return NAMES[true], NAMES[np.where(rng.random(n) < 0.6, true, rng.integers(0, n_classes, n))]


def confused(seed, classes=NAMES):
    return Confusion.from_predictions(*answers(seed), classes=classes)


@few
@given(seeds)
def test_counts_and_scores_are_scikit_learns(seed):
    true, predicted = answers(seed)
    confusion = Confusion.from_predictions(true, predicted)
    assert_array_equal(confusion.toarray(), confusion_matrix(true, predicted))
    options = {"zero_division": 0}
    expected = precision_recall_fscore_support(true, predicted, **options)
    found = confusion.precision, confusion.recall, confusion.f1, confusion.support
    for mine, theirs in zip(found, expected, strict=True):
        assert_allclose(mine, theirs)
    assert_allclose(confusion.macro_f1, precision_recall_fscore_support(true, predicted, average="macro", **options)[2])
    assert_allclose(confusion.micro_f1, precision_recall_fscore_support(true, predicted, average="micro", **options)[2])
    assert confusion.accuracy == np.mean(true == predicted)
    assert_array_equal(confusion.true_negatives, multilabel_confusion_matrix(true, predicted)[:, 0, 0])


@few
@given(seeds)
def test_ordered_classes(seed):
    true, predicted = answers(seed)
    order = ["cat", "eel", "ant", "dog", "bee"]
    confusion = Confusion.from_predictions(true, predicted, classes=order)
    place = {name: i for i, name in enumerate(order)}
    i, j = np.vectorize(place.get)(true), np.vectorize(place.get)(predicted)
    assert confusion.mean_absolute_error() == pytest.approx(np.abs(i - j).mean())
    assert confusion.quadratic_kappa() == pytest.approx(cohen_kappa_score(i, j, weights="quadratic"))
    assert confusion.diagonality == pytest.approx(cohen_kappa_score(i, j, weights="linear"))


def test_diagonality_grows_when_twins_stand_together():
    twins = Confusion([[9, 0, 9], [0, 9, 0], [9, 0, 9]], ["a", "b", "c"])
    assert twins.reordered(["b", "a", "c"]).diagonality > twins.diagonality
    assert Confusion(np.eye(3, dtype=int), ["a", "b", "c"]).diagonality == 1
    assert Confusion(np.ones((3, 3), dtype=int), ["a", "b", "c"]).diagonality == pytest.approx(0)


@few
@given(seeds)
def test_rates_and_mutual_complexity(seed):
    counts = confused(seed).toarray()
    counts[2] = 0
    confusion = Confusion(counts, NAMES)
    rates = confusion.rates.toarray()
    assert_allclose(rates.sum(axis=1), 1)
    assert_array_equal(rates[2], [0, 0, 1, 0, 0])
    complexity = confusion.mutual_complexity().toarray()
    for i, j in combinations(range(5), 2):
        assert complexity[i, j] == complexity[j, i] == pytest.approx((rates[i, j] + rates[j, i]) / 2)
    assert not complexity.diagonal().any()
    normal = confusion.mutual_complexity(normalized=True).toarray()
    assert_allclose(normal, complexity / complexity.max())


def test_no_confusion_has_no_complexity_and_no_pairs():
    perfect = Confusion(np.diag([3, 0, 2]), ["a", "b", "c"])
    assert perfect.mutual_complexity(normalized=True).nnz == 0
    assert len(perfect.pairs()) == 0
    assert perfect.quadratic_kappa() == 1


def plain_distance(metric, p, q):
    if metric == "l1":
        return np.abs(p - q).sum()
    if metric == "l2":
        return ((p - q) ** 2).sum()
    if metric == "cosine":
        return 1 - p @ q / np.linalg.norm(p) / np.linalg.norm(q)
    p, q = ((1 - SMOOTHING) * row + SMOOTHING / len(row) for row in (p, q))
    return (p * np.log(p / q)).sum() + (q * np.log(q / p)).sum()


@pytest.mark.parametrize("metric", ["l1", "l2", "kl", "cosine"])
@pytest.mark.parametrize("density", [0.05, 0.7])  # l1 takes another way for dense rows
def test_distances_by_a_plain_loop(metric, density):
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 9, (30, 30)) * (rng.random((30, 30)) < density)
    confusion = Confusion(counts, np.arange(30))
    found, rates = confusion.distances(metric), confusion.rates.toarray()
    assert_array_equal(found, found.T)
    assert not found.diagonal().any()
    for i, j in combinations(range(30), 2):
        assert found[i, j] == pytest.approx(plain_distance(metric, rates[i], rates[j]), abs=1e-12)


def test_published_distances_on_raw_counts():
    """Paper 2, figures 3, 4 and 5; the two entries 88 of figure 5 are misprints for 56."""
    confusion = Confusion([[4, 0, 6, 0], [0, 4, 6, 0], [0, 0, 7, 3], [0, 0, 4, 6]], list("RGBY"))
    l1, l2 = (confusion.distances(metric, normalize=False) for metric in ("l1", "l2"))
    assert l1[np.triu_indices(4, 1)].tolist() == [8, 8, 12, 8, 12, 6]
    assert l2[np.triu_indices(4, 1)].tolist() == [32, 26, 56, 26, 56, 18]


@few
@given(seeds, st.permutations(range(5)))
def test_permuting_classes_permutes_every_result(seed, order):
    plain = confused(seed)
    turned = confused(seed, NAMES[order])
    assert plain.reordered(NAMES[order]) == turned
    for name in ("support", "predicted", "precision", "recall", "f1", "true_negatives"):
        assert_array_equal(getattr(turned, name), getattr(plain, name)[order])
    for result in (Confusion.mutual_complexity, lambda c: c.rates):
        assert_array_equal(result(turned).toarray(), result(plain).toarray()[np.ix_(order, order)])
    for metric in ("l1", "l2", "kl", "cosine"):
        assert_array_equal(turned.distances(metric), plain.distances(metric)[np.ix_(order, order)])
    assert_array_equal(turned.pairs(), plain.pairs())
    assert turned.accuracy == plain.accuracy


@few
@given(seeds, st.integers(1, 59))
def test_parts_add_up_to_the_whole(seed, cut):
    true, predicted = answers(seed)
    parts = [Confusion.from_predictions(true[rows], predicted[rows]) for rows in (slice(cut), slice(cut, None))]
    whole = Confusion.from_predictions(true, predicted)
    assert parts[0] + parts[1] == whole
    mean = Confusion.mean(parts)
    assert mean.counts.dtype == np.float64
    assert_allclose(mean.toarray(), whole.toarray() / 2)
    with pytest.raises(TypeError):
        parts[0] + 1


@few
@given(seeds)
def test_pairs_by_a_plain_loop(seed):
    confusion = confused(seed)
    counts, support = confusion.toarray(), confusion.support
    expected = []
    for i, j in combinations(range(5), 2):
        errors = counts[i, j] + counts[j, i]
        if errors:
            rate = errors / (support[i] + support[j])
            expected.append((-errors, NAMES[i], NAMES[j], counts[i, j], counts[j, i], rate))
    expected.sort()
    found = confusion.pairs()
    assert [(-p.errors, p.a, p.b, p.a_as_b, p.b_as_a, p.rate) for p in found] == expected
    assert found.share.sum() == pytest.approx(1)
    assert (found.low < found.rate).all()
    assert (found.rate < found.high).all()
    assert_array_equal(confusion.pairs(top=2), found[:2])


@few
@given(seeds)
def test_merged_is_the_confusion_of_merged_labels(seed):
    true, predicted = answers(seed)
    groups = {"pet": ["dog", "cat"], "insect": ["bee", "ant"]}
    renamed = {member: name for name, members in groups.items() for member in members} | {"eel": "eel"}
    expected = Confusion.from_predictions(*([renamed[label] for label in labels] for labels in (true, predicted)))
    found = confused(seed).merged(groups)
    assert found.classes.tolist() == ["insect", "pet", "eel"]
    assert found == expected.reordered(found.classes)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.merged({"x": ["ant", "bee"], "y": ["bee"]}), "one group only. Got 'bee'"),
        (lambda c: c.merged({"eel": ["ant", "bee"]}), "classes must be distinct"),
        (lambda c: c.merged({"x": ["gnu"]}), "Unknown class 'gnu'"),
        (lambda c: c.merged({"x": []}), "at least one class. Got none"),
        (lambda c: c.reordered(["ant"]), "all 5 classes once. Got 1"),
        (lambda c: c.distances("l3"), "one of l1, l2, kl, cosine. Got 'l3'"),
        (lambda c: c.distances("kl", normalize=False), "normalize=False"),
        (lambda _: Confusion.mean([]), "at least one"),
        (lambda _: Confusion([[1, 2]], ["a"]), "1 x 1"),
        (lambda _: Confusion([[-1]], ["a"]), "none below zero"),
        (lambda _: Confusion([[np.nan]], ["a"]), "finite"),
        (lambda _: Confusion(np.eye(2), ["a", "a"]), "distinct"),
        (lambda _: Confusion.from_predictions(["a"], ["a", "b"]), "equal length"),
        (lambda _: Confusion.from_predictions(["1"], [1]), "labels of one kind"),
        (lambda _: Confusion.from_predictions(["a"], ["b"], classes=["a"]), "Unknown class 'b'"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(confused(0))


@pytest.mark.parametrize("labels", [np.array([3, 1, 3]), np.array(["b", "a", "b"]), np.array(["b", "a", "b"], object)])
def test_the_dtype_of_labels_survives(labels):
    confusion = Confusion.from_predictions(labels, labels[::-1])
    assert confusion.classes.dtype == labels.dtype
    assert confusion.pairs().a.dtype == labels.dtype
    assert (confusion + confusion).classes.dtype == labels.dtype


def test_a_value_is_read_only_and_does_not_share_memory():
    counts, classes = csr_matrix(np.eye(2, dtype=np.int32)), np.array(["a", "b"])
    confusion = Confusion(counts, classes)
    counts.data[:], classes[0] = 7, "z"
    assert confusion.toarray().tolist() == [[1, 0], [0, 1]]
    assert confusion.classes.tolist() == ["a", "b"]
    assert isinstance(confusion.counts, csr_array)
    for value in (confusion, pickle.loads(pickle.dumps(confusion))):
        assert value == confusion
        for array in (value.counts.data, value.classes):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
    with pytest.raises(AttributeError):
        confusion.classes = classes
    with pytest.raises(TypeError):
        hash(confusion)


def test_it_shows_itself():
    small, large = confused(0), Confusion(np.eye(50, dtype=int)[::-1], [f"<{i}>" for i in range(50)])
    assert repr(small).startswith("Confusion(5 classes, 60 predictions, accuracy 0.")
    assert small._repr_html_().count("<tr>") == 6
    assert large._repr_html_().count("<tr>") == 21
    assert "&lt;0&gt;" in large._repr_html_()
    frame = small.frame()
    assert frame.columns == ["true", "predicted", "count", "rate"]
    assert frame["count"].sum() == 60


def test_no_predictions_at_all():
    empty = Confusion.from_predictions([], [], classes=["a", "b"])
    assert (empty.total, empty.accuracy, empty.macro_f1, empty.diagonality) == (0, 0, 0, 1)
    assert_array_equal(empty.rates.toarray(), np.eye(2))


def test_many_classes_cost_what_their_cells_cost():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 20_000, 200_000)
    confusion = Confusion.from_predictions(true, (true + rng.integers(0, 3, 200_000)) % 20_000)
    assert confusion.counts.nnz <= 60_000
    assert confusion.pairs().errors.sum() == confusion.total - confusion.correct.sum()
    assert confusion.merged({-1: range(10_000)}).n_classes == 10_001

"""Which classes cannot be told apart: twins, mixtures, a lack of intervals, each planted and found; nothing else is."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from untwin.classify.latent.class_sums import ClassSums
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.latent.indistinguishable import indistinguishable
from untwin.data.discretize import MDLPDiscretizer

X, y = load_iris(return_X_y=True)
PROFILES = {
    "ape": [0.8, 0.1, 0.1, 0.0, 0.0, 0.0],
    "bee": [0.0, 0.7, 0.0, 0.3, 0.0, 0.0],
    "cat": [0.0, 0.0, 0.1, 0.1, 0.8, 0.0],
    "dog": [0.1, 0.1, 0.1, 0.1, 0.1, 0.5],
}


def drawn(profiles, n=300, seed=0):
    """One-hot rows drawn by the profile of their class, three attributes each."""
    rng = np.random.default_rng(seed)
    rows = [np.hstack([rng.multinomial(1, p, n) for _ in range(3)]) for p in profiles.values()]
    return csr_array(np.vstack(rows).astype(float)), np.repeat(list(profiles), n)


def found(profiles, **options):
    return LatentClassClassifier().fit(*drawn(profiles, **options)).indistinguishable_


@pytest.mark.parametrize("seed", range(5))
def test_classes_that_differ_are_left_alone(seed):
    assert found(PROFILES, seed=seed) == ()
    assert LatentClassClassifier().fit(MDLPDiscretizer().fit_transform(X, y), y).indistinguishable_ == ()


@pytest.mark.parametrize("n", [50, 1000])
def test_twins(n):
    """Chance sets one pair of real twins in six so far apart that it is missed; no other pair is ever taken for one."""
    all_found = [found(PROFILES | {"kitten": PROFILES["cat"]}, n=n, seed=seed) for seed in range(20)]
    assert {finding[:3] for one in all_found for finding in one} == {("twins", ("cat", "kitten"), (1.0, -1.0))}
    assert sum(map(len, all_found)) >= 14
    assert max(finding.singular_value for one in all_found for finding in one) < 0.3


def test_two_pairs_of_twins_are_not_mixed_up_and_triplets_stay_together():
    more = {"cat": ["cat", "kitten"], "bee": ["bee", "hornet", "wasp"]}
    rows, labels = drawn(PROFILES)
    again = [(row, name) for row, label in enumerate(labels) for name in more.get(label, [label])]
    rows, labels = rows[[row for row, _ in again]], np.array([name for _, name in again])
    names = {finding.classes for finding in indistinguishable(ClassSums.of_rows(rows, labels))}
    assert names == {("bee", "hornet", "wasp"), ("cat", "kitten")}


def test_a_mixture_names_the_blend_first_and_then_its_parts():
    blend = 0.6 * np.array(PROFILES["ape"]) + 0.4 * np.array(PROFILES["bee"])
    (mixture,) = found(PROFILES | {"zebra": blend}, n=2000)
    assert (mixture.kind, mixture.classes[:1]) == ("mixture", ("zebra",))
    weights = dict(zip(mixture.classes, mixture.weights, strict=True))
    assert weights["ape"] == pytest.approx(-0.6, abs=0.06)
    assert weights["bee"] == pytest.approx(-0.4, abs=0.06)
    assert sum(weights.values()) == pytest.approx(0, abs=0.05)


def test_fewer_intervals_than_classes():
    """Two intervals cannot span three classes, and none of the three is a blend by its own fault."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["low", "middle", "high"], 500)
    low = rng.random(1500) < np.repeat([0.9, 0.5, 0.2], 500)
    (lack,) = LatentClassClassifier().fit(np.column_stack([low, ~low]).astype(float), labels).indistinguishable_
    assert (lack.kind, set(lack.classes)) == ("lack of intervals", {"low", "middle", "high"})
    assert lack.singular_value < 1e-6


def test_classes_that_depend_on_one_another_both_ways_lack_intervals():
    """Two attributes of two intervals: 00 + 11 = 01 + 10, with noise-free profiles and no class a blend."""
    rows = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]).repeat(20, axis=0)
    labels = np.repeat(["00", "11", "01", "10"], 20)
    (lack,) = indistinguishable(ClassSums.of_rows(rows, labels))
    assert lack.kind == "lack of intervals"
    weights = dict(zip(lack.classes, lack.weights, strict=True))
    assert weights["00"] == pytest.approx(weights["11"])
    assert weights["01"] == pytest.approx(weights["10"])
    assert weights["00"] == pytest.approx(-weights["01"])


def test_an_exact_mixture_without_any_noise():
    """Rows of a class are all alike but for those of the blend, which has both kinds."""
    rows = np.array([[1.0, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])[[0, 0, 1, 1, 2, 2, 0, 1]].repeat(20, axis=0)
    labels = np.array(list("aabbccmm")).repeat(20)
    (mixture,) = indistinguishable(ClassSums.of_rows(rows, labels))
    assert mixture[:2] == ("mixture", ("m", "a", "b"))
    np.testing.assert_allclose(mixture.weights, [1, -0.5, -0.5])


def test_the_weights_of_what_vanishes_do_vanish():
    profiles = PROFILES | {"zebra": 0.5 * (np.array(PROFILES["cat"]) + np.array(PROFILES["dog"]))}
    rows, labels = drawn(profiles, n=3000)
    for finding in LatentClassClassifier().fit(rows, labels).indistinguishable_:
        means = np.array([rows[labels == name].mean(axis=0) for name in finding.classes])
        left = np.array(finding.weights) @ means
        assert np.linalg.norm(left) < 0.05 * np.linalg.norm(means[0])


def test_classes_with_too_few_rows_are_not_judged():
    rng = np.random.default_rng(0)
    rows = rng.multinomial(5, np.full(200, 1 / 200), 40).astype(float)
    assert indistinguishable(ClassSums.of_rows(rows, np.arange(40))) == ()
    assert indistinguishable(ClassSums.of_rows(rows, np.arange(40) // 2)) == ()


def test_one_class_alone():
    assert indistinguishable(ClassSums.of_rows(np.eye(3), np.zeros(3))) == ()


def test_many_classes_of_few_rows_that_share_most_of_what_they_have_are_not_judged():
    """Nine of ten terms of a row are everybody's: no mean row is known well enough to be called that of another."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 8)
    rows = rng.poisson(0.3, (320, 140)) * (np.arange(140) >= 100) * (np.arange(140) - 100 == labels[:, None])
    rows[:, :100] = rng.random((320, 100)) < 0.9
    assert indistinguishable(ClassSums.of_rows(csr_array(rows.astype(float)), labels)) == ()

from __future__ import annotations

import numpy as np

from untwin.model.findings.alike import indistinguishable_classes
from untwin.model.findings.groups import group_names
from untwin.model.findings.small import tiny_classes


def test_tiny_classes_smallest_first(evidence):
    y = np.repeat(["big", "nine", "one", "ten"], [50, 9, 1, 10])
    said = y.copy()
    said[50:53] = "big"
    folds = np.arange(len(y)) % 3
    folds[y == "one"] = -1
    finding = tiny_classes(evidence(y, said, folds=folds))
    assert finding.evidence == (
        {"class": "one", "rows": 1, "recall": None},
        {"class": "nine", "rows": 9, "recall": 6 / 9},
    )


def test_no_tiny_classes(evidence):
    assert tiny_classes(evidence(np.repeat(["a", "b"], 10))) is None


def drawn(profiles, n=300):
    rng = np.random.default_rng(0)
    return np.vstack([rng.multinomial(20, profile, n) for profile in profiles]).astype(float)


APART = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7]]


def test_classes_with_one_profile_cannot_be_told_apart(evidence):
    y = np.repeat(["cat", "dog", "kitten"], 300)
    cats, dogs = np.split(drawn(APART[:2]), 2)
    X, said = np.vstack([cats, dogs, cats[::-1]]), y.copy()
    for label, other in (("cat", "kitten"), ("kitten", "cat")):
        said[np.flatnonzero(y == label)[::2]] = other
    (found,) = indistinguishable_classes(evidence(y, said, X=X)).evidence
    assert (found["kind"], found["classes"]) == ("twins", ["cat", "kitten"])
    assert found["taken for each other"] == 300


def test_the_confusion_has_the_last_word(evidence):
    """Whatever mean rows say: classes that are told apart, well or just better than by a guess, are not named."""
    y = np.repeat(["cat", "dog", "kitten"], 300)
    cats, dogs = np.split(drawn(APART[:2]), 2)
    X, said = np.vstack([cats, dogs, cats[::-1]]), y.copy()
    assert indistinguishable_classes(evidence(y, X=X)) is None
    for label, other in (("cat", "kitten"), ("kitten", "cat")):
        said[np.flatnonzero(y == label)[::3]] = other
    assert indistinguishable_classes(evidence(y, said, X=X)) is None


def test_a_blend_is_named_with_the_parts_that_it_is_confused_with(evidence):
    y = np.repeat(["ape", "bee", "cat", "mix"], 300)
    rows = drawn([*APART, *APART[:1]])
    rows[1050:] = drawn(APART[1:2], 150)
    said = y.copy()
    said[900:1050], said[1050:] = "ape", "bee"
    (found,) = indistinguishable_classes(evidence(y, said, X=rows)).evidence
    assert (found["kind"], found["classes"][0], sorted(found["classes"][1:])) == ("mixture", "mix", ["ape", "bee"])
    assert indistinguishable_classes(evidence(y, X=rows)) is None


def test_classes_with_profiles_of_their_own_can(evidence):
    assert indistinguishable_classes(evidence(np.repeat(["ape", "bee", "cat"], 300), X=drawn(APART))) is None


NAMES = np.array(["fur", "milk", "wing", "egg"])
ANIMALS = np.repeat(["cat", "dog", "hen", "owl"], 40)


def mammals_and_birds():
    X = np.repeat([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]], 40, axis=0)
    said = ANIMALS.copy()
    for label, other in (("cat", "dog"), ("dog", "cat"), ("hen", "owl"), ("owl", "hen")):
        said[np.flatnonzero(label == ANIMALS)[:15]] = other
    return said, X


def test_groups_are_named_by_their_terms(evidence):
    said, X = mammals_and_birds()
    finding = group_names(evidence(ANIMALS, said, X=X, terms=NAMES))
    groups = {tuple(sorted(record["classes"])): record["name"] for record in finding.evidence}
    assert set(groups) == {("cat", "dog"), ("hen", "owl")}
    assert groups["cat", "dog"].startswith("fur")
    assert groups["hen", "owl"].startswith("wing")


def test_nothing_to_name(evidence):
    said, X = mammals_and_birds()
    assert group_names(evidence(ANIMALS, said, X=X)) is None  # no terms
    assert group_names(evidence(ANIMALS, X=X, terms=NAMES)) is None  # no errors
    two = ANIMALS[:80]
    assert group_names(evidence(two, said[:80], X=X[:80], terms=NAMES)) is None  # two classes

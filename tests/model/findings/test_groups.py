"""Groups are what is confused with itself, and are named by what most of their classes say."""

from __future__ import annotations

import numpy as np
import pytest

from untwin.model.findings.groups import confused_groups, group_names, name_groups
from untwin.model.findings.spelling import spell, spelling_of, stemmer_of
from untwin.model.findings.telling import FUNCTION_WORDS, telling_terms
from untwin.structure.hierarchy import Hierarchy
from untwin.tables.confusion import Confusion
from untwin.tables.term_evidence import TermEvidence


def blocks(sizes, inside=8, outside=0, alone=0):
    """A confusion of groups of classes; outside of them errors fall anywhere."""
    n = sum(sizes) + alone
    counts = np.random.default_rng(0).integers(0, outside + 1, (n, n))
    first = 0
    for size in sizes:
        counts[first : first + size, first : first + size] += inside
        first += size
    counts[np.arange(n), np.arange(n)] = 60
    return Confusion(counts, [f"c{number:03d}" for number in range(n)])


def groups_of(confusion):
    return confused_groups(Hierarchy.from_confusion(confusion), confusion)


def test_planted_groups_are_found_and_classes_without_errors_stand_alone():
    found = groups_of(blocks([4, 3, 2], alone=20))
    assert sorted(len(group) for group in found if len(group) > 1) == [2, 3, 4]
    assert sum(len(group) == 1 for group in found) == 20


@pytest.mark.parametrize("outside", [0, 1])
@pytest.mark.parametrize("alone", [0, 30, 60])
def test_no_group_holds_half_of_the_classes(outside, alone):
    confusion = blocks([3, 3, 2, 4], outside=outside, alone=alone)
    assert all(2 * len(group) < confusion.n_classes for group in groups_of(confusion))


@pytest.mark.parametrize("n", [1, 2, 3, 1_000])
def test_groups_are_runs_of_the_order_of_the_tree_and_hold_every_class_once(n):
    confusion = blocks([2] * (n // 2), alone=n % 2)
    tree = Hierarchy.from_confusion(confusion)
    found = confused_groups(tree, confusion)
    assert [name for group in found for name in group] == tree.order().tolist()


def test_without_errors_nothing_is_a_group():
    assert {len(group) for group in groups_of(blocks([], alone=12))} == {1}


def test_a_group_is_named_by_terms_that_most_of_its_classes_have(evidence):
    """`pin` is typical of one class of three only; `card` of all."""
    y = np.repeat(["a", "b", "c", "d", "e"], 20)
    terms = np.array(["card", "pin", "the", "train"])
    X = np.zeros((100, 4), dtype=int)
    X[:60, 0], X[:20, 1], X[:60, 2], X[60:, 3] = 1, 1, 1, 1
    known = evidence(y, X=X, terms=terms)
    assert name_groups(known, [("a", "b", "c"), ("d", "e")]) == ["card", "train"]
    nameless = evidence(y, X=X)
    assert name_groups(nameless, [("a", "b", "c", "d"), ("e",)]) == ["a, b, c, ...", "e"]


def test_stems_are_shown_as_words(evidence):
    texts = ["two deliveries", "a delivery", "delivery man"] * 20
    y = np.repeat(["a", "b", "c"], 20)
    said = np.where(np.arange(60) % 4 == 0, np.where(y == "a", "b", "a"), y)
    X = np.repeat(np.array([[1, 0], [1, 0], [0, 1]]), 20, axis=0)
    known = evidence(y, said, X=X, terms=np.array(["deliveri", "man"]), texts=texts, stemmer="english")
    assert known.spell("deliveri") == "delivery"
    assert evidence(y, X=X, terms=np.array(["deliveri", "man"]), texts=texts).spell("deliveri") == "deliveri"
    found = group_names(known)
    assert found is None or all("deliveri" not in record["name"].split(", ") for record in found.evidence)


def test_the_commonest_word_of_a_stem_is_its_spelling():
    written = spelling_of(["Charged charged CHARGES", "charge", ""], "english")
    assert written["charg"] == "charged"
    assert spell("charg fee", written) == "charged fee"
    assert spell(7, written) == 7
    assert spelling_of([], "english") == {}
    assert stemmer_of(None) is None


def told(*terms, n=3):
    return [one.term for one in telling_terms([TermEvidence(term, 1.0, 0.5, 0.1) for term in terms], n)]


@pytest.mark.parametrize(
    ("terms", "kept"),
    [
        (("the", "my pin", "pin", "pin code"), ["pin"]),
        (("how long", "long", "not"), ["how long", "not"]),
        (("top up", "card"), ["card"]),
        (("the", "to the"), ["the", "to the"]),
        (("", " ", "x"), ["x"]),
        ((), []),
        (("</script>", "\u202e", "=1"), ["</script>", "\u202e", "=1"]),
        ((3, 4, 5, 6), [3, 4, 5]),
    ],
)
def test_what_says_nothing_and_what_says_it_twice_is_left_out(terms, kept):
    assert told(*terms) == kept


def test_question_words_and_denials_are_no_function_words():
    assert FUNCTION_WORDS.isdisjoint({"how", "when", "where", "why", "not", "no", "never", "without"})

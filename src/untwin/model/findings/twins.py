"""Classes confused so often that they may be merged (`twins`), also across a known tree (`also-see`).

Glossary
--------
rate    errors between two classes, both ways / rows of both: 0.5 for two classes that a coin could tell apart
low     lower end of its 95 % interval: what the rate is at least, so that three errors of six rows prove nothing

Of thousands of pairs some have a high `low` by chance. So the lower end of an interval that holds for all pairs
together must be high too, though not as high: that would leave out twins of a hundred rows wherever classes are many.

What merging would give is asked of rows that had no say in it: for each fold, twins are looked for in the other folds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import beta

from untwin._values import positions
from untwin._wording import format_count
from untwin.model.findings.finding import Finding

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices
    from untwin.model.findings.evidence import Evidence
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.tables.confusion import Confusion

TWIN_RATE = 0.05  # at least every twentieth row of the two is taken for the other: a tenth of what a coin would do
FEWEST_ERRORS = 5
LINK_RATE = 0.02
CHANCE = 0.05  # of naming any pair, among all of them, that is confused less often than a link
N_TERMS = 5
N_ROWS = 5
MOST_LINKS = 50


def twins(evidence: Evidence) -> Finding | None:
    """Return pairs confused in a twentieth of their rows or more, with the gain if each pair, and all, were merged.

    Of two classes in all there is nothing to say: merged, they are one.
    """
    pairs = twin_pairs(evidence.answers.confusion)
    if not len(pairs):
        return None
    return Finding(
        "twins",
        f"{format_count(len(pairs), 'pair of classes is', 'pairs of classes are')} often confused. "
        + _if_merged(evidence.answers, chains(pairs["a"], pairs["b"], evidence.answers.classes)),
        tuple(_twin_record(evidence, pair) for pair in pairs),
        "Merge classes whose difference does not matter to you. Otherwise say in writing what sets them apart, check "
        "the rows that are taken for the other class against it, and add rows that show the difference.",
        "warning",
    )


def twin_pairs(confusion: Confusion) -> Array:
    """Return the pairs of `Confusion.pairs` that are twins."""
    return often_confused(confusion)[: 0 if confusion.n_classes < 3 else None]


def often_confused(confusion: Confusion) -> Array:
    """Return the pairs of `Confusion.pairs` whose rate of errors is high beyond chance."""
    pairs = confusion.pairs()
    pairs = pairs[(pairs["errors"] >= FEWEST_ERRORS) & (pairs["low"] >= TWIN_RATE)]
    looked_at = max(confusion.n_classes * (confusion.n_classes - 1) / 2, 1)
    return pairs[_at_least(pairs["errors"], pairs["errors"] / pairs["rate"], CHANCE / looked_at) >= LINK_RATE]


def _at_least(errors: Array, rows: Array, chance: float) -> Floats:
    """Return the rates that would give so many errors or more with just that chance (Clopper and Pearson)."""
    return np.asarray(beta.ppf(chance, errors, rows - errors + 1))


def _if_merged(answers: OutOfFoldAnswers, groups: list[list[Any]]) -> str:
    if len(groups[0]) == len(answers.classes):
        return "With such classes merged, nothing would be left to tell apart."
    gain = 100 * (_accuracy_if_merged(answers) - answers.confusion.accuracy)
    return f"With such classes merged, accuracy would be {gain:.1f} points higher."


def _accuracy_if_merged(answers: OutOfFoldAnswers) -> float:
    """Return the share of held-out rows that are right, or taken for a class that other folds say is a twin."""
    held, folds = answers.held, answers.folds
    if len(np.unique(folds[held])) == 1:
        folds = np.cumsum(held) % 2
    right = np.zeros(len(held), dtype=bool)
    for fold in np.unique(folds[held]):
        here = held & (folds == fold)
        leader = _leaders(answers.confusion_of(held & ~here))
        right[here] = leader[answers.true[here]] == leader[answers.said[here]]
    return float(right[held].mean())


def _leaders(confusion: Confusion) -> Indices:
    """Return for each class the first of those that twins connect it with."""
    pairs, leader = twin_pairs(confusion), np.arange(confusion.n_classes)
    for group in chains(pairs["a"], pairs["b"], confusion.classes):
        members = positions(np.asarray(group), confusion.classes)
        leader[members] = members[0]
    return leader


def chains(a: Array, b: Array, classes: Array) -> list[list[Any]]:
    """Return groups of classes that pairs connect: a with b and b with c gives one group of three.

    >>> chains(np.array(["ape", "bee"]), np.array(["bee", "cat"]), np.array(["ape", "bee", "cat", "dog"]))
    [['ape', 'bee', 'cat']]
    """
    ends = positions(a, classes), positions(b, classes)
    linked = coo_array((np.ones(len(a)), ends), shape=(len(classes), len(classes)))
    n_groups, group = connected_components(linked, directed=False)
    members = [classes[group == number].tolist() for number in range(n_groups)]
    return [names for names in members if len(names) > 1]


def _twin_record(evidence: Evidence, pair: Any) -> dict[str, Any]:
    answers = evidence.answers
    a, b, a_as_b, b_as_a, rate, low = pair[["a", "b", "a_as_b", "b_as_a", "rate", "low"]].tolist()
    (one, other), true, said = positions([a, b], answers.classes), answers.true, answers.said
    mixed_up = np.flatnonzero((true == one) & (said == other) | (true == other) & (said == one))[:N_ROWS]
    for_a, for_b = evidence.terms_between(a, b, N_TERMS)
    return {
        "a": a,
        "b": b,
        "a taken for b": a_as_b,
        "b taken for a": b_as_a,
        "rate": rate,
        "rate at least": low,
        "points if merged": float(100 * (a_as_b + b_as_a) / answers.confusion.total),
        "terms for a": [evidence.spell(found.term) for found in for_a],
        "terms for b": [evidence.spell(found.term) for found in for_b],
        "rows": evidence.ids_of(mixed_up),
    }


def soft_links(evidence: Evidence) -> Finding | None:
    """Return classes in different branches of a known tree that are confused with each other: an "also see"."""
    pairs = evidence.answers.confusion.pairs()
    sure = {
        frozenset((a, b)): (rate, low)
        for a, b, rate, low in pairs[pairs["low"] >= LINK_RATE][["a", "b", "rate", "low"]].tolist()
    }
    if evidence.parents is None or not sure:
        return None
    apart = evidence.hierarchy.also_see(evidence.parents, top=len(pairs))
    links = [link for link in apart if frozenset((link.a, link.b)) in sure]
    links.sort(key=lambda link: -sure[frozenset((link.a, link.b))][0])
    if not links:
        return None
    return Finding(
        "also-see",
        f"{format_count(len(links), 'pair of classes is', 'pairs of classes are')} confused across the known tree.",
        tuple(
            {"a": link.a, "b": link.b, "parent of a": link.known_a, "parent of b": link.known_b}
            | dict(zip(("rate", "rate at least"), sure[frozenset((link.a, link.b))], strict=True))
            | {"height": link.height}
            for link in links[:MOST_LINKS]
        ),
        "Put an 'also see' from one to the other for people who browse the tree, or move one of the two.",
        "info",
    )

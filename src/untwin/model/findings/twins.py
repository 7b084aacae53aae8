"""Classes confused so often that merging them is worth a thought (`twins`), also across a known tree (`also-see`).

Glossary
--------
rate    errors between two classes, both ways / rows of both: 0.5 for two classes that a coin could tell apart
low     lower end of its 95 % interval: what the rate is at least, so that three errors of six rows prove nothing
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from untwin._values import positions
from untwin.model.findings.finding import Finding, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin._values import Array
    from untwin.model.findings.evidence import Evidence

TWIN_RATE = 0.05  # at least every twentieth row of the two is taken for the other: a tenth of what a coin would do
LINK_RATE = 0.02
N_TERMS = 5
N_ROWS = 5
MOST_LINKS = 50


def twins(evidence: Evidence) -> Finding | None:
    """Find pairs confused in a twentieth of their rows or more; say the accuracy if each pair, and all, were merged."""
    pairs = evidence.confusion.pairs()
    pairs = pairs[pairs["low"] >= TWIN_RATE]
    if not len(pairs):
        return None
    before, groups = evidence.confusion.accuracy, chains(pairs["a"], pairs["b"], evidence.classes)
    wrong = np.flatnonzero(evidence.held_out & (evidence.predictions != evidence.y))
    after = evidence.confusion.merged({group[0]: group for group in groups}).accuracy
    return Finding(
        "twins",
        f"{counted(len(pairs), 'pair of classes is', 'pairs of classes are')} often confused. "
        f"With such classes merged, out-of-fold accuracy would be {after:.3f} instead of {before:.3f}.",
        tuple(_twin_record(evidence, pair, wrong) for pair in pairs),
        "Merge classes whose difference does not matter to you. Otherwise say in writing what sets them apart, check "
        "the rows that are taken for the other class against it, and add rows that show the difference.",
        "warning",
    )


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


def _twin_record(evidence: Evidence, pair: Any, wrong: NDArray[np.intp]) -> dict[str, Any]:
    a, b, *counts = pair[["a", "b", "a_as_b", "b_as_a", "rate", "low"]].tolist()
    merged = evidence.confusion.merged({a: [a, b]})
    true, said = evidence.y[wrong], evidence.predictions[wrong]
    mixed_up = wrong[((true == a) & (said == b)) | ((true == b) & (said == a))][:N_ROWS]
    table = evidence.contingency
    for_a, for_b = ([], []) if table is None else table.between(a, b, N_TERMS)
    return {
        "a": a,
        "b": b,
        **dict(zip(("a taken for b", "b taken for a", "rate", "rate at least"), counts, strict=True)),
        "accuracy if merged": merged.accuracy,
        "terms for a": [found.term for found in for_a],
        "terms for b": [found.term for found in for_b],
        "rows": evidence.ids_of(mixed_up),
    }


def soft_links(evidence: Evidence) -> Finding | None:
    """Find classes that a known tree keeps apart although they are confused with each other: an "also see"."""
    pairs = evidence.confusion.pairs()
    sure = {frozenset(names) for names in pairs[pairs["low"] >= LINK_RATE][["a", "b"]].tolist()}
    if evidence.parents is None or not sure:
        return None
    apart = evidence.hierarchy.also_see(evidence.parents, top=len(pairs))
    links = [link for link in apart if {link.a, link.b} in sure]
    if not links:
        return None
    return Finding(
        "also-see",
        f"{counted(len(links), 'pair of classes is', 'pairs of classes are')} confused across the known tree.",
        tuple(
            {"a": link.a, "b": link.b, "parent of a": link.known_a, "parent of b": link.known_b}
            | {"confusion": link.mutual_complexity, "height": link.height}
            for link in links[:MOST_LINKS]
        ),
        "Put an 'also see' from one to the other for people who browse the tree, or move one of the two.",
        "info",
    )

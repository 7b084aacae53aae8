"""Classes that the data cannot tell apart, whatever the classifier (`indistinguishable-classes`).

Twins are what *this* classifier confuses; here the profiles of classes (mean rows) are the same up to sampling noise,
or one is a blend of others, so that no linear method can part them (see `classify/latent/indistinguishable.py`).

Where classes have few rows, noise hides differences that a classifier does see: it looks at rows, not at means. So the
confusion out of fold must agree: two classes are named together only if they are confused as often as twins are
(`twins`), and if the answers, among rows of both that were answered by either, do not depend on which of the two a row
is (`unresolved`).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import normalize

from untwin._values import positions
from untwin._wording import format_count
from untwin.classify.experts import columns_of
from untwin.classify.latent.class_sums import ClassSums
from untwin.classify.latent.indistinguishable import Indistinguishable, indistinguishable
from untwin.model.findings.finding import Finding
from untwin.model.findings.twins import often_confused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin.model.findings.evidence import Evidence
    from untwin.tables.confusion import Confusion

    Pairs = set[frozenset[Any]]

Z = 1.96  # of the 95 % interval
FREQUENT = 3  # rows that have a term; most pairs of words are in fewer


def indistinguishable_classes(evidence: Evidence) -> Finding | None:
    """Return twins, mixtures and classes for which the terms have too few directions; the confusion must agree."""
    answers = evidence.answers
    confused = unresolved(answers.confusion)
    if not confused:
        return None
    names = np.array(sorted(frozenset.union(*confused)), dtype=answers.classes.dtype)
    suspected = np.isin(answers.y, names)
    sums = ClassSums.of_rows(normalize(_frequent_terms(evidence.X[suspected])), answers.y[suspected])
    suggested = indistinguishable(sums, suspected=True)
    found = [kept for one in suggested for kept in _confirmed(one, confused)]
    if not found:
        return None
    return Finding(
        "indistinguishable-classes",
        f"{format_count(len(found), 'set of classes looks', 'sets of classes look')} alike in the data itself.",
        tuple(
            {"kind": one.kind, "classes": list(one.classes), "weights": list(one.weights)}
            | {"singular value": one.singular_value, "taken for each other": _errors(answers.confusion, one.classes)}
            for one in found
        ),
        "More rows or another classifier will not help: merge the classes, or add a column that knows the difference.",
        "warning",
    )


def unresolved(confusion: Confusion) -> Pairs:
    """Return the pairs of classes that are often confused, with answers no better than a guess between the two.

    Of rows of a or b that were answered a or b: is `a` said of rows of a more often than of rows of b, by more than
    chance would let it (95 %)? Then the two are told apart, however often they are confused.

    >>> from untwin.tables.confusion import Confusion
    >>> sorted(*unresolved(Confusion([[20, 20], [20, 20]], ["cat", "kitten"])))
    ['cat', 'kitten']
    >>> unresolved(Confusion([[30, 10], [10, 30]], ["cat", "dog"]))
    set()
    """
    pairs = often_confused(confusion)
    a, b = (positions(pairs[name], confusion.classes) for name in ("a", "b"))
    right = confusion.counts.diagonal()
    right_a, right_b, a_as_b, b_as_a = right[a], right[b], pairs["a_as_b"], pairs["b_as_a"]
    rows_a, rows_b = np.maximum(right_a + a_as_b, 1), np.maximum(right_b + b_as_a, 1)
    said_of_a, said_of_b = right_a / rows_a, b_as_a / rows_b
    error = np.sqrt(said_of_a * (1 - said_of_a) / rows_a + said_of_b * (1 - said_of_b) / rows_b)
    guessed = said_of_a - said_of_b <= Z * error
    return {frozenset(names) for names in pairs[guessed][["a", "b"]].tolist()}


def _frequent_terms(X: Any) -> Any:
    """Return rows without the terms that few of them have: these part no classes, but blur the profile of each."""
    sparse: bool = issparse(X)
    if not sparse:
        return X
    kept = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= FREQUENT)
    return columns_of(X, kept) if kept.size else X


def _confirmed(one: Indistinguishable, confused: Pairs) -> Iterator[Indistinguishable]:
    """Yield the subsets of a set of classes that the confusion confirms."""
    if one.kind == "mixture":  # the blend must be confused with its parts, at least two of them
        blend = one.classes[0]
        kept = [0, *(n for n, part in enumerate(one.classes) if n and {blend, part} in confused)]
        if len(kept) > 2:
            yield _taken(one, kept)
        return
    linked = [
        [a, b] for a, b in combinations(range(len(one.classes)), 2) if {one.classes[a], one.classes[b]} in confused
    ]
    members = sorted({n for pair in linked for n in pair})
    all_with_all = len(linked) == len(members) * (len(members) - 1) // 2
    for kept in [members] if members and all_with_all else linked:
        yield _taken(one, kept)


def _taken(one: Indistinguishable, kept: list[int]) -> Indistinguishable:
    return one._replace(classes=tuple(one.classes[n] for n in kept), weights=tuple(one.weights[n] for n in kept))


def _errors(confusion: Confusion, classes: tuple[Any, ...]) -> int:
    """Return how many held-out rows of the classes were taken for another of them."""
    places = positions(np.array(classes), confusion.classes)
    among = confusion.counts[places][:, places]
    return int(among.sum() - among.diagonal().sum())

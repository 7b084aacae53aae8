"""Groups of classes that are confused with each other, and names for them (`group-names`).

A cut of the tree leaves one group for all classes that hardly have errors, which is all that they have in common. So
groups are taken apart until what each consists of is confused with each other.

Glossary
--------
node     a group of the tree; its two parts are nodes or classes
across   errors between the two parts of a node, both ways
leaving  errors between a part and all classes outside it; a node is tied if `across` is a tenth of the smaller one
holds    whether a node and all nodes below it are tied
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from untwin._wording import format_count
from untwin.model.findings.finding import Finding
from untwin.model.findings.telling import ASKED, telling_terms
from untwin.structure.linkage import group_roots, spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.model.findings.evidence import Evidence
    from untwin.structure.hierarchy import Hierarchy
    from untwin.tables.confusion import Confusion

TIED = 0.1  # on Banking77 and 20 Newsgroups more takes groups apart that people would keep, less keeps leftovers
MOST_OF_ALL = 0.5  # no group has so many of the classes
ALWAYS_FEW = 3  # classes: a group of so many may be most of all
N_TERMS = 3
SHARED_BY = 0.5  # of its classes that have a term more often than classes do on average: it is not that of one alone
FIRST_CLASSES = 3  # that name a group without terms


def group_names(evidence: Evidence) -> Finding | None:
    """Return a name for each group of two classes or more; None without errors or terms."""
    confusion = evidence.answers.confusion
    if evidence.contingency is None or confusion.n_classes < 3 or not len(confusion.pairs()):
        return None
    groups = [group for group in confused_groups(evidence.hierarchy, confusion) if len(group) > 1]
    if not groups:
        return None
    return Finding(
        "group-names",
        f"The classes fall into {format_count(len(groups), 'group', 'groups')} of two or more that are confused alike.",
        tuple(
            {"name": name, "classes": list(group)}
            for name, group in zip(name_groups(evidence, groups), groups, strict=True)
        ),
        "Use them as the upper level of a tree of classes; names are the terms that set a group apart, so edit them.",
        "info",
    )


def confused_groups(tree: Hierarchy, confusion: Confusion) -> list[tuple[Any, ...]]:
    """Return the groups of the cut, taken apart until each is confused with itself; in tree order, some of one class.

    >>> from untwin.structure.hierarchy import Hierarchy
    >>> from untwin.tables.confusion import Confusion
    >>> counts = np.diag([9] * 6) + np.kron(np.diag([1, 0, 0]), [[0, 3], [3, 0]])
    >>> confusion = Confusion(counts, list("abcdef"))
    >>> confused_groups(Hierarchy.from_confusion(confusion), confusion)
    [('a', 'b'), ...('c',)...]
    """
    if not len(tree.merges):
        return [tuple(tree.classes.tolist())]
    order, (start, size) = tree.order(), spans(tree.merges)
    errors, n = _errors(confusion.reordered(order)), len(tree.classes)
    holds = np.ones(2 * n - 1, dtype=np.bool_)
    for node, (left, right) in enumerate(tree.merges.tolist(), start=n):
        ends = int(start[node]), int(size[node]), int(size[left])
        holds[node] = holds[left] and holds[right] and _is_tied(errors, *ends)
    kept, waiting = list[tuple[int, int]](), group_roots(tree.merges, len(tree.cut())).tolist()
    while waiting:
        node = waiting.pop()
        if holds[node]:
            kept.append((int(start[node]), int(start[node] + size[node])))
        else:
            waiting += tree.merges[node - n].tolist()
    return [tuple(order[first:end].tolist()) for first, end in sorted(kept)]


def _errors(confusion: Confusion) -> csr_array:
    """Return the errors between each two classes, both ways."""
    both = csr_array(confusion.counts + confusion.counts.T)
    both.setdiag(0)
    both.eliminate_zeros()
    return both


def _is_tied(errors: csr_array, first: int, n_here: int, n_left: int) -> bool:
    """Tell whether the two parts of a node, classes in tree order, are confused with each other."""
    if n_here > ALWAYS_FEW and n_here >= MOST_OF_ALL * errors.shape[0]:
        return False
    middle, end = first + n_left, first + n_here
    across = _between(errors, first, middle, middle, end)
    leaving = min(
        _between(errors, *part, 0, errors.shape[0]) - _between(errors, *part, *part)
        for part in ((first, middle), (middle, end))
    )
    return across > 0 and across >= TIED * leaving


def _between(errors: csr_array, first: int, end: int, left: int, right: int) -> int:
    here = slice(errors.indptr[first], errors.indptr[end])
    columns = errors.indices[here]
    return int(errors.data[here][(columns >= left) & (columns < right)].sum())


def name_groups(evidence: Evidence, groups: Sequence[Sequence[Any]]) -> list[str]:
    """Return a name for each group: terms that most of its classes have and others lack, else its first classes.

    A class alone keeps its own name.
    """
    table = evidence.contingency
    if table is None or len(groups) < 2:
        return [_listed(group) for group in groups]
    number = {name: place for place, name in enumerate(table.classes.tolist())}
    column = {term: place for place, term in enumerate(table.terms.tolist())} if table.terms is not None else {}
    usual = table.term_documents / max(table.n_documents, 1)
    names = []
    for group in groups:
        if len(group) == 1:
            names.append(str(group[0]))
            continue
        rows = np.array([number[name] for name in group], dtype=np.intp)
        found = table.top_terms(list(group), ASKED * N_TERMS)
        columns = np.array([column[one.term] for one in found], dtype=np.intp)
        shares = table.documents[rows][:, columns].toarray() / np.maximum(table.class_sizes[rows], 1)[:, np.newaxis]
        shared = (shares > usual[columns]).mean(axis=0) >= SHARED_BY
        told = telling_terms([one for one, by_most in zip(found, shared, strict=True) if by_most], N_TERMS)
        names.append(", ".join(str(evidence.spell(one.term)) for one in told) or _listed(group))
    return names


def _listed(group: Sequence[Any]) -> str:
    return ", ".join(map(str, group[:FIRST_CLASSES])) + (", ..." if len(group) > FIRST_CLASSES else "")

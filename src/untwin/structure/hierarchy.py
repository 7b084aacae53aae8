"""`Hierarchy`: the tree of classes that a classifier's confusion reveals.

Two classes are close when the classifier spreads their documents over the same classes in the same way; classes are
merged bottom-up by that closeness (paper 2). Classes are kept sorted by name: whatever order they came in, the tree is
the same, and equal distances are settled by name. See `linkage` for merges, heights and what a cut is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from untwin._progress import report
from untwin._values import class_names, freeze, positions
from untwin.structure.agreement import Agreement, KnownTree, SoftLink, agreement_with, soft_links
from untwin.structure.drawing import dendrogram, newick, prune
from untwin.structure.linkage import (
    build_tree,
    check_distances,
    check_tree,
    group_labels,
    group_roots,
    inflection,
    leaf_order,
    order_children,
    sizes,
    spans,
)
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Indices
    from untwin.tables.contingency import Contingency
    from untwin.tables.distances import Metric

    Groups = int | Literal["inflection"]


class GroupRange(NamedTuple):
    """How many groups the tree suggests, and the middle 90 % of what resampled confusions suggest."""

    n_groups: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hierarchy:
    """A binary tree of classes, with the height at which they merge.

    Make one with `from_confusion`, `from_distances`, `from_centroids` or `from_dict`.

    Attributes
    ----------
    classes : array of shape (C,)
        Class names, sorted: leaf i is class i.
    merges : array of shape (C - 1, 2)
        Row i joins two nodes, the left and the right child, into node C + i (as in SciPy).
    heights : array of shape (C - 1,)
        Distance of each merge; never decreasing.
    linkage, metric : str
        How the tree was grown; `metric` is None unless it came from a confusion.
    confusion : Confusion or None
        What it was grown from, for `group_range` and `also_see`; not part of the tree itself (equality, `to_dict`).

    Examples
    --------
    >>> from untwin.tables.confusion import Confusion
    >>> counts = [[7, 3, 0, 0], [4, 6, 0, 0], [0, 1, 8, 1], [0, 0, 2, 8]]
    >>> tree = Hierarchy.from_confusion(Confusion(counts, ["cat", "lynx", "bus", "tram"]))
    >>> tree
    Hierarchy(4 classes, ward, l1)
    >>> tree.cut(2)
    [('cat', 'lynx'), ('bus', 'tram')]
    >>> print(tree.draw(width=20))
    cat  ──┬────────────────┐
    lynx ──┘                │
    bus  ────────┬──────────┘
    tram ────────┘
           0.6            2.8
    """

    classes: Array
    merges: Indices
    heights: Floats
    linkage: str = "ward"
    metric: Metric | None = None
    confusion: Confusion | None = None

    def __post_init__(self) -> None:
        classes = class_names(self.classes)
        merges = np.array(self.merges, dtype=np.intp).reshape(-1, 2)
        heights = np.array(self.heights, dtype=np.float64)
        check_tree(classes, merges, heights)
        for name, value in (("classes", classes), ("merges", freeze(merges)), ("heights", freeze(heights))):
            object.__setattr__(self, name, value)

    @classmethod
    def from_confusion(cls, confusion: Confusion, *, metric: Metric = "l1", linkage: str = "ward") -> Self:
        """Return the tree over the rows of a confusion, normalised to one.

        `metric` is what `Confusion.distances` knows; `linkage` is "ward" (on the distances as they are), "ward-squared"
        (SciPy's), "single", "complete" or "average".
        """
        tree = cls._grow(confusion.distances(metric), confusion.classes, linkage)
        return replace(tree, metric=metric, confusion=confusion)

    @classmethod
    def from_distances(cls, D: ArrayLike, classes: ArrayLike, *, linkage: str = "ward") -> Self:
        """Return the tree over any symmetric C x C matrix of distances."""
        names = class_names(classes)
        distances = np.asarray(D, dtype=np.float64)
        check_distances(distances, names)
        return cls._grow((distances + distances.T) / 2, names, linkage)

    @classmethod
    def from_centroids(cls, centroids: Any, classes: ArrayLike, *, linkage: str = "ward") -> Self:
        """Return the tree over the cosine distances of class centroids (C x m, dense or sparse): similar words."""
        rows = csr_array(centroids, dtype=np.float64)
        norms = np.sqrt(rows.multiply(rows).sum(axis=1))
        cosines = (rows @ rows.T).toarray() / np.maximum(np.outer(norms, norms), np.finfo(float).tiny)
        distances = np.clip(1.0 - cosines, 0.0, None)
        np.fill_diagonal(distances, 0.0)
        return cls.from_distances(distances, classes, linkage=linkage)

    @classmethod
    def _grow(cls, D: Floats, classes: Array, linkage: str) -> Self:
        by_name = np.argsort(classes)
        named = D[np.ix_(by_name, by_name)]
        merges, heights = build_tree(named, linkage)
        return cls(classes[by_name], order_children(merges, heights, named), heights, linkage)

    # ------------------------------------------------------------------ groups

    def cut(self, groups: Groups = "inflection", *, height: float | None = None) -> list[tuple[Any, ...]]:
        """Return groups of classes in tree order; a cut into more groups splits the groups of a cut into fewer.

        Parameters
        ----------
        groups : int or "inflection"
            How many groups; "inflection" takes the number that the merge distances suggest.
        height : float
            Instead of `groups`: undo all merges above this height.
        """
        if height is not None:
            n_groups = len(self.classes) - int(np.searchsorted(self.heights, height, side="right"))
        else:
            n_groups = self._n_groups(groups)
        ends = np.cumsum(sizes(self.merges)[group_roots(self.merges, n_groups)])
        return [tuple(group.tolist()) for group in np.split(self.order(), ends[:-1])]

    def _n_groups(self, groups: Groups) -> int:
        if groups == "inflection":
            return inflection(self.heights)
        if isinstance(groups, str) or not 1 <= groups <= len(self.classes):
            raise ValueError(f"groups must be 'inflection' or 1 to {len(self.classes)} groups. Got {groups!r} instead.")
        return int(groups)

    def members(self, node: int) -> tuple[Any, ...]:
        """Return the classes below a node, in tree order."""
        start, size = spans(self.merges)
        return tuple(self.order()[start[node] : start[node] + size[node]].tolist())

    def group_range(self, *, n_bootstrap: int = 100, random_state: int = 0) -> GroupRange:
        """Return the range of the suggested number of groups over confusions whose rows are resampled."""
        confusion, metric = self._source(), self.metric or "l1"
        by_name = confusion.reordered(self.classes)
        rng = np.random.default_rng(random_state)
        suggested = []
        for done in range(n_bootstrap):
            distances = _redraw(by_name, rng).distances(metric)
            suggested.append(inflection(build_tree(distances, self.linkage)[1]))
            report("range of groups", done + 1, n_bootstrap)
        low, high = np.quantile(suggested, [0.05, 0.95], method="nearest")
        return GroupRange(inflection(self.heights), int(low), int(high))

    def name_groups(
        self, contingency: Contingency, groups: Groups | Sequence[tuple[Any, ...]] = "inflection", *, n_terms: int = 3
    ) -> list[str]:
        """Return a name for each group: the terms that set its classes apart from all others (else its classes).

        `groups` is what `cut` takes, or groups of classes; `[tree.members(C + i) for i in range(C - 1)]` names every
        inner node.
        """
        wanted = self.cut(groups) if isinstance(groups, str | int) else groups
        found = [[str(best.term) for best in contingency.top_terms(list(group), n_terms)] for group in wanted]
        return [", ".join(terms) or _summary(group) for terms, group in zip(found, wanted, strict=True)]

    # ------------------------------------------------------------------ reading the tree

    def order(self) -> Array:
        """Return the classes in tree order, similar ones near each other: the order to show a confusion in.

        Up to 500 classes the optimal leaf ordering, above that the bigger subtree first.
        """
        return freeze(self.classes[leaf_order(self.merges)])

    def merge_distances(self) -> Floats:
        """Return the height of every merge, in order (paper 2 plots them to choose a number of groups)."""
        return self.heights

    def cophenetic(self) -> Floats:
        """Return C x C: the height at which two classes meet."""
        from scipy.cluster.hierarchy import cophenet
        from scipy.spatial.distance import squareform

        if len(self.classes) < 2:
            return np.zeros((len(self.classes), len(self.classes)))
        size = sizes(self.merges)[len(self.classes) :]
        return squareform(cophenet(np.column_stack([self.merges, self.heights, size])))

    # ------------------------------------------------------------------ against a known tree

    def agreement(self, known: Mapping[Any, object] | Hierarchy) -> Agreement:
        """Return the agreement with a known tree: class -> parent, class -> tuple of ancestors, or a `Hierarchy`."""
        return agreement_with(self._as_known_tree(known), self.merges, self.cophenetic())

    def also_see(self, known: Mapping[Any, object] | Hierarchy, *, top: int = 20) -> list[SoftLink]:
        """Return the pairs that confuse each other most although the known tree keeps them apart (paper 2: soft links).

        Apart means: not the same parent, or not the same group of a known `Hierarchy`.
        """
        confused = self._source().reordered(self.classes).mutual_complexity()
        return soft_links(
            self._as_known_tree(known), confused, self.classes, merges=self.merges, heights=self.heights, top=top
        )

    def _source(self) -> Confusion:
        if self.confusion is None:
            raise ValueError("This needs the confusion behind the tree. Use Hierarchy.from_confusion.")
        return self.confusion

    def _as_known_tree(self, known: Mapping[Any, object] | Hierarchy) -> KnownTree:
        if not isinstance(known, Hierarchy):
            return KnownTree.from_parents(known, self.classes)
        here = positions(self.classes, known.classes)
        labels = group_labels(known.merges, inflection(known.heights))[here]
        paths = [(f"group {label + 1}",) for label in labels.tolist()]
        return KnownTree(paths, lambda: known.cophenetic()[np.ix_(here, here)])

    # ------------------------------------------------------------------ in and out

    def draw(
        self, groups: Groups | None = None, *, names: Sequence[str] = (), width: int = 60, max_rows: int = 100
    ) -> str:
        """Return the tree as text, one line a class; a tree of more than `max_rows` classes shows its groups only.

        Parameters
        ----------
        groups : int or "inflection"
            Put a heading above each of these groups.
        names : sequence of str
            Their names, from `name_groups`.
        width : int
            Columns for the tree itself, beside the names.
        """
        collapse = len(self.classes) > max_rows
        if groups is None and not collapse:
            return dendrogram(list(map(str, self.classes)), self.merges, self.heights, {}, width)
        found = self.cut(min(self._n_groups("inflection" if groups is None else groups), max_rows))
        if names and len(names) != len(found):
            raise ValueError(f"names must have one name for each of {len(found)} groups. Got {len(names)} instead.")
        titles = [f"{i}. {names[i - 1]}" if names else f"group {i}" for i in range(1, len(found) + 1)]
        if collapse:
            labels = [f"{title} ({_summary(group)})" for title, group in zip(titles, found, strict=True)]
            return dendrogram(labels, *prune(self.merges, self.heights, len(found)), {}, width)
        places = np.cumsum([0, *map(len, found)]).tolist()
        headings = dict(zip(places, titles, strict=False))
        return dendrogram(list(map(str, self.classes)), self.merges, self.heights, headings, width)

    def edges(self) -> list[tuple[str, str]]:
        """Return (parent, child) pairs from the root down, for `networkx.DiGraph`: the form of HiClass's tree."""
        n = len(self.classes)
        names = [*map(str, self.classes), *(f"untwin::node{i}" for i in range(n - 1))]
        return [(names[n + i], names[child]) for i in range(n - 2, -1, -1) for child in self.merges[i].tolist()]

    def to_newick(self) -> str:
        """Return the tree in Newick format, names quoted, with branch lengths."""
        return newick(list(map(str, self.classes)), self.merges, self.heights)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and strings, ready for JSON; flat, since a nested chain would exhaust a JSON parser."""
        return {
            "classes": self.classes.tolist(),
            "merges": self.merges.tolist(),
            "heights": self.heights.tolist(),
            "linkage": self.linkage,
            "metric": self.metric,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the tree that `to_dict` wrote."""
        return cls(**content)

    def frame(self) -> pl.DataFrame:
        """Return one row a merge: node, left, right, height, number of classes below."""
        import polars as pl

        n = len(self.classes)
        left, right = self.merges.T
        node = np.arange(n, 2 * n - 1)
        size = sizes(self.merges)[n:]
        return pl.DataFrame({"node": node, "left": left, "right": right, "height": self.heights, "size": size})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.classes, self.merges, self.heights, self.linkage, self.metric, self.confusion)

    def __repr__(self) -> str:
        how = self.linkage if self.metric is None else f"{self.linkage}, {self.metric}"
        return f"Hierarchy({len(self.classes)} classes, {how})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.draw('inflection'))}</pre>"


def _summary(group: tuple[Any, ...]) -> str:
    """Return a short description of a group: its first two classes, and the number of classes if there are more."""
    shown = ", ".join(map(str, group[:2]))
    return shown if len(group) <= 2 else f"{len(group)} classes: {shown}, ..."


def _redraw(confusion: Confusion, rng: np.random.Generator) -> Confusion:
    """Return a confusion whose rows are drawn with replacement from those of `confusion`."""
    counts = confusion.counts
    rows = np.split(counts.data, counts.indptr[1:-1])
    drawn = [rng.multinomial(round(row.sum()), row / row.sum()) if row.size else row for row in rows]
    return Confusion(csr_array((np.concatenate(drawn), counts.indices, counts.indptr), counts.shape), confusion.classes)

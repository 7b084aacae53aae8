"""Explanations of a classified row: its neighbours, the terms shared with them, one class against the next.

Glossary
--------
x           m        the row, in terms
Q'          r x m    term map of a linear space, in which the neighbours are then those of z = Q'x
n_i         m or r   neighbour i, in terms or in the space
c_it        k x m    what term t adds to the cosine of x and n_i: x_t n_it / (|x| |n_i|), through a term map
                     x_t (Q'_t . n_i) / (|z| |n_i|); every row adds up to the cosine exactly
evidence    m        c_it added up over the voting neighbours of the best class, less those of the second-best
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from untwin._compat import as_dense
from untwin._values import html_table

if TYPE_CHECKING:
    import polars as pl

    from untwin._types import Array

    Terms = list[tuple[str, float]]


class Neighbour(NamedTuple):
    """A training row near the explained one: its number or id, label, similarity or distance, vote, and shared terms.

    The label of multi-label data is a tuple of labels; the terms are those that contribute most to the cosine.
    """

    row: Any
    label: Any
    value: float
    vote: float
    terms: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The explanation of a row's class; made by `KNNClassifier.explain`.

    Attributes
    ----------
    prediction : label, or tuple of labels for multi-label data
    shares : tuple of (class, share)
        The classes that got votes, largest share first.
    neighbours : tuple of Neighbour
        The nearest ones first; none where nobody votes and the shares are those of the training rows.
    evidence : tuple of (term, number)
        Terms that support the class with the largest share (positive) and the next one (negative), strongest first:
        contributions summed over the neighbours of each class that vote. With cosine weights all of them, shown or not,
        add up to the difference of the two classes' votes.
    measure : {"similarity", "distance"}
        What `Neighbour.value` is.

    Examples
    --------
    >>> import numpy as np
    >>> from untwin.classify.knn.classifier import KNNClassifier
    >>> X, y = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]), ["pets", "cars", "pets"]
    >>> model = KNNClassifier(n_neighbors=2).fit(X, y)
    >>> print(model.explain(np.array([[2.0, 2.0, 1.0]]), feature_names=["cat", "fast", "wheel"])[0])
    pets 0.56, cars 0.44
      row 0  pets  similarity 0.894: cat +0.596, fast +0.298
      row 1  cars  similarity 0.707: fast +0.471, wheel +0.236
      for pets: cat +0.596
      for cars: wheel -0.236, fast -0.173
    """

    prediction: Any
    shares: tuple[tuple[Any, float], ...]
    neighbours: tuple[Neighbour, ...]
    evidence: tuple[tuple[str, float], ...]
    measure: str = "similarity"

    def frame(self) -> pl.DataFrame:
        """Return a table with one line for each neighbour and shared term."""
        import polars as pl

        lines = [
            (near.row, _join_names(near.label), near.value, near.vote, *term)
            for near in self.neighbours
            for term in near.terms or ((None, 0.0),)
        ]
        named = any(isinstance(near.row, str) for near in self.neighbours)
        types = [pl.String if named else pl.Int64, pl.String, pl.Float64, pl.Float64, pl.String, pl.Float64]
        header = ["row", "label", self.measure, "vote", "term", "contribution"]
        return pl.DataFrame(lines, schema=dict(zip(header, types, strict=True)), orient="row")

    def __repr__(self) -> str:
        return f"Explanation({self.prediction!r}, {len(self.neighbours)} neighbours)"

    def __str__(self) -> str:
        sides = [f"  for {_join_names(name)}: {_list_terms(terms)}" for name, terms in self._sides()]
        return "\n".join([self._heading(), *self.lines(), *sides])

    def lines(self) -> list[str]:
        """Return a line for each neighbour."""
        width = max((len(_join_names(near.label)) for near in self.neighbours), default=0)
        places = max((len(str(near.row)) for near in self.neighbours), default=0)
        return [
            f"  row {near.row:<{places}}  {_join_names(near.label):<{width}}  "
            f"{self.measure} {near.value:.3f}: {_list_terms(near.terms)}"
            for near in self.neighbours
        ]

    def _repr_html_(self) -> str:
        rows = [(near.row, _join_names(near.label), near.value, _list_terms(near.terms)) for near in self.neighbours]
        sides = "".join(
            f"<p>For {escape(_join_names(name))}: {escape(_list_terms(terms))}</p>" for name, terms in self._sides()
        )
        return (
            f"<p>{escape(self._heading())}</p>{html_table(['row', 'label', self.measure, 'shared terms'], rows)}{sides}"
        )

    def _heading(self) -> str:
        shares = ", ".join(f"{_join_names(name)} {share:.2f}" for name, share in self.shares[:3])
        return shares if self.neighbours else f"no neighbours; shares of the training rows: {shares}"

    def _sides(self) -> list[tuple[Any, Terms]]:
        """Return the best and the second-best class, each with its evidence, if there is any."""
        signs = zip(self.shares[:2], (1, -1), strict=False)
        sides = [(name, [term for term in self.evidence if term[1] * sign > 0]) for (name, _), sign in signs]
        return [(name, terms) for name, terms in sides if terms]


class Vote(NamedTuple):
    """The vote on one row, from which an explanation is made; k neighbours, C classes.

    `shares` has C numbers; `rows`, `values`, `weights`, `labels` have k; `members` (k x C) says who is in which class.
    """

    prediction: Any
    classes: list[Any]
    shares: Array
    rows: Array
    values: Array
    weights: Array
    members: Array
    labels: list[Any]
    measure: str


def explain_vote(vote: Vote, contributions: csr_array, names: Any, top: int) -> Explanation:
    """Return the explanation of a vote, given the contributions c_it of all terms; `top` as in `KNNClassifier`."""
    ranked = np.argsort(-vote.shares, kind="stable")
    ranked = ranked[vote.shares[ranked] > 0]
    if not vote.weights.any():
        return Explanation(vote.prediction, _with_names(ranked, vote), (), (), vote.measure)
    total = vote.weights.sum()
    neighbours = tuple(
        Neighbour(
            int(vote.rows[i]),
            vote.labels[i],
            float(vote.values[i]),
            float(vote.weights[i] / total),
            tuple(strongest(contributions[[i]], names, top)),
        )
        for i in range(min(top, len(vote.rows)))
    )
    evidence = _evidence(vote, contributions, ranked)
    sides = [strongest(csr_array(np.clip(sign * evidence, 0, None)), names, top) for sign in (1, -1)]
    signed = [(term, sign * size) for sign, side in zip((1, -1), sides, strict=True) for term, size in side]
    signed.sort(key=lambda item: -abs(item[1]))
    return Explanation(vote.prediction, _with_names(ranked, vote), neighbours, tuple(signed), vote.measure)


def _evidence(vote: Vote, contributions: csr_array, ranked: Array) -> Array:
    """Return the evidence (1 x m) for the best against the second-best class."""
    sign = np.zeros(len(vote.rows))
    for c, side in zip(ranked[:2], (1, -1), strict=False):
        sign += side * vote.members[:, c]
    return np.asarray((sign * (vote.weights > 0))[None] @ contributions)


def _with_names(ranked: Array, vote: Vote) -> tuple[tuple[Any, float], ...]:
    return tuple((vote.classes[c], float(vote.shares[c])) for c in ranked)


def term_contributions(x: Any, neighbours: Any, term_map: Any = None) -> csr_array:
    """Return c_it (k x m) for a row `x` (1 x m) and its neighbours, k x m, or k x r in the space of a `term_map`.

    >>> term_contributions(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])).toarray()
    array([[0.6, 0. ],
           [0. , 0.8]])
    >>> Q = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    >>> term_contributions(csr_array([[1.0, 1.0, 0.0]]), np.array([[2.0, 0.0]]), Q).toarray().round(3)
    array([[0.429, 0.571, 0.   ]])
    """
    if term_map is not None:
        return _mapped_terms(csr_array(x), as_dense(neighbours), np.asarray(term_map))
    ours, theirs = (csr_array(normalize(csr_array(rows, dtype=np.float64))) for rows in (x, neighbours))
    return csr_array(theirs.multiply(ours))


def _mapped_terms(x: csr_array, neighbours: Any, term_map: Any) -> csr_array:
    directions = term_map[:, x.indices]
    length = np.linalg.norm(directions @ x.data) or 1.0
    cells = (normalize(neighbours.astype(np.float64)) @ directions) * (x.data / length)
    k, n_terms = len(cells), x.nnz
    ends = n_terms * np.arange(k + 1)
    return csr_array((cells.ravel(), np.tile(x.indices, k), ends), shape=(k, x.shape[1]))


def strongest(contributions: csr_array, names: Any, top: int) -> Terms:
    """Return the `top` largest contributions (1 x m) by absolute size, ties by term order.

    Without `names` a term is called by its number.

    >>> strongest(csr_array([[0.2, 0.0, -0.5, 0.2]]), ["a", "b", "c", "d"], 2)
    [('c', -0.5), ('a', 0.2)]
    """
    order = np.lexsort((contributions.indices, -abs(contributions.data)))
    kept = order[contributions.data[order] != 0][:top]
    return [
        (f"term {term}" if names is None else str(names[term]), number)
        for term, number in zip(contributions.indices[kept].tolist(), contributions.data[kept].tolist(), strict=True)
    ]


def _list_terms(terms: Any) -> str:
    return ", ".join(f"{name} {number:+.3f}" for name, number in terms) or "no shared term"


def _join_names(label: Any) -> str:
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)

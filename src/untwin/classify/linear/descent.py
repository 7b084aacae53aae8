"""Linear SVMs of sparse rows, one against the rest, all classes at once: dual coordinate descent.

The problem of a class is that of `LinearSVC`: |w|^2 / 2 + C sum of max(0, 1 - t (w x + b))^2, with b as the weight of a
constant 1. liblinear reads all rows once for each class; here a row is read once for a block of classes, whose weights
of a term lie side by side. Most rows are beyond the margin of most classes, so that after a full pass only the classes
that a row touches are visited, with a full pass now and then. (One at the end changed no accuracy.)

Blocks of classes do not share anything that they write, and rows have a fixed order. With a fixed number of passes a
class has the same weights whatever its block is, so that there are as many blocks as threads, or more. Without one a
block ends where all its classes have reached the tolerance, so that blocks have a fixed width. Either way the number of
threads changes no weight.

What has been learnt can be learnt on: the alphas of rows that are still there, with the class that they had, are as
good a place to begin as zeros. They say what the weights are, so that no error adds up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack
from sklearn.utils.parallel import Parallel, delayed

from untwin._compat import number_of_threads
from untwin._compiled import Rows, as_rows
from untwin.classify.linear.kernels import Block, Labelled, pack_weights, restore, squared_lengths, sweep
from untwin.classify.linear.resume import Learnt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Array, Floats32, Indices

WIDTH = 128  # classes of a block: with more, a row is read less often, but a block of weights takes more memory
NEXT_TO_NOTHING = 0.01  # relative to the largest weight of a class: smaller ones are not packed
ROWS_AT_ONCE = 1 << 14  # rows of a part: a pass visits part after part, so that rows could be read from a file
FULL = 4  # every so many passes, from the third on, and in the first, all classes are visited
MOST_PASSES = 1000  # where only the tolerance says when to stop


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows with their classes, and how to learn them.

    `places` says which row of the weights belongs to a term: frequent terms come first, so that what is used together
    lies together. `passes` bounds the passes over the rows; None: until no condition of the optimum is violated by
    more than `tol`. Smaller violations are left alone in any pass.
    """

    given: Labelled
    places: Array
    n_classes: int
    passes: int | None
    tol: float
    seed: int

    @classmethod
    def of(
        cls, X: Any, members: csr_array, *, C: float, passes: int | None, tol: float, seed: int, weights: Any = None
    ) -> Problem:
        """Return the problem of rows `X`, whose classes are the CSR `members`; `weights` (none is 0) multiply C."""
        rows, places = _frequent_first(as_rows(X), X.shape[1])
        slack = np.full(X.shape[0], 0.5 / C) if weights is None else 0.5 / (C * weights)
        own_starts, own = members.indptr.astype(np.int64), members.indices.astype(np.int32)
        given = Labelled(rows, own_starts, own, squared_lengths(rows.starts, rows.values), slack.astype(np.float32))
        return cls(given, places, members.shape[1], passes, tol, seed)

    def only(self, columns: Indices) -> Problem:
        """Return the problem of some columns of the weights."""
        place = np.full(self.n_classes, -1, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return replace(self, given=self.given._replace(own=place[self.given.own]), n_classes=len(columns))

    def learn(
        self,
        *,
        packed: bool = False,
        n_jobs: int | None = None,
        start: csr_array | None = None,
        passes: int | None = None,
    ) -> Learnt:
        """Learn block after block, `n_jobs` at a time; weights are CSR if `packed`.

        `start` are dual variables (k x n) to go on from, with `passes=0` to make weights of them and no more.
        """
        orders, width = PassOrders(len(self.given.slack), self.seed), WIDTH
        if self.passes is not None:  # then a class does not depend on the others of its block
            width = min(WIDTH, ceil(self.n_classes / number_of_threads(n_jobs)))

        def learn_block(first: int) -> Learnt:
            columns = slice(first, min(first + width, self.n_classes))
            block = self._block(columns, None if start is None else start[columns])
            if passes != 0:
                self._improve(block, orders)
            weights = _pack(block.W, self.places) if packed else block.W[self.places]
            return Learnt(weights, block.bias, csr_array(block.alpha.T))

        blocks = (delayed(learn_block)(first) for first in range(0, self.n_classes, width))
        parts = [Learnt(*part) for part in Parallel(n_jobs=n_jobs, prefer="threads")(blocks)]
        weights = [part.weights for part in parts]
        return Learnt(
            csr_array(hstack(weights, format="csr")) if packed else np.hstack(weights),
            np.concatenate([part.biases for part in parts]),
            csr_array(vstack([part.alpha for part in parts], format="csr")),
        )

    def _block(self, columns: slice, start: csr_array | None) -> Block:
        """Return a block of classes at zero, or at the weights of dual variables; in the order of `places`."""
        width, n_rows = columns.stop - columns.start, len(self.given.slack)
        W, bias = np.zeros((len(self.places), width), np.float32), np.zeros(width, np.float32)
        if start is None:
            return Block(columns.start, W, bias, np.zeros((n_rows, width), np.float32))
        block = Block(columns.start, W, bias, start.T.toarray(order="C"))
        restore(self.given, block)
        return block

    def _improve(self, block: Block, orders: PassOrders) -> None:
        """Visit the rows pass after pass."""
        for number, full in self._passes():
            worst = sweep(orders[number], self.given, block, int(full), np.float32(self.tol))
            if self.passes is None and full and worst <= self.tol:
                break

    def _passes(self) -> Iterator[tuple[int, bool]]:
        """Yield the number of each pass, and whether it visits all classes; only such passes see the end."""
        n_passes = MOST_PASSES if self.passes is None else self.passes
        yield from ((number, number == 0 or number % FULL == 2) for number in range(n_passes))


def _pack(W: Floats32, places: Array) -> csr_array:
    """Return the weights of some classes as CSR, term by term, without those next to nothing."""
    least = NEXT_TO_NOTHING * np.maximum(W.max(axis=0, initial=0.0), -W.min(axis=0, initial=0.0))
    starts, classes, values = pack_weights(W, places, least)
    return csr_array((values, classes, starts), shape=(len(places), W.shape[1]))


def _frequent_first(rows: Rows, n_terms: int) -> tuple[Rows, Array]:
    """Return the rows with their terms numbered by frequency, and the new number of each term."""
    order = np.argsort(-np.bincount(rows.terms, minlength=n_terms), kind="stable")
    places = np.empty(n_terms, dtype=np.int32)
    places[order] = np.arange(n_terms, dtype=np.int32)
    return rows._replace(terms=places[rows.terms]), places


class PassOrders:
    """The order in which each pass visits the rows, from a seed: shuffled parts of shuffled rows."""

    def __init__(self, n_rows: int, seed: int) -> None:
        self._seed = seed
        self._rows = np.random.default_rng(seed).permutation(n_rows).astype(np.int32)

    def __getitem__(self, number: int) -> Array:
        """Return the rows in the order of a pass."""
        rng = np.random.default_rng((self._seed, number))
        parts = [self._rows[start : start + ROWS_AT_ONCE] for start in range(0, len(self._rows), ROWS_AT_ONCE)]
        return np.concatenate([rng.permutation(parts[part]) for part in rng.permutation(len(parts))])

"""`LearntMatrix`: the documents of a space and their decomposition, as one immutable value.

Glossary
--------
X        n x m    documents, in order of arrival
Y        n x C    their membership in classes, which are in order of arrival too
F        C x r    factor of the plan's kernel
A        [X | Y F], and rows of background knowledge somewhere among them: N rows
U, S, V           A ~ U diag(S) V', with some triples to spare
waiting           documents added since the last update: projected into the space, which they have not changed yet
id                a document's number in order of arrival; it never changes

A few documents are folded in at once, which costs nothing but their projection; when enough of them wait, an exact
update merges them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, issparse, vstack
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from untwin.linalg.blocks import Blocks, product, squared_length
from untwin.linalg.drift import DriftRule
from untwin.linalg.svd import TruncatedSVD
from untwin.linalg.update import with_change, with_columns, with_rows, without_columns, without_rows
from untwin.represent.incremental import places_of, stack_matrices, widen_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array, Flags, Indices

ROWS_AT_ONCE = 256  # of an exact update; its core grows with them
WORTH_MERGING = 32  # waiting documents
SPARE = 10  # triples that updates keep beyond those of the space, at least
SPARE_SHARE = 0.5  # of the triples of the space: so many more are found when it is decomposed anew


@dataclass(frozen=True, slots=True, eq=False)
class LearntMatrix:
    """Documents, classes and decomposition of a space; every change gives a new value."""

    X: Any
    Y: csr_array
    F: csr_array
    classes: Array
    background: csr_array
    svd: TruncatedSVD
    is_document: Flags  # N: rows of A that are documents
    ids: Indices  # of the documents, those that wait included
    n_arrived: int
    k: int = 0  # triples that make the space, if there are so many
    drift: DriftRule | None = None
    n_updates: int = 0  # since the last full decomposition
    waiting: tuple[tuple[Any, csr_array], ...] = ()

    @classmethod
    def at_first(cls, X: Any, Y: csr_array, F: csr_array, classes: Array, background: csr_array) -> LearntMatrix:
        """Return documents without a decomposition."""
        nothing = TruncatedSVD(*[np.empty((0, 0))] * 3)
        ids = np.arange(X.shape[0])
        return cls(X, Y, F.astype(X.dtype), classes, background, nothing, ids >= 0, ids, len(ids))

    def decompose_anew(self, svd: TruncatedSVD, k: int) -> LearntMatrix:
        """Return the value with a full decomposition of `blocks()`, k triples of it the space; no document may wait."""
        n = self.X.shape[0]
        is_document = np.arange(n + self.background.shape[0]) < n
        anew = replace(self, svd=svd, is_document=is_document, k=k, n_updates=0)
        after = anew.discarded_share()
        drift = self.drift.after_restart(self.discarded_share(), after) if self.drift else DriftRule(after)
        return replace(anew, drift=drift)

    # ------------------------------------------------------------------ reading

    def blocks(self) -> Blocks:
        """Return A, with background rows below the documents."""
        if not self.background.shape[0]:
            return Blocks(self.X, self.Y, self.F)
        unlabelled = csr_array((self.background.shape[0], self.Y.shape[1]))
        return Blocks(stack_matrices([self.X, self.background]), stack_matrices([self.Y, unlabelled]), self.F)

    def leading(self) -> TruncatedSVD:
        """Return the triples that make the space."""
        U, S, V = self.svd
        return TruncatedSVD(U[:, : self.k], S[: self.k], V[:, : self.k])

    def energy(self) -> float:
        """Return the sum of the squares of all numbers in A."""
        sprinkled = float((self.Y.T @ self.Y).multiply(self.F @ self.F.T).sum())
        return squared_length(self.X) + squared_length(self.background) + sprinkled

    def discarded_share(self) -> float:
        """Return the share of the energy of A that the space does not hold."""
        return 1 - float(np.square(self.svd.S[: self.k], dtype=np.float64).sum()) / self.energy()

    @property
    def has_drifted(self) -> bool:
        """Whether the space has drifted so far that it must be decomposed again."""
        return self.drift is not None and self.drift.is_exceeded(self.discarded_share())

    @property
    def n_waiting(self) -> int:
        """Number of waiting documents."""
        return len(self.ids) - int(self.X.shape[0])

    def projected(self, ids: Any, Q: Array) -> Array:
        """Return Q'x of documents, all or those with these ids."""
        return self._map_documents(ids, lambda places: product(self.X[places], Q), lambda X, _: product(X, Q))

    def reconstructed(self, ids: Any, turn: Array) -> Array:
        """Return the reconstructions of documents, all or those with these ids.

        D = U S V_X' = Z Q', so that Z = U S turn with turn = V_X'Q. A document that waits is folded in: what V sees of
        it stands for its row of U S.
        """
        (U, S, V), rows = self.leading(), np.flatnonzero(self.is_document)
        return self._map_documents(
            ids, lambda places: (U[rows[places]] * S) @ turn, lambda X, Y: product(_join(X, Y, self.F), V) @ turn
        )

    def _map_documents(
        self, ids: Any, merged: Callable[[Any], Array], waiting: Callable[[Any, csr_array], Array]
    ) -> Array:
        """Return coordinates: of merged documents by their places, of those that wait by their rows."""
        n = self.X.shape[0]
        if ids is None and not self.waiting:
            return merged(slice(None))
        places = np.arange(len(self.ids)) if ids is None else places_of(ids, self.ids)
        late = places >= n
        if not late.any():
            return merged(places)
        found = waiting(*(stack_matrices(list(parts)) for parts in zip(*self.waiting, strict=True)))
        Z = np.empty((len(places), found.shape[1]), dtype=found.dtype)
        Z[~late], Z[late] = merged(places[~late]), found[places[late] - n]
        return Z

    def all_documents(self) -> Any:
        """Return the documents, those that wait included."""
        return stack_matrices([self.X, *(X for X, _ in self.waiting)])

    def all_memberships(self) -> csr_array:
        """Return their membership in classes, those that wait included."""
        return csr_array(stack_matrices([self.Y, *(Y for _, Y in self.waiting)]))

    # ------------------------------------------------------------------ growing

    def grow(self, n_terms: int, classes: Array, F: csr_array) -> LearntMatrix:
        """Return the value with more terms, more classes (old ones first), and the factor F of a plan for all."""
        U, S, V = self.svd
        F = F.astype(V.dtype)
        terms, sprinkled = np.split(V, [self.X.shape[1]])
        terms = np.pad(terms, ((0, n_terms - len(terms)), (0, 0)))
        grown = replace(
            self,
            X=widen_matrix(self.X, n_terms),
            Y=widen_matrix(self.Y, len(classes)),
            classes=classes,
            background=widen_matrix(self.background, n_terms),
            waiting=tuple((widen_matrix(X, n_terms), widen_matrix(Y, len(classes))) for X, Y in self.waiting),
        )
        if _goes_on(self.F, F):
            sprinkled = np.pad(sprinkled, ((0, F.shape[1] - len(sprinkled)), (0, 0)))
            return replace(grown, F=F, svd=TruncatedSVD(U, S, np.concatenate([terms, sprinkled])))
        return replace(grown, svd=TruncatedSVD(U, S, np.concatenate([terms, sprinkled])))._sprinkle_anew(F)

    def _sprinkle_anew(self, F: csr_array) -> LearntMatrix:
        """Return the value with new sprinkled columns: the old ones are removed, Y F is added."""
        n_terms = self.X.shape[1]
        plain = without_columns(self.svd, np.arange(n_terms, len(self.svd.V)))
        sprinkled = csr_array(self._place(self.Y) @ F, dtype=F.dtype)
        return replace(self, F=F, svd=with_columns(plain, sprinkled, self._room).decomposition)

    def folded(self, X: Any, Y: csr_array) -> LearntMatrix:
        """Return the value with more waiting documents."""
        sparse: bool = issparse(self.X)
        X = csr_array(X, dtype=self.X.dtype)
        X = X if sparse else X.toarray()
        ids = np.arange(self.n_arrived, self.n_arrived + X.shape[0])
        return replace(
            self,
            waiting=(*self.waiting, (X, Y)),
            ids=np.concatenate([self.ids, ids]),
            n_arrived=self.n_arrived + X.shape[0],
        )

    def merge(self) -> LearntMatrix:
        """Return the value after exact updates with all waiting documents."""
        if not self.waiting:
            return self
        X, Y, svd = self.all_documents(), self.all_memberships(), self.svd
        start = self.X.shape[0]
        for first in range(start, X.shape[0], ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            svd = with_rows(svd, _join(X[rows], Y[rows], self.F), self._room).decomposition
        is_document = np.concatenate([self.is_document, np.ones(X.shape[0] - start, dtype=bool)])
        return replace(self, X=X, Y=Y, svd=svd, is_document=is_document, n_updates=self.n_updates + 1, waiting=())

    def without(self, ids: Any) -> LearntMatrix:
        """Return the value without some documents; no document may be waiting."""
        places = places_of(ids, self.ids)
        rows = np.flatnonzero(self.is_document)[places]
        kept = np.delete(np.arange(self.X.shape[0]), places)
        if not len(kept):
            raise ValueError("ids must leave at least one document. Got all of them instead.")
        return replace(
            self,
            X=self.X[kept],
            Y=self.Y[kept],
            svd=without_rows(self.svd, rows),
            is_document=np.delete(self.is_document, rows),
            ids=self.ids[kept],
            n_updates=self.n_updates + 1,
        )

    def relabel(self, ids: Any, Y: csr_array) -> LearntMatrix:
        """Return the value with another membership Y (one row an id) of some documents; no document may be waiting.

        The change of A is as many rows or as many sprinkled columns, whichever are fewer.
        """
        places = places_of(ids, self.ids)
        t, (n, m), r = len(places), self.X.shape, self.F.shape[1]
        chosen = csr_array((np.ones(t), (places, np.arange(t))), shape=(n, t))
        change = csr_array(Y - self.Y[places])
        relabelled = replace(self, Y=csr_array(self.Y + chosen @ change), n_updates=self.n_updates + 1)
        if not r:
            return relabelled
        P, R = (chosen, (change @ self.F).T) if t <= r else (chosen @ change @ self.F, eye_array(r))
        R = vstack([csr_array((m, R.shape[1])), R], format="csr")
        dtype = self.svd.V.dtype
        update = with_change(self.svd, self._place(csr_array(P)).astype(dtype), R.astype(dtype), self._room)
        return replace(relabelled, svd=update.decomposition)

    @property
    def _room(self) -> int:
        return max(self.k + SPARE, len(self.svd.S))

    def _place(self, rows: csr_array) -> csr_array:
        """Return rows about the documents as rows of A: background rows are zeros."""
        counts = np.zeros(len(self.is_document), dtype=rows.indptr.dtype)
        counts[self.is_document] = np.diff(rows.indptr)
        return csr_array(
            (rows.data, rows.indices, np.concatenate([[0], np.cumsum(counts)])), shape=(len(counts), rows.shape[1])
        )


def spare(k: int) -> int:
    """Return how many triples to find beyond the k of a space that learns on.

    A direction that is not among the first k today may be tomorrow, and updates know only those that were kept: the
    more there are to spare, the less a space drifts.
    """
    return max(SPARE, int(SPARE_SHARE * k))


def one_thread() -> threadpool_limits:
    """Limit BLAS to one thread, which is faster for thin products and small decompositions."""
    return threadpool_limits(1, user_api="blas")


def background_rows(background: Any, X: Any) -> csr_array:
    """Return rows of background knowledge (or None, which is no row) as rows for the terms of X."""
    if background is None:
        return csr_array((0, X.shape[1]), dtype=X.dtype)
    rows = check_array(background, accept_sparse="csr", dtype=X.dtype, input_name="background")
    if rows.shape[1] != X.shape[1]:
        raise ValueError(f"background must have the {X.shape[1]} columns of X. Got {rows.shape[1]} instead.")
    return csr_array(rows)


def _join(X: Any, Y: csr_array, F: csr_array) -> Any:
    """Return rows [x | y F]."""
    sparse: bool = issparse(X)
    sprinkled = (Y @ F).astype(X.dtype)
    return csr_array(hstack([X, sprinkled])) if sparse else np.hstack([X, sprinkled.toarray()])


def _goes_on(old: csr_array, new: csr_array) -> bool:
    """Tell whether a factor gives the old classes the old columns and nothing else."""
    n_classes, r = old.shape
    if new.shape[1] < r or new[:n_classes, r:].nnz:
        return False
    return bool((new[:n_classes, :r] - old).count_nonzero() == 0)

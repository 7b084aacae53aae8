"""Exact nearest rows, sparse or dense, in blocks on all cores.

Glossary
--------
N         n x m     training rows
Q         b x m     a block of query rows
scores    b x n     ranks N for each row of Q, larger is nearer: q.n / |q||n| (cosine) or q.n - |n|^2 / 2 (Euclidean)
slack     b         how far two scores can be out of order by rounding
values    b x k     similarity, or minus distance, of the chosen pairs

Two passes. The first ranks by matrix products, which are fast but may round equal rows differently, according to
where they stand in a block. It keeps every row that could be among the nearest k. The second measures these few pairs
one by one in double precision. So neither block size nor threads can change an answer, and rows at the same distance
come in row order.

A product of sparse rows spends nearly all of its time on a few hundred terms that occur nearly everywhere. These
columns are multiplied as a dense matrix, all others as a sparse one. A column is dense when more than one row in
sixteen has the term, so the dense part holds at most sixteen times as many numbers as N has.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_limits

from untwin import _progress
from untwin._compat import matrix_product
from untwin._values import freeze_csr
from untwin.linalg.blocks import slices

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Indices

COMMON = 1 / 16  # share of the rows above which a term's column is dense
BLOCK_CELLS = 1 << 24  # scores at a time and thread ...
BLOCK_ROWS = (32, 256)  # ... but no fewer and no more query rows than these
PAIR_CELLS = 1 << 22  # numbers of measured pairs at a time and thread
GROUPS = 1024  # groups of training rows whose best scores bound the k-th best one
NEAR_TIE = 1e-2  # single precision serves while its slack stays below this share of the variance
DECIMALS = 12  # of a similarity: rows equal but for their length would differ in the last digits, and not tie


@dataclass(frozen=True, slots=True)
class Searchable:
    """Training rows prepared for `nearest`; made by `make_searchable`.

    `rows` is N and `norms` its |n|, in double precision. For the scores N is cut in two: `dense` (n x c) holds the
    columns `common`, `sparse` (m - c rows, n columns) the columns `rare`; dense rows have no sparse part. `n_terms` is
    the most products that one score adds up.
    """

    metric: str
    rows: Any
    norms: Array
    dense: Array
    common: Indices | None
    sparse: csr_array | None
    rare: Indices | None
    n_terms: int

    def prepare(self, X: Any) -> Any:
        """Return query rows in the form of the training rows."""
        if self.sparse is not None:
            return freeze_csr(X, dtype=self.rows.dtype)
        return np.ascontiguousarray(X.toarray() if isinstance(X, csr_array) else X, dtype=self.rows.dtype)

    def scores(self, Q: Any, norms: Array) -> Array:
        """Return the scores of all training rows for a block of query rows with these norms."""
        Q = (_scale_rows(Q, norms) if self.metric == "cosine" else Q).astype(self.dense.dtype, copy=False)
        if self.sparse is None:
            found: Array = matrix_product(Q, self.dense.T)
        else:
            found = Q[:, self.common].toarray() @ self.dense.T + Q[:, self.rare] @ self.sparse
        if self.metric == "euclidean":
            found -= (self.norms**2 / 2).astype(found.dtype)
        return found

    def slack(self, norms: Array) -> Array:
        """Return how far two scores of a query row can be out of order by rounding, given the norms of such rows."""
        share = self.n_terms * np.finfo(self.dense.dtype).eps + 8 * np.finfo(self.rows.dtype).eps
        if self.metric == "cosine":
            return np.full(len(norms), share + 2 * 0.1**DECIMALS)
        return np.asarray(share * (norms + self.norms.max()) ** 2)

    def measure(self, Q: Any, norms: Array, rows: Indices, columns: Indices) -> Array:
        """Return similarity or minus distance of pairs (row of Q, training row), each computed on its own."""
        parts = slices(len(rows), PAIR_CELLS // max(1, self.n_terms))
        compared = _products if self.metric == "cosine" else _distances
        values = np.concatenate([compared(Q[rows[part]], self.rows[columns[part]]) for part in parts])
        if self.metric == "cosine":
            values = (values * _inverse(norms)[rows] * _inverse(self.norms)[columns]).round(DECIMALS)
        else:
            values = -values
        return values.astype(self.rows.dtype)


def make_searchable(X: Any, metric: str) -> Searchable:
    """Return training rows prepared for `nearest`; `metric` is "cosine" or "euclidean"."""
    rows = freeze_csr(X) if issparse(X) else np.ascontiguousarray(X)
    norms = _norms(rows)
    n_terms = int(np.diff(rows.indptr).max(initial=0)) if isinstance(rows, csr_array) else rows.shape[1]
    ranked = (_unit_rows if metric == "cosine" else _distance_rows)(rows, norms, n_terms)
    if not isinstance(ranked, csr_array):
        return Searchable(metric, rows, norms, ranked, None, None, None, n_terms)
    often = np.bincount(ranked.indices, minlength=ranked.shape[1]) > COMMON * len(norms)
    common, rare = np.flatnonzero(often), np.flatnonzero(~often)
    dense, sparse = ranked[:, common].toarray(), ranked[:, rare].T.tocsr()
    return Searchable(metric, rows, norms, dense, common, sparse, rare, n_terms)


def nearest(among: Searchable, X: Any, k: int, n_jobs: int | None = None) -> tuple[Array, Indices]:
    """Return similarity (or distance) and number of the `k` nearest training rows of each row of `X`, nearest first.

    Equally near rows come in row order. A row of zeros has similarity 0 to every row, hence the first `k`.

    >>> N = make_searchable(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), "cosine")
    >>> similarities, rows = nearest(N, np.array([[3.0, 0.0]]), 2)
    >>> similarities.tolist(), rows.tolist()
    ([[1.0, 1.0]], [[0, 2]])
    """
    Q = among.prepare(X)
    norms = _norms(Q)
    values = np.zeros((Q.shape[0], k), dtype=among.rows.dtype)
    rows = np.tile(np.arange(k), (Q.shape[0], 1))
    asked = np.flatnonzero(norms) if among.metric == "cosine" else np.arange(Q.shape[0])
    size = int(np.clip(BLOCK_CELLS // among.rows.shape[0], *BLOCK_ROWS))
    blocks = [asked[part] for part in slices(len(asked), size)]
    unsigned = among.metric == "cosine" and _has_no_negative(Q) and _has_no_negative(among.rows)
    work = (delayed(_nearest_of_block)(among, Q[block], norms[block], k, unsigned=unsigned) for block in blocks)
    # Each thread multiplies on its own core, so BLAS must not start threads of its own; a single block may have them,
    # and the few rows of a single block should not wait for a search of the libraries that could.
    several = len(blocks) > 1
    with threadpool_limits(limits=1, user_api="blas") if several else nullcontext():
        n_threads = (-1 if n_jobs is None else n_jobs) if several else 1
        threads = Parallel(n_jobs=n_threads, require="sharedmem", return_as="generator")
        for block, found in zip(blocks, _progress.reporting("neighbours", threads(work), len(blocks)), strict=True):
            values[block], rows[block] = found
    return (values if among.metric == "cosine" else -values), rows


def _nearest_of_block(among: Searchable, Q: Any, norms: Array, k: int, *, unsigned: bool) -> tuple[Array, Indices]:
    scores = among.scores(Q, norms)
    rows, columns = _candidates(scores, k, among.slack(norms))
    if unsigned:
        needed = _first_ties(rows, scores[rows, columns] == 0, k)
        rows, columns = rows[needed], columns[needed]
    values = among.measure(Q, norms, rows, columns)
    order = np.lexsort((columns, -values, rows))
    best = order[np.searchsorted(rows, np.arange(len(norms)))[:, None] + np.arange(k)]
    return values[best], columns[best]


def _candidates(scores: Array, k: int, slack: Array) -> tuple[Indices, Indices]:
    """Return row and column of every score that rounding allows to be among the k best of its row, row by row.

    Of the best scores of k or more groups of columns, the k-th is no better than the k-th best score of all.
    """
    n = scores.shape[1]
    size = max(1, n // max(GROUPS, 8 * k))
    n_groups = n // size
    peaks = scores[:, : size * n_groups].reshape(len(scores), size, n_groups).max(axis=1)
    least = np.partition(peaks, n_groups - k, axis=1)[:, n_groups - k] - slack.astype(scores.dtype)
    return np.divmod(np.flatnonzero(scores >= least[:, None]), n)


def _first_ties(rows: Indices, tied: Flags, k: int) -> Flags:
    """Tell which candidates are needed when the `tied` ones are equal for certain: of these the first k of each row.

    Counts that share no term have similarity exactly 0, and a short text shares none with nearly all others.
    """
    so_far = np.cumsum(tied)
    first = np.searchsorted(rows, rows)
    return np.asarray(~tied | (so_far - so_far[first] + tied[first] <= k))


def _products(a: Any, b: Any) -> Array:
    return np.asarray((a.astype(np.float64) * b.astype(np.float64)).sum(axis=1))


def _distances(a: Any, b: Any) -> Array:
    apart = a.astype(np.float64) - b.astype(np.float64)
    return np.asarray(np.sqrt((apart * apart).sum(axis=1)))


def _norms(rows: Any) -> Array:
    """Return |row| in double precision, also of rows in single precision."""
    if isinstance(rows, csr_array):
        return np.asarray(row_norms(rows.astype(np.float64)))
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))


def _inverse(norms: Array) -> Array:
    """Return 1 / |row|, and 0 for a row of zeros."""
    return np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)


def _unit_rows(rows: Any, norms: Array, n_terms: int) -> Any:
    """Return the directions of rows, in single precision: there only very long rows make too many pairs near ties."""
    single = (n_terms + 8) * np.finfo(np.float32).eps <= NEAR_TIE
    return _scale_rows(rows, norms).astype(np.float32 if single else np.float64, copy=False)


def _scale_rows(rows: Any, norms: Array) -> Any:
    """Return rows of length one; rows of zeros stay."""
    factors = _inverse(norms)
    if not isinstance(rows, csr_array):
        return rows * factors[:, None]
    return csr_array((rows.data * np.repeat(factors, np.diff(rows.indptr)), rows.indices, rows.indptr), rows.shape)


def _distance_rows(rows: Any, norms: Array, n_terms: int) -> Any:
    """Return rows in the precision of Euclidean scores: double where single would make too many pairs near ties.

    That happens when all rows lie far from the origin, or one very far out.
    """
    variance = (norms**2).mean() - (np.asarray(rows.mean(axis=0)) ** 2).sum()
    slack = 4 * (n_terms + 8) * np.finfo(rows.dtype).eps * (norms**2).max()
    return rows if slack <= NEAR_TIE * variance else rows.astype(np.float64)


def _has_no_negative(rows: Any) -> bool:
    return bool((rows.data if isinstance(rows, csr_array) else rows).min(initial=0) >= 0)

"""Choose folds: which rows are held out together.

    unit       n    rows of one unit share a fold: identical rows, rows of one group, and what these two chain together
    codes      n    class of each row, 0 .. C-1
    parts      n    the fold whose model is *not* trained on the row; -1: every model is
    folds      n    the fold in which the row is predicted; -1: in none

`folds` and `parts` differ for rows of a class that lies in one fold as a whole: a model that is not trained on such a
row is not trained on its class either, so the row is not predicted.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from untwin._values import freeze_csr

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Indices

N_FOLDS = 5  # where nothing is said
RUN = 20  # neighbouring rows of a class that are held out together, at most


class NothingHeldOutError(ValueError):
    """Raised if no row can be held out so that its model still knows the row's class and another one."""

    def __init__(self) -> None:
        super().__init__(
            "y must have a class with rows in two folds, and another class beside it in training. Got none instead; "
            "give each class two distinct rows or groups."
        )


def sharing_units(X: Any, groups: Any = None) -> Indices:
    """Return for each row the number of its unit; rows of one unit must share a fold.

    Units are numbered as they first appear, so that the same rows get the same folds whether they come as texts, as
    a frame or as any kind of matrix.

    >>> sharing_units(["b", "a", "b", "c"], groups=["x", "y", "z", "y"]).tolist()
    [0, 1, 0, 1]
    """
    unit = identical_rows(X)
    if groups is not None:
        _, group = np.unique(np.asarray(groups), return_inverse=True)
        n_same, n_nodes = unit.max() + 1, unit.max() + group.max() + 2
        links = coo_array((np.ones(len(unit)), (unit, n_same + group)), shape=(n_nodes, n_nodes))
        unit = connected_components(links, directed=False)[1][unit].astype(np.intp)
    _, first, number = np.unique(unit, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def identical_rows(X: Any) -> Indices:
    """Return a number for each row of a matrix, a frame or a list of texts; exactly the identical rows share one."""
    if issparse(X):
        return _identical_sparse(X)
    if hasattr(X, "columns"):
        columns = [column.to_numpy() for column in nw.from_native(X, eager_only=True).iter_columns()]
        return _number_rows(np.column_stack([_code_values(_flatten_cells(column)) for column in columns]))
    if isinstance(X, list) and all(isinstance(row, str) for row in X):
        return np.unique(np.asarray(X, dtype=object), return_inverse=True)[1]
    rows = np.asarray(X, dtype=object if isinstance(X, list) and isinstance(X[0], str) else None)
    rows = rows.reshape(len(rows), -1)
    if rows.dtype.kind in "biufc":
        return _number_rows(rows + 0)  # adding 0 turns -0.0 into 0.0
    return _number_rows(np.column_stack([_code_values(column) for column in rows.T]))


def _flatten_cells(column: Array) -> Array:
    """Return a column with one comparable value a row: cells that are lists or vectors become bytes."""
    if column.ndim == 1 and not (column.dtype.kind == "O" and len(column) and np.ndim(column[0])):
        return column
    return np.array([np.asarray(cell).tobytes() for cell in column], dtype=object)


def _code_values(column: Array) -> Array:
    """Return a number for each distinct value; all missing values get the same, also among objects of several types."""
    if column.dtype.kind != "O":
        return np.unique(column, return_inverse=True)[1]
    from sklearn.preprocessing import OrdinalEncoder  # rarely needed, slow to load

    encoder = OrdinalEncoder(encoded_missing_value=-1).set_output(transform="default")
    return np.asarray(encoder.fit_transform(column.reshape(-1, 1)).ravel())


def _identical_sparse(X: Any) -> Indices:
    """Return a number for each distinct row of a sparse matrix.

    Rows with the same number of non-zeros are compared as one dense block of column numbers and values.
    """
    rows = freeze_csr(X)
    lengths, found = np.diff(rows.indptr), np.empty(rows.shape[0], dtype=np.intp)
    next_number = 0
    for length in np.unique(lengths):
        members = np.flatnonzero(lengths == length)
        cells = rows.indptr[members, None] + np.arange(length)
        numbers = _number_rows(np.hstack([rows.indices[cells], rows.data[cells]]))
        found[members] = numbers + next_number
        next_number += numbers.max() + 1
    return found


def _number_rows(rows: Array) -> Indices:
    """Return a number for each distinct row of a dense matrix, comparing bytes."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.intp)
    as_bytes = np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))
    return np.unique(np.ascontiguousarray(rows).view(as_bytes).ravel(), return_inverse=True)[1]


def deal_folds(codes: Indices, unit: Indices, n_folds: int, random_state: Any) -> Indices:
    """Return the fold of each row: units are dealt to the folds in turn, class by class, like cards.

    A class starts at the fold after the last one used, so that each class and all rows together are spread evenly, and
    a class with few units has them in different folds. A unit of several classes counts for its rarest class; large
    units are dealt first, units of equal size in random order.
    """
    stratum, size = _rarest_class(codes, unit), np.bincount(unit)
    shuffled = check_random_state(random_state).permutation(len(size))
    fold_of_unit = np.empty(len(size), dtype=np.intp)
    fold_of_unit[np.lexsort((shuffled, -size, stratum))] = np.arange(len(size)) % n_folds
    return fold_of_unit[unit]


def deal_folds_in_runs(codes: Indices, unit: Indices, n_folds: int) -> Indices:
    """Return folds as `deal_folds` does, but with neighbouring rows of a class in one fold, up to `RUN` at a time.

    Neighbouring rows of a file often have one source: variants by one writer, posts of one thread, samples of one day.
    Dealt one by one, each row is held out while similar rows are trained on, and every score is too high. The runs are
    short compared with a large class, so that a file sorted by something else is held out evenly.

    >>> deal_folds_in_runs(np.array([0, 0, 0, 0, 1, 1]), np.arange(6), 2).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    stratum, size = _rarest_class(codes, unit), np.bincount(unit)
    order = np.lexsort((-size, stratum))
    alike = np.column_stack([stratum, size])[order]  # within them, units stand as they first appear
    _, first, kind, counts = np.unique(alike, axis=0, return_index=True, return_inverse=True, return_counts=True)
    n_rounds = -(-counts // (RUN * n_folds))
    place = np.arange(len(order)) - first[kind]
    in_round = place * n_rounds[kind] // counts[kind]
    dealt = np.arange(len(order)) % n_folds
    fold_of_unit = np.empty(len(order), dtype=np.intp)
    fold_of_unit[order] = dealt[np.lexsort((dealt, in_round, -alike[:, 1], alike[:, 0]))]
    return fold_of_unit[unit]


def _rarest_class(codes: Indices, unit: Indices) -> Indices:
    """Return the rarest class among the rows of each unit."""
    pairs = np.unique(np.column_stack([unit, codes]), axis=0)
    units_of_class = np.bincount(pairs[:, 1])
    rarest_first = pairs[np.lexsort((units_of_class[pairs[:, 1]], pairs[:, 0]))]
    _, first = np.unique(rarest_first[:, 0], return_index=True)
    return np.asarray(rarest_first[first, 1])


def given_folds(cv: Any, X: Any, y: Any, groups: Any) -> Indices:
    """Return the fold numbers (0, 1, ...; -1 for rows never held out) of a `cv` that is not just a number of folds.

    >>> splits = [([2, 3, 0], [1]), ([0, 1, 2], [3])]
    >>> given_folds(splits, np.eye(4), [0, 1, 0, 1], None).tolist()
    [-1, 0, -1, 1]
    """
    n, folds = len(y), np.full(len(y), -1, dtype=np.intp)
    for number, (train, test) in enumerate(_splitter(cv).split(X, y, groups)):
        all_rows = np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        if not all_rows or (folds[test] != -1).any():
            raise ValueError(
                "cv must hold each row out at most once and train on all others. Got something else in split "
                f"{number} of {type(cv).__name__} instead; use a K-fold splitter or one fold number for each row."
            )
        folds[test] = number
    return folds


def _splitter(cv: Any) -> Any:
    """Return `cv` if it is a splitter, else a splitter for its fold numbers or pairs of training and test rows."""
    from sklearn.model_selection import PredefinedSplit, check_cv  # slow to load, nothing for a model that only answers

    if hasattr(cv, "split"):
        return cv
    given = cv.tolist() if isinstance(cv, np.ndarray) else list(cv)  # it may be a generator
    return check_cv(given) if given and np.iterable(given[0]) else PredefinedSplit(np.asarray(given))


def choose_folds(
    X: Any, codes: Indices, cv: Any, *, groups: Any = None, random_state: Any = 0, in_runs: bool = False
) -> tuple[Indices, Indices, Flags]:
    """Return `folds`, `parts` and the small classes (see `exclude_small_classes`) for `cv` as `out_of_fold` takes it.

    `in_runs`: folds are not shuffled but hold neighbouring rows out together (`deal_folds_in_runs`).

    >>> folds, parts, small = choose_folds(np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 2]), 2)
    >>> np.bincount(folds + 1).tolist(), small.tolist()
    ([1, 3, 2], [False, False, True])
    """
    unit = sharing_units(X, groups)
    cv = N_FOLDS if cv is None else cv
    if not isinstance(cv, Integral):
        return exclude_small_classes(codes, unit, given_folds(cv, X, codes, groups))
    if cv < 2:
        raise ValueError(f"cv must be at least 2 folds. Got {cv} instead.")
    n_folds = int(cv)
    parts = deal_folds_in_runs(codes, unit, n_folds) if in_runs else deal_folds(codes, unit, n_folds, random_state)
    return exclude_small_classes(codes, unit, parts)


def group_folds(X: Any, y: Any, groups: Any, n_folds: int = N_FOLDS) -> Indices:
    """Return the fold of each row, as `cv` takes it: rows of one group share one, and so do neighbours of a class.

    >>> group_folds(["a", "b", "c", "d"], ["x", "x", "y", "y"], [1, 2, 1, 2], 2).tolist()
    [0, 1, 0, 1]
    """
    codes = np.unique(y, return_inverse=True)[1]
    return choose_folds(X, codes, n_folds, groups=groups, in_runs=True)[1]


def possible_folds(
    X: Any, codes: Indices, cv: Any, *, random_state: Any = 0, in_runs: bool = False
) -> tuple[Indices, Indices, Flags] | None:
    """Return the result of `choose_folds`, or None if no row can be held out; raise if the user gave such folds.

    >>> possible_folds(np.arange(3.0)[:, None], np.array([0, 1, 2]), 5) is None
    True
    """
    try:
        return choose_folds(X, codes, cv, random_state=random_state, in_runs=in_runs)
    except NothingHeldOutError:
        if cv is None or isinstance(cv, Integral):
            return None
        raise


def exclude_small_classes(codes: Indices, unit: Indices, parts: Indices) -> tuple[Indices, Indices, Flags]:
    """Return `folds`, `parts`, and which classes are too small to be held out because one fold has all their rows.

    Units with only such classes go into every training part. Folds without a row to predict are dropped, and so are
    folds that would leave only one class to train on. Raise `NothingHeldOutError` if no fold is left.
    """
    sizes = np.bincount(codes)
    small = _by_fold(codes, parts).max(axis=1, initial=0) == sizes
    folds = np.where(small[codes], -1, parts)
    predictable = np.bincount(unit, weights=~small[codes]) > 0
    parts = np.where(predictable[unit], parts, -1)
    n_learnt = (sizes[:, np.newaxis] > _by_fold(codes, parts)).sum(axis=0)  # classes that a fold's model knows
    kept = np.unique(folds[folds >= 0])
    kept = kept[n_learnt[kept] >= min(2, (sizes > 0).sum())]
    if kept.size == 0:
        raise NothingHeldOutError
    number = np.full(max(parts.max(), folds.max()) + 2, -1)  # the last one is for -1 itself
    number[kept] = np.arange(len(kept))
    return number[folds], number[parts], small


def _by_fold(codes: Indices, parts: Indices) -> Indices:
    """Return classes x folds: the number of rows of each class that a fold leaves out of training."""
    n_folds, n_classes, held = parts.max() + 1, codes.max() + 1, parts >= 0
    counts = np.bincount(codes[held] * n_folds + parts[held], minlength=n_classes * n_folds)
    return counts.reshape(n_classes, n_folds)

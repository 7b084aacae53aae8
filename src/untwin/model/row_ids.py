"""Names of training rows: ids given by the user, or the numbers of the rows in order of arrival.

Given ids are kept as strings (an array of objects) and must be distinct. Without ids, rows are numbered from 0.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array, Indices


def first_ids(ids: ArrayLike | None, n: int) -> Array:
    """Return the ids of the n rows of a fit.

    >>> first_ids(["T-1", "T-2"], 2).tolist(), first_ids(None, 2).tolist()
    (['T-1', 'T-2'], [0, 1])
    """
    return np.arange(n) if ids is None else _own(_one_each(ids, n))


def more_ids(known: Array, n_arrived: int, ids: ArrayLike | None, n: int) -> Array:
    """Return the ids of all rows after n more were added to `n_arrived` earlier ones, some of them perhaps removed.

    If earlier rows have given ids and the new ones have none, new ids are made of their numbers in order of arrival.

    >>> more_ids(np.array([0, 1]), 2, None, 1).tolist(), more_ids(np.array([0, 1]), 2, ["T-3"], 1).tolist()
    ([0, 1, 2], ['0', '1', 'T-3'])
    >>> more_ids(first_ids(["T-1"], 1), 1, None, 1).tolist()
    ['T-1', 'added:2']
    """
    if ids is None and known.dtype != object:
        return np.concatenate([known, np.arange(n_arrived, n_arrived + n)])
    new = [f"added:{n_arrived + number}" for number in range(1, n + 1)] if ids is None else _one_each(ids, n)
    return _own([*map(str, known.tolist()), *new])


def places_of_ids(ids: ArrayLike, known: Array) -> Indices:
    """Return the positions of ids among those known; raise ValueError for an unknown or repeated one.

    >>> places_of_ids(["T-2"], first_ids(["T-1", "T-2"], 2)).tolist()
    [1]
    """
    wanted = np.atleast_1d(np.asarray(ids, dtype=object)).tolist()
    if known.dtype == object:
        wanted = [str(name) for name in wanted]
    place = {name: number for number, name in enumerate(known.tolist())}
    unknown = next((name for name in wanted if name not in place), None)
    if unknown is not None:
        raise ValueError(f"ids must be ids of training rows (ids_), not yet removed. Got {unknown!r} instead.")
    _require_distinct(wanted)
    return np.array([place[name] for name in wanted], dtype=np.intp)


def _one_each(ids: ArrayLike, n: int) -> list[str]:
    cells = np.asarray(ids, dtype=object)
    if cells.shape != (n,):
        raise ValueError(f"ids must have one id for each of the {n} rows. Got shape {cells.shape} instead.")
    missing = next((row for row, name in enumerate(cells) if name is None or name != name), None)  # noqa: PLR0124 (NaN)
    if missing is not None:
        raise ValueError(f"ids must have one id for each row. Got none for row {missing} instead.")
    return [str(name) for name in cells.tolist()]


def _own(names: Sequence[str]) -> Array:
    _require_distinct(names)
    kept = np.empty(len(names), dtype=object)
    kept[:] = names
    return kept


def _require_distinct(names: Sequence[Any]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"ids must be distinct. Got {twice[0]!r} more than once instead.")

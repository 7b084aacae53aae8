"""The rows of a model in few dimensions (LSI): kept while the rows stay the same, since another label changes no row.

After a correction, findings are looked for again. The space takes most of that time, and it does not know labels; nor
do the cuts of a class (`split_class`) whose rows are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import normalize

from untwin.linalg.blocks import Blocks
from untwin.linalg.svd import truncated_svd

if TYPE_CHECKING:
    from untwin._types import Array, Floats

SPACE = 50
MOST_LEARNT = 20_000  # rows that the directions of the space are learnt from
MOST_KEPT = 1 << 25  # bytes of coordinates: spaces of more rows are made again
SPACES_KEPT = 2


@dataclass(frozen=True, eq=False, slots=True)
class RowSpace:
    """Coordinates (n x d) of rows of unit length, and what was found out about some of them, by their numbers."""

    coordinates: Floats
    known: dict[bytes, Any] = field(default_factory=dict)


_kept: OrderedDict[bytes, RowSpace] = OrderedDict()


def row_space(X: Any) -> RowSpace:
    """Return the rows of X in the space; if equal rows were asked for lately, what was made then.

    >>> X = np.eye(3)
    >>> row_space(X) is row_space(X.copy()), row_space(X) is row_space(2 * X)
    (True, False)
    """
    key = digest_of_rows(X)
    if (known := _kept.get(key)) is not None:
        return known
    made = RowSpace(_coordinates(X))
    if made.coordinates.nbytes <= MOST_KEPT:
        _kept[key] = made
        while len(_kept) > SPACES_KEPT:
            _kept.popitem(last=False)
    return made


def _coordinates(X: Any) -> Floats:
    unit = normalize(X)
    learnt = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:MOST_LEARNT])
    space: Floats = unit @ truncated_svd(Blocks(unit[learnt]), min(SPACE, *X.shape), random_state=0).V
    return np.asarray(normalize(space))


def digest_of_rows(X: Any, *more: Array) -> bytes:
    """Return a digest of all numbers of a matrix, and of more arrays."""
    sparse: bool = issparse(X)
    digest = blake2b(repr((sparse, X.shape)).encode())
    for part in ((X.indptr, X.indices, X.data) if sparse else (X,)) + more:
        digest.update(str(part.dtype).encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()

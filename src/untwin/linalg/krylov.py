"""The leading eigenvectors of a large symmetric matrix by block Lanczos.

Glossary
--------
G        p x p  symmetric, positive semi-definite, known by its products only.
Q        p x q  orthonormal basis of the Krylov space of a random block, q grows by BLOCK columns a step.
T        q x q  = Q' G Q; its eigenvectors give the best approximations that the basis holds.

Against power iterations on one wide block (what "randomized SVD" usually means) a Krylov space keeps what earlier steps
found, so that fewer products reach the same energy. Blocks are wide enough for fast products; the narrower they are,
the better the space. See Musco and Musco, "Randomized block Krylov methods", 2015.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh, eigvalsh
from threadpoolctl import threadpool_limits

from untwin._progress import report
from untwin.linalg.orthonormal import orthonormal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import RandomState

    from untwin._types import Array

BLOCK = 16
STAGES = np.arange(2, 4.01, 0.25)  # sizes of the basis at which to look, as multiples of the wanted directions
SETTLED = 4e-3  # share by which the last stage raised the eigenvalues, on average


def leading_eigenvectors(G: Callable[[Array], Array], p: int, k: int, random_state: RandomState, dtype: Any) -> Array:
    """Return (p x k, orthonormal) directions that hold nearly the energy of the k leading eigenvectors of G.

    The basis grows by k / 4 directions a stage until two stages in a row raise the k eigenvalues by less than 0.4 % on
    average, at most to 4 k. Each eigenvalue counts by its own size, so that a few huge ones (strongly sprinkled
    classes) do not hide the others. The second of the two stages starts with fresh random columns: a Krylov space is
    blind to more equal eigenvalues than its blocks are wide, and looks settled before it has met them all.
    """
    sizes = np.minimum(np.ceil(STAGES * max(k, 4 * BLOCK)).astype(int), p)  # a stage is a block at least
    space = _KrylovSpace(G, p, sizes[-1], random_state, dtype)
    # BLAS gains nothing from threads in so many thin products, and its waiting threads would slow down ours in G.
    with threadpool_limits(1, user_api="blas"):
        _grow_until_settled(space, sizes, k)
    return space.leading(k)


def _grow_until_settled(space: _KrylovSpace, sizes: Array, k: int) -> None:
    values, settled = np.zeros(k), False
    for size in sizes:
        space.grow(size)
        report("decomposing", size, sizes[-1])
        before, values, settled_before = values, space.eigenvalues(k), settled
        rounding = np.finfo(space.Q.dtype).eps * values[-1] + np.finfo(space.Q.dtype).tiny
        settled = np.mean((values - before) / np.maximum(values, rounding)) <= SETTLED
        if settled and settled_before:
            return
        if settled:
            space.width += BLOCK


class _KrylovSpace:
    """The basis Q with T = Q' G Q, and what is left of G times the newest block outside the basis."""

    def __init__(self, G: Callable[[Array], Array], p: int, most: int, random_state: RandomState, dtype: Any) -> None:
        room = min(p, most + len(STAGES) * BLOCK)  # blocks may reach beyond; memory not written to costs nothing
        self.G, self.random_state, self.width = G, random_state, BLOCK
        self.Q = np.empty((p, room), dtype, order="F")
        self.T = np.zeros((room, room))
        self.newest = slice(0, 0)
        self.remainder = np.empty((p, 0), dtype)

    def grow(self, size: int) -> None:
        """Add whole blocks until the basis has at least `size` columns."""
        while self.newest.stop < size:
            self._append(self._next_block(min(self.width, len(self.Q) - self.newest.stop)))

    def eigenvalues(self, k: int) -> Array:
        """Return the k largest eigenvalues of T."""
        used = self.newest.stop
        values: Array = eigvalsh(self.T[:used, :used])[-k:]
        return values

    def leading(self, k: int) -> Array:
        """Return the k leading eigenvectors that the basis holds, largest first."""
        used = self.newest.stop
        vectors = eigh(self.T[:used, :used])[1]
        result: Array = self.Q[:, :used] @ vectors[:, : -k - 1 : -1].astype(self.Q.dtype)
        return result

    def _append(self, block: Array) -> None:
        before, here = self.newest, slice(self.newest.stop, self.newest.stop + block.shape[1])
        self.Q[:, here] = block
        self.T[here, before] = block.T @ self.remainder
        self.T[before, here] = self.T[here, before].T
        image = self.G(block)
        self.T[here, here] = block.T @ image
        # G's image of a block meets only this block, the one before and the one to come: T is block tridiagonal.
        image -= block @ (block.T @ image) + self.Q[:, before] @ (self.Q[:, before].T @ image)
        self.newest, self.remainder = here, image

    def _next_block(self, width: int) -> Array:
        """Return `width` orthonormal columns outside the basis: the remainder's, then random ones to make up."""
        rounding = np.finfo(self.Q.dtype).eps * len(self.T) * self.T.diagonal().max()
        block = orthonormal(self.remainder, shortest=rounding)[0][:, -width:]
        missing = (len(block), width - block.shape[1])
        fresh = self.random_state.standard_normal(missing) / np.sqrt(len(block))
        block, basis = np.hstack([block, fresh.astype(block.dtype)]), self.Q[:, : self.newest.stop]
        while True:
            overlap = basis.T @ block
            block = orthonormal(block - basis @ overlap)[0]
            if abs(overlap).max(initial=0) < 0.5:  # else the subtraction has cost digits
                return block

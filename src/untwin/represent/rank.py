"""Choose the number of directions to keep from the singular values.

Glossary
--------
A        n x p: n observations (documents) of p numbers.
S        singular values; l_i = S_i^2 / n is the variance along direction i.
v_k      variance of the rest: (|A|^2 / n - sum of the first k l_i) / (p - k).

The model: k directions with variances of their own, the same variance in all others. Its log-likelihood is, up to a
constant, -n/2 (sum of the first k log l_i + (p - k) log v_k); it has k p - k (k - 1) / 2 + 1 free numbers. AIC adds
their number to the negative log-likelihood, MDL half their number times log n (Wax and Kailath, 1985). Both need the
leading singular values and |A|^2 only, so that the space can grow until the criterion turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from untwin.linalg.svd import TruncatedSVD, truncated_svd

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Floats
    from untwin.linalg.blocks import Blocks

Criterion = Literal["mdl", "aic"]

FIRST_STAGE = 32


def decompose(A: Blocks, size: int | Criterion, **solver: Any) -> TruncatedSVD:
    """Return the decomposition of A with `size` directions, or the number that a criterion chooses."""
    energy = A.energy()
    if energy == 0:
        raise ValueError("X must hold something other than zeros. Got zeros only instead.")
    if isinstance(size, str):
        return decompose_by_criterion(lambda k: truncated_svd(A, k, **solver), energy, A.shape, size)
    return truncated_svd(A, size, **solver)


def criterion_values(S: Any, energy: float, shape: tuple[int, int], criterion: Criterion) -> Floats:
    """Return the criterion for 1, 2, ... directions; the smallest is best.

    Parameters
    ----------
    S : the leading singular values of A
    energy : |A|^2
    shape : (n, p)
    """
    n, p = shape
    kept = np.arange(1, len(S) + 1)
    variances = np.square(S, dtype=np.float64) / n
    rest = np.maximum(energy / n - np.cumsum(variances), np.finfo(np.float64).eps * energy / n)
    left = np.maximum(p - kept, 1)  # with nothing left its logarithm is multiplied by zero below
    fit = n / 2 * (np.cumsum(np.log(variances)) + (p - kept) * np.log(rest / left))
    parameters = kept * p - kept * (kept - 1) / 2 + 1
    price = np.log(n) / 2 if criterion == "mdl" else 1.0
    values: Floats = fit + price * parameters
    return values


def decompose_by_criterion(
    decompose: Callable[[int], TruncatedSVD], energy: float, shape: tuple[int, int], criterion: Criterion
) -> TruncatedSVD:
    """Return the decomposition with the best number of directions, found by doubling until the criterion turns."""
    size = FIRST_STAGE
    while True:
        U, S, V = decompose(size)
        best = int(np.argmin(criterion_values(S, energy, shape, criterion))) + 1
        if best < size:
            return TruncatedSVD(U[:, :best], S[:best], V[:, :best])
        size *= 2

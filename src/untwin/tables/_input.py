"""What `Contingency` is counted from: X as whole counts, y as a membership matrix Y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, issparse

from untwin._labels import label_array
from untwin._values import class_names, freeze_csr, positions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array


def whole_counts(X: Any) -> csr_array:
    """Return X as canonical int64 CSR; weights and negative numbers are refused."""
    counts: csr_array = csr_array(X)
    if counts.dtype.kind not in "biu":
        broken = counts.data[~np.isfinite(counts.data) | (np.trunc(counts.data) != counts.data)]
        if broken.size:
            raise ValueError(f"X must hold whole counts. Got {broken[0]} instead; pass counts before any weighting.")
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(f"X must hold counts, none below zero. Got {counts.data.min()} instead.")
    return freeze_csr(counts, dtype=np.int64)


def membership(y: Any, classes: ArrayLike | None) -> tuple[csr_array, Array]:
    """Return Y (n x C, int64) and the class names."""
    if issparse(y) or np.ndim(y) == 2:
        members = freeze_csr(y if issparse(y) else np.asarray(y), dtype=np.int64)
        if classes is None or members.shape[1] != np.size(classes):
            raise ValueError(
                f"classes must name the {members.shape[1]} columns of a multi-label y; pass classes=[...]."
            )
        if members.nnz and (members.data != 1).any():
            raise ValueError("A multi-label y must hold zeros and ones only. Got other numbers instead.")
        return members, class_names(classes)
    labels = label_array(y)
    if classes is None:
        names, codes = np.unique(labels, return_inverse=True)
    else:
        names = class_names(classes)
        codes = positions(labels, names)
    shape = (len(labels), len(names))
    return csr_array((np.ones(len(labels), np.int64), codes, np.arange(len(labels) + 1)), shape=shape), names

"""Pairs of classes, ranked by how often they are confused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin.tables._sparse import cell_rows, ratio
from untwin.tables.measures import wilson_interval

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from untwin._types import Array


def confused_pairs(counts: csr_array, classes: Array) -> Array:
    """Return one record for each pair of classes confused at least once, most errors first, ties by class name."""
    a, b, a_as_b, b_as_a = _both_ways(counts, by_name=np.argsort(classes, kind="stable"))
    errors, support = a_as_b + b_as_a, counts.sum(axis=1)
    trials = support[a] + support[b]
    low, high = wilson_interval(errors, trials)
    columns = {
        "a": classes[a],
        "b": classes[b],
        "a_as_b": a_as_b,
        "b_as_a": b_as_a,
        "errors": errors,
        "share": ratio(errors, errors.sum()),
        "rate": ratio(errors, trials),
        "low": low,
        "high": high,
    }
    records = np.empty(len(a), dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        records[name] = values
    ranked = records[np.argsort(-errors, kind="stable")].view(np.recarray)
    ranked.flags.writeable = False
    return ranked


def _both_ways(counts: csr_array, by_name: Array) -> tuple[Array, Array, Array, Array]:
    """Return the pairs a, b (places, sorted by names) and how often a was taken for b, and b for a."""
    rank = np.argsort(by_name)
    true, predicted = rank[cell_rows(counts)], rank[counts.indices]
    low, high = np.minimum(true, predicted), np.maximum(true, predicted)
    off = low < high
    pair, member = np.unique((low * len(rank) + high)[off], return_inverse=True)
    a_as_b, b_as_a = (
        np.bincount(member, weights=counts.data[off] * way[off], minlength=len(pair)).astype(counts.dtype)
        for way in (true < predicted, true > predicted)
    )
    a, b = np.divmod(pair, max(len(rank), 1))
    return by_name[a], by_name[b], a_as_b, b_as_a

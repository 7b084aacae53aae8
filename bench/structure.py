"""Values at scale: the class tree against SciPy's own pieces, and the confusion of 20,000 classes.

Needs no data: confusions are made, in blocks of similar classes, with about 30 cells a row.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist, squareform

from bench._measure import arguments, peak_memory, show
from untwin import Confusion, ConfusionGraph, Contingency, Hierarchy, SprinklingPlan

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

TREE_SIZES = (500, 1_000, 2_000, 5_000)
COUNT_SIZES = ((5_000, 1_250_000), (10_000, 2_500_000), (20_000, 5_000_000))
BLOCK = 25


def predictions(n_classes: int, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return labels and predictions: two thirds right, a quarter inside a block of twins, the rest anywhere."""
    rng = np.random.default_rng(0)
    true = rng.integers(0, n_classes, n_rows)
    twin = np.minimum(true // BLOCK * BLOCK + rng.integers(0, BLOCK, n_rows), n_classes - 1)
    draw = rng.random(n_rows)
    return true, np.where(draw < 0.67, true, np.where(draw < 0.92, twin, rng.integers(0, n_classes, n_rows)))


def confusion_of(n_classes: int, rows_a_class: int = 60) -> Confusion:
    """Return a made confusion."""
    return Confusion.from_predictions(*predictions(n_classes, n_classes * rows_a_class), classes=np.arange(n_classes))


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the best time of several runs, and what the last one gave."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def tree_row(n_classes: int, repeats: int) -> dict[str, float]:
    """Time every step of a tree of classes, beside SciPy's distances and Ward on the same rows."""
    confusion = confusion_of(n_classes)
    distances, _ = timed(lambda: confusion.distances("l1"), repeats)
    whole, tree = timed(lambda: Hierarchy.from_confusion(confusion), repeats)
    order, _ = timed(tree.order, repeats)
    cut, groups = timed(tree.cut, repeats)
    condensed = squareform(confusion.distances("l1"), checks=False)
    scipy_ward, ward = timed(lambda: linkage(np.sqrt(condensed), "ward"), repeats)
    return {
        "classes": n_classes,
        "l1 s": distances,
        "scipy pdist s": _scipy_distances(confusion),
        "tree with l1 and order s": whole,
        "scipy ward s": scipy_ward,
        "tree / (l1 + ward)": whole / (distances + scipy_ward),
        "scipy optimal order s": _scipy_order(ward, condensed),
        "order s": order,
        "cut s": cut,
        "groups": len(groups),
    }


def _scipy_distances(confusion: Confusion) -> float:
    """Time SciPy's dense distances, which are cubic: a minute at 5,000 classes."""
    if confusion.n_classes > 2_000:
        return float("nan")
    dense = confusion.rates.toarray()
    return timed(lambda: pdist(dense, "cityblock"), 1)[0]


def _scipy_order(ward: NDArray[np.float64], condensed: NDArray[np.float64]) -> float:
    return timed(lambda: optimal_leaf_ordering(ward, condensed), 1)[0] if len(ward) < 1_000 else float("nan")


def values_row(n_classes: int, n_rows: int) -> dict[str, float]:
    """Time the values that stay sparse, and the memory of the confusion as a multiple of its cells."""
    true, predicted = predictions(n_classes, n_rows)
    count, confusion = timed(lambda: Confusion.from_predictions(true, predicted), 1)
    plan, _ = timed(lambda: SprinklingPlan.adaptive(confusion, 8).factor(), 1)
    graph, _ = timed(lambda: ConfusionGraph.from_confusion(confusion, 0.02).upper_bound(confusion), 1)
    pairs, _ = timed(lambda: confusion.pairs(top=100), 1)
    counts = confusion.counts
    held = counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes
    return {
        "classes": n_classes,
        "predictions": n_rows,
        "cells": counts.nnz,
        "count s": count,
        "pairs s": pairs,
        "plan s": plan,
        "graph s": graph,
        "MiB held": held / 2**20,
        "MiB if dense": n_classes**2 * 8 / 2**20,
        "peak MiB with input": peak_memory(count_predictions, n_classes, n_rows),
    }


def count_predictions(n_classes: int, n_rows: int) -> None:
    """Make and count; the memory measurement runs it in a process of its own (16 bytes of labels a row are input)."""
    Confusion.from_predictions(*predictions(n_classes, n_rows))


def contingency_seconds() -> dict[str, float]:
    """Time the class x term table of 100,000 documents in 10,000 classes."""
    from scipy.sparse import random_array

    rng = np.random.default_rng(0)
    X = random_array((100_000, 50_000), density=6e-4, format="csr", rng=rng)
    X.data[:] = 1
    y = rng.integers(0, 10_000, 100_000)
    table, contingency = timed(lambda: Contingency.from_counts(X, y), 1)
    gain, _ = timed(contingency.information_gain, 1)
    chi2, _ = timed(contingency.chi2, 1)
    return {"from_counts": table, "information_gain": gain, "chi2": chi2}


def exponents(rows: list[dict[str, float]], names: tuple[str, ...]) -> dict[str, float]:
    """Return how the seconds grow with the number of classes: the slope between the two largest sizes."""
    small, large = rows[-2], rows[-1]
    growth = np.log(large["classes"] / small["classes"])
    return {name: float(np.log(large[name] / small[name]) / growth) for name in names}


def main(options: argparse.Namespace) -> None:
    """Run all sizes."""
    trees = [tree_row(size, options.repeats) for size in TREE_SIZES]
    values = [values_row(*size) for size in COUNT_SIZES]
    show(
        [*trees, *values],
        as_json=options.json,
        tree_exponents=exponents(trees, ("l1 s", "tree with l1 and order s", "scipy ward s", "cut s", "order s")),
        values_exponents=exponents(values, ("count s", "plan s", "graph s", "pairs s")),
        contingency_100k_x_50k_10k_classes=contingency_seconds(),
    )


if __name__ == "__main__":
    main(arguments(__doc__))

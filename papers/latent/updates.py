"""Paper 4's claim about updates: LSI_ac is updated N^2 / (n_a m) times as fast as LSI_td.

N rows, n_a intervals, m classes. One more row is added to the decomposition of the rows (LSI_td) by a block update, and
to the small table of intervals and classes (LSI_ac), which is decomposed anew.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.preprocessing import KBinsDiscretizer

from papers.tables import read_labelled
from papers.timing import best_seconds
from untwin.linalg.blocks import Blocks
from untwin.linalg.svd import truncated_svd
from untwin.linalg.update import with_rows
from untwin.represent.membership import membership

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BINS = 10
MOST_DIRECTIONS = 200


def update_ratios(data: Path, names: Sequence[str] = ("vehicle", "letter")) -> Iterator[dict[str, Any]]:
    """Measure both updates on tables whose columns are cut into ten intervals each."""
    for name in names:
        table = read_labelled(data, name)
        numbers = table.rows.select(pl.selectors.numeric()).to_numpy()
        X = csr_array(KBinsDiscretizer(BINS, strategy="uniform").fit_transform(numbers))
        Y, classes = membership(table.labels.to_numpy())
        rows, Z = truncated_svd(Blocks(X[:-1]), MOST_DIRECTIONS), (X[:-1].T @ Y[:-1]).toarray()
        seconds = best_seconds(
            {
                "td": partial(with_rows, rows, X[[-1]], len(rows.S)),
                "ac": partial(np.linalg.svd, Z + (X[[-1]].T @ Y[[-1]]), full_matrices=False),
            },
            5,
        )
        yield {
            "table": name,
            "N": X.shape[0],
            "n_a": X.shape[1],
            "m": len(classes),
            "LSI_td ms": 1e3 * seconds["td"],
            "LSI_ac ms": 1e3 * seconds["ac"],
            "measured ratio": seconds["td"] / seconds["ac"],
            "claimed ratio": X.shape[0] ** 2 / (X.shape[1] * len(classes)),
        }

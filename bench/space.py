"""Paper 1's three experiments: what sprinkling adds to LSI and to the raw terms, at equal trace.

The experiments are `papers.sprinkling.spaces`; here they are run and set against the paper's assertions.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import polars as pl
from papers.datasets import sprinkling_sets
from papers.sprinkling.spaces import N_HALVES, compared, run_sprinkling, trade_off

from bench._measure import parser, show
from untwin._progress import listening

if TYPE_CHECKING:
    import argparse

KEYS = ["set", "classifier"]


def best(results: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the mean accuracy of each space at its best k and strength, which are chosen on the test halves."""
    mean = results.group_by(*KEYS, "space", "strength", "k").agg(pl.col("accuracy").mean())
    top = mean.sort("accuracy", descending=True).group_by(*KEYS, "space", maintain_order=True).first()
    table = top.pivot("space", index=KEYS, values="accuracy").sort(KEYS)
    order = ["raw", "lsi", "uniform", "adaptive", "contrast", "hierarchy", "ordinal"]
    return table.select(*KEYS, *(name for name in order if name in table.columns)).to_dicts()


def by_dimension(results: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the mean accuracy at each k, of raw terms, LSI and the plans at each strength."""
    mean = results.group_by(*KEYS, "space", "strength", "k").agg(pl.col("accuracy").mean())
    raw = mean.filter(pl.col("space") == "raw").select(*KEYS, raw="accuracy")
    wide = mean.filter(pl.col("space") != "raw").pivot("k", index=[*KEYS, "space", "strength"], values="accuracy")
    sizes = sorted((name for name in wide.columns if name.isdigit()), key=int)
    return (
        wide.join(raw, on=KEYS)
        .select(*KEYS, "space", "strength", *sizes, "raw")
        .sort(*KEYS, "space", "strength")
        .to_dicts()
    )


def verdicts(results: pl.DataFrame, space: str, rival: str) -> list[dict[str, Any]]:
    """Count where `space` is better than, equal to or worse than `rival` by its paired interval, and the mean gain."""
    table = compared(results, space, rival)
    counted = table.group_by(*KEYS, "strength", maintain_order=True).agg(
        better=(pl.col("low") > 0).sum(),
        even=((pl.col("low") <= 0) & (pl.col("high") >= 0)).sum(),
        worse=(pl.col("high") < 0).sum(),
        mean_gain=pl.col("gain").mean(),
        best_gain=pl.col("gain").max(),
    )
    return [{"space": space, "rival": rival, **row} for row in counted.sort(*KEYS, "strength").to_dicts()]


def main(options: argparse.Namespace) -> None:
    """Run the experiments and print all tables."""
    sets = sprinkling_sets(options.data)
    with listening(lambda stage, done, total: print(f"{stage} {done}/{total}", file=sys.stderr)):
        results = run_sprinkling(sets, n_halves=options.halves)
    comparisons = [("adaptive", "lsi"), ("adaptive", "raw"), ("adaptive", "uniform"), ("contrast", "uniform")]
    comparisons += [("hierarchy", "uniform"), ("ordinal", "uniform")]
    rows = best(results) + by_dimension(results)
    rows += [row for space, rival in comparisons for row in verdicts(results, space, rival)]
    rows += [row for texts in sets for row in trade_off(texts)]
    show(rows, as_json=options.json, halves=options.halves, sizes={texts.name: len(texts.texts) for texts in sets})


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--halves", type=int, default=N_HALVES, help="random halves of each set")
    main(arguments.parse_args())

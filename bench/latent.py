"""Paper 4: LSI_td and LSI_ac on its eight tables, under label noise, against rows, and on mixed columns.

The experiments are `papers.latent.tables`, `.noise` and `.mixed`; here they are run, and set beside what the
paper prints.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from papers.latent.mixed import gains, read_reviews, run_mixed
from papers.latent.noise import NOISE, PRINTED_ERRORS, run_noise, toy_class_space
from papers.latent.tables import (
    A_POSTERIORI,
    BEYOND,
    BOOSTING,
    N_REPETITIONS,
    ON_INTERVALS,
    PRINTED,
    PRINTED_SIZES,
    PRINTED_SPREADS,
    run_tables,
    summary,
)
from papers.tables import PAPER_4, read_labelled
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from bench._measure import best_seconds, parser, show
from untwin._progress import listening
from untwin.classify.latent.classes import LatentClassClassifier

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from papers.tables import LabelledTable

    Rows = list[dict[str, Any]]

MAY_BE_THE_PAPERS = ("LSI_ac published", "LSI_ac means", "LSI_ac means, inverse")
LARGE = ("covertype_100k", "adult")
SHARES = (1 / 16, 1 / 4, 1.0)
MIXED_ROWS = 8_000


def by_table(found: pl.DataFrame, kind: str) -> Rows:
    """Return one row a classifier: per cent on each table with its spread, and the mean over tables."""
    rows = []
    for (name,), part in found.group_by("classifier", maintain_order=True):
        cells = {row["table"]: f"{100 * row['accuracy']:.1f}±{100 * row['spread']:.1f}" for row in part.to_dicts()}
        mean = 100 * float(part["accuracy"].mean())  # type: ignore[arg-type]
        rows.append({"intervals": kind, "classifier": name, **cells, "mean": mean})
    return rows


def printed() -> Rows:
    """Return the paper's Table 2 in the same form."""
    rows = []
    for name, figures in PRINTED.items():
        cells = (f"{mean}±{spread}" for mean, spread in zip(figures, PRINTED_SPREADS[name], strict=True))
        cells_by_table = dict(zip(PAPER_4, cells, strict=True))
        rows.append({"intervals": "printed", "classifier": name, **cells_by_table, "mean": float(np.mean(figures))})
    return rows


def how_close(found: pl.DataFrame, kind: str) -> Rows:
    """Count for each LSI_ac on how many tables it comes close to the printed figure."""
    wanted = dict(zip(PAPER_4, PRINTED["LSI_ac"], strict=True))
    rows = []
    for (name,), part in found.filter(pl.col("classifier").str.starts_with("LSI_ac")).group_by(
        "classifier", maintain_order=True
    ):
        apart = [abs(100 * row["accuracy"] - wanted[row["table"]]) for row in part.to_dicts()]
        counts = {f"within {limit}": sum(a <= limit for a in apart) for limit in (0.7, 1.0, 2.0)}
        rows.append({"intervals": kind, "classifier": name, **counts, "mean distance": float(np.mean(apart))})
    return rows


def sizes(found: pl.DataFrame) -> Rows:
    """Return how many directions LSI_td took, beside the printed ones."""
    rows = []
    for name, (k, rank) in zip(PAPER_4, PRINTED_SIZES, strict=True):
        ours = {row["classifier"]: row for row in found.filter(pl.col("table") == name).to_dicts()}
        rows.append(
            {
                "table": name,
                "printed k": k,
                "printed rank": rank,
                "rank": ours[A_POSTERIORI]["rank"],
                "k a posteriori": ours[A_POSTERIORI]["k"],
                "k stagewise": ours["LSI_td"]["k"],
                "k mdl": ours["LSI_td mdl"]["k"],
            }
        )
    return rows


def select_best(found: pl.DataFrame) -> Rows:
    """Return on each table untwin's best classifier, chosen by these very figures, beside gradient boosting."""
    ours = found.filter(~pl.col("classifier").is_in([BOOSTING, A_POSTERIORI, "tree", "naive Bayes"]))
    top = ours.sort("accuracy", descending=True).group_by("table", maintain_order=True).first()
    rival = found.filter(pl.col("classifier") == BOOSTING).select("table", boosting="accuracy")
    return top.join(rival, on="table").select("table", "classifier", "accuracy", "boosting").sort("table").to_dicts()


def noise(n_splits: int) -> Rows:
    """Return Table 1 with the printed errors."""
    rows = []
    for row in run_noise(n_splits=n_splits):
        errors = PRINTED_ERRORS[row["classifier"].split()[0]]
        rows.append({**row, "printed": errors[NOISE.index(row["noise"])]})
    return rows


def against_rows(table: LabelledTable, repeats: int) -> Rows:
    """Return seconds to fit on growing shares of the rows, intervals ready, and accuracy on a fifth held out."""
    order = np.random.default_rng(0).permutation(len(table.labels))
    y, cut = table.labels.to_numpy(), len(order) // 5
    test, train = order[:cut], order[cut:]
    encoder = table.encoder()
    X, X_test = encoder.fit_transform(table.rows[train], y[train]), encoder.transform(table.rows[test])
    rivals: dict[str, Any] = {
        "LSI_ac": LatentClassClassifier(),
        "naive Bayes": MultinomialNB(),
        "logistic regression": LogisticRegression(max_iter=100),
    }
    rows: Rows = []
    for share in SHARES:
        n = int(share * len(train))
        fits: dict[str, Callable[[], object]] = {
            name: partial(model.fit, X[:n], y[train][:n]) for name, model in rivals.items()
        }
        seconds = best_seconds(fits, repeats)
        for name, model in rivals.items():
            accuracy = float(model.score(X_test, y[test]))
            rows.append(
                {"table": table.name, "fitted on": n, "classifier": name, "s": seconds[name], "accuracy": accuracy}
            )
    return rows


def tables(data: Path, repetitions: int) -> Rows:
    """Return all that is about the eight tables."""
    sets = [read_labelled(data, name) for name in PAPER_4]
    inside = summary(run_tables(sets, {**ON_INTERVALS, A_POSTERIORI: None}, n_repetitions=repetitions))
    suspects = {name: ON_INTERVALS[name] for name in MAY_BE_THE_PAPERS}
    few = min(3, repetitions)
    outside = summary(run_tables(sets, suspects, n_repetitions=few, outside=True))
    beyond = summary(run_tables(sets, {**BEYOND, BOOSTING: None}, n_repetitions=few))
    rows = printed() + by_table(inside, "inside folds") + by_table(outside, "outside folds")
    rows += by_table(beyond, "inside folds")
    rows += how_close(inside, "inside folds") + how_close(outside, "outside folds")
    return rows + sizes(inside) + select_best(pl.concat([inside, beyond]))


def mixed(data: Path) -> Rows:
    """Return text, columns and both on a sample of the reviews."""
    rows, labels = read_reviews(data)
    drawn = np.random.default_rng(0).permutation(len(labels))[:MIXED_ROWS]
    return gains(run_mixed(rows[drawn], labels[drawn]))


def main(options: argparse.Namespace) -> None:
    """Run the experiments and print all tables."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # logistic regression may stop at its hundred steps
    with listening(lambda stage, done, total: print(f"{stage} {done}/{total}", file=sys.stderr)):
        rows = tables(options.data, options.repetitions)
        rows += noise(2 * options.repetitions)
        rows += toy_class_space()
        rows += [row for name in LARGE for row in against_rows(read_labelled(options.data, name), options.repeats)]
        rows += mixed(options.data)
    show(rows, as_json=options.json, repetitions=options.repetitions)


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--repetitions", type=int, default=N_REPETITIONS, help="repetitions of 10-fold CV")
    arguments.add_argument("--repeats", type=int, default=1, help="best of so many runs where time is measured")
    main(arguments.parse_args())

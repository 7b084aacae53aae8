"""Equal rows: with two labels (`conflicting-text`), or in training and test set (`split-leak`).

Texts are equal up to case and white space, as in `untwin check`; without texts, rows are equal number by number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._wording import format_count, share
from untwin.crossfit.folds import identical_rows
from untwin.model.findings.evidence import beginning
from untwin.model.findings.finding import Finding, by_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.model.findings.evidence import Evidence

MOST_GROUPS = 100
MOST_ROWS = 10


def folded(texts: Sequence[str]) -> pl.Series:
    r"""Return texts in lower case and with single spaces, for comparison.

    >>> folded(["A  cat", " a cat\n"]).to_list()
    ['a cat', 'a cat']
    """
    return pl.Series(texts, dtype=pl.String).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()


def conflicting_rows(evidence: Evidence) -> Finding | None:
    """Return equal rows with different labels; empty rows are left out."""
    if evidence.texts is None:
        keys, empty = pl.Series(identical_rows(evidence.X)), abs(evidence.X).sum(axis=1) == 0
    else:
        keys = folded(evidence.texts)
        empty = (keys == "").to_numpy()
    table = pl.DataFrame({"key": keys, "label": evidence.answers.true, "row": np.arange(len(keys))})
    groups = (
        table.filter(pl.Series(~np.asarray(empty)))
        .group_by("key", maintain_order=True)
        .agg("row", labels=pl.col("label").unique(maintain_order=True))
        .filter(pl.col("labels").list.len() > 1)
        .sort(pl.col("row").list.len(), descending=True, maintain_order=True)
    )
    if groups.is_empty():
        return None
    n_rows = int(groups["row"].list.len().sum())
    return Finding(
        "conflicting-text",
        f"{format_count(groups.height, 'row occurs', 'rows occur')} again with a different label "
        f"({format_count(n_rows, 'row', 'rows')} in all, {share(n_rows, len(keys))}).",
        tuple(_conflict(evidence, group) for group in groups.head(MOST_GROUPS).iter_rows(named=True)),
        "Nobody can get all of them right: label errors, or classes that are twins. Decide on one label for each.",
        by_size(n_rows, len(keys)),
    )


def _conflict(evidence: Evidence, group: dict[str, Any]) -> dict[str, Any]:
    rows = np.array(group["row"][:MOST_ROWS])
    text = evidence.texts_of(rows[:1])[0]
    return {"rows": evidence.ids_of(rows), "labels": evidence.answers.classes[group["labels"]].tolist(), "text": text}


def leaks(evidence: Evidence) -> Finding | None:
    """Return test texts that are training texts too."""
    if evidence.texts is None or evidence.test_texts is None:
        return None
    train, test = (
        pl.DataFrame({"text": folded(texts)})
        .with_row_index("row")
        .filter(pl.col("text") != "")
        .group_by("text", maintain_order=True)
        .agg("row")
        for texts in (evidence.texts, evidence.test_texts)
    )
    both = test.join(train, on="text", suffix="_train", maintain_order="left")
    if both.is_empty():
        return None
    n_rows = int(both["row"].list.len().sum())
    return Finding(
        "split-leak",
        f"{format_count(n_rows, 'test row is', 'test rows are')} in the training rows too "
        f"({share(n_rows, len(evidence.test_texts))} of the test part).",
        tuple(_leak(evidence, pair) for pair in both.head(MOST_GROUPS).iter_rows(named=True)),
        "The test asks for what was learnt by heart there: its accuracy may be too high by up to that share. Keep each "
        "text in one part.",
        by_size(n_rows, len(evidence.test_texts), "serious"),
    )


def _leak(evidence: Evidence, pair: dict[str, Any]) -> dict[str, Any]:
    train, test = np.array(pair["row_train"][:MOST_ROWS]), pair["row"][:MOST_ROWS]
    called = test if evidence.test_ids is None else evidence.test_ids[test].tolist()
    record = {"training rows": evidence.ids_of(train), "test rows": called, "text": beginning(pair["text"])}
    record["training labels"] = np.unique(evidence.answers.y[train]).tolist()
    if evidence.test_labels is not None:
        record["test labels"] = np.unique(np.asarray(evidence.test_labels)[test]).tolist()
    return record

"""Texts that occur more than once, up to case and white space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from untwin._wording import cut

if TYPE_CHECKING:
    from untwin.data.load import Table
    from untwin.data.read.table import Places

_EXAMPLES = 100
_SNIPPET = 80


@dataclass(frozen=True, slots=True)
class Groups:
    """Some groups of equal texts: how many, of how many rows, and the largest as records."""

    count: int
    rows: int
    examples: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """The texts of a table that occur more than once: one row a text, with its rows, labels and split parts."""

    frame: pl.DataFrame
    places: Places

    @classmethod
    def of(cls, table: Table) -> Repeats:
        """Group the rows whose text columns are equal; empty texts are left out."""
        roles = table.roles
        text = (
            pl.concat_str(roles.text, separator=" ").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
        )
        part = pl.lit(None, pl.String) if roles.split is None else pl.col(roles.split)
        rows = table.frame.select(text=text, label=pl.col(str(roles.label)), part=part).with_row_index("row")
        repeated = rows.filter((pl.col("text") != "") & pl.col("text").is_duplicated())
        grouped = repeated.group_by("text", maintain_order=True).agg(
            rows="row",
            labels=pl.col("label").unique(maintain_order=True),
            parts=pl.col("part").drop_nulls().unique(maintain_order=True),
        )
        return cls(grouped, table.places)

    def groups(self, what: str, *, least: int = 1, most: int | None = None) -> Groups:
        """Return the texts with at least `least` and at most `most` different `what` (labels or parts)."""
        size = pl.col(what).list.len()
        chosen = self.frame.filter((size >= least) & (size <= (most or size)))
        largest = chosen.sort(pl.col("rows").list.len(), descending=True, maintain_order=True).head(_EXAMPLES)
        return Groups(
            chosen.height,
            int(chosen["rows"].list.len().sum()),
            tuple(map(self._example, largest.iter_rows(named=True))),
        )

    def _example(self, group: dict[str, Any]) -> dict[str, Any]:
        example = {
            "rows": [self.places.mark(row) for row in group["rows"][:10]],
            "labels": group["labels"],
            "text": cut(group["text"], _SNIPPET),
        }
        return example if not group["parts"] else {**example, "parts": group["parts"]}

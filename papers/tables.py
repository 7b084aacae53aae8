"""Paper 4's tables, and larger ones, read from a folder given with `--data`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from untwin._errors import InputError
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.encode import TableEncoder

if TYPE_CHECKING:
    from pathlib import Path

PAPER_4 = ("breast", "diabetes", "german", "glass", "glass2", "heart", "iris", "vehicle")


@dataclass(frozen=True, slots=True)
class LabelledTable:
    """Rows with one label each; `numeric` and `nominal` name the columns."""

    name: str
    rows: pl.DataFrame
    labels: pl.Series
    numeric: tuple[str, ...]
    nominal: tuple[str, ...]

    def encoder(self) -> TableEncoder:
        """Return what turns the rows into intervals and values; a column that is not cut is dropped."""
        intervals = MDLPDiscretizer(uncut="drop", n_jobs=1)
        return TableEncoder(numeric=self.numeric, nominal=self.nominal, discretizer=intervals, block_weights=None)


def read_labelled(data: Path, name: str) -> LabelledTable:
    """Read one of the tables; a column of numbers is numeric, any other nominal."""
    found = [path for end in ("csv", "csv.gz") if (path := data / "tabular" / f"{name}.{end}").is_file()]
    if not found:
        raise InputError(
            f"{data / 'tabular' / name}.csv is not there.",
            code="missing-data",
            hint="Give --data the folder that holds text/ and tabular/.",
        )
    frame = pl.read_csv(found[0], infer_schema_length=None)
    rows, labels = frame.drop("class"), frame["class"].cast(pl.String)
    numeric = tuple(column for column, kind in rows.schema.items() if kind.is_numeric())
    return LabelledTable(name, rows, labels, numeric, tuple(c for c in rows.columns if c not in numeric))

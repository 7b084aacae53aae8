"""How far people, or repeated questions, agree: `annotators`, `annotator-confusions` and `unstable-answers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._wording import format_count, share
from untwin.model.findings.evidence import beginning
from untwin.model.findings.finding import Finding, by_size
from untwin.model.findings.rows_twice import folded
from untwin.tables.annotations import Annotations
from untwin.tables.confusion import Confusion
from untwin.tables.measures import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array

MOST = 100
N_ROWS = 10
MIXED_UP = 3  # an annotator's commonest confusions
GOOD, FAIR = 0.8, 0.667  # what Krippendorff asks of labels that conclusions rest on, and of tentative ones


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """Krippendorff's alpha of several labels for each row, with its 95 % interval; None where it is not defined."""

    annotators: tuple[str, ...]
    units: int
    labels: int
    alpha: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, annotations: Annotations, annotators: Sequence[str] = ()) -> AnnotatorAgreement:
        """Return the agreement of annotations."""
        low, high = annotations.alpha_interval() or (None, None)
        return cls(tuple(annotators), annotations.n_units, annotations.n_labels, annotations.alpha(), low, high)

    def __str__(self) -> str:
        if self.alpha is None:
            return "not defined (no row has two labels, or all labels are the same)"
        ends = "" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.alpha:.3f}{ends} on {format_count(self.units, 'row')} with two labels or more"


def annotators_finding(y: Array, columns: Mapping[str, Array], agreement: AnnotatorAgreement) -> Finding:
    """Return how each annotator agrees with the truth and with the others."""
    names = list(columns)
    alphas = {name: _with_others(name, columns) for name in names} if len(names) > 2 else dict.fromkeys(names)
    alpha = agreement.alpha
    weak = alpha is not None and alpha < FAIR
    return Finding(
        "annotators",
        f"Krippendorff's alpha of {len(names)} annotators is {agreement}.",
        tuple(_annotator(name, y, columns[name], alphas[name]) for name in names),
        f"From {GOOD} on labels can be relied on; below {FAIR} the classes are not defined well enough to be labelled, "
        "and no classifier can be judged by them: write down what sets the confused classes apart, and label again.",
        "serious" if weak else "warning" if alpha is not None and alpha < GOOD else "info",
    )


def _annotator(name: str, y: Array, said: Array, without: float | None) -> dict[str, Any]:
    given = said != ""
    right = int((said == y)[given].sum())
    low, high = wilson_interval(np.array([right]), np.array([given.sum()]))
    known = bool(given.any())
    return {
        "annotator": name,
        "rows": int(given.sum()),
        "as the truth": right / int(given.sum()) if known else None,
        "at least": float(low[0]) if known else None,
        "at most": float(high[0]) if known else None,
        "alpha of the others": without,
    }


def _with_others(name: str, columns: Mapping[str, Array]) -> float | None:
    """Return alpha without one annotator: if it is much higher, that one labels otherwise than the others."""
    return Annotations.of_columns([column for other, column in columns.items() if other != name]).alpha()


def annotator_confusions(y: Array, columns: Mapping[str, Array]) -> Finding | None:
    """Return who says which class where the truth is another one, most often first."""
    records = [record for name, said in columns.items() for record in _confusions(name, y, said)]
    if not records:
        return None
    records.sort(key=lambda record: -record["rows"])
    return Finding(
        "annotator-confusions",
        f"{format_count(len(records), 'confusion', 'confusions')} of annotators, the commonest of each.",
        tuple(records),
        "What several confuse is a matter of the classes: define them. What one confuses is a matter of that one.",
        "info",
    )


def _confusions(name: str, y: Array, said: Array) -> list[dict[str, Any]]:
    given = said != ""
    cells = Confusion.from_predictions(y[given], said[given]).counts.tocoo() if given.any() else None
    if cells is None:
        return []
    classes = np.union1d(np.unique(y[given]), np.unique(said[given]))
    true, other = cells.coords
    off = np.flatnonzero(true != other)
    commonest = off[np.argsort(-cells.data[off], kind="stable")[:MIXED_UP]]
    parts = classes[true[commonest]], classes[other[commonest]], cells.data[commonest]
    return [
        {"annotator": name, "truth": label, "said": answer, "rows": rows}
        for label, answer, rows in zip(*(part.tolist() for part in parts), strict=True)
    ]


def unstable_answers(
    said: Array, ids: Array, *, texts: Sequence[str] | None = None, units: ArrayLike | None = None
) -> Finding | None:
    """Return what was answered in two ways or more: rows of one unit, or equal texts; empty texts are left out."""
    if texts is None and units is None:
        return None
    keys = (
        folded(texts) if units is None and texts is not None else pl.Series(list(map(str, np.asarray(units).tolist())))
    )
    groups = (
        pl.DataFrame({"unit": keys, "said": said.tolist(), "row": np.arange(len(keys))})
        .filter(pl.col("unit") != "")
        .group_by("unit", maintain_order=True)
        .agg("row", answers=pl.col("said").unique(maintain_order=True))
        .filter(pl.col("row").list.len() > 1)
    )
    several, n_rows = pl.col("answers").list.len() > 1, pl.col("row").list.len()
    unstable = groups.filter(several).sort(n_rows, descending=True, maintain_order=True)
    if unstable.is_empty():
        return None
    agreement = AnnotatorAgreement.of(Annotations.of_units(keys.to_numpy(), said, missing=None))
    records = tuple(
        {"rows": [ids[row] for row in group["row"][:N_ROWS]], "answers": group["answers"]}
        | ({} if texts is None else {"text": beginning(texts[group["row"][0]])})
        for group in unstable.head(MOST).iter_rows(named=True)
    )
    total = int(unstable.select(n_rows.sum()).item())
    told = format_count(unstable.height, "question that was repeated was", "questions that were repeated were")
    return Finding(
        "unstable-answers",
        f"{told} answered in several ways, of {groups.height:,} ({share(total, len(said))} of the rows). "
        f"Krippendorff's alpha of repeated answers is {agreement}.",
        records,
        "Whoever answers is not sure of these. Ask several times and take the commonest answer, or ask with less "
        "randomness.",
        by_size(total, len(said)),
    )

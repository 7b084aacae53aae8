"""View 9: what it cost: seconds, sizes, the exact configuration and versions, and how to do it again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse

from untwin._plain import plain
from untwin.model.records import versions
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study


@dataclass(frozen=True)
class Seen(Record):
    """One view of the rows as numbers: how large it is."""

    name: str
    rows: int
    columns: int
    cells: int
    mebibytes: float


@dataclass(frozen=True)
class Cost(Record):
    """Seconds by stage, peak memory where it was measured, sizes, configuration, versions, the command."""

    seconds: dict[str, float]
    peak_mebibytes: float | None
    rows: Seen
    options: dict[str, Any]
    versions: dict[str, str]
    command: str

    @classmethod
    def of(cls, study: Study) -> Cost:
        """Read the cost from a study; what the model does not remember of its making is left out."""
        model: Any = study.model
        about = getattr(model, "about_", None) or {}
        candidates = {f"candidate: {tried.name}": tried.seconds for tried in model.candidates_ if tried.seconds}
        options = about.get("options") or {name: _shown(value) for name, value in model.get_params(deep=False).items()}
        return cls(
            seconds=dict(about.get("seconds") or candidates),
            peak_mebibytes=about.get("peak_mebibytes"),
            rows=_seen("terms", study.evidence.X)
            if study.given
            else _seen(model.state_.view.name, model.state_.view.rows),
            options=plain(options),
            versions=dict(about.get("versions") or versions()),
            command=_command(about.get("command"))
            or ("audit(y, predicted)" if study.given else f"{model!r}.fit(X, y)"),
        )

    def frame(self) -> pl.DataFrame:
        """Return one row a stage."""
        return table([{"stage": stage, "seconds": seconds} for stage, seconds in self.seconds.items()])


def _seen(name: str, rows: Any) -> Seen:
    n, m = (len(rows), 1) if isinstance(rows, list) else rows.shape
    sparse: bool = issparse(rows)
    return Seen(name, n, m, int(rows.nnz) if sparse else n * m, _n_bytes(rows) / 2**20)


def _n_bytes(rows: Any) -> int:
    """Return how much memory the rows of a view take: a matrix, a frame, or texts for an encoder of one's own."""
    sparse: bool = issparse(rows)
    if sparse:
        return sum(int(part.nbytes) for part in (rows.data, rows.indices, rows.indptr))
    if isinstance(rows, list):
        return sum(len(text.encode("utf-8", "replace")) for text in rows)
    return int(rows.nbytes if hasattr(rows, "nbytes") else rows.estimated_size())


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _command(arguments: Any) -> str:
    """Return the command that made the model; empty if it was none."""
    return f"untwin {shlex.join(map(str, arguments))}" if isinstance(arguments, list) else ""

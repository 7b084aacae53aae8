"""The labels that look wrong, all of them: what the owner reads from the top, and corrects."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from untwin._values import positions
from untwin._wording import ELLIPSIS, cut
from untwin.model.findings.identity import record_id
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study

CODE = "label-error"
MOST_BYTES = 1_000_000  # of a page, that they may take
SHORTER = (500, 150)  # characters of a text, where whole ones would take more


@dataclass(frozen=True)
class Suspect(Record):
    """A row whose label looks wrong; `label` and `rather` are numbers of classes, `finding` its id for `dismiss`."""

    finding: str
    row: int | str
    label: int
    rather: int
    belief: float
    text: str


@dataclass(frozen=True)
class Suspects(Record):
    """The rows in doubt, the surest first; of `total`, as many as fit a page, and texts of at most `longest`.

    `untwin findings MODEL label-error -o FILE` writes all of them with their whole texts, however many there are.
    """

    names: tuple[str, ...]
    total: int
    longest: int
    suspects: tuple[Suspect, ...]

    @classmethod
    def of(cls, study: Study) -> Suspects:
        """Read the doubtful labels from a study."""
        found = study.found(CODE)
        numbers = [_numbers(study, found, key) for key in ("label", "rather")]
        whole = tuple(
            Suspect(
                record_id(CODE, record), record["row"], label, rather, record["belief in other"], study.text(position)
            )
            for record, label, rather, position in zip(found, *numbers, study.doubtful.tolist(), strict=True)
        )
        longest = max((len(one.text) for one in whole), default=0)
        shown = whole
        for shorter in SHORTER:
            if _size(shown) > MOST_BYTES:
                longest = shorter
                shown = tuple(replace(one, text=cut(one.text, shorter, ELLIPSIS)) for one in whole)
        return cls(study.names, len(whole), longest, _within(shown))

    def frame(self) -> pl.DataFrame:
        """Return one row a suspect."""
        return table(
            [
                {
                    "finding": one.finding,
                    "row": one.row,
                    "label": self.names[one.label],
                    "rather": self.names[one.rather],
                    "belief": one.belief,
                    "text": one.text,
                }
                for one in self.suspects
            ]
        )


def _numbers(study: Study, found: tuple[dict[str, Any], ...], key: str) -> list[int]:
    numbers: list[int] = positions([record[key] for record in found], study.model.classes_).tolist() if found else []
    return numbers


def _bytes(one: Suspect) -> int:
    return len(json.dumps(one.to_dict(), ensure_ascii=False).encode("utf-8", "replace"))


def _size(suspects: tuple[Suspect, ...]) -> int:
    return sum(map(_bytes, suspects))


def _within(suspects: tuple[Suspect, ...]) -> tuple[Suspect, ...]:
    """Return the first suspects, as many as fit."""
    left, kept = MOST_BYTES, []
    for one in suspects:
        left -= _bytes(one)
        if left < 0:
            break
        kept.append(one)
    return tuple(kept)

"""`untwin dismiss`: a finding that its owner has looked at, and does not want to see again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.options import common_options
from untwin.cli.output import name_next, put, put_json

if TYPE_CHECKING:
    from untwin.model.findings.dismissals import Dismissal

LONGEST_REASON = 1_000


@click.command()
@click.argument("model")
@click.argument("finding")
@click.option("--because", metavar="TEXT", help="The reason; the report shows it.")
@click.option("--author", default="", metavar="NAME", help="Who says so.")
@click.option("--undo", is_flag=True, help="Take a dismissal back.")
@common_options
def dismiss(
    model: str,
    finding: str,
    *,
    because: str | None,
    author: str,
    undo: bool,
    seed: int,
    strict: bool,
    as_json: bool,
) -> int:
    """Dismiss FINDING of MODEL with a reason: it is not shown again until what speaks for it has changed.

    FINDING is an id as `untwin findings MODEL` prints it (twins-1f0c...), or a code (twins) for all that it has now.
    """
    if (because is None) != undo or because == "" or len(because or author) > LONGEST_REASON:
        raise click.UsageError(f"Give --because with a reason of at most {LONGEST_REASON:,} characters, or --undo.")
    done = dismiss_findings(model, finding, because or "", author=author)
    if as_json:
        put_json({"model": model, "dismissed": [one.finding for one in done], "undo": undo})
    else:
        told = "shown again" if undo else "dismissed"
        put(f"{format_count(len(done), 'finding is', 'findings are')} {told}:")
        for one in done:
            put(f"  {one.finding}  {one.about}")
    name_next(["report", model])
    return 0


def dismiss_findings(folder: str, wanted: str, because: str, *, author: str) -> list[Dismissal]:
    """Dismiss the records with this id or code, or take that back if there is no reason; return what was done."""
    from untwin.cli.dismissals import dismissals_of, keep_dismissals
    from untwin.cli.model_files import changing
    from untwin.model.findings.dismissals import Dismissal

    place = Path(folder)
    with changing(place):
        known = dismissals_of(place)
        if because:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            new = [
                Dismissal.of(code, record, because, author=author, when=when)
                for code, record in _records(place, wanted)
            ]
        else:
            new = [
                Dismissal(finding=name, about=one.about, because="", author=author, subject=one.subject)
                for name, one in known.by_id.items()
                if wanted in (name, name.rpartition("-")[0])
            ]
        if not new:
            _refuse(folder, wanted, undo=not because)
        keep_dismissals(place, new)
    return new


def _records(place: Path, wanted: str) -> list[tuple[str, dict[str, Any]]]:
    from untwin.model.findings.identity import record_id
    from untwin.model.saving import load_model

    return [
        (finding.code, record)
        for finding in load_model(place, answers=False).findings_
        for record in finding.evidence
        if wanted in (finding.code, record_id(finding.code, record))
    ]


def _refuse(folder: str, wanted: str, *, undo: bool) -> None:
    from untwin._errors import InputError

    what = "dismissal" if undo else "finding"
    hint = f"`untwin findings {folder}` prints the ids of its findings."
    raise InputError(f"{folder}: there is no {what} {wanted!r}.", code="unknown-finding", hint=hint)

"""Where a model goes: refused before the work begins if it cannot, written when the work is done."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwin._errors import InputError
from untwin.cli.output import plain

if TYPE_CHECKING:
    from untwin.model import UntwinClassifier


def writable_model(output: str) -> Path:
    """Return the folder that a model may be written to: new, empty, or a model; anything else is refused now."""
    from untwin.store.files import refuse_strangers

    folder = Path(output)
    if folder.is_dir():
        refuse_strangers(folder, InputError, "Choose a new folder with -o.")
    elif folder.exists():
        raise InputError(f"{output}: is a file.", code="not-a-folder", hint="Choose a new folder with -o.")
    elif not folder.parent.is_dir():
        message = f"{folder.parent}: there is no such folder."
        raise InputError(message, code="not-found", hint="Make it first, or choose another place with -o.")
    return folder


def save(model: UntwinClassifier, folder: Path, about: dict[str, Any], *, texts: bool) -> str:
    """Write the model, then the report beside it; return where the report is."""
    from untwin.model.records import versions
    from untwin.report import Report, write_report

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model.about_ = plain({**about, "peak_mebibytes": peak, "versions": versions()})  # the report tells of it
    made = Report.of(model, texts=texts)  # first: what it has the model measure is saved with the model
    model.save(folder, texts=texts)
    return str(write_report(made, folder.with_name(f"{folder.name}.html")))

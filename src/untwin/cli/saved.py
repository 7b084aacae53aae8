"""Where a model goes: refused before the work begins if it cannot, written when the work is done."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwin._errors import InputError
from untwin.cli.output import plain, say

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def save(model: UntwinClassifier, folder: Path, about: dict[str, Any], *, texts: bool) -> None:
    """Write the model, with what is to be known about it."""
    _note(model, about)
    model.save(folder, texts=texts)


def save_with_report(model: UntwinClassifier, folder: Path, about: dict[str, Any], *, texts: bool) -> str:
    """Write the model again with what its report has it measure, and the report; return where that is."""
    from untwin.report import Report, write_report

    _note(model, about)
    made = Report.of(model, texts=texts)
    model.save(folder, texts=texts)
    return str(write_report(made, folder.with_name(f"{folder.name}.html")))


@contextmanager
def saying_saved(folder: Path) -> Iterator[None]:
    """Say that the model is there already, if what comes after it fails: hours of work are not lost."""
    try:
        yield
    except BaseException:
        say(f"untwin: the model is complete in {folder}; only what comes after it failed")
        raise


def _note(model: UntwinClassifier, about: dict[str, Any]) -> None:
    """Have the model know how it was made: `info` and the report tell of it."""
    from untwin.model.records import versions

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model.about_ = plain({**about, "peak_mebibytes": peak, "versions": versions()})

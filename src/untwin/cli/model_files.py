"""Where a model goes: refused before the work begins if it cannot, written when the work is done."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwin._errors import InputError
from untwin._files import require_ours
from untwin._plain import plain
from untwin.cli.options import PRECISIONS
from untwin.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from untwin.model import UntwinClassifier

LONGEST_WAIT = 600.0  # seconds, for another command that writes to the same model


def writable_model(output: str, *, force: bool) -> Path:
    """Return the folder that a model may be written to: new, empty, or a model; anything else is refused now.

    So is a report that would be written over something that is no report.
    """
    from untwin.store.files import refuse_strangers

    folder = Path(output)
    if folder.is_dir():
        refuse_strangers(folder, InputError, "Choose a new folder with -o.")
    elif folder.exists() or folder.is_symlink():
        kind = "a file" if folder.exists() else "a link to nothing"
        raise InputError(f"{output}: is {kind}.", code="not-a-folder", hint="Choose a new folder with -o.")
    elif not folder.parent.is_dir():
        message = f"{folder.parent}: there is no such folder."
        raise InputError(message, code="not-found", hint="Make it first, or choose another place with -o.")
    require_report_place(report_of(folder), force=force)
    return folder


def report_of(folder: Path) -> Path:
    """Return where the report of a model stands.

    >>> report_of(Path("models/tickets/")).as_posix()
    'models/tickets.html'
    """
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(f"{named.name}.html")


def require_report_place(path: Path, *, force: bool) -> None:
    """Refuse a place for a report that is no file, or a file that is no report of ours."""
    from untwin.report.page import MARK

    require_ours(path, MARK, force=force)


def require_outside(path: Path, model: Path) -> None:
    """Refuse to write a file into the folder of a model, which is refused if it holds any other."""
    if path.parent.resolve() == model.resolve():
        message = f"{path}: is inside the model, which holds no other files."
        raise InputError(message, code="inside-model", hint="Choose another place with -o.")


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Keep other commands from writing to a model that is there, or to its report; wait for one that does."""
    from untwin.store import read_digest, sole_writer

    read_digest(folder)  # what is no model is refused before a lock is put into it
    with sole_writer(folder, wait=LONGEST_WAIT):
        yield


@contextmanager
def save_once(
    model: UntwinClassifier, folder: Path, about: dict[str, Any], *, texts: bool
) -> Iterator[Callable[[], str]]:
    """Give what writes the model, then its report, and returns where that is.

    Whatever fails before the model is written, it is written then, and it is said that it is there: hours of work are
    not lost. No other command writes to it until all is done.
    """
    from untwin.store import sole_writer

    steps = []

    def save() -> None:
        steps.append("begun")
        _note(model, about)
        model.save(folder, texts=texts, precision=noted_precision(model))
        steps.append("done")

    def save_with_report() -> str:
        save()
        return _write_report(model, folder, texts=texts)

    with sole_writer(folder, wait=LONGEST_WAIT):
        try:
            yield save_with_report
        except BaseException:
            if not steps:
                save()
            if "done" in steps:
                say(f"untwin: the model is complete in {folder}; only what comes after it failed")
            raise


def write_report_again(model: UntwinClassifier, folder: Path, *, texts: bool) -> str:
    """Write the report of a model that is saved, and the model too if the report shows what it does not hold yet."""
    before = model.measured_
    if model.measure().measured_ != before:
        model.save(folder, texts=texts, precision=noted_precision(model))
    return _write_report(model, folder, texts=texts)


def _write_report(model: UntwinClassifier, folder: Path, *, texts: bool) -> str:
    from untwin.cli.dismissals import dismissals_of
    from untwin.report import Report, write_report

    made = Report.of(model, texts=texts, dismissals=dismissals_of(folder))
    return str(write_report(made, report_of(folder)))


def noted_precision(model: UntwinClassifier) -> str | None:
    """Return the precision that a fit was asked for, which a stranger may have noted; None: what the model has.

    A model that has all its weights can be saved with any.
    """
    from untwin.model.state import FULL

    options = model.about_.get("options")
    noted = options.get("precision") if isinstance(options, dict) else None
    return noted if model.state_.kept == FULL and noted in PRECISIONS else None


def _note(model: UntwinClassifier, about: dict[str, Any]) -> None:
    """Have the model know how it was made: `info` and the report tell of it."""
    from untwin.model.records import versions

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model.about_ = plain({**about, "peak_mebibytes": peak, "versions": versions()})

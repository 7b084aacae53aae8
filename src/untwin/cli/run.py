"""From arguments to an exit code: every way in which a command can end."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untwin._errors import UntwinError
from untwin._wording import options_as_flags
from untwin.cli.group import cli
from untwin.cli.options import flag_of
from untwin.cli.output import Failure, show_failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DONE, WRONG, UNUSABLE, INTERNAL = 0, 1, 2, 70
ENDED_BY = 128  # and the number of the signal
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """A signal asks the command to end: whatever is open is closed, and unfinished files go."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run(arguments: Sequence[str], command: click.Command = cli, name: str = "untwin") -> int:
    """Run a command line and return its exit code; nothing but the code and the output leaves."""
    _prepare_streams()
    as_json = "--json" in arguments
    try:
        with _ending_in_order():
            code = _invoke(command, name, list(arguments), as_json=as_json)
            sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    except OSError as error:  # the output itself failed
        return show_failure(_os_failure(error), as_json=False)
    return code


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let signals that would end the process raise `Ended`, unless somebody else has a use for them.

    One that comes while another is being obeyed is ignored, so that nothing keeps the command from tidying up. For one
    Ctrl-C there may be two: Polars raises a `KeyboardInterrupt` of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        if not isinstance(sys.exception(), KeyboardInterrupt):
            raise Ended(number)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    ours = [number for number in SIGNALS if before[number] in (signal.SIG_DFL, signal.default_int_handler)]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _prepare_streams() -> None:
    """Print what the encoding of the terminal lacks as escapes; print nowhere if a stream is closed (``>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  (for as long as the process)
        getattr(sys, name).reconfigure(errors="backslashreplace")


def _invoke(command: click.Command, name: str, arguments: list[str], *, as_json: bool) -> int:
    try:
        with options_as_flags(flag_of), command.make_context(name, arguments) as context:
            return int(command.invoke(context) or DONE)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        number = error.number if isinstance(error, Ended) else signal.SIGINT
        return _end_interrupted(ENDED_BY + number, as_json=as_json)
    except BrokenPipeError:
        raise
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return UNUSABLE
    except BaseException as error:
        return show_failure(_failure(error), as_json=as_json)


def _end_interrupted(code: int, *, as_json: bool) -> int:
    """End as the user wants it: without a word, except that whoever reads JSON must be told."""
    if as_json:
        show_failure(Failure(code, "interrupted", "Interrupted before it was done.", ""), as_json=True)
    return code


def _failure(error: BaseException) -> Failure:
    if os.environ.get("UNTWIN_DEBUG"):
        traceback.print_exception(error)
    match error:
        case UntwinError():
            return Failure(error.exit_code, error.code, error.message, error.hint)
        case click.UsageError():
            where = error.ctx.command_path if error.ctx else "untwin"
            return Failure(UNUSABLE, "usage", error.format_message(), f"See {where} --help.")
        case click.ClickException():
            return Failure(UNUSABLE, "usage", error.format_message(), "")
        case OSError():
            return _os_failure(error)
    hint = "This is a bug in untwin; set UNTWIN_DEBUG=1 to see the traceback."
    return Failure(INTERNAL, "internal", f"Internal error: {type(error).__name__}: {error}".strip(), hint)


def _os_failure(error: OSError) -> Failure:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    where = f"{error.filename}: " if error.filename else ""
    hint = "Make room on the disk and run it again." if full else "Check the path and the permissions."
    return Failure(UNUSABLE, "disk-full" if full else "os", f"{where}{error.strerror or error}.", hint)


def _closed_pipe() -> int:
    """End quietly when the reader has gone: what Python still holds back goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    return DONE

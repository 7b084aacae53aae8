from __future__ import annotations

import io
import sys
import warnings

from hypothesis import given
from hypothesis import strategies as st

from untwin._progress import report
from untwin.cli import output


@given(st.text())
def test_printable_is_printable_and_keeps_what_was(text):
    shown = output.printable(text)
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text


def test_progress_is_one_line_a_stage_without_a_terminal(capsys):
    with output.progress():
        for done in range(4):
            report("folds", done, 3)
        report("second\x1b", 1, 1)
    assert capsys.readouterr().err == "untwin: folds\nuntwin: second\\x1b\n"


def test_a_terminal_gets_a_drawn_table_without_markup(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.put_table(["name"], [["[bold]x[/bold] :smile: \x1b[31m"]])
    shown = capsys.readouterr().out
    assert "[bold]x[/bold] :smile: \\x1b[31m" in shown
    assert "─" in shown


def test_a_terminal_gets_bars(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with output.progress():
        report("[bold]stage", 1, 2)
    assert "[bold]stage" in capsys.readouterr().err


def test_bars_are_drawn_in_what_the_terminal_has(monkeypatch):
    for encoding, block in (("utf-8", "\u2588"), ("ascii", "#")):
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        assert output.bar(0.5, 10) == block * 5


def test_warnings_are_said_once(capsys):
    with output.collect_warnings() as found:
        warnings.simplefilter("always")
        for _ in range(2):
            warnings.warn("look\x1b out", UserWarning, stacklevel=1)
    assert found == ["UserWarning: look\x1b out"]
    assert capsys.readouterr().err == "warning: UserWarning: look\\x1b out\n"

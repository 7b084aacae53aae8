"""Where answers go: whole or not at all, never over the input or into the model, and harmless to look at."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import subprocess
import time

import polars as pl
import pytest
from tests.cli.conftest import records, write_csv
from tests.conftest import COMMAND

from untwin import UntwinClassifier
from untwin.cli import output


def cells(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def table(tmp_path, new_rows):
    return write_csv(tmp_path / "new.csv", new_rows)


@pytest.mark.parametrize("kind", ["itself", "another path", "hard link"])
def test_the_input_is_not_written_over_unless_asked_for(command, fitted, table, tmp_path, kind):
    target, before = table, table.read_bytes()
    if kind == "another path":
        (tmp_path / "inner").mkdir()
        target = tmp_path / "inner" / ".." / "new.csv"
    if kind == "hard link":
        target = tmp_path / "linked.csv"
        os.link(table, target)
    done = command("predict", fitted.folder, table, "-o", target)
    assert done.code == 2
    assert "is the file that is read" in done.err
    assert "--force" in done.err
    assert table.read_bytes() == before
    assert command("predict", fitted.folder, table, "-o", target, "--force").code == 0
    assert len(cells(target.read_text())) == 12
    assert "untwin_label" in cells(target.read_text())[0]


def test_an_input_through_a_link_or_standard_input_is_the_input(command, fitted, table, tmp_path):
    (tmp_path / "link.csv").symlink_to(table)
    assert "is the file that is read" in command("predict", fitted.folder, tmp_path / "link.csv", "-o", table).err
    with table.open("rb") as rows:
        arguments = [COMMAND, "predict", fitted.folder, "-", "--format", "csv", "-o", table]
        done = subprocess.run(arguments, stdin=rows, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"is the file that is read" in done.stderr


@pytest.mark.parametrize(
    ("target", "code"), [("link.csv", "not-a-file"), ("pipe.csv", "not-a-file"), ("model/out.csv", "inside-model")]
)
def test_places_that_are_refused_before_the_work_begins(command, fitted, table, tmp_path, monkeypatch, target, code):
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "model").symlink_to(fitted.folder)
    monkeypatch.setattr("untwin.cli.loaded_model.load_model_for", None)  # it does not come to that
    done = command("predict", fitted.folder, table, "-o", tmp_path / target, "--json", "--force")
    assert (done.code, done.json()["error"]["code"]) == (2, code)
    assert not (tmp_path / "elsewhere").exists()
    assert not (fitted.folder / "out.csv").exists()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_disk_that_is_full_leaves_the_old_file_alone(fitted, table, tmp_path, ending):
    target = tmp_path / f"out.{ending}"
    target.write_text("old")
    program = f"ulimit -f 1; exec {COMMAND} predict {fitted.folder} {table} -o {target}"
    table.write_text(table.read_text() + "".join(f"X{number},{'printer ' * 20}{number}\n" for number in range(200)))
    done = subprocess.run(["bash", "-c", program], capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert b"File too large" in done.stderr
    assert str(target).encode() in done.stderr
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", target.name]


def test_an_error_in_the_middle_of_a_parquet_file_is_told_as_it_is(command, fitted, table, tmp_path):
    with table.open("a") as file:
        file.write("x,printer\n" * 9000 + "one,two,three\n")
    done = command("predict", fitted.folder, table, "-o", tmp_path / "out.parquet")
    assert done.code == 2
    assert "3 cells where the header has 2" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_nothing_behind(fitted, tmp_path, ending, number):
    """The rows come through a pipe that stays open, so that the command is in the middle of its work."""
    target = tmp_path / f"out.{ending}"
    target.write_text("old")
    arguments = [COMMAND, "predict", fitted.folder, "-", "--format", "csv", "-o", target]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"text\n" + b"printer jam again\n" * 20_000)
    process.stdin.flush()
    while len(list(tmp_path.iterdir())) == 1:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(timeout=60) == 128 + number  # although nobody has closed the pipe
    _, talk = process.communicate()
    assert b"Traceback" not in talk
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_answers_can_be_corrected_and_learnt(command, tmp_path):
    """Labels that look like formulas are guarded in the answers, and are the same classes when they are read again."""
    names = {"billing": "+", "delivery": "-x", "password": "=1", "printer": "'@"}
    rows = [{"text": row["text"], "label": names[row["label"]]} for row in records(60, 4)]
    with (tmp_path / "t.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    model = tmp_path / "model"
    assert command("fit", tmp_path / "t.jsonl", "-o", model, "--preset", "fast", "--text", "text").code == 0
    new = write_csv(tmp_path / "new.csv", [{"text": f"{row['text']} {i}"} for i, row in enumerate(records(20, 5))])
    answered = tmp_path / "answered.csv"
    assert command("predict", model, new, "-o", answered).code == 0
    found = {row["untwin_label"] for row in cells(answered.read_text())}
    assert found <= {"'+", "'-x", "'=1", "''@"}
    done = command("add", model, answered, "--label", "untwin_label", "--json")
    assert done.code == 0
    assert done.json()["new_classes"] == []
    assert set(UntwinClassifier.load(model).classes_.tolist()) == set(names.values())
    done = command("evaluate", model, answered, "--label", "untwin_label", "--json").json()
    assert done["unknown_classes"] == []
    assert done["accuracy"] > 0.9


def test_cells_are_kept_however_often_answers_are_answered(command, fitted, tmp_path):
    header, given = "text,=name\n", 'printer jam,"=1+1"\n"\'=x",\'+\n" ＝y",-5\n'
    (tmp_path / "0.csv").write_text(header + given)
    for number in range(3):
        arguments = ["-o", tmp_path / f"{number + 1}.csv", "--prefix", f"p{number}_"]
        assert command("predict", fitted.folder, tmp_path / f"{number}.csv", *arguments).code == 0
        found = cells((tmp_path / f"{number + 1}.csv").read_text())
        assert [row["text"] for row in found] == ["printer jam", "'=x", "' ＝y"]
        assert [row["'=name"] for row in found] == ["'=1+1", "'+", "-5"]
    assert command("predict", fitted.folder, tmp_path / "0.csv", "-o", tmp_path / "raw.csv", "--raw").code == 0
    assert [row["=name"] for row in cells((tmp_path / "raw.csv").read_text())] == ["=1+1", "'+", "-5"]
    assert command("predict", fitted.folder, tmp_path / "3.csv", "-o", tmp_path / "4.jsonl").code == 0
    meant = [json.loads(line) for line in (tmp_path / "4.jsonl").read_text().splitlines()]
    assert [row["=name"] for row in meant] == ["=1+1", "+", "-5"]


HOSTILE = "printer \x1b[31mred\x07 \x9b5n \u202eright\u2066 \u200f jam"


@pytest.mark.parametrize("options", [[], ["--json"], ["--raw"]])
def test_a_terminal_is_not_driven_by_the_data(fitted, tmp_path, options):
    table = write_csv(tmp_path / "t.csv", [{"text": HOSTILE, "note": "two\nlines\tand a tab"}])
    arguments = [COMMAND, "predict", fitted.folder, table, *options]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while piece := read(ours):
        shown += piece
    assert process.wait() == 0
    text = shown.decode().replace("\r\n", "\n")
    assert all(character.isprintable() or character in "\n\t" for character in text)
    assert "\\u202eright" in text
    piped = subprocess.run(arguments, capture_output=True, check=True).stdout.decode()
    if not options:
        assert HOSTILE in piped  # data stays data
    assert len(piped.split("\n")) == len(text.split("\n"))


def read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # closed from the other side
        return b""


def test_next_lines_can_be_given_to_a_shell(capsys):
    output.name_next(["info", "my model"], ["explain", "m", "--text", "it's $HOME; rm"])
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "next: untwin info 'my model'"
    found = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {said[1].strip()}"], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["untwin", "explain", "m", "--text", "it's $HOME; rm"]


def test_parquet_of_many_batches_has_every_row_in_order(command, fitted, tmp_path):
    texts = [f"printer jam {number}" for number in range(20_000)]
    table = write_csv(tmp_path / "t.csv", [{"text": text} for text in texts])
    assert command("predict", fitted.folder, table, "-o", tmp_path / "o.parquet").code == 0
    assert pl.read_parquet(tmp_path / "o.parquet")["text"].to_list() == texts

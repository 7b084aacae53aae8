from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import write_csv
from tests.conftest import COMMAND

from untwin import UntwinClassifier
from untwin.data.read import source

NEW = ["untwin_label", "untwin_probability", "untwin_unsure", "untwin_group", "untwin_no_evidence"]


@pytest.fixture
def model(fitted):
    return UntwinClassifier.load(fitted.folder)


@pytest.fixture
def table(tmp_path, new_rows):
    return write_csv(tmp_path / "new.csv", new_rows)


def cells(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_answers_stand_beside_the_rows_in_their_order(command, fitted, model, table, new_rows):
    done = command("predict", fitted.folder, table)
    found, texts = cells(done.out), [row["text"] for row in new_rows]
    assert list(found[0]) == ["id", "text", *NEW]
    assert [{name: row[name] for name in ("id", "text")} for row in found] == new_rows
    assert [row["untwin_label"] for row in found] == model.predict(texts).tolist()
    P = model.predict_proba(texts)
    assert np.allclose([float(row["untwin_probability"]) for row in found], P.max(axis=1), atol=1e-6)
    assert [row["untwin_unsure"] == "true" for row in found] == model.unsure(texts).tolist()
    groups = [model.groups_[number] for number in model.predict_group(texts).groups]
    assert [tuple(row["untwin_group"].split(" | ")) for row in found] == groups
    assert "12 rows answered" in done.err


def test_a_text_without_a_known_word_is_answered_by_the_prior(command, fitted, model, tmp_path):
    table = write_csv(tmp_path / "t.csv", [{"text": text} for text in ("", "zzz", "printer")])
    found = cells(command("predict", fitted.folder, table).out)
    assert [row["untwin_no_evidence"] for row in found] == ["true", "true", "false"]
    names, counts = np.unique(model.state_.y, return_counts=True)
    assert found[0]["untwin_label"] == names[counts.argmax()]
    assert float(found[0]["untwin_probability"]) == pytest.approx(counts.max() / counts.sum(), abs=1e-6)


def test_the_likeliest_classes(command, fitted, model, table, new_rows):
    found = cells(command("predict", fitted.folder, table, "--top", "9").out)
    P = model.predict_proba([row["text"] for row in new_rows])
    ranked = model.classes_[np.argsort(-P, axis=1, kind="stable")]
    columns = ["untwin_label", "untwin_label_2", "untwin_label_3", "untwin_label_4"]
    assert [[row[name] for name in columns] for row in found] == ranked.tolist()
    assert "untwin_label_5" not in found[0]


def test_the_median_grade_comes_first_where_distances_count(command, tmp_path):
    texts = ["bad awful", "bad poor", "fine so", "fine middling", "good great", "good lovely"] * 4
    grades = ["1", "1", "2", "2", "3", "3"] * 4
    rows = [{"text": f"{text} {i}x", "label": grade} for i, (text, grade) in enumerate(zip(texts, grades, strict=True))]
    table = write_csv(tmp_path / "t.csv", rows)
    options = ["--ordinal", "1,2,3", "--scoring", "mae", "--preset", "fast"]
    assert command("fit", table, "-o", tmp_path / "m", *options).code == 0
    new = write_csv(tmp_path / "n.csv", [{"text": text} for text in ("bad great", "good", "awful lovely bad good")])
    found = cells(command("predict", tmp_path / "m", new, "--top", "3").out)
    model = UntwinClassifier.load(tmp_path / "m")
    said = model.predict(["bad great", "good", "awful lovely bad good"]).tolist()
    assert [row["untwin_label"] for row in found] == said
    assert all({row["untwin_label"], row["untwin_label_2"], row["untwin_label_3"]} == {"1", "2", "3"} for row in found)


def test_formats_in_and_out(command, fitted, tmp_path, new_rows):
    frame = pl.DataFrame(new_rows).with_columns(n=pl.int_range(pl.len()), tags=pl.lit(["a", "b"]))
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    flat = frame.drop("tags")
    flat.write_csv(tmp_path / "t.tsv", separator="\t")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(flat.write_csv().encode()))
    labels = {}
    for name in ("t.parquet", "t.jsonl", "t.tsv", "t.csv.gz"):
        for ending in ("csv", "tsv", "jsonl", "parquet"):
            output = tmp_path / f"out.{ending}"
            assert command("predict", fitted.folder, tmp_path / name, "-o", output).code == 0
            labels[name, ending] = read_back(output, ending)
    assert len({tuple(found) for found in labels.values()}) == 1
    assert not list(tmp_path.glob("*.new"))
    assert pl.read_parquet(tmp_path / "out.parquet").columns == [*flat.columns, *NEW]
    command("predict", fitted.folder, tmp_path / "t.parquet", "-o", tmp_path / "typed.parquet")
    assert pl.read_parquet(tmp_path / "typed.parquet").select(frame.columns).equals(frame)


def read_back(path, ending):
    if ending == "parquet":
        return pl.read_parquet(path)["untwin_label"].to_list()
    if ending == "jsonl":
        return [json.loads(line)["untwin_label"] for line in path.read_text().splitlines()]
    return [row["untwin_label"] for row in cells(path.read_text(), "," if ending == "csv" else "\t")]


def test_json_objects_keep_what_they_hold_as_it_is_written(command, fitted, tmp_path):
    lines = ['{"text": "printer", "n": 1.50, "deep": {"a": [1, null]}}', '{"text":"invoice", "n": 1e3 }', "  {}  "]
    (tmp_path / "t.jsonl").write_text("\n\n".join(lines))
    found = command("predict", fitted.folder, tmp_path / "t.jsonl").out.splitlines()
    assert found[0].startswith(lines[0][:-1] + ',"untwin_label":"printer"')
    assert found[1].startswith('{"text":"invoice", "n": 1e3,"untwin_label":"billing"')
    assert json.loads(found[2])["untwin_no_evidence"] is True
    assert json.loads(command("predict", fitted.folder, tmp_path / "t.jsonl", "--json").out.splitlines()[2])


def test_formulas_are_harmless_unless_asked_for(command, fitted, tmp_path):
    texts = ["=1+1", "+x", "-5", "@cmd", "-x", "fine", "a=b", "+3.5e2", "\tx", "\n=1", "＝1", " =1"]
    table = write_csv(tmp_path / "t.csv", [{"text": text, "@": text} for text in texts])
    guarded = ["'=1+1", "'+x", "-5", "'@cmd", "'-x", "fine", "a=b", "+3.5e2", "'\tx", "'\n=1", "'＝1", "' =1"]
    found = cells(command("predict", fitted.folder, table).out)
    assert [(row["text"], row["'@"]) for row in found] == [(text, text) for text in guarded]
    assert [row["text"] for row in cells(command("predict", fitted.folder, table, "--raw").out)] == texts


def test_a_clash_of_names_and_the_way_out(command, fitted, table, tmp_path):
    assert command("predict", fitted.folder, table, "-o", tmp_path / "once.csv").code == 0
    done = command("predict", fitted.folder, tmp_path / "once.csv", "-o", tmp_path / "twice.csv")
    assert done.code == 2
    assert "--prefix" in done.err
    assert not (tmp_path / "twice.csv").exists()
    assert (
        command("predict", fitted.folder, tmp_path / "once.csv", "-o", tmp_path / "twice.csv", "--prefix", "b_").code
        == 0
    )
    found = cells((tmp_path / "twice.csv").read_text())
    assert all(row["untwin_label"] == row["b_label"] for row in found)


def test_batches_do_not_change_answers(command, fitted, table, monkeypatch):
    whole = command("predict", fitted.folder, table).out
    monkeypatch.setattr(source, "PIECE", 60)
    assert command("predict", fitted.folder, table).out == whole


def test_a_file_takes_its_name_when_it_is_complete(command, fitted, table, tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("old")
    monkeypatch.setattr(source, "PIECE", 60)
    with table.open("a") as file:
        file.write("one,two,three\n")
    done = command("predict", fitted.folder, table, "-o", tmp_path / "out.csv")
    assert done.code == 2
    assert "row 13 (line 14): 3 cells where the header has 2" in done.err
    assert (tmp_path / "out.csv").read_text() == "old"
    assert not list(tmp_path.glob("*.new"))


def test_bad_rows_are_left_out_and_counted_over_all_batches(command, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "PIECE", 20)
    (tmp_path / "t.jsonl").write_text(
        '{"text": "printer"}\n{bad bad bad bad bad\n\n{"text": "invoice"}\n{"text": }\n{"text": "code"}\n'
    )
    done = command("predict", fitted.folder, tmp_path / "t.jsonl", "--skip-bad-rows", "2", "--strict")
    assert [json.loads(line)["text"] for line in done.out.splitlines()] == ["printer", "invoice", "code"]
    assert "2 bad rows skipped" in done.err
    assert done.code == 1
    done = command("predict", fitted.folder, tmp_path / "t.jsonl", "--skip-bad-rows", "1")
    assert "row 4 (line 5)" in done.err


def test_keys_that_come_and_go(command, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "PIECE", 20)
    (tmp_path / "t.jsonl").write_text('{"text": "printer", "a": 1}\n{"a": 2, "b": "zzzzzzzzz"}\n')
    found = command("predict", fitted.folder, tmp_path / "t.jsonl").out.splitlines()
    assert json.loads(found[1])["untwin_no_evidence"]
    done = command("predict", fitted.folder, tmp_path / "t.jsonl", "-o", tmp_path / "o.csv")
    assert done.code == 2
    assert "'b' comes up late" in done.err


def test_standard_input_and_a_closed_pipe(fitted, new_rows):
    lines = "".join(json.dumps(row) + "\n" for row in new_rows).encode()
    arguments = [COMMAND, "predict", fitted.folder, "-", "--format", "jsonl"]
    done = subprocess.run(arguments, input=lines, capture_output=True, check=True)
    assert len(done.stdout.splitlines()) == len(new_rows)
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    _, talk = process.communicate(lines * 500)
    assert process.returncode == 0
    assert b"Traceback" not in talk
    assert b"BrokenPipe" not in talk


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk(fitted, table):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [COMMAND, "predict", fitted.folder, table], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert b"No space left" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "options", "code"),
    [
        ("t.csv", b"", [], "empty"),
        ("t.jsonl", b"\n", [], "empty"),
        ("t.csv", b"text\n", [], "no-rows"),
        ("t.csv", b"body\nxx\n", [], "missing-column"),
        ("t.csv", b"text\nok\n\xe9t\xe9\n", [], "encoding"),
        ("t.csv", b"text\nok\n", ["--encoding", "nonsense"], "encoding"),
        ("t.csv", b'text\n"never closed\n', [], "unclosed-quote"),
        ("t.csv.gz", b"\x1f\x8b\x08cut", [], "gzip"),
        ("t.csv", b"PK\x03\x04", [], "spreadsheet"),
        ("t.xlsx", b"", [], "spreadsheet"),
        ("t.parquet", b"PAR1nonsense", [], "parquet"),
        ("t.txt", b"", [], "format"),
        ("t.csv", b"text\nok\n", ["-o", "out.doc"], "format"),
        ("t.csv", b"text\nok\n", ["-o", "no/where.csv"], "not-found"),
        ("t.csv", b"a;b\nok;1\n", [], "separator"),
    ],
)
def test_what_cannot_be_answered(command, fitted, tmp_path, name, content, options, code):
    (tmp_path / name).write_bytes(content)
    done = command("predict", fitted.folder, tmp_path / name, "--json", *options)
    assert done.code == 2
    assert done.json()["error"]["code"] == code


def test_the_place_of_a_wrong_byte_is_named(command, fitted, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"text\n" + b"fine\n" * 4000 + b"\xe9\n")
    assert "t.csv, byte 20005 (line 4002): the bytes e9 0a" in command("predict", fitted.folder, tmp_path / "t.csv").err


def test_limit(command, fitted, table):
    assert len(cells(command("predict", fitted.folder, table, "--limit", "3").out)) == 3

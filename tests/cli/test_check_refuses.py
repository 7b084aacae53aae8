"""Every unusable input, through the installed command: exit code 2, place and remedy named, nothing else."""

from __future__ import annotations

import gzip
import io
import json
import os

import polars as pl
import pytest

from untwin.cli.run import run

GOOD = b"text,label\nno signal,a\nlow battery,b\n"


def parquet(tmp_path):
    path = tmp_path / "whole.parquet"
    pl.DataFrame({"text": ["a b"] * 500, "label": ["x", "y"] * 250}).write_parquet(path)
    data = path.read_bytes()
    path.unlink()
    return data


# file name, content, arguments, code, what stderr must name
REFUSED = [
    ("t.csv", b"", [], "empty", ["t.csv", "empty", "header row"]),
    ("t.csv", b"text,label\n", [], "no-rows", ["t.csv", "no rows"]),
    ("t.csv", GOOD, ["--label", "lable"], "missing-column", ["'text', 'label'", "Did you mean 'label'?"]),
    ("t.csv", b"text,kind\nxx,a\n", [], "no-label", ["'text', 'kind'", "--label"]),
    ("t.csv", b"text,label,label\nxx,a,b\n", [], "duplicate-column", ["'label'", "2 times", "Rename"]),
    ("t.csv", b"text,label\nxx,a\nyy,\n", [], "empty-label", ["row 2 (line 3)", "'label'", "--missing-label drop"]),
    ("t.csv", b"text,label\nxx,a\nyy,a\n", [], "one-class", ["'label'", "only one class", "--label"]),
    ("t.csv", b"text;label\nxx;a\nyy;b\n", [], "separator", ["t.csv", '--separator ";"']),
    ("t.csv", b"text,label\nxx,a\nyy\n", [], "ragged-row", ["row 2 (line 3)", "--separator", "--skip-bad-rows"]),
    ("t.csv", b'text,label\nxx,a\n"yy,b\nzz,c\n', [], "unclosed-quote", ["row 2 (line 3)", "close every quote"]),
    ("t.csv", b"text,label\nxx,a\nz\xe9,b\n", [], "encoding", ["byte 17 (line 3)", "--encoding"]),
    ("t.csv", b"text,label\nxx,a\nz\xed\xa0\x80,b\n", [], "lone-surrogate", ["byte 17 (line 3)", "repair"]),
    ("t.csv", GOOD, ["--encoding", "klingon"], "encoding", ["klingon", "cp1252"]),
    ("t.csv", b"\x7fELF\0\0\0", [], "binary", ["t.csv", "binary", "text table"]),
    ("t.csv", b"PK\x03\x04rest", [], "spreadsheet", ["save it as CSV"]),
    ("t.xlsx", b"PK\x03\x04rest", [], "spreadsheet", ["t.xlsx", "save it as CSV"]),
    ("t.csv.gz", gzip.compress(GOOD * 50, mtime=0)[:40], [], "gzip", ["t.csv.gz", "copy or download it again"]),
    ("t.jsonl", b'{"text": "x"}\n{"text": \n', [], "bad-json", ["row 2 (line 2)", "--skip-bad-rows"]),
    ("t.jsonl", b'{"text": "x \\ud800", "label": "a"}\n', [], "lone-surrogate", ["row 1 (line 1)", "repair"]),
    ("t.jsonl", b'{"text": ["x"], "label": "a"}\n', ["--text", "text"], "nested-column", ["'text'", "plain text"]),
    (
        "t.csv",
        b"n,label\n1,a\ninf,b\n",
        ["--numeric", "n"],
        "not-a-number",
        ["row 2 (line 3)", "'n'", "'inf'", "empty"],
    ),
    ("t.csv", b"n,label\n1,a\nmany,b\n", ["--numeric", "n"], "not-a-number", ["row 2", "'many'", "--nominal"]),
    ("t.csv", b"n,label\n1,a\ninf,b\n", [], "not-a-number", ["row 2 (line 3)", "'inf'"]),
    ("t.csv", b"text,label\n!,a\n?,b\n", [], "no-words", ["'text'", "empty after tokenising", "--text"]),
    ("t.csv", b"site,label\nx,a\nx,b\n", [], "no-features", ["'site' is constant", "--text"]),
    ("t.txt", GOOD, [], "format", ["t.txt", "--format"]),
]


@pytest.fixture
def refusal(untwin, tmp_path, monkeypatch, capsys):
    """Run `untwin check` in vain: once as the installed command, once (quicker) in this process for its JSON."""

    def check(arguments, code, words, stdin=b""):
        before = sorted(tmp_path.rglob("*"))
        done = untwin("check", *arguments, cwd=tmp_path, stdin=stdin)
        talk = done.stderr.decode()
        assert done.returncode == 2, talk
        assert done.stdout == b""
        assert "Traceback" not in talk
        assert [word for word in words if word not in talk] == [], talk
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        assert run(["check", *arguments, "--json"]) == 2
        record = json.loads(capsys.readouterr().out)
        assert (record["schema_version"], record["ok"], record["error"]["code"]) == (1, False, code)
        assert record["error"]["hint"]
        assert sorted(tmp_path.rglob("*")) == before

    return check


@pytest.mark.parametrize(("name", "content", "arguments", "code", "words"), REFUSED, ids=[case[3] for case in REFUSED])
def test_unusable_files(refusal, tmp_path, name, content, arguments, code, words):
    (tmp_path / name).write_bytes(content)
    refusal([name, *arguments], code, words)


def test_truncated_parquet(refusal, tmp_path):
    (tmp_path / "t.parquet").write_bytes(parquet(tmp_path)[:-20])
    refusal(["t.parquet"], "parquet", ["t.parquet", "copy it again"])


def test_missing_file(refusal, tmp_path):
    refusal(["nope.csv"], "not-found", ["nope.csv", "Check the path"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file(refusal, tmp_path):
    (tmp_path / "t.csv").write_bytes(GOOD)
    (tmp_path / "t.csv").chmod(0)
    refusal(["t.csv"], "unreadable", ["t.csv", "may read"])


def test_folder_with_undecodable_file(refusal, tmp_path):
    for name, content in {"a/1.txt": b"fine text", "b/2.txt": b"caf\xe9"}.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True)
        (tmp_path / "docs" / name).write_bytes(content)
    refusal(["docs"], "encoding", ["docs/b/2.txt, byte 3", "--encoding"])


def test_folder_without_documents(refusal, tmp_path):
    (tmp_path / "docs" / "a").mkdir(parents=True)
    (tmp_path / "docs" / "a" / "image").write_bytes(b"\x89PNG\0")
    refusal(["docs"], "empty", ["docs", "1 binary file skipped", "sub-folder"])


def test_stdin_needs_a_format(refusal):
    refusal(["-"], "format", ["standard input", "--format"], stdin=GOOD)
    bad = b"text,label\nxx,a\nyy,\n"
    refusal(["-", "--format", "csv"], "empty-label", ["stdin, row 2 (line 3)", "--missing-label"], stdin=bad)

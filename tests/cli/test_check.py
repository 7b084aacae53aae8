from __future__ import annotations

import gzip
import json
import re

import pytest

GOOD = b"text,label\nno signal here,a\nlow battery,b\nno network,a\nflat battery,b\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(GOOD)
    return path


def check(untwin, tmp_path, content, *arguments, name="t.csv"):
    (tmp_path / name).write_bytes(content)
    done = untwin("check", name, "--json", *arguments, cwd=tmp_path)
    return done.returncode, json.loads(done.stdout)


def test_a_good_table(untwin, table):
    done = untwin("check", table)
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "4 rows, 2 classes" in shown
    assert "largest class: a (2)" in shown
    assert "text    text     its name" in shown
    assert "Nothing odd found." in shown
    assert b"\x1b" not in done.stdout


def test_one_json_object(untwin, tmp_path):
    code, record = check(untwin, tmp_path, GOOD)
    assert code == 0
    assert (record["schema_version"], record["ok"], record["rows"], record["classes"]) == (1, True, 4, 2)
    assert [(use["name"], use["role"]) for use in record["columns"]] == [("text", "text"), ("label", "label")]
    assert record["smallest"] == {"class": "b", "count": 2}
    assert record["findings"] == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"text,label\n" + b"".join(b"text number %d,id%d\n" % (i, i) for i in range(30)), "id-like-label"),
        (b"text,label\none two,a\nthree,b\n", "no-repeated-class"),
        (b"text,label,split\none two,a,train\nthree,a,test\nfour,b,train\nOne two,b,test\n", "split-leak"),
    ],
)
def test_readable_but_wrong_ends_with_1(untwin, tmp_path, content, code):
    exit_code, record = check(untwin, tmp_path, content)
    assert exit_code == 1
    assert record["findings"][0]["code"] == code
    assert record["findings"][0]["severity"] == "error"


def test_two_possible_labels_are_asked_about_by_every_command_that_guesses(untwin, tmp_path):
    rows = [f"text number {i},{'ab'[i % 2]},{'wxyz'[i % 4]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["text,category,intent", *rows]) + "\n")
    for call in (["check", "t.csv"], ["fit", "t.csv", "-o", "m"]):
        done = untwin(*call, cwd=tmp_path)
        assert done.returncode == 2
        assert b"--label category or --label intent" in done.stderr
    assert not (tmp_path / "m").exists()
    assert untwin("check", "t.csv", "--label", "intent", cwd=tmp_path).returncode == 0


def test_numbers_agree_with_their_nouns(untwin, tmp_path):
    content = b"text,label,n\nno signal,a,\nno signal,a,1\nlow battery,b,2\n!,a,3\nbroken\n"
    (tmp_path / "t.csv").write_bytes(content)
    shown = untwin("check", "t.csv", "--skip-bad-rows", "1", cwd=tmp_path).stdout.decode()
    assert "1 bad row skipped." in shown
    assert "1 of 4 documents has no word" in shown
    assert "1 cell is empty, in 1 column of 3." in shown
    assert not re.search(r"\b1 (rows|cells|classes|columns|documents|texts|labels|groups)\b", shown)


def test_empty_cells_are_shown_beside_every_column(untwin, tmp_path):
    record = check(untwin, tmp_path, b"text,n,label\none two,1,a\nthree four,,b\nfive,,a\nsix seven,2,b\n")[1]
    assert [(use["name"], use["empty"]) for use in record["columns"]] == [("text", 0), ("n", 2), ("label", 0)]


def test_strict_makes_warnings_fail(untwin, tmp_path):
    assert check(untwin, tmp_path, GOOD + b"one more,c\n")[0] == 0
    assert check(untwin, tmp_path, GOOD + b"one more,c\n", "--strict")[0] == 1
    assert check(untwin, tmp_path, GOOD, "--strict")[0] == 0


def test_options_reach_the_reader(untwin, tmp_path):
    content = "Wert;Art;Klasse\n1;ö;x\n2;ü;y\n3;ö;x\n4;ü;\nkaputt\n".encode("cp1252")
    arguments = [
        "--separator",
        ";",
        "--encoding",
        "cp1252",
        "--label",
        "Klasse",
        "--nominal",
        "Art",
        "--numeric",
        "Wert",
    ]
    code, record = check(untwin, tmp_path, content, *arguments, "--missing-label", "drop", "--skip-bad-rows", "1")
    assert code == 0
    assert record["rows"] == 3
    assert {use["name"]: use["role"] for use in record["columns"]} == {
        "Wert": "numeric",
        "Art": "nominal",
        "Klasse": "label",
    }
    assert {"bad-rows", "missing-label"} <= {finding["code"] for finding in record["findings"]}


def test_other_formats(untwin, tmp_path):
    lines = b'{"text": "aa bb", "label": 1}\n{"text": "cc dd", "label": 1.0}\n'
    assert check(untwin, tmp_path, gzip.compress(lines * 2), name="t.jsonl.gz")[1]["classes"] == 2
    assert check(untwin, tmp_path, GOOD.replace(b",", b"\t"), name="t.tsv")[1]["classes"] == 2
    done = untwin("check", "-", "--format", "jsonl", "--json", stdin=lines * 2)
    assert json.loads(done.stdout)["source"] == "stdin"


def test_a_folder_says_what_it_left_out(untwin, tmp_path):
    for name in ("a/1", "a/2", "b/1", "b/2"):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(f"text of {name}")
    (tmp_path / "docs" / "b" / "image.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "docs" / "b" / "link").symlink_to("/etc/passwd")
    record = json.loads(untwin("check", "docs", "--json", cwd=tmp_path).stdout)
    assert record["rows"] == 4
    assert {finding["code"]: finding["count"] for finding in record["findings"]} == {"binary-files": 1, "links": 1}


def test_nothing_from_the_data_drives_the_terminal(untwin, tmp_path):
    evil = "\x1b[31mred\x1b[0m \x9b2J \u202eback [bold]markup[/bold] :smile:"
    content = f"text,label,{evil}\nxx {evil},{evil},1\nyy,b,2\nxx {evil},b,3\n".encode()
    (tmp_path / "t.csv").write_bytes(content)
    for arguments in (["t.csv"], ["t.csv", "--json"], ["t.csv", "--label", evil + "?"], ["t.csv", "--numeric", "text"]):
        done = untwin("check", *arguments, cwd=tmp_path)
        assert done.returncode in {0, 2}
        shown = (done.stdout + done.stderr).decode()
        assert not set(shown) & {"\x1b", "\x9b", "\u202e"}
    assert "[bold]markup[/bold] :smile:" in untwin("check", "t.csv", cwd=tmp_path).stdout.decode()


def test_the_names_of_columns_drive_no_terminal_and_long_cells_are_cut(untwin, tmp_path):
    header = 'text,"la\nbel\x1b[2J",,twice,twice,label\n'
    rows = "".join(f"text {i} here,{i % 3},x{i % 2},1,2,{'very long ' * 5000}{i % 2}\n" for i in range(8))
    (tmp_path / "t.csv").write_text(header + rows)
    done = untwin("check", "t.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "column 'twice' occurs 2 times in the header" in done.stderr.decode()
    done = untwin("check", "t.csv", "--text", "text", "--nominal", "column 3", cwd=tmp_path)
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "la\\nbel\\x1b[2J" in shown
    assert max(map(len, shown.splitlines())) < 500
    assert "\x1b" not in shown


def test_a_narrow_output_encoding_is_no_error(untwin, tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nxx yy,ä\nzz,日本\n")
    done = untwin("check", "t.csv", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_real_tables_can_be_checked(untwin, real_data):
    for path in (*real_data.glob("tabular/*.csv*"), *real_data.glob("text/*.parquet")):
        done = untwin("check", path, "--json")
        record = json.loads(done.stdout)
        assert record["ok"] is (done.returncode == 0), path
        assert record["classes"] >= 2, path

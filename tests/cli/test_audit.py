"""`untwin audit`: a table of answers, whoever gave them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.conftest import WORDS, records, write_csv

NAMES = list(WORDS)


def answered(n=120, seed=5):
    """Rows as a language model may answer them: some wrong, some with another spelling, one invented, one empty."""
    rng = np.random.default_rng(seed)
    rows = []
    for place, row in enumerate(records(n, seed)):
        said = {0: row["label"].upper(), 1: "weather", 2: ""}.get(place, row["label"])
        if rng.random() < 0.2 and place > 2:
            said = "printer" if row["label"] == "password" else said
        shares = {name: 0.9 if name == said else 0.1 / 3 for name in NAMES}
        rows.append(
            {"id": row["id"], "text": row["text"], "truth": row["label"], "said": said, "kind": row["kind"]}
            | {"ann": row["label"], "ben": "printer" if place % 3 == 0 else row["label"]}
            | {f"p_{name}": share for name, share in shares.items()}
        )
    return rows


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("audit") / "llm.csv", answered())


COLUMNS = ["--truth", "truth", "--predicted", "said"]
ALL = [*COLUMNS, "--text", "text", "--id", "id", "--parent", "kind", "--score-prefix", "p_"]


def test_the_installed_command_writes_a_report(untwin, table):
    done = untwin("audit", table, *ALL, "--annotator", "ann", "--annotator", "ben")
    assert done.returncode == 0, done.stderr.decode()
    shown = done.stdout.decode()
    assert "3 answers name no class" in shown
    assert "[unlisted-answers]" in shown
    assert "[annotators] Krippendorff's alpha of 2 annotators is" in shown
    page = table.with_name("llm.audit.html")
    assert b"llm.audit.html" in done.stderr
    assert "weather" in page.read_text()
    assert f"untwin audit {table} --truth truth" in page.read_text()


def test_figures_are_literal_counts(command, table):
    found = command("audit", table, *ALL, "--json").json()
    rows = answered()
    assert found["rows"] == len(rows)
    assert found["accuracy"] == np.mean([row["truth"] == row["said"] for row in rows])
    assert found["listed"] == sum(row["said"] in NAMES for row in rows)
    assert sum(pair["errors"] for pair in found["confused"]) == found["listed"] - found["accuracy"] * len(rows)
    assert found["calibration_error"] is not None
    (strange,) = (one["evidence"] for one in found["findings"] if one["code"] == "unlisted-answers")
    assert {(one["answer"], one["near"]) for one in strange} == {
        (rows[0]["said"], rows[0]["truth"]),
        ("weather", None),
        ("", None),
    }
    assert {one["some rows"][0] for one in strange} == {rows[n]["id"] for n in range(3)}


def test_nothing_but_two_columns(command, table, tmp_path):
    done = command("audit", table, *COLUMNS, "-o", tmp_path / "page.html")
    assert done.code == 0
    assert (tmp_path / "page.html").exists()


def test_no_text_is_quoted_if_none_is_to_be(command, table, tmp_path):
    page = tmp_path / "page.html"
    done = command("audit", table, *ALL, "-o", page, "--without-texts", "--json")
    for row in answered():
        assert row["text"] not in page.read_text() + done.out


def test_a_page_that_is_not_ours_is_kept(command, table, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert command("audit", table, *COLUMNS, "-o", page).code == 2
    assert page.read_text() == "mine"
    assert command("audit", table, *COLUMNS, "-o", page, "--force").code == 0


def test_a_list_of_classes(command, table, tmp_path):
    listed = tmp_path / "classes.txt"
    listed.write_text("weather\nsnow\n\n")
    found = command("audit", table, *COLUMNS, "--classes", listed, "--json").json()
    assert {"weather", "snow"} < set(found["classes"])
    assert found["listed"] == len(answered()) - 2


def test_rows_of_one_id_are_repeated_answers(command, tmp_path):
    rows = [{"id": n // 3, "truth": "ab"[n // 3 % 2], "said": "ab"[n % 2]} for n in range(30)]
    table = write_csv(tmp_path / "t.csv", rows)
    found = command("audit", table, *COLUMNS, "--id", "id", "--json").json()
    (unstable,) = (one for one in found["findings"] if one["code"] == "unstable-answers")
    assert "10 questions that were repeated were answered in several ways, of 10" in unstable["title"]


def test_strict_fails_where_something_is_wrong(command, table, tmp_path):
    assert command("audit", table, *COLUMNS, "--json", "--strict").code == 1
    right = write_csv(tmp_path / "t.csv", [{"truth": "ab"[n % 2], "said": "ab"[n % 2]} for n in range(40)])
    assert command("audit", right, *COLUMNS, "--json", "--strict").code == 0


def test_rows_without_a_truth(command, tmp_path):
    rows = [{"truth": "a", "said": "a"}, {"truth": "", "said": "b"}, {"truth": "b", "said": "b"}]
    table = write_csv(tmp_path / "t.csv", rows)
    assert "the label is empty" in command("audit", table, *COLUMNS, "--json").out
    found = command("audit", table, *COLUMNS, "--json", "--missing-label", "drop").json()
    assert (found["rows"], found["accuracy"], len(found["notes"])) == (2, 1.0, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--truth", "trth", "--predicted", "said"], "Is it 'truth' here?"),
        ([*COLUMNS, "--score-prefix", "score_"], "no column begins with 'score_'"),
        ([*COLUMNS, "--score-prefix", "te"], "is not a finite number"),
        ([*COLUMNS, "--annotator", "nobody"], "there is no column 'nobody'"),
        ([*COLUMNS, "--classes", "none.txt"], "none.txt"),
        ([*COLUMNS, "--id", "text", "--text", "text"], "is named by --id and by --text"),
        ([*COLUMNS, "--text", "text", "--text", "nothing"], "there is no column 'nothing'"),
        (["--truth", "truth"], "Missing option '--predicted'"),
    ],
)
def test_what_cannot_be_audited_is_refused(command, table, options, said):
    done = command("audit", table, *options)
    assert done.code == 2
    assert said in done.err

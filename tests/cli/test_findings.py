"""`untwin findings` and `untwin dismiss`: rows to edit, and findings that are not shown again."""

from __future__ import annotations

import json
import shutil

import numpy as np
import polars as pl
import pytest
from tests.report.made import cheap_model

from untwin.cli.run import run
from untwin.data.corrections import read_corrections
from untwin.model import UntwinClassifier
from untwin.taxonomy.events import EventLog

LONG = '  =SUM(A1), "quoted"\n<b>and</b> long ' + "word " * 300
N_WRONG = 12


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Some labels are wrong, classes are twins, texts are long and one of them would run in a spreadsheet."""
    rng = np.random.default_rng(0)
    numbers = np.repeat(np.arange(8), 60)
    stems = np.where((numbers < 2) & (rng.random(480) < 0.7), 0, numbers)  # the first two are twins
    texts = [" ".join(f"own{stem}x{word}" for word in rng.integers(0, 6, 5)) for stem in stems.tolist()]
    wrong = 120 + rng.choice(360, N_WRONG, replace=False)
    numbers[wrong] = 2 + (numbers[wrong] + 3) % 6
    labels = np.array([f"class {number}" for number in numbers.tolist()])
    texts = [f"{LONG} {text}" for text in texts]
    folder = tmp_path_factory.mktemp("models") / "tickets"
    made = cheap_model(texts, labels, ids=[f"T-{n}" for n in range(len(texts))])
    made.measure()
    made.save(folder)
    return folder


@pytest.fixture(autouse=True)
def _nothing_dismissed(model):
    for place in model.parent.glob("tickets.events*"):
        place.unlink()


def told(capsys, *words):
    capsys.readouterr()
    code = run([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_every_suspected_row_is_there_with_its_whole_text(model, tmp_path, capsys):
    code, record = told(capsys, "findings", str(model), "label-error", "--raw", "-o", str(tmp_path / "s.csv"))
    found = UntwinClassifier.load(model)
    (finding,) = (one for one in found.findings_ if one.code == "label-error")
    frame = pl.read_csv(tmp_path / "s.csv")
    assert code == 0
    assert record["rows"] == frame.height == len(finding.evidence) > 3
    assert frame["id"].to_list() == [one["row"] for one in finding.evidence]
    assert frame["suggested"].to_list() == [one["rather"] for one in finding.evidence]
    assert frame["belief"].to_list() == pytest.approx([one["belief in other"] for one in finding.evidence])
    documents = dict(zip(found.ids_.tolist(), found.state_.documents, strict=True))
    assert frame["text"].to_list() == [documents[name] for name in frame["id"]]
    assert frame["finding"].n_unique() == frame.height
    assert frame["place"].to_list() == [int(name[2:]) + 1 for name in frame["id"]]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_what_the_owner_edits_is_read_back(model, tmp_path, kind, capsys):
    path, edited = tmp_path / f"s.{kind}", tmp_path / f"edited.{kind}"
    assert run(["findings", str(model), "-o", str(path)]) == 0
    read = {
        "csv": pl.read_csv,
        "tsv": lambda p: pl.read_csv(p, separator="\t"),
        "jsonl": lambda p: pl.read_ndjson(p, infer_schema_length=None),
        "parquet": pl.read_parquet,
    }[kind]
    frame = read(path)
    row = frame.filter(pl.col("suggested").is_not_null()).row(0, named=True)
    one = (pl.col("id") == row["id"]) & (pl.col("finding") == row["finding"])
    frame = frame.with_columns(
        label=pl.when(one).then(pl.lit("class 1 new")).otherwise("label"),
        note=pl.when(one).then(pl.lit("seen")).otherwise(pl.lit(None, dtype=pl.String)),
    )
    match kind:
        case "jsonl":
            frame.write_ndjson(edited)
        case "parquet":
            frame.write_parquet(edited)
        case _:
            frame.write_csv(edited, separator={"csv": ",", "tsv": "\t"}[kind])
    known = UntwinClassifier.load(model)
    now = dict(zip(map(str, known.ids_.tolist()), map(str, known.state_.y.tolist()), strict=True))
    (correction,) = read_corrections(edited, now)
    assert correction[:4] == (row["id"], "class 1 new", "", "seen")


def test_a_spreadsheet_runs_nothing(model, tmp_path):
    for name, more in (("guarded", []), ("raw", ["--raw"])):
        assert run(["findings", str(model), "-o", str(tmp_path / f"{name}.csv"), *more]) == 0
    guarded, raw = (pl.read_csv(tmp_path / f"{name}.csv")["text"].drop_nulls() for name in ("guarded", "raw"))
    assert guarded.to_list() == [f"'{text}" for text in raw.to_list()]
    assert len(raw) > 3


def test_ids_are_those_of_another_run(model, capsys):
    first, second = (told(capsys, "findings", str(model))[1]["findings"] for _ in range(2))
    assert first == second
    assert len({one["id"] for finding in first for one in finding["records"]}) > 3


@pytest.mark.parametrize("words", [["twin"], ["twins", "nonsense"]])
def test_an_unknown_code_is_refused(model, words, capsys):
    code, record = told(capsys, "findings", str(model), *words)
    assert (code, record["error"]["code"]) == (2, "unknown-finding")


def test_nothing_is_written_into_the_model(model, capsys):
    code, record = told(capsys, "findings", str(model), "-o", str(model / "s.csv"))
    assert (code, record["error"]["code"]) == (2, "inside-model")


def test_a_finding_that_is_dismissed_is_not_shown_again_until_taken_back(model, capsys):
    before = told(capsys, "findings", str(model), "twins")[1]["findings"][0]["records"]
    code, done = told(capsys, "dismiss", str(model), before[0]["id"], "--because", "keep apart", "--author", "ann")
    assert (code, done["dismissed"]) == (0, [before[0]["id"]])
    after = told(capsys, "findings", str(model), "twins")[1]
    left = [one["id"] for finding in after["findings"] for one in finding["records"]]
    assert left == [one["id"] for one in before[1:]]
    assert after["dismissed"] == 1
    assert told(capsys, "dismiss", str(model), before[0]["id"], "--undo")[0] == 0
    assert told(capsys, "findings", str(model), "twins")[1]["findings"][0]["records"] == before


def test_a_code_dismisses_all_that_it_has_now(model, capsys):
    code, done = told(capsys, "dismiss", str(model), "label-error", "--because", "read them all")
    assert code == 0
    assert len(done["dismissed"]) > 3
    assert told(capsys, "findings", str(model), "label-error")[1]["findings"] == []
    assert told(capsys, "dismiss", str(model), "label-error", "--undo")[1]["dismissed"] == done["dismissed"]


@pytest.mark.parametrize(
    "words",
    [
        ["twins"],
        ["twins", "--because", ""],
        ["twins", "--because", "x", "--undo"],
        ["twins", "--because", "x" * 1_001],
        ["no-such-id", "--because", "x"],
        ["no-such-id", "--undo"],
    ],
)
def test_dismissing_nothing_or_for_no_reason_is_refused(model, words, capsys):
    assert told(capsys, "dismiss", str(model), *words)[0] == 2
    assert not model.with_name("tickets.events").exists()


@pytest.mark.parametrize("payload", [{}, {"finding": "x"}, {"finding": 1, "about": "", "because": ""}])
def test_an_event_that_is_not_ours_is_refused(model, payload, capsys):
    EventLog(model.with_name("tickets.events")).append("finding.dismiss", payload)
    code, record = told(capsys, "findings", str(model))
    assert (code, record["error"]["code"]) == (2, "dismissals")
    assert "tickets.events: event 1 (finding.dismiss" in record["error"]["message"]


def test_a_history_may_begin_after_something_was_dismissed(model, tmp_path, capsys):
    own = tmp_path / "own"
    shutil.copytree(model, own)
    assert told(capsys, "dismiss", str(own), "label-error", "--because", "read them all")[0] == 0
    assert told(capsys, "classes", str(own), "define", "class 7", "the seventh", "--author", "Ada")[0] == 0
    kinds = [event.kind for event in EventLog(tmp_path / "own.events").read()]
    assert kinds[-3:] == ["log.start", "class.define", "model.update"]
    assert told(capsys, "findings", str(own), "label-error")[1]["findings"] == []
    assert told(capsys, "classes", str(own), "undo")[0] == 0


def test_what_is_dismissed_stays_so_when_a_class_is_renamed(model, tmp_path, capsys):
    own = tmp_path / "own"
    shutil.copytree(model, own)
    (pair,) = told(capsys, "findings", str(own), "twins")[1]["findings"][0]["records"]
    assert told(capsys, "dismiss", str(own), "twins", "--because", "keep apart")[0] == 0
    for words in (["rename", pair["a"], "first twin"], ["undo"], ["rename", pair["b"], "second twin"]):
        assert told(capsys, "classes", str(own), *words)[0] == 0
        assert told(capsys, "findings", str(own), "twins")[1]["findings"] == []

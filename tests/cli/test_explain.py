from __future__ import annotations

import json
import re
import shlex
import shutil

import pytest
from tests.cli.conftest import records, write_csv

from untwin import UntwinClassifier


def test_the_installed_command_draws(untwin, fitted):
    done = untwin("explain", fitted.folder, "--text", "printer jam, toner and invoice", PYTHONIOENCODING="utf-8")
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "is printer" in shown
    assert "█" in shown
    assert "Terms that speak for printer:" in shown


def test_the_record_is_what_the_model_says(command, fitted):
    text = "printer jam, toner and invoice"
    found = command("explain", fitted.folder, "--text", text, "--top", "3", "--json").json()
    (reason,) = UntwinClassifier.load(fitted.folder).explain([text], top=3)
    assert found["label"] == reason.label
    assert [(line["class"], line["probability"]) for line in found["probabilities"]] == list(reason.probabilities)
    assert [line["row"] for line in found["neighbours"]] == [near.row for near in reason.neighbours.neighbours]
    train = {row["id"]: row for row in records(160, 1) if row["split"] == "train"}
    assert all(line["document"] == train[line["row"]]["text"] for line in found["neighbours"])
    assert all(line["label"] == train[line["row"]]["label"] for line in found["neighbours"])
    told = {term["term"]: term["log_odds"] for side in found["evidence"] for term in side["terms"]}
    assert told == {term: abs(number) for term, number in reason.evidence.terms}
    assert set(told) <= {"printer", "jam", "toner", "and", "invoice"}
    assert (found["against"], found["own_label"]) == (reason.evidence.against, None)


def test_a_training_row_does_not_speak_for_itself(command, fitted):
    wanted = records(160, 1)[6]
    found = command("explain", fitted.folder, "--id", wanted["id"], "--json").json()
    assert (found["document"], found["row"]) == (wanted["text"], wanted["id"])
    assert wanted["id"] not in [line["row"] for line in found["neighbours"]]
    assert len(found["neighbours"]) == 5
    assert found["own_label"] == wanted["label"]
    assert (
        f"It is a training row labelled {wanted['label']}"
        in command("explain", fitted.folder, "--id", wanted["id"]).out
    )


def test_a_row_of_a_table_by_its_id(command, fitted, tickets):
    wanted = records(160, 1)[40]
    found = command("explain", fitted.folder, tickets, "--id", wanted["id"], "--json").json()
    assert found["document"] == wanted["text"]


def test_a_text_without_a_known_word(command, fitted):
    done = command("explain", fitted.folder, "--text", "zzz")
    assert "no known word" in done.out
    assert "Similar training rows" not in done.out
    found = command("explain", fitted.folder, "--text", "", "--json").json()
    assert found["no_evidence"]
    assert found["neighbours"] == found["evidence"] == []


def test_without_texts_neighbours_have_numbers_only(command, fitted, tmp_path):
    folder = shutil.copytree(fitted.folder, tmp_path / "model")
    UntwinClassifier.load(folder).save(folder, texts=False)
    found = command("explain", folder, "--text", "printer jam", "--json").json()
    assert {line["document"] for line in found["neighbours"]} == {None}
    assert "(not kept)" in command("explain", folder, "--text", "printer jam").out
    assert command("explain", folder, "--id", "3", "--json").json()["error"]["code"] == "no-documents"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], "usage"),
        (["--text", "a", "--id", "1"], "usage"),
        (["{tickets}", "--text", "a"], "usage"),
        (["--id", "3"], "unknown-id"),
        (["--id", "-1"], "unknown-id"),
        (["{tickets}", "--id", "nobody"], "unknown-id"),
        (["--row", "{{"], "bad-json"),
        (["--row", "{{}}"], "missing-column"),
    ],
)
def test_what_cannot_be_explained(command, fitted, tickets, arguments, code):
    arguments = [argument.format(tickets=tickets) for argument in arguments]
    done = command("explain", fitted.folder, *arguments, "--json")
    assert done.code == 2
    assert json.loads(done.out)["error"]["code"] == code


@pytest.mark.parametrize("name", ["predict", "evaluate"])
def test_the_command_to_go_on_with_works_as_it_is_said(command, fitted, tmp_path, name):
    wanted = records(12, 2)[7]
    lines = [f"{row['id']};{row['text']};{row['label']}" for row in records(12, 2)]
    (tmp_path / "more rows.csv").write_text("\n".join(["nr;the body;topic", *lines]))
    columns = ["--text", "the body", "--id", "nr", "--label", "topic", "--separator", ";"]
    done = command(name, fitted.folder, tmp_path / "more rows.csv", *columns)
    assert done.code == 0
    (said,) = re.findall(r"next: untwin (explain .*) --id ID$", done.err, re.MULTILINE)
    found = command(*shlex.split(said), "--id", wanted["id"], "--json")
    assert found.code == 0
    assert found.json()["document"] == wanted["text"]


def test_columns_of_a_table(command, tmp_path):
    rows = [{"price": i % 7 + (20 if i % 2 else 0), "shop": f"s{i % 3}", "label": "ab"[i % 2]} for i in range(40)]
    command("fit", write_csv(tmp_path / "t.csv", rows), "-o", tmp_path / "m", "--preset", "fast")
    renamed = [{"no": f"R{i}", "cost": row["price"], "store": row["shop"]} for i, row in enumerate(rows)]
    table, columns = write_csv(tmp_path / "r.csv", renamed), ["--numeric-column", "cost", "--nominal-column", "store"]
    found = command("explain", tmp_path / "m", table, *columns, "--id-column", "no", "--id", "R3", "--json")
    assert found.json()["document"] == "price: 23.0; shop: s0"


@pytest.mark.parametrize(
    ("options", "told", "hint"),
    [
        ([], "no column 'text', which the model needs", "--text-column, --numeric-column, --nominal-column."),
        (["--text-column", "bdy"], "no column 'bdy' (--text-column)", "Did you mean 'body'?"),
        (["--text-column", "body", "--id-column", "nrr"], "no column 'nrr' (--id-column)", "Did you mean 'nr'?"),
        (["--text-column", "body"], "no column 'id', which the model needs", "with --id-column."),
        (["--numeric-column", "body"], "--text-column must name as many columns as the model reads, 1", "same order"),
    ],
)
def test_errors_name_the_options_that_explain_has(command, fitted, tmp_path, options, told, hint):
    table = write_csv(tmp_path / "t.csv", [{"nr": "1", "body": "printer jam"}])
    done = command("explain", fitted.folder, table, "--id", "1", *options, "--json")
    assert done.code == 2
    error = done.json()["error"]
    assert told in error["message"]
    assert hint in error["hint"]

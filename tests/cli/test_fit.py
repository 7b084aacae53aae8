from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.cli.conftest import KINDS, records, write_csv

from untwin import UntwinClassifier
from untwin.crossfit.folds import identical_rows


def test_the_record_says_what_was_chosen_and_what_to_expect(fitted):
    record = fitted.record
    assert (record["schema_version"], record["ok"], record["rows"], record["classes"]) == (1, True, 128, 4)
    assert record["chosen"] == record["candidates"][0]["name"]
    assert record["candidates"][0]["chosen"]
    assert record["scores"]["accuracy_low"] <= record["scores"]["accuracy"] <= record["scores"]["accuracy_high"]
    assert 0.7 < record["scores"]["accuracy"] < 1
    assert record["seconds"].keys() == {"reading", "checking", "fitting", "scoring", "findings"}


def test_talk_names_stages_and_the_next_commands(fitted):
    assert "untwin: linear SVM" in fitted.talk
    assert f"next: untwin predict {fitted.folder}" in fitted.talk


def test_rows_marked_as_test_are_scored_once_and_not_learnt(fitted, tickets):
    model = UntwinClassifier.load(fitted.folder)
    held = [row for row in records(160, 1) if row["split"] == "test"]
    assert fitted.record["test"]["rows"] == len(held) == 32
    right = model.predict([row["text"] for row in held]) == np.array([row["label"] for row in held])
    assert fitted.record["test"]["accuracy"] == right.mean()
    learnt = [row["text"] for row in records(160, 1) if row["split"] == "train"]
    assert list(model.state_.documents) == learnt
    assert model.about_["test"]["accuracy"] == right.mean()


def test_rows_of_a_group_share_a_fold(fitted):
    model = UntwinClassifier.load(fitted.folder)
    train = [row for row in records(160, 1) if row["split"] == "train"]
    folds = model.out_of_fold_.folds
    for number in (identical_rows([row["customer"] for row in train]), identical_rows([row["text"] for row in train])):
        assert all(len(np.unique(folds[number == one])) == 1 for one in np.unique(number))


def test_the_known_tree_is_compared(fitted):
    links = fitted.record["known_tree"]["also_see"]
    assert all(KINDS[link["a"]] != KINDS[link["b"]] for link in links)
    assert fitted.record["known_tree"]["agreement"]["n_groups"] == 2


def test_the_same_options_again_give_the_same_model(fitted, command, tmp_path):
    done = command("fit", "--config", fitted.folder / "manifest.json", "-o", tmp_path / "again", "--json")
    again = done.json()
    assert done.code == 0
    assert again["scores"] == fitted.record["scores"]
    assert again["confused"] == fitted.record["confused"]
    texts = ["the invoice", "locked account"]
    models = [UntwinClassifier.load(folder) for folder in (fitted.folder, tmp_path / "again")]
    assert np.array_equal(*(model.predict_proba(texts) for model in models))
    assert models[1].about_["options"] == models[0].about_["options"] | {"output": str(tmp_path / "again")}


def test_the_command_line_wins_over_the_config(fitted, command, tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({"preset": "nonsense", "limit": 10}))
    assert command("fit", "x.csv", "-o", tmp_path / "m", "--config", tmp_path / "c.json").code == 2
    done = command("fit", "x.csv", "-o", tmp_path / "m", "--config", tmp_path / "c.json", "--preset", "fast")
    assert "x.csv: there is no such file" in done.err


@pytest.mark.parametrize("content", ["[]", "{", '{"nonsense": 1}', '{"facts": {"about": {}}}'])
def test_a_config_that_is_none_is_refused(command, tmp_path, content):
    (tmp_path / "c.json").write_text(content)
    done = command("fit", "x.csv", "-o", tmp_path / "m", "--config", tmp_path / "c.json", "--json")
    assert done.code == 2
    assert done.json()["error"]["code"] == "config"


def test_the_summary_for_people(command, tmp_path):
    rows = [row | {"label": "5" if row["kind"] == "office" else "1"} for row in records(60, 3)]
    table = write_csv(tmp_path / "t.csv", [{"text": row["text"], "label": row["label"]} for row in rows])
    options = ["--preset", "fast", "--ordinal", "1,5", "--scoring", "mae", "--without-texts"]
    done = command("fit", table, "-o", tmp_path / "m", *options)
    assert done.code == 0
    assert "60 rows, 2 classes" in done.out
    assert "Chosen: " in done.out
    assert "points against the linear SVM" in done.out
    model = UntwinClassifier.load(tmp_path / "m")
    assert model.state_.documents is None
    assert model.order == ["1", "5"]


def test_grades_are_told_with_what_candidates_were_compared_by(command, tmp_path):
    rows = [row | {"label": str(1 + list(KINDS).index(row["label"]))} for row in records(60, 3)]
    table = write_csv(tmp_path / "t.csv", [{"text": row["text"], "label": row["label"]} for row in rows])
    ordered = ["--preset", "fast", "--ordinal", "1,2,3,4"]
    done = command("fit", table, "-o", tmp_path / "m", *ordered, "--scoring", "mae")
    model = UntwinClassifier.load(tmp_path / "m")
    mae, kappa, winner = model.scores_["mae"], model.scores_["quadratic_kappa"], model.candidates_[0]
    assert f"mean absolute error {mae:.4f}, quadratic kappa {kappa:.4f}" in done.out
    lines = [re.split(r"\s{2,}", line.strip()) for line in done.out.splitlines()]
    assert ["candidate", "mean absolute error", "accuracy", "points against the linear SVM", "seconds"] in lines
    (chosen,) = [line for line in lines if line[0] == "*"]
    assert chosen[1:4] == [winner.name, f"{-winner.score:.4f}", f"{winner.accuracy:.4f}"]
    summary = command("report", tmp_path / "m", "--json").json()["summary"]
    assert summary["grades"] == {"mae": round(mae, 6), "quadratic_kappa": round(kappa, 6)}
    assert (summary["scoring"], summary["test_grades"]) == ("mean absolute error", None)
    assert summary["candidates"][0]["score"] == round(-winner.score, 6)
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert f"{mae:.2f} steps off on average (quadratic kappa {kappa:.2f})" in page
    assert f"{mae:.3f}" in page
    assert f"quadratic kappa {kappa:.3f}" in page
    assert f'<td class="n">{-winner.score:.3f}</td>' in page
    assert f"by mean absolute error ({-winner.score:.3f})" in page


def test_a_table_of_several_columns(command, tmp_path):
    rows = [{"price": i % 7 + (20 if i % 2 else 0), "shop": f"s{i % 3}", "label": "ab"[i % 2]} for i in range(40)]
    table = write_csv(tmp_path / "t.csv", rows)
    done = command("fit", table, "-o", tmp_path / "m", "--preset", "fast", "--json", "--strict")
    assert done.json()["scores"]["accuracy"] == 1
    answers = command("predict", tmp_path / "m", table, "--json").out.splitlines()
    assert [json.loads(line)["untwin_label"] for line in answers] == [row["label"] for row in rows]
    scores = command("evaluate", tmp_path / "m", table, "--json").json()
    assert (scores["accuracy"], scores["learnt_rows"]) == (1, 40)
    said = command("explain", tmp_path / "m", "--row", '{"price": 3, "shop": "s1"}', "--json").json()
    assert said["label"] == "a"
    assert said["document"] == "price: 3.0; shop: s1"
    assert command("explain", tmp_path / "m", "--id", "4", "--json").json()["document"] == "price: 23.0; shop: s0"
    assert (
        command("explain", tmp_path / "m", table, "--id", "4", "--json").json()["document"] == "price: 23.0; shop: s0"
    )
    assert command("explain", tmp_path / "m", "--text", "x").code == 2
    assert command("explain", tmp_path / "m", "--row", '{"price": "cheap", "shop": "s1"}').code == 2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["-o", "{}/no/folder"], "not-found"),
        (["-o", "{}/t.csv"], "not-a-folder"),
        (["-o", "{}/nowhere"], "not-a-folder"),
        (["-o", "{}/noted"], "foreign-file"),
        (["-o", "{}"], "model-foreign"),
        (["-o", "{}/m", "--scoring", "kappa"], "usage"),
        (["-o", "{}/m", "--label-separator", ";"], "multi-label"),
        (["-o", "{}/m", "--parent", "customer"], "two-parents"),
        (["-o", "{}/m", "--group", "kind", "--label", "kind", "--text", "text"], "two-roles"),
        (["-o", "{}/m", "--group", "all", "--text", "text"], "groups"),
        (["-o", "{}/m", "--split", "all", "--text", "text"], "one-class"),
        (["-o", "{}/m", "--without-texts", "--text", "text", "--nominal", "customer"], "texts-needed"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_work(command, tmp_path, options, code):
    table = write_csv(tmp_path / "t.csv", [row | {"all": "test"} for row in records(40, 4)])
    (tmp_path / "nowhere").symlink_to(tmp_path / "absent")
    (tmp_path / "noted.html").write_text("my own notes")
    before = set(tmp_path.iterdir())
    done = command("fit", table, *(option.format(tmp_path) for option in options), "--preset", "fast", "--json")
    assert done.code == 2
    assert done.json()["error"]["code"] == code
    assert set(tmp_path.iterdir()) == before


def test_oddities_are_warnings_and_strict_makes_them_fail(command, tmp_path):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(40, 5)]
    rows += [rows[0] | {"label": "printer" if rows[0]["label"] != "printer" else "billing"}]
    table = write_csv(tmp_path / "t.csv", rows)
    done = command("fit", table, "-o", tmp_path / "m", "--preset", "fast", "--strict", "--json")
    assert done.code == 1
    assert not done.json()["ok"]
    assert "warning: [" in done.err
    assert (tmp_path / "m" / "manifest.json").exists()


def test_a_model_keeps_the_weights_that_it_was_asked_to_keep(command, tmp_path, fitted, tickets):
    sizes = {}
    for precision in ("small", "full"):
        folder = tmp_path / precision
        options = ["--preset", "fast", "--text", "text", "--precision", precision]
        assert command("fit", tickets, "-o", folder, *options).code == 0
        assert UntwinClassifier.load(folder).state_.kept == precision
        more = write_csv(tmp_path / "more.csv", [{**row, "split": "train"} for row in records(16, 7)])
        assert command("add", folder, more).code == 0
        assert UntwinClassifier.load(folder).state_.kept == precision
        assert command("add", folder, more).code == 0  # learnt before: the report is written again
        assert UntwinClassifier.load(folder).state_.kept == precision
        sizes[precision] = command("info", folder, "--json").json()["bytes"]["all"]
    assert sizes["small"] < sizes["full"]
    assert command("export", tmp_path / "full", "--answer-only", "-o", tmp_path / "a", "--precision", "full").code == 0
    refused = command("export", tmp_path / "small", "--answer-only", "-o", tmp_path / "b", "--precision", "full")
    assert refused.code == 2
    assert "precision 'small'" in refused.err


@pytest.mark.parametrize("options", [[], ["--without-texts"]])
def test_what_was_found_with_test_rows_and_parents_is_in_the_report(command, tmp_path, options):
    rows = records(120, 8)
    rows += [row | {"split": "test"} for row in rows if row["split"] == "train"][:9]
    rows = [row | {"kind": row["label"]} for row in rows]  # every class apart: whatever is confused crosses the tree
    table = write_csv(tmp_path / "t.csv", rows)
    folder, columns = tmp_path / "m", ["--text", "text", "--parent", "kind", "--preset", "fast"]
    found = command("fit", table, "-o", folder, *columns, *options, "--json").json()["findings"]
    codes = [finding["code"] for finding in found]
    assert {"split-leak", "also-see"} <= set(codes)
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert all(f"<code>{code}</code>" in page for code in codes)
    told = command("report", folder, "--json").json()["findings"]["findings"]
    assert [finding["code"] for finding in told] == codes
    assert [finding["total"] for finding in told] == [len(finding["evidence"]) for finding in found]
    assert command("report", folder).code == 0
    assert all(f"<code>{code}</code>" in (tmp_path / "m.html").read_text(encoding="utf-8") for code in codes)

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.cli.conftest import records, write_csv

from untwin import UntwinClassifier


@pytest.fixture
def folder(fitted, tmp_path):
    return shutil.copytree(fitted.folder, tmp_path / "model")


def test_more_rows_a_new_class_and_new_words(untwin, folder, tmp_path):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(30, 7)]
    rows += [{"text": f"garden flower tree number{i}", "label": "garden"} for i in range(6)]
    before = UntwinClassifier.load(folder)
    done = untwin("add", folder, write_csv(tmp_path / "more.csv", rows), "--json")
    assert done.returncode == 0, done.stderr.decode()
    record = json.loads(done.stdout)
    labels = np.array([row["label"] for row in rows])
    assert record["accuracy_before"] == (before.predict([row["text"] for row in rows]) == labels).mean()
    assert record["drift"]["accuracy"] == record["accuracy_before"]
    assert record["drift"]["accuracy_expected"] == before.scores_["accuracy"]
    assert record["drift"]["class_shares"] > 6 / 36 - 1e-9
    assert record["new_classes"] == ["garden"]
    assert record["n_new_terms"] >= 9
    after = UntwinClassifier.load(folder)
    assert after.predict(["flower garden"]).tolist() == ["garden"]
    assert len(after.ids_) == len(before.ids_) + 36
    noted = {"source": str(tmp_path / "more.csv"), "n_rows": 36}
    assert after.about_["added"] == [noted | {"sha256": after.about_["added"][0]["sha256"]}]
    assert after.about_["roles"] == before.about_["roles"]


def test_the_summary_for_people(command, folder, tmp_path):
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    done = command("add", folder, table)
    assert done.code == 0
    assert "1 row learnt; 129 rows, 4 classes" in done.out
    assert "was expected" in done.out
    assert f"next: untwin info {folder}" in done.err


def test_rows_learnt_before_are_told_and_are_no_evidence(command, folder, tickets):
    done = command("add", folder, tickets)
    assert done.code == 0
    assert "128 of them had been learnt before" in done.out
    assert "Before they were learnt: 0.0% without a known word" in done.out
    folds = UntwinClassifier.load(folder).out_of_fold_.folds
    assert (folds[:128] == folds[128:]).all()  # a row is held out with its double: neither tells on the other


def test_a_failure_leaves_the_model_as_it_was(command, folder, tmp_path):
    sha256 = UntwinClassifier.load(folder).sha256_
    (tmp_path / "bad.csv").write_text("text,label\nprinter jam,\n")
    assert command("add", folder, tmp_path / "bad.csv").code == 2
    assert UntwinClassifier.load(folder).sha256_ == sha256


def test_a_grade_that_the_order_lacks_leaves_the_model_as_it_was(command, tmp_path):
    grades = {"office": "1", "computer": "2"}
    rows = [{"text": row["text"], "label": grades[row["kind"]]} for row in records(60, 3)]
    table, folder = write_csv(tmp_path / "t.csv", rows), tmp_path / "m"
    assert command("fit", table, "-o", folder, "--preset", "fast", "--ordinal", "1,2").code == 0
    sha256 = UntwinClassifier.load(folder).sha256_
    done = command("add", folder, write_csv(tmp_path / "more.csv", [{"text": "paper jam", "label": "3"}]), "--json")
    assert done.code == 2
    assert done.json()["error"]["code"] == "class-not-in-order"
    assert UntwinClassifier.load(folder).sha256_ == sha256


def test_rows_marked_as_test_are_not_learnt(command, folder, tmp_path):
    rows = [{"text": "printer jam", "label": "printer", "split": part} for part in ("train", "test", "test")]
    assert command("add", folder, write_csv(tmp_path / "t.csv", rows), "--json").json()["n_rows"] == 1
    done = command("add", folder, write_csv(tmp_path / "t.csv", rows[1:]), "--json")
    assert done.json()["error"]["code"] == "no-rows"


def test_a_model_without_texts_stays_without(command, folder, tmp_path):
    model = UntwinClassifier.load(folder)
    model.save(folder, texts=False)
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    assert command("add", folder, table).code == 0
    assert UntwinClassifier.load(folder).state_.documents is None


def test_rows_that_were_added_before_are_not_learnt_again_unless_asked_for(command, folder, tmp_path):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(9, 8)]
    first = command("add", folder, write_csv(tmp_path / "more.csv", rows), "--json").json()
    after = UntwinClassifier.load(folder).sha256_
    page = folder.with_name("model.html")
    page.unlink()
    (tmp_path / "same.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = command("add", folder, tmp_path / "same.jsonl", "--json").json()
    assert (first["added_before"], done["added_before"]) == (False, True)
    assert (done["n_rows"], done["rows"], done["classes"]) == (9, 137, 4)
    assert UntwinClassifier.load(folder).sha256_ == after
    assert done["report"] == str(page)
    assert page.exists()
    done = command("add", folder, tmp_path / "more.csv")
    assert done.code == 0
    assert "exactly these 9 rows have been added before; nothing is learnt" in done.out
    assert "--again" in done.out
    assert command("add", folder, tmp_path / "more.csv", "--again", "--json").json()["rows"] == 146
    rows[0]["label"] = "garden"
    assert command("add", folder, write_csv(tmp_path / "more.csv", rows), "--json").json()["rows"] == 155


def test_an_add_that_was_interrupted_after_it_had_learnt_can_be_repeated(command, folder, tmp_path, monkeypatch):
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    with monkeypatch.context() as patched:
        patched.setattr("untwin.report.views.Report.of", interrupted)
        assert command("add", folder, table).code == 130
    learnt = UntwinClassifier.load(folder)
    assert len(learnt.ids_) == 129
    assert not folder.with_name("model.html").exists()
    done = command("add", folder, table, "--json").json()
    assert done["added_before"]
    assert done["rows"] == 129
    assert folder.with_name("model.html").exists()


def test_what_a_stranger_has_noted_is_not_trusted(command, folder, tmp_path):
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    model = UntwinClassifier.load(folder)
    for forged in (3, "x", [1], {"a": 1}):
        model.save(folder, about=model.about_ | {"added": forged})
        done = command("add", folder, table, "--json")
        assert (done.code, done.json()["error"]["code"]) == (3, "model-damaged")


@pytest.mark.parametrize(
    "arguments", [["add", "MODEL", "one.csv"], ["report", "MODEL"], ["fit", "one.csv", "-o", "MODEL"]]
)
def test_a_page_that_is_no_report_of_ours_is_kept(command, folder, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    page, other = tmp_path / "model.html", tmp_path / "other.html"
    write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}, {"text": "bill", "label": "billing"}])
    arguments = [str(folder) if argument == "MODEL" else argument for argument in arguments]
    before = UntwinClassifier.load(folder).sha256_
    page.write_text("<!doctype html><p>my notes about untwin")
    done = command(*arguments, "--json" if arguments[0] != "report" else "--strict")
    assert done.code == 2
    assert "was not made by untwin" in done.out + done.err
    assert "my notes" in page.read_text()
    page.rename(other)
    page.symlink_to(other)
    assert "is a link" in command(*arguments, "--force").err
    assert UntwinClassifier.load(folder).sha256_ == before
    assert "my notes" in other.read_text()
    other.replace(page)
    assert command(*arguments, "--force").code == 0
    assert "my notes" not in page.read_text()
    assert command("report", folder).code == 0  # ours may be replaced


def test_no_model_is_no_place_for_a_lock(command, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.png").touch()
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    for name in ("empty", "photos", "absent", "far/away"):
        assert command("add", tmp_path / name, table).code == 3
        assert command("report", tmp_path / name).code == 3
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["empty", "me.png", "one.csv", "photos"]


def test_the_model_in_the_current_folder(command, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    assert command("add", ".", table).code == 0
    assert folder.with_name("model.html").exists()

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
    assert after.about_["added"] == [{"source": str(tmp_path / "more.csv"), "n_rows": 36}]
    assert after.about_["roles"] == before.about_["roles"]


def test_the_summary_for_people(command, folder, tmp_path):
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    done = command("add", folder, table)
    assert done.code == 0
    assert "1 row learnt; 129 rows, 4 classes" in done.out
    assert "was expected" in done.out
    assert f"next: untwin info {folder}" in done.err


def test_rows_learnt_before_are_told_and_are_no_evidence(command, folder, tickets):
    before = UntwinClassifier.load(folder)
    done = command("add", folder, tickets)
    assert done.code == 0
    assert "128 of them had been learnt before" in done.out
    assert "Before they were learnt: 0.0% without a known word" in done.out
    assert UntwinClassifier.load(folder).threshold_ == before.threshold_


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
    assert UntwinClassifier.load(folder).knowledge_.documents is None

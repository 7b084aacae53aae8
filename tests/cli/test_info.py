from __future__ import annotations

import json

from untwin import UntwinClassifier


def test_one_json_object(untwin, fitted):
    done = untwin("info", fitted.folder, "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert record["sha256"] == UntwinClassifier.load(fitted.folder).sha256_
    assert (record["summary"]["classes"], record["summary"]["rows"]) == (4, 128)
    assert record["about"]["options"]["preset"] == "fast"
    assert record["bytes"]["all"] == sum(size for name, size in record["bytes"].items() if name != "all")


def test_for_people(command, fitted):
    done = command("info", fitted.folder)
    assert done.code == 0
    assert "preset" in done.out
    assert "scikit-learn" in done.out
    assert "next: untwin predict" in done.err


def test_a_model_of_the_library_has_no_options(command, tmp_path):
    texts = ["red bus", "red car", "blue sky", "blue sea"]
    UntwinClassifier(preset="fast").fit(texts, ["road", "road", "far", "far"]).save(tmp_path / "m")
    assert "options" not in command("info", tmp_path / "m").out
    (tmp_path / "t.csv").write_text("body,topic\nred,road\n")
    assert command("predict", tmp_path / "m", tmp_path / "t.csv").code == 2
    done = command("evaluate", tmp_path / "m", tmp_path / "t.csv", "--text", "body", "--label", "topic", "--json")
    assert done.json()["accuracy"] == 1

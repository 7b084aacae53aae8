"""What a model finds: by the rows' own numbers, and with more at hand than the training rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from untwin.model import UntwinClassifier
from untwin.model.findings import Evidence
from untwin.model.findings.nearest import neighbours_of_other_folds
from untwin.model.notes import MEASURED


@pytest.fixture
def model(texts, labels):
    return UntwinClassifier(preset="fast").fit(texts, labels)


def by_code(findings):
    return {finding.code: finding for finding in findings}


def test_findings_are_looked_for_once_until_something_is_learnt(model, new, truth):
    first = model.findings_
    assert model.findings_ is first
    model.add(new, truth)
    assert model.findings_ is not first


def test_what_the_report_shows_is_measured_once_and_saved(model, new, truth, tmp_path, monkeypatch):
    assert model.measured_ == frozenset()
    first = model.measure().neighbours_
    assert model.measured_ == frozenset(MEASURED)
    assert model.curves_.lsi  # only the preset "best" measures them by itself
    assert first.dtype == np.int32
    assert first.shape == (160, 20)
    model.save(tmp_path / "model")

    def again(*given, **named):
        raise AssertionError("measured again")

    with monkeypatch.context() as patched:
        patched.setattr("untwin.model.findings.nearest.KNNClassifier", again)
        patched.setattr("untwin.structure.hierarchy.Hierarchy.group_range", again)
        patched.setattr("untwin.model.curves.space_curves", again)
        for one in (model, UntwinClassifier.load(tmp_path / "model")):
            assert one.measured_ == {*MEASURED, "curves"}
            np.testing.assert_array_equal(one.neighbours_, first)
            np.testing.assert_array_equal(one.evidence_.neighbours, first)
            assert one.group_range_ == model.group_range_
            assert one.curves_.lsi == model.curves_.lsi
            assert one.find()  # with the neighbours that are there
    model.add(new, truth)
    assert model.measured_ == frozenset()
    assert len(model.neighbours_) == 160 + len(new)


def test_few_changes_leave_neighbours_and_search_for_new_ones(model, new, truth):
    before = model.neighbours_
    model.relabel([3], ["class01"])
    assert not model.measured_
    np.testing.assert_array_equal(model.neighbours_, before)
    model.add(new[:2], truth[:2])
    model.remove([0])
    near, folds = model.neighbours_, model.evidence_.answers.folds
    assert (near[-2:] >= 0).all()  # of the rows that are new
    assert (folds[near] != folds[:, None])[near >= 0].all()
    expected = [[row - 1 for row in line if row > 0] for line in before[1:].tolist()]  # row 0 has gone
    assert [[row for row in line if row >= 0] for line in near[:-2].tolist()] == expected
    model.add(new[2:22], truth[2:22])
    assert "carried" not in model._noted  # more than a tenth of the rows has changed
    np.testing.assert_array_equal(
        model.neighbours_, neighbours_of_other_folds(model.evidence_.X, model.evidence_.answers)
    )


def test_neighbours_are_of_other_folds(model):
    folds, near = model.evidence_.answers.folds, model.neighbours_
    assert (folds[near] != folds[:, None])[near >= 0].all()


def test_rows_keep_their_numbers_when_others_go(texts, labels):
    twice = [*texts, texts[150], texts[150]]
    model = UntwinClassifier(preset="fast").fit(twice, np.append(labels, ["class00", "class01"]))
    model.remove(range(40))
    (conflict,) = by_code(model.findings_)["conflicting-text"].evidence
    assert conflict["rows"] == [150, 160, 161]
    assert conflict["text"] == texts[150]


def test_a_test_part_that_repeats_training_rows_is_found(model, texts, labels, new, truth):
    found = by_code(model.find(test=([*new, texts[3]], np.append(truth, labels[3]))))
    (leak,) = found["split-leak"].evidence
    assert leak["training rows"] == [3]
    assert leak["test rows"] == [80]
    assert "split-leak" not in by_code(model.findings_)


def test_unlabelled_rows_are_ranked(model):
    found = by_code(model.find(unlabelled=["com1 com2", "own0x1 own0x2 own0x3"]))
    assert [record["row"] for record in found["label-next"].evidence] == [0]


def test_of_many_rows_only_those_in_doubt_are_compared_with_a_sample(monkeypatch, texts, labels):
    wrong = labels.copy()
    for row in range(5, 158, 9):
        wrong[row] = labels[row + 2]  # of another pair of twins
    model = UntwinClassifier().fit(texts, wrong)
    whole = by_code(model.findings_)["label-error"].evidence
    monkeypatch.setattr("untwin.model.findings.nearest.MANY_ROWS", 80)
    known = Evidence.of_state(model.state_)
    asked = (known.neighbours >= 0).any(axis=1)
    assert (asked == (known.answers.predicted != wrong)).all()
    assert len(np.unique(known.neighbours[asked])) <= 80
    assert (model.neighbours_ >= 0).any(axis=1).all()
    del model._noted["neighbours"]
    assert {5, 14, 23, 32} <= {record["row"] for record in whole}
    assert 5 in [record["row"] for record in by_code(model.find())["label-error"].evidence]


def test_no_label_is_called_wrong_where_the_columns_are_to_blame():
    rng = np.random.default_rng(0)
    y = np.repeat(["left", "right"], 100)
    assert "label-error" not in by_code(
        UntwinClassifier(preset="fast").fit(rng.normal(size=(200, 2)) + 1.2 * (y == "right")[:, None], y).findings_
    )
    words = [" ".join(f"w{word}" for word in rng.integers(0, 300, 8)) for _ in range(200)]
    by_chance = np.array(["a", "b", "c"])[rng.integers(0, 3, 200)]
    assert "label-error" not in by_code(UntwinClassifier(preset="fast").fit(words, by_chance).findings_)


def test_a_known_tree_gives_links_across_it(make_texts):
    texts, labels = make_texts(400, 4)
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    across = {"class00": "left", "class01": "right", "class02": "left", "class03": "right"}
    within = {"class00": "left", "class01": "left", "class02": "right", "class03": "right"}
    links = by_code(model.find(parents=across))["also-see"].evidence
    twins = {frozenset(("class00", "class01")), frozenset(("class02", "class03"))}
    assert {frozenset((link["a"], link["b"])) for link in links} <= twins
    assert "also-see" not in by_code(model.find(parents=within))


def test_labels_may_be_objects(texts, labels):
    mixed = np.where(labels == "class00", "class01", labels)
    mixed[::8] = "class00"  # a coin decides between the two
    model = UntwinClassifier(preset="fast").fit(texts, mixed.astype(object))
    found = [(record["a"], record["b"]) for record in by_code(model.findings_)["twins"].evidence]
    assert found[0] == ("class00", "class01")
    assert set(found[1:]) <= {("class02", "class03")}  # twins too, though not as much


def test_documents_come_and_go_with_their_rows(model, texts, labels, new, truth):
    model.add(new[:2], truth[:2])
    assert model.state_.documents == [*texts, *new[:2]]
    model.remove([0, 160])
    assert model.state_.documents == [*texts[1:], new[1]]


def test_frames_are_shown_by_their_cells(texts, labels):
    frame = pl.DataFrame({"text": texts, "size": range(len(texts))})
    model = UntwinClassifier(preset="fast").fit(frame, labels)
    assert model.state_.documents.equals(frame)
    leak = by_code(model.find(test=(frame[:1], labels[:1])))["split-leak"].evidence[0]
    assert leak["text"].startswith("text: ")
    assert leak["text"].endswith("| size: 0")


def test_classes_of_one_text_each():
    texts = ["please reset my password"] * 60 + ["my printer is on fire"] * 60
    model = UntwinClassifier(preset="fast").fit(texts, ["password"] * 60 + ["printer"] * 60)
    assert "split-class" not in by_code(model.findings_)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_one_hill_are_not_cut_for_their_intervals(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(["left", "right"], 100)
    frame = pl.DataFrame({"a": rng.normal(size=200) + 1.2 * (y == "right"), "b": rng.normal(size=200)})
    model = UntwinClassifier(preset="fast").fit(frame, y)
    assert model.evidence_.cells.all()
    assert "split-class" not in by_code(model.findings_)

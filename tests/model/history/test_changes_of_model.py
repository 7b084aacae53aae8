"""Previews say what happens, changes happen, and any of them can be taken back."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, issparse

from untwin import UntwinClassifier, brief
from untwin._errors import InputError, UntwinError
from untwin.model.history.halves import proposed_halves
from untwin.model.history.journal import events_path, labels_digest
from untwin.model.history.replaying import replay_events
from untwin.report import Report
from untwin.store import ModelRefused
from untwin.taxonomy import Create, Define, Merge, Move, Rename, Retire, SeeAlso, Split
from untwin.taxonomy.events import EventLog
from untwin.taxonomy.exchange import history_of


@pytest.fixture
def model(texts, labels):
    return UntwinClassifier(preset="fast").fit(texts, labels)


def state_of(model):
    known = model.state_
    return (labels_digest(model), model.taxonomy_, known.ensemble, model.classes_.tolist(), model.unsaved_events_)


def test_a_preview_of_a_merge_is_the_literal_sum_of_held_out_probabilities(model):
    before = state_of(model)
    found = model.preview(Merge(("class00", "class01"), "class00"))
    assert state_of(model) == before
    answers = model.state_.answers
    P = np.exp(answers.log_p.astype(np.float64))
    merged = np.column_stack([P[:, 0] + P[:, 1], P[:, 2:]])
    true = np.maximum(answers.true - 1, 0)
    right = merged.argmax(axis=1) == true
    assert found.accuracy.before == pytest.approx((answers.true == answers.said).mean())
    assert found.accuracy.after == pytest.approx(right.mean())
    gain = right.astype(float) - (answers.true == answers.said)
    half = 1.959963984540054 * gain.std() / len(gain) ** 0.5
    assert (found.accuracy.low, found.accuracy.high) == pytest.approx((gain.mean() - half, gain.mean() + half))
    from sklearn.metrics import f1_score

    assert found.macro_f1.after == pytest.approx(f1_score(true, merged.argmax(axis=1), average="macro"))
    assert found.macro_f1.low <= found.macro_f1.after - found.macro_f1.before <= found.macro_f1.high
    assert (found.n_moved, found.n_undecided, found.classes) == (40, 0, ("class00", "class01"))
    report = model.apply(Merge(("class00", "class01"), "class00"), learn=False)
    assert model.scores_["accuracy"] == pytest.approx(found.accuracy.after)
    assert report.n_rows == 40


def test_a_preview_of_a_retired_class_is_about_the_rows_that_are_left(model):
    found = model.preview(Retire("class03"))
    answers = model.state_.answers
    kept = answers.true != 3
    said = np.exp(answers.log_p[:, :3]).argmax(axis=1)
    assert found.accuracy.after == pytest.approx((said == answers.true)[kept].mean())
    assert found.accuracy.before == pytest.approx((answers.said == answers.true)[kept].mean())
    assert (found.n_moved, found.n_undecided) == (40, 40)
    assert found.macro_f1 is not None


@pytest.mark.parametrize("change", [Define("class00", "x"), Move("class00", "class01"), Create("new")])
def test_a_preview_of_what_moves_no_row(model, change):
    found = model.preview(change)
    assert found.n_moved == 0
    assert found.accuracy.before == found.accuracy.after
    assert model.preview(SeeAlso("class00", "class01")).links == (("class00", "class01"),)


def two_things(n, seed=0):
    """Return texts of three classes, of which "both" is two things under one name."""
    rng = np.random.default_rng(seed)
    words = {"left": "alpha beta gamma delta", "right": "uno dos tres cuatro", "x": "kip pik", "y": "zot toz"}
    rows = []
    for row in range(n):
        kind = ("left", "right", "x", "y")[row % 4]
        rows.append((" ".join([*rng.choice(words[kind].split(), 3), *rng.choice(["a1", "b2", "c3"], 2)]), kind))
    labels = np.array(["both" if kind in ("left", "right") else kind for _, kind in rows])
    return [text for text, _ in rows], labels, np.array([kind for _, kind in rows])


def test_a_class_is_split_into_the_halves_of_its_finding():
    texts, labels, kinds = two_things(240)
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    found = model.preview(Split("both", ("one", "other")))
    assert found.separability[0] > 0.95
    assert found.accuracy is None
    assert found.n_moved + found.n_undecided == 120
    halves = proposed_halves(model, "both").sure
    sides = [set(kinds[list(map(int, half))].tolist()) for half in halves]
    assert sorted(map(sorted, sides)) == [["left"], ["right"]]
    report = model.apply(Split("both", ("one", "other"), "other"), author="Ada")
    assert model.classes_.tolist() == ["one", "other", "x", "y"]
    assert report.n_rows == 120
    assert sum(share for _, share in model.taxonomy_.heirs("both")) == pytest.approx(1)
    assert (model.predict(["alpha beta", "uno dos"])[:, None] == [["one"], ["other"]]).any()
    model.undo()
    assert np.array_equal(model.state_.y, labels)


def test_a_class_is_split_by_a_rule():
    texts, labels, kinds = two_things(240)
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    word = texts[int(np.flatnonzero((labels == "both") & (kinds == "left"))[0])].split()[0]
    has = np.array([word in text.split() for text in texts]) & (labels == "both")
    found = model.preview(Split("both", ("one",), where=word.upper()))
    assert found.n_moved == has.sum() > 0
    model.apply(Split("both", ("one", "other"), where=word))
    assert (model.state_.y[has] == "one").all()
    assert set(model.state_.y[~has & (labels == "both")]) == {"other"}
    model.undo()
    assert np.array_equal(model.state_.y, labels)


def test_a_table_is_split_by_the_value_of_a_column():
    town, size = ["Ulm", "Bonn"] * 30, [float(row % 7) for row in range(60)]
    frame = pl.DataFrame({"town": town, "size": size})
    model = UntwinClassifier(preset="fast").fit(frame, ["a" if row % 3 else "b" for row in range(60)])
    assert model.preview(Split("a", ("a in Ulm",), where="town=Ulm")).n_moved == 20
    for rule, said in (("city=Ulm", "no column 'city'"), ("town=Rome", "no row"), ("lake", "no row")):
        with pytest.raises(InputError, match=said):
            model.preview(Split("a", ("x",), where=rule))


def test_rows_that_are_not_sure_stay_with_the_class(model):
    rows = tuple(str(row) for row in model.ids_[model.state_.y == "class00"][:20])
    model.apply(Split("class00", ("a", "b"), rows=(rows[:10], rows[10:])))
    sizes = dict(zip(*np.unique(model.state_.y, return_counts=True), strict=True))
    assert (sizes["a"], sizes["b"], sizes["class00"]) == (10, 10, 20)
    assert model.taxonomy_.find("a").parent == model.taxonomy_.find("class00").id


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Split("class00", ("a", "b"), rows=(("1",), ("2",))), "cannot be split off"),
        (Split("class00", ("a", "b"), rows=(("0",), ("0",))), "cannot be split off"),
        (Split("class00", ("a", "b"), rows=(("0",),)), "rows for each part"),
        (Split("class00", ("a",)), "two parts"),
    ],
)
def test_a_split_that_cannot_be(model, change, said):
    before = state_of(model)
    with pytest.raises(InputError, match=said):
        model.apply(change)
    assert state_of(model) == before


def test_a_small_class_is_not_split_by_itself(texts):
    model = UntwinClassifier(preset="fast").fit(texts[:40], ["a", "b"] * 20)
    with pytest.raises(InputError, match="too few rows"):
        model.preview(Split("a", ("c", "d")))


def test_changes_are_undone_one_after_the_other_and_by_number(model, labels):
    model.apply(Rename("class00", "zero"), author="Ada")
    model.apply(Merge(("class01", "class02"), "two"), author="Ada")
    model.apply(Define("class03", "the last"), author="Ada")
    model.undo(2, author="Bo")
    assert model.classes_.tolist() == ["class00", "class03", "two"]
    model.undo()
    model.undo()
    assert np.array_equal(model.state_.y, labels)
    assert model.taxonomy_.find("class03").definition == ""
    with pytest.raises(InputError, match="nothing to undo"):
        model.undo()
    with pytest.raises(InputError, match="Event 3 cannot be undone"):
        model.undo(3)


def test_what_has_changed_since_is_not_undone(model):
    model.apply(Merge(("class00", "class01"), "zero"), author="Ada")
    model.apply(Rename("zero", "null"))
    with pytest.raises(InputError, match="'null' has changed since"):
        model.undo(2)


def test_rows_that_went_elsewhere_since_stay_there(model):
    row = model.ids_[model.state_.y == "class00"][:1]
    model.apply(Merge(("class00", "class01"), "zero"), author="Ada")
    model.relabel(row, ["class03"], author="Bo")
    model.undo(2)
    assert model.state_.y[model.ids_ == row[0]].tolist() == ["class03"]
    with pytest.raises(InputError, match="cannot have its label back"):  # "zero" is two classes again
        model.undo(3)


def test_decisions_are_undone_too(model, labels):
    model.relabel(model.ids_[:3], ["class03"] * 3, author=["Ada", "Bo", "Ada"], notes="wrong")
    model.remove(model.ids_[5:7], author="Ada")
    assert len(model.ids_) == 158
    model.undo()
    model.undo()
    assert dict(zip(map(str, model.ids_.tolist()), model.state_.y.tolist(), strict=True)) == {
        str(n): label for n, label in enumerate(labels.tolist())
    }


def test_events_are_written_when_the_model_is_saved_and_replayed_on_another(model, texts, labels, tmp_path):
    model.apply(Merge(("class00", "class01"), "zero"), author="Ada")
    model.add(["own3x1 own3x2", "brand new thing"], ["class03", "new"])
    model.save(tmp_path / "m")
    model.relabel(model.ids_[2:3], ["zero"], author="Bo")
    model.save(tmp_path / "m")
    log = EventLog(events_path(tmp_path / "m"))
    kinds = ["log.start", "class.merge", "row.add", "model.update", "label.settle", "model.update"]
    assert [event.kind for event in log.read()] == kinds
    assert model.class_history_.sequence == log.last == 6
    other = UntwinClassifier(preset="fast").fit(texts, labels)
    found = replay_events(other, history_of(log))
    assert found.unmatched == ("160", "161")
    assert np.array_equal(other.state_.y, model.state_.y[:160])
    assert other.taxonomy_ == model.taxonomy_
    assert replay_events(other, history_of(log)).n_events == 0


def test_no_event_is_written_before_somebody_decides(model, tmp_path):
    model.add(["own3x1 own3x2"], ["class03"])
    model.relabel(model.ids_[:1], ["class01"])
    model.save(tmp_path / "m")
    assert not events_path(tmp_path / "m").exists()
    assert model.taxonomy_.names == ("class00", "class01", "class02", "class03")


def test_of_two_that_change_the_same_model_the_second_is_refused(model, tmp_path):
    model.apply(Define("class00", "x"), author="Ada")
    model.save(tmp_path / "m")
    one, other = (UntwinClassifier.load(tmp_path / "m") for _ in range(2))
    one.apply(Define("class01", "y"))
    other.apply(Define("class02", "z"))
    one.save(tmp_path / "m")
    with pytest.raises(UntwinError, match="does not include, the first of them event 4"):
        other.save(tmp_path / "m")
    assert UntwinClassifier.load(tmp_path / "m").taxonomy_.find("class01").definition == "y"


def test_events_that_decide_nothing_may_come_in_between_and_undoing_still_means_the_right_one(model, tmp_path):
    model.apply(Define("class00", "x"), author="Ada")
    model.save(tmp_path / "m")
    log = EventLog(events_path(tmp_path / "m"))
    model.apply(Rename("class01", "one"))
    model.undo()
    for kind in ("finding.dismiss", "label.say"):
        log.append(kind, {"finding": "twins"}, "Bo")
    model.save(tmp_path / "m")
    kinds = [event.kind for event in log.read()][3:]
    assert kinds == ["finding.dismiss", "label.say", "class.rename", "class.undo", "model.update"]
    undo = log.read()[-2]
    assert undo.payload["undoes"] == undo.payload["change"]["of"] == 6
    with pytest.raises(InputError, match="Event 6 cannot be undone"):
        model.undo(6)
    model.undo()
    assert model.taxonomy_.find("class00").definition == ""


def test_opinions_may_come_before_any_decision(model, tmp_path):
    model.save(tmp_path / "m")
    log = EventLog(events_path(tmp_path / "m"))
    log.append("finding.dismiss", {"finding": "twins"}, "Bo")
    model.apply(Rename("class00", "zero"), author="Ada")
    model.undo()
    model.apply(Define("class00", "x"))
    model.save(tmp_path / "m")
    kinds = ["finding.dismiss", "log.start", "class.rename", "class.undo", "class.define", "model.update"]
    assert [event.kind for event in log.read()] == kinds
    assert log.read()[3].payload["undoes"] == 3
    model.undo()
    assert model.taxonomy_.find("class00").definition == ""


def test_a_model_that_is_handed_on_begins_a_history_of_its_own(model, tmp_path):
    model.apply(Rename("class00", "zero"), author="Ada")
    model.save(tmp_path / "m")
    given = UntwinClassifier.load(tmp_path / "m")
    given.save(tmp_path / "n")
    assert not events_path(tmp_path / "n").exists()
    given = UntwinClassifier.load(tmp_path / "n")
    with pytest.raises(UntwinError, match="is not here"):
        given.undo()
    given.apply(Define("zero", "x"), author="Bo")
    given.undo()
    assert given.taxonomy_.find("zero").definition == ""
    given = UntwinClassifier.load(tmp_path / "n")
    given.apply(Define("zero", "x"), author="Bo")
    given.save(tmp_path / "n")
    log = EventLog(events_path(tmp_path / "n"))
    assert [event.kind for event in log.read()] == ["log.start", "class.define", "model.update"]
    assert log.id != EventLog(events_path(tmp_path / "m")).id
    given.undo()
    assert given.taxonomy_.find("class00").name == "zero"
    given.save(tmp_path / "n")
    given.save(tmp_path / "o")
    given.apply(Define("zero", "y"))
    given.undo()
    given.save(tmp_path / "o")
    events = EventLog(events_path(tmp_path / "o")).read()
    assert [event.kind for event in events] == ["log.start", "class.define", "class.undo", "model.update"]
    assert events[2].payload["undoes"] == 2


def test_new_classes_keep_the_ids_that_they_got_first(model):
    model.add(["qq ww"] * 2, ["zz"] * 2)
    model.add(["ee rr"] * 2, ["aa"] * 2)
    assert [model.taxonomy_.find(name).id for name in ("zz", "aa")] == ["c5", "c6"]


def test_a_second_fit_begins_anew(model, texts, labels):
    model.apply(Merge(("class00", "class01"), "zero"), author="Ada")
    model.fit(texts, labels)
    assert model.taxonomy_.names == ("class00", "class01", "class02", "class03")
    assert not model.has_history_


@pytest.mark.parametrize("lines", [[], ["{"], ['{"format": 1, "next": 9, "links": []}'], ["[]"], ["3", "4"]])
def test_a_stranger_s_taxonomy_is_refused(model, tmp_path, lines):
    model.apply(Define("class00", "x"))
    model.save(tmp_path / "m")
    object.__setattr__(model.history_, "lines", lines)
    vars(model.history_).pop("taxonomy", None)
    from untwin.model.saving.directory import _build, _tree_of  # noqa: F401
    from untwin.model.saving.rules import require_harmless

    with pytest.raises(ModelRefused):
        require_harmless("model", model)


def test_rows_of_a_table_come_back_with_their_cells(texts, labels):
    import polars as pl

    frame = pl.DataFrame({"text": texts, "size": np.arange(160) / 7, "kind": ["a", None] * 80})
    model = UntwinClassifier(preset="fast").fit(frame, labels)
    before = labels_digest(model)
    model.apply(Retire("class02"), author="Ada")
    assert len(model.ids_) == 120
    model.undo()
    assert labels_digest(model) == before
    order = np.argsort(model.ids_.astype(int))
    assert model.state_.documents[order].equals(frame)


def test_a_tree_that_is_known_follows_the_names_of_classes(model):
    tree = {"class00": "left", "class01": "left", "class02": "right", "class03": "right"}
    model.find(parents=tree, keep=True)
    model.apply(Rename("class00", "first"))
    assert model.parents_ == {"first": "left"} | {name: tree[name] for name in tree if name != "class00"}


def test_parents_and_definitions_of_the_taxonomy_are_those_of_the_model(model):
    assert model.parents_ is None
    model.apply(Create("twins"))
    model.apply(Move("class00", "twins"))
    model.apply(Define("class00", "the first of two"))
    assert model.parents_ == {"class00": ("twins",), "class01": "class01", "class02": "class02", "class03": "class03"}
    assert model.definitions_ == {"class00": "the first of two"}
    assert Report.of(model).classes.classes[0].definition == "the first of two"
    assert brief(model, ["class00"]).classes[0].definition == "the first of two"


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_rows_of_a_matrix_come_back(form):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.arange(90) % 3]
    X = (rng.normal(size=(90, 5)) + 2 * (np.arange(5) == (np.arange(90) % 3)[:, None])).astype(np.float32)
    model = UntwinClassifier(preset="fast").fit(form(X), y)
    before = labels_digest(model)
    model.apply(Retire("c"), author="Ada")
    assert model.classes_.tolist() == ["a", "b"]
    model.undo()
    assert labels_digest(model) == before
    model.remove([0, 4], author="Ada")
    model.undo()
    assert labels_digest(model) == before
    place = [str(name) for name in model.ids_.tolist()].index("4")
    row = model.state_.view.given[[place]]
    np.testing.assert_array_equal(row.toarray() if issparse(row) else row, X[[4]])


def test_rows_that_come_with_a_former_name_are_of_the_class_of_now(model, new, truth):
    model.apply(Rename("class00", "zero"))
    model.apply(Merge(("class01", "class02"), "two"))
    named = model.present_labels(truth)
    assert set(named.tolist()) == {"zero", "two", "class03"}
    assert ((named == "two") == np.isin(truth, ["class01", "class02"])).all()
    model.add(new, truth)
    model.relabel([0], ["class01"])
    assert model.classes_.tolist() == ["class03", "two", "zero"]
    assert model.state_.y[0] == "two"
    assert model.present_labels(named) is named

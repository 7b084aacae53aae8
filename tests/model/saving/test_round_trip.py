"""What was saved comes back the same to the last bit, and learns on as if it had never been away.

A class that a new candidate brings along, or a new attribute, makes these tests fail until it has its line in
`untwin.model.saving.registry`.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, time, timedelta

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.model.conftest import let_stack_win

from untwin._errors import UntwinError
from untwin.classify.linear import LinearSVM
from untwin.data.counts import TextCounts
from untwin.data.encode import TableEncoder
from untwin.data.numbers import NumbersAndIntervals
from untwin.model import UntwinClassifier
from untwin.model.saving import describe
from untwin.model.saving.registry import KINDS as KINDS_SAVED
from untwin.model.selection.candidates import STACK, DataProfile, first_stage, slow_candidates
from untwin.represent.weights import SupervisedWeights
from untwin.store import ModelRefused, load, save
from untwin.store.manifest import FORMAT
from untwin.structure.plan import SprinklingPlan

KINDS = ["texts", "frame", "numbers", "csr", "dense"]


def saved(model, folder, **options):
    model.save(folder, **options)
    return UntwinClassifier.load(folder)


def require_same(model, again, folder, rows, same_answers):
    """Require equality of all that is stored (a digest), of what is said, and of what is found."""
    same_answers(model, again, rows)
    before = describe(folder)["sha256"]
    again.save(folder)
    assert describe(folder)["sha256"] == before == again.sha256_
    assert again.findings_ == model.findings_
    assert again.candidates_ == model.candidates_
    assert again.scores_ == model.scores_
    assert again.confusion_ == model.confusion_
    assert again.hierarchy_ == model.hierarchy_


@pytest.mark.parametrize(
    ("preset", "kind"), [*((preset, kind) for preset in ("fast", "balanced") for kind in KINDS), ("best", "csr")]
)
def test_every_preset_and_kind_of_rows(tmp_path, rows_of_kind, labels, same_answers, preset, kind):
    rows = rows_of_kind(kind)
    model = UntwinClassifier(preset=preset, cv=2).fit(rows, labels)
    again = saved(model, tmp_path / "model")
    require_same(model, again, tmp_path / "model", rows, same_answers)


def candidates(n_classes, *, sparse=True):
    now = DataProfile(
        n_numbers=40 * n_classes,
        n_classes=n_classes,
        sparse=sparse,
        unit_rows=True,
        non_negative=True,
        seed=0,
    )
    return {**first_stage(now, 1.0), **dict(slow_candidates(now, 1.0))}


FEW, MANY = candidates(4, sparse=False), candidates(50)
GRADED = clone(FEW["neighbours in the adaptive space"]).set_params(plan=SprinklingPlan.ordinal([0, 1, 2, 3]))
CASES = [
    *((name, model, 4) for name, model in FEW.items()),
    *((name, model, 50) for name, model in MANY.items() if name not in FEW),
    ("neighbours in the ordinal space", GRADED, 4),
]


@pytest.mark.parametrize(("name", "candidate", "n_classes"), CASES, ids=[f"{name} {n}" for name, _, n in CASES])
def test_every_candidate(tmp_path, monkeypatch, same_answers, name, candidate, n_classes):
    """Each candidate wins, because it has no rival."""
    y = np.arange(6 * n_classes) % n_classes
    X = np.eye(n_classes)[y] * 3 + np.random.default_rng(0).random((len(y), n_classes)) * 2
    monkeypatch.setattr("untwin.model.selection.select.first_stage", lambda now, C: {name: candidate})
    model = UntwinClassifier(cv=2).fit(X, y)
    assert model.candidates_[0].name == name
    again = saved(model, tmp_path / "model")
    require_same(model, again, tmp_path / "model", X[:8], same_answers)


@pytest.fixture
def stack_wins(monkeypatch):
    let_stack_win(monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stack(stack_wins, tmp_path, rows_of_kind, labels, same_answers, kind):
    """It comes back with both stages, and learns on: rows of its classes, then a class that is new to it."""
    rows = rows_of_kind(kind)
    model = UntwinClassifier(cv=2).fit(rows, labels)
    assert model.candidates_[0].name == STACK
    again = saved(model, tmp_path / "model")
    require_same(model, again, tmp_path / "model", rows, same_answers)
    for new in (labels[:6], np.array(["a new class"] * 6)):
        assert model.add(rows_of_kind(kind, 6), new) == again.add(rows_of_kind(kind, 6), new)
        same_answers(model, again, rows)
    require_same(again, saved(again, tmp_path / "model"), tmp_path / "model", rows, same_answers)


@pytest.mark.parametrize(
    ("kind", "consists_of"),
    [
        ("texts", {"text-blocks", "text-counts", "term-weights", "naive-bayes"}),
        ("frame", {"table-encoder", "text-features", "text-blocks", "term-weights", "numbers-and-intervals"}),
        ("numbers", {"table-encoder", "numbers-and-intervals", "standard-numbers", "mdlp-discretizer"}),
        ("csr", {"naive-bayes"}),
        ("dense", {"logistic-model"}),
    ],
)
def test_what_a_saved_stack_consists_of(stack_wins, tmp_path, rows_of_kind, labels, kind, consists_of):
    UntwinClassifier(cv=2).fit(rows_of_kind(kind), labels).save(tmp_path / "model")
    tree = load(tmp_path / "model").parts["tree"][0]
    assert {name for name in KINDS_SAVED if f'"{name}"' in tree} >= consists_of | {"stacked", "linear-svm", "centroid"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_learns_on_as_if_it_had_never_been_away(tmp_path, rows_of_kind, labels, same_answers, kind):
    rows, more = rows_of_kind(kind), rows_of_kind(kind, 6)
    model = UntwinClassifier(preset="fast").fit(rows, labels)
    assert kind != "numbers" or isinstance(model.state_.preprocessing.discretizer, NumbersAndIntervals)
    again = saved(model, tmp_path / "model")
    new = np.array(["ape", "Bär", "猫", "dog", "a new class", "a new class"])
    for change in (
        lambda one: one.add(more, new),
        lambda one: one.relabel([0, 1], ["dog", "another new class"]),
        lambda one: one.remove([2, 48]),
    ):
        assert change(model) == change(again)
        same_answers(model, again, rows)
    third = saved(again, tmp_path / "model")
    require_same(again, third, tmp_path / "model", rows, same_answers)


@pytest.mark.parametrize(
    "names",
    [
        np.array(["ape", "bee", "猫", "dog"]),
        np.array(["ape", "bee", "猫", "dog"], dtype=object),
        np.array(["ape", "bee", "猫", "dog"], dtype="<U40"),
        np.array([3, 1, 4, 5]),
        np.array([3, 1, 4, 5], dtype=np.int8),
        np.array([0.0, 1.0, 2.0, 3.0]),
        np.array([False, True]),
    ],
    ids=repr,
)
def test_labels_keep_their_dtype(tmp_path, rows_of_kind, same_answers, names):
    rows = rows_of_kind("texts")
    y = names[np.arange(len(rows)) % len(names)]
    model = UntwinClassifier(preset="fast").fit(rows, y)
    again = saved(model, tmp_path / "model")
    assert again.classes_.dtype == names.dtype
    require_same(model, again, tmp_path / "model", rows, same_answers)


@pytest.mark.parametrize("scoring", ["mae", "kappa"])
def test_grades(tmp_path, rows_of_kind, same_answers, scoring):
    rows = rows_of_kind("dense")
    y = np.arange(len(rows)) % 4
    model = UntwinClassifier(preset="fast", scoring=scoring, order=[0, 1, 2, 3], target_error=0.05).fit(rows, y)
    require_same(model, saved(model, tmp_path / "model"), tmp_path / "model", rows, same_answers)


def test_columns_of_every_dtype(tmp_path, rows_of_kind, labels, same_answers):
    n = len(labels)
    day = datetime(2026, 1, 1)  # noqa: DTZ001
    frame = rows_of_kind("frame").with_columns(
        whole=pl.Series([row % 9 for row in range(n)], dtype=pl.UInt16),
        flag=pl.Series([None if row == 3 else row % 2 == 0 for row in range(n)]),
        kind=pl.Series([f"kind {row % 3}" for row in range(n)], dtype=pl.Categorical),
        grade=pl.Series([None if row == 2 else "ab"[row % 2] for row in range(n)], dtype=pl.Enum(["b", "a"])),
        day=pl.Series([date(2026, 1, 1 + row % 5) for row in range(n)]),
        moment=pl.Series([day + timedelta(hours=row % 7) for row in range(n)], dtype=pl.Datetime("ms", "UTC")),
        hour=pl.Series([time(row % 24) for row in range(n)]),
        single=pl.Series([float("nan") if row == 4 else row / 2 for row in range(n)], dtype=pl.Float32),
        nothing=pl.Series([None] * n, dtype=pl.Null),
    )
    model = UntwinClassifier(preset="fast").fit(frame, labels)
    again = saved(model, tmp_path / "model")
    assert again.state_.documents.equals(frame)
    assert again.state_.documents.schema == frame.schema
    require_same(model, again, tmp_path / "model", frame, same_answers)


@pytest.mark.parametrize(
    ("kind", "encoder"),
    [
        ("texts", TextCounts(stop_words=frozenset({"one"}), ngram_range=(1, 2), dtype=np.float32)),
        ("texts", TextCounts(analyzer="char_wb", ngram_range=(2, 3), vocabulary=None)),
        ("texts", TextCounts(ngram_range=(1, 2), min_df=2)),
        ("texts", make_pipeline(TextCounts(stop_words={"one"}), SupervisedWeights(scheme="chi2", select=20))),
        ("texts", make_pipeline(TextCounts(stemmer="english"), TfidfTransformer())),
        ("frame", TableEncoder(text=["text"], numeric=["price"], block_weights={"text": 2.0})),
        ("dense", StandardScaler()),
    ],
)
def test_encoders_that_a_user_gives(tmp_path, rows_of_kind, labels, same_answers, kind, encoder):
    rows = rows_of_kind(kind)
    model = UntwinClassifier(preset="fast", encoder=encoder).fit(rows, labels)
    require_same(model, saved(model, tmp_path / "model"), tmp_path / "model", rows, same_answers)


def test_without_texts_the_answers_stay_and_the_documents_go(tmp_path, rows_of_kind, small_model, same_answers):
    rows = rows_of_kind("texts")
    assert small_model.findings_ is not None  # they quote documents
    again = saved(small_model, tmp_path / "model", texts=False)
    assert again.state_.documents is None
    assert not describe(tmp_path / "model")["summary"]["texts"]
    same_answers(small_model, again, rows)
    everything = b"".join(path.read_bytes() for path in (tmp_path / "model").iterdir())
    assert not any(text.encode() in everything for text in rows)
    assert again.add(rows[:2], ["ape", "Bär"]).n_rows == 2
    assert small_model.state_.documents is not None


def test_a_table_cannot_be_saved_without_its_rows(tmp_path, rows_of_kind, labels):
    model = UntwinClassifier(preset="fast").fit(rows_of_kind("frame"), labels)
    with pytest.raises(ValueError, match="texts must be True for a table"):
        model.save(tmp_path / "model", texts=False)
    assert not (tmp_path / "model").exists()


def test_what_the_caller_wants_to_keep_is_kept(tmp_path, small_model):
    about = {"columns": {"text": ["body"]}, "seconds": 1.5, "command": ["untwin", "fit"]}
    again = saved(small_model, tmp_path / "model", about=about)
    assert again.about_ == about
    assert saved(again, tmp_path / "again").about_ == about
    assert not hasattr(small_model, "about_")
    with pytest.raises(ValueError, match="facts must consist of"):
        small_model.save(tmp_path / "model", about={"when": date.min})
    assert UntwinClassifier.load(tmp_path / "model").about_ == about


def test_a_model_tells_what_it_is_without_being_built(tmp_path, small_model):
    small_model.save(tmp_path / "model", about={"k": 1})
    told = describe(tmp_path / "model")
    assert told["format"] == FORMAT
    assert told["versions"].keys() == {"python", "untwin", "scikit-learn", "scipy", "numpy", "numba", "polars"}
    assert told["about"] == {"k": 1}
    assert told["summary"]["winner"] == small_model.candidates_[0].name
    assert (told["summary"]["kind"], told["summary"]["classes"], told["summary"]["rows"]) == ("texts", 4, 48)
    parts = {name: size for name, size in told["bytes"].items() if name != "all"}
    assert sum(parts.values()) == told["bytes"]["all"] > 0
    on_disk = sum(path.stat().st_size for path in (tmp_path / "model").glob("*.npy"))
    assert told["bytes"]["all"] < on_disk
    assert told["sha256"] == UntwinClassifier.load(tmp_path / "model").sha256_


def test_a_loaded_model_is_mapped_and_answers_many_threads_at_once(tmp_path, rows_of_kind, labels):
    rows = rows_of_kind("dense", 600)
    model = UntwinClassifier(preset="fast").fit(rows, np.tile(labels, 13)[:600])
    again = saved(model, tmp_path / "model")
    assert not again.state_.view.rows.flags.writeable
    assert not again.state_.view.rows.flags.owndata
    expected = model.predict_proba(rows)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(again.predict_proba, [rows] * 24):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_two_fits_give_the_same_bytes_but_for_times_and_versions(tmp_path, rows_of_kind, labels, kind):
    places = tmp_path / "one", tmp_path / "two"
    preset = "balanced" if kind in ("texts", "frame") else "fast"
    for place in places:
        UntwinClassifier(preset=preset).fit(rows_of_kind(kind), labels).save(place, about={"day": place.name})
    contents = [{file.name: file.read_bytes() for file in place.iterdir()} for place in places]
    manifests = [json.loads(content.pop("manifest.json")) for content in contents]
    assert contents[0] == contents[1]
    for manifest in manifests:
        del manifest["sha256"]
        for name in ("about", "versions", "candidate_seconds"):
            del manifest["facts"][name]
    assert manifests[0] == manifests[1]


def test_a_loaded_model_knows_what_its_candidates_took(tmp_path, rows_of_kind, labels):
    model = UntwinClassifier(preset="fast").fit(rows_of_kind("texts"), labels)
    took = [one.seconds for one in model.candidates_]
    model.save(tmp_path)
    assert [one.seconds for one in model.candidates_] == took
    assert UntwinClassifier.load(tmp_path).candidates_ == model.candidates_
    assert min(took) > 0


@pytest.mark.parametrize("seconds", [None, [], ["1"], [-1.0], [1], {}, [0.5, 0.5]])
def test_forged_seconds_are_refused(tmp_path, rows_of_kind, labels, seconds):
    UntwinClassifier(preset="fast").fit(rows_of_kind("texts"), labels).save(tmp_path)
    stored = load(tmp_path)
    save(tmp_path, stored.parts, {**stored.facts, "candidate_seconds": seconds})
    with pytest.raises(ModelRefused, match="Each candidate must have its seconds"):
        UntwinClassifier.load(tmp_path)


def test_saving_changes_nothing_in_the_model(tmp_path, rows_of_kind, labels):
    model = UntwinClassifier(preset="fast").fit(rows_of_kind("texts"), labels)
    before = {name: id(value) for name, value in vars(model).items()}
    model.save(tmp_path / "model", texts=False)
    noted = {"sha256_", "_seen_in"}  # which model the folder held last that this one knows of
    assert {name: id(value) for name, value in vars(model).items() if name not in noted} == before
    assert model.sha256_ == UntwinClassifier.load(tmp_path / "model").sha256_


class OwnScaler(StandardScaler):
    """A class that no table of ours knows."""


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"encoder": OwnScaler()}, r"encoder must be something that can be saved. Got OwnScaler\(\)"),
        ({"encoder": make_pipeline(StandardScaler(), memory="cache")}, "must be such that it can be loaded.*memory"),
        ({"random_state": np.random.RandomState(0)}, "random_state must be something that can be saved"),
    ],
)
def test_what_cannot_be_saved_is_named_and_the_old_model_stays(
    tmp_path, monkeypatch, rows_of_kind, labels, small_model, options, reason
):
    monkeypatch.chdir(tmp_path)
    small_model.save(tmp_path / "model")
    before = describe(tmp_path / "model")
    model = UntwinClassifier(preset="fast", **options).fit(rows_of_kind("dense"), labels)
    with pytest.raises(ValueError, match=reason):
        model.save(tmp_path / "model")
    assert describe(tmp_path / "model") == before


def test_a_model_that_cannot_answer_does_not_replace_one_that_can(tmp_path, rows_of_kind, labels, small_model):
    small_model.save(tmp_path / "model")
    before = describe(tmp_path / "model")
    model = UntwinClassifier(preset="fast").fit(rows_of_kind("texts"), labels).set_params(order=["ape"])
    with pytest.raises(ValueError, match=r"must be such that it can be loaded.*order must name all classes"):
        model.save(tmp_path / "model")
    assert describe(tmp_path / "model") == before


def test_saving_does_not_build_the_model_again(tmp_path, monkeypatch, small_model):
    def built(*given):
        raise AssertionError("the save builds the model")

    monkeypatch.setattr("untwin.model.saving.decode.Decoder.thing", built)
    small_model.save(tmp_path / "model")


def test_columns_that_cannot_be_saved_are_named(tmp_path, rows_of_kind, labels):
    frame = rows_of_kind("frame").with_columns(pl.struct("price", "colour").alias("both"))
    model = UntwinClassifier(preset="fast").fit(frame.drop("both"), labels)
    object.__setattr__(model.state_.view, "given", frame)
    with pytest.raises(ValueError, match=r"both must be something that can be saved\. Got a column of Struct"):
        model.save(tmp_path / "model")


def test_an_attribute_that_the_table_lacks_is_named(tmp_path, small_model):
    member = small_model.state_.ensemble.members[0].model
    assert isinstance(member, LinearSVM)
    member.surprise_ = 3
    try:
        with pytest.raises(ValueError, match="surprise_ must be something that can be saved"):
            small_model.save(tmp_path / "model", precision="full")
    finally:
        del member.surprise_


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        UntwinClassifier().save(tmp_path / "model")


def test_a_model_that_another_has_changed_is_not_replaced_unless_asked_for(tmp_path, small_model, rows_of_kind):
    folder = tmp_path / "model"
    small_model.save(folder)
    first, second = UntwinClassifier.load(folder), UntwinClassifier.load(folder)
    first.add(rows_of_kind("texts", 2), ["ape", "dog"])
    first.save(folder)
    first.save(folder)  # it knows its own
    second.add(rows_of_kind("texts", 3), ["ape", "dog", "ape"])
    with pytest.raises(UntwinError, match="has changed since") as caught:
        second.save(folder)
    assert caught.value.code == "model-changed"
    assert "overwrite=True" in caught.value.hint
    assert UntwinClassifier.load(folder).sha256_ == first.sha256_
    second.save(tmp_path / "another")
    with pytest.raises(UntwinError, match="has changed since"):
        second.save(tmp_path / "another" / ".." / "model")
    second.save(folder, overwrite=True)
    assert UntwinClassifier.load(folder).sha256_ == second.sha256_
    with pytest.raises(UntwinError, match="has changed since"):
        first.save(folder)
    small_model.save(tmp_path / "another")  # another model altogether: a replacement, as ever

"""A model that a stranger has made, with right digests everywhere: refused with a reason, or the same to the bit."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from copy import deepcopy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from tests.model.conftest import let_stack_win
from tests.model.saving.conftest import made_labels, made_texts

from untwin.classify.centroids import CentroidClassifier
from untwin.data.counts import TextCounts
from untwin.model import UntwinClassifier
from untwin.model.findings.finding import Finding
from untwin.model.saving import describe, directory
from untwin.store import ModelRefused, load, save

IDF = "idf of a term-weights|Each term must have a weight"
TESTS = Path(__file__).parents[2]


def helper(path):
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FORGE, DAMAGE = helper(TESTS / "faults" / "forge.py"), helper(TESTS / "store" / "damage.py")


@pytest.fixture
def folder(tmp_path, small_model):
    small_model.save(tmp_path / "model")
    return tmp_path / "model"


def rewritten(folder, change):
    """RowChange the tree of a saved model, with right digests everywhere."""
    stored = load(folder)
    tree = json.loads(stored.parts["tree"][0])
    save(folder, {**stored.parts, "tree": [json.dumps(change(tree))]}, stored.facts)


def model_of(tree):
    return tree["model"]


def loaded(folder):
    """Return the model, or why it is refused."""
    try:
        return UntwinClassifier.load(folder)
    except ModelRefused as error:
        return error


@pytest.mark.filterwarnings("ignore")  # strange numbers overflow
@pytest.mark.parametrize("way", [*dict.fromkeys(FORGE.WAYS)], ids=lambda way: way.__name__)
def test_a_forged_model_is_refused_or_answers_as_before(
    tmp_path, monkeypatch, folder, rows_of_kind, small_model, same_answers, way
):
    monkeypatch.setattr(FORGE, "WAYS", [way])
    refused = 0
    for seed in range(8):
        copy = shutil.copytree(folder, tmp_path / f"copy{seed}")
        how = FORGE.forge(copy, np.random.default_rng(seed))
        found = loaded(copy)
        if isinstance(found, ModelRefused):
            refused += 1
            assert found.exit_code == 3, how
            assert str(copy) in found.message, how
        else:
            same_answers(small_model, found, rows_of_kind("texts", 8))
    assert refused >= (2 if way is FORGE.wrong_type else 8)


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_refused_or_does_not_matter(folder, rows_of_kind, small_model, same_answers, seed):
    generator = np.random.default_rng(seed)
    ways = [way for way in DAMAGE.WAYS if way is not DAMAGE.forged_shape]  # no part of a model is a matrix
    ways[generator.integers(len(ways))](folder, generator)
    found = loaded(folder)
    if not isinstance(found, ModelRefused):
        same_answers(small_model, found, rows_of_kind("texts", 8))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda tree: {"Popen": {"args": "true"}}, "A kind must be one that models consist of. Got Popen"),
        (lambda tree: {"centroid": {"top": 1}}, "A centroid must have what its kind has"),
        (lambda tree: {"model": {}}, "A model must have what its kind has"),
        (
            lambda tree: {"model": {**model_of(tree), "fit": None}},
            r"A model must have .*\['fit'\]",
        ),
        (lambda tree: {"model": {**model_of(tree), "n_jobs": 10**6}}, "n_jobs must be a small whole number"),
        (lambda tree: {"model": {**model_of(tree), "cv": 2**64}}, "Whole numbers must have at most 64 bits"),
        (
            lambda tree: {"model": {**model_of(tree), "kind": "pickle"}},
            "must be of texts, a frame or a matrix",
        ),
        (
            lambda tree: {"model": {**model_of(tree), "encoder": {"type": "eval"}}},
            "must answer. Got KeyError",
        ),
        (lambda tree: {"model": {**model_of(tree), "cv": {"dtype": "i4,f8"}}}, "A dtype must be that of"),
        (lambda tree: [tree] * 2, "must be an UntwinClassifier"),
        (lambda tree: {"a": 1, "b": 2}, "A node must be a value or one named kind"),
    ],
)
def test_reasons_are_given(folder, change, reason):
    rewritten(folder, change)
    with pytest.raises(ModelRefused, match=reason):
        UntwinClassifier.load(folder)


def test_a_pipeline_with_a_memory_is_refused(tmp_path):
    """Its memory would unpickle whatever lies in a folder that the file names. Only a user's encoder is a pipeline."""
    encoder, folder = make_pipeline(TextCounts(), TfidfTransformer()), tmp_path / "model"
    UntwinClassifier(preset="fast", cv=2, encoder=encoder).fit(made_texts(), made_labels()).save(folder)

    def with_memory(tree):
        text = json.dumps(tree)
        assert '"memory": null' in text
        return json.loads(text.replace('"memory": null', '"memory": "/tmp/cache"'))

    rewritten(folder, with_memory)
    with pytest.raises(ModelRefused, match="must not have a memory"):
        UntwinClassifier.load(folder)


@pytest.mark.parametrize("slope", [0.0, -1.0, {"float": "nan"}, None, 10**3])
def test_trust_that_turns_answers_round_is_refused(folder, slope):
    def turned(tree):
        ensemble = model_of(tree)["state"]["fitted-state"]["ensemble"]["ensemble"]
        assert ensemble["top_class"]["top-class-calibration"]["slope"] > 0
        ensemble["top_class"]["top-class-calibration"]["slope"] = slope
        return tree

    rewritten(folder, turned)
    with pytest.raises(ModelRefused, match="positive slope and a finite shift"):
        UntwinClassifier.load(folder)


@pytest.mark.parametrize("wrong", ["beyond", "below", "short", "wide", "range"])
def test_measured_things_that_are_none_are_neither_saved_nor_loaded(tmp_path, rows_of_kind, labels, wrong, monkeypatch):
    model = UntwinClassifier(preset="fast").fit(rows_of_kind("texts"), labels)
    near = model.neighbours_.copy()
    near[0, 0] = {"beyond": len(near), "below": -2}.get(wrong, near[0, 0])
    changed = {"short": near[1:], "wide": near.astype(np.int64)}.get(wrong, near)
    model._noted |= {"neighbours": changed, "group_range": model.group_range_}
    if wrong == "range":
        model._noted["group_range"] = model.group_range_._replace(low="few")
    with pytest.raises(ValueError, match=r"must be such that it can be loaded.*(asked about|group-range)"):
        model.save(tmp_path / "model")
    with monkeypatch.context() as patched:
        patched.setattr("untwin.model.saving.encode.require_harmless", lambda *given: None)
        model.save(tmp_path / "model")
    with pytest.raises(ModelRefused, match=r"asked about|group-range"):
        UntwinClassifier.load(tmp_path / "model")


def test_trees_that_are_no_json_are_refused(folder):
    stored = load(folder)
    for text in ("", "{", "[" * 10_000, "NaN" * 3, "9" * 5_000):
        save(folder, {**stored.parts, "tree": [text]}, stored.facts)
        with pytest.raises(ModelRefused):
            UntwinClassifier.load(folder)
    for tree in (["{}", "{}"], np.arange(3), {}):
        save(folder, {**stored.parts, "tree": tree}, stored.facts)
        with pytest.raises(ModelRefused, match="must have a tree"):
            UntwinClassifier.load(folder)


def test_a_tree_of_absurd_size_is_refused_before_it_is_parsed(folder, monkeypatch, small_model):
    monkeypatch.setattr(directory, "LARGEST_TREE", 1000)
    with pytest.raises(ModelRefused, match="A tree must have at most 1000 characters"):
        UntwinClassifier.load(folder)
    with pytest.raises(ValueError, match="must be such that it can be loaded"):
        small_model.save(folder)


def test_facts_that_say_nothing_are_refused(folder):
    FORGE.forge_facts(folder, np.random.default_rng(0))
    for read in (UntwinClassifier.load, describe):
        with pytest.raises(ModelRefused, match="facts"):
            read(folder)


def test_a_model_that_cannot_answer_names_the_versions_that_made_it(folder, small_model):
    small_model.save(folder, precision="full", overwrite=True)
    stored = load(folder)
    tree = json.loads(stored.parts["tree"][0])
    ensemble = model_of(tree)["state"]["fitted-state"]["ensemble"]["ensemble"]
    ensemble["members"]["tuple"][0]["member"]["model"]["linear-svm"]["random_state"] = "x"
    facts = {**stored.facts, "versions": {**stored.facts["versions"], "scikit-learn": "1.0"}}
    save(folder, {**stored.parts, "tree": [json.dumps(tree)]}, facts)
    with pytest.raises(ModelRefused, match=r"It was made by scikit-learn 1\.0 \(here"):
        UntwinClassifier.load(folder)


def test_no_model_says_so(tmp_path):
    with pytest.raises(ModelRefused, match="holds no model"):
        UntwinClassifier.load(tmp_path / "nowhere")


def test_a_term_with_two_columns_is_refused(tmp_path, rows_of_kind, labels):
    model = UntwinClassifier(preset="fast", cv=2).fit(rows_of_kind("texts"), labels)
    counts = model.state_.view.encoder.encoders_[0]
    counts.terms_ = counts.terms_.scatter([1], [counts.terms_[0]])
    with pytest.raises(ValueError, match="A term must have one column"):
        model.save(tmp_path / "model")


@pytest.fixture(scope="module")
def stacked():
    """A model of texts whose stack has won."""
    with pytest.MonkeyPatch.context() as patch:
        let_stack_win(patch)
        return UntwinClassifier(cv=2).fit(made_texts(), made_labels())


def stack_of(model):
    return model.state_.ensemble.members[0].model


def changed(model, change):
    """Return a model that is changed after what answers was made of it."""
    found = deepcopy(model)
    change(found)
    vars(found.state_)["answerer"] = model.state_.answerer
    return found


def lie_about(what, value):
    """Return a change of a model: the attribute at the end of the path gets `value(attribute)`."""
    *path, last = what.split(".")

    def change(model):
        thing = stack_of(model) if path[0] == "stack" else model.state_
        for name in path[1:]:
            thing = thing[int(name)] if name.isdigit() else getattr(thing, name)
        setattr(thing, last, value(getattr(thing, last)))

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lie_about("state.preprocessing.idf_", lambda idf: idf[:-1]), IDF),
        (lie_about("state.preprocessing.idf_", lambda idf: idf.astype(np.float64)), IDF),
        (lie_about("state.preprocessing.idf_", lambda idf: idf * np.nan), IDF),
        (lie_about("state.preprocessing.idf_", lambda idf: idf.tolist()), IDF),
        (lie_about("state.view.encoder.columns_", lambda columns: columns[:1]), "columns of a text-blocks"),
        (lie_about("state.view.encoder.columns_", lambda columns: columns[::-1]), "Each term must have a column"),
        (lie_about("state.view.encoder.columns_", lambda columns: [np.zeros_like(c) for c in columns]), "must be all"),
        (lie_about("state.view.encoder.columns_", lambda columns: [c + 9 for c in columns]), "Columns must be all"),
        (lie_about("state.view.encoder.columns_", lambda columns: [c / 1 for c in columns]), "Columns must be all"),
        (lie_about("state.view.encoder.block_of_", lambda of: 1 - of), "block_of of a text-blocks"),
        (
            lie_about("state.view.encoder.block_of_", lambda of: np.append(of, of[-1:])),
            "its block|a weight|its other parts|column for each",
        ),
        (lie_about("stack.temperatures_", lambda T: T[1:]), "temperature"),
        (lie_about("stack.temperatures_", lambda T: 0 * T), "temperature"),
        (lie_about("stack.temperatures_", lambda T: np.nan * T), "temperature"),
        (lie_about("stack.models_.0.passes", lambda passes: 10**9), "at most 1000 passes"),
        (lie_about("stack.second_.passes", lambda passes: 10**9), "at most 1000 passes"),
        (lie_about("stack.n_jobs", lambda jobs: 10**6), "n_jobs must be a small whole number"),
    ],
)
def test_forged_parts_of_a_stack_are_neither_saved_nor_loaded(tmp_path, monkeypatch, stacked, change, reason):
    """Compiled loops check no index: what leads out of an array must not get so far."""
    model = changed(stacked, change)
    with pytest.raises(ValueError, match=f"must be such that it can be loaded.*({reason})"):
        model.save(tmp_path / "model", precision="full")
    with monkeypatch.context() as patched:
        patched.setattr("untwin.model.saving.encode.require_harmless", lambda *given: None)
        model.save(tmp_path / "model", precision="full")
    with pytest.raises(ModelRefused, match=reason):
        UntwinClassifier.load(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [
        lie_about("stack.models_.0.weights_", lambda W: W[:-1]),
        lie_about("stack.models_.1.weights_", lambda W: W[:-1]),
        lie_about("stack.models_.1.weights_", lambda W: W[:, :-1]),
        lie_about("stack.second_.weights_", lambda W: W[1:]),
        lie_about("stack.second_.classes_", lambda classes: classes + 1),
        lie_about("stack.models_.0.classes_", lambda classes: classes + 1),
        lie_about("stack.models_", lambda models: models[:-1]),
        lie_about("state.preprocessing.block_of", lambda of: np.append(of, of)),
        lie_about("state.preprocessing.block_of", lambda of: of - 2),
        lie_about("state.view.encoder.encoders_", lambda encoders: [CentroidClassifier() for _ in encoders]),
    ],
)
def test_parts_of_a_stack_that_do_not_fit_together_are_refused(tmp_path, monkeypatch, stacked, change):
    model = changed(stacked, change)
    with monkeypatch.context() as patched:
        patched.setattr("untwin.model.saving.encode.require_harmless", lambda *given: None)
        model.save(tmp_path / "model", precision="full")
    assert isinstance(loaded(tmp_path / "model"), ModelRefused)


@pytest.mark.filterwarnings("ignore")  # strange numbers overflow
@pytest.mark.parametrize("seed", range(40))
def test_a_forged_stack_is_refused_or_answers_as_before(tmp_path, monkeypatch, stacked, same_answers, seed):
    """A stack without its second stage is a stack too; all that is of another kind is refused."""
    monkeypatch.setattr(FORGE, "WAYS", [way for way in FORGE.WAYS if way is not FORGE.wrong_type])
    stacked.save(tmp_path / "model", overwrite=True)
    how = FORGE.forge(tmp_path / "model", np.random.default_rng(seed))
    found = loaded(tmp_path / "model")
    if isinstance(found, ModelRefused):
        assert found.exit_code == 3, how
    else:
        same_answers(stacked, found, made_texts(8))


def given_ids(tree, ids):
    model_of(tree)["state"]["fitted-state"]["ids"] = {"objects": ids}
    return tree


@pytest.mark.parametrize(
    "ids",
    [
        ["A"] * 48,
        [f"A-{row}" for row in range(47)],
        [*(f"A-{row}" for row in range(47)), 47],
        [*(f"A-{row}" for row in range(47)), None],
        [*(f"A-{row}" for row in range(47)), ["A"]],
    ],
    ids=["twice", "too few", "a number", "none", "a list"],
)
def test_forged_ids_are_refused(folder, ids):
    rewritten(folder, lambda tree: given_ids(tree, [f"A-{row}" for row in range(48)]))
    assert loaded(folder).ids_.tolist()[:2] == ["A-0", "A-1"]
    rewritten(folder, lambda tree: given_ids(tree, ids))
    assert isinstance(loaded(folder), ModelRefused)


@pytest.mark.parametrize(
    "parents", [3, ["ape"], [{"tuple": ["ape"]}], [{"tuple": ["ape", {"dict": {}}]}], [{"tuple": [["ape"], "x"]}]]
)
def test_a_forged_tree_is_refused(folder, parents):
    def change(tree):
        model_of(tree)["noted"] = {"dict": {"parents": parents}}
        return tree

    rewritten(folder, change)
    assert isinstance(loaded(folder), ModelRefused)


TWINS = {"a": "ape", "b": "bee", "rate": 0.2, "rate at least": 0.1}
SUSPECT = {"row": 0, "label": "ape", "rather": "bee", "belief in label": 0.1, "belief in other": 0.9}


@pytest.mark.parametrize(
    ("code", "record"),
    [
        ("nonsense", {}),
        ("twins", {}),
        ("twins", TWINS | {"a": "no class"}),
        ("twins", TWINS | {"a": ["ape"]}),
        ("twins", TWINS | {"rate": "high"}),
        ("label-error", SUSPECT | {"row": 1_000}),
        ("label-error", SUSPECT | {"row": [0]}),
        ("label-error", SUSPECT | {"belief in other": None}),
        ("conflicting-text", {"rows": 3, "labels": []}),
        ("split-class", {"class": "ape", "rows of one": 0, "rows of other": 0, "some of one": [], "some of other": []}),
        ("tiny-class", {"class": "ape", "rows": -1}),
        ("tiny-class", {"class": "ape", "rows": float("nan")}),
    ],
)
def test_findings_about_what_is_not_there_are_refused(tmp_path, rows_of_kind, labels, code, record):
    model = UntwinClassifier(preset="fast").fit(rows_of_kind("texts"), labels)
    names = dict(zip(("ape", "bee"), np.unique(labels).tolist(), strict=False))
    record = {key: names.get(cell, cell) if isinstance(cell, str) else cell for key, cell in record.items()}
    sound = TWINS | {"a": names["ape"], "b": names["bee"]}
    for known, refused in ((("twins", sound), False), ((code, record), True)):
        model._noted["findings"] = [Finding(known[0], "told", (known[1],), "do it", "info")]
        with pytest.raises(ValueError, match="must be such that it can be loaded") if refused else nullcontext():
            model.save(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "lie"),
    [("confusion", {"tuple": [1]}), ("hierarchy", None), ("scores", []), ("calibration_error", "x")],
)
def test_what_only_the_report_reads_is_of_its_kind(folder, name, lie):
    rewritten(folder, lambda tree: {"model": {**model_of(tree), name: lie}})
    with pytest.raises(ModelRefused, match=f"{name} of a model must be of its kind"):
        UntwinClassifier.load(folder)


@pytest.mark.parametrize("lie", [[0] * 47, [*range(47), 48], [-1, *range(47)]], ids=["too few", "beyond", "below"])
def test_answers_are_those_of_training_rows(folder, lie):
    def change(tree):
        model_of(tree)["state"]["fitted-state"]["answers"]["out-of-fold-answers"]["rows"] = {"objects": lie}
        return tree

    rewritten(folder, change)
    assert isinstance(loaded(folder), ModelRefused)


def test_who_only_reads_a_model_does_not_ask_it(folder, small_model, monkeypatch):
    small_model.save(folder, precision="full", overwrite=True)

    def asked(*given):
        raise AssertionError("asked")

    monkeypatch.setattr("untwin.model.ensemble.Ensemble.log_proba", asked)
    monkeypatch.setattr("untwin.answer.answerer.TextAnswerer.log_proba_of_counts", asked)
    with pytest.raises(ModelRefused, match="must answer"):
        UntwinClassifier.load(folder)
    found = directory.load_model(folder, answers=False)
    assert found.confusion_ == small_model.confusion_

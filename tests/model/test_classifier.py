"""`UntwinClassifier` as a user meets it: whatever is given, answers, doubts, reasons."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from untwin import TextCounts, write_report
from untwin.calibrate.threshold import surest_threshold
from untwin.model import UntwinClassifier
from untwin.model.features.inputs import as_one_text


@pytest.fixture(scope="module")
def fast(texts, labels):
    return UntwinClassifier(preset="fast", target_error=0.05).fit(texts, labels)


@pytest.fixture(scope="module")
def balanced(texts, labels):
    return UntwinClassifier().fit(texts, labels)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pl.Series, pd.Series, lambda rows: np.array(rows, object)])
def test_texts_of_any_kind_give_the_same_answers(fast, kind, texts, labels, new):
    model = clone(fast).fit(kind(texts), labels)
    np.testing.assert_array_equal(model.predict_proba(kind(new)), fast.predict_proba(new))


@pytest.mark.parametrize(
    "kind",
    [
        np.ndarray.tolist,
        pd.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pl.Series(y.tolist()),
        lambda y: pl.Series(y.tolist(), dtype=pl.Categorical),
    ],
)
def test_labels_of_any_kind_give_the_same_answers(fast, kind, texts, labels, new):
    model = clone(fast).fit(texts, kind(labels))
    assert model.predict(new).tolist() == fast.predict(new).tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, bool, "U7", object])
def test_the_dtype_of_labels_survives(dtype, texts, labels, new):
    y = np.array(labels if dtype in ("U7", object) else np.unique(labels, return_inverse=True)[1] % 2, dtype=dtype)
    model = UntwinClassifier(preset="fast").fit(texts, y)
    assert model.classes_.dtype == model.predict(new).dtype == y.dtype


def test_a_frame_is_encoded_by_guess_inside_every_fold(texts, labels):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"text": texts, "noise": rng.normal(size=len(texts))})
    shuffled = rng.permutation(labels)
    honest = UntwinClassifier(preset="fast").fit(frame.select("noise"), shuffled)
    assert honest.scores_["accuracy_low"] < 0.25 < honest.scores_["accuracy_high"]  # cuts have not seen held-out labels
    model = UntwinClassifier(preset="fast").fit(frame, labels)
    assert model.feature_names_in_.tolist() == ["text", "noise"]
    assert model.score(frame.to_pandas(), labels) > 0.9


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float64, 4)])
def test_a_table_with_a_column_of_vectors_is_told_about(kind, tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame({"flower": pl.Series(X.tolist(), dtype=kind), "place": ["hill", "lake", "moor"] * 50})
    model = UntwinClassifier(preset="fast").fit(frame, y)
    assert "conflicting-text" not in [finding.code for finding in model.findings_]  # vectors are told apart
    write_report(model, tmp_path / "report.html")
    assert "flower: 5.1, 3.5, 1.4, 0.2 | place: hill" in as_one_text(model.state_.documents)
    held = model.find(test=(frame[:3], y[:3]))
    assert "split-leak" in [finding.code for finding in held]


def test_cells_of_any_kind_can_be_read():
    frame = pl.DataFrame({"both": [{"a": 1}, None], "bytes": [b"x", None], "words": [["a", "b"], []], "n": [1, 2]})
    assert as_one_text(frame) == ["both: {'a': 1} | bytes: b'x' | words: ['a', 'b'] | n: 1", "words: [] | n: 2"]


def test_a_dict_of_arrays_is_a_frame():
    X, y = load_iris(return_X_y=True)
    columns = {"length": X[:, 2], "width": X[:, 3]}
    model = UntwinClassifier(preset="fast").fit(columns, y)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert model.predict(columns).tolist() == model.predict(pl.DataFrame(columns)).tolist()


def test_dates_are_read_as_days():
    X, y = load_iris(return_X_y=True)
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("length") * 10)
    frame = pl.DataFrame({"length": X[:, 2]}).select(day=day, when=day.cast(pl.Datetime("ms")))
    model = UntwinClassifier(preset="fast").fit(frame, y)
    assert model.score(frame.to_pandas(), y) > 0.9


def test_scores_are_those_of_the_columns_that_the_model_uses():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 2, 110)  # 88 rows of a fold are too few to find that a column gives the label away
    frame = pd.DataFrame({"code": np.array(["k", "w"])[k], "noise": rng.normal(size=110)})
    with pytest.warns(UserWarning, match="'code' .gives the label away") as caught:
        model = UntwinClassifier(preset="fast").fit(frame, k)
    assert len(caught) == 1
    assert model.scores_["accuracy_low"] < 0.5 < model.scores_["accuracy_high"]


def along_a_slope(n=400):
    """A frame whose classes differ by the sum of three numbers, of which some are missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(50.0, 10.0, size=(n, 3))
    y = np.array(["low", "high"])[(X.sum(axis=1) > 150).astype(int)]
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(pl.when(pl.int_range(n) % 20 > 0).then("c"))
    return frame, y


@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_numbers_of_a_frame_add_up_where_that_tells_the_classes(preset):
    frame, y = along_a_slope()
    model = UntwinClassifier(preset=preset).fit(frame[:300], y[:300])
    assert {"a", "b", "c"} <= set(model.state_.view.term_names(model.state_.preprocessing)[0])
    assert model.scores_["accuracy"] > 0.93
    assert model.score(frame[300:].to_pandas(), y[300:]) > 0.93
    shared = [
        term for reason in model.explain(frame[300:310]) for near in reason.neighbours.neighbours for term in near.terms
    ]
    assert shared
    assert model.add(frame[300:], y[300:]).n_rows == 100
    assert model.score(frame.with_columns(a=pl.lit(1e300)), y) < 0.7  # wild cells are answered, not refused


def test_an_encoder_of_ones_own(texts, labels, new, truth):
    long, new_long = ([" ".join([text] * 40) for text in some] for some in (texts, new))  # counted in one way
    given = UntwinClassifier(preset="fast", encoder=TextCounts(stemmer="english", ngram_range=(1, 2)))
    default = UntwinClassifier(preset="fast").fit(long, labels)
    np.testing.assert_array_equal(given.fit(long, labels).predict_proba(new_long), default.predict_proba(new_long))
    foreign = UntwinClassifier(preset="fast", encoder=CountVectorizer()).fit(texts, labels)
    assert foreign.score(new, truth) > 0.7
    (reason,) = foreign.explain(new[:1])
    for near in reason.neighbours.neighbours:
        shared = set(new[0].split()) & set(texts[near.row].split())
        assert {term for term, _ in near.terms} <= shared
        assert bool(near.terms) == bool(shared)
    assert any(near.terms for near in reason.neighbours.neighbours)


def test_matrices_stay_as_they_are_dense_or_sparse():
    X, y = load_iris(return_X_y=True)
    dense = UntwinClassifier(preset="fast").fit(X, y)
    sparse = UntwinClassifier(preset="fast").fit(csr_array(X), y)
    assert dense.n_features_in_ == 4
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(csr_array(X)), atol=1e-6)
    assert dense.score(X, y) > 0.9


def test_vectors_with_negative_numbers_and_every_preset():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for preset in ("fast", "balanced", "best"):
        model = UntwinClassifier(preset=preset, cv=3).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > 0.85
        assert "naive Bayes" not in [candidate.name for candidate in model.candidates_]


def test_in_a_cross_validation_and_a_pipeline(texts, labels):
    assert cross_val_score(UntwinClassifier(preset="fast"), texts, labels, cv=3).mean() > 0.7
    X, y = load_iris(return_X_y=True)
    assert make_pipeline(StandardScaler(), UntwinClassifier(preset="fast")).fit(X, y).score(X, y) > 0.9


def test_folds_in_every_form_that_scikit_learn_knows(fast, texts, labels, new):
    default = clone(fast).set_params(cv=None).fit(texts, labels)
    np.testing.assert_array_equal(default.predict_proba(new), fast.predict_proba(new))
    splits = list(KFold(4).split(texts))
    model = clone(fast).set_params(cv=splits).fit(texts, labels)
    assert [np.flatnonzero(model.out_of_fold_.folds == fold).tolist() for fold in range(4)] == [
        test.tolist() for _, test in splits
    ]
    with pytest.raises(ValueError, match="cv must hold each row out at most once"):
        clone(fast).set_params(cv=[splits[0], splits[0]]).fit(texts, labels)


def test_the_number_of_jobs_changes_nothing(fast, texts, labels, new):
    other = clone(fast).set_params(n_jobs=2).fit(texts, labels)
    np.testing.assert_array_equal(other.predict_proba(new), fast.predict_proba(new))
    assert [c._replace(seconds=0) for c in other.candidates_] == [c._replace(seconds=0) for c in fast.candidates_]


def test_probabilities_sum_to_one_and_agree_with_answers(balanced, new):
    P = balanced.predict_proba(new)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(balanced.classes_[P.argmax(axis=1)], balanced.predict(new))


def test_a_text_without_a_known_word_gets_the_shares_of_the_classes(fast, new):
    P = fast.predict_proba(["", "unheard-of", new[0]])
    np.testing.assert_allclose(P[:2], 0.25, rtol=1e-6)
    assert fast.without_evidence(["", "unheard-of", new[0]]).tolist() == [True, True, False]


def test_doubt_keeps_to_the_target_on_the_rows_it_was_chosen_on(fast, new):
    confidence, right = fast.state_.answers.confidence_and_truth
    for target in (0.02, 0.05, 0.2):
        kept = confidence >= surest_threshold(confidence, right, target)
        assert (~right[kept]).mean() <= target
    assert fast.threshold_ == surest_threshold(confidence, right, 0.05)
    strict, lax = (fast.unsure(new, target_error=target) for target in (0.01, 0.2))
    assert (lax <= strict).all()


def test_a_row_goes_to_its_likeliest_group(balanced, new):
    found = balanced.predict_group(new)
    P = balanced.predict_proba(new)
    assert found.sure.mean() > 0.8
    assert sorted(name for group in balanced.groups_ for name in group) == balanced.classes_.tolist()
    for row, number in enumerate(found.groups[:10]):
        members = [sum(P[row, balanced.classes_.tolist().index(name)] for name in group) for group in balanced.groups_]
        assert members[number] == max(members)


def test_reasons_name_training_rows_and_shared_words(balanced, texts, labels, new):
    reason = balanced.explain(new[:3], top=4)[0]
    assert reason.label == balanced.predict(new[:1])[0] == reason.probabilities[0][0]
    assert len(reason.neighbours.neighbours) == 4
    for near in reason.neighbours.neighbours:
        assert labels[near.row] == near.label
        shared = set(new[0].split()) & set(texts[near.row].split())
        assert {term for term, _ in near.terms if " " not in term} <= shared
    assert str(reason).startswith(f"{reason.label}: {reason.label} {reason.probabilities[0][1]:.2f}")


def test_findings_are_drawn_from_what_was_heard(balanced):
    assert all(finding.code for finding in balanced.findings_)


def test_confusion_tree_graph_and_plan_know_the_twins(balanced, texts):
    assert balanced.confusion_ == balanced.out_of_fold_.confusion
    assert balanced.confusion_.total == len(texts)
    first = balanced.hierarchy_.to_newick()
    assert first
    assert balanced.plan_.classes.tolist() == balanced.classes_.tolist()
    assert set(balanced.graph_.neighbours("class00")) <= set(balanced.classes_.tolist())


def test_ordered_classes_report_distances_and_answer_with_the_median(texts, labels, new):
    order = ["class01", "class00", "class03", "class02"]
    model = UntwinClassifier(preset="fast", scoring="mae", order=order).fit(texts, labels)
    ordered = model.confusion_.reordered(order)
    assert model.scores_["mae"] == ordered.mean_absolute_error()
    assert model.scores_["quadratic_kappa"] == ordered.quadratic_kappa()
    P = model.predict_proba(new)[:, [model.classes_.tolist().index(name) for name in order]]
    middle = [next(i for i in range(4) if row[: i + 1].sum() >= 0.5 - 1e-6) for row in P]
    assert model.predict(new).tolist() == [order[i] for i in middle]


@pytest.mark.parametrize(
    ("few", "names"),
    [
        (["red bus", "green tram", "red car", "green boat", "blue bike"], ["r", "g", "r", "g", "b"]),
        (["red bus", "green tram", "blue bike"], ["r", "g", "b"]),  # one document a class: nothing can be held out
        (["red bus"] * 4 + ["green tram"], ["r", "r", "r", "r", "g"]),
    ],
)
@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_a_handful_of_documents(few, names, preset):
    model = UntwinClassifier(preset=preset).fit(few, names)
    assert model.predict(few).tolist() == names
    assert len(model.explain(few[:1])[0].neighbours.neighbours) > 0
    assert np.isfinite(model.predict_proba(few)).all()


def test_a_language_without_spaces_is_counted_by_characters():
    texts = ["緑色の電車が来た", "電車で行く", "猫が鳴いた", "白い猫がいる"] * 3
    texts = [text + "、" + "一二三四五六七八九十百千"[i] for i, text in enumerate(texts)]
    model = UntwinClassifier(preset="fast").fit(texts, ["train", "train", "cat", "cat"] * 3)
    assert [encoder.analyzer for encoder in model.state_.view.encoder.encoders_] == ["char"]
    assert model.predict(["電車", "猫"]).tolist() == ["train", "cat"]


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({}, ["a", "b", "c"], [[0, 1], [1, 1], [0, 0]], "one class for each row"),
        ({}, ["a", "b", "c"], ["x", "x", "x"], "at least two classes"),
        ({}, ["a", "b", None], ["x", "y", "y"], "in row 2"),
        ({}, [None, "b", "c"], ["x", "y", "y"], "Got None in row 0"),
        ({}, [None, None, None], ["x", "y", "y"], "Got None in row 0"),
        ({}, np.array([np.nan, "b", "c"], dtype=object), ["x", "y", "y"], "Got nan in row 0"),
        ({}, pd.Series(["a", None, "c"], dtype="string"), ["x", "y", "y"], "Got <NA> in row 1"),
        ({}, ["a", "b", "c"], ["x", "y", None], "missing label"),
        ({}, ["a", "b", "c"], ["x", "y", float("nan")], "missing label in row 2"),
        ({}, ["a", "b", "c"], np.array([1.0, np.nan, 2.0]), "missing label in row 1"),
        ({}, ["a", "b", "c"], pd.Series(["x", None, "y"], dtype="string"), "missing label in row 1"),
        ({}, ["a", "b", "c"], pd.Series([1, None, 2], dtype="Int64"), "missing label in row 1"),
        ({}, ["a", "b", "c"], pl.Series([None, 1, 2]), "missing label in row 0"),
        ({}, ["a", "b", "c"], "xyz", "Got one string instead; give a list of labels"),
        ({}, "hello", ["x"], "Got one string instead; give a list of texts"),
        ({}, [], [], "Got no rows"),
        ({"scoring": "mae"}, ["a", "b", "c"], ["x", "y", "y"], "order must name the classes"),
        ({"order": ["x", "z"]}, ["a", "b", "c"], ["x", "y", "y"], "all classes"),
        ({"preset": "slow"}, ["a", "b", "c"], ["x", "y", "y"], "preset"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_do(parameters, X, y, message):
    with pytest.raises(ValueError, match=message):
        UntwinClassifier(**parameters).fit(X, y)


def test_new_rows_must_be_of_the_kind_that_fit_saw(fast):
    with pytest.raises(ValueError, match=r"must be what fit saw: texts\. Got matrix"):
        fast.predict([[1.0, 2.0]])


def test_one_string_and_no_rows_are_called_so(fast):
    for answer in (fast.predict, fast.explain, fast.unsure, lambda text: fast.add(text, "x")):
        with pytest.raises(ValueError, match="Got one string instead; give a list of texts"):
            answer("my card")
    for nothing in ([], (), np.array([]), pl.Series([], dtype=pl.String), pd.Series([], dtype=object)):
        with pytest.raises(ValueError, match="Got no rows"):
            fast.predict(nothing)
    with pytest.raises(ValueError, match="Got one string instead; give a list of labels"):
        fast.relabel([0], "class00")


@pytest.mark.parametrize("target", [5, -0.1, float("nan")])
def test_the_share_of_errors_is_a_share(fast, new, target):
    with pytest.raises(ValueError, match="target_error must be a share from 0 to 1"):
        fast.unsure(new, target_error=target)


def test_what_is_at_hand_for_findings_must_fit_together(fast, new, truth):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fast.find(test=(new[:5], truth[:4]))
    with pytest.raises(ValueError, match=r"parents must map classes to their parents\. Got str instead"):
        fast.find(parents="kind")


def test_what_every_row_of_a_table_has_explains_nothing():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 300)
    frame = pl.DataFrame({"noise": rng.normal(size=300), "telling": codes + rng.normal(0, 0.1, 300)})
    model = UntwinClassifier(preset="fast").fit(frame, codes)
    assert "noise known" in model.state_.view.term_names(model.state_.preprocessing)[0]
    for reason in model.explain(frame[:20]):
        terms = [term for near in reason.neighbours.neighbours for term, _ in near.terms]
        assert terms
        assert all(term.startswith("telling") for term in terms)

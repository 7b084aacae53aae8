"""What the model measures for view 8, against literal computations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from tests.report.made import cheap_model, twin_texts

from untwin import KNNClassifier, MDLPDiscretizer, SprinkledLSI, TableEncoder, UntwinClassifier
from untwin.model.curves import _parts, space_curves
from untwin.report import write_report


@pytest.fixture(scope="module")
def curves(model):
    return model.curves_


def test_plain_rows_and_plain_lsi_are_what_a_pipeline_says(model, curves):
    answers, view, y = model.state_.answers, model.state_.view, model.state_.y
    X = view.rows[:, view.encoder.readable_]  # words
    weights = TfidfTransformer(sublinear_tf=True)
    lsi = SprinkledLSI(n_components=5, training="reconstructed", random_state=0)
    right = {"raw": 0, "lsi": 0}
    for fold in (0, 1):
        train, held = answers.folds != fold, answers.folds == fold
        for name, steps in (("raw", (weights,)), ("lsi", (weights, lsi))):
            said = make_pipeline(*steps, KNNClassifier()).fit(X[train], y[train]).predict(X[held])
            right[name] += int((said == y[held]).sum())
    assert curves.n_rows == np.isin(answers.folds, (0, 1)).sum()
    assert curves.raw == pytest.approx(right["raw"] / curves.n_rows)
    assert curves.lsi[0] == pytest.approx(right["lsi"] / curves.n_rows)


def test_sprinkling_parts_classes_and_loses_documents(curves):
    assert curves.strengths[0] == 0
    assert curves.error[0] == min(curves.error)  # nothing of the same dimension loses less than plain LSI
    assert curves.separation[-1] < curves.separation[0]
    assert all(0 <= lost <= 1 for lost in curves.error)


def test_the_confusions_before_and_after_are_those_of_the_curves(curves):
    assert curves.before.total == curves.after.total == curves.n_rows
    assert curves.before.accuracy == curves.raw
    assert curves.after.accuracy == curves.sprinkled[curves.dimensions.index(curves.n_components)]
    assert curves.n_components >= curves.before.n_classes


def test_a_plan_comes_from_the_other_folds_only(model):
    answers = model.state_.answers
    for fold, part in enumerate(_parts(model.state_)):
        assert part.confusion.total == (answers.held & (answers.folds != fold)).sum()
        assert len(part.y_held) == (answers.folds == fold).sum()


def test_terms_that_tell_confused_classes_apart_have_neighbours(model, curves):
    blocks = model.state_.view.encoder
    words = set(blocks.get_feature_names_out()[blocks.readable_])
    assert curves.similar
    for one in curves.similar:
        assert words >= {one.term, *one.before, *one.after}  # no runs of characters
        assert one.term not in one.before
        assert len(one.before) == len(one.after) == 5


def test_labels_without_meaning_are_guessed():
    texts, labels = twin_texts(4, 25, length=10)
    shuffled = np.random.default_rng(1).permutation(labels)
    curves = space_curves(cheap_model(texts, shuffled).state_)
    spread = 3 * (0.25 * 0.75 / curves.n_rows) ** 0.5
    assert all(abs(accuracy - 0.25) < spread for accuracy in (curves.raw, *curves.sprinkled))


def test_nothing_is_measured_where_nothing_is_held_out():
    model = UntwinClassifier(preset="fast").fit(["red bus", "green tram", "blue boat"], ["a", "b", "c"])
    assert space_curves(model.state_) is None


def test_vectors_have_curves_without_terms():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 8)) + 2 * np.eye(3, 8)[np.repeat([0, 1, 2], 20)]
    curves = space_curves(UntwinClassifier(preset="fast").fit(X, y).state_)
    assert curves.similar == ()
    assert max(curves.dimensions) <= 8


def test_columns_without_signal_have_no_separation(tmp_path):
    columns = pl.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), schema=["a", "b", "c"])
    intervals = TableEncoder(numeric=["a", "b", "c"], discretizer=MDLPDiscretizer())  # without a cut rows are alike
    model = UntwinClassifier(preset="fast", encoder=intervals).fit(columns, np.arange(120) % 2)
    curves = model.curves_
    assert curves.strengths == curves.separation == curves.error == ()
    assert len(curves.lsi) == len(curves.dimensions)
    write_report(model, tmp_path / "report.html")
    assert "documents get lost" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_curves_that_do_not_fit_are_refused(curves):
    with pytest.raises(ValueError, match="a finite number for each of"):
        replace(curves, lsi=curves.lsi[1:])
    with pytest.raises(ValueError, match="a finite number for each of"):
        replace(curves, error=(float("nan"), *curves.error[1:]))
    with pytest.raises(ValueError, match="positive"):
        replace(curves, dimensions=(0, *curves.dimensions[1:]))

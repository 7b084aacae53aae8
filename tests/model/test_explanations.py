"""Explanations: what is named is what changes the answer; neighbours share terms; and what has to be told besides."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from untwin import UntwinClassifier
from untwin.answer.deletion import log_odds_of
from untwin.model.explaining.cells import CellsReader
from untwin.model.explaining.deletion import without_each
from untwin.model.neighbours import LEAST, coordinates


def twin_frame(n_rows=300):
    """A frame in which a number is weak evidence for one class, and a name strong evidence for the other."""
    rng = np.random.default_rng(0)
    y = rng.choice(["buy", "sell"], n_rows)
    buys = y == "buy"
    frame = pl.DataFrame(
        {
            "price": np.where(buys, rng.normal(10, 2, n_rows), rng.normal(12, 2, n_rows)),
            "shop": np.where(rng.random(n_rows) < 0.9, np.where(buys, "north", "south"), "east"),
            "size": rng.choice(["s", "m", "l"], n_rows),
            "note": [f"{'cheap' if buy else 'dear'} {rng.choice(['coat', 'hat', 'shoe'])}" for buy in buys],
        }
    )
    return frame, y


@pytest.fixture(scope="module", params=["fast", "balanced"])
def of_table(request):
    frame, y = twin_frame()
    from untwin.data.encode import TableEncoder

    encoder = TableEncoder(text=["note"], numeric=["price"], nominal=["shop", "size"])
    return UntwinClassifier(preset=request.param, encoder=encoder).fit(frame, y), frame


def test_the_strongest_cell_is_the_one_whose_deletion_changes_most(of_table):
    model, frame = of_table
    for row in range(15):
        (reason,) = model.explain(frame[row])
        names, changed = without_each(frame[row], frame.columns, ["note"], None)
        pair = [model.classes_.tolist().index(one) for one in reason.evidence[:2]]
        whole, lost = (log_odds_of(np.log(model.predict_proba(some)), *pair) for some in (frame[row], changed))
        named = dict(reason.evidence.terms)
        expected = dict(zip(names, whole[0] - lost, strict=True))
        assert max(named, key=lambda name: abs(named[name])) == max(expected, key=lambda name: abs(expected[name]))
        for name, number in named.items():
            assert number == pytest.approx(expected[name], abs=1e-3)


def test_what_speaks_against_the_answer_is_negative(of_table):
    """A row that is sold for all but its shop: the shop once came first among what speaks for the answer."""
    model, frame = of_table
    row = frame[0].with_columns(price=pl.lit(14.0), shop=pl.lit("north"), note=pl.lit("dear coat"))
    (reason,) = model.explain(row)
    numbers = dict(reason.evidence.terms)
    assert numbers["shop=north"] * (1 if reason.label == "buy" else -1) > 0
    assert numbers["dear"] * (1 if reason.label == "sell" else -1) > 0
    sides = dict(reason.evidence.sides())
    assert "shop=north" in dict(sides["buy"])
    assert "dear" in dict(sides["sell"])


def test_rows_of_numbers_are_explained_by_their_columns():
    X = np.random.default_rng(0).normal(size=(90, 5)) + np.repeat(np.eye(3, 5) * 4, 30, axis=0)
    model = UntwinClassifier(preset="fast").fit(X, np.repeat([1, 2, 3], 30))
    for reason in model.explain(X[::30]):
        assert reason.evidence.terms[0] == (f"term {reason.label - 1}", pytest.approx(reason.evidence.terms[0][1]))
        assert reason.evidence.terms[0][1] > 0
        assert len(reason.neighbours.neighbours) == 5


def test_texts_that_only_estimators_answer_about(texts, labels, new):
    model = UntwinClassifier(preset="fast", encoder=CountVectorizer()).fit(texts, labels)
    for reason in model.explain(new[:3]):
        assert {term for term, _ in reason.evidence.terms} <= set(" ".join(new[:3]).split())
        assert reason.evidence.sides()[0][0] == reason.label


def test_neighbours_are_ranked_by_terms_in_common(texts, labels, new):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    X = CountVectorizer().fit(texts).transform([*new[:5], *texts]).toarray()
    for row, reason in enumerate(model.explain(new[:5], top=4)):
        similar = [near.value for near in reason.neighbours.neighbours]
        assert similar == sorted(similar, reverse=True)
        assert 0 < similar[0] <= 1
        for near in reason.neighbours.neighbours:
            assert bool(near.terms) == bool((X[row] * X[5 + near.row]).any())
            assert sum(number for _, number in near.terms) <= near.value + 1e-6
    (same,) = model.explain(texts[:1], top=len(texts))
    assert same.neighbours.neighbours[0].value == pytest.approx(1.0, abs=1e-5)
    for near in same.neighbours.neighbours[:3]:
        (again,) = model.explain(texts[:1], top=200)
        everything = next(one for one in again.neighbours.neighbours if one.row == near.row)
        assert sum(number for _, number in everything.terms) == pytest.approx(near.value, abs=1e-5)


def test_training_rows_tell_their_own_label_and_are_no_neighbours_of_themselves(texts, labels):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    ids = model.ids_[:4]
    for name, reason in zip(ids.tolist(), model.explain(texts[:4], ids=ids), strict=True):
        assert reason.own_label == labels[name]
        assert name not in [near.row for near in reason.neighbours.neighbours]
        assert f"a training row labelled {labels[name]}" in str(reason)
    other = next(label for label in labels if label != labels[0])
    model.relabel([0], [other])
    (reason,) = model.explain(texts[:1], ids=[0])
    assert reason.own_label == other
    assert ("not the answer" in str(reason)) == (reason.label != other)
    model.remove([1])
    assert 1 not in [near.row for near in model.explain(texts[1:2], top=150)[0].neighbours.neighbours]
    with pytest.raises(ValueError, match="not yet removed"):
        model.explain(texts[1:2], ids=[1])
    with pytest.raises(ValueError, match=r"ids must have one name for each of the 2 rows\. Got 1 instead"):
        model.explain(texts[1:3], ids=[2])


@pytest.mark.parametrize("text", ["", "zzz qqq"])
def test_without_evidence_there_is_nothing_to_show(texts, labels, text):
    (reason,) = UntwinClassifier(preset="fast").fit(texts, labels).explain([text])
    assert reason.no_evidence
    assert reason.neighbours.neighbours == reason.evidence.terms == ()
    assert "without evidence" in str(reason)


def test_unsure_answers_are_told(texts, labels, new):
    model = UntwinClassifier(preset="fast", target_error=0.0).fit(texts, labels)
    reasons = model.explain(new)
    assert [reason.unsure for reason in reasons] == model.unsure(new).tolist()
    assert all(("(unsure)" in str(reason)) == reason.unsure for reason in reasons)


def test_the_index_finds_the_rows_with_the_most_similar_answers(texts, labels, new):
    model = UntwinClassifier(preset="balanced").fit(texts, labels)
    log_p = model.state_.log_proba(new)[0]
    held = coordinates(np.vstack(list(model.state_.log_proba_of_all_rows()))).toarray()
    held[held < LEAST] = 0.0
    for row in range(5):
        found = model.state_.explainer.index.overlaps(log_p[row])
        asked = coordinates(log_p[[row]]).toarray()[0]
        np.testing.assert_allclose(found, held @ np.where(asked < LEAST, 0.0, asked), atol=0.01)
    model.add(["a wholly new class"] * 3, ["novel"] * 3)
    after = model.state_.explainer.index
    assert after.n_rows == 163
    assert after.rows.dtype.itemsize + after.steps.dtype.itemsize == 5


def test_cells_of_every_kind_can_be_deleted():
    frame = pl.DataFrame(
        {"a": [1.5], "b": [None], "v": [[1.0, 2.0]], "t": ["Red bus red"]}, schema_overrides={"b": pl.String}
    )
    names, changed = without_each(frame, frame.columns, ["t"], None)
    assert names == ["a=1.5", "v", "Red", "bus"]
    assert changed.schema == frame.schema
    assert changed["a"].to_list() == [None, 1.5, 1.5, 1.5]
    assert changed["v"].to_list()[:2] == [[1.0, 2.0], [0.0, 0.0]]
    assert changed["t"].to_list()[2:] == [" bus ", "Red  red"]


def test_coordinates_without_any_large_share_are_looked_up_nowhere(texts, labels):
    index = UntwinClassifier(preset="fast").fit(texts, labels).state_.explainer.index
    assert not index.overlaps(np.full(len(np.unique(labels)), -9.0)).any()


def test_models_of_tables_look_at_a_hundred_candidates(of_table):
    model, _ = of_table
    assert isinstance(model.state_.explainer.reader, CellsReader)
    assert model.state_.explainer.reader.n_candidates == 100

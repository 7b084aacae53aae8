"""LSI_ac and LSI_td: the published formulas, exact learning in parts, honest probabilities, ties."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from untwin.classify.latent import calibration
from untwin.classify.latent.calibration import KeptRows
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.latent.instances import LatentInstanceClassifier, stages
from untwin.data.discretize import MDLPDiscretizer
from untwin.linalg.blocks import Blocks
from untwin.linalg.svd import truncated_svd

X, y = load_iris(return_X_y=True)
INTERVALS = MDLPDiscretizer().fit_transform(X, y)
VARIANTS = [
    LatentClassClassifier(),
    LatentClassClassifier.as_published(),
    LatentClassClassifier(columns="means", inverse=True, scale_terms=False),
    LatentClassClassifier(columns="means", scale_terms=False),
]


def counts(seed, n=120, m=15, n_classes=4):
    """Counts whose classes differ in their favourite terms, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    rates = 0.3 + 2 * rng.random((n_classes, m)) ** 4
    return rng.poisson(rates[labels]).astype(float), labels


# ---------------------------------------------------------------------- LSI_ac


@given(seed=st.integers(0, 1000), n_classes=st.integers(3, 6))
@settings(max_examples=30, deadline=None)
def test_the_published_scores_are_those_of_the_pseudoinverse(seed, n_classes):
    rows, labels = counts(seed, n_classes=n_classes)
    model = LatentClassClassifier.as_published().fit(csr_array(rows), labels)
    Z = rows.T @ (labels[:, None] == model.classes_)
    literal = rows @ np.linalg.pinv(Z).T
    np.testing.assert_allclose(model.decision_function(rows), literal, atol=1e-9 * abs(literal).max())
    np.testing.assert_array_equal(model.predict(rows), model.classes_[literal.argmax(axis=1)])


@pytest.mark.parametrize("model", VARIANTS)
def test_scores_are_the_literal_ones_of_the_svd(model):
    rows, labels = counts(0)
    model = clone(model).fit(rows, labels)
    scale = rows.sum(axis=0) ** (-0.5 if model.scale_terms else 0.0)
    Y = labels[:, None] == model.classes_
    Z = (rows * scale).T @ (Y / Y.sum(axis=0) if model.columns == "means" else Y)
    A, W, Ct = np.linalg.svd(Z, full_matrices=False)
    literal = (rows * scale) @ A @ np.diag(W ** (-1.0 if model.inverse else 0.0)) @ Ct
    np.testing.assert_allclose(model.decision_function(rows), literal, atol=1e-9 * abs(literal).max())
    np.testing.assert_allclose(model.singular_values_, W)
    np.testing.assert_allclose(abs(model.class_vectors_), abs(Ct.T), atol=1e-9)


def test_fewer_terms_than_classes_is_still_the_pseudoinverse():
    rows, labels = counts(1, m=3, n_classes=5)
    model = LatentClassClassifier.as_published().fit(rows, labels)
    literal = rows @ np.linalg.pinv(rows.T @ (labels[:, None] == model.classes_)).T
    assert len(model.singular_values_) == 3
    np.testing.assert_allclose(model.decision_function(rows), literal, atol=1e-9 * abs(literal).max())


@pytest.mark.parametrize("model", VARIANTS)
def test_places_in_the_class_space_give_the_scores(model):
    model = clone(model).fit(INTERVALS, y)
    np.testing.assert_allclose(model.transform(INTERVALS) @ model.class_vectors_.T, model.decision_function(INTERVALS))
    assert model.get_feature_names_out().tolist() == [f"latentclassclassifier{i}" for i in range(3)]


@pytest.mark.parametrize("model", VARIANTS)
def test_sparse_and_dense_rows_agree_in_wide_and_narrow_tables(model):
    wide = random_array((90, 400), density=0.02, rng=np.random.default_rng(0), format="csr")
    labels = np.arange(90) % 5
    for rows, names in ((wide, labels), (csr_array(INTERVALS), y)):
        sparse, dense = clone(model).fit(rows, names), clone(model).fit(rows.toarray(), names)
        np.testing.assert_allclose(sparse.predict_proba(rows), dense.predict_proba(rows.toarray()), atol=1e-9)


@pytest.mark.parametrize("cuts", [[40], [1, 2, 100], [119]])
@pytest.mark.parametrize("model", VARIANTS[:2])
def test_learning_in_parts_is_learning_at_once(model, cuts):
    """Of whole counts every sum is exact, hence so is everything that follows; the last part brings a new class."""
    rows, labels = counts(2)
    labels = np.where(np.arange(120) >= 119, 9, labels)
    parts = clone(model)
    for piece in np.split(np.arange(120), cuts):
        parts.partial_fit(rows[piece], labels[piece])
    whole = clone(model).fit(rows, labels)
    np.testing.assert_array_equal(parts.predict_proba(rows), whole.predict_proba(rows))
    assert parts.temperature_ == whole.temperature_
    assert parts.indistinguishable_ == whole.indistinguishable_


def test_new_classes_and_new_columns_in_later_parts():
    rows, labels = counts(3)
    names = np.array(["ant", "bee", "cat", "a longer name"])[labels]
    old = names != "a longer name"
    rows[old, 12:] = 0
    model = LatentClassClassifier().partial_fit(csr_array(rows[old][:, :12]), names[old])
    model.partial_fit(csr_array(rows[~old]), names[~old])
    again = LatentClassClassifier().fit(np.vstack([rows[old], rows[~old]]), np.concatenate([names[old], names[~old]]))
    assert model.n_features_in_ == 15
    assert model.classes_.tolist() == ["a longer name", "ant", "bee", "cat"]
    np.testing.assert_array_equal(model.predict_proba(rows), again.predict_proba(rows))
    with pytest.raises(ValueError, match="12 features"):
        model.partial_fit(rows[:, :12], names)


def test_new_columns_come_after_the_known_ones():
    frame = pl.DataFrame({"a": [1.0, 0, 1, 0], "b": [0.0, 1, 0, 2]})
    model = LatentClassClassifier().fit(frame, [0, 1, 0, 1])
    model.partial_fit(frame.with_columns(c=pl.Series([0.0, 0, 3, 1])), [0, 1, 2, 2])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="must begin with the 3 names"):
        model.partial_fit(frame.select("b", "a", c="a", d="b"), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="must hold labels like"):
        model.partial_fit(frame.with_columns(c=0.0, d=1.0), ["x", "y", "x", "y"])
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("sizes", [[5000], [10, 1990, 3000], [4999, 1]])
def test_which_rows_are_kept_does_not_depend_on_the_parts(sizes):
    rows, labels = csr_array(np.arange(1.0, 5001)[:, None]), np.arange(5000)
    starts = np.cumsum([0, *sizes])
    kept = KeptRows.of_rows(rows[: starts[1]], labels[: starts[1]])
    for start, stop in pairwise(starts[1:]):
        kept = kept.with_rows(rows[start:stop], labels[start:stop])
    whole = KeptRows.of_rows(rows, labels)
    assert kept.y.tolist() == whole.y.tolist()
    assert len(kept.y) == len(set(kept.y)) == calibration.KEPT
    assert (kept.X.toarray().ravel() == kept.y + 1).all()


def test_the_temperature_is_fitted_to_rows_while_they_are_held_out(monkeypatch):
    """Against a plain loop that fits a model without each fold; the terms' scale, which knows no label, is as it is."""
    rows, labels = counts(4)
    seen = {}
    monkeypatch.setattr(calibration, "fit_temperature", lambda *given, **_: seen.update(given=given) or 1.0)
    LatentClassClassifier(columns="means", scale_terms=False).fit(rows, labels)
    scores, codes = seen["given"]
    kept = KeptRows.of_rows(rows, labels)
    expected, truth = [], []
    for fold in range(calibration.N_FOLDS):
        out = np.arange(120) % calibration.N_FOLDS == fold
        model = LatentClassClassifier(columns="means", scale_terms=False).fit(kept.X[~out], kept.y[~out])
        expected.append(model.decision_function(kept.X[out]))
        truth.append(kept.y[out])
    np.testing.assert_allclose(scores, np.concatenate(expected), atol=1e-12)
    np.testing.assert_array_equal(codes, np.concatenate(truth))


@pytest.mark.parametrize("model", VARIANTS)
def test_probabilities_are_calibrated_on_unseen_rows(model):
    """Mean confidence lies near accuracy on rows of the same kind (within three standard errors and a little)."""
    rows, labels = counts(5, n=6000)
    model = clone(model).fit(rows[:3000], labels[:3000])
    sure = model.predict_proba(rows[3000:]).max(axis=1).mean()
    assert abs(sure - model.score(rows[3000:], labels[3000:])) < 0.05


def test_labels_without_meaning_give_chance_and_modest_probabilities():
    rows, _ = counts(6, n=2000)
    labels = np.random.default_rng(0).integers(0, 4, 2000)
    model = LatentClassClassifier().fit(rows[:1000], labels[:1000])
    assert abs(model.score(rows[1000:], labels[1000:]) - 0.25) < 3 * np.sqrt(0.25 * 0.75 / 1000)
    assert model.predict_proba(rows[1000:]).max(axis=1).mean() < 0.4


def test_classes_of_one_row_each():
    model = LatentClassClassifier().fit(np.eye(3), ["a", "b", "c"])
    assert model.predict(np.eye(3)).tolist() == ["a", "b", "c"]
    assert model.temperature_ == 1.0
    assert model.indistinguishable_ == ()


def test_rows_of_zeros_have_no_directions():
    model = LatentClassClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert model.transform(np.ones((3, 2))).shape == (3, 0)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), 0.5)


@pytest.mark.parametrize("labels", [np.array(["a", "bb", "c"])[y], y.astype(np.int8), np.array(list("abc"), "O")[y]])
@pytest.mark.parametrize("model", [LatentClassClassifier(), LatentInstanceClassifier(n_components=3)])
def test_the_dtype_of_labels_survives(model, labels):
    assert clone(model).fit(INTERVALS, labels).predict(INTERVALS).dtype == labels.dtype


def test_in_a_pipeline_after_intervals():
    model = make_pipeline(MDLPDiscretizer(), LatentClassClassifier()).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    peer = make_pipeline(MDLPDiscretizer(), MultinomialNB()).fit(X[::2], y[::2])
    assert abs(model.score(X[1::2], y[1::2]) - peer.score(X[1::2], y[1::2])) < 0.05


# ---------------------------------------------------------------------- LSI_td


@given(seed=st.integers(0, 1000), k=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_all_nearest_rows_vote_as_in_the_paper(seed, k):
    """Attributes x instances = U S V' in the paper; nearness is x'U_k V_k'. Rows occur twice, with any label."""
    rows, labels = counts(seed, n=30, m=8)
    rows, labels = np.vstack([rows, rows]), np.concatenate([labels, np.random.default_rng(seed).permutation(labels)])
    unseen = counts(seed + 1, n=20, m=8)[0]
    model = LatentInstanceClassifier(n_components=k).fit(csr_array(rows), labels)
    U, _, Vt = np.linalg.svd(rows.T, full_matrices=False)
    nearness = unseen @ U[:, : model.n_components_] @ Vt[: model.n_components_]
    tied = nearness >= nearness.max(axis=1, keepdims=True) - 1e-9
    votes = tied.astype(float) @ (labels[:, None] == model.classes_)
    np.testing.assert_allclose(model.predict_proba(unseen), votes / votes.sum(axis=1, keepdims=True))
    assert (tied.sum(axis=1) >= 2).all()


def test_a_row_like_nothing_gets_the_shares_of_the_classes():
    model = LatentInstanceClassifier(n_components=3).fit(INTERVALS, np.minimum(y, 1))
    np.testing.assert_allclose(model.predict_proba(csr_array((1, INTERVALS.shape[1]))), [[1 / 3, 2 / 3]])


def test_more_directions_than_there_are():
    model = LatentInstanceClassifier(n_components=100).fit(INTERVALS, y)
    assert model.n_components_ == np.linalg.matrix_rank(INTERVALS.toarray())
    with pytest.raises(ValueError, match="other than zeros"):
        LatentInstanceClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1])


@pytest.mark.parametrize("criterion", ["mdl", "aic"])
def test_a_criterion_finds_the_planted_directions(criterion):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 20)) * 3 + rng.standard_normal((400, 20))
    assert LatentInstanceClassifier(n_components=criterion).fit(rows, np.arange(400) % 2).n_components_ == 5


def test_stagewise_takes_the_best_number_of_directions_out_of_fold():
    """The first direction is what all rows share; the classes show in the next two, the rest is noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 3
    rows = np.column_stack([np.full(200, 9.0), 3 * np.eye(3)[labels], 0.4 * rng.standard_normal((200, 40))])
    model = LatentInstanceClassifier(random_state=0).fit(rows, labels)
    assert model.n_components_ == 3
    assert model.cv_scores_[1] < 0.6 < 0.95 < model.cv_scores_[3] == max(model.cv_scores_.values())
    assert list(model.cv_scores_) == stages(32)


def test_the_score_of_a_stage_is_that_of_a_model_of_that_size():
    rows, labels = counts(7, n=60)
    model = LatentInstanceClassifier(random_state=0, cv=2).fit(rows, labels)
    from untwin.crossfit import out_of_fold

    for k in (1, 4, 10):
        plain = out_of_fold(LatentInstanceClassifier(n_components=k), rows, labels, cv=2, random_state=0)
        assert model.cv_scores_[k] == pytest.approx(plain.confusion.accuracy)


def test_blocks_do_not_change_the_answer(monkeypatch):
    rows, labels = counts(8)
    whole = LatentInstanceClassifier(n_components=4).fit(rows, labels)
    expected = whole.predict_proba(rows)
    monkeypatch.setattr("untwin.classify.latent.instances.BLOCK_CELLS", 500)
    np.testing.assert_array_equal(whole.predict_proba(rows), expected)
    np.testing.assert_allclose(truncated_svd(Blocks(rows), 4).S, whole.singular_values_)

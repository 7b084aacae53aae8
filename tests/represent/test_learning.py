"""`SprinkledLSI` learning on: documents, terms, classes, labels; against the space of the whole, written out."""

from __future__ import annotations

import pickle
from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.base import clone

from untwin.linalg import drift as drift_module
from untwin.represent.learnt import SPARE, WORTH_MERGING
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan
from untwin.tables.confusion import Confusion

CLASSES = np.array(["ape", "bee", "cat", "dog"])
K = 8


def documents(n=200, m=40, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(4), rng.integers(4, size=n - 4)]
    X = random_array((n, m), density=0.15, rng=rng).toarray()
    X += (rng.random((n, m)) < 0.3) * (np.arange(m) % 4 == codes[:, None])
    if rank is not None:
        X = np.abs(rng.normal(size=(n, rank))) @ np.abs(rng.normal(size=(rank, m)))
    return X, CLASSES[codes]


def best(X, y, strengths, k, training="reconstructed", background=None):
    """Return paper 1's training documents, from the sprinkled matrix written out."""
    sprinkled = (np.asarray(y)[:, None] == CLASSES) * np.sqrt(strengths)
    A = np.hstack([X, sprinkled])
    if background is not None:
        A = np.vstack([A, np.hstack([background, np.zeros((len(background), 4))])])
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    if training == "projected":
        V_X = Vt[:k, : X.shape[1]][S[:k] > 1e-9 * S[0]]
        return X @ np.linalg.pinv(V_X, rcond=1e-5) @ V_X
    return ((U[:, :k] * S[:k]) @ Vt[:k])[: len(X), : X.shape[1]]


def made(X, *, sparse=True):
    return csr_array(X) if sparse else X


@pytest.fixture
def never(monkeypatch):
    """No full decomposition but the first: what is tested is the update."""
    monkeypatch.setattr(drift_module.DriftRule, "is_exceeded", lambda *_: False)


# ---------------------------------------------------------------------- the first call, and documents


@pytest.mark.parametrize("training", ["projected", "reconstructed"])
@pytest.mark.parametrize("whiten", [True, False])
def test_the_first_call_is_fit(training, whiten):
    X, y = documents()
    template = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=2), training=training, whiten=whiten)
    one, other = clone(template), clone(template)
    Z = one.fit_transform(X, y)
    other.partial_fit(X, y)
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(Z, other.documents())
    np.testing.assert_array_equal(other.documents([5, 3]), Z[[5, 3]])
    assert other.ids_.tolist() == list(range(200))


# ---------------------------------------------------------------------- growth is exact where it can be


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_documents_terms_and_classes_arrive_and_the_space_is_that_of_the_whole(training, sparse):
    """The union has rank 9: five of the terms (of which four arrive late) and four classes."""
    rng = np.random.default_rng(0)
    X, y = documents(150, 40, rank=5)
    X[:70, 30:] = 0
    X[:70] = X[:70, [0]] * X[0]  # old documents: multiples of one, so that the whole has at most 1 + 5 + 4 directions
    X[70:, 30:] = X[70:, :5] @ rng.random((5, 10))
    first = np.flatnonzero(np.isin(y[:70], ["bee", "dog"]))
    order = np.r_[first, np.arange(70, 150)]
    X, y, n = X[order], y[order], len(first)
    space = SprinkledLSI(n_components=10, plan=SprinklingPlan.uniform(s=3), training=training)
    with pytest.warns(UserWarning, match="The space has"):
        space.partial_fit(made(X[:n, :30], sparse=sparse), y[:n])
    space.partial_fit(made(X[n:], sparse=sparse), y[n:])
    assert space.n_features_in_ == 40
    assert space.classes_.tolist() == CLASSES.tolist()
    assert space.plan_ == SprinklingPlan.uniform(CLASSES, 3)
    literal = best(X, y, [3] * 4, 10, training)
    np.testing.assert_allclose(space.documents() @ space.components_, literal, atol=1e-8)
    np.testing.assert_allclose(space.components_ @ space.components_.T, np.eye(len(space.components_)), atol=1e-10)


@pytest.mark.usefixtures("never")
def test_one_update_keeps_what_the_first_decomposition_held():
    """From the truncated first part, the update is the SVD of (what was kept of it, and the new rows)."""
    X, y = documents()
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3), training="reconstructed")
    space.fit(X[:120], y[:120]).partial_fit(csr_array(X[120:]), y[120:])
    sprinkled = (y[:, None] == CLASSES) * np.sqrt(3)
    A = np.hstack([X, sprinkled])
    U, S, Vt = np.linalg.svd(A[:120], full_matrices=False)
    union = np.vstack([(U[:, :K] * S[:K]) @ Vt[:K], A[120:]])
    U, S, Vt = np.linalg.svd(union, full_matrices=False)
    np.testing.assert_allclose(space.documents() @ space.components_, ((U[:, :K] * S[:K]) @ Vt[:K])[:, :40], atol=1e-8)
    assert len(space._learnt.svd.S) == K + SPARE
    np.testing.assert_allclose(space.discarded_energy_, 1 - (S[:K] ** 2).sum() / (A**2).sum(), rtol=1e-9)
    assert space.n_updates_ == 1


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_background_rows_stay_out_of_the_way(training):
    X, y = documents(120)
    rows = np.zeros((2, 40))
    rows[0, [3, 17]] = rows[1, [5, 22]] = 4
    plan = SprinklingPlan.uniform(s=3)
    space = SprinkledLSI(n_components=44, plan=plan, training=training, background=csr_array(rows))
    with pytest.warns(UserWarning, match="The space has 40 components"):
        space.fit(X[:60], y[:60])
    space.partial_fit(X[60:], y[60:]).remove([7, 61]).relabel([0, 70], ["dog", "dog"])
    kept = np.delete(np.arange(120), [7, 61])
    y[[0, 70]] = "dog"
    literal = best(X[kept], y[kept], [3] * 4, 44, training, rows)
    np.testing.assert_allclose(space.documents() @ space.components_, literal, atol=1e-8)
    np.testing.assert_allclose(space.recompute().documents() @ space.components_, literal, atol=1e-8)


# ---------------------------------------------------------------------- folding-in


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_a_few_documents_are_folded_in_and_merged_when_they_are_enough(training):
    X, y = documents()
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3), training=training).fit(X[:120], y[:120])
    before, components = space.documents(), space.components_
    for i in range(120, 120 + WORTH_MERGING - 1):
        space.partial_fit(X[[i]], y[[i]])
    assert space.components_ is components
    np.testing.assert_array_equal(space.documents(np.arange(120)), before)
    n = 120 + WORTH_MERGING - 1
    assert space.ids_.tolist() == list(range(n))
    A = np.hstack([X, (y[:, None] == CLASSES) * np.sqrt(3)])
    Vt = np.linalg.svd(A[:120], full_matrices=False)[2][:K]
    folded = X[120:n] @ components.T @ components if training == "projected" else (A[120:n] @ Vt.T @ Vt)[:, :40]
    np.testing.assert_allclose(space.documents()[120:] @ components, folded, atol=1e-8)
    at_once = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3), training=training).fit(X[:120], y[:120])
    space.partial_fit(X[[n]], y[[n]])
    at_once.partial_fit(X[120 : n + 1], y[120 : n + 1])
    np.testing.assert_allclose(space.components_, at_once.components_, atol=1e-10)
    np.testing.assert_allclose(space.documents(), at_once.documents(), atol=1e-10)


def test_an_unseen_term_of_a_folded_document_has_no_place_yet():
    X, _ = documents(60)
    space = SprinkledLSI(n_components=K).fit(X)
    wide = np.hstack([X[[0]], [[5.0, 0, 1.0]]])
    space.partial_fit(wide)
    assert space.components_.shape == (K, 43)
    np.testing.assert_allclose(space.transform(wide), space.documents([60]), atol=1e-12)
    np.testing.assert_allclose(space.documents([60]), space.documents([0]), atol=1e-12)


# ---------------------------------------------------------------------- labels and withdrawal


@pytest.mark.usefixtures("never")
def test_relabelling_and_back_restores():
    X, y = documents()
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3), training="reconstructed")
    Z = space.fit_transform(X, y) @ space.components_
    other = np.where(y[[4, 9]] == "ape", "bee", "ape")
    there = space.relabel([4, 9], other).documents() @ space.components_
    assert abs(there - Z).max() > 1e-3
    back = space.relabel([4, 9], y[[4, 9]]).documents() @ space.components_
    np.testing.assert_allclose(back, Z, atol=1e-12)


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("number", [3, 50])
def test_relabelling_by_rows_or_by_columns_is_the_change_written_out(number):
    X, y = documents()
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3), training="reconstructed").fit(X, y)
    held = best_with_columns(X, y, K)
    ids = np.arange(10, 10 + number)
    new = CLASSES[np.random.default_rng(0).integers(4, size=number)]
    space.relabel(ids, new)
    held[ids, 40:] += ((new[:, None] == CLASSES).astype(float) - (y[ids, None] == CLASSES)) * np.sqrt(3)
    U, S, Vt = np.linalg.svd(held, full_matrices=False)
    np.testing.assert_allclose(space.documents() @ space.components_, ((U[:, :K] * S[:K]) @ Vt[:K])[:, :40], atol=1e-8)


def best_with_columns(X, y, k):
    U, S, Vt = np.linalg.svd(np.hstack([X, (y[:, None] == CLASSES) * np.sqrt(3)]), full_matrices=False)
    return (U[:, :k] * S[:k]) @ Vt[:k]


@pytest.mark.usefixtures("never")
def test_removed_documents_are_gone_and_the_others_keep_their_numbers():
    X, y = documents()
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3), training="reconstructed").fit(X, y)
    Z = space.documents() @ space.components_
    space.remove([0, 17])
    assert space.ids_.tolist() == [i for i in range(200) if i not in (0, 17)]
    np.testing.assert_allclose(space.documents() @ space.components_, np.delete(Z, [0, 17], axis=0), atol=1e-10)
    space.partial_fit(X[:40], y[:40])
    assert space.ids_[-1] == 239
    with pytest.raises(ValueError, match="ids must be numbers of rows in order of arrival, not yet removed"):
        space.remove([16, 17])
    with pytest.raises(ValueError, match="Got 500 instead"):
        space.relabel([500], ["ape"])


def test_what_cannot_be_removed_or_relabelled_is_refused():
    X, y = documents(60)
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3)).fit(X, y)
    with pytest.raises(ValueError, match="at least one document"):
        space.remove(np.arange(60))
    with pytest.raises(ValueError, match="ids must be distinct"):
        space.relabel([3, 3], ["ape", "bee"])


def test_plain_lsi_learns_on_without_labels():
    X, _ = documents()
    space = SprinkledLSI(n_components=K, training="reconstructed").fit(X[:100]).partial_fit(X[100:]).remove([3])
    assert space.documents().shape == (199, K)
    assert not hasattr(space, "classes_")


# ---------------------------------------------------------------------- plans


def test_a_class_new_to_an_adaptive_plan_gets_the_mean():
    X, y = documents()
    known = np.isin(y, ["ape", "bee", "cat"])
    confusion = Confusion([[8, 2, 0], [4, 6, 0], [0, 1, 9]], ["ape", "bee", "cat"])
    plan = SprinklingPlan.adaptive(confusion, msl=6)
    space = SprinkledLSI(n_components=K, plan=plan).fit(X[known], y[known]).partial_fit(X[~known], y[~known])
    assert space.plan_.classes.tolist() == CLASSES.tolist()
    np.testing.assert_allclose(space.plan_.per_class, [*plan.per_class, plan.per_class.mean()])


@pytest.mark.usefixtures("never")
def test_a_plan_that_changes_with_its_classes_is_sprinkled_anew():
    """Ordinal: one class more changes every strength. All directions are kept, so that nothing is lost."""
    X, y = documents(80)
    late = y == "bee"
    space = SprinkledLSI(n_components=44, plan=SprinklingPlan.ordinal(), training="reconstructed")
    with pytest.warns(UserWarning, match="The space has 40 components"):
        space.fit(X[~late], y[~late])
    many = np.repeat(np.flatnonzero(late), 3)
    space.partial_fit(X[many], y[many])
    assert space.plan_ == SprinklingPlan.ordinal(CLASSES)
    updated, values = space.documents() @ space.components_, space.singular_values_
    np.testing.assert_allclose(space.recompute().documents() @ space.components_, updated, atol=1e-8)
    np.testing.assert_allclose(space.singular_values_, values, rtol=1e-9)


@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_one_document_of_a_new_class_is_folded_in_also_where_the_plan_changes(training):
    X, y = documents(80)
    known = y != "bee"
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.ordinal(), training=training).fit(X[known], y[known])
    space.partial_fit(X[~known][:1], ["bee"])
    assert space.documents().shape == (known.sum() + 1, K)
    components = space.components_
    expected = space.recompute().documents() @ space.components_
    assert abs(components @ components.T - np.eye(K)).max() < 1e-10
    assert np.isfinite(expected).all()


# ---------------------------------------------------------------------- when to decompose anew


def test_a_stream_that_turns_away_is_decomposed_anew():
    rng = np.random.default_rng(0)
    space = SprinkledLSI(n_components=4).fit(rng.normal(size=(300, 4)) @ rng.normal(size=(4, 30)))
    counts = []
    for _ in range(6):
        space.partial_fit(rng.normal(size=(100, 2)) @ rng.normal(size=(2, 30)))
        counts.append(space.n_updates_)
    assert 0 in counts  # it was decomposed anew ...
    assert 1 in counts  # ... and not after every batch
    whole = np.linalg.svd(space._learnt.X, compute_uv=False)
    np.testing.assert_allclose(space.discarded_energy_, 1 - (whole[:4] ** 2).sum() / (whole**2).sum(), atol=0.02)


def test_a_stationary_stream_is_decomposed_anew_once_at_most():
    """More documents of one kind are a little harder to compress than few: the first try tells that it is in vain."""
    X, y = documents(1500)
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3)).fit(X[:300], y[:300])
    tries = 0
    for part in np.split(np.arange(300, 1500), 24):
        tries += space.partial_fit(X[part], y[part]).n_updates_ == 0
    assert tries <= 1


def test_decomposing_anew_finds_triples_to_spare_and_the_same_space(monkeypatch):
    X, y = documents(600)
    plain = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=3)).fit(X[:300], y[:300])
    spared = copy(plain).recompute()
    assert len(plain._learnt.svd.S) == K
    assert len(spared._learnt.svd.S) == K + SPARE
    np.testing.assert_allclose(
        spared.documents() @ spared.components_, plain.documents() @ plain.components_, atol=1e-8
    )
    monkeypatch.setattr(drift_module.DriftRule, "is_exceeded", lambda *_: False)
    for part in np.split(np.arange(300, 600), 6):
        for space in (plain, spared):
            space.partial_fit(X[part], y[part])
    assert len(spared._learnt.svd.S) == K + SPARE
    sprinkled = (y[:, None] == CLASSES) * np.sqrt(3)
    S = np.linalg.svd(np.hstack([X, sprinkled]), compute_uv=False)
    least = 1 - (S[:K] ** 2).sum() / (S**2).sum()
    assert least <= spared.discarded_energy_ < least + 0.5 * (plain.discarded_energy_ - least)


# ---------------------------------------------------------------------- conventions


def test_names_of_columns_must_begin_with_those_known():
    X, _ = documents(60)
    names = [f"t{i}" for i in range(40)]
    space = SprinkledLSI(n_components=K).fit(pd.DataFrame(X[:, :30], columns=names[:30]))
    with pytest.raises(ValueError, match="must begin with the 30 names known so far"):
        space.partial_fit(pd.DataFrame(X, columns=names[::-1]))
    space.partial_fit(pd.DataFrame(X, columns=names))
    assert space.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        space.partial_fit(pd.DataFrame(X[:, :30], columns=names[:30]))


def test_a_batch_may_have_as_many_classes_as_rows():
    X, y = documents(60)
    names = np.array([f"class {i}" for i in range(40)])
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform()).fit(X, y)
    assert len(space.partial_fit(X[:40], names).relabel(np.arange(40), names[::-1]).classes_) == 44


def test_labels_of_another_kind_are_refused():
    X, y = documents(60)
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform()).fit(X, y)
    with pytest.raises(ValueError, match="Labels must be of one kind"):
        space.partial_fit(np.ones((1, 50)), [3])
    assert space.n_features_in_ == 40  # nothing has changed
    with pytest.raises(ValueError, match="requires y"):
        space.partial_fit(X[:1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_survives_pickling_and_keeps_the_dtype(dtype):
    X, y = documents()
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform()).fit(X[:100].astype(dtype), y[:100])
    restored = pickle.loads(pickle.dumps(space))
    for each in (space, restored):
        each.partial_fit(csr_array(X[100:]), y[100:]).relabel([3], ["dog"])
    assert space.components_.dtype == space.documents().dtype == dtype
    np.testing.assert_array_equal(space.components_, restored.components_)

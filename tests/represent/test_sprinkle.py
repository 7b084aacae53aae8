"""`SprinkledLSI` against paper 1's dense computation, written out."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.covariance import LedoitWolf
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan

CLASSES = np.array(["ape", "bee", "cat", "dog"])
COPIES = np.array([3, 1, 0, 6])
K = 6


def documents(n=80, m=40, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(4), rng.integers(4, size=n - 4)]
    X = random_array((n, m), density=0.15, rng=rng).toarray()
    X += (rng.random((n, m)) < 0.3) * (np.arange(m) % 4 == codes[:, None])
    return X, CLASSES[codes]


X, Y_LABELS = documents()
NEW, _ = documents(30, seed=1)
PLAN = SprinklingPlan.from_kernel(np.diag(COPIES), CLASSES)


def dense_reconstruction(X, y, copies=COPIES, k=K):
    """Paper 1, literally: append copies of indicator columns, decompose, keep k, multiply out, drop the copies."""
    indicators = (y[:, None] == CLASSES).astype(float)
    U, S, Vt = np.linalg.svd(np.hstack([X, np.repeat(indicators, copies, axis=1)]), full_matrices=False)
    return ((U[:, :k] * S[:k]) @ Vt[:k])[:, : X.shape[1]]


@pytest.fixture(scope="module")
def dense():
    return dense_reconstruction(X, Y_LABELS)


@pytest.fixture(scope="module", params=["gram", "randomized", "arpack"])
def space(request):
    return SprinkledLSI(n_components=K, plan=PLAN, training="reconstructed", solver=request.param, random_state=0)


@pytest.fixture(scope="module")
def Z(space):
    return space.fit_transform(csr_array(X), Y_LABELS)


# ---------------------------------------------------------------------- unsprinkling (DESIGN 3.3)


def test_the_space_holds_the_reconstructed_documents(space, Z, dense):
    np.testing.assert_allclose(Z @ space.components_, dense, atol=1e-8)
    np.testing.assert_allclose(space.components_ @ space.components_.T, np.eye(K), atol=1e-12)
    np.testing.assert_allclose(space.singular_values_, np.linalg.svd(dense, compute_uv=False)[:K], rtol=1e-9)


def test_products_lengths_and_distances_are_those_of_the_dense_matrix(space, Z, dense):
    new = space.transform(NEW)
    np.testing.assert_allclose(Z @ new.T, dense @ NEW.T, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), np.linalg.norm(dense, axis=1), atol=1e-8)
    residuals = space.residual_norms(NEW)
    distances = residuals[None, :] ** 2 + ((Z[:, None, :] - new[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, ((dense[:, None, :] - NEW[None, :, :]) ** 2).sum(axis=2), atol=1e-8)


def test_the_residual_as_one_more_coordinate_gives_the_dense_distances(space, Z, dense):
    new = np.c_[space.transform(NEW), space.residual_norms(NEW)]
    np.testing.assert_allclose(
        euclidean_distances(new, np.c_[Z, np.zeros(len(Z))]), euclidean_distances(NEW, dense), atol=1e-8
    )


def test_neighbours_are_those_of_the_dense_matrix(space, Z, dense):
    new = space.transform(NEW)
    by_cosine = np.argsort(-cosine_similarity(new, Z), axis=1)[:, :10]
    by_distance = np.argsort(euclidean_distances(new, Z), axis=1)[:, :10]
    np.testing.assert_array_equal(by_cosine, np.argsort(-cosine_similarity(NEW, dense), axis=1)[:, :10])
    np.testing.assert_array_equal(by_distance, np.argsort(euclidean_distances(NEW, dense), axis=1)[:, :10])


@pytest.mark.parametrize(
    "svm", [SVC(kernel="linear", tol=1e-10), LinearSVC(tol=1e-10, max_iter=200_000, random_state=0)]
)
def test_a_linear_svm_decides_as_on_the_dense_matrix(svm, space, Z, dense):
    on_dense = svm.fit(dense, Y_LABELS).decision_function(NEW)
    on_space = svm.fit(Z, Y_LABELS).decision_function(space.transform(NEW))
    np.testing.assert_allclose(on_space, on_dense, atol=1e-5)  # what the SVM's own stopping rule leaves open


def test_directions_that_are_sprinkled_columns_only_are_left_out():
    X = np.eye(6)[:, :4]  # rows 4 and 5 have no term at all
    y = np.array(["ape", "ape", "bee", "bee", "cat", "cat"])
    space = SprinkledLSI(n_components=5, plan=SprinklingPlan.uniform(s=100.0), training="reconstructed")
    with pytest.warns(UserWarning, match="The space has 4 components"):
        Z = space.fit_transform(X, y)
    literal = np.hstack([X, 10 * (y[:, None] == np.unique(y))])
    U, S, Vt = np.linalg.svd(literal, full_matrices=False)
    np.testing.assert_allclose(Z @ space.components_, ((U[:, :5] * S[:5]) @ Vt[:5])[:, :4], atol=1e-8)


# ---------------------------------------------------------------------- sprinkling (DESIGN 3.1, 3.2, 3.4)


def test_plain_lsi_is_the_truncated_svd():
    Z = SprinkledLSI(n_components=K).fit_transform(csr_array(X))
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(Z @ Z.T, (U[:, :K] * S[:K] ** 2) @ U[:, :K].T, atol=1e-9)


@pytest.mark.parametrize("solver", ["gram", "randomized", "arpack"])
@pytest.mark.parametrize("plan", [None, PLAN])
def test_projected_training_documents_are_transformed_ones(solver, plan):
    space = SprinkledLSI(n_components=K, plan=plan, solver=solver, random_state=0)
    Z = space.fit_transform(X, Y_LABELS)
    np.testing.assert_array_equal(Z, space.transform(X))
    np.testing.assert_allclose(Z, X @ space.components_.T, atol=1e-12)


def test_a_class_that_is_absent_from_the_data_has_no_columns_and_an_unknown_one_is_refused():
    here = Y_LABELS != "cat"
    wide = SprinkledLSI(n_components=K, plan=PLAN).fit(X[here], Y_LABELS[here])
    narrow = SprinklingPlan.from_kernel(np.diag(COPIES[[0, 1, 3]]), CLASSES[[0, 1, 3]])
    assert wide.plan_ == narrow
    assert wide.classes_.tolist() == ["ape", "bee", "dog"]
    np.testing.assert_allclose(
        wide.components_, SprinkledLSI(n_components=K, plan=narrow).fit(X[here], Y_LABELS[here]).components_
    )
    with pytest.raises(ValueError, match="Unknown class 'cat'"):
        SprinkledLSI(n_components=K, plan=narrow).fit(X, Y_LABELS)


def test_an_unbound_plan_is_bound_to_the_classes_of_the_data():
    space = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=2)).fit(X, Y_LABELS)
    assert space.plan_ == SprinklingPlan.uniform(CLASSES, 2)
    assert space.plan.classes is None


def test_several_labels_and_soft_labels():
    members = np.random.default_rng(0).random((len(X), 4))
    for table in (members, (members > 0.5).astype(int), csr_array(members > 0.5, dtype=float)):
        space = SprinkledLSI(n_components=K, plan=PLAN, training="reconstructed")
        Z = space.fit_transform(X, table)
        numbers = table.toarray() if isinstance(table, csr_array) else table
        U, S, Vt = np.linalg.svd(np.hstack([X, numbers * np.sqrt(COPIES)]), full_matrices=False)
        np.testing.assert_allclose(Z @ space.components_, ((U[:, :K] * S[:K]) @ Vt[:K])[:, :40], atol=1e-8)


def test_labels_and_their_indicator_table_are_the_same():
    table = (Y_LABELS[:, None] == CLASSES).astype(int)
    one, other = (SprinkledLSI(n_components=K, plan=PLAN).fit(X, y) for y in (Y_LABELS, table))
    np.testing.assert_array_equal(one.components_, other.components_)
    unbound = SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform()).fit(X, table)
    assert unbound.classes_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_background_rows_shape_the_space_and_are_not_returned(sparse, training):
    rows = np.zeros((2, 40))
    rows[0, [3, 17]] = rows[1, [5, 22]] = 4
    space = SprinkledLSI(n_components=K, plan=PLAN, training=training, background=csr_array(rows))
    Z = space.fit_transform(csr_array(X) if sparse else X, Y_LABELS)
    sprinkled = (Y_LABELS[:, None] == CLASSES) * np.sqrt(COPIES)
    stacked = np.vstack([np.hstack([X, sprinkled]), np.hstack([rows, np.zeros((2, 4))])])
    U, S, Vt = np.linalg.svd(stacked, full_matrices=False)
    D = ((U[:, :K] * S[:K]) @ Vt[:K])[: len(X), :40]
    expected = D if training == "reconstructed" else X @ np.linalg.pinv(Vt[:K, :40]) @ Vt[:K, :40]
    np.testing.assert_allclose(Z @ space.components_, expected, atol=1e-8)
    plain = SprinkledLSI(n_components=K, plan=PLAN).fit(X, Y_LABELS)
    assert space.term_similarity(3, 17) > plain.term_similarity(3, 17)


@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_nested_spaces_are_those_that_would_be_fitted_one_by_one(training):
    template = SprinkledLSI(plan=PLAN, training=training, whiten=True)
    for k, (space, Z) in zip([3, 9], template.nested(X, Y_LABELS, [3, 9]), strict=True):
        alone = SprinkledLSI(n_components=k, plan=PLAN, training=training, whiten=True)
        np.testing.assert_allclose(Z, alone.fit_transform(X, Y_LABELS), atol=1e-8)
        np.testing.assert_allclose(space.transform(NEW), alone.transform(NEW), atol=1e-8)


# ---------------------------------------------------------------------- whitening


@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_whitened_documents_scatter_alike_within_classes(training):
    plain = SprinkledLSI(n_components=K, plan=PLAN, training=training).fit_transform(X, Y_LABELS)
    about_means = np.vstack([plain[c == Y_LABELS] - plain[c == Y_LABELS].mean(axis=0) for c in CLASSES])
    covariance = LedoitWolf(assume_centered=True).fit(about_means).covariance_
    space = SprinkledLSI(n_components=K, plan=PLAN, training=training, whiten=True)
    Z = space.fit_transform(X, Y_LABELS)
    np.testing.assert_allclose(space.whitening_ @ covariance @ space.whitening_, np.eye(K), atol=1e-10)
    np.testing.assert_allclose(Z, plain @ space.whitening_, atol=1e-10)
    np.testing.assert_allclose(space.transform(X), X @ space.components_.T @ space.whitening_, atol=1e-10)


def test_whitening_works_without_a_plan_and_with_several_labels():
    table = np.random.default_rng(0).random((len(X), 4)) > 0.5
    plain = SprinkledLSI(n_components=K).fit_transform(X)
    about_means = np.vstack([plain[members] - plain[members].mean(axis=0) for members in table.T])
    covariance = LedoitWolf(assume_centered=True).fit(about_means).covariance_
    whitening = SprinkledLSI(n_components=K, whiten=True).fit(X, table).whitening_
    np.testing.assert_allclose(whitening @ covariance @ whitening, np.eye(K), atol=1e-10)


def test_whitening_has_nothing_to_even_out_in_classes_of_one_document_or_of_equal_ones():
    for rows, labels in ((X[:4], Y_LABELS[:4]), (X[[0, 1, 0, 1]], np.array([0, 1, 0, 1]))):
        space = SprinkledLSI(n_components=2, whiten=True).fit(rows, labels)
        np.testing.assert_array_equal(space.whitening_, np.eye(2))
        plain = SprinkledLSI(n_components=2).fit(rows)
        np.testing.assert_allclose(space.transform(X), plain.transform(X))


# ---------------------------------------------------------------------- conventions


def test_fewer_directions_than_asked_for_give_a_smaller_space_and_a_notice():
    with pytest.warns(UserWarning, match=r"The space has 3 components.*n_components=100"):
        space = SprinkledLSI().fit(X[:3])
    assert space.components_.shape == (3, 40)
    assert space.get_feature_names_out().tolist() == ["sprinkledlsi0", "sprinkledlsi1", "sprinkledlsi2"]


@pytest.mark.parametrize("solver", ["gram", "randomized", "arpack"])
def test_the_same_seed_gives_the_same_space(solver):
    spaces = [SprinkledLSI(n_components=K, plan=PLAN, solver=solver, random_state=3).fit(X, Y_LABELS) for _ in range(2)]
    np.testing.assert_array_equal(spaces[0].components_, spaces[1].components_)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_float32_stays_float32_and_is_near_float64(training, whiten):
    space = SprinkledLSI(n_components=K, plan=PLAN, training=training, whiten=whiten)
    exact = space.fit_transform(X, Y_LABELS)
    near = space.fit_transform(csr_array(X.astype(np.float32)), Y_LABELS)
    assert near.dtype == space.components_.dtype == space.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(near, exact, atol=2e-4)


def test_every_form_of_x_gives_the_same_space():
    expected = SprinkledLSI(n_components=K, plan=PLAN).fit(X, Y_LABELS)
    for given in (
        csr_array(X),
        csr_matrix(X),
        csr_array(X).tocsc(),
        pd.DataFrame(X, columns=[f"t{i}" for i in range(40)]),
    ):
        space = SprinkledLSI(n_components=K, plan=PLAN).fit(given, Y_LABELS)
        np.testing.assert_allclose(space.components_, expected.components_, atol=1e-10)


def test_it_survives_pickling_and_works_in_a_pipeline():
    space = SprinkledLSI(n_components=K, plan=PLAN).fit(X, Y_LABELS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(space)).transform(X), space.transform(X))
    pipeline = make_pipeline(SprinkledLSI(n_components=K, plan=SprinklingPlan.uniform(s=2)), LinearSVC())
    assert pipeline.fit(X, Y_LABELS).score(X, Y_LABELS) > 0.5


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({"plan": PLAN}, None, "requires y"),
        ({"whiten": True}, None, "requires y"),
        ({"plan": PLAN}, Y_LABELS[:5], "inconsistent numbers of samples"),
        ({"plan": PLAN}, np.ones((80, 3)), "one for each of the plan's 4 classes"),
        ({"plan": PLAN}, -np.ones((80, 4)), "no negative numbers"),
        ({"background": np.ones((2, 3))}, None, "background must have the 40 columns of X"),
    ],
)
def test_what_is_refused_and_why(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        SprinkledLSI(n_components=K, **parameters).fit(X, y)


def test_zeros_only_are_refused():
    with pytest.raises(ValueError, match="other than zeros"):
        SprinkledLSI(n_components=2).fit(np.zeros((5, 4)))

import pickle

import joblib
import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin.calibrate.temperature import fit_temperature
from untwin.crossfit import out_of_fold
from untwin.represent.alignment import Standard
from untwin.represent.scores import COORDINATES, ScoreSpace


@pytest.fixture(scope="module")
def data():
    return make_classification(400, 20, n_informative=8, n_classes=5, n_clusters_per_class=1, random_state=0)


def svm():
    return LinearSVC(random_state=0)


def test_training_rows_have_out_of_fold_scores_and_new_rows_those_of_the_full_model(data):
    X, y = data
    space = ScoreSpace(svm(), coordinates="likelihoods")
    trained = space.fit_transform(X, y)
    T = space.temperature_
    assert space.out_of_fold_ == out_of_fold(svm(), X, y)
    assert_allclose(trained, np.sqrt(softmax(space.out_of_fold_.scores / T, axis=1)))
    assert_allclose(space.transform(X), np.sqrt(softmax(svm().fit(X, y).decision_function(X) / T, axis=1)))
    assert abs(trained - space.transform(X)).max() > 0.1
    assert_allclose(np.linalg.norm(trained, axis=1), 1)
    assert_array_equal(clone(space).fit(X, y).transform(X), space.transform(X))


def test_the_temperature_makes_the_held_out_labels_most_likely(data):
    X, y = data
    space = ScoreSpace(svm()).fit(X, y)

    def surprise(T):
        return -np.log(softmax(space.out_of_fold_.scores / T, axis=1)[np.arange(len(y)), y]).mean()

    best = surprise(space.temperature_)
    assert all(best < surprise(factor * space.temperature_) for factor in (0.5, 0.9, 1.1, 2))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_scale_of_the_scores_does_not_matter(scale):
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(200, 4)), rng.integers(0, 4, 200)
    scores[np.arange(200), codes] += 1.5
    assert_allclose(fit_temperature(scale * scores, codes), scale * fit_temperature(scores, codes), rtol=1e-3)


def test_scores_that_are_never_wrong_or_never_right_have_a_finite_temperature():
    right = np.eye(3)[[0, 1, 2, 0]]
    codes = np.array([0, 1, 2, 0])
    for scores in (right, -right, np.zeros((4, 3))):
        assert 0 < fit_temperature(scores, codes) < 100


def test_few_rows_that_are_all_right_make_nothing_certain():
    def doubt(n):
        codes = np.arange(n) % 3
        scores = np.eye(3)[codes]
        return 1 - softmax(scores[0] / fit_temperature(scores, codes, cautious=True)).max()

    assert doubt(9) == pytest.approx(2 / 3 / 10, rel=1e-3)  # as if a tenth row had been of any class
    assert doubt(900) == pytest.approx(2 / 3 / 901, rel=1e-3)


def test_temperature_hardly_moves_with_the_last_digits_of_the_scores():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 150)
    scores = rng.normal(size=(150, 3)) + 2.5 * np.eye(3)[codes]
    moved = scores * (1 + 1e-7 * rng.normal(size=scores.shape))
    assert fit_temperature(moved, codes) == pytest.approx(fit_temperature(scores, codes), rel=1e-6)


def test_probabilities_are_taken_as_they_are(data):
    X, y = data
    space = ScoreSpace(RandomForestClassifier(20, random_state=0), coordinates="likelihoods")
    trained = space.fit_transform(X, y)
    assert space.temperature_ is None
    assert_allclose(trained, np.sqrt(space.out_of_fold_.scores))
    assert_allclose(space.transform(X), np.sqrt(space.estimator_.predict_proba(X)))


def test_two_classes_are_a_quarter_of_a_circle():
    X, y = make_classification(200, random_state=0)
    trained = ScoreSpace(svm(), coordinates="likelihoods").fit_transform(X, y)
    assert trained.shape == (200, 2)
    assert len(np.unique(trained[:, 0].round(9))) > 100  # the raw decisions -d, d have two directions only


def test_a_class_with_a_single_row():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, [[30.0, 0, 0, 0]]]), np.append(y, 7)
    space = ScoreSpace(LogisticRegression(max_iter=10_000))
    trained = space.fit_transform(X, y)
    assert np.isnan(space.out_of_fold_.scores[-1]).all()  # never held out
    assert_allclose(trained[-1], space.transform(X[-1:])[0])
    assert np.isfinite(trained).all()


def test_a_class_that_a_fold_has_never_seen_has_coordinate_zero(data):
    X, y = data
    X, y = np.vstack([X, X[:1]]), np.append(y, 9)  # the only row of class 9 shares the fold of its double
    space = ScoreSpace(svm(), coordinates="likelihoods")
    trained = space.fit_transform(X, y)
    unseen = np.isneginf(space.out_of_fold_.scores)
    assert unseen[:, 5].any()
    assert (trained[unseen] == 0).all()
    assert_allclose(np.linalg.norm(trained, axis=1), 1)


def test_keep_holds_the_largest_coordinates_of_each_row(data):
    X, y = data
    everything = ScoreSpace(svm(), coordinates="likelihoods").fit_transform(X, y)
    space = ScoreSpace(svm(), coordinates="likelihoods", keep=2)
    trained = space.fit_transform(X, y)
    assert issparse(trained)
    assert_array_equal(np.diff(trained.indptr), 2)
    second = np.sort(everything, axis=1)[:, -2:-1]
    assert_array_equal(trained.toarray(), np.where(everything >= second, everything, 0))
    assert_allclose(ScoreSpace(svm(), coordinates="likelihoods", keep=99).fit_transform(X, y).toarray(), everything)
    assert issparse(space.transform(X))


def test_components(data):
    X, y = data
    everything = ScoreSpace(svm(), coordinates="likelihoods")
    Z, new = everything.fit_transform(X, y), everything.transform(X[:9])
    space = ScoreSpace(svm(), coordinates="likelihoods", n_components=4)
    trained = space.fit_transform(X, y)
    assert trained.shape == (400, 4)
    V = space.svd_.components_
    assert_allclose(trained, Z @ V.T)
    assert_allclose(space.transform(X[:9]), new @ V.T)
    assert space.get_feature_names_out().tolist() == [f"scorespace{i}" for i in range(4)]
    both = ScoreSpace(svm(), coordinates="likelihoods", n_components=3, keep=2).fit_transform(X, y)
    assert both.shape == (400, 3)


def test_texts_and_string_labels_go_through_a_pipeline():
    texts = ["a cat purrs", "the cat sleeps", "cat and dog", "a dog barks", "the dog runs", "dogs bark"] * 3
    texts = [f"{text} {i}0" for i, text in enumerate(texts)]
    y = np.array(["cat", "cat", "cat", "dog", "dog", "dog"] * 3)
    space = ScoreSpace(make_pipeline(TfidfVectorizer(), svm()), cv=3, coordinates="likelihoods")
    trained = space.fit_transform(texts, y)
    assert trained.shape == (18, 2)
    assert space.classes_.tolist() == ["cat", "dog"]
    assert space.get_feature_names_out().tolist() == ["scorespace_likelihoods_cat", "scorespace_likelihoods_dog"]
    assert not hasattr(space, "n_features_in_")
    assert_array_equal(space.transform(["cat"]).argmax(axis=1), [0])


def test_sparse_rows_frames_and_names(data):
    X, y = data
    space = ScoreSpace(svm()).fit(pl.DataFrame(X), y)
    assert space.n_features_in_ == 20
    assert space.feature_names_in_[0] == "column_0"
    exact = LogisticRegression(tol=1e-10, max_iter=1_000)
    assert_allclose(ScoreSpace(exact).fit_transform(csr_array(X), y), ScoreSpace(exact).fit_transform(X, y), rtol=1e-4)


def test_an_estimator_without_scores_is_refused(data):
    with pytest.raises(ValueError, match="must have decision_function or predict_proba"):
        ScoreSpace(VotingClassifier([("one", svm())])).fit(*data)


def test_n_jobs_changes_nothing_and_the_space_can_be_pickled(data):
    X, y = data
    space = ScoreSpace(svm(), n_jobs=2)
    with joblib.parallel_config(backend="threading"):
        trained = space.fit_transform(X, y)
    assert_array_equal(trained, ScoreSpace(svm()).fit_transform(X, y))
    assert_array_equal(pickle.loads(pickle.dumps(space)).transform(X), space.transform(X))


def test_neighbours_agree_with_the_classifier(data):
    X, y = data
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    alone = cross_val_score(svm(), X, y, cv=cv).mean()
    joined = make_pipeline(ScoreSpace(svm()), KNeighborsClassifier(15))
    assert cross_val_score(joined, X, y, cv=cv).mean() > alone - 0.02


def test_shuffled_labels_stay_at_chance():
    rng = np.random.default_rng(3)
    X, y = csr_array(rng.poisson(0.05, (600, 1_000))), rng.permutation(np.repeat([0, 1, 2], 200))
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    for estimator in (svm(), MultinomialNB()):
        space = make_pipeline(ScoreSpace(estimator), KNeighborsClassifier(5))
        assert abs(cross_val_score(space, X, y, cv=cv).mean() - 1 / 3) < 2.6 * np.sqrt(2 / 9 / 600)


def test_standard_scores_are_centred_by_class_and_scaled_by_their_spread_within_classes(data):
    X, y = data
    space = ScoreSpace(svm(), coordinates="standard")
    trained, scores = space.fit_transform(X, y), space.out_of_fold_.scores
    within = np.vstack([scores[y == c] - scores[y == c].mean(axis=0) for c in range(5)])
    expected = (scores - scores.mean(axis=0)) / np.sqrt((within**2).mean(axis=0))
    assert_allclose(trained, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    new = (svm().fit(X, y).decision_function(X) - scores.mean(axis=0)) / np.sqrt((within**2).mean(axis=0))
    assert_allclose(space.transform(X), new / np.linalg.norm(new, axis=1, keepdims=True))


def test_an_unknown_class_gets_its_lowest_standard_score():
    scores, codes = np.array([[1.0, -np.inf], [0.0, 3.0], [5.0, 1.0], [2.0, 2.0]]), np.array([0, 1, 0, 1])
    filled = scores.copy()
    filled[0, 1] = 1.0
    assert_array_equal(Standard.of_held_out(scores, codes)(scores), Standard.of_held_out(filled, codes)(filled))


def test_a_score_that_never_changes_and_a_class_nobody_knows_do_no_harm():
    scores = np.array([[1.0, -np.inf], [1.0, -np.inf]])
    assert np.isfinite(Standard.of_held_out(scores, np.array([0, 0]))(scores)).all()


def test_both_kinds_stand_side_by_side(data):
    X, y = data
    spaces = {kind: ScoreSpace(svm(), coordinates=kind).fit(X, y) for kind in COORDINATES}
    likelihoods, standard, both = (spaces[kind].transform(X) for kind in COORDINATES)
    assert_array_equal(both, np.hstack([likelihoods, standard]))
    assert spaces["both"].get_feature_names_out()[[0, 5]].tolist() == [
        "scorespace_likelihoods_0",
        "scorespace_standard_0",
    ]
    few = ScoreSpace(svm(), keep=2).fit(X, y).transform(X)
    assert_array_equal(np.diff(few.indptr), 4)
    best = np.argsort(-likelihoods, axis=1)[:, :2]
    assert_allclose(np.take_along_axis(few.toarray()[:, 5:], best, axis=1), np.take_along_axis(standard, best, axis=1))


def test_views_are_the_spaces_fitted_one_by_one(data):
    X, y = data
    seen = []
    for space, trained in ScoreSpace(svm(), n_components=3).views(X, y):
        alone = ScoreSpace(svm(), n_components=3, coordinates=space.coordinates)
        assert_array_equal(trained, alone.fit_transform(X, y))
        assert_array_equal(space.transform(X), alone.transform(X))
        seen.append(space.coordinates)
    assert tuple(seen) == COORDINATES

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from untwin.classify.knn.classifier import GRID, KNNClassifier
from untwin.classify.knn.neighbours import make_searchable, nearest

X, y = load_iris(return_X_y=True)
TRAIN, TEST = np.arange(0, 150, 2), np.arange(1, 150, 2)


@pytest.mark.parametrize(("weights", "theirs"), [("uniform", "uniform"), ("similarity", "distance")])
def test_euclidean_vote_is_scikit_learns(weights, theirs):
    ours = KNNClassifier(n_neighbors=7, metric="euclidean", weights=weights).fit(X[TRAIN], y[TRAIN])
    peer = KNeighborsClassifier(7, weights=theirs).fit(X[TRAIN], y[TRAIN])
    np.testing.assert_allclose(ours.predict_proba(X[TEST]), peer.predict_proba(X[TEST]), atol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X[TRAIN]), peer.predict_proba(X[TRAIN]), atol=1e-12)


def test_cosine_vote_is_the_literal_one():
    model = KNNClassifier(n_neighbors=9).fit(X[TRAIN], y[TRAIN])
    similarities, rows = model.kneighbors(X[TEST])
    shares = np.stack([(similarities * (y[TRAIN][rows] == c)).sum(axis=1) for c in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X[TEST]), shares / similarities.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict(X[TEST]), shares.argmax(axis=1))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("weights", ["similarity", "uniform"])
def test_shares_sum_to_one_sparse_or_dense(metric, weights):
    counts = np.random.default_rng(0).poisson(0.3, (80, 20)).astype(float)
    counts[-1] = 0
    labels = np.arange(80) % 3
    settings = {"metric": metric, "weights": weights}
    dense = KNNClassifier(**settings).fit(counts[:60], labels[:60]).predict_proba(counts[60:])
    sparse = KNNClassifier(**settings).fit(csr_array(counts[:60]), labels[:60]).predict_proba(csr_array(counts[60:]))
    np.testing.assert_allclose(dense.sum(axis=1), 1)
    np.testing.assert_allclose(dense, sparse, atol=1e-12)


def test_an_empty_row_gets_the_prior():
    model = KNNClassifier(n_neighbors=2).fit(np.eye(4), ["a", "b", "b", "b"])
    assert model.predict_proba(np.zeros((1, 4))).tolist() == [[0.25, 0.75]]
    assert model.predict(np.zeros((1, 4))).tolist() == ["b"]


@pytest.mark.parametrize(
    "labels", [np.array(["a", "bb"])[y % 2], (y % 2).astype(np.int8), np.array(["a", "b"], "O")[y % 2]]
)
def test_the_dtype_of_labels_survives(labels):
    predicted = KNNClassifier().fit(X, labels).predict(X)
    assert predicted.dtype == labels.dtype


def test_single_precision_stays():
    model = KNNClassifier(metric="euclidean").fit(X.astype(np.float32), y)
    assert model.kneighbors(X)[0].dtype == np.float32


def test_fewer_rows_than_neighbours():
    model = KNNClassifier().fit(X[:3], [0, 1, 1])
    assert model.n_neighbors_ == 3
    with pytest.raises(ValueError, match="from 1 to the 3 training rows"):
        model.kneighbors(X, 4)


def test_frames_pipelines_and_clones():
    texts, labels = ["red apple", "green apple", "fast car", "slow car"] * 5, ["fruit", "fruit", "car", "car"] * 5
    model = clone(make_pipeline(TfidfVectorizer(), KNNClassifier(n_neighbors=3))).fit(texts, labels)
    assert model.predict(["an apple", "my car"]).tolist() == ["fruit", "car"]
    frame = pl.DataFrame({"width": [1.0, 2, 3], "height": [3.0, 2, 1]})
    assert KNNClassifier().fit(frame, [0, 0, 1]).feature_names_in_.tolist() == ["width", "height"]


# ---------------------------------------------------------------------- grades and several labels


def test_grades_take_the_mean_and_keep_their_names():
    Z = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    labels = ["bad", "bad", "good", "fair"]
    vote = KNNClassifier(n_neighbors=3)
    assert vote.fit(Z, labels).predict(Z[:1]).tolist() == ["bad"]
    graded = KNNClassifier(n_neighbors=3, order=["bad", "fair", "good"]).fit(Z, labels)
    assert graded.predict(Z[:1]).tolist() == ["fair"]
    np.testing.assert_allclose(graded.predict_proba(Z[:1]), [[2 / 3, 0, 1 / 3]])


def test_order_is_for_single_labels():
    with pytest.raises(ValueError, match="order must be None for multi-label y"):
        KNNClassifier(order=[0, 1]).fit(np.eye(2), np.array([[1, 1], [0, 1]]))


def test_order_must_name_every_class():
    with pytest.raises(ValueError, match="Unknown class 2"):
        KNNClassifier(order=[0, 1]).fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("n_neighbors", [5, "cv"])
def test_several_labels(form, n_neighbors):
    Z, labels = make_multilabel_classification(300, n_classes=4, allow_unlabeled=False, random_state=0)
    model = KNNClassifier(n_neighbors=n_neighbors).fit(Z[:200], form(labels[:200]))
    shares, predicted = model.predict_proba(Z[200:]), model.predict(Z[200:])
    weights, rows = model.kneighbors(Z[200:])
    literal = (weights[:, :, None] * labels[rows]).sum(axis=1) / weights.sum(axis=1)[:, None]
    np.testing.assert_allclose(shares, literal, atol=1e-12)
    assert predicted.dtype == labels.dtype
    assert predicted.any(axis=1).all()
    assert (predicted == labels[200:]).mean() > 0.75
    assert (predicted[shares > 0.5] == 1).all()


# ---------------------------------------------------------------------- n_neighbors="cv"


def test_chosen_number_is_the_best_of_a_literal_cross_validation():
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    model = KNNClassifier(n_neighbors="cv", metric="euclidean", cv=folds).fit(X, y)
    assert tuple(model.cv_scores_) == tuple(k for k in GRID if k <= 112)
    for k in (1, 5, 30, 100):
        hits = [
            KNNClassifier(n_neighbors=k, metric="euclidean").fit(X[train], y[train]).predict(X[test]) == y[test]
            for train, test in folds.split(X, y)
        ]
        assert model.cv_scores_[k] == np.concatenate(hits).mean()
    assert model.n_neighbors_ == max(model.cv_scores_, key=model.cv_scores_.get)


def test_choosing_never_meets_the_own_fold(monkeypatch):
    """Every row occurs twice with the same class: whoever meets his copy is right with one neighbour."""
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.standard_normal((100, 5)), 2, axis=0)
    labels = np.repeat(rng.integers(0, 2, 100), 2)
    searched = []

    def watched(among, asked, k, n_jobs):
        searched.append((among.rows, asked))
        return nearest(among, asked, k, n_jobs)

    monkeypatch.setattr("untwin.classify.knn.classifier.nearest", watched)
    model = KNNClassifier(n_neighbors="cv").fit(rows, labels)
    assert len(searched) == 5
    assert sum(len(asked) for _, asked in searched) == 200
    for others, asked in searched:
        assert not (others[:, None] == asked).all(axis=-1).any()
    assert all(score < 0.65 for score in model.cv_scores_.values())


@pytest.mark.parametrize("settings", [{}, {"metric": "euclidean"}, {"weights": "uniform"}])
def test_shuffled_labels_give_chance(settings):
    rng = np.random.default_rng(5)
    curves, hits = [], 0
    for _ in range(10):
        rows, labels = rng.standard_normal((300, 4)), rng.integers(0, 2, 300)
        model = KNNClassifier(n_neighbors="cv", **settings).fit(rows[:200], labels[:200])
        hits += (model.predict(rows[200:]) == labels[200:]).sum()
        curves.append(list(model.cv_scores_.values()))
    # 99.9 % of binomial counts lie within 3.3 standard deviations.
    assert abs(hits - 500) < 3.3 * np.sqrt(1000) / 2
    # Mutual neighbours are right or wrong together: a curve varies more than a binomial share, so compare its mean.
    error = np.std(curves, axis=0, ddof=1) / np.sqrt(10)
    assert (abs(np.mean(curves, axis=0) - 0.5) < 3.3 * error).all()


def test_grades_are_chosen_by_absolute_error():
    rng = np.random.default_rng(6)
    grade = rng.integers(0, 5, 400)
    model = KNNClassifier(n_neighbors="cv", metric="euclidean", order=range(5)).fit(
        grade[:, None] + rng.normal(0, 1, (400, 1)), grade
    )
    assert all(-2 < score < 0 for score in model.cv_scores_.values())
    assert model.n_neighbors_ >= 10


def test_one_search_serves_all_numbers():
    among = make_searchable(X[TRAIN], "cosine")
    values, rows = nearest(among, X[TEST], 30)
    for k in (1, 7):
        np.testing.assert_array_equal(nearest(among, X[TEST], k)[1], rows[:, :k])
        np.testing.assert_array_equal(nearest(among, X[TEST], k)[0], values[:, :k])

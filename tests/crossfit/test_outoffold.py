import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_matrix, csr_array
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from untwin import _progress
from untwin.crossfit import out_of_fold, out_of_fold_confusion
from untwin.tables import Confusion

X, y = load_iris(return_X_y=True)
names = np.array(["setosa", "versicolor", "virginica"])[y]


class Remembers(ClassifierMixin, BaseEstimator):
    """Answers a row it was trained on by "seen"; so an out-of-fold row must never be."""

    def fit(self, X, y):
        self.rows_, self.classes_ = {tuple(row) for row in X}, np.unique(y)
        return self

    def predict(self, X):
        return np.array(["seen" if tuple(row) in self.rows_ else "new" for row in X])


def test_it_is_scikit_learns_cross_validation():
    cv = KFold(4, shuffle=True, random_state=1)
    result = out_of_fold(GaussianNB(), X, names, cv=cv)
    assert_array_equal(result.predictions, cross_val_predict(GaussianNB(), X, names, cv=cv))
    assert_array_equal(result.scores, cross_val_predict(GaussianNB(), X, names, cv=cv, method="predict_proba"))
    for fold, (_, test) in enumerate(cv.split(X)):
        assert_array_equal(np.flatnonzero(result.folds == fold), test)
        assert result.fold_confusions[fold] == Confusion.from_predictions(
            names[test], result.predictions.data[test], classes=result.classes
        )


def test_everything_comes_back_together():
    result = out_of_fold(RidgeClassifier(), X, names)
    assert result.confusion == Confusion.from_predictions(names, result.predictions.data)
    assert result.confusion.accuracy == (result.predictions == names).mean()
    assert result.small_classes == ()
    assert result.predicted.all()
    for fold in range(5):
        others = result.folds != fold
        expected = Confusion.from_predictions(names[others], result.predictions.data[others], classes=result.classes)
        assert result.without(fold) == expected
    assert out_of_fold_confusion(RidgeClassifier(), X, names) == result.confusion
    assert (names[np.argmax(result.scores, axis=1) * 50] == result.predictions).all()
    with pytest.raises(ValueError, match=r"one of 0 to 4\. Got 5"):
        result.without(5)


def test_no_row_is_predicted_by_a_model_that_has_seen_it_or_its_twin():
    rows = np.random.default_rng(0).integers(0, 4, (200, 3))
    labels = np.random.default_rng(1).choice(["seen", "new"], 200)
    assert set(out_of_fold(Remembers(), rows, labels).predictions) == {"new"}


def test_folds_are_stratified_seeded_and_keep_groups_together():
    groups = np.random.default_rng(0).integers(0, 30, 150)
    one, same, other = (out_of_fold(GaussianNB(), X, y, groups=groups, random_state=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    assert all(len(set(one.folds[groups == group])) == 1 for group in range(30))
    plain = out_of_fold(GaussianNB(), X, y)
    assert np.ptp([fold.support for fold in plain.fold_confusions]) <= 2


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_change_nothing(backend):
    alone = out_of_fold(RidgeClassifier(), csr_array(X), names)
    with joblib.parallel_config(backend=backend):
        assert out_of_fold(RidgeClassifier(), csr_array(X), names, n_jobs=2) == alone


def test_progress_is_reported_from_the_parent():
    seen = []
    with _progress.listening(lambda *said: seen.append(said)):
        out_of_fold(GaussianNB(), X, y, cv=3, n_jobs=2)
    assert seen == [("folds", 1, 3), ("folds", 2, 3), ("folds", 3, 3)]


def test_small_classes_train_and_are_named_and_never_asked_about():
    labels = np.r_[names, ["lonely", "pair", "pair"]]
    rows = np.r_[X, [[9, 9, 9, 9], [20, 0, 0, 0], [21, 0, 0, 0.0]]]
    result = out_of_fold(KNeighborsClassifier(1), rows, labels)
    assert result.small_classes == ("lonely",)
    assert result.folds[150] == -1
    assert result.predictions.mask.nonzero()[0].tolist() == [150]
    assert result.predictions[151:].tolist() == ["pair", "pair"]
    assert result.confusion.support[result.classes == "lonely"] == 0
    assert np.isnan(result.scores[150]).all()
    assert result.frame()["prediction"].null_count() == result.frame()["fold"].null_count() == 1
    assert result.confusion.total == 152


def test_a_class_that_a_model_lacks_has_the_lowest_score():
    rows, labels = np.r_[X[:100], X[:1]], np.r_[y[:100], [7]]  # class 7 is the twin of row 0, and of no other row
    proba = out_of_fold(GaussianNB(), rows, labels)
    decision = out_of_fold(RidgeClassifier(), rows, labels)
    absent = proba.folds == proba.folds[0]
    assert proba.small_classes == (7,)
    assert (proba.scores[absent, 2] == 0).all()
    assert (decision.scores[absent, 2] == -np.inf).all()
    assert np.isfinite(decision.scores[(proba.folds >= 0) & ~absent]).all()


def test_texts_and_frames():
    texts = [f"{'good' if i % 2 else 'bad'} film number {i}" for i in range(40)]
    labels = ["up" if i % 2 else "down" for i in range(40)]
    bag = make_pipeline(CountVectorizer(), MultinomialNB())
    expected = out_of_fold(bag, texts, labels)
    assert expected.confusion.accuracy == 1
    assert_array_equal(out_of_fold(bag, pd.Series(texts), pd.Series(labels)).predictions, expected.predictions)
    table = make_pipeline(make_column_transformer((CountVectorizer(), "text")), MultinomialNB())
    for frame in (pd.DataFrame({"text": texts}), pl.DataFrame({"text": texts})):
        assert out_of_fold(table, frame, labels).confusion.accuracy == 1


def test_the_same_rows_get_the_same_folds_in_any_form():
    expected = out_of_fold(GaussianNB(), X, y, random_state=3).folds
    for form in (X.tolist(), pl.DataFrame(X), pd.DataFrame(X), np.asfortranarray(X)):
        assert_array_equal(out_of_fold(GaussianNB(), form, y, random_state=3).folds, expected)
    assert_array_equal(out_of_fold(RidgeClassifier(), csr_array(X), y, random_state=3).folds, expected)


def test_given_folds_are_followed():
    numbers = np.arange(150) % 3 - 1
    result = out_of_fold(GaussianNB(), X, y, cv=numbers)
    assert_array_equal(result.folds, numbers)
    assert result == out_of_fold(GaussianNB(), X, y, cv=PredefinedSplit(numbers))
    assert_array_equal(result.predictions.mask, numbers < 0)
    groups = np.arange(150) % 7
    by_group = out_of_fold(GaussianNB(), X, y, cv=GroupKFold(3), groups=groups)
    assert all(len(set(by_group.folds[groups == group])) == 1 for group in range(7))


def test_pairs_of_rows_are_followed_and_none_means_five_folds():
    folds = KFold(3, shuffle=True, random_state=0)
    splits, expected = list(folds.split(X)), out_of_fold(GaussianNB(), X, y, cv=folds)
    assert out_of_fold(GaussianNB(), X, y, cv=splits) == expected
    assert out_of_fold(GaussianNB(), X, y, cv=iter(splits)) == expected
    assert out_of_fold(GaussianNB(), X, y, cv=None) == out_of_fold(GaussianNB(), X, y, cv=5)


@pytest.mark.parametrize(("estimator", "has_scores"), [(Remembers(), False), (GaussianNB(), True)])
def test_scores_only_where_there_are_some(estimator, has_scores):
    labels = np.array(["seen", "new"])[y % 2]
    assert (out_of_fold(estimator, X, labels).scores is not None) == has_scores
    assert out_of_fold(estimator, X, labels, with_scores=False).scores is None


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (y, {"cv": 1}, "at least 2 folds. Got 1"),
        (y, {"cv": ShuffleSplit(3)}, "at most once"),
        (y, {"cv": [(np.arange(75), np.arange(75))]}, "train on all others"),  # what is held out is learnt too
        (y, {"cv": [(np.arange(149), [149])] * 2}, "at most once"),
        (y, {"cv": [(np.arange(149), [150])]}, "split 0 of list"),
        (y, {"cv": np.arange(3)}, "one fold number for each row"),
        (np.arange(150), {}, "a class with rows in two folds"),
        (np.where(y == 0, np.nan, y), {}, "Got NaN"),
        (y[:-1], {}, "inconsistent numbers of samples"),
    ],
)
def test_wrong_input_is_named(labels, options, message):
    with pytest.raises(ValueError, match=message):
        out_of_fold(GaussianNB(), X, labels, **options)


def test_scores_must_be_by_class():
    with pytest.raises(ValueError, match="one column for each of its 4 classes"):
        out_of_fold(SVC(decision_function_shape="ovo"), X, np.arange(150) % 4)


@pytest.mark.parametrize("copies", [1, 2])
def test_shuffled_labels_give_chance(copies):
    """Copies carry their label along: if one were in training, the nearest neighbour would know the other."""
    rng = np.random.default_rng(0)
    rows, labels = np.tile(rng.poisson(0.5, (500, 60)), (copies, 1)), np.tile(rng.integers(0, 4, 500), copies)
    result = out_of_fold(KNeighborsClassifier(1), coo_matrix(rows), labels)
    low, high = binom.interval(0.999, 500, 1 / 4)
    assert low <= result.confusion.correct.sum() / copies <= high


def test_it_shows_itself():
    result = out_of_fold(GaussianNB(), X, y)
    assert repr(result).startswith("OutOfFold(5 folds, 150 of 150 rows predicted, accuracy 0.9")
    assert result._repr_html_().count("<tr>") == 4


def test_the_result_is_read_only():
    result = out_of_fold(GaussianNB(), X, y)
    for array in (result.predictions, result.scores, result.folds, result.predictions.mask):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]

"""The loop against its parts, run one by one; what it chooses; what it must not see."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from untwin import AdaptiveSprinkling, Confusion, KNNClassifier, ScoreSpace, SprinkledLSI, SprinklingPlan, out_of_fold
from untwin.classify.adaptive.spaces import BEST, STRENGTHS, dimensions


def texts(n_classes=6, n=40, seed=0):
    """Rows of counts in classes that come in pairs of twins: they share most of their words."""
    rng = np.random.default_rng(seed)
    words = np.ones((n_classes, 240)) * 0.02
    for c in range(n_classes):
        words[c, 40 * (c // 2) : 40 * (c // 2) + 40] = 0.3
        words[c, 180 + 10 * c : 190 + 10 * c] = 0.15
    y = np.repeat(np.arange(n_classes), n)
    return csr_array(rng.poisson(words[y]).astype(float)), y


@pytest.fixture(scope="module")
def data():
    return texts()


@pytest.fixture(scope="module")
def fitted(data):
    scores = ScoreSpace(LinearSVC(random_state=0))
    return AdaptiveSprinkling(KNNClassifier(), scores=scores, plan="best", n_components=10).fit(*data)


def test_the_confusion_before_is_that_of_the_classifier_on_raw_rows(data, fitted):
    X, y = data
    assert fitted.confusion_ == out_of_fold(KNNClassifier(), X, y).confusion
    assert fitted.choices_.raw.confusion == fitted.confusion_


def test_a_trial_is_the_loop_done_by_hand(data):
    X, y = data
    model = AdaptiveSprinkling(KNNClassifier(), msl=8, n_components=12).fit(X, y)
    raw = out_of_fold(KNNClassifier(), X, y)
    after = Confusion(np.zeros((6, 6)), range(6))
    for fold in range(5):
        train, test = raw.folds != fold, raw.folds == fold
        plan = SprinklingPlan.adaptive(raw.without(fold), 8)
        space = SprinkledLSI(n_components=12, plan=plan, whiten=True, random_state=0)
        rows = space.fit_transform(X[train].astype(np.float32), y[train])
        predicted = KNNClassifier().fit(rows, y[train]).predict(space.transform(X[test].astype(np.float32)))
        after += Confusion.from_predictions(y[test], predicted, classes=range(6))
    trial = next(trial for trial in model.choices_.trials if trial.representation.terms == "adaptive")
    assert trial.confusion == after
    assert trial.representation.strength == 8
    assert model.plan_ == SprinklingPlan.adaptive(model.confusion_, 8)


def test_everything_asked_for_is_tried_once(fitted):
    tried = [trial.representation for trial in fitted.choices_.trials]
    assert len(set(tried)) == len(tried)
    sprinkled = {(r.terms, r.strength, r.n_components, bool(r.scores)) for r in tried if r.sprinkled}
    assert sprinkled == {(p, s, k, j) for p in BEST for s in STRENGTHS for k in [10] for j in (False, True)}
    assert {r.terms for r in tried if not r.sprinkled and not r.scores} == {"raw", "lsi"}
    assert [r.scores for r in tried if not r.terms] == ["likelihoods", "standard", "both"]


def test_the_best_trial_is_chosen_and_kept(fitted):
    frame = fitted.choices_.frame()
    assert frame["accuracy"].max() == fitted.confusion_after_.accuracy == frame.filter("chosen")["accuracy"].item()
    assert len(frame) == len(fitted.choices_.trials)
    assert fitted.confusion_after_.accuracy > fitted.confusion_.accuracy
    assert str(fitted.choices_.chosen.representation) in fitted.choices_.describe()
    assert "trials" in repr(fitted.choices_)
    assert "<table" in fitted.choices_._repr_html_()


@pytest.mark.parametrize("plan", BEST)
def test_each_plan_is_used_and_fitted_from_the_whole_confusion(data, plan):
    X, y = data
    model = AdaptiveSprinkling(KNNClassifier(), plan=plan, msl=40, n_components=8).fit(X, y)
    assert model.plan_.classes.tolist() == list(range(6))
    assert model.choices_.chosen.representation.terms == plan
    assert_array_equal(model.predict(X[:5]), model.estimator_.predict(model.represent(X[:5])))
    if plan not in ("adaptive", "contrast"):
        assert_allclose(model.plan_.trace, 40 * 6)


def test_ordered_classes_are_sprinkled_in_order(data):
    X, y = data
    model = AdaptiveSprinkling(KNNClassifier(), plan="ordinal", msl=4, n_components=8).fit(X, y)
    assert "ordinal" in {trial.representation.terms for trial in model.choices_.trials}


def test_a_plan_of_ones_own(data):
    X, y = data
    plan = SprinklingPlan.uniform(range(6), 30.0)
    model = AdaptiveSprinkling(KNNClassifier(), plan=plan, n_components=8).fit(X, y)
    assert model.plan_ == plan


def test_where_nothing_helps_the_raw_rows_stay(data):
    X, y = texts(n=25, seed=1)
    easy = csr_array(np.eye(6)[y] * 5 + 0.01 * X[:, :6].toarray())
    model = AdaptiveSprinkling(KNNClassifier()).fit(easy, y)
    assert model.space_ is None
    assert model.plan_ is None
    assert "sprinkling does not win" in model.choices_.describe()
    assert_array_equal(model.predict(easy), KNNClassifier().fit(easy, y).predict(easy))


def test_scores_alone_and_beside_terms_answer_as_they_were_fitted(data):
    X, y = data
    space = ScoreSpace(LinearSVC(random_state=0))
    for plan in ("adaptive", "uniform"):
        model = AdaptiveSprinkling(KNNClassifier(), scores=space, plan=plan, n_components=10).fit(X, y)
        chosen = model.choices_.chosen.representation
        width = model.represent(X[:3]).shape[1]
        scores = 0 if not chosen.scores else 12 if chosen.scores == "both" else 6
        assert width == scores + (chosen.n_components or 0) + (X.shape[1] if chosen.terms == "raw" else 0)


def test_another_classifier_may_choose(data):
    X, y = data
    model = AdaptiveSprinkling(KNNClassifier(n_neighbors="cv"), trial=KNNClassifier(n_neighbors=7), msl=9)
    model.fit(X, y)
    assert model.confusion_ == out_of_fold(KNNClassifier(n_neighbors=7), X, y).confusion
    assert model.estimator_.n_neighbors_ == model.estimator_.fit(model.estimator_._among.rows, y).n_neighbors_


@pytest.mark.parametrize("estimator", [LinearSVC(random_state=0), MultinomialNB()])
def test_other_classifiers(estimator):
    X, y = load_digits(return_X_y=True)
    if isinstance(estimator, MultinomialNB):
        with pytest.raises(ValueError, match="Negative values"):  # naive Bayes takes counts, and a space has none
            AdaptiveSprinkling(estimator).fit(X[:300], y[:300])
        return
    model = AdaptiveSprinkling(estimator, n_components=20).fit(X[:300] / 16, y[:300])
    assert hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "explain")
    assert model.decision_function(X[:3] / 16).shape == (3, 10)


def test_explanations_show_neighbours_of_the_space_and_terms_of_the_rows(data, fitted):
    X, _ = data
    (told,) = fitted.explain(X[[0]], top=3, feature_names=[f"w{i}" for i in range(240)])
    assert told.prediction == fitted.predict(X[[0]])[0]
    _, rows = fitted.estimator_.kneighbors(fitted.represent(X[[0]]))
    assert [near.row for near in told.neighbours] == rows[0, :3].tolist()
    mine = X[[0]].toarray()[0]
    assert all(mine[int(term[1:])] > 0 for near in told.neighbours for term, _ in near.terms)


def test_string_labels_dense_rows_and_clones(data):
    X, y = data
    names = np.array(["ape", "bee", "cat", "dog", "elk", "fox"])[y]
    model = AdaptiveSprinkling(KNNClassifier(), n_components=10).fit(X.toarray(), names)
    assert model.classes_.tolist() == ["ape", "bee", "cat", "dog", "elk", "fox"]
    assert set(model.predict(X[:9].toarray())) <= set(names)
    again = clone(model).fit(X.toarray(), names)
    assert_array_equal(again.predict_proba(X.toarray()), model.predict_proba(X.toarray()))


def test_one_class_is_refused(data):
    X, _ = data
    with pytest.raises(ValueError, match="at least two classes"):
        AdaptiveSprinkling(KNNClassifier()).fit(X, np.zeros(X.shape[0]))


def test_sizes_follow_the_classes_within_bounds():
    assert dimensions("cv", 562, (10_000, 10_000)) == [300]
    assert dimensions("cv", 20, (30, 10_000)) == [30]


def test_shuffled_labels_stay_at_chance():
    rng = np.random.default_rng(5)
    X, y = csr_array(rng.poisson(0.2, (450, 60)).astype(float)), rng.permutation(np.repeat([0, 1, 2], 150))
    model = AdaptiveSprinkling(KNNClassifier(), scores=ScoreSpace(RidgeClassifier()), plan="contrast", n_components=20)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    assert abs(cross_val_score(model, X, y, cv=cv).mean() - 1 / 3) < 2.6 * np.sqrt(2 / 9 / 450)

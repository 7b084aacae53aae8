"""Experts on their own rows and terms against the same estimator on all columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.special import log_expit, log_softmax
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from untwin import _progress
from untwin.classify.experts import (
    STEEPNESS,
    Job,
    columns_of,
    fit_experts,
    used_columns,
)
from untwin.classify.linear import LinearSVM, NaiveBayes, svm
from untwin.tables import Contingency


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = csr_array(random_array((200, 90), density=0.08, format="csr", random_state=rng))
    return X, rng.integers(0, 5, 200)


def job_of(codes, *classes):
    members = np.flatnonzero(np.isin(codes, classes))
    return Job(members, codes[members])


def test_margins_are_those_of_the_estimator_on_all_columns(rows):
    X, codes = rows
    svm = LinearSVC(tol=1e-8, max_iter=20_000, random_state=0)
    for classes in [(0, 1, 2, 3, 4), (1, 3, 4), (0, 4)]:
        job = job_of(codes, *classes)
        (expert,) = fit_experts(svm, X, [job])
        decision = svm.fit(X[job.rows], job.labels).decision_function(X)
        expected = np.column_stack([-decision, decision]) if decision.ndim == 1 else decision
        np.testing.assert_allclose(expert.margins(X), expected, atol=1e-5)
        assert expert.classes.tolist() == list(classes)
        assert np.array_equal(expert.terms, np.flatnonzero(X[job.rows].sum(axis=0)))


def test_coefficients_are_single_and_on_their_own_terms(rows):
    X, codes = rows
    (expert,) = fit_experts(LinearSVC(random_state=0), X, [job_of(codes, 0, 4)])
    assert expert.coef.shape == (len(expert.terms), 1)
    assert expert.coef.dtype == np.float32
    assert expert.n_numbers == 2 * len(expert.terms) + 1


def test_dense_rows_give_the_same(rows):
    X, codes = rows
    svm = LinearSVC(tol=1e-8, max_iter=20_000, random_state=0)
    (sparse,), (dense,) = (fit_experts(svm, part, [job_of(codes, 1, 2, 3)]) for part in (X, X.toarray()))
    np.testing.assert_allclose(sparse.margins(X), dense.margins(X.toarray()), atol=1e-5)


def test_log_scores_by_kind_of_model(rows):
    X, codes = rows
    job = job_of(codes, 0, 1, 2)
    svm, logistic, bayes = (
        fit_experts(model, X, [job])[0] for model in (LinearSVC(random_state=0), LogisticRegression(), MultinomialNB())
    )
    np.testing.assert_allclose(svm.log_scores(X), log_expit(STEEPNESS * svm.margins(X)))
    np.testing.assert_allclose(logistic.log_scores(X), log_softmax(logistic.margins(X), axis=1), rtol=1e-6)
    np.testing.assert_allclose(
        np.exp(logistic.log_scores(X)),
        LogisticRegression().fit(X[job.rows], job.labels).predict_proba(X),
        atol=1e-4,
    )
    np.testing.assert_allclose(np.exp(bayes.log_scores(X)).sum(axis=1), 1.0)
    assert bayes.coef is None


def test_one_class_needs_no_training(rows):
    X, codes = rows
    (expert,) = fit_experts(LinearSVC(), X, [job_of(codes, 3)])
    assert expert.terms.size == 0
    assert not expert.margins(X).any()
    assert not expert.log_scores(X).any()


def test_select_keeps_the_terms_that_gain_most(rows):
    X, codes = rows
    job = job_of(codes, 0, 2)
    (expert,) = fit_experts(LinearSVC(random_state=0), X, [job._replace(select=10)])
    presence = (X[job.rows] != 0).astype(int)
    gain = Contingency.from_counts(presence, job.labels).information_gain()
    assert expert.terms.size == 10
    assert gain[expert.terms].min() >= np.delete(gain, expert.terms).max()
    (share,) = fit_experts(LinearSVC(random_state=0), X, [job._replace(select=0.25)])
    assert share.terms.size == round(0.25 * used_columns(X[job.rows]).size)
    (chosen,) = fit_experts(LinearSVC(random_state=0), X, [job._replace(select=SelectKBest(chi2, k=7))])
    assert chosen.terms.size == 7


def test_a_job_may_bring_its_own_estimator(rows):
    X, codes = rows
    job = job_of(codes, 0, 1, 2)
    own, common = fit_experts(LinearSVC(random_state=0), X, [job._replace(estimator=MultinomialNB()), job])
    assert own.model is not None
    assert common.model is None


def test_a_model_without_scores_is_refused(rows):
    X, codes = rows

    class Mute(MultinomialNB):
        predict_proba = property()

    (expert,) = fit_experts(Mute(), X, [job_of(codes, 0, 1)])
    with pytest.raises(ValueError, match="decision_function or predict_proba"):
        expert.margins(X)


def test_threads_change_nothing_and_progress_is_reported(rows):
    X, codes = rows
    jobs, seen = [job_of(codes, a, b) for a in range(5) for b in range(a)], []
    with _progress.listening(lambda *report: seen.append(report)):
        alone = fit_experts(LogisticRegression(), X, jobs)
    together = fit_experts(LogisticRegression(), X, jobs, n_jobs=2)
    assert seen == [("experts", done, 10) for done in range(1, 11)]
    for a, b in zip(alone, together, strict=True):
        assert np.array_equal(a.coef, b.coef)


@pytest.mark.parametrize("classes", [(0, 4), (0, 1, 2, 3, 4)])
def test_packed_weights_score_as_their_model(rows, monkeypatch, classes):
    monkeypatch.setattr(svm, "MOST_DENSE", 10)
    X, codes = rows
    job = job_of(codes, *classes)
    (expert,) = fit_experts(LinearSVM(), X, [job])
    assert expert.coef.format == "csr"
    assert expert.n_numbers == expert.terms.size + expert.coef.nnz + expert.intercept.size
    terms = used_columns(X[job.rows])
    decision = LinearSVM().fit(columns_of(X[job.rows], terms), job.labels).decision_function(columns_of(X, terms))
    for rows in (X, X.toarray()):
        np.testing.assert_allclose(
            expert.margins(rows)[:, -1], decision if len(classes) == 2 else decision[:, -1], atol=1e-5
        )


def test_naive_bayes_is_kept_whole(rows):
    """Its scores are not only weights and intercepts."""
    X, codes = rows
    (expert,) = fit_experts(NaiveBayes(), X, [job_of(codes, 0, 1, 2)])
    assert expert.model is not None
    order = expert.model.decision_function(X).argsort(axis=1)
    np.testing.assert_array_equal(expert.log_scores(X).argsort(axis=1), order)


def test_columns_of_is_slicing(rows):
    X, _ = rows
    terms = np.array([0, 7, 8, 50, 89])
    assert np.array_equal(columns_of(X, terms).toarray(), X.toarray()[:, terms])
    assert np.array_equal(columns_of(X.toarray(), terms), X.toarray()[:, terms])
    assert columns_of(X, np.arange(90)) is X

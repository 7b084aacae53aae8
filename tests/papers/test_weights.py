"""Paper 3's experiment on small made posts: what it compares, that it is honest, that its leaks are what they say."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from papers.datasets import LabelledTexts
from papers.folds import stratified_parts
from papers.weights.posts import (
    HEADERS,
    LEAKS,
    PRINTED,
    SUPERVISED,
    answers,
    beside_printed,
    counted,
    folds,
    run_similarity,
    run_weights,
    shown,
    weight_sets,
    weighted,
    without_suffix,
)
from scipy.stats import binomtest
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin._progress import listening
from untwin.classify.knn.classifier import KNNClassifier
from untwin.represent.weights import SupervisedWeights

WORDS = {"rec.cat": "purr mouse sofa", "rec.lynx": "purr mouse forest", "sci.tram": "rail ticket stop"}
MOST = 7


def made_posts(n=20, groups=tuple(WORDS), seed=0):
    """Posts of five words, of their group or of any, and one word of noise; the subject is one more."""
    rng = np.random.default_rng(seed)
    labels = [group for group in groups for _ in range(n)]
    every = " ".join(WORDS.values()).split()
    texts = []
    for label in labels:
        subject, *body = rng.choice(WORDS[label].split() + every, 6)
        texts.append(
            f"From: {rng.choice(['ann', 'bob'])}\nSubject: {subject}\n\n{' '.join(body)} word{rng.integers(9)}"
        )
    return LabelledTexts("made", pl.Series(texts), pl.Series(labels))


@pytest.fixture(scope="module")
def posts():
    return made_posts()


@pytest.fixture(scope="module")
def results(posts):
    return run_weights([posts], headers=("subject", "newsgroups"), leaks=LEAKS, most_neighbours=MOST, n_jobs=1)


def five(posts):
    return list(stratified_parts(posts.labels.to_numpy(), 5))


def one(results, **setting):
    found = results.filter(**setting)
    assert len(found) == 1
    return found.row(0, named=True)


# The examples of Porter's article for steps 1a and 1b.
PORTER = """
    caresses caress  ponies poni  ties ti  caress caress  cats cat  feed feed  agreed agree  plastered plaster
    bled bled  motoring motor  sing sing  conflated conflate  troubled trouble  sized size  hopping hop  tanned tan
    falling fall  hissing hiss  fizzed fizz  failing fail  filing file
"""


def test_suffixes_come_off_as_in_porters_examples():
    words = PORTER.split()
    assert [without_suffix(word) for word in words[::2]] == words[1::2]


@pytest.mark.parametrize("word", ["happy", "relational", "yes2", "1993", "by"])
def test_other_endings_stay(word):
    assert without_suffix(word) == word


def test_words_of_one_stem_are_counted_together():
    counts = counted(pl.Series(["The cats and the cat", "mapping mapped maps"]))
    assert counts.toarray().tolist() == [[2, 0], [0, 3]]


def test_what_is_left_of_the_header():
    texts = LabelledTexts("one", pl.Series(["From: ann\nSubject: Purring\n\nMouse"]), pl.Series(["rec.cat"]))
    assert {header: shown(texts, header).item() for header in HEADERS} == {
        "subject": "Purring\nMouse",
        "whole": "From: ann\nSubject: Purring\n\nMouse",
        "newsgroups": "Newsgroups: rec.cat\nPurring\nMouse",
    }
    with pytest.raises(ValueError, match="header must be one of subject, whole, newsgroups"):
        shown(texts, "all")


def test_one_search_answers_for_every_number_of_neighbours(posts):
    X, y = counted(posts.texts), posts.labels.to_numpy()
    X_test = X[::3].copy()
    X_test.data[X_test.indptr[0] : X_test.indptr[1]] = 0  # a post that is similar to nothing
    found = list(answers(X[5:], y[5:], X_test, 30))
    assert len(found) == 30
    for k, predicted in enumerate(found, start=1):
        assert_array_equal(predicted, KNNClassifier(n_neighbors=k).fit(X[5:], y[5:]).predict(X_test))


@pytest.mark.parametrize(("scheme", "selection"), [("bin", "none"), ("tfidf", "chi2"), ("ig", "none"), ("chi2", "ig")])
def test_figures_are_those_of_an_ordinary_cross_validation(results, posts, scheme, selection):
    choice = {} if selection == "none" else {"select": 0.1, "select_by": selection}
    model = make_pipeline(SupervisedWeights(scheme=scheme, **choice), KNNClassifier(n_neighbors=7))
    X = counted(shown(posts, "subject"))
    scores = cross_val_score(model, X, posts.labels.to_numpy(), cv=five(posts), scoring="f1_micro")
    row = one(results, scheme=scheme, selection=selection, header="subject", leak="none", neighbours=7)
    assert (row["micro_f1"], row["spread"]) == pytest.approx((scores.mean(), scores.std(ddof=1)))


def test_the_svm_has_tf_idf_and_all_terms(results, posts):
    model = make_pipeline(SupervisedWeights(scheme="tfidf"), LinearSVC(random_state=0))
    scores = cross_val_score(model, counted(shown(posts, "newsgroups")), posts.labels.to_numpy(), cv=five(posts))
    row = one(results, classifier="svm", header="newsgroups")
    assert (row["scheme"], row["selection"], row["leak"], row["neighbours"]) == ("tfidf", "none", "none", 0)
    assert row["micro_f1"] == pytest.approx(scores.mean())


def test_every_setting_that_can_differ_is_run_once(results):
    settings = results.filter(header="subject", classifier="knn").group_by("leak").agg(pl.len())
    # 5 schemes by 3 selections; without the 3 unsupervised ones unselected; 2 supervised by 3 selections
    assert dict(settings.rows()) == {"none": 15 * MOST, "weights": 12 * MOST, "labels": 6 * MOST}
    assert results["header"].unique(maintain_order=True).to_list() == ["subject", "newsgroups"]
    assert results.columns == [
        "set", "header", "leak", "scheme", "selection", "classifier", "neighbours", "micro_f1", "spread",
    ]  # fmt: skip


def test_a_group_named_in_the_text_is_found_by_weights(results):
    # without selection: a tenth of so few terms is fewer terms than groups
    found = results.filter(pl.col("scheme").is_in(SUPERVISED), selection="none", leak="none", neighbours=5)
    scores = dict(found.group_by("header").agg(pl.col("micro_f1").implode()).rows())
    assert min(scores["newsgroups"]) > 0.95 > max(scores["subject"])


@pytest.mark.parametrize("selection", ["none", "chi2", "ig"])
@pytest.mark.parametrize("scheme", ["bin", "tfidf", "chi2", "ig"])
def test_honest_weights_do_not_see_the_labels_of_the_test_fold(posts, scheme, selection):
    fold = next(folds(posts, "subject"))
    changed = fold.labels.copy()
    changed[fold.test] = "rec.lynx"
    for rows, others in zip(
        weighted(fold, "none", scheme, selection),
        weighted(fold._replace(labels=changed), "none", scheme, selection),
        strict=True,
    ):
        assert_array_equal(rows.toarray(), others.toarray())


def test_leaks_see_what_they_say(posts):
    fold = next(folds(posts, "subject"))
    honest, by_weights, by_labels = (weighted(fold, leak, "ig", "none")[1] for leak in LEAKS)
    everywhere = SupervisedWeights(scheme="ig").fit(fold.counts, fold.labels)
    assert_array_equal(by_weights.toarray(), everywhere.transform(fold.counts[fold.test]).toarray())
    assert_array_equal(by_labels.toarray(), everywhere.labelled(fold.counts, fold.labels)[fold.test].toarray())
    assert not np.allclose(honest.toarray(), by_weights.toarray())


def test_with_two_classes_weights_do_not_depend_on_the_class():
    """So that what leaks into paper 3's third set leaks by the weights alone."""
    fold = next(folds(made_posts(groups=("rec.cat", "rec.lynx")), "subject"))
    for scheme in SUPERVISED:
        by_weights, by_labels = (weighted(fold, leak, scheme, "none") for leak in ("weights", "labels"))
        assert_allclose(by_weights[1].toarray(), by_labels[1].toarray(), atol=1e-12)


def test_shuffled_labels_give_chance():
    texts = made_posts(n=100)
    shuffled = LabelledTexts("made", texts.texts, texts.labels.shuffle(seed=1))
    found = run_weights([shuffled], most_neighbours=MOST, n_jobs=1)
    # 300 rows, three equal classes: four standard deviations of a binomial, since the worst of 106 settings is taken
    assert (found["micro_f1"] - 1 / 3).abs().max() < 4 * np.sqrt(2 / 9 / 300)


def test_unknown_leaks_are_refused(posts):
    with pytest.raises(ValueError, match="leaks must be among none, weights, labels"):
        run_weights([posts], leaks=["all"], n_jobs=1)


def test_similarities_are_means_of_cosines(posts):
    table = run_similarity([posts], headers=("whole",))
    X, y = counted(posts.texts), posts.labels.to_numpy()
    cosines = cosine_similarity(SupervisedWeights(scheme="chi2").fit_transform(X, y))
    blocks = {(a, b): cosines[np.ix_(y == a, y == b)] for a in WORDS for b in WORDS}
    row = one(table, scheme="chi2")
    assert row["intra_self"] == pytest.approx(np.mean([blocks[a, a].mean() for a in WORDS]))
    without_self = [blocks[a, a][~np.eye(20, dtype=bool)].mean() for a in WORDS]
    assert row["intra"] == pytest.approx(np.mean(without_self))
    assert row["inter"] == pytest.approx(np.mean([blocks[a, b].mean() for a in WORDS for b in WORDS if a != b]))
    assert row["AR"] == pytest.approx(row["intra"] / row["inter"])
    assert row["terms"] == X.shape[1]


def test_printed_figures_stand_beside_ours(results):
    renamed = pl.concat([results.with_columns(set=pl.lit(f"dataset{number}")) for number in (1, 2, 3)])
    table = beside_printed(renamed).filter(header="subject", leak="none")
    assert len(table) == len(PRINTED)
    unsaid = one(table, set="dataset3", neighbours=0, classifier="knn")
    ours = renamed.filter(set="dataset3", scheme="ig", selection="none", header="subject", leak="none")
    assert unsaid["micro_f1"] == ours["micro_f1"].max()
    said = one(table, set="dataset1", scheme="tfidf")
    wanted = {"set": "dataset1", "scheme": "tfidf", "selection": "none", "header": "subject", "leak": "none"}
    assert said["micro_f1"] == one(renamed, **wanted, neighbours=5)["micro_f1"]


def test_progress_is_reported(posts):
    seen = []
    with listening(lambda *told: seen.append(told)):
        run_weights([posts], most_neighbours=1, n_jobs=1)
    assert [told for told in seen if told[0] == "folds"] == [("folds", done, 5) for done in range(1, 6)]


def test_the_real_sets_are_the_papers(real_data):
    sets = weight_sets(real_data)
    sizes = {texts.name: dict(texts.labels.value_counts().rows()) for texts in sets}
    assert [(len(found), set(found.values())) for found in sizes.values()] == [(6, {100}), (4, {200}), (2, {200})]
    assert not any(texts.texts.is_duplicated().any() for texts in sets)
    honest = beside_printed(run_weights(sets[2:], most_neighbours=5, n_jobs=1)).filter(scheme="ig")
    for ours, printed in honest.select("micro_f1", "printed").rows():  # of 400 posts, each answered once
        assert binomtest(round(400 * ours), 400, printed, alternative="less").pvalue < 1e-9

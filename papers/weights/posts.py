"""Paper 3: do weights that know the labels make neighbours as good as printed? And a puzzle about what is printed.

Glossary
--------
header      what is left of a post's header: "subject" alone; "whole", as the public copy has it; or "newsgroups", the
            subject and a line that names the post's own group, which the public copy has lost
leak        what the labels of the test fold serve for: "none" is honest; "weights": also to compute the weights and to
            select terms; "labels": besides, test rows are weighted by their own class, as if it were known
selection   the measure by which the best tenth of all terms is chosen, or "none"
micro-F1    with one label and one answer a document it is accuracy

Only header "subject" or "whole" with leak "none" are results. The rest asks how the paper came by its 0.99.

What the paper leaves open, and our reading: the documents it drew (ours: at random, from the copy "by date", in which
hardly a post repeats another); "religion" beside politics (talk.religion.misc); stop words (scikit-learn's); idf
(smoothed); the penalty of the SVM (C = 1); Porter's first step (1a and 1b, not 1c, as it names -s, -ed and -ing only);
folds (random, stratified). Words are counted once for all folds, since counting sees no label; the tenth is one of all
these words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from papers.datasets import LabelledTexts, equally_many, read_texts, subject_and_body
from papers.folds import stratified_parts
from untwin._progress import report
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.knn.vote import likeliest, vote_shares, vote_weights
from untwin.data.counts import TextCounts
from untwin.represent.membership import membership
from untwin.represent.similarity import category_similarity
from untwin.represent.weights import SupervisedWeights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

SCHEMES = ("bin", "tf", "tfidf", "ig", "chi2")
SUPERVISED = ("ig", "chi2")
SELECTIONS = ("none", "chi2", "ig")
HEADERS = ("subject", "whole", "newsgroups")
LEAKS = ("none", "weights", "labels")
SELECTED_SHARE = 0.1
MOST_NEIGHBOURS = 30
N_FOLDS = 5

# Documents drawn from each group, and the groups.
GROUPS: dict[str, tuple[int, tuple[str, ...]]] = {
    "dataset1": (
        100,
        (
            "rec.sport.baseball",
            "comp.graphics",
            "rec.sport.hockey",
            "rec.motorcycles",
            "sci.space",
            "soc.religion.christian",
        ),
    ),
    "dataset2": (200, ("talk.politics.misc", "talk.politics.guns", "talk.politics.mideast", "talk.religion.misc")),
    "dataset3": (200, ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")),
}

# The figures that the paper prints; 0 neighbours where it does not say how many, or there are none.
PRINTED = pl.DataFrame(
    [
        ("dataset1", "tfidf", "none", "knn", 5, 0.928),
        ("dataset1", "ig", "none", "knn", 5, 0.993),
        ("dataset1", "chi2", "none", "knn", 5, 0.992),
        ("dataset2", "chi2", "chi2", "knn", 0, 0.98),
        ("dataset3", "tfidf", "none", "knn", 5, 0.835),
        ("dataset3", "ig", "none", "knn", 5, 0.99),
        ("dataset3", "ig", "none", "knn", 0, 0.9925),
        ("dataset3", "tfidf", "none", "svm", 0, 0.89),
    ],
    schema=["set", "scheme", "selection", "classifier", "neighbours", "printed"],
    orient="row",
)
PRINTED_SIMILARITY = pl.DataFrame(
    [("dataset1", "tfidf", 0.044, 0.007), ("dataset1", "ig", 0.81, 0.0018)],
    schema=["set", "scheme", "printed_intra", "printed_inter"],
    orient="row",
)
PRINTED_TERMS = {"dataset1": 16_184, "dataset2": 18_194, "dataset3": 8_496}

# Porter's first step. A y is a vowel after a consonant. What -ed or -ing leaves gets its e back where it ends like
# conflat(e), troubl(e), siz(e), or is as short as fil(e); otherwise a doubled consonant becomes one.
VOWEL = r"(?:[aeiou]|(?<=[^aeiou])y)"
PLURAL = re.compile(r"(?:(?<=ss)es|(?<=i)es|(?<=[^s])s)$")
AGREED = re.compile(rf"(.*{VOWEL}[^aeiou].*ee)d$")
PAST = re.compile(rf"(.*{VOWEL}.*)(?:(?<!e)ed|ing)$")
WANTS_E = re.compile(r"(?:.*(?:at|bl|iz)|[^aeiou]+[aeiouy][^aeiouwxy])$")
DOUBLE = re.compile(r"(.*([^aeioulsz]))\2$")


class Outcome(NamedTuple):
    """How one classifier did on one fold; `neighbours` is 0 for the SVM."""

    set: str
    header: str
    leak: str
    scheme: str
    selection: str
    classifier: str
    neighbours: int
    fold: int
    micro_f1: float


class Fold(NamedTuple):
    """One training part and one test fold of counted posts; and where it belongs."""

    set: str
    header: str
    number: int
    counts: csr_array
    labels: Array
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def weight_sets(data: Path, seed: int = 0) -> list[LabelledTexts]:
    """Return the paper's three sets of newsgroup posts, whole: six distant groups, four that discuss, PC and Mac."""
    posts = read_texts(data, "20newsgroups")
    sets = []
    for name, (number, groups) in GROUPS.items():
        drawn = equally_many(posts.filter(pl.col("label").is_in(groups)), seed, number)
        sets.append(LabelledTexts(name, drawn["text"], drawn["label"]))
    return sets


def run_weights(
    sets: Sequence[LabelledTexts],
    *,
    headers: Sequence[str] = ("subject",),
    leaks: Sequence[str] = ("none",),
    most_neighbours: int = MOST_NEIGHBOURS,
    n_jobs: int = 2,
) -> pl.DataFrame:
    """Return micro-F1 and its spread over five folds: all schemes, selections and numbers of neighbours, and the SVM.

    As in the paper, the SVM gets tf-idf without selection. Where a leak can change nothing, it has no rows: that of
    weights without labels, that of labels where rows are not weighted by their class.
    """
    work = [
        delayed(outcomes)(fold, leaks, most_neighbours)
        for texts in sets
        for header in headers
        for fold in folds(texts, header)
    ]
    rows: list[Outcome] = []
    for done, found in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(work), start=1):
        rows += found
        report("folds", done, len(work))
    table = pl.DataFrame(rows, schema=list(Outcome._fields), orient="row")
    setting = [name for name in Outcome._fields if name not in ("fold", "micro_f1")]
    score = pl.col("micro_f1")
    return table.group_by(setting, maintain_order=True).agg(score.mean(), spread=score.std())


def run_similarity(sets: Sequence[LabelledTexts], *, headers: Sequence[str] = ("subject",)) -> pl.DataFrame:
    """Return intra- and inter-category similarity and AR of each scheme, on all documents with their labels.

    The paper's copy has lost the formulas: `intra` leaves out the pairs of a document with itself, `intra_self`
    counts them. `terms` is the size of the vocabulary.
    """
    rows = []
    for texts in sets:
        for header in headers:
            counts, labels = counted(shown(texts, header)), texts.labels.to_numpy()
            for scheme in SCHEMES:
                Z = SupervisedWeights(scheme=scheme).fit_transform(counts, labels)
                found, with_self = (category_similarity(Z, labels, self_pairs=pairs) for pairs in (False, True))
                apart = (found.intra, with_self.intra, found.inter, found.ratio)
                rows.append((texts.name, header, scheme, counts.shape[1], *apart))
    return pl.DataFrame(
        rows, schema=["set", "header", "scheme", "terms", "intra", "intra_self", "inter", "AR"], orient="row"
    )


def beside_printed(results: pl.DataFrame) -> pl.DataFrame:
    """Return each printed figure beside ours; where the number of neighbours is not printed, our best on the test rows.

    That best is chosen in hindsight: it can only bring us nearer to the paper.
    """
    keys = ["set", "scheme", "selection", "classifier"]
    in_hindsight = results.sort("micro_f1", descending=True, maintain_order=True).unique(
        [*keys, "header", "leak"], keep="first", maintain_order=True
    )
    unsaid = in_hindsight.with_columns(neighbours=pl.lit(0, pl.Int64))
    ours = pl.concat([results.filter(pl.col("neighbours") > 0), unsaid])
    return PRINTED.join(ours, on=[*keys, "neighbours"], how="inner", maintain_order="left_right")


def folds(texts: LabelledTexts, header: str) -> Iterator[Fold]:
    """Yield the five folds of a set; they are the same for every header."""
    counts, labels = counted(shown(texts, header)), texts.labels.to_numpy()
    for number, (train, test) in enumerate(stratified_parts(labels, N_FOLDS)):
        yield Fold(texts.name, header, number, counts, labels, train, test)


def shown(texts: LabelledTexts, header: str) -> pl.Series:
    """Return the posts with this much of their header."""
    post = pl.col("post")
    ways = {
        "subject": subject_and_body(post),
        "whole": post,
        "newsgroups": pl.concat_str(pl.lit("Newsgroups: "), "group", pl.lit("\n"), subject_and_body(post)),
    }
    if header not in ways:
        raise ValueError(f"header must be one of {', '.join(HEADERS)}. Got {header!r} instead.")
    return pl.DataFrame({"post": texts.texts, "group": texts.labels}).select(text=ways[header])["text"]


def counted(texts: pl.Series) -> csr_array:
    """Count words without stop words, those with the same stem together."""
    words = TextCounts(stop_words="english", dtype=np.float64)
    counts = csr_array(words.fit_transform(texts))
    stems, column = np.unique([without_suffix(word) for word in words.terms_.to_list()], return_inverse=True)
    starts = np.arange(len(column) + 1, dtype=np.int32)  # with wider indices the SVM would refuse the rows
    merging = csr_array((np.ones(len(column)), column.astype(np.int32), starts), shape=(len(column), len(stems)))
    return counts @ merging


def without_suffix(word: str) -> str:
    """Take -s, -ed and -ing off a lower-case word, as Porter's steps 1a and 1b do.

    >>> [without_suffix(word) for word in ("ponies", "agreed", "sing", "hopping", "filing")]
    ['poni', 'agree', 'sing', 'hop', 'file']
    """
    word = AGREED.sub(r"\1", PLURAL.sub("", word))
    past = PAST.match(word)
    if past is None:
        return word
    stem = past[1]
    return stem + "e" if WANTS_E.match(stem) else DOUBLE.sub(r"\1", stem)


def outcomes(fold: Fold, leaks: Sequence[str], most_neighbours: int) -> list[Outcome]:
    """Return all scores of one fold."""
    rows = []
    y, truth = fold.labels[fold.train], fold.labels[fold.test]
    with threadpool_limits(1):  # the folds themselves run side by side
        for leak, scheme, selection in _settings(leaks):
            place = (fold.set, fold.header, leak, scheme, selection)
            Z, Z_test = weighted(fold, leak, scheme, selection)
            for number, predicted in enumerate(answers(Z, y, Z_test, most_neighbours), start=1):
                rows.append(Outcome(*place, "knn", number, fold.number, float((predicted == truth).mean())))
            if place[2:] == ("none", "tfidf", "none"):
                score = float(LinearSVC(random_state=0).fit(Z, y).score(Z_test, truth))
                rows.append(Outcome(*place, "svm", 0, fold.number, score))
    return rows


def _settings(leaks: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (leak, scheme, selection), without leaks that can change nothing."""
    if unknown := set(leaks).difference(LEAKS):
        raise ValueError(f"leaks must be among {', '.join(LEAKS)}. Got {unknown.pop()!r} instead.")
    for leak in leaks:
        for scheme in SCHEMES:
            for selection in SELECTIONS:
                by_class = scheme in SUPERVISED
                if leak == "none" or by_class or (leak == "weights" and selection != "none"):
                    yield leak, scheme, selection


def weighted(fold: Fold, leak: str, scheme: str, selection: str) -> tuple[csr_array, csr_array]:
    """Return the training rows, each weighted by its class, and the test rows, weighted as the leak says."""
    selected = selection != "none"
    weights = SupervisedWeights(
        scheme=scheme, select=SELECTED_SHARE if selected else None, select_by=selection if selected else "chi2"
    )
    X, y = fold.counts, fold.labels
    if leak == "none":
        return weights.fit_transform(X[fold.train], y[fold.train]), weights.transform(X[fold.test])
    labelled = weights.fit_transform(X, y)
    return labelled[fold.train], labelled[fold.test] if leak == "labels" else weights.transform(X[fold.test])


def answers(Z: csr_array, y: Array, Z_test: csr_array, most: int) -> Iterator[Array]:
    """Yield what 1, 2, 3, ... neighbours answer, from one search for the `most` of them."""
    model = KNNClassifier(n_jobs=1).fit(Z, y)
    similarities, rows = model.kneighbors(Z_test, most)
    votes = vote_weights(similarities, metric="cosine", weights="similarity")
    Y, classes = membership(y)
    for k in range(1, most + 1):
        yield classes[likeliest(vote_shares(votes[:, :k], rows[:, :k], Y, model.class_prior_))]

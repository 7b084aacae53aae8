"""What one would use instead of untwin, each as its documentation recommends; all take texts and labels."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from bench._rivals import CORES, HiClass, Omikuji, model_bytes
from untwin import UntwinClassifier
from untwin.classify.centroids import CentroidClassifier
from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

NEIGHBOURS = 10
MANY_CLASSES, MANY_TEXTS = 300, 30_000


@dataclass(frozen=True)
class Peer:
    """A rival by name: how to make it for a seed, and its settings in words."""

    make: Callable[[int], Any]
    settings: str
    vectors: bool = False  # whether it takes rows of numbers too


def words() -> TfidfVectorizer:
    """Return the encoding of the peers that have none of their own."""
    return TfidfVectorizer(sublinear_tf=True)


def nearest() -> KNeighborsClassifier:
    """Return scikit-learn's cosine neighbours."""
    return KNeighborsClassifier(NEIGHBOURS, metric="cosine", weights="distance")


class TunedSVC(ClassifierMixin, BaseEstimator):
    """The linear SVM of a careful user: words and pairs of words, C by five folds.

    Where classes or texts are so many that one training takes minutes, words alone and C = 1.
    """

    def fit(self, texts: Sequence[str], y: Array) -> Self:
        """Choose and train."""
        many = len(np.unique(y)) > MANY_CLASSES or len(y) > MANY_TEXTS
        svm = LinearSVC(random_state=0)
        front = words() if many else TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
        self.model_ = make_pipeline(front, svm if many else GridSearchCV(svm, {"C": [0.1, 1.0, 10.0]}))
        self.model_.fit(texts, y)
        return self

    def predict(self, texts: Sequence[str]) -> Array:
        """Return the class of each text."""
        return np.asarray(self.model_.predict(texts))


class OnWords(ClassifierMixin, BaseEstimator):
    """A rival that takes a tf-idf matrix; `make` gets the training rows, for what must be prepared from them."""

    def __init__(self, make: Callable[[Any, Array], Any]) -> None:
        self.make = make

    def fit(self, texts: Sequence[str], y: Array) -> Self:
        """Weight the words and train."""
        self.words_ = words()
        X = self.words_.fit_transform(texts)
        self.model_ = self.make(X, y).fit(X, y)
        return self

    def predict(self, texts: Sequence[str]) -> Array:
        """Return the class of each text."""
        return np.asarray(self.model_.predict(self.words_.transform(texts)))

    def n_bytes(self) -> int:
        """Return the size of words and model."""
        return model_bytes(self.words_) + model_bytes(self.model_)


def with_our_tree(X: Any, y: Array) -> HiClass:
    """Return HiClass on the tree that untwin grows from the centroids of the training rows."""
    base = CentroidClassifier().fit(X, y)
    return HiClass(Hierarchy.from_centroids(base.centroids_, base.classes_))


class FastText:
    """fastText's supervised mode; its `predict` fails on NumPy 2, its inner one does not."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, texts: Sequence[str], y: Array) -> Self:
        """Write the file that it reads, and train."""
        fasttext = import_module("fasttext")
        self.classes_, codes = np.unique(y, return_inverse=True)
        order = np.random.default_rng(self.seed).permutation(len(codes))  # it learns in the order of the file
        lines = (f"__label__{codes[row]} {spaced(texts[row])}" for row in order)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.txt"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            self.model = fasttext.train_supervised(
                str(path), lr=0.5, epoch=25, wordNgrams=2, thread=CORES, seed=self.seed, verbose=0
            )
        return self

    def predict(self, texts: Sequence[str]) -> Array:
        """Return the best class."""
        found = [self.model.f.predict(f"{spaced(text)}\n", 1, 0.0, "strict") for text in texts]
        codes = [int(best[0][1].removeprefix("__label__")) if best else 0 for best in found]
        return np.asarray(self.classes_[codes])

    def n_bytes(self) -> int:
        """Return the size of the saved model."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.bin"
            self.model.save_model(str(path))
            return path.stat().st_size


def spaced(text: str) -> str:
    """Return a text as fastText's tutorial prepares it: lower case, punctuation apart, on one line."""
    return " ".join(re.sub(r"([.!?,'/()])", r" \1 ", text.lower()).split())


class GensimLSI:
    """gensim's LSI of tf-idf, and a vote of the most similar documents."""

    def __init__(self, seed: int, n_topics: int = 200) -> None:
        self.seed = seed
        self.n_topics = n_topics

    def fit(self, texts: Sequence[str], y: Array) -> Self:
        """Build dictionary, weights, topics and index."""
        corpora, models, similarities = (
            import_module(f"gensim.{name}") for name in ("corpora", "models", "similarities")
        )
        tokens = [tokenised(text) for text in texts]
        self.dictionary = corpora.Dictionary(tokens)
        corpus = [self.dictionary.doc2bow(document) for document in tokens]
        self.weights = models.TfidfModel(corpus)
        self.topics = models.LsiModel(
            self.weights[corpus], num_topics=self.n_topics, id2word=self.dictionary, random_seed=self.seed
        )
        self.index = similarities.MatrixSimilarity(self.topics[self.weights[corpus]], num_features=self.n_topics)
        self.classes_, self.codes = np.unique(y, return_inverse=True)
        return self

    def predict(self, texts: Sequence[str]) -> Array:
        """Let the nearest documents vote by their similarity."""
        answers = []
        for text in texts:
            asked = self.topics[self.weights[self.dictionary.doc2bow(tokenised(text))]]
            similarities = np.asarray(self.index[asked])
            best = np.argsort(-similarities)[:NEIGHBOURS]
            votes = np.bincount(self.codes[best], weights=similarities[best].clip(0), minlength=len(self.classes_))
            answers.append(int(votes.argmax()))
        return np.asarray(self.classes_[answers])


def tokenised(text: str) -> list[str]:
    """Return the words of a text as scikit-learn finds them."""
    return re.findall(r"\b\w\w+\b", text.lower())


def untwin(preset: str) -> Callable[[int], Any]:
    """Return a maker of the product."""
    return lambda seed: UntwinClassifier(preset=preset, n_jobs=1, random_state=seed)


def on_words(model: Callable[[int], Any]) -> Callable[[int], Any]:
    """Return a maker of a pipeline."""
    return lambda seed: make_pipeline(words(), model(seed))


TFIDF = "TfidfVectorizer(sublinear_tf=True)"
PEERS: dict[str, Peer] = {
    "untwin, fast": Peer(untwin("fast"), 'UntwinClassifier(preset="fast")', vectors=True),
    "untwin, balanced": Peer(untwin("balanced"), "UntwinClassifier()", vectors=True),
    "untwin, best": Peer(untwin("best"), 'UntwinClassifier(preset="best")', vectors=True),
    "naive Bayes": Peer(on_words(lambda _: MultinomialNB()), f"{TFIDF}, MultinomialNB()"),
    "complement naive Bayes": Peer(on_words(lambda _: ComplementNB()), f"{TFIDF}, ComplementNB()"),
    "LinearSVC": Peer(on_words(lambda seed: LinearSVC(random_state=seed)), f"{TFIDF}, LinearSVC()", vectors=True),
    "LinearSVC, pairs": Peer(
        lambda seed: make_pipeline(
            TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC(random_state=seed)
        ),
        "TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC()",
    ),
    "LinearSVC, tuned": Peer(
        lambda _: TunedSVC(),
        "the same with pairs of words, min_df=2 and C of 0.1, 1, 10 by five folds, to 300 classes or 30,000 texts",
    ),
    "logistic regression": Peer(
        on_words(lambda _: LogisticRegression(C=10, max_iter=300)),
        f"{TFIDF}, LogisticRegression(C=10, max_iter=300)",
        vectors=True,
    ),
    "kNN": Peer(
        on_words(lambda _: nearest()),
        f'{TFIDF}, KNeighborsClassifier(10, metric="cosine", weights="distance")',
        vectors=True,
    ),
    "LSI + kNN": Peer(
        lambda seed: make_pipeline(words(), TruncatedSVD(100, random_state=seed), Normalizer(), nearest()),
        f"{TFIDF}, TruncatedSVD(100), Normalizer(), kNN as above",
    ),
    "HiClass": Peer(
        lambda _: OnWords(with_our_tree), f"{TFIDF}, LocalClassifierPerParentNode(LinearSVC()) on untwin's tree"
    ),
    "omikuji": Peer(
        lambda _: OnWords(lambda X, y: Omikuji()), f"{TFIDF}, default hyper-parameters (Parabel, three trees)"
    ),
    "gensim LSI + kNN": Peer(GensimLSI, "TfidfModel, LsiModel(num_topics=200), MatrixSimilarity, 10 neighbours"),
    "fastText": Peer(FastText, "lines shuffled, train_supervised(lr=0.5, epoch=25, wordNgrams=2)"),
}
ON_VECTORS: dict[str, Callable[[int], Any]] = {
    "LinearSVC": lambda seed: LinearSVC(random_state=seed),
    "logistic regression": lambda _: LogisticRegression(C=10, max_iter=300),
    "kNN": lambda _: nearest(),
}


def made(name: str, seed: int, *, vectors: bool) -> Any:
    """Return an untrained rival for texts or for rows of numbers."""
    return ON_VECTORS[name](seed) if vectors and name in ON_VECTORS else PEERS[name].make(seed)

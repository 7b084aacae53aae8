"""Paper 2's collections as counts of stems, divided into training and test documents.

What stands in: 20 Newsgroups "by date" has 18,846 posts, the paper's copy about 20,000, with repeats. A directory of
today's web takes the place of the crawl of the ODP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from papers.datasets import read_texts
from untwin.data.counts import TextCounts
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

N_TERMS = 3_000
FEWEST_TRAINING = 11  # documents of a Reuters topic: "more than 10"


class Collection(NamedTuple):
    """Counts of stems and classes of training and test documents; `parents` is the known tree."""

    name: str
    X: csr_array
    y: Array
    X_test: csr_array
    y_test: Array
    parents: dict[str, str] | None = None


def newsgroups(data: Path, *, by_date: bool, most: int | None = None, seed: int = 0) -> Collection:
    """Return 20 Newsgroups, by date or 70 to 30 at random; of the header subject and organisation are kept."""
    posts = read_texts(data, "20newsgroups").with_columns(text=kept_header(pl.col("text")))
    posts = sampled(posts, most)
    labels = posts["label"].to_numpy()
    if by_date:
        train, test = ((posts["split"] == part).arg_true().to_numpy() for part in ("train", "test"))
    else:
        train, test = train_test_split(np.arange(len(labels)), test_size=0.3, random_state=seed, stratify=labels)
    name = "20 Newsgroups, by date" if by_date else "20 Newsgroups"
    parents = {label: label.partition(".")[0] for label in set(labels.tolist())}
    return _counted(name, posts["text"], labels, train, test)._replace(parents=parents)


def kept_header(post: pl.Expr) -> pl.Expr:
    """Return a post with subject and organisation as all of its header."""
    fields = [post.str.extract(rf"(?im)^{field}:\s*(.*)$").fill_null("") for field in ("Subject", "Organization")]
    return pl.concat_str(*fields, post.str.extract(r"(?s)\n\s*\n(.*)").fill_null(""), separator="\n")


def reuters(data: Path, most: int | None = None) -> Collection:
    """Return Reuters (ModApte): topics with more than ten training documents, test documents of one topic.

    A training document of several such topics is there once for each: the paper's 8,819 training documents, more
    than the 7,775 that have a topic, can hardly be anything else.
    """
    news = read_texts(data, "reuters21578").with_columns(n_topics=pl.col("labels").list.len())
    by_topic = news.drop("label").explode("labels", empty_as_null=True, keep_nulls=True).rename({"labels": "label"})
    training = by_topic.filter(split="train")
    sizes = training["label"].value_counts()
    kept = sizes.filter(pl.col("count") >= FEWEST_TRAINING)["label"]
    training = sampled(training.filter(pl.col("label").is_in(kept.implode())), most)
    known = training["label"].unique()
    test = by_topic.filter(pl.col("label").is_in(known.implode()), split="test", n_topics=1)
    both = pl.concat([training, test])
    rows = np.arange(len(both))
    return _counted("Reuters", both["text"], both["label"].to_numpy(), rows[: len(training)], rows[len(training) :])


def web_directory(data: Path, *, competing: bool = False, most: int | None = None) -> Collection:
    """Return the web directory, 80 to 20 at random.

    With `competing`, the topic areas (parents) are classes beside the lists (children) as in the paper's flat set: a
    fifth of each list's entries, drawn at random, is labelled with its area only.
    """
    entries = sampled(read_texts(data, "webdirectory"), most)
    parents = dict(entries.select("label", "level1").unique().rows())
    if competing:
        drawn = pl.Series(np.random.default_rng(0).random(len(entries)) < 0.2)
        area = pl.format("{}/", "level1")
        entries = entries.with_columns(label=pl.when(drawn).then(area).otherwise("label"))
        parents |= {f"{name}/": name for name in set(parents.values())}
    labels = entries["label"].to_numpy()
    train, test = train_test_split(np.arange(len(labels)), test_size=0.2, random_state=0)
    name = "web directory, parents compete" if competing else "web directory"
    return _counted(name, entries["text"], labels, train, test)._replace(parents=parents)


def sampled(frame: pl.DataFrame, most: int | None) -> pl.DataFrame:
    """Draw at most so many rows."""
    return frame if most is None or len(frame) <= most else frame.sample(most, seed=0)


def _counted(name: str, texts: pl.Series, labels: Array, train: Array, test: Array) -> Collection:
    """Count stems; words are those of the training documents."""
    counter = TextCounts(stop_words="english", stemmer="english", min_df=2, dtype=np.float64)
    X = csr_array(counter.fit_transform(texts[train]))
    X_test = csr_array(counter.transform(texts[test]))
    known = np.isin(labels[test], np.unique(labels[train]))  # unique: NumPy is slow to search among objects
    return Collection(name, X, labels[train], X_test[np.flatnonzero(known)], labels[test][known])


def gain(X: Any, y: Any) -> NDArray[np.float64]:
    """Return the mutual information between the presence of each term and the class."""
    return Contingency.from_counts(X, y).information_gain()


def flat_bayes() -> Any:
    """Return the paper's flat classifier: naive Bayes on the 3,000 terms that say most about the classes."""
    selector: Any = FewOrBest  # scikit-learn gives no types
    return make_pipeline(selector(gain, k=N_TERMS), MultinomialNB())


class FewOrBest(SelectKBest):
    """The k best terms, or all where there are fewer (which scikit-learn would warn about)."""

    def _check_params(self, X: Any, y: Any) -> None:
        self.k = min(self.k, X.shape[1])

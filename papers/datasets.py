"""The papers' data sets, rebuilt from the nearest public data in a folder given with `--data`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from untwin._errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS_A_CLASS = 500
ORTHOGONAL = ("acq", "crude", "earn")


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """Texts with one label each; `order` names the classes in order where they have one, `parents` their known tree."""

    name: str
    texts: pl.Series
    labels: pl.Series
    order: tuple[str, ...] = ()
    parents: dict[str, str] | None = None


def sprinkling_sets(data: Path, seed: int = 0) -> list[LabelledTexts]:
    """Return paper 1's three kinds of classes: hierarchical, ordinal and orthogonal, equally many documents a class.

    The hierarchical set has the paper's own nine newsgroups. Its ratings of actors are not public: Pang and Lee's four
    grades of films stand in. The orthogonal set has its three Reuters topics, documents of one topic only; crude has
    fewer than 500, so all three have as many as crude.
    """
    return [_hierarchical(data, seed), _ordinal(data, seed), _orthogonal(data, seed)]


def _hierarchical(data: Path, seed: int) -> LabelledTexts:
    posts = read_texts(data, "20newsgroups").filter(pl.col("label").str.contains(r"^(?:comp|rec)\."))
    drawn = equally_many(posts.with_columns(text=subject_and_body(pl.col("text"))), seed)
    parents = {label: label.partition(".")[0] for label in drawn["label"].unique().to_list()}
    return LabelledTexts("hierarchical", drawn["text"], drawn["label"], parents=parents)


def _ordinal(data: Path, seed: int) -> LabelledTexts:
    drawn = equally_many(read_texts(data, "reviews_ordinal"), seed)
    return LabelledTexts("ordinal", drawn["text"], drawn["label"], order=tuple(sorted(set(drawn["label"]))))


def _orthogonal(data: Path, seed: int) -> LabelledTexts:
    news = read_texts(data, "reuters21578").filter(pl.col("label").is_in(ORTHOGONAL), pl.col("labels").list.len() == 1)
    drawn = equally_many(news, seed)
    return LabelledTexts("orthogonal", drawn["text"], drawn["label"])


def read_texts(data: Path, name: str) -> pl.DataFrame:
    """Read one of the text sets."""
    path = data / "text" / f"{name}.parquet"
    if not path.is_file():
        raise InputError(
            f"{path} is not there.", code="missing-data", hint="Give --data the folder that holds text/ and tabular/."
        )
    return pl.read_parquet(path)


def subject_and_body(post: pl.Expr) -> pl.Expr:
    """Return a newsgroup post without its header but for the subject."""
    subject = post.str.extract(r"(?im)^Subject:\s*(.*)$").fill_null("")
    body = post.str.extract(r"(?s)\n\s*\n(.*)").fill_null("")
    return pl.concat_str(subject, body, separator="\n")


def equally_many(frame: pl.DataFrame, seed: int, most: int = DOCUMENTS_A_CLASS) -> pl.DataFrame:
    """Draw the same number of documents from each class: `most`, or as many as the smallest class has."""
    number = min(most, int(frame["label"].value_counts()["count"].min()))  # type: ignore[arg-type]
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    return shuffled.filter(pl.int_range(pl.len()).over("label") < number)

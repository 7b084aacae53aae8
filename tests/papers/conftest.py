"""Small made collections in the shape of the real ones."""

import numpy as np
import polars as pl
import pytest

# Three groups of posts; the first two share words.
WORDS = {
    "rec.cat": "purr mouse sofa whiskers",
    "rec.lynx": "purr mouse forest snow",
    "sci.tram": "rail ticket stop driver",
    "sci.bus": "ticket stop driver petrol",
}


def made_posts(n=40, seed=0, words=WORDS):
    """Posts with a header; half of the words are of the group, half of any."""
    rng = np.random.default_rng(seed)
    every = " ".join(words.values()).split()
    rows = []
    for number in range(n):
        for label, own in words.items():
            text = " ".join(rng.choice(own.split() * 2 + every, 8))
            post = (
                f"From: someone\nSubject: {rng.choice(own.split())}\nOrganization: club\n\n{text} w{rng.integers(30)}"
            )
            rows.append({"text": post, "label": label, "split": "train" if number % 3 else "test"})
    return pl.DataFrame(rows)


@pytest.fixture
def made_data(tmp_path):
    """A folder with newsgroups, Reuters and a web directory, all made."""
    (tmp_path / "text").mkdir()
    posts = made_posts()
    posts.write_parquet(tmp_path / "text" / "20newsgroups.parquet")
    several = pl.concat_list("label", pl.lit("rec.cat")).list.unique(maintain_order=True)
    topics = pl.when(pl.int_range(pl.len()) % 5 == 0).then(several).otherwise(pl.concat_list("label"))
    posts.with_columns(labels=topics).write_parquet(tmp_path / "text" / "reuters21578.parquet")
    area = pl.col("label").str.split(".").list.first()
    posts.with_columns(level1=area, split=pl.lit("train")).write_parquet(tmp_path / "text" / "webdirectory.parquet")
    return tmp_path

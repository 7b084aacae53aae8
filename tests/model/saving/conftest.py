"""Models to save: one of each kind of rows, and equality of two models to the last bit."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from untwin.model import UntwinClassifier

N_CLASSES, N_ROWS = 4, 48


def made_texts(n=N_ROWS, seed=0):
    """Return short texts, each with words of its class and words of all."""
    rng = np.random.default_rng(seed)
    return [
        " ".join([*rng.choice(["one", "two", "three"], 3), *rng.choice(words(row % N_CLASSES), 3)]) for row in range(n)
    ]


def words(number):
    return [f"{name}{number}" for name in ("apfel", "bär", "猫", "dog")]


def made_labels(n=N_ROWS):
    return np.array(["ape", "Bär", "猫", "dog"])[np.arange(n) % N_CLASSES]


def made_frame(n=N_ROWS):
    rng = np.random.default_rng(1)
    number = np.arange(n) % N_CLASSES
    return pl.DataFrame(
        {
            "text": made_texts(n),
            "price": [None if row == 5 else float(value) for row, value in enumerate(number + rng.normal(size=n) / 9)],
            "colour": [None if row == 7 else f"colour {code // 2}" for row, code in enumerate(number)],
        }
    )


def made_numbers(n=N_ROWS):
    """Return numbers whose differences tell the classes: weights do what no interval does."""
    rng = np.random.default_rng(3)
    cells = 4 * np.eye(N_CLASSES)[np.arange(n) % N_CLASSES] + 20 * rng.normal(size=(n, 1)) + rng.normal(size=(n, 4)) / 9
    cells[5, 0] = np.nan
    return pl.DataFrame(cells, schema=["north", "east", "south", "west"])


def made_matrix(n=N_ROWS, seed=2):
    rng = np.random.default_rng(seed)
    return np.abs(rng.normal(size=(n, 9)) + 4 * np.eye(9)[np.arange(n) % N_CLASSES])


ROWS = {
    "texts": made_texts,
    "frame": made_frame,
    "numbers": made_numbers,
    "csr": lambda n=N_ROWS: csr_array(made_matrix(n).round()),
    "dense": lambda n=N_ROWS: made_matrix(n) - 1.0,
}


@pytest.fixture(scope="session")
def rows_of_kind():
    """Return rows of a kind ("texts", "frame", "numbers", "csr", "dense"), as many as asked for."""
    return lambda kind, n=N_ROWS: ROWS[kind](n)


@pytest.fixture(scope="session")
def labels():
    return made_labels()


@pytest.fixture(scope="session")
def small_model():
    """A model that answers by all four parts: two models, neighbours, terms."""
    return UntwinClassifier(preset="fast", target_error=0.1).fit(made_texts(), made_labels())


@pytest.fixture(scope="session")
def same_answers():
    """Tell whether two models say the same, in every bit, of some rows."""

    def same(a, b, rows):
        assert a.classes_.dtype == b.classes_.dtype
        np.testing.assert_array_equal(a.classes_, b.classes_)
        np.testing.assert_array_equal(a.predict_proba(rows), b.predict_proba(rows))
        np.testing.assert_array_equal(a.predict(rows), b.predict(rows))
        assert a.predict(rows).dtype == b.predict(rows).dtype
        for ours, theirs in zip(a.predict_group(rows), b.predict_group(rows), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert repr(a.explain(rows)) == repr(b.explain(rows))
        assert a.threshold_ == b.threshold_

    return same

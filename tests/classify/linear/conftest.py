"""Made-up sparse rows of unit length, as tf-idf gives them, in classes that overlap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize


def made_up_rows(n_rows, n_classes, *, n_terms=600, n_words=12, seed=0):
    """Return float32 CSR rows and codes: a third of a row's words are its class's own, the others are anybody's."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    own = np.random.default_rng(1).integers(0, n_terms, (n_classes, 8))
    of_class = own[y[:, np.newaxis], rng.integers(0, 8, (n_rows, n_words // 3))]
    words = np.hstack([of_class, rng.zipf(1.3, (n_rows, n_words - n_words // 3)) % n_terms])
    row = np.repeat(np.arange(n_rows), n_words)
    X = csr_array((np.ones(words.size, np.float32), (row, words.ravel())), shape=(n_rows, n_terms))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # all that liblinear takes
    return normalize(X), y


@pytest.fixture
def made_up():
    """`made_up_rows`, which only this folder's tests import."""
    return made_up_rows

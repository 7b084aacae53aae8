"""What the tests of the multi-level classifier share: documents with groups of classes, and a literal descent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer


@pytest.fixture(scope="session")
def documents():
    return made_documents


@pytest.fixture(scope="session")
def descended_plainly():
    return plain_descent


@pytest.fixture(scope="session")
def scored_plainly():
    return plain_scores


def made_documents(n_rows=1500, n_classes=30, n_blocks=6, n_terms=400, seed=0):
    """Counts of words: each class has words of its own and shares others with the classes of its block."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.1, size=(n_classes, n_terms))
    blocks = rng.gamma(0.1, size=(n_blocks, n_terms))
    rates = 0.3 * rates / rates.sum(axis=1, keepdims=True)
    rates += 0.7 * (blocks / blocks.sum(axis=1, keepdims=True))[np.arange(n_classes) % n_blocks]
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    counts = rng.poisson(25 * rates[codes])
    return csr_array(TfidfTransformer().fit_transform(counts)), np.array([f"c{code:02}" for code in codes])


def plain_scores(model, X):
    """Return the mean over the trees with groups, and twice what the flat one says."""
    *grouped, flat = (plain_descent(tree, X) for tree in model.trees_)
    return np.mean(grouped, axis=0) + 2 * flat


def plain_descent(tree, X):
    """Add up log-scores from the root to each class, one class at a time."""
    said = [expert.log_scores(X) for expert in tree.experts]
    columns = []
    for code in range(len(tree.branches[0].classes)):
        number, total = 0, np.zeros(X.shape[0])
        while number >= 0:
            branch = tree.branches[number]
            child = branch.child[np.searchsorted(branch.classes, code)]
            total += said[number][:, child]
            number = branch.below[child]
        columns.append(total)
    return np.column_stack(columns)

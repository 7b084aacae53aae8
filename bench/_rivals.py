"""Classifiers for many classes that untwin is measured against, all with `fit(X, y)` and `predict(X)`."""

from __future__ import annotations

import pickle
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import LinearSVC

from untwin import UntwinClassifier
from untwin.classify.experts import Expert, Job, fit_experts
from untwin.classify.multilevel.groups import cut_branches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin.structure.hierarchy import Hierarchy

    Array = NDArray[Any]

CORES = 2


class Omikuji:
    """omikuji's label trees; `seconds` and `cpu_seconds` are its training without the writing of the file it reads."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.seconds = self.cpu_seconds = 0.0

    def fit(self, X: Any, y: Array) -> Self:
        """Train on all cores."""
        import omikuji

        self.classes_, codes = np.unique(y, return_inverse=True)
        members = csr_array((np.ones(len(codes), dtype=np.int8), codes, np.arange(len(codes) + 1)))
        parameters: Any = omikuji.Model.default_hyper_param()  # type: ignore[no-untyped-call]
        for name, value in self.settings.items():
            setattr(parameters, name, value)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.txt"
            with path.open("wb") as file:
                file.write(f"{X.shape[0]} {X.shape[1]} {len(self.classes_)}\n".encode())
                dump_svmlight_file(X, members, file, multilabel=True)
            start, cpu = time.perf_counter(), time.process_time()
            self.model = omikuji.Model.train_on_data(str(path), parameters, CORES)
            self.seconds = time.perf_counter() - start
            self.cpu_seconds = time.process_time() - cpu
        return self

    def predict(self, X: Any) -> Array:
        """Return the best class; omikuji takes one row at a time."""
        best = []
        for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            pairs = list(zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist(), strict=True))
            found = self.model.predict(pairs, top_k=1) if pairs else []
            best.append(found[0][0] if found else 0)
        return np.asarray(self.classes_[best])

    def n_bytes(self) -> int:
        """Return the size of the saved model."""
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(folder)
            return sum(path.stat().st_size for path in Path(folder).iterdir())


class HiClass:
    """HiClass's classifier for each parent node, given the groups of a tree."""

    def __init__(self, tree: Hierarchy) -> None:
        self.tree = tree

    def fit(self, X: Any, y: Array) -> Self:
        """Train on paths (group, class)."""
        from hiclass import LocalClassifierPerParentNode

        classes = np.unique(y)
        root = cut_branches(self.tree, classes, "balanced")[0]
        group = root.child[np.searchsorted(classes, y)]
        paths = np.column_stack([np.char.add("group ", group.astype(str)), y.astype(str)])
        svm = LinearSVC(dual=True, random_state=0)
        self.model: Any = LocalClassifierPerParentNode(local_classifier=svm, n_jobs=1)  # two processes: slower
        self.model.fit(X, paths)  # type: ignore[no-untyped-call]
        return self

    def predict(self, X: Any) -> Array:
        """Return the last node of each path."""
        return np.asarray(self.model.predict(X)[:, -1])


class DAGSVM:
    """One SVM for each pair of classes; a row walks through them, and each one strikes out a class."""

    def fit(self, X: Any, y: Array) -> Self:
        """Train all pairs."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.pairs = list(combinations(range(len(self.classes_)), 2))
        jobs = []
        for pair in self.pairs:
            rows = np.flatnonzero(np.isin(codes, pair))
            jobs.append(Job(rows, codes[rows]))
        self.experts: list[Expert] = fit_experts(LinearSVC(dual=True, random_state=0), X, jobs, n_jobs=CORES)
        return self

    def predict(self, X: Any) -> Array:
        """Ask about the first against the last class left until one is left."""
        n, n_classes = X.shape[0], len(self.classes_)
        last_wins = np.zeros((n, n_classes, n_classes), dtype=bool)
        for (first, last), expert in zip(self.pairs, self.experts, strict=True):
            last_wins[:, first, last] = expert.margins(X)[:, 1] > 0
        low, high, rows = np.zeros(n, dtype=np.intp), np.full(n, n_classes - 1), np.arange(n)
        for _ in range(n_classes - 1):
            struck = last_wins[rows, low, high]
            low, high = low + struck, high - ~struck
        return np.asarray(self.classes_[low])


def model_bytes(model: Any) -> int:
    """Return the size of a model as it would be stored."""
    if hasattr(model, "n_bytes"):
        return int(model.n_bytes())
    if isinstance(model, UntwinClassifier):
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder)
            return sum(path.stat().st_size for path in Path(folder).iterdir())
    return len(pickle.dumps(model))

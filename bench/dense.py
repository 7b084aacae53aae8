"""`LinearSVM` on sentence vectors against scikit-learn's `LinearSVC`: processor seconds of fitting, and accuracy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sklearn.svm import LinearSVC

from bench._measure import parser, show
from bench._sets import documents, parts, vectors
from untwin.classify.linear import LinearSVM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SETS = ("banking77", "clinc150")
STRENGTHS = (1.0, 10.0)


def compared(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one line for each set and C; both solve to a tolerance of 1e-4, in one run."""
    for name in SETS:
        table = documents(folder, name)
        X, y = vectors(folder, name, table), table["label"].to_numpy()
        train, test = next(iter(parts(table)))
        for C in STRENGTHS:
            figures = {}
            for rival, model in (("untwin", LinearSVM(C=C)), ("LinearSVC", LinearSVC(C=C, random_state=0))):
                start = time.process_time()
                model.fit(X[train], y[train])
                figures[f"{rival} s"] = time.process_time() - start
                figures[f"{rival} accuracy"] = model.score(X[test], y[test])
            times = figures["LinearSVC s"] / figures["untwin s"]
            yield {"set": name, "C": C, **figures, "times as fast": times}


if __name__ == "__main__":
    given = parser(__doc__).parse_args()
    show(list(compared(given.data)), as_json=given.json)

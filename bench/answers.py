"""Answering: one row at a time, and 10,000 at once, beside scikit-learn and, for texts, fastText.

Rows are texts, or sentence vectors. Milliseconds of one row are wall clock in a loaded model, median and 99th
percentile; 10,000 rows (test rows, repeated) are processor seconds. Accuracy, and the megabytes of a folder that only
answers, are told for each precision. `equal` says that rows asked about one by one got the bits that they got together;
`first answer` is wall clock of a new process that imports, loads such a folder and answers one row.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bench._measure import parser, show
from bench._peers import FastText
from bench._runs import TEXT_SETS, VECTOR_SETS, _split
from untwin import AnswerModel, UntwinClassifier
from untwin._errors import InputError
from untwin.model.answering import PRECISIONS

if TYPE_CHECKING:
    from collections.abc import Callable

ONE_BY_ONE = 1000  # rows that are asked about one by one
MANY = 10_000
CORES = 2
SETS = (*TEXT_SETS, *VECTOR_SETS)


def timed(predict: Callable[[Any], Any], asked: Any) -> dict[str, float]:
    """Return milliseconds of one row, and processor seconds of many."""
    many = repeated(asked, MANY)
    predict(many[:200])  # whatever is made at the first use
    start = time.process_time()
    predict(many)
    seconds = time.process_time() - start
    alone = []
    for row in range(min(len(asked), ONE_BY_ONE)):
        one = asked[row : row + 1]
        begin = time.perf_counter()
        predict(one)
        alone.append(1000 * (time.perf_counter() - begin))
    return {"p50 ms": float(np.median(alone)), "p99 ms": float(np.percentile(alone, 99)), f"{MANY} rows s": seconds}


def repeated(rows: Any, number: int) -> Any:
    """Return so many rows: these, over and over."""
    if isinstance(rows, list):
        return (rows * (number // len(rows) + 1))[:number]
    return rows[np.arange(number) % len(rows)]


def rivals(X: Any, y: Any, asked: Any, truth: Any, name: str) -> list[dict[str, Any]]:
    """Return the same of scikit-learn's linear SVM, for texts in a pipeline, and of fastText."""
    found, svm = [], LinearSVC(random_state=0)
    models: dict[str, Any] = {"scikit-learn": svm}
    if isinstance(X, list):
        pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), svm)
        models = {"scikit-learn": pipeline, "fastText": FastText(0)}
    for rival, model in models.items():
        model.fit(X, y)
        right = float((np.asarray(model.predict(asked)) == truth).mean())
        found.append({"set": name, "model": rival, "accuracy": right, **timed(model.predict, asked)})
    return found


def ours(X: Any, y: Any, asked: Any, truth: Any, name: str) -> list[dict[str, Any]]:
    """Return untwin's figures, then accuracy and size at each precision."""
    model = UntwinClassifier(n_jobs=CORES).fit(X, y)
    right = float((model.predict(asked) == truth).mean())
    found = [{"set": name, "model": model.candidates_[0].name, "accuracy": right, **timed(model.predict, asked)}]
    for precision in PRECISIONS:
        with TemporaryDirectory() as place:
            folder = Path(place, "small")
            try:
                model.export(folder, precision=precision)
            except InputError:  # not made of linear models
                continue
            small = AnswerModel.load(folder)
            places = range(min(len(asked), ONE_BY_ONE))
            P, some = small.predict_proba(asked), [small.predict_proba(asked[row : row + 1])[0] for row in places]
            found.append(
                {
                    "set": name,
                    "model": f"  {precision}",
                    "accuracy": float((small.classes_[P.argmax(axis=1)] == truth).mean()),
                    "MB": sum(file.stat().st_size for file in folder.iterdir()) / 1e6,
                    "equal": bool(np.array_equal(some, P[: len(some)])),
                    "first answer s": first_answer(folder, asked[:1]),
                }
            )
    return found


def first_answer(folder: Path, asked: Any) -> float:
    """Return the least seconds of five new processes that import, load, and answer one row."""
    row = json.dumps(asked if isinstance(asked, list) else asked.tolist())
    code = (
        "import json, sys; from untwin import AnswerModel; AnswerModel.load(sys.argv[1]).predict(json.load(sys.stdin))"
    )
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, str(folder)], input=row, text=True, check=True)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def main() -> None:
    """Fit, ask, print."""
    options = parser(__doc__)
    options.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    options.add_argument("--ours", action="store_true", help="without rivals, which take most of the time")
    given = options.parse_args()
    rows = []
    for name in given.sets:
        X, y, asked, truth = _split(given.data, name, 0, 1, quick=False)
        rows += ours(X, y, asked, truth, name)
        if not given.ours:
            rows += rivals(X, y, asked, truth, name)
    show(rows, as_json=given.json)


if __name__ == "__main__":
    main()

"""Are promises kept? Sets of classes, answers at the right height, and rows that belong to no class.

`sets`: ten random splits of each set into training and test rows (a fifth), and the published split; the coverage of
the sets of test rows and their mean size, with thresholds from held-out training rows (measured), and from half of the
test rows (exact, which has nothing to do with the other half). Beside it what other rules need on that other half:
adaptive sets with and without regularisation, both randomised, and the smallest sets by probability, all as published
and computed directly from the same probabilities ("direct"); they are what MAPIE computes.

`heights`: the same test rows answered by the smallest node of the learnt tree, by classes alone, and by one cut of
the tree (`predict_group`); the share answered, the error among these, and the bits told a row.

`choice`: which measure finds rows of no class, on training rows alone (bench/_unknown.py): four times a tenth of the
classes is left out of four fifths of them, and the other fifth is asked about. The area under the curve, and the share
of unknown rows found when 5 % of the others are lost; combinations learn their weights in the other three rounds. What
wins here is built in.

`unknown`: the same figures of test rows, once that was settled: CLINC150's rows out of scope, elsewhere those of a
tenth of the classes, which is left out of the training rows. `lost` and `found` are what came of the threshold that was
set on held-out training rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from papers.datasets import read_texts
from sklearn.model_selection import train_test_split

from bench._measure import parser, show
from bench._sets import FEWEST
from bench._unknown import chosen_by, of_test_rows
from untwin import UntwinClassifier
from untwin.answer.shortlists import RankedClasses, conformal_rank

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

TEXTS = (
    "banking77",
    "clinc150",
    "20newsgroups",
    "reuters21578",
    "reviews_ordinal",
    "dbpedia219_5k",
    "arxiv",
    "webdirectory",
)
VECTORS = ("banking77", "clinc150")
TABLES = ("vehicle", "glass", "german", "letter")
SLOW = ("20newsgroups", "arxiv", "webdirectory")
COVERAGES = (0.9, 0.95, 0.99)
TARGETS = (0.01, 0.02, 0.05)
SPLITS, TEST_SHARE = 10, 0.2
REGULARISED = (0.01, 5)  # penalty of a class, and from which rank on, as published for adaptive sets


class Rows(NamedTuple):
    """Rows, their labels, which of them are published as test rows, and which belong to no class."""

    name: str
    X: Any
    y: Array
    test: Array
    outside: Array

    def take(self, some: Array) -> Any:
        """Return some rows as a model takes them."""
        return [self.X[row] for row in some.tolist()] if isinstance(self.X, list) else self.X[some]


def text_rows(folder: Path, name: str) -> Rows:
    """Return the rows of a set of texts."""
    table = read_texts(folder, name)
    sizes = table.filter(pl.col("split") != "test")["label"].value_counts()
    large = sizes.filter(pl.col("count") >= FEWEST.get(name, 1))["label"]  # classes that can be trained and tested
    table = table.filter(pl.col("label").is_in(large.implode()) | (pl.col("label") == "oos"))
    y = table["label"].to_numpy()
    return Rows(name, table["text"].to_list(), y, (table["split"] == "test").to_numpy(), y == "oos")


def vector_rows(folder: Path, name: str) -> Rows:
    """Return the same rows as sentence vectors."""
    rows = text_rows(folder, name)
    vectors = np.load(folder / "embeddings" / f"{name}.minilm.npy").astype(np.float32)
    return rows._replace(name=f"{name} vectors", X=vectors)


def table_rows(folder: Path, name: str) -> Rows:
    """Return the rows of a table, whose label is its column `class` or its last one."""
    frame = pl.read_csv(folder / "tabular" / f"{name}.csv")
    label = "class" if "class" in frame.columns else frame.columns[-1]
    y, none = frame[label].to_numpy(), np.zeros(frame.height, dtype=np.bool_)
    return Rows(name, frame.drop(label), y, none, none)


def splits(rows: Rows, n_splits: int) -> list[tuple[str, Array, Array]]:
    """Return the published split, if there is one, and random ones: what they are called, training and test rows."""
    inside = np.flatnonzero(~rows.outside)
    found = []
    if rows.test.any():
        found.append(("published", inside[~rows.test[inside]], inside[rows.test[inside]]))
    for seed in range(n_splits):
        train, test = train_test_split(inside, test_size=TEST_SHARE, random_state=seed, stratify=rows.y[inside])
        found.append(("random", train, test))
    return found


def kept(rows: Rows, preset: str, n_splits: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the figures of sets and of heights, as means over the splits of a kind."""
    sets: list[dict[str, Any]] = []
    heights: list[dict[str, Any]] = []
    for split, train, test in splits(rows, n_splits):
        model = UntwinClassifier(preset=preset).fit(rows.take(train), rows.y[train])
        given, y = rows.take(test), rows.y[test]
        half = np.random.default_rng(0).permutation(len(test)) < len(test) // 2
        ours, rest = np.flatnonzero(half), np.flatnonzero(~half)
        P, codes = model.predict_proba(given), np.searchsorted(model.classes_, y)
        calibration = (rows.take(test[ours]), y[ours])
        for coverage in COVERAGES:
            told = {"set": rows.name, "split": split, "promised": coverage}
            found = model.shortlist(given, coverage=coverage)
            held = found.hold(y)
            by_class = np.bincount(codes, held) / np.maximum(np.bincount(codes), 1)
            worst = float(np.quantile(by_class[np.unique(codes)], 0.05))
            sets.append(
                {**told, "by": "measured", "held": held.mean(), "size": found.sizes.mean(), "5% of classes": worst}
            )
            exact = model.shortlist(rows.take(test[rest]), coverage=coverage, calibration_rows=calibration)
            sets.append({**told, "by": "exact", **_of_sets(exact.hold(y[rest]), exact.sizes)})
            for name, (inside, sizes) in directly(P, codes, ours, rest, coverage).items():
                sets.append({**told, "by": name, **_of_sets(inside, sizes)})
        heights += heights_of(model, rows.name, split, given, codes)
    return means(sets, ("set", "split", "promised", "by")), means(heights, ("set", "split", "target", "by"))


def _of_sets(held: Array, sizes: Array) -> dict[str, float]:
    return {"held": float(held.mean()), "size": float(sizes.mean()), "5% of classes": float("nan")}


def directly(P: Array, codes: Array, ours: Array, rest: Array, coverage: float) -> dict[str, tuple[Array, Array]]:
    """Return which sets of `rest` hold the right class, and their sizes, by rules calibrated on `ours`."""
    rng, ranked = np.random.default_rng(0), RankedClasses.of(P)
    shares, places = np.take_along_axis(P, ranked.ranked, axis=1), np.arange(P.shape[1])
    true, noise = (ranked.ranked == codes[:, np.newaxis]).argmax(axis=1), rng.random((len(P), 1))
    penalty, first = REGULARISED
    scores = {
        "adaptive, direct": ranked.before + noise * shares,
        "regularised, direct": ranked.before + noise * shares + penalty * np.maximum(places + 1 - first, 0),
        "by probability, direct": 1 - shares,
    }
    found = {}
    for name, of_all in scores.items():
        calibrated = np.sort(of_all[ours, true[ours]])
        rank = conformal_rank(len(ours), coverage)
        inside = of_all[rest] <= (calibrated[rank - 1] if rank <= len(ours) else np.inf)
        inside[:, 0] = True  # an empty set is of no use
        found[name] = (inside[np.arange(len(rest)), true[rest]], inside.sum(axis=1))
    return found


def heights_of(model: UntwinClassifier, name: str, split: str, given: Any, codes: Array) -> list[dict[str, Any]]:
    """Return what is answered at which height, how much of it is wrong, and how much it tells."""
    found, bits, rows = model.predict_all(given), np.log2(len(model.classes_)), []
    right = found.codes == codes
    sizes = np.array([len(group) for group in model.groups_])
    number = {label: place for place, group in enumerate(model.groups_) for label in group}
    true_group = np.array([number[label] for label in model.classes_[codes].tolist()])
    for target in TARGETS:
        told = {"set": name, "split": split, "target": target}
        ends = model.heights(given, target_error=target)
        said, held = ends.levels < 3, ends.hold(codes)
        levels = (np.bincount(ends.levels, minlength=4) / len(codes)).tolist()
        rows.append({**told, "by": "heights", **_of_heights(levels, said, held, ends.bits * held)})
        sure = ~model.unsure(given, target_error=target)
        alone = [sure.mean(), 0.0, 0.0, 1 - sure.mean()]
        rows.append({**told, "by": "classes alone", **_of_heights(alone, sure, right, bits * (sure & right))})
        group_right = np.where(sure, right, found.groups == true_group)
        told_bits = np.where(sure, bits, bits - np.log2(sizes[found.groups])) * group_right
        everything = [sure.mean(), 1 - sure.mean(), 0.0, 0.0]
        rows.append(
            {**told, "by": "one cut", **_of_heights(everything, np.ones(len(codes)) > 0, group_right, told_bits)}
        )
    return rows


def _of_heights(levels: list[float], said: Array, held: Array, bits: Array) -> dict[str, float]:
    names = ("class", "group", "larger group", "cannot say")
    return {**dict(zip(names, levels, strict=True)), "error": float(1 - held[said].mean()), "bits": float(bits.mean())}


def means(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the means of figures over the splits."""
    frame = pl.DataFrame(rows)
    figures = [name for name in frame.columns if name not in names]
    return frame.group_by(names, maintain_order=True).agg(pl.col(figures).mean()).to_dicts()


def main() -> None:
    """Run what is asked for, and print it."""
    options = parser(__doc__)
    options.add_argument("--texts", nargs="*", default=TEXTS)
    options.add_argument("--vectors", nargs="*", default=VECTORS)
    options.add_argument("--tables", nargs="*", default=TABLES)
    options.add_argument("--splits", type=int, default=SPLITS, help="random splits of each set")
    options.add_argument("--preset", default="balanced")
    options.add_argument("--fast", nargs="*", default=SLOW, help='sets that get the preset "fast"')
    options.add_argument("--only", choices=["kept", "choice", "unknown"], help="only a part")
    asked = options.parse_args()
    every = [text_rows(asked.data, name) for name in asked.texts]
    every += [vector_rows(asked.data, name) for name in asked.vectors]
    every += [table_rows(asked.data, name) for name in asked.tables]
    sets: list[dict[str, Any]] = []
    heights: list[dict[str, Any]] = []
    choice: list[dict[str, Any]] = []
    unknown: list[dict[str, Any]] = []
    for rows in every:
        preset = "fast" if rows.name in asked.fast else asked.preset
        enough = len(np.unique(rows.y)) > 3  # classes, so that one can be left out
        if asked.only in (None, "kept"):
            more = kept(rows, preset, asked.splits)
            sets, heights = sets + more[0], heights + more[1]
        if asked.only == "choice" and enough:
            choice += chosen_by(rows, preset)
        if asked.only in (None, "unknown") and enough:
            unknown += of_test_rows(rows, preset)
    show([*sets, *heights, *choice, *unknown], as_json=asked.json)


if __name__ == "__main__":
    main()

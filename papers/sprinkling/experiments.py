"""Paper 1's experiments as `python -m papers` shows them. Its numbers are lost: what it asserts in words is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from papers.datasets import sprinkling_sets
from papers.experiment import Claim, Experiment, Figure, Outcome, Table, verdict
from papers.sprinkling.background import run_background
from papers.sprinkling.chosen import Grid, gains, run_chosen
from papers.sprinkling.cost import PLAIN, sprinkling_cost
from papers.sprinkling.local import local_accuracy
from papers.sprinkling.multilabel import reuters_topics, run_topics
from papers.sprinkling.pictures import before_and_after, term_similarities
from papers.sprinkling.spaces import compared, run_sprinkling, trade_off

if TYPE_CHECKING:
    from pathlib import Path

    from untwin.tables.confusion import Confusion

SETS = ("text/20newsgroups.parquet", "text/reviews_ordinal.parquet", "text/reuters21578.parquet")
KEYS = ["set", "classifier"]
STRENGTHS, DRAWN_STRENGTH = (4.0, 16.0), 16.0  # columns a class
LITTLE = 0.1  # a share of the time of plain LSI


def spaces(data: Path, quick: bool) -> Outcome:
    """All spaces, dimensions and classifiers."""
    sizes: dict[str, Any] = (
        {"n_halves": 2, "dimensions": (10, 40), "strengths": (DRAWN_STRENGTH,)}
        if quick
        else {"n_halves": 5, "dimensions": (5, 10, 20, 40, 80, 160), "strengths": STRENGTHS}
    )
    results = run_sprinkling(sprinkling_sets(data), **sizes)
    comparisons = [("adaptive", "lsi"), ("adaptive", "raw"), ("adaptive", "uniform"), ("contrast", "uniform")]
    comparisons += [("hierarchy", "uniform"), ("ordinal", "uniform")]
    counted = [row for space, rival in comparisons for row in _counted(results, space, rival)]
    return Outcome(
        claims=[_beats_lsi(results, name) for name in ("knn cosine", "knn euclidean")],
        tables=[
            Table("Mean accuracy over test halves by dimension", _by_dimension(results)),
            Table(
                "Comparisons at equal dimension and trace, by paired t intervals (95 %)",
                counted,
                "At how many dimensions and strengths the interval lies above zero, around it, below it.",
            ),
        ],
        figures=[_dimension_figure(results, name) for name in results["set"].unique(maintain_order=True)],
    )


def _beats_lsi(results: pl.DataFrame, classifier: str) -> Claim:
    table = compared(results, "adaptive", "lsi").filter(classifier=classifier)
    better = (table["low"] > 0).to_list()
    worse = int((table["high"] < 0).sum())
    gain = 100 * float(table["gain"].mean())  # type: ignore[arg-type]
    return Claim(
        f"Adaptive sprinkling beats plain LSI on all sets at every dimension ({classifier})",
        verdict(better),
        f"of {len(better)} cases (set, dimension, strength) its interval lies above zero in {sum(better)}, below in "
        f"{worse}; mean gain {gain:.1f} points",
    )


def _by_dimension(results: pl.DataFrame) -> list[dict[str, Any]]:
    mean = results.group_by(*KEYS, "space", "strength", "k", maintain_order=True).agg(pl.col("accuracy").mean())
    raw = mean.filter(pl.col("space") == "raw").select(*KEYS, raw="accuracy")
    spaces = mean.filter(pl.col("space") != "raw").with_columns(k=pl.format("k = {}", "k"))
    wide = spaces.pivot("k", index=[*KEYS, "space", "strength"], values="accuracy")
    return wide.join(raw, on=KEYS, maintain_order="left").to_dicts()


def _counted(results: pl.DataFrame, space: str, rival: str) -> list[dict[str, Any]]:
    """Count where a space is better than, even with or worse than a rival by its paired interval."""
    low, high, gain = pl.col("low"), pl.col("high"), pl.col("gain")
    counted = (
        compared(results, space, rival)
        .group_by(KEYS, maintain_order=True)
        .agg(
            better=(low > 0).sum(),
            even=((low <= 0) & (high >= 0)).sum(),
            worse=(high < 0).sum(),
            mean_gain=gain.mean(),
        )
    )
    return [{"space": space, "rival": rival, **row} for row in counted.to_dicts()]


def _dimension_figure(results: pl.DataFrame, name: str) -> Figure:
    """Draw the accuracy of cosine neighbours against the dimension."""
    shown = results.filter(pl.col("strength").is_in([0.0, DRAWN_STRENGTH]), set=name, classifier="knn cosine")
    series = []
    for (space,), part in shown.group_by("space", maintain_order=True):
        mean = part.group_by("k").agg(pl.col("accuracy").mean()).sort("k")
        ks = sorted({*shown["k"].to_list()} - {0})
        flat = mean["accuracy"].to_list() * len(ks) if space == "raw" else mean["accuracy"].to_list()
        series.append({"name": space, "x": ks, "y": flat})
    content = {"x": "dimensions", "y": "accuracy", "log": True, "series": series}
    return Figure("lines", f"{name}: cosine neighbours, {DRAWN_STRENGTH:g} columns a class", content)


def chosen(data: Path, quick: bool) -> Outcome:
    """Dimension and strength by cross-validation, beside the SVM and local LSI."""
    sets = sprinkling_sets(data)[1 if quick else 0 :]
    n_halves = 2 if quick else 5
    grid = Grid((10, 40), (16.0,)) if quick else Grid((5, 10, 20, 40), STRENGTHS)
    results = run_chosen(sets, grid, n_halves=n_halves)
    local = [{**local_accuracy(texts, n_halves=n_halves), "classifier": "local LSI"} for texts in sets]
    beaten = {name: gains(results, name, "adaptive", (name, "lsi")) for name in ("knn cosine", "knn euclidean", "svm")}
    near_svm = gains(results, "knn cosine", "adaptive", ("svm", "raw"))
    helped = gains(results, "svm", "adaptive", ("svm", "raw"))
    uniform = gains(results, "knn cosine", "adaptive", ("knn cosine", "uniform"))
    means = results.group_by(*KEYS, "space", maintain_order=True).agg(pl.col("accuracy", "strength", "k").mean())
    assertions = {
        "Adaptive sprinkling beats LSI, each at its best dimension (knn cosine)": beaten["knn cosine"],
        "Adaptive sprinkling beats LSI, each at its best dimension (knn euclidean)": beaten["knn euclidean"],
        "Adaptive sprinkling makes an SVM better than on raw terms": helped,
        "Adaptive counts beat uniform ones of the same sum (our question, not the paper's; knn cosine)": uniform,
    }
    claims = [Claim(text, verdict([row["low"] > 0 for row in rows]), _told(rows)) for text, rows in assertions.items()]
    near = verdict([row["high"] >= 0 for row in near_svm])
    claims.insert(
        2, Claim("With adaptive sprinkling, cosine neighbours compete with a linear SVM", near, _told(near_svm))
    )
    return Outcome(
        claims=claims,
        tables=[
            Table("Mean accuracy, and what was chosen on the training halves", means.to_dicts()),
            Table("Local LSI: one space for each class", local),
            Table(
                "Paired differences over halves",
                [row for rows in (*beaten.values(), near_svm, helped, uniform) for row in rows],
            ),
        ],
    )


def _told(rows: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{row['set']} {row['accuracy']:.3f} against {row['rival']:.3f} "
        f"({100 * row['gain']:+.1f}, {100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
        for row in rows
    )


def confusions(data: Path, quick: bool) -> Outcome:
    """Confusion matrices before and after."""
    found = [before_and_after(texts) for texts in sprinkling_sets(data)[2 if quick else 0 :]]
    rows: list[dict[str, Any]] = [
        {
            "set": pair.set,
            **{f"accuracy {when}": c.accuracy for when, c in (("before", pair.before), ("after", pair.after))},
            **{f"diagonality {when}": c.diagonality for when, c in (("before", pair.before), ("after", pair.after))},
        }
        for pair in found
    ]
    right = [row["diagonality after"] > row["diagonality before"] for row in rows]
    evidence = "; ".join(f"{r['set']} {r['diagonality before']:.3f} to {r['diagonality after']:.3f}" for r in rows)
    figures = [
        _heat(f"{pair.set}, {when} sprinkling", confusion)
        for pair in found
        for when, confusion in (("before", pair.before), ("after", pair.after))
    ]
    claim = Claim("Sprinkling brings the confusion matrix nearer to the diagonal", verdict(right), f"kappa: {evidence}")
    return Outcome(claims=[claim], tables=[Table("Cosine neighbours on one test half", rows)], figures=figures)


def _heat(title: str, confusion: Confusion) -> Figure:
    content = {"classes": confusion.classes.tolist(), "rates": confusion.rates.toarray().tolist()}
    return Figure("heat", title, content)


def terms(data: Path, quick: bool) -> Outcome:
    """Similarities between terms."""
    rows = [row for texts in sprinkling_sets(data)[2 if quick else 0 :] for row in term_similarities(texts)]
    together = [row["sprinkled"] > row["LSI"] for row in rows if row["terms"] == "opec and refinery"]
    apart = [row["sprinkled"] < row["LSI"] for row in rows if row["terms"] == "dividend and crude"]
    told = "; ".join(
        f"{row['terms']} {row['LSI']:.2f} to {row['sprinkled']:.2f} (k = {row['k']})"
        for row in rows
        if "mean" not in row["terms"]
    )
    claim = Claim(
        "Words of one class move together (opec, refinery), of two apart (dividend, crude)",
        verdict(together + apart),
        told,
    )
    return Outcome(claims=[claim], tables=[Table("Cosines between terms", rows)])


def scatter(data: Path, quick: bool) -> Outcome:
    """Separation against reconstruction."""
    sets = sprinkling_sets(data)
    rows = [row for texts in (sets[1:] if quick else sets) for row in trade_off(texts)]
    frame = pl.DataFrame(rows)
    by_set = [part.sort("strength") for part in frame.partition_by("set", maintain_order=True)]
    falls = [part["W/B"][-1] < part["W/B"][0] for part in by_set]
    rises = [part["mean square error"].is_sorted() for part in by_set]
    series = [
        {"name": part["set"][0], "x": part["W/B"].to_list(), "y": part["mean square error"].to_list()}
        for part in by_set
    ]
    evidence = "; ".join(
        f"{p['set'][0]}: W/B {p['W/B'][0]:.3f} to {p['W/B'][-1]:.3f}, "
        f"error {p['mean square error'][0]:.4f} to {p['mean square error'][-1]:.4f}"
        for p in by_set
    )
    claim = Claim(
        "More sprinkling separates the classes (W/B falls) and loses the documents", verdict(falls + rises), evidence
    )
    figure = Figure(
        "lines",
        "From no sprinkling (right) to 64 columns a class (left)",
        {"x": "W/B", "y": "mean square error", "series": series},
    )
    return Outcome(claims=[claim], tables=[Table("Separation and reconstruction", rows)], figures=[figure])


def cost(data: Path, quick: bool) -> Outcome:
    """Time of sprinkling."""
    sets = sprinkling_sets(data)
    rows = [row for texts in (sets[2:] if quick else sets) for row in sprinkling_cost(texts)]
    shares = [row["share of plain LSI"] for row in rows if row["columns a class"] != PLAIN]
    evidence = f"{100 * (min(shares) - 1):+.0f} % to {100 * (max(shares) - 1):+.0f} % of the time of plain LSI"
    claim = Claim(
        "Sprinkled columns add little to the time of the decomposition",
        verdict([s < 1 + LITTLE for s in shares]),
        evidence,
    )
    return Outcome(claims=[claim], tables=[Table("Processor seconds, the shortest of several", rows)])


def topics(data: Path, quick: bool) -> Outcome:
    """Several labels a document."""
    sample = reuters_topics(data, 2_000 if quick else None)
    dimensions, strengths = ((50, 100), (0.3,)) if quick else ((50, 100, 200, 300), (0.1, 0.3, 1.0))
    rows = run_topics(sample, dimensions=dimensions, strengths=strengths)
    lsi, sprinkled = rows[-2:]
    better = [sprinkled[name] > lsi[name] for name in ("micro-F1", "macro-F1")]
    told = ", ".join(
        f"{name} {sprinkled[name]:.3f} against {lsi[name]:.3f} in LSI" for name in ("micro-F1", "macro-F1")
    )
    claim = Claim("Sprinkling works where a document has several classes", verdict(better), told)
    note = f"{sample.X.shape[0]:,} training and {sample.X_test.shape[0]:,} test documents, {len(sample.names)} topics."
    return Outcome(claims=[claim], tables=[Table("Reuters, all topics", rows, note)])


def background(data: Path, quick: bool) -> Outcome:
    """Rows without labels below."""
    rows = run_background(sprinkling_sets(data)[0], n_halves=1 if quick else 5)
    helps = [row["LSI, background"] > row["LSI"] for row in rows]
    still = [row["sprinkled, background"] > row["sprinkled"] for row in rows]
    told = f"plain LSI gains in {sum(helps)} of {len(helps)} cases, sprinkled LSI in {sum(still)}"
    claim = Claim(
        "Background knowledge of terms helps a space (future work of the paper)", verdict(helps + still), told
    )
    return Outcome(claims=[claim], tables=[Table("Accuracy of cosine neighbours, few documents with labels", rows)])


READING = (
    "Three kinds of classes: the paper's nine newsgroups (hierarchical), film reviews by grade in place of its ratings "
    "of actors (ordinal), its three Reuters topics (orthogonal). Random halves; 1,000 binary stemmed terms chosen by "
    "information gain on each training half; ten neighbours."
)
EQUAL = (
    " All plans of one strength have the same trace; at equal trace a uniform plan is the adaptive one's true rival."
)
TOPICS = (
    "Reuters-21578, ModApte split, the 90 topics of both parts; tf-idf of stems; 20 neighbours. Dimension and strength "
    "are chosen on a fifth of the training documents."
)
FEW = (
    "The hierarchical set; 10, 25 or 50 documents a class have labels, the rest of the training half lies below them "
    "as background, without labels."
)
ABOUT = {
    spaces: ("Plans, dimensions and classifiers", READING + EQUAL),
    chosen: (
        "Dimension and strength chosen by cross-validation",
        READING + " Five folds of each training half choose; the test half judges once.",
    ),
    confusions: ("Confusion before and after", READING + " Settings are chosen by five folds of the training half."),
    terms: ("Words that move together", "LSI and sprinkled LSI of all documents of a set: no accuracy is measured."),
    scatter: (
        "Separation against reconstruction",
        READING + " One training half, twice as many dimensions as classes.",
    ),
    cost: ("The cost of sprinkling", READING + " One training half, 100 dimensions."),
    topics: ("Several topics a document", TOPICS),
    background: ("Background rows", FEW),
}
EXPERIMENTS = tuple(
    Experiment("sprinkling", run.__name__, title, about, SETS, run) for run, (title, about) in ABOUT.items()
)

"""`untwin demo`: the job on real texts that are on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from untwin.cli.options import common_options
from untwin.cli.output import progress, put, put_json, put_table

if TYPE_CHECKING:
    import polars as pl

    from untwin.crossfit import OutOfFold
    from untwin.structure.hierarchy import Hierarchy
    from untwin.tables.contingency import Contingency

TOP_PAIRS = 10
TOP_LINKS = 5
DIMENSIONS = 100
STRENGTH = 0.5  # sprinkled columns a class; rows have length one


@click.command()
@common_options
def demo(*, seed: int, strict: bool, as_json: bool) -> int:
    """Tell apart the sub-packages of NumPy, SciPy, scikit-learn and Polars by their documentation.

    Gathers some 6,000 texts in some 50 classes, classifies each by a linear SVM that has not seen it, and shows which
    classes are mistaken for each other, the tree of classes that follows from it, where that tree crosses the packages'
    own, and the neighbours of one text with the words they share.
    """
    with progress():
        result = run_demo(seed)
    (put_json if as_json else _show)(result)
    return 0


def run_demo(seed: int) -> dict[str, Any]:
    """Do the job and return all that there is to show, as one record."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from untwin import Contingency, Hierarchy, TextCounts, out_of_fold
    from untwin._progress import report
    from untwin.data.demo import demo_texts

    texts = demo_texts()
    report("counting words", 0, 1)
    counter = TextCounts(stop_words="english", token_pattern=r"(?u)\b[^\W\d_]\w+\b")
    counts, labels = counter.fit_transform(texts["text"]), texts["label"].to_numpy()
    svm = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=seed))
    result = out_of_fold(svm, counts, labels, n_jobs=2, random_state=seed, with_scores=False)
    confusion, terms = result.confusion, counter.get_feature_names_out()
    return {
        "texts": len(texts),
        "terms": counts.shape[1],
        "classes": confusion.n_classes,
        "accuracy": confusion.accuracy,
        "confused": [dict(zip(row.dtype.names, row.tolist(), strict=True)) for row in confusion.pairs(TOP_PAIRS)],
        **_tree(Hierarchy.from_confusion(confusion), Contingency.from_counts(counts, labels, terms=terms)),
        "explained": _explained(texts, counts, terms, result, seed),
    }


def _explained(texts: pl.DataFrame, counts: Any, terms: Any, result: OutOfFold, seed: int) -> dict[str, Any]:
    """Return the neighbours of one text, in a space that was sprinkled without it.

    The text is the first that the SVM took for its class's twin: the pair that is confused most often.
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfTransformer

    from untwin import KNNClassifier, SprinkledLSI, SprinklingPlan

    labels, (twins,) = texts["label"].to_numpy(), result.confusion.pairs(1)[["a", "b"]].tolist()
    row = int(np.flatnonzero((labels == twins[0]) & (result.predictions == twins[1]))[0])
    others = np.delete(np.arange(len(labels)), row)
    plan = SprinklingPlan.adaptive(result.without(result.folds[row]), 1).scaled(STRENGTH * len(result.classes))
    space = SprinkledLSI(n_components=DIMENSIONS, plan=plan, training="reconstructed", random_state=seed)
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    neighbours = KNNClassifier().fit(space.fit_transform(weights[others], labels[others]), labels[others])
    (found,) = neighbours.explain(weights[[row]], term_map=space.components_, feature_names=terms)
    return {
        "id": texts["id"][row],
        "label": labels[row],
        "svm": result.predictions[row],
        "neighbours_say": found.prediction,
        "neighbours": [
            {
                "id": texts["id"][int(others[near.row])],
                "label": near.label,
                "similarity": near.value,
                "terms": [term for term, _ in near.terms],
            }
            for near in found.neighbours
        ],
        "evidence": found.evidence,
    }


def _tree(tree: Hierarchy, contingency: Contingency) -> dict[str, Any]:
    """Return the groups with their names, the drawing, and the links that the packages' own tree does not have."""
    packages = {name: name.partition(".")[0] for name in tree.classes.tolist()}
    groups, names = tree.cut(), tree.name_groups(contingency)
    return {
        "groups": [{"name": name, "classes": list(group)} for name, group in zip(names, groups, strict=True)],
        "groups_range": tree.group_range()._asdict(),
        "drawing": tree.draw("inflection", names=names, width=40).splitlines(),
        "soft_links": [link._asdict() for link in tree.also_see(packages, top=TOP_LINKS)],
        "agreement": tree.agreement(packages)._asdict(),
    }


def _show(result: dict[str, Any]) -> None:
    put(f"{result['texts']:,} texts in {result['classes']} classes, {result['terms']:,} terms")
    put(f"Accuracy of a linear SVM out of fold: {result['accuracy']:.3f}")
    put()
    put("Most often confused, either way:")
    pairs = [[row["errors"], row["a"], row["b"], f"{row['share']:.1%}"] for row in result["confused"]]
    put_table(["texts", "class", "and", "of all errors"], pairs)
    put()
    low, high = result["groups_range"]["low"], result["groups_range"]["high"]
    put(f"The tree of classes, {len(result['groups'])} groups (resampled: {low} to {high}), named by their terms:")
    put()
    for line in result["drawing"]:
        put(line)
    put()
    put("Also see (confused, although in different packages):")
    links = [[f"{link['mutual_complexity']:.1%}", link["a"], link["b"]] for link in result["soft_links"]]
    put_table(["confused", "class", "and"], links)
    put()
    _show_neighbours(result["explained"])
    put()
    put("Next: untwin check YOUR_TABLE.csv")


def _show_neighbours(explained: dict[str, Any]) -> None:
    put(f"Why? {explained['id']} is in {explained['label']}; the SVM says {explained['svm']}.")
    put(f"Its neighbours in the sprinkled space say {explained['neighbours_say']}:")
    near = [[f"{n['similarity']:.2f}", n["label"], n["id"], ", ".join(n["terms"])] for n in explained["neighbours"]]
    put_table(["similar", "class", "text", "because of"], near)

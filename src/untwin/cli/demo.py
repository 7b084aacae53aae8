"""`untwin demo`: the job on real texts that are on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from untwin.cli.options import common_options
from untwin.cli.output import progress, put, put_json, put_table

if TYPE_CHECKING:
    from untwin.structure.hierarchy import Hierarchy
    from untwin.tables.contingency import Contingency

TOP_PAIRS = 10
TOP_LINKS = 5


@click.command()
@common_options
def demo(*, seed: int, strict: bool, as_json: bool) -> int:
    """Tell apart the sub-packages of NumPy, SciPy, scikit-learn and Polars by their documentation.

    Gathers some 6,000 texts in some 50 classes, classifies each by a linear SVM that has not seen it, and shows which
    classes are mistaken for each other, the tree of classes that follows from it, and where that tree crosses the
    packages' own.
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

    from untwin import Contingency, Hierarchy, TextCounts, out_of_fold_confusion
    from untwin._progress import report
    from untwin.data.demo import demo_texts

    texts = demo_texts()
    report("counting words", 0, 1)
    counter = TextCounts(stop_words="english", token_pattern=r"(?u)\b[^\W\d_]\w+\b")
    counts, labels = counter.fit_transform(texts["text"]), texts["label"].to_numpy()
    svm = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=seed))
    confusion = out_of_fold_confusion(svm, counts, labels, n_jobs=2, random_state=seed)
    contingency = Contingency.from_counts(counts, labels, terms=counter.get_feature_names_out())
    return {
        "texts": len(texts),
        "terms": counts.shape[1],
        "classes": confusion.n_classes,
        "accuracy": confusion.accuracy,
        "confused": [dict(zip(row.dtype.names, row.tolist(), strict=True)) for row in confusion.pairs(TOP_PAIRS)],
        **_tree(Hierarchy.from_confusion(confusion), contingency),
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
    put("Next: untwin check YOUR_TABLE.csv")

"""One figure for one thing: what fit, info, evaluate and the report say about a model agrees, the honest one first.

Shown where, and what it is:

| figure | fit | info | report | record |
| --- | --- | --- | --- | --- |
| accuracy to expect, interval | "Expect accuracy" | summary.accuracy | "Accuracy to expect", summary | scores |
| candidates on the rows that chose them | table, with a heading | | table, with a caption | candidates |
| rows marked as test | "Rows marked as test" | about.test | summary | test |
| errors, pairs, rates | confused pairs | | pairs, matrix, classes, tree | confused |
| what merging twins gives | points, not a second accuracy | | points | findings |
"""

from __future__ import annotations

import re

import pytest
from tests.cli.conftest import records, write_csv

from untwin.cli.summary import SHOWN_PAIRS


def csv_of(path, rows):
    return write_csv(path, [{name: row[name] for name in ("text", "label")} for row in rows])


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Return what all commands say about one model, as text and as records."""
    from tests.conftest import run_untwin

    folder = tmp_path_factory.mktemp("figures")
    path = write_csv(folder / "t.csv", records(160, 1))
    columns = ["--text", "text", "--parent", "kind", "--preset", "balanced"]
    said = run_untwin("fit", path, "-o", folder / "m", *columns)
    assert said.returncode == 0, said.stderr.decode()
    return folder, said.stdout.decode()


def numbers(pattern, text):
    (found,) = re.findall(pattern, text)
    return [float(number) for number in found]


def test_the_accuracy_to_expect_is_one_figure(case, command):
    folder, shown = case
    fit = numbers(r"Expect accuracy (\S+) \((\S+) to (\S+)\) on new rows, macro-F1 (\S+)", shown)
    info = command("info", folder / "m", "--json").json()
    assert f"{info['summary']['accuracy']:.4f}" == f"{fit[0]:.4f}"
    assert f"  accuracy  {fit[0]:.4f}" in command("info", folder / "m").out
    summary = command("report", folder / "m", "--json").json()["summary"]
    told = [summary["accuracy"][end] for end in ("value", "low", "high")] + [summary["macro_f1"]]
    assert [round(number, 4) for number in told] == fit
    page = (folder / "m.html").read_text(encoding="utf-8")
    assert f"<dt>Accuracy to expect</dt><dd>{told[0]:.1%}" in page
    assert f"{told[0]:.1%} of rows it had not seen are answered right" in page


def test_the_honest_figure_comes_first_and_the_others_say_what_they_are(case):
    folder, shown = case
    assert shown.index("Expect accuracy") < shown.index("measured on the rows that chose between them")
    assert shown.index("measured on the rows that chose between them") < shown.index("points against the linear SVM")
    page = (folder / "m.html").read_text(encoding="utf-8")
    assert page.index("Accuracy to expect") < page.index("on the rows that chose between them")


def test_errors_and_rates_of_pairs_are_the_same_everywhere(case, command):
    folder, shown = case
    report = command("report", folder / "m", "--json").json()
    names, matrix = report["documents"]["names"], report["matrix"]["layers"][0]
    cells = dict(zip(zip(matrix["true"], matrix["predicted"], strict=True), matrix["count"], strict=True))
    assert matrix["errors"] == report["summary"]["errors"] == report["pairs"]["errors"] == report["documents"]["errors"]
    assert sum(cells.values()) == report["summary"]["judged"]
    rates = {}
    for number, pair in enumerate(report["pairs"]["pairs"]):
        a, b = names.index(pair["a"]), names.index(pair["b"])
        assert (pair["a_as_b"], pair["b_as_a"]) == (cells.get((a, b), 0), cells.get((b, a), 0))
        assert pair["gain"] == pytest.approx(pair["errors"] / report["summary"]["judged"], abs=1e-6)
        line = re.search(rf"{pair['errors']} +{pair['a']} +{pair['b']} +{pair['share']:.1%}", shown)
        assert bool(line) == (number < SHOWN_PAIRS)
        rates[frozenset((a, b))] = pair["rate"]
    for number, one in enumerate(report["classes"]["classes"]):
        for other, rate in zip(one["nearest"], one["confused"], strict=True):
            assert rate == rates[frozenset((number, other))]
    for link in report["tree"]["links"]:
        assert link["confused"] == rates[frozenset(map(names.index, (link["a"], link["b"])))]
        assert re.search(rf"{link['confused']:.1%} +{link['a']} +{link['b']}", shown)
    for found in report["findings"]["findings"]:
        for record in found["records"] if found["code"] in ("twins", "also-see") else ():
            rate = rates[frozenset(map(names.index, (record["a"], record["b"])))]
            assert record["rate"] == pytest.approx(rate, abs=1e-6)


def test_rows_marked_as_test_have_one_accuracy(case, command):
    folder, shown = case
    fit = numbers(r"accuracy (\S+) \((\S+) to (\S+)\) on 32 rows", shown)
    scores = command("evaluate", folder / "m", folder / "t.csv", "--json").json()
    assert [round(scores[name], 4) for name in ("accuracy", "accuracy_low", "accuracy_high")] == fit
    summary = command("report", folder / "m", "--json").json()["summary"]
    assert round(summary["test"]["value"], 4) == fit[0]


def test_fit_says_which_columns_it_took(case, command, tmp_path):
    _, shown = case
    assert "Columns: id 'id'; text 'text'; label 'label'; split 'split'; parent 'kind'" in shown
    assert "Left out: 'customer' (other columns are named)" in shown
    rows = [row | {"site": "A"} for row in records(40, 3)]
    path = write_csv(tmp_path / "t.csv", [{name: row[name] for name in ("text", "label", "site")} for row in rows])
    record = command("fit", path, "-o", tmp_path / "m", "--preset", "fast", "--json").json()
    assert [(use["name"], use["role"]) for use in record["columns"]] == [
        ("text", "text"),
        ("label", "label"),
        ("site", "unused"),
    ]
    assert record["columns"][2]["reason"]


def test_shuffled_labels_are_no_better_than_guessing(command, tmp_path):
    labels = [row["label"] for row in records(160, 4)]
    rows = [row | {"label": label} for row, label in zip(records(160, 9), labels, strict=True)]
    path = csv_of(tmp_path / "t.csv", rows)
    done = command("fit", path, "-o", tmp_path / "m", "--preset", "fast")
    assert "No better than guessing: answers dealt out at random" in done.out
    assert (
        done.out.index("Expect accuracy") < done.out.index("No better than guessing") < done.out.index("points against")
    )
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "<h1>Do not use these answers: they are no better than guessing</h1>" in page
    assert (
        "No better than guessing" in command("evaluate", tmp_path / "m", csv_of(tmp_path / "n.csv", records(80, 7))).out
    )


def test_a_model_of_a_large_class_is_measured_against_it(command, tmp_path):
    rows = [{"text": f"word{i % 7} word{i % 5}", "label": "large" if i % 10 else "small"} for i in range(200)]
    done = command("fit", write_csv(tmp_path / "t.csv", rows), "-o", tmp_path / "m", "--preset", "fast")
    assert re.search("No better than guessing|Right no more often than if the largest class", done.out)


def test_what_could_not_be_measured_is_not_called_faultless(command, tmp_path):
    rows = [row | {"label": f"only {number}"} for number, row in enumerate(records(18, 3))]
    path = csv_of(tmp_path / "t.csv", rows)
    done = command("fit", path, "-o", tmp_path / "m", "--preset", "fast")
    assert "Which classes are confused is not known: nothing could be held out." in done.out
    assert "No two classes" not in done.out
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "Which classes are confused is not known: nothing could be held out." in page
    assert "No two classes are confused" not in page


def test_rows_that_could_not_be_held_out_are_told(command, tmp_path):
    rows = records(60, 3)
    rows += [row | {"label": f"only {number}"} for number, row in enumerate(records(5, 8))]
    done = command("fit", csv_of(tmp_path / "t.csv", rows), "-o", tmp_path / "m", "--preset", "fast")
    assert "Measured on 60 of 65 rows: 5 rows were not held out" in done.out


def test_the_owners_tree_is_in_the_report_and_stays_there(case, command):
    folder, _ = case
    parents = {"billing": "office", "delivery": "office", "password": "computer", "printer": "computer"}
    for _ in range(2):
        tree = command("report", folder / "m", "--json").json()["tree"]
        assert tree["known"]
        assert tree["links"]
        for link in tree["links"]:
            assert link["parent_a"] == parents[link["a"]] != link["parent_b"] == parents[link["b"]]
        page = (folder / "m.html").read_text(encoding="utf-8")
        assert "confused although your tree keeps them apart" in page
        more = write_csv(folder / "more.csv", [row | {"label": "novel"} for row in records(6, 5)])
        assert command("add", folder / "m", more).code == 0
        parents["novel"] = "novel"

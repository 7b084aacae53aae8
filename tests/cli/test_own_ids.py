"""Rows are named in one way by all commands: by the owner's ids, or by the row of the file as `check` counts it."""

from __future__ import annotations

import re

import pytest
from tests.cli.conftest import records, write_csv

from untwin import UntwinClassifier

LABELS = ("billing", "delivery", "password", "printer")


def table(path, *, ids, n=160):
    """Write rows of which every fifth is a test row; the last two repeat rows 2 and 3, the first with another label.

    Row 7 of the file, a test row, repeats row 2 as well.
    """
    rows = records(n, 1)
    rows[6] |= {"text": rows[1]["text"], "split": "test"}
    conflict = next(label for label in LABELS if label != rows[1]["label"])
    rows += [rows[1] | {"id": "again-1", "label": conflict}, rows[2] | {"id": "again-2"}]
    kept = [{name: cell for name, cell in row.items() if ids or name != "id"} for row in rows]
    return write_csv(
        path, [{name: row[name] for name in (["id"] if ids else []) + ["text", "label", "split"]} for row in kept]
    )


def by_code(found):
    return {finding["code"]: finding for finding in found}


@pytest.fixture(scope="module", params=[True, False], ids=["own ids", "rows"])
def case(request, tmp_path_factory):
    """Return the table, the model, and what rows 2, 3 and 7 and the repeated ones are called."""
    from untwin.cli.run import run

    folder = tmp_path_factory.mktemp("ids")
    path = table(folder / "t.csv", ids=request.param)
    options = ["--id", "id"] if request.param else []
    assert run(["fit", str(path), "-o", str(folder / "m"), "--preset", "fast", *options, "--json"]) == 0
    names = ["T1-1", "T1-2", "T1-6", "again-1", "again-2"] if request.param else ["2", "3", "7", "161", "162"]
    return path, folder / "m", options, names


def test_check_and_findings_call_rows_the_same(case, command):
    path, folder, options, (two, _, seven, first, _) = case
    checked = by_code(command("check", path, *options, "--json").json()["findings"])
    rows = [str(row) for row in checked["conflicting-text"]["evidence"][0]["rows"]]
    assert rows == [two, seven, first]
    found = by_code(command("report", folder, "--json").json()["findings"]["findings"])
    assert found["conflicting-text"]["records"][0]["rows"] == [two, first]
    assert found["split-leak"]["records"][0] | {"text": ""} == {
        "training rows": [two, first],
        "test rows": [seven],
        "training labels": sorted({record["label"] for record in records(160, 1)[1:2]} | {labels(path)[160]}),
        "test labels": [labels(path)[6]],
        "text": "",
    }


def labels(path):
    return [line.split(",")[-2] for line in path.read_text().splitlines()[1:]]


def test_explanations_and_documents_name_rows_that_are_there(case, command):
    path, folder, _, (two, *_) = case
    names = UntwinClassifier.load(folder).ids_.tolist()
    texts = [line.split(",")[-3] for line in path.read_text().splitlines()[1:]]
    assert command("explain", folder, "--id", two, "--json").json()["document"] == texts[1]
    found = command("explain", folder, "--text", "printer jam", "--json").json()
    assert {line["row"] for line in found["neighbours"]} <= set(names)
    report = command("report", folder, "--json").json()
    assert {one["id"] for one in report["documents"]["documents"]} <= set(names)
    assert {near["id"] for one in report["documents"]["documents"] for near in one["neighbours"]} <= set(names)
    shown = command("explain", folder, "--text", "printer jam").out
    assert all(re.search(rf"\b{re.escape(line['row'])}\b", shown) for line in found["neighbours"])


def test_a_row_of_the_table_is_the_same_with_and_without_it(case, command):
    path, folder, _, (two, three, *_) = case
    for name in (two, three):
        by_model, by_table = (command("explain", folder, *data, "--id", name, "--json").json() for data in ([], [path]))
        assert by_model["document"] == by_table["document"]


def test_rows_that_are_added_are_no_rows_of_the_first_file(case, command, tmp_path):
    import shutil

    path, folder, options, _ = case
    model = shutil.copytree(folder, tmp_path / "m")
    more = write_csv(tmp_path / "more.csv", [{"text": row["text"], "label": row["label"]} for row in records(12, 2)])
    before = UntwinClassifier.load(folder).ids_.tolist()
    for times in (1, 2):
        assert command("add", model, more, *(["--again"] if times > 1 else [])).code == 0
        again = "" if times == 1 else " #2"
        assert UntwinClassifier.load(model).ids_.tolist()[-12:] == [f"more.csv:{row}{again}" for row in range(1, 13)]
    found = command("explain", model, "--id", "more.csv:3", "--json").json()
    assert found["document"] == records(12, 2)[2]["text"]
    assert command("add", model, path, *options).code == 0  # ids that the model knows already
    names = UntwinClassifier.load(model).ids_.tolist()
    assert names[: len(before)] == before
    assert len(set(names)) == len(names) == 2 * len(before) + 24


def test_repeated_and_missing_ids_are_told_and_nothing_crashes(command, tmp_path):
    rows = [
        {"id": f"T{i // 2}" if i else "", "text": row["text"], "label": row["label"]}
        for i, row in enumerate(records(40, 3))
    ]
    path = write_csv(tmp_path / "t.csv", rows)
    done = command("fit", path, "-o", tmp_path / "m", "--id", "id", "--preset", "fast", "--json")
    assert done.code == 0
    assert "[repeated-id] 19 ids are that of several rows (38 rows)." in done.err
    assert "[missing-id] 1 row has no id (column 'id')." in done.err
    assert UntwinClassifier.load(tmp_path / "m").ids_.tolist()[:4] == ["row 1", "T0", "T1 (row 3)", "T1 (row 4)"]
    assert command("check", path, "--id", "id").code == 0
    said = command("explain", tmp_path / "m", "--id", "T1", "--json").json()["error"]
    assert "It has 'T1 (row 3)', 'T1 (row 4)'." in said["message"]
    assert command("explain", tmp_path / "m", "--id", "T1 (row 4)", "--json").json()["document"] == rows[3]["text"]


def test_errors_name_the_id(command, tmp_path):
    rows = [{"id": f"T{i}", "price": "cheap" if i == 7 else i, "label": "ab"[i % 2]} for i in range(20)]
    path = write_csv(tmp_path / "t.csv", rows)
    done = command("check", path, "--id", "id", "--numeric", "price")
    assert "row 8 (line 9, id 'T7'), column 'price': 'cheap' is not a finite number" in done.err

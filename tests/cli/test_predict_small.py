"""`untwin export` and what reads its folders."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.conftest import records
from tests.cli.test_writing import cells


def test_an_exported_model_answers_like_the_whole_one(fitted, command, tmp_path):
    small, asked = tmp_path / "small", tmp_path / "new.csv"
    asked.write_text("text\nprinter jam again\nlate parcel\n\n")
    done = command("export", fitted.folder, "--answer-only", "-o", small)
    assert done.code == 0
    told = [command("predict", folder, asked) for folder in (fitted.folder, small)]
    assert told[0].code == told[1].code == 0
    assert cells(told[0].out) == cells(told[1].out)
    assert command("info", small).code == 0
    refused = command("evaluate", small, asked)
    assert refused.code == 3
    assert "can only answer" in refused.err
    hints = [one.err.partition("next:")[2] for one in (*told, command("info", small))]
    assert ["evaluate" in hint for hint in hints] == [True, False, False]
    assert "DATA --id" in hints[2]  # the documents of the fit are not there


def test_an_exported_or_packed_model_explains_its_answers(fitted, command, tmp_path, tickets):
    small, packed = tmp_path / "small", tmp_path / "small.untwin"
    assert command("export", fitted.folder, "--answer-only", "-o", small).code == 0
    assert command("pack", small, "-o", packed).code == 0
    asked = ("--text", "printer jam and invoice", "--json")
    whole = command("explain", fitted.folder, *asked).json()
    for model in (small, packed):
        told = command("explain", model, *asked).json()
        assert told == {**whole, "model": str(model), "neighbours": []}
        assert command("explain", model, tickets, "--id", records(160, 1)[7]["id"]).code == 0
        shown = command("explain", model, "--text", "printer jam")
        assert "Terms that speak for printer:" in shown.out
        assert "Similar training rows" not in shown.out
        refused = command("explain", model, "--id", records(160, 1)[7]["id"])
        assert refused.code == 2
        assert "saved without its documents" in refused.err


def test_predict_by_an_exported_model_loads_no_learning_code(fitted, command, tmp_path):
    small, asked = tmp_path / "small", tmp_path / "new.csv"
    asked.write_text("text\nprinter jam again\n")
    assert command("export", fitted.folder, "--answer-only", "-o", small).code == 0
    code = (
        "import sys; from untwin.cli.group import *; from untwin.cli.predict import predict;"
        "predict.main(sys.argv[1:], standalone_mode=False);"
        "print([name for name in ('sklearn', 'numba', 'pandas') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, small, asked, "-o", tmp_path / "out.csv"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip().endswith("[]")


def test_predict_of_a_table_loads_no_learning_code(command, tmp_path):
    table, model = tmp_path / "table.csv", tmp_path / "model"
    rows = [f"{colour},{size},{'big' if size > 20 else 'small'}" for size in range(40) for colour in ("red", "blue")]
    table.write_text("colour,size,label\n" + "\n".join(rows) + "\n")
    assert command("fit", table, "-o", model, "--preset", "fast").code == 0
    asked = tmp_path / "new.csv"
    asked.write_text("size,colour\n3,red\n,new\n35,\n")
    code = (
        "import sys; from untwin.cli.group import *; from untwin.cli.predict import predict;"
        "predict.main(sys.argv[1:], standalone_mode=False);"
        "print([name for name in ('sklearn', 'numba', 'pandas') if name in sys.modules], file=sys.stderr)"
    )
    out = tmp_path / "out.csv"
    started = [sys.executable, "-c", code, model, asked, "-o", out]
    done = subprocess.run(started, capture_output=True, text=True, check=True)
    assert done.stderr.strip().endswith("[]")
    assert [row["untwin_label"] for row in cells(out.read_text())][::2] == ["small", "big"]
    assert command("export", model, "--answer-only", "-o", tmp_path / "small").code == 0
    assert cells(command("predict", tmp_path / "small", asked).out) == cells(out.read_text())
    row = ("--row", '{"size": 3, "colour": "red"}', "--json")
    whole, told = (command("explain", folder, *row).json() for folder in (model, tmp_path / "small"))
    assert told == {**whole, "model": str(tmp_path / "small"), "neighbours": []}
    assert [side["class"] for side in told["evidence"]][:1] == ["small"]


def test_packed_models_answer_and_explain(fitted, command, tmp_path):
    packed, asked = tmp_path / "model.untwin", tmp_path / "new.csv"
    asked.write_text("text\nprinter jam again\n")
    assert command("pack", fitted.folder, "-o", packed).code == 0
    again = command("pack", fitted.folder, "-o", packed)
    assert again.code == 2
    assert "--force" in again.err
    assert command("pack", fitted.folder, "-o", packed, "--force").code == 0
    told = [command("predict", model, asked) for model in (fitted.folder, packed)]
    assert cells(told[0].out) == cells(told[1].out)
    assert command("explain", packed, "--text", "printer jam").code == 0
    learnt = command("add", packed, fitted.folder)
    assert learnt.code not in (0, 70)

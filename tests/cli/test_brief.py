"""`untwin brief`: what is printed is what Python makes."""

from __future__ import annotations

import json

import pytest

from untwin import UntwinClassifier, brief


def test_the_installed_command_makes_a_prompt(untwin, fitted, tmp_path):
    path = tmp_path / "definitions.json"
    path.write_text(json.dumps({"printer": "Anything about printing."}))
    shape = ["--format", "prompt", "--max-tokens", "250"]
    done = untwin("brief", fitted.folder, "printer", "billing", *shape, "--definitions", path)
    assert done.returncode == 0, done.stderr.decode()
    made = brief(UntwinClassifier.load(fitted.folder), ["printer", "billing"],
                 definitions={"printer": "Anything about printing."})  # fmt: skip
    assert done.stdout.decode() == made.to_prompt(250)


@pytest.mark.parametrize("options", [["--json"], ["--format", "json"]])
def test_json(command, fitted, options):
    found = command("brief", fitted.folder, *options).json()
    assert [one["name"] for one in found["classes"]] == ["billing", "delivery", "password", "printer"]
    assert found["classes"][0]["typical"][0]["text"]


def test_markdown_without_texts(command, fitted):
    done = command("brief", fitted.folder, "--without-texts")
    assert "## `billing`" in done.out
    assert "(row " not in done.out
    assert "row `" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["billng"], "Did you mean 'billing'?"),
        (["--max-tokens", "5"], "--max-tokens is for --format prompt"),
        (["--format", "prompt", "--max-tokens", "5"], "(--max-tokens)"),
        (["--definitions", "none.json"], "none.json"),
    ],
)
def test_what_cannot_be_is_refused(command, fitted, options, said):
    done = command("brief", fitted.folder, *options)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("content", ["[1]", '{"a": 1}', "{"])
def test_definitions_that_are_none_are_refused(command, fitted, tmp_path, content):
    path = tmp_path / "d.json"
    path.write_text(content)
    done = command("brief", fitted.folder, "--definitions", path)
    assert done.code == 2
    assert "Write one JSON object" in done.err

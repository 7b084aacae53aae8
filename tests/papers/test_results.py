"""The generated documents belong to the source beside them."""

import re
from pathlib import Path

from papers.digests import source_digest
from papers.registry import EXPERIMENTS

DOCS = Path(__file__).parents[2] / "docs"


def test_results_are_those_of_this_source():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^- source digest: `(\w+)`", text, re.MULTILINE)
    assert found == source_digest(), "docs/results.md is stale: run python -m papers all, copy OUT/results.md"


def test_every_experiment_is_in_the_results():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    for experiment in EXPERIMENTS:
        assert f"`python -m papers {experiment.paper}`, experiment `{experiment.name}`" in text


def test_no_figure_is_presented_as_paper_1s():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    first = text.partition("## Paper 1")[2].partition("## Paper 2")[0]
    assert first
    assert "| published |" not in first

"""`untwin demo`, the installed command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

UNTWIN = Path(sys.executable).with_name("untwin")


@pytest.fixture(scope="module")
def done():
    return subprocess.run([UNTWIN, "demo", "--json"], capture_output=True, text=True, timeout=300, check=True)


@pytest.fixture(scope="module")
def result(done):
    return json.loads(done.stdout)


def test_talk_goes_to_stderr(done):
    assert "gathering texts" in done.stderr


def test_it_classifies_well_and_finds_the_twins(result):
    assert result["schema_version"] == 1
    assert result["texts"] > 4_000
    assert 0.7 < result["accuracy"] < 0.95
    pairs = {(pair["a"], pair["b"]) for pair in result["confused"]}
    assert len(pairs) == 10
    assert {("numpy", "numpy.ma"), ("polars.dataframe", "polars.lazyframe")} <= pairs


def test_the_tree_holds_every_class_once_in_named_groups(result):
    members = [name for group in result["groups"] for name in group["classes"]]
    assert len(members) == len(set(members)) == result["classes"]
    assert all(group["name"] for group in result["groups"])
    assert result["groups_range"]["low"] <= len(result["groups"]) <= result["groups_range"]["high"]
    assert all(any(name in line for line in result["drawing"]) for name in members)


def test_soft_links_cross_the_packages(result):
    assert len(result["soft_links"]) == 5
    assert all(link["known_a"] != link["known_b"] for link in result["soft_links"])


def test_the_tree_knows_the_packages_better_than_chance(result):
    assert result["agreement"]["adjusted_rand"] > 0.1


def test_one_text_is_explained_by_neighbours_and_shared_terms(result):
    explained = result["explained"]
    assert explained["label"] != explained["svm"]
    assert len(explained["neighbours"]) == 5
    assert explained["id"] not in {near["id"] for near in explained["neighbours"]}
    assert all(near["terms"] and 0 < near["similarity"] <= 1 for near in explained["neighbours"])

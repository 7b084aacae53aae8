"""What must agree between objects: each forgery is sound by itself, and would lead out of an array or never end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from untwin.classify.experts import Expert
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.multilevel.descent import ExpertTree
from untwin.classify.multilevel.groups import Branch
from untwin.data.counts import TextCounts
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.encode import TableEncoder
from untwin.model.saving.arrays import ALLOWED, ArrayReader
from untwin.model.saving.decode import Decoder
from untwin.model.saving.rules import require_harmless
from untwin.store import ModelRefused
from untwin.structure.hierarchy import Hierarchy
from untwin.tables.confusion import Confusion

Y = np.arange(24) % 3
X = np.abs(np.random.default_rng(0).normal(size=(24, 5)) + 3 * np.eye(5)[Y])


def refuses(kind, thing, reason):
    with pytest.raises(ModelRefused, match=reason):
        require_harmless(kind, thing)


def branch(classes, child, below):
    return Branch(np.array(classes), np.array(child), np.array(below))


def expert(k):
    columns = 1 if k == 2 else k
    return Expert(np.arange(k), np.arange(5), np.ones((5, columns), np.float32), np.zeros(columns, np.float32))


def test_a_tree_is_sound():
    branches = branch([0, 1, 2], [0, 0, 1], [1, -1]), branch([0, 1], [0, 1], [-1, -1])
    require_harmless("expert-tree", ExpertTree(branches, (expert(2), expert(2))))


@pytest.mark.parametrize(
    ("branches", "reason"),
    [
        ([branch([0, 1], [0, 1], [-1, -1]), branch([0, 1], [0, 1], [-1, -1])], "reached once"),
        ([branch([0, 1, 2], [0, 0, 1], [0, -1])], "later branches only"),
        ([branch([0, 1, 2], [0, 0, 1], [5, -1])], "later branches only"),
        ([branch([0, 1, 2], [0, 0, 1], [-1, -1])], "lead on where classes are left"),
        ([branch([0, 1, 2], [0, 0, 1], [1, -1]), branch([0, 2], [0, 1], [-1, -1])], "classes of its child"),
        ([branch([0, 1, 2], [0, 0, 0], [1, -1]), branch([0, 1], [0, 1], [-1, -1])], "must have a class"),
        ([branch([1, 2], [0, 1], [-1, -1])], "must have a root"),
    ],
)
def test_what_is_no_tree_is_refused(branches, reason):
    refuses("expert-tree", ExpertTree(tuple(branches), tuple(expert(2) for _ in branches)), reason)


def test_shared_branches_are_refused_at_once():
    """Forty branches, each twice below the one before: a trillion ways from the root."""
    wide = [branch([0, 1, 2, 3], [0, 0, 1, 1], [number + 1] * 2) for number in range(40)]
    last = branch([0, 1], [0, 1], [-1, -1])
    refuses("expert-tree", ExpertTree((*wide, last), (expert(2),) * 41), "classes of its child")


def test_a_child_of_a_huge_number_is_refused_before_children_are_counted():
    refuses("branch", branch([0, 1], [0, 700_000_000], [-1, -1]), "child of a branch must be <j")


@pytest.mark.parametrize("name", ["_Y", "ids_", "class_prior_", "n_neighbors_"])
def test_neighbours_that_are_not_those_of_the_rows_are_refused(name):
    model = KNNClassifier().fit(X, Y)
    require_harmless("knn", model)
    lies = {
        "_Y": csr_array(np.eye(3)[Y[:9]]),
        "ids_": np.arange(9),
        "class_prior_": np.ones(2),
        "n_neighbors_": 10**9,
    }
    setattr(model, name, lies[name])
    refuses("knn", model, "of a knn|Neighbours must have")


def test_rows_to_search_are_one_table():
    among = KNNClassifier().fit(csr_array(X.round()), Y)._among
    require_harmless("searchable", among)
    refuses("searchable", replace(among, norms=among.norms[1:]), "norms of a searchable")
    refuses("searchable", replace(among, common=None), "dense or packed")
    refuses("searchable", replace(among, n_terms=10**12), "n_terms of a searchable")


@pytest.mark.parametrize("counts", [np.array([2**62, 2**62]), np.array([1, 0]), np.array([True])])
def test_counts_of_intervals_that_wrap_are_refused(counts):
    cuts = MDLPDiscretizer().fit(X[:, :2], Y)
    cuts.has_missing_ = counts
    refuses("mdlp-discretizer", cuts, "has_missing of a mdlp-discretizer")


@pytest.mark.parametrize("place", [slice(0, 10**9), slice(1, 4), slice(0, None), slice(0, 2.0)])
def test_a_block_that_is_not_as_wide_as_its_terms_is_refused(place):
    frame = pl.DataFrame({"colour": ["red", "blue", "red", "blue"], "n": [1.0, 2.0, 3.0, 4.0]})
    encoder = TableEncoder(nominal=["colour"], numeric=["n"]).fit(frame, [0, 1, 0, 1])
    require_harmless("table-encoder", encoder)
    encoder.blocks_ = {**encoder.blocks_, "colour": place}
    refuses("table-encoder", encoder, "[Bb]locks? must")


def test_experts_of_columns_that_are_not_there_are_refused():
    model = ConfusionGraphClassifier(cv=2, threshold=0.0).fit(X, Y)
    require_harmless("graph-classifier", model)
    one = model._experts.experts[0]
    model._experts.experts[0] = replace(one, terms=one.terms + 2)
    refuses("graph-classifier", model, "columns and classes that there are")


def test_parts_of_a_class_space_agree():
    model = LatentClassClassifier().fit(X, Y)
    require_harmless("latent-class", model)
    model._space = model._space._replace(terms=model._space.terms[:-1])
    refuses("latent-class", model, "terms and classes")


def test_a_tree_is_of_the_classes_of_its_confusion():
    tree = Hierarchy.from_confusion(Confusion(np.eye(3) + 1, ["a", "b", "c"]))
    require_harmless("hierarchy", tree)
    refuses("hierarchy", replace(tree, confusion=Confusion(np.eye(3) + 1, ["a", "b", "x"])), "of its confusion")
    refuses("hierarchy", replace(tree, linkage="magic"), "known way")


def test_patterns_that_cost_much_are_refused():
    require_harmless("text-counts", TextCounts(token_pattern=r"\S+"))
    refuses("text-counts", TextCounts(token_pattern=r"\w+x"), "token_pattern must be")
    refuses("text-counts", TextCounts(dtype=np.dtype("<U99999")), "Counts must be numbers")


def matrices(n):
    parts = {"a": {"0": np.ones(1 << 16), "1": np.zeros(1 << 16, np.int64), "2": np.array([0, 1 << 16])}}
    node = {"csr": {"shape": [1, 1], "data": "a/0", "indices": "a/1", "indptr": "a/2"}}
    return parts, [node] * n


@pytest.mark.parametrize(
    ("parts", "node"),
    [
        matrices(400),
        ({}, [[]] * (ALLOWED // 32)),
        ({}, {"csr": {"shape": [0, 2**31 - 1], "data": ["<f8", 0, [0], "C"]}}),
        (
            {"a": {"0": np.ones(1 << 16)}},
            [{"series": {"name": "x", "dtype": ["Float64"], "cells": {"array": "a/0"}, "valid": None}}] * 400,
        ),
    ],
    ids=["matrices", "lists", "columns", "series"],
)
def test_what_is_referred_to_many_times_is_charged_each_time(parts, node):
    if isinstance(node, dict):
        empty = {"<f8": np.ones(0), "<i4": np.zeros(1, np.int32)}
        parts = {"small arrays": empty}
        node["csr"] |= {"indices": ["<i4", 0, [0], "C"], "indptr": ["<i4", 0, [1], "C"]}
    with pytest.raises(ModelRefused, match="many times as large in memory"):
        Decoder(ArrayReader(parts)).thing(node)

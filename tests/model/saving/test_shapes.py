"""The table of shapes: complete, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.model.saving.patterns import is_linear
from untwin.model.saving.registry import KINDS
from untwin.model.saving.shape_table import SHAPES
from untwin.model.saving.shapes import require_shapes, shapes_of
from untwin.store import ModelRefused

# Objects of many classes, which `references` and `whole` look at; no arrays. `waiting` holds pairs of matrices.
OBJECTS = {
    *(("adaptive-sprinkling", name) for name in ("fitted_estimator", "fitted_space")),
    *(("joined-space", name) for name in ("terms", "scores")),
    *(("expert", "model"), ("graph-classifier", "fitted_base"), ("multi-level", "fitted_base"), ("member", "model")),
    *(("block", "transformer"), ("score-space", "fitted_estimator"), ("score-space", "svd")),
    *(("view", "encoder"), ("view", "preprocessing"), ("fitted-state", "preprocessing"), ("model", "kind")),
    *(("change", "predicted"), ("change", "became")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_everything_that_is_learnt_has_its_line(kind):
    """A new attribute needs an entry in the table: nothing of a stranger's is taken as it comes."""
    known = KINDS[kind]
    learnt = set(known.attributes) if known.is_estimator else set(known.needed)
    assert learnt - {shape.name for shape in shapes_of(kind)} == {name for owner, name in OBJECTS if owner == kind}


def test_the_table_names_what_there_is():
    for kind in SHAPES:
        known = KINDS[kind]
        assert {shape.name for shape in shapes_of(kind)} <= known.needed | set(known.attributes)


def sound():
    return {
        "n_features_in": 3,
        "classes": np.array(["a", "b", "c"]),
        "weights": np.ones((3, 3), np.float32),
        "intercept": np.zeros(3, np.float32),
    }


def test_a_sound_instance_passes():
    require_shapes("linear-svm", sound())
    require_shapes("linear-svm", {**sound(), "weights": csr_array(np.ones((3, 3), np.float32))})
    two = {"classes": np.array([0, 1]), "weights": np.ones((3, 1), np.float32), "intercept": np.zeros(1, np.float32)}
    require_shapes("linear-svm", {**sound(), **two})
    require_shapes("linear-svm", {"C": 1.0})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"weights": np.ones((4, 3), np.float32)}, "weights of a linear-svm must fit its other parts"),
        ({"weights": np.ones((3, 1), np.float32)}, "weights of a linear-svm must fit its other parts"),
        ({"weights": np.ones(9, np.float32)}, "weights of a linear-svm must have 2 axes"),
        ({"weights": np.ones((3, 3))}, "weights of a linear-svm must be of its kind, any_single"),
        ({"weights": [[1.0]]}, "weights of a linear-svm must be of its kind"),
        ({"weights": np.full((3, 3), np.nan, np.float32)}, "weights of a linear-svm must be finite"),
        ({"intercept": csr_array((1, 3), dtype=np.float32)}, "intercept of a linear-svm must be of its kind"),
        ({"classes": np.array(["b", "a", "c"])}, "classes of a linear-svm must rise"),
        ({"classes": np.array(["a", 1, None], dtype=object)}, "classes of a linear-svm must be of its kind"),
    ],
)
def test_what_does_not_fit_is_refused(change, reason):
    with pytest.raises(ModelRefused, match=reason):
        require_shapes("linear-svm", {**sound(), **change})


@pytest.mark.parametrize(
    ("kind", "state", "reason"),
    [
        ("change", {"corrected": -1}, "corrected of a change must be >=0"),
        ("change", {"corrected": True}, "corrected of a change must be of its kind, int"),
        ("branch", {"child": np.array([0, 2]), "below": np.array([-1, -1])}, "child of a branch must be <j"),
        ("branch", {"below": np.array([-2])}, "below of a branch must be >=-1"),
        ("hierarchy", {"classes": np.arange(3), "merges": np.zeros((3, 2), int)}, "merges of a hierarchy must fit"),
        ("choices", {"trials": (3,)}, "trials of a choices must hold Trial"),
        ("mdlp-discretizer", {"has_missing": np.array([1])}, "has_missing of a mdlp-discretizer must be of its kind"),
        ("member", {"name": "x", "temperature": float("nan")}, "temperature of a member must be finite"),
        ("sprinkling-plan", {"classes": None, "kernel": None, "strength": -1.0}, "strength of a sprinkling-plan"),
    ],
)
def test_bounds_and_contents(kind, state, reason):
    with pytest.raises(ModelRefused, match=reason):
        require_shapes(kind, state)


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"\S+", r"\w+", r"(?u)\b\w+\b", "[a-zA-Z]{2,}", r"\b[a-z]+\b"])
def test_usual_patterns_are_saved(pattern):
    assert is_linear(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\w+x", ".*", r"(\w+)+", r"\w{999}", r"[a-z]+\b", r"(a", "a)", r"\w+" * 60, r"\S+\b"]
)
def test_costly_patterns_are_not(pattern):
    assert not is_linear(pattern)

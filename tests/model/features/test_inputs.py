"""Kinds of inputs and labels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from untwin.model.features.inputs import as_labels, kind_of


def test_kinds():
    assert kind_of(pl.DataFrame({"a": [1]})) == "frame"
    assert kind_of(pl.Series(["a"])) == kind_of(("a", "b")) == kind_of(np.array(["a"], dtype=object)) == "texts"
    assert kind_of(np.eye(2)) == kind_of([[1, 2]]) == "matrix"
    with pytest.raises(ValueError, match="requires y to be passed"):
        as_labels(None)

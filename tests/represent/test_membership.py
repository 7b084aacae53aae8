"""Labels as a matrix: one way to make it, in whole numbers for counts and in fractions for weights."""

from __future__ import annotations

import numpy as np

from untwin.represent.membership import membership
from untwin.tables._input import membership as members_of_classes


def test_whose_row_it_is_is_counted_or_weighed_alike():
    labels = ["owl", "cat", "owl"]
    counted, weighed = members_of_classes(labels, None), membership(labels)
    assert (counted[0].dtype, weighed[0].dtype) == (np.int64, np.float64)
    assert (counted[0] != weighed[0]).nnz == 0
    assert counted[1].tolist() == weighed[1].tolist() == ["cat", "owl"]

"""Paper 2's approximate label: the group of classes where the class itself is unsure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Indices


class ApproximateLabels(NamedTuple):
    """Classes where the model is sure, groups where it is not.

    `labels` (n) are the likeliest classes, `sure` (n) says which of them to rely on, `groups` (n) are the likeliest
    groups: positions in the model's `groups_`.
    """

    labels: Array
    sure: Flags
    groups: Indices

"""What a model promises, as arrays and facts to store, and back with everything checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.error_curve import MOST_POINTS, ErrorCurve
from untwin.answer.heights import ClassTree, TreePromise
from untwin.answer.promises import Promises, group_numbers
from untwin.answer.shortlists import MOST_GROUP_POINTS, PENALTIES, GroupScores, SetScores, kept_ranks
from untwin.answer.shortlists import MOST_POINTS as MOST_SET_POINTS
from untwin.answer.spread import MOST_POINTS as MOST_SPREADS
from untwin.answer.spread import SpreadOfKnown, UnknownChance
from untwin.export.checks import LARGEST_NUMBER, require_numbers, require_whole, small
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array, Floats
    from untwin.answer.predictions import Decision

MOST_ROWS = 1 << 40
MOST_NODES = 64  # of a tree, times the classes
CURVES = ("sure", "heights")
FACTS = "promises"


def promise_parts(promises: Promises) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store: parts, and facts."""
    parts: dict[str, Any] = {
        **_curve_parts("sure", promises.sure),
        **_tree_parts("heights", promises.heights),
        "sets_scores": promises.sets.scores,
        "sets_sizes": promises.sets.sizes,
        "group_rows": small(promises.group_sets.n_rows),
        "group_scores": promises.group_sets.scores,
        "spreads": promises.known.spreads,
    }
    rows = {"sure": promises.sure.n_rows, "heights": promises.heights.curve.n_rows, "sets": promises.sets.n_rows}
    if promises.known_heights is not None:
        parts |= _tree_parts("known", promises.known_heights)
        rows["known"] = promises.known_heights.curve.n_rows
    chance = None if promises.chance is None else list(map(float, promises.chance))
    return parts, {FACTS: {"target_error": float(promises.target_error), "chance": chance, "rows": rows}}


def read_promises(parts: Mapping[str, Any], facts: Mapping[str, Any], decision: Decision) -> Promises:
    """Return what a model promises, checked."""
    told = facts[FACTS]
    target, chance, rows = told["target_error"], told["chance"], told["rows"]
    require(isinstance(target, float) and 0 <= target <= 1, "target_error must be a share")
    counted = isinstance(rows, dict) and all(type(n) is int and 0 <= n <= MOST_ROWS for n in rows.values())
    require(counted, "Rows that were held out must be counted")
    groups, n_classes = group_numbers(decision.groups, decision.classes), len(decision.classes)
    return Promises(
        target_error=target,
        sure=_curve(parts, "sure", rows["sure"]),
        sets=_sets(parts, rows["sets"]),
        group_sets=_group_sets(parts, groups),
        known=_spreads(parts["spreads"]),
        chance=None if chance is None else _chance(chance),
        heights=TreePromise(
            ClassTree.of(_parents(parts, "heights", n_classes), groups), _curve(parts, "heights", rows["heights"])
        ),
        known_heights=_known_heights(parts, rows, n_classes),
    )


def _curve_parts(name: str, curve: ErrorCurve) -> dict[str, Any]:
    counts = {f"{name}_answered": small(curve.answered), f"{name}_wrong": small(curve.wrong)}
    return {f"{name}_thresholds": curve.thresholds, **counts}


def _tree_parts(name: str, promise: TreePromise) -> dict[str, Any]:
    return {f"{name}_parents": small(promise.tree.parents), **_curve_parts(name, promise.curve)}


def _curve(parts: Mapping[str, Any], name: str, n_rows: int) -> ErrorCurve:
    thresholds, answered, wrong = (parts[f"{name}_{what}"] for what in ("thresholds", "answered", "wrong"))
    _require_rising(thresholds, f"{name}_thresholds", MOST_POINTS)
    for counts, what in ((answered, "answered"), (wrong, "wrong")):
        require_whole(counts, f"{name}_{what}", len(thresholds), n_rows)
    return ErrorCurve(thresholds, answered.astype(np.intp), wrong.astype(np.intp), n_rows)


def _require_rising(numbers: Any, name: str, most: int) -> None:
    require(numbers.ndim == 1 and len(numbers) <= most, f"{name} must be at most {most} numbers")
    require_numbers(numbers, name, (len(numbers),))
    require(bool((numbers[:-1] <= numbers[1:]).all()), f"{name} must rise")


def _parents(parts: Mapping[str, Any], name: str, n_classes: int) -> Array:
    """Return the parents of a tree: each node is before its parent, and each but the classes is one."""
    parents = parts[f"{name}_parents"]
    n_nodes = len(parents)
    require(n_classes < n_nodes <= MOST_NODES * n_classes, f"{name}_parents must be those of a tree")
    require_whole(parents, f"{name}_parents", n_nodes, n_nodes - 1)
    parents = parents.astype(np.intp)
    later = bool((parents[:-1] > np.arange(n_nodes - 1)).all()) and int(parents[-1]) == n_nodes - 1
    whole = np.array_equal(np.unique(parents), np.arange(n_classes, n_nodes))
    require(later and whole, f"{name}_parents must be those of a tree")
    return np.asarray(parents)


def _known_heights(parts: Mapping[str, Any], rows: Mapping[str, int], n_classes: int) -> TreePromise | None:
    if "known" not in rows:
        return None
    parents = _parents(parts, "known", n_classes)
    return TreePromise(ClassTree.of(parents, parents[:n_classes]), _curve(parts, "known", rows["known"]))


def _sets(parts: Mapping[str, Any], n_rows: int) -> SetScores:
    ranks = kept_ranks(n_rows, MOST_SET_POINTS)
    for name in ("sets_scores", "sets_sizes"):
        require_numbers(parts[name], name, (len(PENALTIES), len(ranks)))
    return SetScores(n_rows, ranks, parts["sets_scores"], parts["sets_sizes"])


def _group_sets(parts: Mapping[str, Any], group_of: Array) -> GroupScores:
    n_groups = int(group_of.max()) + 1
    require_whole(parts["group_rows"], "group_rows", n_groups, MOST_ROWS)
    n_rows = parts["group_rows"].astype(np.intp)
    starts = np.cumsum([0, *np.minimum(n_rows, MOST_GROUP_POINTS).tolist()])
    require_numbers(parts["group_scores"], "group_scores", (int(starts[-1]),))
    return GroupScores(group_of, n_rows, starts, parts["group_scores"])


def _spreads(spreads: Floats) -> SpreadOfKnown:
    _require_rising(spreads, "spreads", MOST_SPREADS + 1)
    return SpreadOfKnown(spreads)


def _chance(numbers: Any) -> UnknownChance:
    sound = isinstance(numbers, list) and len(numbers) == 2 and all(type(number) is float for number in numbers)
    sound = sound and all(math.isfinite(number) and abs(number) <= LARGEST_NUMBER for number in numbers)
    require(sound and numbers[0] >= 0, "The chance of unknown rows must have a slope and a shift")
    return UnknownChance(*numbers)

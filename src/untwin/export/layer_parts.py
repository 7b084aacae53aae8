"""What all models that only answer store: layers, calibration, classes and their groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._values import positions
from untwin.answer.layers import SecondStage
from untwin.answer.predictions import Decision
from untwin.answer.redirect import Redirect
from untwin.export.checks import LARGEST_NUMBER, MOST_LAYERS, finite, require_numbers, require_whole, small
from untwin.store.refusal import require
from untwin.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array
    from untwin.answer.layers import LinearLayers

ARRAYS = ("scale", "offset", "intercept", "by_length")
CALIBRATION = ("temperature", "slope", "shift")


def layer_parts(answerer: LinearLayers) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store of layers: parts, and facts."""
    parts: dict[str, Any] = {name: getattr(answerer, name) for name in ARRAYS}
    if answerer.second is not None:
        parts |= {f"second_{name}": value for name, value in answerer.second._asdict().items()}
    if answerer.redirect is not None:
        parts |= {"heirs": small(answerer.redirect.heirs + 1), "stands_for": small(answerer.redirect.own)}
    return parts, {name: float(getattr(answerer, name)) for name in CALIBRATION}


def decision_parts(decision: Decision) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store of classes: parts, and facts."""
    members = [name for group in decision.groups for name in group]
    parts = {
        "labels": _labels(decision.classes),
        "groups": small(positions(members, decision.classes)),
        "group_sizes": small([len(group) for group in decision.groups]),
    }
    facts = {
        "threshold": finite(decision.threshold),
        "widest": finite(decision.widest),
        "by_words": decision.by_words,
        "scoring": decision.scoring,
        "order": None if decision.order is None else decision.order.tolist(),
    }
    return parts, facts


def read_layers(parts: Mapping[str, Any], facts: Mapping[str, Any], n_classes: int) -> dict[str, Any]:
    """Return the fields of `LinearLayers`, checked; `n_classes` are those of the answers."""
    redirect = _redirect(parts, n_classes)
    n_classes = n_classes if redirect is None else len(redirect.heirs)
    n_layers = len(parts["by_length"])
    require(1 <= n_layers <= MOST_LAYERS and parts["by_length"].dtype == bool, "by_length must tell of each layer")
    require(parts["by_length"].ndim == 1, "by_length must tell of each layer")
    require_numbers(parts["scale"], "scale", (n_layers * n_classes,))
    require_numbers(parts["offset"], "offset", (n_layers, n_classes))
    require_numbers(parts["intercept"], "intercept", (n_layers, n_classes))
    numbers = {name: _number(facts, name) for name in CALIBRATION}
    require(numbers["temperature"] > 0 and numbers["slope"] >= 0, "temperature and slope must be positive")
    return {**{name: parts[name] for name in ARRAYS}, **numbers, "second": _second(parts, n_layers, n_classes)} | {
        "redirect": redirect
    }


def _redirect(parts: Mapping[str, Any], n_classes: int) -> Redirect | None:
    """Return where probabilities of trained classes go; each class of the answers gets that of one at least."""
    if "heirs" not in parts:
        return None
    heirs, own = parts["heirs"], parts["stands_for"]
    require_whole(heirs, "heirs", len(heirs), n_classes)
    require_whole(own, "stands_for", n_classes, len(heirs) - 1)
    found = Redirect(heirs.astype(np.intp) - 1, own.astype(np.intp))
    require(np.array_equal(found.heirs[found.own], np.arange(n_classes)), "Each class must have one that stands for it")
    return found


def read_decision(parts: Mapping[str, Any], facts: Mapping[str, Any]) -> Decision:
    """Return classes, groups, and how answers are decided, checked."""
    return _decision(parts, facts, _read_labels(parts["labels"]))


def _number(facts: Mapping[str, Any], name: str) -> float:
    number = facts[name]
    require(isinstance(number, float) and abs(number) <= LARGEST_NUMBER, f"{name} must be a number")
    return float(number)


def _second(parts: Mapping[str, Any], n_layers: int, n_classes: int) -> SecondStage | None:
    if "second_weights" not in parts:
        return None
    found = SecondStage(*(parts[f"second_{name}"] for name in SecondStage._fields))
    fits = found.weights.dtype == np.int16 and found.weights.shape == (n_layers * n_classes, n_classes)
    require(fits, "The second stage must have a weight for each class of each layer")
    require_numbers(found.scale, "second_scale", (n_classes,))
    require_numbers(found.intercept, "second_intercept", (n_classes,))
    return found


def _decision(parts: Mapping[str, Any], facts: Mapping[str, Any], labels: Array) -> Decision:
    members, sizes, order = parts["groups"], parts["group_sizes"], facts["order"]
    require_whole(members, "groups", len(labels), len(labels) - 1)
    require(len(np.unique(members)) == len(labels), "Each class must be in one group")
    require_whole(sizes, "group_sizes", len(sizes), len(labels))
    require(bool((sizes > 0).all()) and int(sizes.sum()) == len(labels), "Groups must hold all classes")
    if order is not None:
        whole = isinstance(order, list) and all(type(code) is int for code in order)
        require(whole and sorted(order) == list(range(len(labels))), "order must name each class once")
        order = np.array(order, dtype=np.intp)
    require(isinstance(facts["scoring"], str), "scoring must be a name")
    groups = [tuple(labels[part].tolist()) for part in np.split(members, np.cumsum(sizes)[:-1])]
    limits = (math.inf if facts[name] is None else _number(facts, name) for name in ("threshold", "widest"))
    require(isinstance(facts["by_words"], bool), "by_words must be true or false")
    return Decision(labels, groups, next(limits), facts["scoring"], order, next(limits), facts["by_words"])


def _read_labels(stored: Any) -> Array:
    labels = np.array([str(text) for text in stored]) if isinstance(stored, Texts) else stored
    require(labels.ndim == 1 and len(labels) > 1, "There must be two classes or more")
    own = labels.dtype.kind in "biufU" and len(np.unique(labels)) == len(labels)
    require(own, "Classes must have names of their own")
    return np.asarray(labels)


def _labels(classes: Array) -> Any:
    if classes.dtype.kind in "biuf":
        return classes
    if not all(isinstance(name, str) for name in classes.tolist()):
        raise ValueError("Classes must be texts or numbers for a model that only answers. Got others instead.")
    return Texts.of([str(name) for name in classes])

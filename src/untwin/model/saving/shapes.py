"""Check what an instance holds against the table of what the arrays and values of each kind must be.

Compiled loops and SciPy check no index, so that a stranger's number must not lead out of an array, nor ask for memory.

`shape_table` has the table and its syntax.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from untwin.model.saving.shape_table import SHAPES
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array

NAMED_SIZES = ("n_classes",)  # attributes that conditions may name
_ENTRY = re.compile(r"(\w+): *([\w|]+)(\?)?(?:\[([^\]]*)\])?(.*)")
_KINDS = {"floats": "f", "single": "f", "whole": "iu", "flags": "b", "numbers": "biuf", "labels": "biufUO"}
_VALUES: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (float, int, np.floating, np.integer),
    "bool": (bool, np.bool_),
    "text": (str,),
}


class Shape(NamedTuple):
    """One entry of the table."""

    name: str
    what: str
    optional: bool
    sizes: tuple[str, ...] | None
    conditions: tuple[str, ...]
    inner: tuple[str, ...]


@cache
def shapes_of(kind: str) -> tuple[Shape, ...]:
    """Return the entries of a kind."""
    found = []
    for entry in filter(str.strip, SHAPES.get(kind, "").split(";")):
        match = _ENTRY.fullmatch(entry.strip())
        if match is None:
            raise ValueError(f"An entry of {kind} must follow the syntax. Got {entry!r} instead.")
        name, what, optional, sizes, rest = match.groups()
        conditions, _, inner = rest.partition("of ")
        axes = None if sizes is None else tuple(sizes.split())
        inside = tuple(inner.strip().split("|")) if inner else ()
        found.append(Shape(name, what, optional is not None, axes, tuple(conditions.split()), inside))
    return tuple(found)


def require_shapes(kind: str, state: Mapping[str, Any]) -> None:
    """Refuse an instance whose arrays and values, by their names in files, are not as the table says."""
    sizes = {"m": state["n_features_in"]} if type(state.get("n_features_in")) is int else {}
    sizes |= {name: state[name] for name in NAMED_SIZES if type(state.get(name)) is int}
    later = []
    for shape in shapes_of(kind):
        if shape.name not in state or (shape.optional and state[shape.name] is None):
            continue
        said, value = f"{shape.name} of a {kind}", state[shape.name]
        _require_type(shape, value, said)
        if shape.sizes is not None and hasattr(value, "__len__" if not hasattr(value, "shape") else "shape"):
            later.append((shape, value, said))
        _require_conditions(shape, value, said, None)
    for free in (True, False):  # sizes that a name stands for first, then what is made of them
        for shape, value, said in later:
            _require_sizes(shape, value, said, sizes, free=free)
    for shape in shapes_of(kind):
        value = state.get(shape.name)
        if value is not None:
            _require_conditions(shape, value, f"{shape.name} of a {kind}", sizes)


def _require_type(shape: Shape, value: Any, said: str) -> None:
    sound = any(_is(what, value) for what in shape.what.split("|"))
    require(sound, f"{said} must be of its kind, {shape.what}")
    items = value.values() if isinstance(value, dict) else value if shape.inner else ()
    for item in items if shape.inner else ():
        require(any(_is(what, item) for what in shape.inner), f"{said} must hold {' or '.join(shape.inner)}")


def _is(what: str, value: Any) -> bool:
    """Tell whether a value is what an entry says."""
    if what in _VALUES:
        return isinstance(value, _VALUES[what]) and (what == "bool" or not isinstance(value, bool))
    if what == "Dtype":
        return isinstance(value, np.dtype)
    form, _, kind = what.rpartition("_")
    if kind not in _KINDS or form not in ("", "csr", "any"):
        return type(value).__name__ == what
    sparse, dense = isinstance(value, csr_array | csr_matrix), isinstance(value, np.ndarray)
    if not ((sparse and form != "") or (dense and form != "csr")):
        return False
    if value.dtype.kind not in _KINDS[kind] or (kind == "single" and value.dtype != np.float32):
        return False
    return kind != "labels" or value.dtype != object or _are_names(value)


def _are_names(labels: Array) -> bool:
    """Tell whether an array of objects holds names that can be sorted: texts alone, or numbers alone."""
    items = labels.ravel().tolist()
    return all(type(item) is str for item in items) or all(type(item) in (int, float, bool) for item in items)


def _require_sizes(shape: Shape, value: Any, said: str, sizes: dict[str, int], *, free: bool) -> None:
    found = value.shape if hasattr(value, "shape") else (len(value),)
    wanted = shape.sizes or ()
    if len(found) == 0 and shape.what.endswith("|float"):
        return
    require(len(found) == len(wanted), f"{said} must have {len(wanted)} axes")
    for size, name in zip(found, wanted, strict=True):
        derived = name.startswith("out") or name.endswith("-1")
        if name == "*" or derived is free:
            continue
        if derived:
            known = _derived(name, sizes)
            require(known is None or size == known, f"{said} must fit its other parts")
        else:
            least = int(name) if name.isdigit() else sizes.setdefault(name, size)
            require(size == least, f"{said} must fit its other parts")


def _derived(name: str, sizes: dict[str, int]) -> int | None:
    base = name.removesuffix("-1") if name.endswith("-1") else name.partition("_")[2] or "C"
    if base not in sizes:
        return None
    return sizes[base] - 1 if name.endswith("-1") else 1 if sizes[base] <= 2 else sizes[base]


def _require_conditions(shape: Shape, value: Any, said: str, sizes: Mapping[str, int] | None) -> None:
    """Require all conditions: without sizes those that need none, with them the others."""
    numbers = value.data if isinstance(value, csr_array | csr_matrix) else value
    array = isinstance(numbers, np.ndarray)
    if sizes is None:
        if "rising" in shape.conditions:
            require(numbers.ndim == 1 and bool((numbers[:-1] < numbers[1:]).all()), f"{said} must rise")
        real = (array and numbers.dtype.kind == "f") or isinstance(numbers, float)
        if real and "nan" not in shape.conditions:
            most, ends = _largest(numbers), (np.min(numbers, initial=0.0), np.max(numbers, initial=0.0))
            require(bool(-most <= ends[0] and ends[1] <= most), f"{said} must be finite")
    if not (array and numbers.dtype.kind in "biuf") and not isinstance(numbers, int | float | np.number):
        return
    if array and numbers.size == 0:
        return
    for condition in shape.conditions:
        if condition[0] in "<>":
            _require_bound(condition, numbers, said, sizes)


def _largest(numbers: Any) -> float:
    """Return up to which size numbers are taken: sums of their squares must be numbers too."""
    return 1e18 if getattr(numbers, "dtype", None) == np.float32 else 1e150


def _require_bound(condition: str, numbers: Any, said: str, sizes: Mapping[str, int] | None) -> None:
    bound = condition.lstrip("<>=")
    plain = bound.lstrip("-").isdigit()
    if plain is not (sizes is None) or (sizes is not None and bound not in sizes):
        return
    limit = int(bound) if sizes is None else sizes[bound]
    extreme = np.nanmin if condition[0] == ">" else np.nanmax
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f" and np.isnan(numbers).all():
        return
    found = extreme(numbers)
    sound = found >= limit if condition[0] == ">" else found <= limit
    strict = "=" not in condition
    require(bool(sound) and not (strict and found == limit), f"{said} must be {condition}")

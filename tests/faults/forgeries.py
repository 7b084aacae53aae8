"""Forge a saved model with thought: consistent within each object, inconsistent between them, with digests made anew.

`forge(folder, generator)` changes one number, one shape, one reference of a model in place and says how. Afterwards it
must be refused, or be a model that answers, explains, reports and learns: some forgeries are just another model.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.saving.arrays import ArrayReader
from untwin.model.saving.registry import KINDS
from untwin.store import load, save

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HUGE = (700_000_000, 2**31 - 1, 2**40, 2**62, -1, 0, 1, 2)
MATRICES = ("csr", "csr_matrix")
COLLECTIONS = ("tuple", "set", "frozenset", "objects", "frame")
COSTLY = [r"\w+x", r"(\w{99}){99}", r".*[^A-Z]|[A-Z]", r"(?:a|b|c)+d", r"[^\x00]{1000}", r"(a?){50}a{50}", r"\b"]


class Forger:
    """The tree and the arrays of a model, and what may be done to them."""

    def __init__(self, folder: Path, generator: np.random.Generator) -> None:
        self.stored = load(folder)
        self.tree, self.rng = json.loads(self.stored.parts["tree"][0]), generator
        self.forged: dict[str, np.ndarray] = {}
        self._reader = ArrayReader(self.stored.parts)

    def save(self, folder: Path) -> None:
        parts = {**self.stored.parts, "forged": {**self.forged}, "tree": [json.dumps(self.tree)]}
        save(folder, {name: part for name, part in parts.items() if part != {}}, self.stored.facts)

    def pick(self, things: list[Any]) -> Any:
        return things[int(self.rng.integers(len(things)))]

    def places(self) -> list[tuple[str, dict[str, Any], str]]:
        """Return (way, owner, key) of each array: one of each way first, so that few are not lost among many."""
        return [(way, owner, key) for way, owner, key in walk(self.tree) if is_place(owner, key)]

    def pick_by_way(self, things: list[tuple[str, Any, Any]]) -> tuple[str, Any, Any]:
        ways = sorted({way for way, _, _ in things})
        way = self.pick(ways)
        return self.pick([thing for thing in things if thing[0] == way])

    def array(self, owner: dict[str, Any], key: str) -> np.ndarray:
        return self._reader.get(owner[key])

    def put(self, owner: dict[str, Any], key: str, array: np.ndarray) -> None:
        name = str(len(self.forged))
        self.forged[name] = np.ascontiguousarray(array)
        owner[key] = f"forged/{name}"


def walk(node: Any, way: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (way, owner, key) of everything in the tree; a way names kinds and attributes, not positions."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        here = f"{key}" if key in KINDS else f"{way}.{key}" if isinstance(node, dict) else way
        yield here, node, key
        if isinstance(value, dict | list) and not is_place(node, key):
            yield from walk(value, here)


def is_place(owner: Any, key: Any) -> bool:
    """Tell whether a node says where an array is."""
    if not isinstance(owner, dict):
        return False
    return key == "array" or (key in ("data", "indices", "indptr") and "shape" in owner) or key in ("codes", "lengths")


def one_number(forger: Forger) -> str:
    """Change a number of an array."""
    way, owner, key = forger.pick_by_way(forger.places())
    array = forger.array(owner, key).copy()
    if array.size == 0:
        return more_rows(forger)
    place = tuple(int(forger.rng.integers(size)) for size in array.shape)
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        lies: list[Any] = [info.max, info.min, int(array.max()) + 1, int(array[place]) + 1, 0, 700_000_000, -1]
        lie = int(np.clip(forger.pick(lies), info.min, info.max))
    elif array.dtype.kind == "f":
        lie = forger.pick([np.nan, np.inf, -np.inf, -1.0, 0.0, float(np.finfo(array.dtype).max), 1e-40])
    elif array.dtype.kind == "b":
        lie = not array[place]
    else:
        lie = forger.pick(["", "zzz", str(array.flat[0])])
    array[place] = lie
    forger.put(owner, key, array)
    return f"{way}{list(place)} = {lie}"


def answer_number(forger: Forger) -> str:
    """Change a number of an array that is named in no tree: of what answers."""
    parts = {name: part for name, part in forger.stored.parts.items() if name not in ("tree", "small arrays")}
    found = [(way, owner, key) for way, owner, key in arrays_of(parts) if owner[key].size]
    if not found:
        return one_number(forger)
    way, owner, key = forger.pick_by_way(found)
    array = owner[key].copy()
    place = tuple(int(forger.rng.integers(size)) for size in array.shape)
    whole = array.dtype.kind in "iu"
    info: Any = np.iinfo(array.dtype) if whole else None
    lies = [info.max, info.min, 0, int(array.max()) + 1] if whole else [np.nan, np.inf, -1, 0]
    array[place] = np.clip(forger.pick(lies), info.min, info.max) if whole else forger.pick(lies)
    owner[key] = array
    return f"{way}{list(place)} = {array[place]}"


def arrays_of(parts: dict[str, Any], way: str = "") -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield (way, owner, key) of the arrays of numbers that parts consist of."""
    for key, part in parts.items():
        if isinstance(part, dict):
            yield from arrays_of(part, f"{way}/{key}")
        elif isinstance(part, np.ndarray) and part.dtype.kind in "iuf":
            yield f"{way}/{key}", parts, key


def more_rows(forger: Forger) -> str:
    """Give an array one row more or less, no rows, or another axis or dtype."""
    way, owner, key = forger.pick_by_way(forger.places())
    array = forger.array(owner, key)
    whole = array.dtype.kind in "iu"
    others = {
        "shorter": lambda: array[:-1],
        "longer": lambda: np.concatenate([array, array[-1:]]),
        "empty": lambda: array[:0],
        "turned": lambda: array.T,
        "flat": array.ravel,
        "deeper": lambda: array[np.newaxis],
        "twice": lambda: np.concatenate([array, array]),
        "other dtype": lambda: array.astype(np.float64 if whole else np.int64) if array.dtype.kind != "U" else array,
        "bytes": lambda: array.astype(np.uint8) if array.dtype.kind in "iufb" else array,
        "backwards": lambda: array[::-1],
    }
    with np.errstate(invalid="ignore"):
        how = forger.pick(sorted(others))
        forger.put(owner, key, others[how]())
    return f"{way} {how}"


def swapped_arrays(forger: Forger) -> str:
    """Put an array where another one of the same sort of numbers is."""
    way, owner, key = forger.pick_by_way(forger.places())
    kind = forger.array(owner, key).dtype.kind
    same = [place for place in forger.places() if forger.array(place[1], place[2]).dtype.kind == kind]
    other, there, name = forger.pick_by_way(same)
    owner[key], there[name] = there[name], owner[key]
    return f"{way} <-> {other}"


def other_matrix(forger: Forger) -> str:
    """Put a matrix, sound by itself, of another shape or with other numbers, where one is; or any other matrix."""
    matrices = [place for place in walk(forger.tree) if place[2] in MATRICES]
    if not matrices:
        return swapped_arrays(forger)
    way, owner, kind = forger.pick_by_way(matrices)
    matrix = owner[kind]
    rows, columns = matrix["shape"]
    indptr = forger.array(matrix, "indptr")
    how = str(forger.pick(["wider", "far wider", "taller", "shorter", "another", "denser"]))
    if how in ("wider", "far wider"):
        matrix["shape"] = [rows, columns + 1 if how == "wider" else int(np.iinfo(indptr.dtype).max)]
    elif how == "taller":
        matrix["shape"] = [rows + 1, columns]
        forger.put(matrix, "indptr", np.append(indptr, indptr[-1:]))
    elif how == "shorter" and rows:
        matrix["shape"] = [rows - 1, columns]
        for key in ("data", "indices"):
            forger.put(matrix, key, forger.array(matrix, key)[: indptr[-2]])
        forger.put(matrix, "indptr", indptr[:-1])
    elif how == "denser":
        forger.put(matrix, "data", -forger.array(matrix, "data").astype(np.float64))
    else:
        other = forger.pick_by_way(matrices)
        owner[kind] = deepcopy(other[1][other[2]])
        how = f"another: {other[0]}"
    return f"{way} {how}"


def swapped_objects(forger: Forger) -> str:
    """Swap two objects, or the same attribute of two objects of a kind."""
    things = [place for place in walk(forger.tree) if place[2] in KINDS and place[2] != "model"]
    way, owner, kind = forger.pick_by_way(things)
    twins = [place for place in things if place[2] == kind and place[1] is not owner]
    if twins and owner[kind] and forger.rng.random() < 0.6:
        _, other, _ = forger.pick(twins)
        name = forger.pick(sorted(owner[kind]))
        if name in other[kind]:
            owner[kind][name], other[kind][name] = other[kind][name], owner[kind][name]
        return f"{way}.{name} swapped"
    _, other, name = forger.pick_by_way(things)
    mine, theirs = deepcopy(owner[kind]), deepcopy(other[name])
    owner.clear()
    other.clear()
    owner[name], other[kind] = theirs, mine
    return f"{way} <-> {name}"


def repeated(forger: Forger) -> str:
    """Repeat what a collection holds, 400 times."""
    lists = [place for place in walk(forger.tree) if isinstance(place[1][place[2]], list) and place[1][place[2]]]
    way, owner, key = forger.pick_by_way([place for place in lists if not is_place(place[1], place[2])])
    times = int(forger.pick([2, 400]))
    owner[key] = (owner[key] * times)[: 40 * times]
    return f"{way} {times} times"


def one_less(forger: Forger) -> str:
    """Take something out of a collection, or put something twice."""
    found = [place for place in walk(forger.tree) if isinstance(place[1][place[2]], list) and place[1][place[2]]]
    found = [place for place in found if not is_place(place[1], place[2])]
    way, owner, key = forger.pick_by_way(found)
    items = owner[key]
    place = int(forger.rng.integers(len(items)))
    how = forger.pick(["gone", "twice", "backwards"])
    owner[key] = {"gone": items[:place] + items[place + 1 :], "twice": [*items, items[place]]}.get(how, items[::-1])
    return f"{way}[{place}] {how}"


def huge_number(forger: Forger) -> str:
    """Put a huge, negative or strange number where one is."""
    found = [place for place in walk(forger.tree) if type(place[1][place[2]]) in (int, float)]
    way, owner, key = forger.pick_by_way(found)
    lies: list[Any] = [*HUGE, {"float": "nan"}, {"float": "inf"}, -1.0, 1e308, 1e-300, 0.0]
    owner[key] = forger.pick(lies)
    return f"{way} = {owner[key]}"


def other_text(forger: Forger) -> str:
    """Put another text where one is: a role, a rule, a name, a pattern."""
    found = [place for place in walk(forger.tree) if type(place[1][place[2]]) is str]
    found = [place for place in found if not is_place(place[1], place[2])]
    way, owner, key = forger.pick_by_way(found)
    if key == "token_pattern":
        owner[key] = forger.pick(COSTLY)
    else:
        others = sorted({place[1][place[2]] for place in found if place[0] == way} | {"", "x", "text", "nominal"})
        owner[key] = forger.pick(others)
    return f"{way} = {owner[key]!r:.40}"


def other_value(forger: Forger) -> str:
    """Put nothing, a list, or a name where a value is."""
    found = [place for place in walk(forger.tree) if place[0].count(".") and not is_place(place[1], place[2])]
    way, owner, key = forger.pick_by_way([place for place in found if isinstance(place[1], dict)])
    lies: list[Any] = [None, [], {"dict": {}}, {"tuple": []}, True, "x", 3, 0.5, {"type": "float32"}]
    owner[key] = forger.pick(lies)
    return f"{way} = {owner[key]}"


def no_tree(forger: Forger) -> str:
    """Let branches share what is below them, 2^40 ways from the root; or lead back."""
    trees = [place[1][place[2]] for place in walk(forger.tree) if place[2] == "expert-tree"]
    if not trees:
        return other_matrix(forger)
    tree = forger.pick(trees)
    branches, experts = tree["branches"]["tuple"], tree["experts"]["tuple"]
    n = int(forger.pick([len(branches), 41]))
    tree["branches"]["tuple"] = [deepcopy(branches[min(number, 1, len(branches) - 1)]) for number in range(n)]
    tree["experts"]["tuple"] = [deepcopy(experts[min(number, 1, len(experts) - 1)]) for number in range(n)]
    back = bool(forger.rng.random() < 0.2)
    for number, branch in enumerate(tree["branches"]["tuple"]):
        below = branch["branch"]["below"]
        lies = np.full_like(forger.array(below, "array"), (number + 1) % n if back else number + 1)
        forger.put(below, "array", np.where(lies < n, lies, -1))
    return f"{n} branches, {'a circle' if back else 'shared'}"


WAYS = [
    *(one_number, one_number, answer_number, more_rows, more_rows, swapped_arrays, other_matrix, swapped_objects),
    *(repeated, one_less, huge_number, huge_number, other_text, other_value, no_tree),
]


def forge(folder: Path, generator: np.random.Generator) -> str:
    """Forge the model of a folder and return a line that says how."""
    forger = Forger(folder, generator)
    way = forger.pick(WAYS)
    how = way(forger)
    forger.save(folder)
    return f"{way.__name__}: {how}"

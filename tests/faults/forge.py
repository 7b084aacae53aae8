"""Forge a saved model as a stranger might who knows the format: every digest is right, the content is not.

`forge(folder, generator)` harms the model in place and says how. Afterwards it must be refused, or answer as before to
the last bit (what was harmed may have no say in answers). What could be another model just as well, such as other
weights, is no forgery that anyone could tell, and not among these.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.saving.registry import KINDS
from untwin.store import load, save
from untwin.store.manifest import sign_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOREIGN = ["Popen", "os.system", "builtins.eval", "fitted-state2", "array ", "UntwinClassifier", "", "BaseEstimator"]
MATRICES = ("csr", "csr_matrix")


def forge(folder: Path, generator: np.random.Generator) -> str:
    """Harm the model and return a line that says how."""
    way = WAYS[generator.integers(len(WAYS))]
    stored = load(folder)
    tree, parts = json.loads(stored.parts["tree"][0]), {**stored.parts}
    how = way(tree, parts, generator)
    parts["tree"] = [tree if isinstance(tree, str) else json.dumps(tree)]
    save(folder, parts, stored.facts)
    return f"{way.__name__}: {how}"


def wrong_index(tree, parts, generator):
    """Let an index or row pointer of a matrix lead out of it."""
    matrix = _any(generator, [node for kind, node, _ in _nodes(tree) if kind in MATRICES and node["indices"][2] != [0]])
    key = str(generator.choice(["indices", "indptr"]))
    dtype, start, shape, _ = matrix[key]
    pool = parts["small arrays"][dtype].copy()
    info = np.iinfo(pool.dtype)
    beyond = matrix["shape"][1] if key == "indices" else int(pool[start : start + shape[0]].max()) + 1
    number = int(generator.choice(np.array([-1, info.max, info.min, beyond], dtype=object)))
    place = start + int(generator.integers(shape[0]))
    pool[place] = number
    parts["small arrays"] = {**parts["small arrays"], dtype: pool}
    return f"{key}[{place}] = {number}"


def wrong_shape(tree, parts, generator):
    """Let a matrix claim other rows or fewer columns than it uses."""
    matrix = _any(generator, [node for kind, node, _ in _nodes(tree) if kind in MATRICES])
    rows, columns = matrix["shape"]
    lies = [
        [rows + 1, columns],
        [rows - 1, columns],
        [-1, columns],
        [rows, -1],
        [rows, 2**70],
        [rows],
        "x",
        [2**62] * 2,
    ]
    matrix["shape"] = lies[generator.integers(len(lies))]
    return f"{[rows, columns]} -> {matrix['shape']}"


def wrong_class(tree, parts, generator):
    """Name a class that models do not consist of."""
    kind, _, owner = _any(generator, _instances(tree))
    name = str(generator.choice(FOREIGN))
    owner[name] = owner.pop(kind)
    return f"{kind} -> {name!r}"


def other_class(tree, parts, generator):
    """Name another class, which holds other things."""
    kind, _, owner = _any(generator, _instances(tree))
    other = str(generator.choice(sorted({name for name, _, _ in _instances(tree)} - {kind, "blend"})))
    owner[other] = owner.pop(kind)
    return f"{kind} -> {other}"


def lost_attribute(tree, parts, generator):
    kind, content, _ = _any(generator, [each for each in _instances(tree) if each[1]])
    name = str(generator.choice(list(content)))
    del content[name]
    return f"{kind}.{name}"


def strange_attribute(tree, parts, generator):
    kind, content, _ = _any(generator, _instances(tree))
    name = str(generator.choice(["__class__", "predict_proba", "fit", "__dict__", "__reduce__", "classes_"]))
    content[name] = None
    return f"{kind}.{name}"


def wrong_place(tree, parts, generator):
    """Look for an array where there is none."""
    places = [owner["array"] for kind, _, owner in _nodes(tree) if kind == "array" and isinstance(owner["array"], list)]
    place = _any(generator, places)
    lies: list[Any] = [
        (0, "<f2"),
        (0, "|O"),
        (1, -1),
        (1, 2**40),
        (1, 1.5),
        (2, [2**31, 2**31]),
        (2, [-1]),
        (2, "3"),
        (2, [1] * 70),
        (3, "K"),
    ]
    slot, lie = lies[generator.integers(len(lies))]
    place[slot] = lie
    return f"{slot}: {lie!r:.40}"


def wrong_type(tree, parts, generator):
    """Put something else where a number, a text or an array is expected."""
    kind, content, _ = _any(generator, [each for each in _instances(tree) if each[1]])
    name = str(generator.choice(list(content)))
    lies: list[Any] = [None, "x", [], {"dict": {}}, {"float": "nan"}, {"tuple": [1]}, {"slice": [0, 1, None]}, 2**63]
    content[name] = lies[generator.integers(len(lies))]
    return f"{kind}.{name} = {content[name]!r}"


def deep(tree, parts, generator):
    _, content, _ = _any(generator, [each for each in _instances(tree) if each[1]])
    nest: Any = []
    for _ in range(int(generator.choice([100, 400]))):
        nest = [nest]
    content[next(iter(content))] = nest
    return "levels"


def harmful(tree, parts, generator):
    """Ask for what would do harm: a cache that unpickles, a million threads."""
    lies = {"pipeline": ("memory", "/tmp"), "knn": ("n_jobs", 10**6), "text-counts": ("ngram_range", None)}
    kind, content, _ = _any(generator, [each for each in _instances(tree) if each[0] in lies])
    name, lie = lies[kind]
    content[name] = {"tuple": [1, 10**9]} if lie is None else lie
    return f"{kind}.{name}"


def no_tree(tree, parts, generator):
    """Write something else than a tree."""
    lies: list[Any] = [None, [], {}, "x", 3, {"list": []}, {"dict": {"a": 1}}, {"array": "views/0"}]
    tree.clear()
    tree["dict"] = {"x": lies[generator.integers(len(lies))]}
    return f"{tree}"


WAYS = [
    *(wrong_index, wrong_index, wrong_shape, wrong_class, other_class, lost_attribute, strange_attribute),
    *(wrong_place, wrong_type, wrong_type, deep, harmful, no_tree),
]


def forge_facts(folder: Path, generator: np.random.Generator) -> str:
    """Change the facts of the manifest, with the right digest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["sha256"]
    lies: list[Any] = [{}, {"about": {}}, {"versions": [], "summary": {}, "about": {}}, {"about": 3, "versions": {}}]
    manifest["facts"] = lies[generator.integers(len(lies))]
    path.write_bytes(sign_manifest(manifest))
    return f"forge_facts: {manifest['facts']}"


def _any(generator, things):
    return things[generator.integers(len(things))]


def _nodes(node: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield (kind, content, node) of every node that has a kind."""
    if isinstance(node, dict) and len(node) == 1:
        kind, content = next(iter(node.items()))
        yield kind, content, node
        inner = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    else:
        inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for each in inner:
        yield from _nodes(each)


def _instances(tree):
    return [each for each in _nodes(tree) if each[0] in KINDS]

"""What answers about texts, as arrays and facts to store, and back with everything checked.

Nothing is computed with an array before it is checked: its type, its shape, the range of each number, and whether it
fits the others. Checks and memory are linear in what is stored.

    terms, lengths    all terms of all vocabularies, one after the other, and the characters of each
    columns           the column of each term, unless all are in order
    idf, block_of     of each column
    n_weights         how many weights each column has; `classes` and `weights` of all of them
    scale, offset, intercept, by_length, shares, second_*     as in `TextAnswerer`
    labels            names or numbers of the classes; `groups`: the classes group by group, and `group_sizes`
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import Stemmer

from untwin._values import positions
from untwin.answer.answerer import SecondStage, TextAnswerer, Vocabulary
from untwin.answer.fixed_point import ONE, PackedWeights
from untwin.answer.predictions import Decision
from untwin.answer.terms import TermReader
from untwin.store.refusal import damage_error, require
from untwin.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from untwin._types import Array
    from untwin.answer.fixed_point import CountedRows

    Counter = Callable[[tuple[Vocabulary, ...]], Callable[[list[str]], CountedRows]]

ANALYZERS = ("word", "char", "char_wb")
LONGEST_RUN = 8  # words or characters of a term
MOST_BLOCKS = 8
LARGEST_IDF = 64 * ONE
LARGEST_NUMBER = 1e30  # of scales, offsets and the like: products of three stay finite
SCALARS = ("temperature", "slope", "shift", "threshold")


def to_parts(answerer: TextAnswerer, decision: Decision) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store: parts, and facts."""
    packed, terms = answerer.weights, [term for vocabulary in answerer.vocabularies for term in vocabulary.terms]
    parts: dict[str, Any] = {
        "terms": _bytes("".join(terms)),
        "lengths": _small([len(term) for term in terms]),
        "idf": _small(answerer.idf),
        "block_of": _small(answerer.block_of),
        "n_weights": _small(np.diff(packed.starts)),
        "classes": _small(packed.columns),
        "weights": packed.weights,
        "scale": answerer.scale,
        "offset": answerer.offset,
        "intercept": answerer.intercept,
        "by_length": answerer.by_length,
        "shares": answerer.shares,
        "labels": _labels(decision.classes),
        "groups": _small(positions([name for members in decision.groups for name in members], decision.classes)),
        "group_sizes": _small([len(members) for members in decision.groups]),
    }
    columns = np.concatenate([vocabulary.columns for vocabulary in answerer.vocabularies])
    if (columns != np.arange(len(columns))).any():
        parts["columns"] = _small(columns)
    if answerer.second is not None:
        parts |= {f"second_{name}": value for name, value in answerer.second._asdict().items()}
    facts = {
        "readers": [
            [one.reader.analyzer, one.reader.shortest, one.reader.longest, one.reader.stemmer, len(one.terms)]
            for one in answerer.vocabularies
        ],
        "temperature": float(answerer.temperature),
        "slope": float(answerer.slope),
        "shift": float(answerer.shift),
        "threshold": float(decision.threshold),
        "scoring": decision.scoring,
        "order": None if decision.order is None else decision.order.tolist(),
    }
    return parts, facts


def from_parts(parts: Mapping[str, Any], facts: Mapping[str, Any], counter: Counter) -> tuple[TextAnswerer, Decision]:
    """Return what answers; raise `ModelRefused` where parts do not fit together."""
    try:
        labels = _read_labels(parts["labels"])
        vocabularies = _vocabularies(parts, facts["readers"], len(parts["idf"]))
        decision = _decision(parts, facts, labels)
        answerer = _answerer(parts, facts, vocabularies, len(labels), counter)
    except (KeyError, TypeError, AttributeError) as error:
        raise damage_error(f"A model that answers must have all its parts. Got {error} instead.") from None
    return answerer, decision


def _answerer(
    parts: Mapping[str, Any],
    facts: Mapping[str, Any],
    vocabularies: tuple[Vocabulary, ...],
    n_classes: int,
    counter: Counter,
) -> TextAnswerer:
    n_terms, n_layers = len(parts["idf"]), len(parts["by_length"])
    _require_whole(parts["idf"], "idf", n_terms, LARGEST_IDF)
    _require_whole(parts["block_of"], "block_of", n_terms, 2 * MOST_BLOCKS)
    require(1 <= n_layers <= MOST_BLOCKS and parts["by_length"].dtype == bool, "by_length must tell of each layer")
    shapes: dict[str, tuple[int, ...]] = {"scale": (n_layers * n_classes,), "shares": (n_classes,)}
    shapes |= {"offset": (n_layers, n_classes), "intercept": (n_layers, n_classes)}
    for name, shape in shapes.items():
        _require_numbers(parts[name], name, shape)
    numbers = {name: facts[name] for name in SCALARS}
    for name, number in numbers.items():
        require(isinstance(number, float) and abs(number) <= LARGEST_NUMBER, f"{name} must be a number")
    require(numbers["temperature"] > 0 and numbers["slope"] >= 0, "temperature and slope must be positive")
    return TextAnswerer(
        vocabularies,
        parts["idf"].astype(np.int64),
        parts["block_of"].astype(np.int64),
        _packed(parts, n_terms, n_layers * n_classes),
        parts["scale"],
        parts["offset"],
        parts["intercept"],
        parts["by_length"],
        _second(parts, n_layers, n_classes),
        numbers["temperature"],
        numbers["slope"],
        numbers["shift"],
        parts["shares"],
        counter(vocabularies),
    )


def _packed(parts: Mapping[str, Any], n_terms: int, n_columns: int) -> PackedWeights:
    columns, weights = parts["classes"], parts["weights"]
    _require_whole(parts["n_weights"], "n_weights", n_terms, n_columns)
    starts = np.concatenate([[0], np.cumsum(parts["n_weights"], dtype=np.int64)])
    require(weights.dtype in (np.int8, np.int16) and weights.shape == (starts[-1],), "weights must be those counted")
    _require_whole(columns, "classes", len(weights), n_columns - 1)
    return PackedWeights(starts, columns, weights, n_columns)


def _second(parts: Mapping[str, Any], n_layers: int, n_classes: int) -> SecondStage | None:
    if "second_weights" not in parts:
        return None
    found = SecondStage(*(parts[f"second_{name}"] for name in SecondStage._fields))
    fits = found.weights.dtype == np.int16 and found.weights.shape == (n_layers * n_classes, n_classes)
    require(fits, "The second stage must have a weight for each class of each layer")
    _require_numbers(found.scale, "second_scale", (n_classes,))
    _require_numbers(found.intercept, "second_intercept", (n_classes,))
    return found


def _vocabularies(parts: Mapping[str, Any], readers: Any, n_columns: int) -> tuple[Vocabulary, ...]:
    lengths, columns = parts["lengths"], parts.get("columns", np.arange(n_columns))
    require(isinstance(readers, list) and 1 <= len(readers) <= MOST_BLOCKS, "There must be a few readers")
    made = [_reader(*one) for one in readers]
    _require_whole(columns, "columns", n_columns, n_columns - 1)
    require(len(np.unique(columns)) == n_columns, "Each column must have one term")
    require(parts["terms"].dtype == np.uint8 and parts["terms"].ndim == 1, "terms must be bytes")
    _require_whole(lengths, "lengths", n_columns, len(parts["terms"]))
    try:
        text = parts["terms"].tobytes().decode()
    except UnicodeDecodeError:
        raise damage_error("terms must be UTF-8. Got other bytes instead.") from None
    ends = np.cumsum(lengths, dtype=np.int64)
    require(sum(count for _, count in made) == n_columns, "Readers must have all terms")
    require(n_columns > 0 and int(ends[-1]) == len(text), "lengths must be those of the terms")
    places = [0, *ends.tolist()]
    terms = [text[start:end] for start, end in pairwise(places)]
    bounds = np.cumsum([0, *(count for _, count in made)]).tolist()
    return tuple(
        Vocabulary(reader, terms[start:end], np.asarray(columns[start:end], dtype=np.int64))
        for (reader, _), (start, end) in zip(made, pairwise(bounds), strict=True)
    )


def _reader(analyzer: Any, shortest: Any, longest: Any, stemmer: Any, count: Any) -> tuple[TermReader, int]:
    """Return a reader of a fixed list, none of which costs more than a text is long, and how many terms it has."""
    require(analyzer in ANALYZERS, f"A reader must be one of {', '.join(ANALYZERS)}")
    whole = all(type(number) is int for number in (shortest, longest, count))
    require(whole and 1 <= shortest <= longest <= LONGEST_RUN and count >= 0, "Runs of terms must be short")
    require(stemmer is None or stemmer in Stemmer.algorithms(), "A stemmer must be known")
    return TermReader(analyzer, shortest, longest, stemmer), count


def _decision(parts: Mapping[str, Any], facts: Mapping[str, Any], labels: Array) -> Decision:
    members, sizes, order = parts["groups"], parts["group_sizes"], facts["order"]
    _require_whole(members, "groups", len(labels), len(labels) - 1)
    require(len(np.unique(members)) == len(labels), "Each class must be in one group")
    _require_whole(sizes, "group_sizes", len(sizes), len(labels))
    require(bool((sizes > 0).all()) and int(sizes.sum()) == len(labels), "Groups must hold all classes")
    if order is not None:
        whole = isinstance(order, list) and all(type(code) is int for code in order)
        require(whole and sorted(order) == list(range(len(labels))), "order must name each class once")
        order = np.array(order, dtype=np.intp)
    require(isinstance(facts["scoring"], str), "scoring must be a name")
    groups = [tuple(labels[part].tolist()) for part in np.split(members, np.cumsum(sizes)[:-1])]
    return Decision(labels, groups, facts["threshold"], facts["scoring"], order)


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


def _small(numbers: Any) -> Array:
    """Return whole numbers from 0 on in the smallest type that holds them."""
    array = np.asarray(numbers)
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def _bytes(text: str) -> Array:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _require_whole(array: Any, name: str, length: int, most: int) -> None:
    fits = array.dtype.kind in "iu" and array.shape == (length,)
    fits = fits and (length == 0 or (array.min() >= 0 and array.max() <= most))
    require(bool(fits), f"{name} must be {length} whole numbers from 0 to {most}")


def _require_numbers(array: Any, name: str, shape: tuple[int, ...]) -> None:
    fits = array.dtype == np.float64 and array.shape == shape and bool((np.abs(array) <= LARGEST_NUMBER).all())
    require(fits, f"{name} must be numbers of shape {shape}")

"""What only a model of tables stores: its columns, and the weights of their terms.

Facts tell of each used column, in order, its role, the number of its name, and how much in the arrays is its own.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.cells import NameColumn, NumberColumn, TextColumn
from untwin.answer.tables import TableAnswerer
from untwin.export.checks import require_numbers, small
from untwin.export.text_parts import (
    MOST_BLOCKS,
    read_term_weights,
    read_vocabularies,
    read_weights,
    vocabulary_parts,
    weight_parts,
)
from untwin.store.refusal import require
from untwin.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin.answer.cells import Cells, TableColumn
    from untwin.answer.counting import Vocabulary
    from untwin.export.text_parts import Counter

FACTS: dict[str, dict[str, type]] = {
    "numeric": {"name": int, "points": int, "has_missing": bool, "scored": bool, "tells_missing": bool},
    "nominal": {"name": int, "frequent": int, "rare": int, "has_missing": bool},
    "text": {"name": int, "readers": int, "terms": int},
}
TERM_WEIGHTS = ("idf", "block_of")


def table_parts(answerer: TableAnswerer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store of columns: parts, and facts."""
    place = {name: number for number, name in enumerate(answerer.names)}
    columns, texts = answerer.columns, [one for one in answerer.columns if isinstance(one, TextColumn)]
    numbers = [one for one in columns if isinstance(one, NumberColumn)]
    scored = [(one.mean, one.scale) for one in numbers if one.mean is not None]
    parts: dict[str, Any] = {
        "names": Texts.of(answerer.names),
        "points": np.concatenate([np.empty(0), *(one.points for one in numbers)]),
        "moments": np.array(scored, dtype=np.float64).reshape(-1, 2),
        "values": Texts.of([name for one in columns if isinstance(one, NameColumn) for name in one.places]),
        "factors": answerer.factors,
        **weight_parts(answerer.weights),
    }
    facts: dict[str, Any] = {"columns": [{"role": one.role, **_facts_of(one, place[one.name])} for one in columns]}
    if texts:
        of_texts, more = vocabulary_parts(_side_by_side(texts))
        weights = {name: small(np.concatenate([getattr(one, name) for one in texts])) for name in TERM_WEIGHTS}
        parts |= {**of_texts, **weights}
        facts |= more
    return parts, facts


def _facts_of(column: TableColumn, name: int) -> dict[str, Any]:
    match column:
        case NumberColumn():
            how = {"scored": column.mean is not None, "tells_missing": column.tells_missing}
            return {"name": name, "points": len(column.points), "has_missing": column.has_missing, **how}
        case NameColumn():
            counts = {"frequent": len(column.frequent), "rare": len(column.rare)}
            return {"name": name, **counts, "has_missing": column.has_missing}
    return {"name": name, "readers": len(column.vocabularies), "terms": column.size}


def _side_by_side(texts: list[TextColumn]) -> list[Vocabulary]:
    """Return the vocabularies of all columns of texts, with the terms of one column after those of the other."""
    starts = np.cumsum([0, *(one.size for one in texts)]).tolist()
    return [
        vocabulary._replace(columns=vocabulary.columns + start)
        for one, start in zip(texts, starts[:-1], strict=True)
        for vocabulary in one.vocabularies
    ]


def table_answerer(
    parts: Mapping[str, Any], facts: Mapping[str, Any], shared: dict[str, Any], counter: Counter
) -> TableAnswerer:
    """Return what answers about rows of a table; `shared` are the checked fields of its layers."""
    names, told = _read_texts(parts["names"], "names"), facts["columns"]
    require(len(set(names)) == len(names), "Columns must have names of their own")
    require(isinstance(told, list) and 1 <= len(told) <= len(names), "There must be columns that are used")
    require(all(_tells_of_column(one, len(names)) for one in told), "Columns must be told of by role, name and sizes")
    require(len({one["name"] for one in told}) == len(told), "Each column must be used once")
    stock, columns = _stock(parts, facts, len(names)), list[Any]()
    for one in told:
        first = columns[-1].first + columns[-1].size if columns else 0
        columns.append(READERS[one["role"]](stock, names[one["name"]], first, one, counter))
    require(all(part.is_empty for part in stock), "Columns must have all that is stored of them")
    require_numbers(parts["factors"], "factors", (len(columns),))
    return TableAnswerer(
        names=names,
        columns=tuple(columns),
        factors=parts["factors"],
        weights=read_weights(parts, columns[-1].first + columns[-1].size, len(shared["scale"])),
        read_frame=_read_frame,
        **shared,
    )


def _tells_of_column(told: Any, n_names: int) -> bool:
    """Tell whether facts are those of a column: of the right types, no number below 0, a name that there is."""
    kinds = FACTS.get(str(told.get("role"))) if isinstance(told, dict) else None
    if kinds is None or told.keys() != {"role", *kinds}:
        return False
    fits = all(type(told[name]) is kind and told[name] >= 0 for name, kind in kinds.items())
    return fits and told["name"] < n_names


class _Supply:
    """Items of all columns, handed out from the first to the last."""

    def __init__(self, items: Any) -> None:
        self.items, self.taken = items, 0

    def take(self, number: int) -> Any:
        """Return the next items."""
        part = self.items[self.taken : self.taken + number]
        require(len(part) == number, "Columns must not have more than is stored of them")
        self.taken += number
        return part

    @property
    def is_empty(self) -> bool:
        """Whether all items have been taken."""
        return self.taken == len(self.items)


class _Stock(NamedTuple):
    points: _Supply
    moments: _Supply
    values: _Supply
    vocabularies: _Supply
    idf: _Supply
    block_of: _Supply


def _stock(parts: Mapping[str, Any], facts: Mapping[str, Any], n_names: int) -> _Stock:
    """Return what columns are made of, checked as far as it can be without them."""
    points, moments = parts["points"], parts["moments"]
    shaped = points.dtype == moments.dtype == np.float64 and points.ndim == 1 and moments.shape == (len(moments), 2)
    finite = shaped and bool(np.isfinite(points).all() and np.isfinite(moments).all() and (moments[:, 1] > 0).all())
    require(finite, "points and moments must be finite numbers, and standard deviations positive")
    vocabularies: Sequence[Vocabulary] = ()
    weights: dict[str, Any] = dict.fromkeys(TERM_WEIGHTS, np.empty(0, dtype=np.int64))
    if "readers" in facts:
        n_terms = len(parts["idf"])
        vocabularies = read_vocabularies(parts, facts, n_terms, MOST_BLOCKS * n_names)
        weights = read_term_weights(parts, n_terms)
    arrays = (points, moments.tolist(), _read_texts(parts["values"], "values"), vocabularies)
    return _Stock(*map(_Supply, (*arrays, *(weights[name] for name in TERM_WEIGHTS))))


def _read_texts(stored: Any, name: str) -> tuple[str, ...]:
    require(isinstance(stored, Texts), f"{name} must be texts")
    return tuple(stored)


def _number_column(stock: _Stock, name: str, first: int, told: dict[str, Any], _: Counter) -> NumberColumn:
    points = stock.points.take(told["points"])
    require(all(low < high for low, high in pairwise(points.tolist())), "The ends of intervals must rise")
    require(told["scored"] or not told["tells_missing"], "Scores alone can be missing")
    column = NumberColumn(name, first, points, told["has_missing"])
    if not told["scored"]:
        return column
    ((mean, scale),) = stock.moments.take(1)
    return replace(column, mean=mean, scale=scale, tells_missing=told["tells_missing"])


def _name_column(stock: _Stock, name: str, first: int, told: dict[str, Any], _: Counter) -> NameColumn:
    frequent, rare = stock.values.take(told["frequent"]), stock.values.take(told["rare"])
    require(len({*frequent, *rare}) == len(frequent) + len(rare), "Values of a column must differ from each other")
    return NameColumn(name, first, frequent, rare, told["has_missing"])


def _text_column(stock: _Stock, name: str, first: int, told: dict[str, Any], counter: Counter) -> TextColumn:
    start, n_terms = stock.idf.taken, told["terms"]
    require(1 <= told["readers"] <= MOST_BLOCKS, "A column of texts must have a few readers")
    found: Sequence[Vocabulary] = stock.vocabularies.take(told["readers"])
    vocabularies = tuple(one._replace(columns=one.columns - start) for one in found)
    columns = np.concatenate([one.columns for one in vocabularies])
    own = len(columns) == n_terms and 0 <= columns.min(initial=0) <= columns.max(initial=0) < n_terms
    require(bool(own), "Readers must have the terms of their column")
    weights = stock.idf.take(n_terms), stock.block_of.take(n_terms)
    return TextColumn(name, first, vocabularies, *weights, counter(vocabularies))


READERS: dict[str, Any] = {"numeric": _number_column, "nominal": _name_column, "text": _text_column}


def _read_frame(columns: tuple[TableColumn, ...], X: Any) -> Cells:
    from untwin.data.table_cells import read_cells  # takes Polars, which a few plain rows do without

    return read_cells(columns, X)

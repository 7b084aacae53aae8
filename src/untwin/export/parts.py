"""What answers, as arrays and facts to store, and back with everything checked.

Nothing is computed with an array before it is checked: its type, its shape, the range of each number, and whether it
fits the others. Checks and memory are linear in what is stored.

    scale, offset, intercept, by_length, second_*     as in `LinearLayers` (layer_parts)
    sure_*, heights_*, known_*, sets_*, group_*, spreads     as in `Promises` (promise_parts)
    heirs, stands_for     as in `Redirect`, if classes were merged or retired since; heirs are one more, 0: none
    labels            names or numbers of the classes; `groups`: the classes group by group, and `group_sizes`

Of texts (text_parts):

    terms, lengths    all terms of all vocabularies, one after the other, compressed, and the characters of each
    columns           the column of each term, unless all are in order
    idf, block_of     of each column
    n_weights         how many weights each column has; `classes` and `weights` of all of them
    shares            as in `TextAnswerer`

Of tables (table_parts):

    names             of all columns of the tables of the fit; `columns` (facts): those that are used, by their roles
    points, moments   ends of intervals, column by column; means and standard deviations
    values            of columns of names, column by column
    factors           as in `TableAnswerer`; terms of texts and the weights of all terms as above

Of vectors (vector_parts):

    weights, column_scale     as in `VectorAnswerer`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.answer.answerer import TextAnswerer
from untwin.answer.tables import TableAnswerer
from untwin.export.layer_parts import decision_parts, layer_parts, read_decision, read_layers
from untwin.export.promise_parts import promise_parts, read_promises
from untwin.export.table_parts import table_answerer, table_parts
from untwin.export.text_parts import text_answerer, text_parts
from untwin.export.vector_parts import vector_answerer, vector_parts
from untwin.store.refusal import damage_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin.answer.predictions import Decision
    from untwin.answer.promises import Promises
    from untwin.answer.vectors import VectorAnswerer
    from untwin.export.text_parts import Counter

    Answerer = TextAnswerer | TableAnswerer | VectorAnswerer


def to_parts(answerer: Answerer, decision: Decision, promises: Promises) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what to store: parts, and facts."""
    match answerer:
        case TextAnswerer():
            parts, facts = text_parts(answerer)
        case TableAnswerer():
            parts, facts = table_parts(answerer)
        case _:
            parts, facts = vector_parts(answerer), {}
    shared, calibration = layer_parts(answerer)
    classes, deciding = decision_parts(decision)
    measured, promising = promise_parts(promises)
    return {**parts, **shared, **classes, **measured}, {**facts, **calibration, **deciding, **promising}


def from_parts(
    parts: Mapping[str, Any], facts: Mapping[str, Any], counter: Counter
) -> tuple[Answerer, Decision, Promises]:
    """Return what answers; raise `ModelRefused` where parts do not fit together."""
    try:
        decision = read_decision(parts, facts)
        promises = read_promises(parts, facts, decision)
        shared = read_layers(parts, facts, len(decision.classes))
        if "columns" in facts:
            return table_answerer(parts, facts, shared, counter), decision, promises
        if "readers" in facts:
            return text_answerer(parts, facts, shared, counter), decision, promises
        return vector_answerer(parts, shared), decision, promises
    except (KeyError, TypeError, AttributeError) as error:
        raise damage_error(f"A model that answers must have all its parts. Got {error} instead.") from None

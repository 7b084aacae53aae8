"""What to do about a pair of classes: sentences with its own figures, terms and rows.

A sentence is a template and the values for it, so that a page can keep names apart from the words around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin.report.pairs import Pair

    Sentence = tuple[str, dict[str, Any]]

FIRST = {
    "few": "Only {errors}: read before you do anything; wrong labels may be the cause.",
    "alike": "No term tells {a} and {b} apart: merge them, or add a column that knows the difference.",
    "one-way": "{most} of {errors} go one way, {taken} is taken for {by}: is {taken} a special case of {by}? If not, "
    "add rows of {taken}.",
    "twins": "Decide whether {a} and {b} are one class.",
    "define": "The terms below do tell {a} and {b} apart: read the errors before you merge the two.",
}
KEPT_APART = "You keep {a} and {b} apart: {because}."
MERGED = (
    "Merged, they would make the accuracy {gain} points higher ({low} to {high}): {errors} among {judged} held-out "
    "rows are between the two."
)
SUSPECTS = "Correct labels first: {rows} {look} wrong."
BLURRED = (
    "A definition must say when “{term}” speaks for {label}: {rows} of the {wrong} rows of it that were taken for "
    "{other} have that term."
)
TERMS = "A definition can start from the terms: “{here}” in {a}, “{there}” in {b}."


def in_words(pair: Pair) -> str:
    """Return what to do about a pair as plain text."""
    return " ".join(template.format(**values) for template, values in advice_of(pair))


def advice_of(pair: Pair) -> Iterator[Sentence]:
    """Yield what to do about a pair, the first thing first."""
    taken, by = pair.taken
    errors = f"{pair.errors:,} {'error' if pair.errors == 1 else 'errors'}"
    both = {"a": pair.a, "b": pair.b, "errors": errors}
    if pair.because:
        yield KEPT_APART, both | {"because": pair.because.rstrip(".")}
    else:
        yield FIRST[pair.code], both | {"most": f"{max(pair.a_as_b, pair.b_as_a):,}", "taken": taken, "by": by}
    if pair.suspects:
        yield SUSPECTS, {"rows": _rows(pair), "look": "looks" if pair.n_suspects == 1 else "look"}
    if pair.code == "few":
        return
    gains = {"gain": pair.gain, "low": pair.gain_low, "high": pair.gain_high}
    points = {name: f"{100 * gain:.2f}" for name, gain in gains.items()}
    yield MERGED, both | points | {"judged": f"{pair.judged:,}"}
    for one in pair.blurred:
        other = pair.b if one.label == pair.a else pair.a
        yield (
            BLURRED,
            {"term": one.term, "label": one.label, "rows": f"{one.rows:,}", "other": other}
            | {"wrong": f"{one.wrong:,}"},
        )
    if not pair.blurred and pair.terms_a and pair.terms_b:
        yield TERMS, both | {"here": pair.terms_a[0].term, "there": pair.terms_b[0].term}


def _rows(pair: Pair) -> str:
    """Return the rows whose label looks wrong, by name."""
    more = pair.n_suspects - len(pair.suspects)
    named = ", ".join(map(str, pair.suspects)) + (f" and {more:,} more" if more else "")
    return f"the label of row {named}" if pair.n_suspects == 1 else f"the labels of rows {named}"

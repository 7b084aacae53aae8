"""A brief for a language model that is to choose one of some classes, within a number of tokens.

Names of all classes come first: without them there is no choice. Then lines are added as long as they fit, in this
order: definitions; what sets confused classes apart, the most confused first; terms; one typical and one borderline
example for each class; more examples. A line that does not fit is left out; a shorter one of a later kind may still
come.

Whatever comes from the data stands in quotation marks, as JSON has them, so that no line of it can look like ours.
"""

from __future__ import annotations

import json
import re
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from untwin._errors import InputError
from untwin._wording import format_count, option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from untwin.model.briefs.briefing import Brief
    from untwin.model.briefs.parts import BriefExample, CountedTerm

HEAD = (
    "Classes, with what tells them apart. Percentages are shares of labelled examples that hold a term. "
    "Answer with exactly one of the quoted names."
)
N_TERMS = 3  # of a line: short lines leave room for more classes
_PIECES = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\sA-Za-z\d]|\n")


class PromptLine(NamedTuple):
    """A line of a prompt: the class that it is about (its place), where it stands there, and when it may come."""

    turn: tuple[int, ...]
    place: int
    kind: int
    text: str


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text takes, rather too many than too few.

    Words are cut into pieces of five letters, numbers into three digits; signs are a token each, and other scripts take
    one for each two bytes.

    >>> estimated_tokens("My card has not arrived."), estimated_tokens("緑色")
    (7, 3)
    """
    ascii_only = text.encode("ascii", "ignore").decode()
    others = len(text.encode("utf-8", "replace")) - len(ascii_only)
    return len(_PIECES.findall(ascii_only)) + ceil(others / 2)


def prompt_of(brief: Brief, max_tokens: int | None, count_tokens: Callable[[str], int] | None) -> str:
    """Return the prompt; raise InputError if not even the names fit."""
    count = count_tokens or estimated_tokens
    lines = sorted(_lines(brief))
    if max_tokens is None:
        return _joined(brief, lines)
    left = max_tokens - count(_joined(brief, []))
    if left < 0:
        names = format_count(len(brief.classes), "class", "classes")
        message = f"The names of {names} alone take {max_tokens - left:,} tokens or so. Got {max_tokens:,} to fit in."
        hint = f"Allow at least {max_tokens - left:,} ({option('max_tokens')}), or name fewer classes."
        raise InputError(message, code="too-few-tokens", hint=hint)
    kept: list[PromptLine] = []
    for line in lines:
        cost = count(f"  {line.text}\n")
        if cost <= left:
            kept.append(line)
            left -= cost
    while kept and count(_joined(brief, kept)) > max_tokens:  # a counter of one's own need not add up
        kept.pop()
    return _joined(brief, kept)


def _joined(brief: Brief, lines: Sequence[PromptLine]) -> str:
    """Return the prompt with some of its lines, each below the name of its class."""
    below: list[list[PromptLine]] = [[] for _ in brief.classes]
    for line in lines:
        below[line.place].append(line)
    parts = [HEAD, ""]
    for one, here in zip(brief.classes, below, strict=True):
        parts.append(f"- {quoted(one.name)}")
        parts += [f"  {line.text}" for line in sorted(here, key=lambda line: (line.kind, line.turn))]
    return "\n".join(parts) + "\n"


def _lines(brief: Brief) -> Iterator[PromptLine]:
    """Yield all lines; `turn` says in which order they may come, `kind` in which they stand below their class."""
    places = {one.name: place for place, one in enumerate(brief.classes)}
    for place, one in enumerate(brief.classes):
        if one.definition:
            yield PromptLine((0, place), place, 0, f"Definition: {quoted(one.definition)}")
        for contrast in one.contrasts:
            if contrast.other in places and contrast.terms:
                told = f"Rather than {quoted(contrast.other)} if: {_terms(contrast.terms, 'there')}"
                yield PromptLine((1, -contrast.errors, place, places[contrast.other]), place, 2, told)
        if one.terms:
            yield PromptLine((2, place), place, 1, f"Typical terms: {_terms(one.terms, 'of others')}")
        yield from _examples(place, one.typical, "Example", 3)
        yield from _examples(place, one.borderline, "Borderline example", 4)


def _examples(place: int, examples: Sequence[BriefExample], title: str, kind: int) -> Iterator[PromptLine]:
    for number, example in enumerate(examples):
        if example.text is not None:
            told = f"{title}: {quoted(example.text)}"
            told += "" if example.other is None else f" (could be {quoted(example.other)})"
            yield PromptLine((3 if number == 0 else 5 + number, kind, place), place, kind, told)


def _terms(terms: Sequence[CountedTerm], there: str) -> str:
    return ", ".join(f"{quoted(one.term)} {one.here:.0%} ({one.there:.0%} {there})" for one in terms[:N_TERMS])


def quoted(value: Any) -> str:
    r"""Return a name or a text in quotation marks, on one line, with what cannot be seen as escapes.

    >>> print(quoted('a "b"\n\u202ec'))
    "a \"b\"\n\u202ec"
    """
    told = json.dumps(str(value), ensure_ascii=False)
    return told if told.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in told)

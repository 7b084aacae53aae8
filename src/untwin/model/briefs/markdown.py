"""A brief as Markdown, for people who label: a section for each class; two classes stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwin._markdown import code, markdown_table
from untwin._wording import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.model.briefs.briefing import Brief
    from untwin.model.briefs.parts import BriefExample, ClassBrief, Contrast, CountedTerm

LONGEST = 400  # characters of a definition or a quoted text
NOTHING = "–"


def brief_page(brief: Brief) -> str:
    """Return the whole brief."""
    shown = brief.classes
    title = f"# {len(shown):,} of {format_count(brief.total, 'class', 'classes')}"
    told = "Shares are counted on the labelled rows; figures come from models that had not seen the row."
    body = _side_by_side(*shown) if len(shown) == 2 else [line for one in shown for line in _section(one)]
    return "\n".join([title, "", told, *body]) + "\n"


def _section(one: ClassBrief) -> list[str]:
    lines = ["", f"## {code(one.name)}", "", _figures(one)]
    lines += ["", code(one.definition, LONGEST)] if one.definition else []
    lines += ["", f"**Use when** it has {_terms(one.terms, 'of its rows', 'of others')}."] if one.terms else []
    if one.contrasts:
        lines += ["", "**Not when**", "", *(f"- {_contrast(contrast)}" for contrast in one.contrasts)]
    for title, examples in (("Typical", one.typical), ("Borderline", one.borderline)):
        if examples:
            lines += ["", f"**{title}**", "", *(f"- {_example(example)}" for example in examples)]
    return lines


def _figures(one: ClassBrief) -> str:
    told = format_count(one.rows, "row")
    if one.recall is not None:
        told += f"; {one.recall:.1%} of {one.judged:,} that were held out are found"
    if one.precision is not None:
        told += f"; {one.precision:.1%} of the answers with it are right"
    return f"{told}."


def _contrast(contrast: Contrast) -> str:
    told = f"rather {code(contrast.other)} ({contrast.taken_for:,} taken for it, {contrast.taken_from:,} the other way)"
    if contrast.terms_of_other:
        told += f": the other has {_terms(contrast.terms_of_other, 'of its rows', 'of these')}"
    if contrast.terms:
        told += f"; this one has {_terms(contrast.terms, 'of its rows', 'of the other')}"
    return f"{told}."


def _terms(terms: Sequence[CountedTerm], here: str, there: str) -> str:
    """Return terms with their shares; what the shares are of is said once."""
    told = [f"{code(one.term)} ({one.here:.0%}, {one.there:.0%})" for one in terms]
    told[0] = f"{code(terms[0].term)} ({terms[0].here:.0%} {here}, {terms[0].there:.0%} {there})"
    return ", ".join(told)


def _example(example: BriefExample) -> str:
    told = (
        f"row {code(example.row)}"
        if example.text is None
        else f"{code(example.text, LONGEST)} (row {code(example.row)})"
    )
    return told if example.other is None else f"{told}, {example.probability:.0%} likely; or {code(example.other)}"


def _side_by_side(a: ClassBrief, b: ClassBrief) -> list[str]:
    """Return both classes as the columns of one table."""
    pairs = [(a, a.against(b.name)), (b, b.against(a.name))]
    rows = [
        ["definition", *(code(one.definition, LONGEST) if one.definition else NOTHING for one, _ in pairs)],
        ["rows", *(f"{one.rows:,}" for one, _ in pairs)],
        ["found", *(NOTHING if one.recall is None else f"{one.recall:.1%} of {one.judged:,}" for one, _ in pairs)],
        ["taken for the other", *(NOTHING if side is None else f"{side.taken_for:,}" for _, side in pairs)],
        ["against the other", *(_cell_of_terms(side.terms if side else ()) for _, side in pairs)],
        ["against all others", *(_cell_of_terms(one.terms) for one, _ in pairs)],
        ["typical", *(_cell([_example(example) for example in one.typical]) for one, _ in pairs)],
        ["borderline", *(_cell([_example(example) for example in one.borderline]) for one, _ in pairs)],
    ]
    return ["", *markdown_table(["", code(a.name), code(b.name)], rows)]


def _cell_of_terms(terms: Sequence[CountedTerm]) -> str:
    return _cell([f"{code(one.term)} ({one.here:.0%}, there {one.there:.0%})" for one in terms])


def _cell(lines: Sequence[str]) -> str:
    return "<br>".join(lines) or NOTHING

"""How many texts are counted by what answers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin.answer.counting import Vocabulary
    from untwin.answer.fixed_point import CountedRows
    from untwin.data.known_terms import KnownTerms


def counter(vocabularies: tuple[Vocabulary, ...]) -> Callable[[list[str]], CountedRows]:
    """Return what counts the terms of many texts on all cores; it is made when it is first needed."""

    @cache
    def known() -> KnownTerms:
        from untwin.data.known_terms import KnownTerms

        return KnownTerms(vocabularies)

    return lambda texts: known().count(texts)

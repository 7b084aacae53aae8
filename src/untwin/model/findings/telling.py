"""Which of the terms that distinguish classes say something to a person: no function words, nothing twice.

The classifier uses every term; a person who reads "my, to the, top, top up, up" learns nothing from most of them. Words
of question and denial (how, when, not) are no function words here: they are often what two classes differ in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from untwin.tables.term_evidence import TermEvidence

ASKED = 6  # terms that are looked at for each that is wanted
ENGLISH = """
a about above after again ain all also am an and any ani are as at be because becaus been before befor being
below between both but by can could did do does doing down during dure each few for from further get got had has
have having he her here hers herself him himself his i if in into is it its itself just me more most my myself
now of off on once onc one or other our ours ourselves ourselv out over own please pleas same she should so some
such than that the their theirs them themselves then there these they this thi those through to too under until
up upon very veri was we were what which while who whom will with would you your yours yourself ve ll re don im
didn doesn isn wasn haven hasn won couldn
"""  # with the stems of those whose stem is another word
# None that is an English word of its own, as war and die are.
GERMAN_FRENCH_SPANISH = """
aber als auch auf aus bei bis bist da das dass dem den der des doch ein eine einem einen einer es für ich im ist
mein meine mich mir nach noch oder sich sie sind und uns von vor wie wir zu zum zur au aux avec ce ces cette
dans de du elle en est et il je la le les leur mais mes mon ma ne nous ou que qui sa ses sur un une vous del el
esta este la las lo los mi mis muy para pero por su sus una y
"""
FUNCTION_WORDS = frozenset((ENGLISH + GERMAN_FRENCH_SPANISH).split())


def telling_terms(found: Iterable[TermEvidence], n: int) -> list[TermEvidence]:
    """Return the first `n` terms that say something, the best first; if all are function words, the first ones.

    A term at whose beginning or end is a function word is left out, and one that holds a term before it, or is part of
    one.

    >>> from untwin.tables.term_evidence import TermEvidence
    >>> terms = ("my", "track", "track number", "my new", "new", "how long")
    >>> found = [TermEvidence(term, 1.0, 0.5, 0.1) for term in terms]
    >>> [one.term for one in telling_terms(found, 3)]
    ['track', 'new', 'how long']
    >>> [one.term for one in telling_terms(found[:1], 3)]
    ['my']
    """
    every = list(found)
    kept: list[TermEvidence] = []
    said: list[set[str]] = []
    for one in every:
        words = str(one.term).split()
        if not words or is_function_word(words[0]) or is_function_word(words[-1]):
            continue
        if any(set(words) <= known or known <= set(words) for known in said):
            continue
        kept.append(one)
        said.append(set(words))
        if len(kept) == n:
            break
    return kept or every[:n]


def is_function_word(word: str) -> bool:
    """Tell whether a word is there for grammar only.

    >>> is_function_word("the"), is_function_word("not"), is_function_word("card")
    (True, False, False)
    """
    return word in FUNCTION_WORDS

r"""Which patterns of tokens a saved model may have: those that read a text once, whatever it holds.

A pattern is some places that must match one character each, then one that may match many. As that one is the last,
no text makes the search begin again far behind: `\w+x` on a thousand letters would read them half a million times.
"""

from __future__ import annotations

import re

LONGEST = 100  # characters
_ONE = r"(?:\\[wdS]|\[[A-Za-z0-9_\-\\wd'À-ɏ]+\]|[A-Za-z0-9_])"
_MANY = r"(?:\+|\{[1-9][0-9]?(?:,(?:[1-9][0-9]?)?)?\})?"
_LINEAR = re.compile(rf"(?:\(\?u\))?(\\b)?(\()?((?:{_ONE}){{0,8}}?)({_ONE}){_MANY}(\))?(\\b)?")
_WORD = re.compile(r"(?:\\[wd]|\[(?:[A-Za-z0-9_]|\\[wd]|[A-Za-z0-9]-[A-Za-z0-9])+\]|[A-Za-z0-9_])+")


def is_linear(pattern: str) -> bool:
    r"""Tell whether a pattern is known to read each text once.

    >>> [is_linear(pattern) for pattern in (r"(?u)\b\w\w+\b", r"\S+", "[a-z]{3,}", r"\b[a-zA-Z]+\b")]
    [True, True, True, True]
    >>> [is_linear(pattern) for pattern in (r"\w+x", r".*[^A-Z]|[A-Z]", r"[a-z]+\b", r"(\w{90}){90}")]
    [False, False, False, False]
    """
    found = _LINEAR.fullmatch(pattern) if len(pattern) <= LONGEST else None
    if found is None:
        return False
    begins, opened, before, last, closed, ends = found.groups()
    if (opened is None) is not (closed is None):
        return False
    words = _WORD.fullmatch(before + last) is not None
    return ends is None or last == r"\w" or (begins is not None and words)

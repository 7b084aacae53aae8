"""What labels have in common that look alike to a person."""

from __future__ import annotations

import re
import unicodedata

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))
_NOTHING = re.compile(r"[#(<]*n\s*[./]?\s*a\.?[)>]*")  # NA, n/a, N.A., #N/A
_BETWEEN_WORDS = re.compile(r"(?<=\w)[-_\s]+(?=\w)")
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")
_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?")


def fold_label(label: str) -> str:
    """Return what is left of a label without case, white space, Unicode form, invisible characters and zeros.

    Words may be joined by spaces, hyphens or underscores; a sign at an end is kept, for B- is not B. What is the same
    for two labels makes them look alike; it is nothing to show.

    >>> [fold_label(label) for label in ("Late_Fee", "late-fee", " late  fee", "01", "1.0", "n/a", "NA", "B-", "1.5")]
    ['late fee', 'late fee', 'late fee', '1', '1', 'na', 'na', 'b-', '1.5']
    """
    if not label.isascii():
        label = "".join(c for c in unicodedata.normalize("NFKC", label) if unicodedata.category(c) != "Cf")
        label = unicodedata.normalize("NFKC", label.casefold()).translate(_DASHES)
    key = " ".join(label.casefold().split())
    if _NOTHING.fullmatch(key):
        return "na"
    number = _NUMBER.fullmatch(key)
    if number and (number[2] or number[3]):
        return _plain_number(*number.groups(default=""))
    return _LEADING_ZEROS.sub("", _BETWEEN_WORDS.sub(" ", key))


def _plain_number(sign: str, whole: str, fraction: str) -> str:
    """Return a number without zeros that say nothing; digit by digit, as codes are longer than any float is exact."""
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    value = f"{whole}.{fraction}" if fraction else whole
    return f"-{value}" if sign == "-" and value != "0" else value

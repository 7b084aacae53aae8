"""Numbers in sentences: with the right noun, and with as many digits as they need."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, or with its noun and verb.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class has", "classes have")
    ('1 row', '2,000 rows', '2 classes have')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def share(part: int, whole: int) -> str:
    """Return how much of the whole a part is; a part that is there is never 0 %, and one that is not all never 100 %.

    >>> share(1, 8), share(1, 5000), share(4999, 5000), share(0, 5), share(5, 5)
    ('12.5%', 'less than 0.1%', 'more than 99.9%', '0.0%', '100.0%')
    """
    told = f"{part / whole:.1%}"
    if part and told == "0.0%":
        return "less than 0.1%"
    return "more than 99.9%" if part < whole and told == "100.0%" else told

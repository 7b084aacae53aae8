"""Words for messages."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the singular or in the plural.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class has", "classes have")
    ('1 row', '2,000 rows', '2 classes have')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"

"""What sentences are made of: numbers with their noun, texts that are cut, names that are meant, options to set."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_flag: ContextVar[Callable[[str], str] | None] = ContextVar("untwin_flag", default=None)
DOTS, ELLIPSIS = "...", "…"  # three dots for a terminal, which may lack the character


def format_count(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, or with its noun and verb.

    >>> format_count(1, "row"), format_count(2000, "row"), format_count(2, "class has", "classes have")
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


def cut(text: str, width: int, mark: str = DOTS) -> str:
    """Return a text of at most `width` characters; one that was longer ends with the mark.

    >>> cut("not arrived", 8), cut("not arrived", 8, ELLIPSIS), cut("arrived", 8)
    ('not a...', 'not arr…', 'arrived')
    """
    return text if len(text) <= width else text[: width - len(mark)] + mark


def close_match(name: str, known: Sequence[str]) -> str | None:
    """Return the one of the known names that was probably meant; None if none is alike.

    >>> close_match("lable", ["text", "label"]), close_match("price", ["text", "label"])
    ('label', None)
    """
    from difflib import get_close_matches  # only needed when something is wrong

    return next(iter(get_close_matches(name, known, n=1, cutoff=0.5)), None)


def option(name: str, value: str | None = None, *, meta: str = "") -> str:
    """Return how the reader of a message sets an option: by a parameter, or by a flag where a command runs.

    `meta` stands for a value that is the reader's to choose.

    >>> option("label"), option("skip_bad_rows", meta="N"), option("missing_label", "drop")
    ('label=', 'skip_bad_rows=N', "missing_label='drop'")
    >>> with options_as_flags(lambda name: "--" + name.replace("_", "-")):
    ...     option("label"), option("skip_bad_rows", meta="N"), option("missing_label", "drop")
    ('--label', '--skip-bad-rows N', '--missing-label drop')
    """
    flag = _flag.get()
    if flag is None:
        return f"{name}={meta if value is None else repr(value)}"
    return " ".join([flag(name), *([meta] if meta else []), *([] if value is None else [shlex.quote(value)])])


@contextmanager
def options_as_flags(flag: Callable[[str], str]) -> Iterator[None]:
    """Let messages inside speak of options as a command spells them; `flag` makes a flag of a parameter's name."""
    token = _flag.set(flag)
    try:
        yield
    finally:
        _flag.reset(token)

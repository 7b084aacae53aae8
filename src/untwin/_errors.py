"""What goes wrong because of what the user gave us, said so that the user can mend it.

Every error carries a stable `code`, a message that names file, row or column, and a hint that says what to do.
"""


class UntwinError(Exception):
    """Base of the errors that a user can mend; the command turns them into an exit code."""

    exit_code = 2

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.code, self.hint)


class InputError(UntwinError, ValueError):
    """The data cannot be read or used."""


def _rebuild(kind: type[UntwinError], message: str, code: str, hint: str) -> UntwinError:
    """Unpickling calls an exception with its args only; ours need keywords (errors cross worker processes)."""
    return kind(message, code=code, hint=hint)

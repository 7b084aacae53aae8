"""Why a model directory is not loaded."""

from untwin._errors import UntwinError


class ModelRefused(UntwinError):  # noqa: N818  (it says what happened, not what is wrong)
    """The directory is no model, is damaged, or asks for something that is not safe to do.

    `code` is one of ``model-missing``, ``model-damaged``, ``model-foreign``, ``model-too-new``, ``model-too-old``,
    ``model-too-large``.
    """

    exit_code = 3


def damage_error(reason: str) -> ModelRefused:
    """Return the error for content that is not what it should be."""
    return ModelRefused(reason, code="model-damaged", hint="Take a fresh copy of the model, or fit it again.")


def require(sound: bool, rule: str) -> None:
    """Raise `ModelRefused` unless the condition holds."""
    if not sound:
        raise damage_error(f"{rule}. Got something else instead.")

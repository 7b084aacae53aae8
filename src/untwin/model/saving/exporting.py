"""The part of a fitted model that answers, saved on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwin._errors import InputError
from untwin.export.model import save_answers
from untwin.model.saving.directory import facts_of

if TYPE_CHECKING:
    from pathlib import Path

    from untwin.model.classifier import UntwinClassifier


def export_answers(model: UntwinClassifier, folder: str | Path, *, precision: str) -> None:
    """Make `folder` hold what answers of a fitted model; see `UntwinClassifier.export`."""
    answerer = model.state_.answerer_at(precision)
    if answerer is None:
        message = (
            "Only models of linear candidates, without an encoder of one's own, can answer alone. Got another one."
        )
        raise InputError(message, code="not-exportable", hint="Save the whole model, or fit it with preset='balanced'.")
    save_answers(folder, answerer, model._decision(), model.promises_, facts_of(model))

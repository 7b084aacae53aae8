"""A fitted `UntwinClassifier` as a model directory, and back.

parts    the arrays, by what they belong to (view, ensemble, answers, space, ...); `tree`: how a model is made of them
facts    what `describe` tells without building the model: versions, a summary, what the caller wants to keep. All that
         differs between two fits of one table is here: versions, and the seconds that candidates took
"""

from __future__ import annotations

import json
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._compat import rows_of
from untwin._errors import InputError
from untwin._progress import silence
from untwin.export.model import answer_part, is_answer_model, read_answer_part
from untwin.model.answering import USUAL
from untwin.model.records import versions
from untwin.model.saving.answering import attach_answerer
from untwin.model.saving.arrays import ArrayReader, ArrayWriter, stored_bytes
from untwin.model.saving.decode import Decoder
from untwin.model.saving.encode import Encoder
from untwin.model.saving.rules import require_harmless
from untwin.model.state import FULL
from untwin.store import ModelRefused, Texts, load, save
from untwin.store.refusal import damage_error, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin.model.answering import Answerer
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.selection.comparison import Candidate
    from untwin.model.state import FittedState
    from untwin.store import Stored

TREE, SECONDS = "tree", "candidate_seconds"
LARGEST_TREE = 1 << 22  # characters; parsed they take thirty times as many bytes at worst


def save_model(
    model: UntwinClassifier,
    folder: str | Path,
    *,
    texts: bool = True,
    about: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    precision: str | None = None,
) -> dict[str, Any]:
    """Make `folder` hold a fitted model (see `UntwinClassifier.save`); return what the model is to note about it."""
    writer = ArrayWriter()
    try:
        _ = model.unknown_chance_, model.by_words_  # noted, since they take training and all rows
        saved = copy(model) if texts else _without_texts(model)
        saved.candidates_ = _with_seconds(model, [0.0 for _ in model.candidates_])
        saved.state_, answerer = _to_store(model.state_, precision, texts=texts)
        tree = json.dumps(Encoder(writer).node(saved), allow_nan=False)
        _require_size(tree)
        model._validate_params()  # type: ignore[no-untyped-call]
        part, how = ({}, {}) if answerer is None else answer_part(answerer, model._decision(), model.promises_)
    except InputError:
        raise
    except Exception as error:  # `load_model` would meet it too
        message = f"The model must be such that it can be loaded. Got instead: {_reason_of(error, model)}"
        raise InputError(message, code="not-savable", hint="Leave out what is named.") from error
    replaces = None if overwrite else _last_seen(model, folder)
    parts = {**writer.parts(), **part, TREE: [tree]}
    facts = {**facts_of(saved, about), SECONDS: _seconds_of(model), **how}
    sha256 = save(folder, parts, facts, replaces=replaces)
    return _note_folder(model, folder, sha256)


def _to_store(known: FittedState, precision: str | None, *, texts: bool) -> tuple[FittedState, Answerer | None]:
    """Return the state to store, and what answers, which is stored beside it; None if the state has all that does."""
    precision = precision or (USUAL if known.kept == FULL else known.kept)
    if precision == FULL and known.kept != FULL:
        known.answerer_at(precision)  # which says that there are no such weights
    answerer = known.answerer if precision == FULL else known.answerer_at(precision)
    return known.to_store(texts=texts, precision=precision), answerer


def _seconds_of(model: UntwinClassifier) -> list[float]:
    return [float(one.seconds) for one in model.candidates_]


def _with_seconds(model: UntwinClassifier, seconds: Any) -> list[Candidate]:
    """Return the candidates of a model with the seconds that each took."""
    known = isinstance(seconds, list) and len(seconds) == len(model.candidates_)
    require(known and all(type(one) is float and one >= 0 for one in seconds), "Each candidate must have its seconds")
    return [one._replace(seconds=took) for one, took in zip(model.candidates_, seconds, strict=True)]


def _reason_of(error: Exception, model: UntwinClassifier) -> str:
    """Say what is wrong with a model that cannot be saved: by the rules of its parts, if they tell."""
    try:
        Encoder(ArrayWriter()).node(model)
    except ModelRefused as refusal:
        return refusal.message
    except Exception as first:  # what the rules meet comes before what came of it
        return str(first)
    return str(error)


def facts_of(model: UntwinClassifier, about: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what `describe` tells of a model; `about` replaces what was noted when it was loaded."""
    noted = getattr(model, "about_", {}) if about is None else about
    return {"versions": versions(), "summary": _summary(model), "about": dict(noted)}


def load_model(folder: str | Path, *, answers: bool = True, explains: bool = True) -> UntwinClassifier:
    """Return the model of a folder, which a stranger may have made; see `UntwinClassifier.load`.

    A model that holds the weights of its members is tried. What it will not be asked for is not tried: `answers=False`
    is for those who only read what it has measured, `explains=False` for those who ask for answers alone.
    """
    stored = load(folder)
    if is_answer_model(stored.facts):
        hint = "Give the model that it was exported from."
        raise ModelRefused(f"{folder}: can only answer (untwin predict).", code="only-answers", hint=hint)
    try:
        model = _build(_tree_of(stored), stored.parts)
        model.candidates_ = _with_seconds(model, stored.facts.get(SECONDS, _seconds_of(model)))
        if model.state_.kept != FULL:
            attach_answerer(model, *read_answer_part(stored)[:2])
        elif answers:
            _try(model, explains=explains)
    except ModelRefused as error:
        raise ModelRefused(f"{folder}: {error.message}", code=error.code, hint=error.hint) from None
    except (Exception, pl.exceptions.PanicException) as error:
        reason = f"{folder}: The model must answer. Got {type(error).__name__} instead: {str(error)[:200]}"
        raise damage_error(f"{reason} {_other_versions(stored.facts)}".strip()) from error
    vars(model).update(about_=stored.facts["about"], **_note_folder(model, folder, stored.sha256))
    return model


def describe(folder: str | Path) -> dict[str, Any]:
    """Tell what a model directory holds, without building the model.

    Returns
    -------
    dict
        `format`: its number; `versions` of what made it; `summary`: kind of rows, preset, winner, accuracy, numbers of
        classes and rows, whether texts are in it; `about`: what the command wrote; `bytes`, by part and in all;
        `sha256` of the whole.
    """
    stored = load(folder)
    require(_has_facts(stored.facts), f"{folder}: facts must hold versions, summary and about")
    sizes = {name: stored_bytes(part) for name, part in stored.parts.items()}
    by_size = dict(sorted(sizes.items(), key=lambda item: -item[1]))
    return {
        "format": stored.format,
        **stored.facts,
        "bytes": {**by_size, "all": sum(sizes.values())},
        "sha256": stored.sha256,
    }


def _note_folder(model: UntwinClassifier, folder: str | Path, sha256: str) -> dict[str, Any]:
    """Return which model a folder held when this one was read from it or saved to it, as attributes."""
    seen = vars(model).get("_seen_in", {}) | {str(Path(folder).resolve()): sha256}
    return {"sha256_": sha256, "_seen_in": seen}


def _last_seen(model: UntwinClassifier, folder: str | Path) -> str | None:
    """Return the digest of the model that a folder held then; None if this one has never been there."""
    digest: str | None = vars(model).get("_seen_in", {}).get(str(Path(folder).resolve()))
    return digest


def _tree_of(stored: Stored) -> str:
    tree = stored.parts.get(TREE)
    if not isinstance(tree, Texts) or tree.offsets.shape != (2,) or not _has_facts(stored.facts):
        raise damage_error("A model must have a tree, and facts. Got something else instead.")
    return bytes(tree.utf8).decode()


def _require_size(tree: str) -> None:
    require(len(tree) <= LARGEST_TREE, f"A tree must have at most {LARGEST_TREE} characters")


def _build(tree: str, parts: Mapping[str, Any]) -> UntwinClassifier:
    _require_size(tree)
    decoder = Decoder(ArrayReader(parts))
    model = decoder.thing(json.loads(tree))
    for name, made in decoder.made:
        require_harmless(name, made)
    require(type(model).__name__ == "UntwinClassifier", "A model must be an UntwinClassifier")
    found: UntwinClassifier = model
    return found


def _try(model: UntwinClassifier, *, explains: bool) -> None:
    """Let the model answer, and explain, its first row: what does not fit together shows here, not at the user's."""
    with silence():
        known = model.state_
        log_p = known.log_proba_of_training_rows(np.zeros(1, dtype=np.intp))
        model._answer(log_p)
        if explains and known.documents is not None:
            known.explainer.explain(rows_of(known.documents, [0]), model._decision(), 1, None)


def _without_texts(model: UntwinClassifier) -> UntwinClassifier:
    """Leave out documents, and what findings quote of them; counts of terms stay, since learning on is made of them."""
    if model.state_.view.encoder is None and model.state_.documents is not None:
        message = "texts must be True for a table, or an encoder of one's own: such a model learns on from its rows."
        raise InputError(f"{message} Got False instead.", code="texts-needed", hint="Save it with texts.")
    saved = copy(model)
    noted = dict(model._noted)
    if "findings" in noted:
        noted["findings"] = [finding.without_texts() for finding in noted["findings"]]
    vars(saved).update(_noted=noted)
    return saved


def _summary(model: UntwinClassifier) -> dict[str, Any]:
    state = model.state_
    return {
        "kind": model._kind,
        "preset": model.preset,
        "winner": model.candidates_[0].name,
        "accuracy": model.scores_.get("accuracy"),
        "classes": len(model.classes_),
        "rows": len(state.y),
        "texts": state.documents is not None,
    }


def _has_facts(facts: Mapping[str, Any]) -> bool:
    return all(isinstance(facts.get(name), dict) for name in ("versions", "summary", "about"))


def _other_versions(facts: Mapping[str, Any]) -> str:
    """Say with which other versions the model was made, if any: they may be the reason."""
    made, here = facts["versions"], versions()
    other = [f"{name} {made.get(name)} (here {here[name]})" for name in here if made.get(name) != here[name]]
    return f"It was made by {', '.join(other)}." if other else ""

"""`AnswerModel`: the part of a saved model of texts that answers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.answer.fixed_point import CountedRows
from untwin.answer.predictions import probabilities_of
from untwin.answer.reasons import explain_texts
from untwin.export.parts import from_parts, to_parts
from untwin.store import ModelRefused, load, read_facts, save
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from untwin._types import Array, Floats
    from untwin.answer.answerer import TextAnswerer, Vocabulary
    from untwin.answer.predictions import Decision, Predictions
    from untwin.answer.reasons import Reason
    from untwin.data.text_blocks import TextBlocks

KIND = "answers"


@dataclass(frozen=True, eq=False, repr=False)
class AnswerModel:
    """A model of texts that only answers, and says by which words: a small part of an `UntwinClassifier`.

    It has been written by `UntwinClassifier.export`, or by `untwin export`; its answers are the same to the bit.
    Loading it, and asking it about up to 64 texts at a time, takes NumPy and PyStemmer only; more texts are counted by
    Polars on all cores.

    Attributes
    ----------
    classes_ : (C,) array
    groups_ : list of tuples
        Classes that are confused with each other.
    threshold_ : float
        Below which probability an answer is unsure.
    about_ : dict
        What the command noted.
    sha256_ : str
        Digest of what was loaded.

    Examples
    --------
    >>> import tempfile
    >>> from untwin import UntwinClassifier
    >>> texts, labels = ["red bus", "blue car", "red tram", "blue bike"] * 5, ["r", "b"] * 10
    >>> folder = tempfile.mkdtemp()
    >>> UntwinClassifier(preset="fast").fit(texts, labels).export(folder)
    >>> AnswerModel.load(folder).predict(["the blue bus", "a red car"]).tolist()
    ['b', 'r']
    >>> AnswerModel.load(folder).explain(["the blue bus"])[0].evidence.terms[0][0]
    'blue'
    """

    answerer: TextAnswerer
    decision: Decision
    about_: Mapping[str, Any]
    sha256_: str

    @classmethod
    def load(cls, folder: str | Path) -> AnswerModel:
        """Return the model of a folder, which need not be trusted; raise `ModelRefused` if anything is wrong."""
        stored = load(folder)
        if not is_answer_model(stored.facts):
            hint = "Load it with UntwinClassifier.load, or make one that only answers with `untwin export`."
            raise ModelRefused(f"{folder}: is a whole model, not one that only answers.", code="other-kind", hint=hint)
        try:
            require(isinstance(stored.facts.get("about"), dict), "A model must have facts about it")
            require(isinstance(stored.facts.get(KIND), dict), "A model that answers must say how")
            answerer, decision = from_parts(stored.parts, stored.facts[KIND], counter)
        except ModelRefused as error:
            raise ModelRefused(f"{folder}: {error.message}", code=error.code, hint=error.hint) from None
        return cls(answerer, decision, stored.facts["about"], stored.sha256)

    @property
    def classes_(self) -> Array:
        """The classes."""
        return self.decision.classes

    @property
    def groups_(self) -> list[tuple[Any, ...]]:
        """Classes that are confused with each other."""
        return list(self.decision.groups)

    @property
    def order(self) -> Array | None:
        """The classes from low to high, if they are grades."""
        return None if self.decision.order is None else self.classes_[self.decision.order]

    @property
    def threshold_(self) -> float:
        """Below which probability an answer is unsure."""
        return self.decision.threshold

    def predict(self, texts: Any) -> Array:
        """Return the class of each text."""
        return self.predict_all(texts).labels

    def predict_proba(self, texts: Any) -> Floats:
        """Return calibrated probabilities of all classes; class frequencies for texts without a known word."""
        return probabilities_of(self.answerer.log_proba(_as_texts(texts))[0])

    def predict_all(self, texts: Any, *, top: int = 1) -> Predictions:
        """Return all that answers consist of, the `top` likeliest classes of each text among it."""
        return self.decision.predictions(*self.answerer.log_proba(_as_texts(texts)), top)

    def explain(self, texts: Any, *, top: int = 5) -> list[Reason]:
        """Return why each text is answered as it is, without neighbours: no training row is here.

        `top` says how many classes, and how many words for each of two classes.
        """
        return explain_texts(self.answerer, self.decision, _as_texts(texts), top)


def save_answers(folder: str | Path, answerer: TextAnswerer, decision: Decision, facts: Mapping[str, Any]) -> None:
    """Write what answers into a folder, with more facts about it; a whole model there is not replaced."""
    with suppress(ModelRefused):
        if not is_answer_folder(folder):
            message = f"{folder}: holds a whole model, and what answers would replace it."
            raise InputError(message, code="whole-model", hint="Choose another folder.")
    parts, how = to_parts(answerer, decision)
    save(folder, parts, {**facts, "kind": KIND, KIND: how})


def is_answer_folder(folder: str | Path) -> bool:
    """Tell whether the model of a folder only answers, without reading its arrays."""
    return is_answer_model(read_facts(folder))


def is_answer_model(facts: Mapping[str, Any]) -> bool:
    """Tell by its facts whether a stored model only answers."""
    return facts.get("kind") == KIND


def counter(vocabularies: tuple[Vocabulary, ...]) -> Callable[[list[str]], CountedRows]:
    """Return what counts the terms of many texts on all cores; it is made when it is first needed."""

    @cache
    def blocks() -> TextBlocks:
        from untwin.data.counts import TextCounts
        from untwin.data.text_blocks import TextBlocks

        encoders = [
            TextCounts(
                analyzer=reader.analyzer,
                ngram_range=(reader.shortest, reader.longest),
                stemmer=reader.stemmer,
                vocabulary=terms,
            ).fit([])
            for reader, terms, _ in vocabularies
        ]
        return TextBlocks.of(encoders, [columns for _, _, columns in vocabularies])

    def count(texts: list[str]) -> CountedRows:
        counts = blocks().transform(texts)
        return CountedRows(*(part.astype(np.int64) for part in (counts.indptr, counts.indices, counts.data)))

    return count


def _as_texts(texts: Any) -> list[str]:
    if isinstance(texts, str):
        raise ValueError("texts must be a list of texts. Got a single text instead.")
    found = ["" if text is None else text for text in texts]
    wrong = next((text for text in found if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(f"texts must be a list of texts. Got one that holds a {type(wrong).__name__} instead.")
    return [str(text) for text in found]

"""`AnswerModel`: the part of a saved model of texts, tables or vectors that answers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.answer.answerer import TextAnswerer
from untwin.answer.predictions import probabilities_of
from untwin.answer.promises import COVERAGE
from untwin.answer.reasons import explain_table, explain_texts
from untwin.answer.spread import LOST
from untwin.answer.tables import TableAnswerer
from untwin.export.asked import as_lists, as_matrix, as_texts
from untwin.export.counting import counter
from untwin.export.parts import from_parts, to_parts
from untwin.store import ModelRefused, load, read_facts, save
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from untwin._types import Array, Flags, Floats
    from untwin.answer.cells import TableColumn
    from untwin.answer.heights import HeightAnswers
    from untwin.answer.predictions import Decision, Predictions, Scored
    from untwin.answer.promises import Promises, WhichTree
    from untwin.answer.reasons import Reason
    from untwin.answer.shortlists import Shortlists
    from untwin.export.parts import Answerer
    from untwin.store import Stored

KIND, PART = "answers", "answering"


@dataclass(frozen=True, eq=False, repr=False)
class AnswerModel:
    """A model that only answers, and says by which words: a small part of an `UntwinClassifier`.

    It is read from what `UntwinClassifier.export` or `untwin export` has written, or from a whole model, of which it is
    a part; its answers are the same to the bit. It takes what the whole model was fitted to: texts, a table, or a
    matrix. Loading it, and asking it about up to 64 texts at a time, takes NumPy and PyStemmer only; more texts are
    counted by compiled loops. So it is with up to 64 rows of a table, given as a dict of lists of cells;
    other frames are read by Polars. Any number of dense vectors takes NumPy alone.

    Attributes
    ----------
    classes_ : (C,) array
    groups_ : list of tuples
        Classes that are confused with each other.
    threshold_ : float
        Below which probability an answer is unsure.
    promises_ : Promises
        What sets of classes, heights of the tree and sure answers promise.
    about_ : dict
        What the command noted.
    sha256_ : str
        Digest of what was loaded.
    n_features_in_ : int
        The columns of a matrix or a table; not for texts.
    feature_names_in_ : array
        The columns of the tables of the fit; for tables alone.
    columns_ : tuple
        Those that are used, each with its `name` and its `role`. A table must have them, and may have others.

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

    answerer: Answerer
    decision: Decision
    promises_: Promises
    about_: Mapping[str, Any]
    sha256_: str

    @classmethod
    def load(cls, folder: str | Path) -> AnswerModel:
        """Return the model of a folder, which need not be trusted; raise `ModelRefused` if anything is wrong."""
        if not has_answer_part(folder):
            hint = "Load it with UntwinClassifier.load."
            raise ModelRefused(f"{folder}: has no part that answers alone.", code="other-kind", hint=hint)
        stored = load(folder, only=PART)
        try:
            require(isinstance(stored.facts.get("about"), dict), "A model must have facts about it")
            found = read_answer_part(stored)
        except ModelRefused as error:
            raise ModelRefused(f"{folder}: {error.message}", code=error.code, hint=error.hint) from None
        return cls(*found, stored.facts["about"], stored.sha256)

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

    @property
    def n_features_in_(self) -> int:
        """How many columns a matrix has, or the tables of the fit."""
        if isinstance(self.answerer, TextAnswerer):
            raise AttributeError("A model of texts has no n_features_in_.")
        return len(self.answerer.names) if isinstance(self.answerer, TableAnswerer) else self.answerer.n_columns

    @property
    def feature_names_in_(self) -> Array:
        """The columns of the tables of the fit; `columns_` says which are used."""
        if not isinstance(self.answerer, TableAnswerer):
            raise AttributeError("Only a model of tables has feature_names_in_.")
        return np.array(self.answerer.names, dtype=object)

    @property
    def columns_(self) -> tuple[TableColumn, ...]:
        """The columns that are used, each with its name and its role; none but of tables."""
        return self.answerer.columns if isinstance(self.answerer, TableAnswerer) else ()

    def predict(self, X: Any) -> Array:
        """Return the class of each text, or of each row of a table or a matrix."""
        return self.predict_all(X).labels

    def predict_proba(self, X: Any) -> Floats:
        """Return calibrated probabilities of all classes; class frequencies for texts without a known word."""
        return probabilities_of(self._score(X).log_p)

    def predict_all(self, X: Any, *, top: int = 1, target_error: float | None = None) -> Predictions:
        """Return all that answers consist of, the `top` likeliest classes of each row among it.

        `target_error`: how many of the sure answers may be wrong; None: as the fit has settled.
        """
        decision = self.decision
        if target_error is not None:
            decision = decision._replace(threshold=self.promises_.threshold(target_error))
        return decision.predictions(self._score(X), top)

    def shortlist(self, X: Any, *, coverage: float = COVERAGE, by_group: bool = False) -> Shortlists:
        """Return sets of classes that hold the right one with a promised chance; see `UntwinClassifier`."""
        found = self.predict_all(X)
        return self.promises_.shortlists(found, self.classes_, coverage=coverage, by_group=by_group)

    def heights(self, X: Any, *, target_error: float | None = None, tree: WhichTree = "auto") -> HeightAnswers:
        """Return the class of each row, or the smallest group that can be promised; see `UntwinClassifier`."""
        found = self.predict_all(X)
        return self.promises_.at_height(found, self.classes_, target_error=target_error, tree=tree)

    def unknown(self, X: Any, *, lost: float = LOST) -> Flags:
        """Tell which rows seem to belong to no class; about the share `lost` of the others is among them."""
        return self.promises_.unknown(self.predict_all(X), lost)

    def _score(self, X: Any) -> Scored:
        match self.answerer:
            case TextAnswerer():
                return self.answerer.score(as_texts(X))
            case TableAnswerer():
                return self.answerer.score(X)
        return self.answerer.score(as_matrix(X, self.answerer.n_columns))

    def explain(self, X: Any, *, top: int = 5) -> list[Reason]:
        """Return why each text, or each row of a table, is answered as it is; no training row is here to be similar.

        `top` says how many classes, and how many words or cells for each of two classes.
        """
        match self.answerer:
            case TextAnswerer():
                return explain_texts(self.answerer, self.decision, as_texts(X), top)
            case TableAnswerer():
                return explain_table(self.answerer, self.decision, as_lists(X, self.answerer.columns), top)
        raise ValueError("Only models of texts and tables explain answers on their own. Got one of vectors instead.")


def save_answers(
    folder: str | Path, answerer: Answerer, decision: Decision, promises: Promises, facts: Mapping[str, Any]
) -> None:
    """Write what answers into a folder, with more facts about it; a whole model there is not replaced."""
    with suppress(ModelRefused):
        if not is_answer_folder(folder):
            message = f"{folder}: holds a whole model, and what answers would replace it."
            raise InputError(message, code="whole-model", hint="Choose another folder.")
    parts, how = answer_part(answerer, decision, promises)
    save(folder, parts, {**facts, **how, "kind": KIND})


def answer_part(answerer: Answerer, decision: Decision, promises: Promises) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what answers as a part to store, and the facts that belong to it."""
    parts, how = to_parts(answerer, decision, promises)
    return {PART: parts}, {PART: how}


def read_answer_part(stored: Stored) -> tuple[Answerer, Decision, Promises]:
    """Return what answers of a stored model, checked."""
    parts, how = stored.parts.get(PART), stored.facts.get(PART)
    require(isinstance(parts, dict) and isinstance(how, dict), "A model that answers must say how")
    return from_parts(parts, how, counter)  # type: ignore[arg-type]


def has_answer_part(folder: str | Path) -> bool:
    """Tell whether the model of a folder has a part that answers alone, without reading its arrays."""
    return PART in read_facts(folder)


def is_answer_folder(folder: str | Path) -> bool:
    """Tell whether the model of a folder only answers, without reading its arrays."""
    return is_answer_model(read_facts(folder))


def is_answer_model(facts: Mapping[str, Any]) -> bool:
    """Tell by its facts whether a stored model only answers."""
    return facts.get("kind") == KIND

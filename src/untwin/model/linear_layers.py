"""The ensemble of a model as linear layers, if it is made of linear models.

A stack's first stage has a layer for each model. Without one, members that are added up are one layer: probabilities
are invariant to what is added to all classes of a row, so that the mean of log-probabilities is a softmax of the sum of
scores, each divided by its temperature. Only a cosine is a layer of its own, since it is divided by the row's length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from untwin.answer.fixed_point import quantise
from untwin.answer.layers import SecondStage
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes
from untwin.classify.stack import RULED_OUT, StackedClassifier

if TYPE_CHECKING:
    from untwin._types import Array, Floats
    from untwin.model.ensemble import Ensemble

LINEAR = (LinearSVM, LogisticModel, NaiveBayes, CentroidClassifier)


class Layer(NamedTuple):
    """Linear models that are added up, each times a factor; `by_length`: they are cosines."""

    parts: tuple[tuple[Any, float], ...]
    by_length: bool

    def weights(self) -> Any:
        """Return the weights of all classes (m x C): CSC if they are sparse, else dense, class by class."""
        total = sum(np.float32(factor) * _weights(model) for model, factor in self.parts)
        return np.asfortranarray(total) if isinstance(total, np.ndarray) else csc_array(total)

    def offset_and_intercept(self, n_classes: int) -> tuple[Floats, Floats]:
        """Return what each unit of a row, and each row, adds to the score of each class."""
        offset, intercept = np.zeros(n_classes), np.zeros(n_classes)
        for model, factor in self.parts:
            if isinstance(model, NaiveBayes):
                offset += factor * model.offsets_
            if isinstance(model, LinearSVM | LogisticModel):
                intercept += factor * (_both(model.intercept_) if n_classes == 2 else model.intercept_)
        return offset, intercept


def layers_of(ensemble: Ensemble) -> list[Layer] | None:
    """Return the layers of an ensemble; None if it is not made of linear models of all classes."""
    members, classes = ensemble.members, ensemble.trained_classes
    if not all(np.array_equal(member.model.classes_, classes) for member in members):
        return None
    first = members[0].model
    if isinstance(first, StackedClassifier):
        pairs = list(zip(first.models_, first.temperatures_, strict=True))
        whole = all(len(model.classes_) == len(classes) for model, _ in pairs)
        if len(members) > 1 or first.second_ is None or not whole or not _are_linear(first.models_):
            return None
        return [Layer(((model, 1 / T),), isinstance(model, CentroidClassifier)) for model, T in pairs]
    if not _are_linear([member.model for member in members]):
        return None
    cold = len(members) * (ensemble.temperature if len(members) > 1 else 1.0)
    parts = [(member.model, 1 / (member.temperature * cold)) for member in members]
    sides = [tuple(part for part in parts if isinstance(part[0], CentroidClassifier) is side) for side in (False, True)]
    return [Layer(side, by_length) for side, by_length in zip(sides, (False, True), strict=True) if side]


def shared_parts(ensemble: Ensemble, layers: list[Layer]) -> dict[str, Any]:
    """Return the fields of `LinearLayers` other than the scale of the weights."""
    n_classes, member = len(ensemble.trained_classes), ensemble.members[0]
    offsets = [layer.offset_and_intercept(n_classes) for layer in layers]
    second = _second_stage(member.model, n_classes) if isinstance(member.model, StackedClassifier) else None
    return {
        "offset": np.array([offset for offset, _ in offsets]),
        "intercept": np.array([intercept for _, intercept in offsets]),
        "by_length": np.array([layer.by_length for layer in layers]),
        "second": second,
        "temperature": 1.0 if second is None else member.temperature,
        "slope": ensemble.top_class.slope,
        "shift": ensemble.top_class.shift,
        "redirect": ensemble.redirect,
    }


def as_dense(W: Any) -> Any:
    """Return weights as a dense array."""
    return W if isinstance(W, np.ndarray) else W.toarray()


def _are_linear(models: list[Any]) -> bool:
    return all(isinstance(model, LINEAR) for model in models)


def _both(numbers: Array) -> Array:
    """Return the scores of both classes by that of the second."""
    return np.concatenate([-numbers, numbers], axis=-1)


def _weights(model: Any) -> Any:
    """Return the weights of all classes; a cosine of two classes counts by how much it is larger."""
    W = model.centroids_.T if isinstance(model, CentroidClassifier) else model.weights_
    if len(model.classes_) != 2:
        return W if isinstance(W, np.ndarray) else csr_array(W)
    W = as_dense(W)
    if isinstance(model, CentroidClassifier):
        W = W[:, 1:] - W[:, :1]
    return _both(W) if W.shape[1] == 1 else W


def _second_stage(stack: StackedClassifier, n_classes: int) -> SecondStage:
    """Return the second stage in whole numbers; classes that it has not seen come last."""
    second: LinearSVM = stack.second_  # type: ignore[assignment]
    W, b = as_dense(second.weights_), second.intercept_
    W, b = (_both(W), _both(b)) if len(second.classes_) == 2 else (W, b)
    wide, intercept = np.zeros((len(W), n_classes)), np.full(n_classes, float(RULED_OUT))
    wide[:, second.classes_], intercept[second.classes_] = W, b
    return SecondStage(*quantise(wide, 32767), intercept)

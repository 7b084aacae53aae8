"""Threads that share a model: an answer is that of one state, and nothing that is taught is lost."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.base import clone

from untwin.model import UntwinClassifier
from untwin.model.explaining.texts import TextsReader
from untwin.model.locks import learning
from untwin.model.state import FittedState

if TYPE_CHECKING:
    from collections.abc import Callable

N_ADDS = 4


@pytest.fixture
def model(texts, labels):
    return UntwinClassifier(preset="fast", target_error=0.2).fit(texts, labels)


def _in_threads(*work: Callable[[], None]) -> None:
    """Run all at once; what one of them raises is raised here."""
    errors: list[BaseException] = []
    barrier = Barrier(len(work))

    def run(one: Callable[[], None]) -> None:
        try:
            barrier.wait(timeout=60)
            one()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=[one], daemon=True) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


def _writer(model: UntwinClassifier, name: str) -> Callable[[], None]:
    def write() -> None:
        for number in range(N_ADDS):
            model.add([f"{name} word{number}", f"{name} other{number}"], [f"{name}{number}"] * 2)

    return write


def test_one_reader_and_two_writers(model, new, truth):
    """The first classes are new, so that all numbers of classes move; a mixed answer would be wrong nearly always."""
    expected = model.predict(new).tolist()
    done, answers = Event(), []

    def read() -> None:
        while not done.is_set() or not answers:
            answers.append(model.predict(new).tolist())
            shares = model.predict_group(new)
            answers.append(shares.labels.tolist())
            answers.append([reason.label for reason in model.explain(new[:10])] + expected[10:])
            assert len(model.unsure(new, target_error=0.1)) == len(new)
            assert len(model.without_evidence(new)) == len(new)

    def write(name: str) -> Callable[[], None]:
        def work() -> None:
            try:
                _writer(model, name)()
            finally:
                done.set()

        return work

    _in_threads(read, write("aa"), write("ab"))
    assert answers
    for answer in answers:  # a state that has learnt a little more may answer a few rows otherwise
        assert np.mean(np.array(answer) == expected) > 0.9
    assert len(model.ids_) == 160 + 2 * 2 * N_ADDS
    assert set(model.classes_) == {*truth, *(f"{name}{n}" for name in ("aa", "ab") for n in range(N_ADDS))}


def test_an_answer_is_made_by_the_state_at_its_beginning(model, new, monkeypatch):
    """Whatever is learnt between the probabilities and their names changes neither."""
    expected = model.predict(new).tolist()
    plain = FittedState.score
    late = iter([True])

    def score(self, given):
        found = plain(self, given)
        if next(late, False):
            model.add(["zebra stripes", "zebra herd"], ["aaa", "aab"])
        return found

    monkeypatch.setattr(FittedState, "score", score)
    read = TextsReader.read

    def read_late(self, given):
        found = read(self, given)
        if next(late, False):
            model.add(["zebra stripes", "zebra herd"], ["aaa", "aab"])
        return found

    monkeypatch.setattr(TextsReader, "read", read_late)
    assert model.predict(new).tolist() == expected
    assert model.classes_[0] == "aaa"
    late = iter([True])
    group = model.predict_group(new)
    assert len(group.labels) == len(group.sure) == len(new)
    late = iter([True])
    assert len(model.explain(new)) == len(new)
    assert len(model.ids_) == 160 + 3 * 2  # all three were made while rows were learnt


@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_a_copy_is_a_state_that_learning_on_does_not_change(make_texts, preset):
    model = UntwinClassifier(preset=preset).fit(*make_texts(120, 4))
    new, truth = make_texts(40, 6, seed=1)
    before = copy(model)
    expected, explained = model.predict_proba(new), model.explain(new[:5])
    model.add(new, truth)
    model.relabel([0, 1], truth[:2])
    model.remove([2, 3])
    np.testing.assert_array_equal(before.predict_proba(new), expected)
    assert before.explain(new[:5]) == explained
    assert len(before.ids_) == 120
    assert before.findings_ is not model.findings_


def test_a_fit_that_fails_leaves_the_model_as_it_was(model, new):
    expected = model.predict_proba(new)
    with pytest.raises(ValueError, match="two classes"):
        model.fit(np.eye(3), ["a", "a", "a"])
    np.testing.assert_array_equal(model.predict_proba(new), expected)
    model.fit(np.eye(4), ["a", "b", "a", "b"])
    assert model.n_features_in_ == 4
    model.fit(new, ["a", "b"] * 40)
    assert not hasattr(model, "n_features_in_")


def test_a_model_has_a_lock_of_its_own_and_can_be_copied_and_pickled_while_it_is_held(model, new):
    with learning(model):
        copies = [copy(model), deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model)]
        for other in copies:
            assert learning(other) is not learning(model)
    for other in copies[:3]:
        np.testing.assert_array_equal(other.predict_proba(new), model.predict_proba(new))
        other.add(["zebra"], ["animal"])
    assert len(model.ids_) == 160

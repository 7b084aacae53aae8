"""Old answers against new ones, held to a literal count of rows and classes."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from untwin import Confusion, GivenAnswers, compare_answers
from untwin.model.findings.twins import twin_pairs
from untwin.model.selection.comparison import paired_interval

NAMES = "abcde"
ROWS = st.lists(st.tuples(*(st.sampled_from(NAMES),) * 3), min_size=1, max_size=60)


def mistaken(label, said):
    return {label, said} if label != said else set()


@given(ROWS)
def test_what_is_counted_is_a_literal_count(rows):
    y, old, new = (list(part) for part in zip(*rows, strict=True))
    found = compare_answers(y, old, new)
    broken, mended = Counter(), Counter()
    for label, before, after in rows:
        broken.update(mistaken(label, after) - mistaken(label, before))
        mended.update(mistaken(label, before) - mistaken(label, after))
    assert {one.name: (one.broken, one.mended) for one in found.fell} == {
        name: (broken[name], mended[name]) for name in NAMES if broken[name] > mended[name]
    }
    assert {one.name: (one.broken, one.mended) for one in found.rose} == {
        name: (broken[name], mended[name]) for name in NAMES if broken[name] < mended[name]
    }
    right = [sum(a == b for a, b in zip(y, answers, strict=True)) for answers in (old, new)]
    assert found.mended - found.broken == right[1] - right[0]
    assert {flip.row for flip in found.flipped} == {n for n, row in enumerate(rows) if row[1] != row[2]}
    mean, low, high = paired_interval(np.array(new) == np.array(y), np.array(old) == np.array(y))
    assert (found.accuracy.low, found.accuracy.high) == (low, high)
    assert found.drop == pytest.approx(-100 * mean)
    json.dumps(found.to_dict(), allow_nan=False)


@given(ROWS)
def test_the_other_way_round_is_the_mirror_image(rows):
    y, old, new = (list(part) for part in zip(*rows, strict=True))
    there, back = compare_answers(y, old, new), compare_answers(y, new, old)
    assert [one.name for one in there.fell] == [one.name for one in back.rose]
    assert there.twins_new == tuple(one._replace(errors_before=one.errors_after, errors_after=one.errors_before)
                                    for one in back.twins_gone)  # fmt: skip
    assert there.broken == back.mended


def test_precision_and_recall_are_those_of_the_confusions():
    rng = np.random.default_rng(0)
    y, old, new = rng.choice(list("abcd"), size=(3, 300))
    found = compare_answers(y, old, new)
    before, after = (Confusion.from_predictions(y, answers) for answers in (old, new))
    for one in (*found.fell, *found.rose):
        place = list("abcd").index(one.name)
        assert (one.recall_before, one.recall_after) == (before.recall[place], after.recall[place])
        assert (one.precision_before, one.precision_after) == (before.precision[place], after.precision[place])
        assert one.chance == pytest.approx(binomtest(one.broken, one.broken + one.mended).pvalue)
    assert found.macro_f1 == (before.macro_f1, after.macro_f1)


def test_new_twins_and_a_class_that_fell_beyond_chance():
    y = np.repeat(["cat", "dog", "owl"], 100)
    new = np.where((y == "cat") & (np.arange(300) % 4 == 0), "dog", y)
    found = compare_answers(y, y, new)
    assert found.twins_new == (("cat", "dog", 0, 25),)
    assert [(one.name, one.broken, one.beyond_chance) for one in found.fell] == [("cat", 25, True), ("dog", 25, True)]
    assert compare_answers(y, new, y).twins_gone == (("cat", "dog", 25, 0),)
    assert len(twin_pairs(Confusion.from_predictions(y, new))) == 1


def test_answers_shuffled_alike_name_no_class():
    rng = np.random.default_rng(1)
    names = [f"class {n}" for n in range(200)]
    y = rng.choice(names, size=5000)
    noise = [np.where(rng.random(5000) < 0.2, rng.choice(names, size=5000), y) for _ in range(2)]
    found = compare_answers(y, *noise)
    assert len(found.fell) + len(found.rose) > 100
    assert not any(one.beyond_chance for one in (*found.fell, *found.rose))


def test_broken_rows_come_first():
    found = compare_answers(["a", "b", "a", "b"], ["b", "b", "b", "a"], ["a", "a", "c", "c"], ids=["w", "x", "y", "z"])
    assert [flip.row for flip in found.flipped] == ["x", "w", "y", "z"]


def test_promises_are_those_that_were_made():
    y = ["a", "a", "b", "b"]
    old = GivenAnswers(["a", "b", "b", "b"], unsure=[False, False, True, True])
    new = GivenAnswers(["a", "a", "b", "a"], sets=[{"a"}, {"a", "b"}, {"b"}, {"a"}])
    assert compare_answers(y, old, new).promises == (
        ("sure answers", 0.5, None),
        ("right among sure answers", 0.5, None),
        ("sets that hold the truth", None, 0.75),
        ("mean size of a set", None, 1.25),
    )
    nobody = GivenAnswers(y, unsure=[True] * 4)
    assert compare_answers(y, nobody, y).promises[1] == ("right among sure answers", None, None)


def test_a_thousand_classes_and_one_row_each():
    y = np.array([f"c{n:04}" for n in range(1000)])
    found = compare_answers(y, y, np.roll(y, 1))
    assert (len(found.fell), found.accuracy.after) == (1000, 0.0)
    assert not any(one.beyond_chance for one in found.fell)


HOSTILE = ["<script>alert(1)</script>", "a|b", "a\\|b", "new\nline", "=1+1", "`code`", "@everyone", "[x](http://y)", ""]


def test_no_name_breaks_the_table():
    y = np.array(HOSTILE * 2)
    page = compare_answers(y, y, np.roll(y, 1)).to_markdown(50)
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {8, 5}  # classes, and rows
    assert "<script" not in page
    assert "](" not in page
    assert "`@everyone`" in page


@pytest.mark.parametrize(
    ("y", "old", "new", "said"),
    [
        ([], [], [], "at least one row"),
        (["a"], ["a", "b"], ["a"], "one length"),
        (["a"], [1], ["a"], "one kind"),
    ],
)
def test_what_is_no_pair_of_answers_is_refused(y, old, new, said):
    with pytest.raises(ValueError, match=said):
        compare_answers(y, old, new)


def test_labels_may_be_numbers():
    found = compare_answers([1, 2, 2], [1, 1, 2], [1, 2, 2])
    assert [(one.name, one.mended) for one in found.rose] == [(1, 1), (2, 1)]

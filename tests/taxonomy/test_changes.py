"""Changes of a taxonomy: what each makes of it, and that any of them can be undone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin._errors import InputError
from untwin.taxonomy import (
    Create,
    Define,
    Merge,
    Move,
    Rename,
    Retire,
    SeeAlso,
    Split,
    Taxonomy,
    apply,
    by_ids,
    change_from_json,
    change_to_json,
    crosswalk,
    fold,
    read_taxonomy,
    reverting,
    taxonomy_from_json,
    taxonomy_to_json,
)
from untwin.taxonomy.documents import taxonomy_lines, taxonomy_of_lines

FOUR = Taxonomy.of(["bill", "invoice", "printer", "screen"])


def test_a_renamed_class_keeps_its_id_and_its_old_name_leads_to_it():
    now = apply(FOUR, Rename("bill", "charge"))
    assert now.find("charge").id == now.find("bill").id == "c1"
    assert now.heir("bill") == "charge"
    assert now.names == ("charge", "invoice", "printer", "screen")


def test_a_merge_retires_its_inputs_and_moves_what_was_below_or_linked_with_them():
    start = fold([Create("paper jam", parent="printer"), SeeAlso("printer", "bill"), SeeAlso("screen", "bill")], FOUR)
    now = apply(start, Merge(("printer", "screen"), "hardware"))
    assert now.names == ("bill", "invoice", "paper jam", "hardware")
    assert now.heir("printer") == now.heir("screen") == "hardware"
    assert now.find("paper jam").parent == now.find("hardware").id
    assert now.links == (("c1", "c6"),)


def test_a_merge_into_one_of_its_inputs_keeps_the_id_of_that():
    now = apply(FOUR, Merge(("bill", "invoice"), "invoice"))
    assert (now.find("invoice").id, now.find("invoice").retired, now.next_number) == ("c2", False, 5)
    assert now.heir("bill") == "invoice"


def test_a_split_leaves_the_rest_where_it_was_or_retires_the_class():
    stays = apply(FOUR, Split("bill", ("wrong bill", "late bill")))
    assert [stays.find(name).parent for name in ("wrong bill", "late bill")] == ["c1", "c1"]
    assert not stays.find("bill").retired
    gone = apply(FOUR, Split("bill", ("wrong bill", "late bill"), "late bill", shares=(0.25, 0.5)))
    assert gone.find("bill").retired
    assert [(one.name, share) for one, share in gone.heirs("bill")] == [("wrong bill", 0.25), ("late bill", 0.75)]
    assert gone.heir("bill") is None


def test_a_retired_class_without_heir_stands_for_nothing():
    now = fold([Move("bill", "invoice"), Move("invoice", "screen"), Retire("invoice")], FOUR)
    assert now.heirs("invoice") == ()
    assert now.find("bill").parent == now.find("screen").id
    assert [tuple(row) for row in crosswalk(now)] == [("c2", "invoice", "", "", 0.0, "")]


def test_an_id_is_never_used_again():
    now = fold([Retire("screen", "printer"), Create("screen"), Create("lamp")], FOUR)
    assert [entry.id for entry in now.classes] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert now.find("screen").id == "c5"  # the active one
    assert now.heirs("c4")[0][0].name == "printer"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Rename("bil", "x"), "Did you mean 'bill'"),
        (Rename("bill", "invoice"), "already"),
        (Rename("bill", "c3"), "is the id of a class"),
        (Rename("bill", " "), "1 to 1,000 characters"),
        (Merge(("bill",), "bill"), "two classes or more"),
        (Merge(("bill", "c1"), "new"), "two classes or more"),
        (Split("bill", ()), "into new classes"),
        (Split("bill", ("a", "a")), "each named once"),
        (Split("bill", ("a", "invoice")), "already"),
        (Split("bill", ("a", "b"), "bill"), "must go to another class"),
        (Move("bill", "bill"), "must not lead back"),
        (SeeAlso("bill", "c1"), "two classes"),
        (Retire("bill", "bill"), "must be another class"),
        (Create("bill"), "already"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(change, said):
    with pytest.raises(InputError, match=said):
        apply(FOUR, change)


def test_a_retired_class_is_not_changed_and_its_heir_is_named():
    now = apply(FOUR, Merge(("bill", "invoice"), "invoice"))
    with pytest.raises(InputError, match="is now 'invoice'"):
        apply(now, Rename("bill", "x"))


def test_parents_in_a_circle_are_refused():
    with pytest.raises(InputError, match="must not lead back"):
        fold([Move("bill", "invoice"), Move("invoice", "bill")], FOUR)


NAMES = [*FOUR.names, "new a", "new b", "new c"]
SOME = st.sampled_from(NAMES)
CHANGES = st.one_of(
    st.builds(Rename, SOME, SOME),
    st.builds(Merge, st.lists(SOME, min_size=1, max_size=3).map(tuple), SOME),
    st.builds(Split, SOME, st.lists(SOME, min_size=1, max_size=2).map(tuple), st.none() | SOME),
    st.builds(Move, SOME, st.none() | SOME),
    st.builds(SeeAlso, SOME, SOME),
    st.builds(Define, SOME, st.text(max_size=5)),
    st.builds(Retire, SOME, st.none() | SOME),
    st.builds(Create, SOME),
)


@given(st.lists(CHANGES, max_size=12))
def test_any_history_can_be_written_undone_and_read_again(changes):
    now = FOUR
    for number, change in enumerate(changes, 1):
        made = replace(change, at=f"2026-01-01T00:00:{number:02d}+00:00")
        try:
            after = apply(now, made)
        except InputError:
            continue
        fixed = by_ids(now, made)
        assert apply(now, change_from_json(change_to_json(fixed))) == after
        undo = reverting(now, after, after, number, at=made.at)
        back = apply(after, change_from_json(change_to_json(undo)))
        assert set(back.names) == set(now.names)
        assert back.links == now.links
        known = {entry.id: (entry.name, entry.parent, entry.definition, entry.retired) for entry in back.classes}
        assert all(known[one.id] == (one.name, one.parent, one.definition, one.retired) for one in now.classes)
        assert taxonomy_from_json(taxonomy_to_json(after)) == taxonomy_of_lines(taxonomy_lines(after)) == after
        assert {one.id for one in now.classes} <= {one.id for one in after.classes}
        assert sum(share for _, share in after.heirs("c1")) < 1 + 1e-6
        now = after


def test_what_has_changed_since_is_not_undone():
    after = apply(FOUR, Rename("bill", "charge"))
    now = apply(after, Define("charge", "what we ask for"))
    with pytest.raises(InputError, match="'charge' has changed since"):
        reverting(FOUR, after, now, 1)


FORGED = [
    None,
    3,
    {"format": 1},
    {"format": 1, "classes": [3], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a"}], "links": [], "next": 1},
    {"format": 1, "classes": [{"id": "c1", "name": "a"}], "links": [["c1", "c9"]], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a"}] * 2, "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a", "parent": "c1"}], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a", "retired": 1}], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": ""}], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a" * 2000}], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a", "since": "yesterday"}], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "c1", "name": "a", "replaced_by": [["c1", 2]]}], "links": [], "next": 2},
    {"format": 1, "classes": [{"id": "x", "name": "a", "code": "import os"}], "links": [], "next": 2},
    ["a", 3],
    ["a", "a"],
]


@pytest.mark.parametrize("content", FORGED)
def test_a_stranger_s_taxonomy_is_checked(content):
    with pytest.raises(InputError):
        taxonomy_from_json(content)


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"kind": "rename"},
        {"kind": "rename", "name": "a"},
        {"kind": "rename", "name": "a", "to": 3},
        {"kind": "merge", "names": "ab", "into": "a"},
        {"kind": "merge", "names": ["a"], "into": ["a"]},
        {"kind": "split", "name": "a", "into": "xy"},
        {"kind": "split", "name": "a", "into": ["x"], "shares": [2]},
        {"kind": "undo", "of": -1},
        {"kind": "undo", "of": 1, "entries": [{"id": "c1"}]},
        {"kind": "eval", "name": "a"},
        {"kind": "move", "name": "a", "at": "noon"},
    ],
)
def test_a_stranger_s_change_is_checked(content):
    with pytest.raises(InputError):
        change_from_json(content)


def test_a_file_that_holds_no_taxonomy_is_named(tmp_path):
    for content in ("", "{", "3", "[" * 100_000):
        path = tmp_path / "t.json"
        path.write_text(content)
        with pytest.raises(InputError, match=r"t\.json"):
            read_taxonomy(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_taxonomy(tmp_path / "absent.json")

from __future__ import annotations

import pytest

from untwin.model.findings.dismissals import Dismissal, Dismissals
from untwin.model.findings.finding import Finding
from untwin.model.findings.identity import SUBJECTS, measure_of, record_id, subject_of
from untwin.model.findings.kinds import KINDS

PAIR = {"a": "cat", "b": "lynx", "rate": 0.2, "rate at least": 0.15}
SUSPECT = {"row": "T-1", "label": "cat", "rather": "lynx", "belief in label": 0.01, "belief in other": 0.9}
HALVES = {"rows of one": 50, "rows of other": 50}
HOSTILE = ["\ud800", "</script>", "a; b: c", "\x00", "", "x" * 10_000]


def twins(*pairs):
    return Finding("twins", f"{len(pairs)} pairs.", pairs, "Merge them.", "warning")


def test_every_kind_of_finding_has_a_subject():
    of_audits = {"unlisted-answers", "unstable-answers", "annotators", "annotator-confusions"}
    assert set(SUBJECTS) == set(KINDS) | of_audits


def test_an_id_is_about_rows_and_classes_and_not_about_numbers():
    assert record_id("twins", PAIR) == record_id("twins", PAIR | {"rate": 0.9})
    assert record_id("twins", PAIR) != record_id("twins", PAIR | {"b": "dog"})
    assert record_id("twins", PAIR) != record_id("also-see", PAIR)
    assert record_id("label-error", SUSPECT) != record_id("label-error", SUSPECT | {"rather": "dog"})
    mixed = {"kind": "twins", "classes": ["a", "b"]}
    assert record_id("indistinguishable-classes", mixed) == record_id(
        "indistinguishable-classes", mixed | {"classes": ["b", "a"]}
    )


def test_classes_whose_names_run_into_each_other_have_ids_of_their_own():
    found = {record_id("twins", {"a": a, "b": b}) for a in HOSTILE for b in HOSTILE if a < b}
    assert len(found) == len(HOSTILE) * (len(HOSTILE) - 1) // 2
    assert all(name.isascii() and len(name) < 40 for name in found)


def test_ten_thousand_rows_have_ids_of_their_own():
    assert len({record_id("label-error", SUSPECT | {"row": row}) for row in range(10_000)}) == 10_000


def test_a_long_list_is_cut_in_words_only():
    assert subject_of("group-names", {"name": "x", "classes": list("abcdef")}) == "classes: a, b, c, d and 2 more"


@pytest.mark.parametrize(
    ("code", "record", "inside", "outside"),
    [
        ("twins", PAIR, {"rate": 0.24}, {"rate": 0.26}),
        ("also-see", PAIR, {"rate": 0.16}, {"rate": 0.14}),
        ("label-error", SUSPECT, {"belief in other": 0.72}, {"belief in other": 0.6}),
        ("tiny-class", {"class": "yak", "rows": 4}, {"rows": 7}, {"rows": 9}),
        (
            "split-class",
            {"class": "yak", "rows of one": 50, "rows of other": 50},
            {"rows of one": 45},
            {"rows of one": 20},
        ),
        (
            "indistinguishable-classes",
            {"kind": "twins", "classes": ["a", "b"], "taken for each other": 25},
            {"taken for each other": 30},
            {"taken for each other": 40},
        ),
    ],
)
def test_a_dismissal_holds_within_the_interval_of_its_time(code, record, inside, outside):
    seen = Dismissal.of(code, record, "known")
    measure = measure_of(code, record)
    assert measure.low < measure.value < measure.high
    assert seen.holds(code, record)
    assert seen.holds(code, record | inside)
    assert not seen.holds(code, record | outside)


def test_a_fact_stays_dismissed():
    record = {"rows": ["T-1", "T-2"], "labels": ["a", "b"], "text": "hello"}
    assert measure_of("conflicting-text", record) is None
    assert Dismissal.of("conflicting-text", record, "both are right").holds("conflicting-text", record)


def test_what_is_dismissed_is_left_out_and_said():
    other = PAIR | {"b": "dog"}
    kept = Dismissals.of([Dismissal.of("twins", PAIR, "keep apart", author="ann", when="2026-01-01")])
    (finding,), dismissed, returned = kept.sift([twins(PAIR, other)])
    assert finding.evidence == (other,)
    assert finding.title == "2 pairs. 1 of them is dismissed."
    assert [(one.because, one.author) for one in dismissed] == [("keep apart", "ann")]
    assert returned == ()
    assert kept.sift([twins(other)]).dismissed == ()  # a pair that is no finding any more


def test_what_has_changed_comes_back():
    kept = Dismissals.of([Dismissal.of("twins", PAIR, "keep apart")])
    (finding,), dismissed, (returned,) = kept.sift([twins(PAIR | {"rate": 0.5})])
    assert finding.title == "1 pairs."
    assert dismissed == ()
    assert returned.value == 0.2


def test_the_latest_counts_and_no_reason_takes_it_back():
    seen = Dismissal.of("twins", PAIR, "keep apart")
    later = Dismissal.of("twins", PAIR | {"rate": 0.5}, "still")
    assert Dismissals.of([seen, later]).by_id[seen.finding].because == "still"
    back = Dismissal(finding=seen.finding, about="", because="")
    assert Dismissals.of([seen, back]).by_id == {}
    assert Dismissals.of([seen, back, later]).by_id == {seen.finding: later}
    assert Dismissals.nothing().sift([twins(PAIR)]).findings == [twins(PAIR)]


def test_records_make_the_same_dismissals():
    kept = Dismissals.of([Dismissal.of("twins", PAIR, "keep apart")])
    assert Dismissals.of(Dismissal(**one) for one in kept.records()) == kept

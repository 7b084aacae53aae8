"""What the report asks its owner to do: labels to check, advice about a pair, test rows, dismissals, definitions."""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from tests.report.conftest import HOSTILE
from tests.report.made import cheap_model

from untwin.model.findings.dismissals import Dismissal, Dismissals
from untwin.report import Report, suspects
from untwin.report.advice import advice_of
from untwin.report.page import page_of
from untwin.report.pairs import Blurred
from untwin.report.shown import HEADLINES, headline
from untwin.report.study import LONGEST_TEXT
from untwin.report.tested import BETTER, KEPT, WORSE

N_WRONG = 30
LONG = "long " * 300


def clean_texts(n_classes, rows_a_class, seed=0):
    """Texts that show their class, the first two of which are twins; some labels of the others are wrong."""
    rng = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(n_classes), rows_a_class)
    stems = np.where((numbers < 2) & (rng.random(len(numbers)) < 0.7), 0, numbers)
    texts = [f"{' '.join(f'own{stem}x{word}' for word in rng.integers(0, 6, 5))} {LONG}" for stem in stems.tolist()]
    wrong = 2 * rows_a_class + rng.choice((n_classes - 2) * rows_a_class, N_WRONG, replace=False)
    numbers[wrong] = 2 + (numbers[wrong] + 3) % (n_classes - 2)
    return texts, np.array([f"class {number}" for number in numbers.tolist()])


@pytest.fixture(scope="module")
def owned():
    texts, labels = clean_texts(8, 60)
    model = cheap_model(texts, labels, ids=[f"T-{n}" for n in range(len(texts))])
    model.measure()
    return model


@pytest.fixture(scope="module")
def told(owned):
    return Report.of(owned)


def found(model, code):
    return next(one for one in model.findings_ if one.code == code)


def test_all_labels_in_doubt_are_there_with_their_whole_texts(told, owned):
    finding, texts = found(owned, "label-error"), dict(zip(owned.ids_, owned.state_.documents, strict=True))
    shown = told.suspects
    assert len(shown.suspects) == shown.total == len(finding.evidence) > 20
    for one, record in zip(shown.suspects, finding.evidence, strict=True):
        assert (one.row, shown.names[one.label], shown.names[one.rather]) == (
            record["row"],
            record["label"],
            record["rather"],
        )
        assert one.text == texts[one.row]
    assert len({one.finding for one in shown.suspects}) == shown.total
    assert shown.frame().height == shown.total


@pytest.mark.parametrize(("most", "longest"), [(10_000_000, None), (30_000, 500), (10_000, 150), (1_000, 150)])
def test_what_takes_too_much_room_is_cut_and_that_is_said(owned, monkeypatch, most, longest):
    monkeypatch.setattr(suspects, "MOST_BYTES", most)
    report = Report.of(owned)
    shown = report.suspects
    assert len(json.dumps([one.to_dict() for one in shown.suspects], ensure_ascii=False).encode()) <= most + 2 * len(
        shown.suspects
    )
    assert max(len(one.text) for one in shown.suspects) == shown.longest
    assert longest is None or shown.longest == longest
    page = page_of(report)
    assert ("This page has room for the first" in page) == (len(shown.suspects) < shown.total)
    assert shown.total == len(found(owned, "label-error").evidence)


def test_without_texts_no_label_quotes_one(owned):
    report = Report.of(owned, texts=False)
    assert {one.text for one in report.suspects.suspects} == {""}
    assert LONG not in page_of(report)


def test_merging_a_pair_gives_what_its_errors_cost(told, owned):
    pair = told.pairs.pairs[0]
    assert pair.twins
    assert 0 < pair.gain_low < pair.gain < pair.gain_high < 1
    merged = owned.confusion_.merged({pair.a: [pair.a, pair.b]})
    assert pair.gain == pytest.approx(merged.accuracy - owned.confusion_.accuracy)
    sizes = owned.confusion_.support[[told.documents.names.index(name) for name in (pair.a, pair.b)]].sum()
    assert pair.gain_low == pytest.approx(pair.low * sizes / pair.judged)
    assert f"{100 * pair.gain:.2f} points higher" in pair.advice
    assert f"{pair.errors} errors among {pair.judged:,}" in pair.advice


def test_a_blurred_term_is_counted_in_the_rows_that_were_taken_for_the_other_class(told, owned):
    study_rows, answers = owned.state_.documents, owned.state_.answers
    blurred = [(pair, one) for pair in told.pairs.pairs for one in pair.blurred]
    assert blurred
    for pair, one in blurred:
        other = pair.b if one.label == pair.a else pair.a
        wrong = np.flatnonzero(answers.held & (answers.y == one.label) & (answers.predicted == other))
        assert one.wrong == len(wrong)
        assert one.rows == sum(f" {one.term} " in f" {study_rows[answers.rows[row]]} " for row in wrong.tolist())


def test_rows_whose_label_looks_wrong_are_named_in_the_advice(told):
    pairs = [pair for pair in told.pairs.pairs if pair.suspects]
    assert pairs
    in_doubt = {one.row for one in told.suspects.suspects}
    for pair in pairs:
        assert set(pair.suspects) <= in_doubt
        assert all(row in pair.advice for row in pair.suspects)


def test_advice_about_two_pairs_differs_in_more_than_their_names(told):
    first, second = (pair.advice.replace(pair.a, "").replace(pair.b, "") for pair in told.pairs.pairs[:2])
    assert first != second


def test_names_with_braces_and_markup_are_only_text(told):
    pair = replace(
        told.pairs.pairs[0],
        a=HOSTILE[4],
        b=HOSTILE[0],
        blurred=(Blurred(HOSTILE[1], HOSTILE[4], 2, 3),),
        suspects=(HOSTILE[0],),
        n_suspects=1,
    )
    assert any(HOSTILE[4] in template.format(**values) for template, values in advice_of(pair))
    page = page_of(replace(told, pairs=replace(told.pairs, pairs=())))
    assert "<img" not in page


def test_what_is_dismissed_is_left_out_and_said_with_its_reason(owned):
    record, code = found(owned, "twins").evidence[0], "twins"
    reason = "keep apart: </script><b>compliance</b>"
    report = Report.of(owned, dismissals=Dismissals.of([Dismissal.of(code, record, reason, author="ann")]))
    pair = next(one for one in report.pairs.pairs if {one.a, one.b} == {record["a"], record["b"]})
    assert (pair.twins, pair.because) == (False, reason)
    assert "You keep" in pair.advice
    assert [one.because for one in report.findings.dismissed] == [reason]
    page = page_of(report)
    assert "1 dismissed, with the reasons" in page
    assert "keep apart: &lt;/script&gt;" in page
    changed = replace(Dismissal.of(code, record, reason), low=0.9, high=0.95)
    again = Report.of(owned, dismissals=Dismissals.of([changed]))
    assert [one.because for one in again.findings.returned] == [reason]
    assert "is shown again" in re.sub(r"\s+", " ", page_of(again)).replace("are shown", "is shown")


def test_dismissed_labels_are_not_to_be_checked(owned):
    records = found(owned, "label-error").evidence[:5]
    report = Report.of(owned, dismissals=Dismissals.of(Dismissal.of("label-error", one, "right") for one in records))
    assert report.suspects.total == len(found(owned, "label-error").evidence) - 5
    assert {one["row"] for one in records}.isdisjoint(one.row for one in report.suspects.suspects)
    everything = [Dismissal.of("label-error", one, "right") for one in found(owned, "label-error").evidence]
    nothing = Report.of(owned, dismissals=Dismissals.of(everything))
    assert nothing.suspects.total == 0
    assert 'id="suspects"' not in page_of(nothing)


def test_definitions_are_shown_where_they_are_known(owned):
    report = Report.of(owned, definitions={"class 0": 'what "0" is <b>', "class 1": "x" * 9_000, "gone": "no class"})
    assert report.classes.classes[0].definition == 'what "0" is <b>'
    assert len(report.classes.classes[1].definition) == LONGEST_TEXT
    assert report.classes.classes[2].definition == ""
    page = page_of(report)
    assert 'title="what &#34;0&#34; is &lt;b&gt;"' in page
    assert "title=" not in re.findall(r'<a href="#class-2"[^>]*>', page)[0]


def test_the_headline_says_what_to_do_first(told):
    plain = re.sub(r"<[^>]+>", "", str(headline(told)))
    n = told.suspects.total
    assert plain == f"Read {n} labels that look wrong, then decide whether class 0 and class 1 are one class"
    no_labels = replace(told, suspects=replace(told.suspects, total=0))
    assert "Decide whether" in headline(no_labels)
    no_twins = replace(
        no_labels, pairs=replace(told.pairs, pairs=tuple(replace(p, twins=False) for p in told.pairs.pairs))
    )
    assert "Add rows that show how" in headline(no_twins)
    assert str(headline(replace(told, summary=replace(told.summary, judged=0)))) == HEADLINES["unmeasured"]


@pytest.fixture
def with_test_rows(owned):
    def made(**noted):
        model = copy(owned)
        model.about_ = {"test": {"rows": 50, "accuracy": 0.5, "accuracy_low": 0.4, "accuracy_high": 0.6, **noted}}
        return Report.of(model)

    return made


def test_test_rows_are_compared_with_what_was_promised(with_test_rows, owned):
    promised = owned.scores_["accuracy"]
    pairs = [{"a": "class 0", "b": "unheard of", "a_as_b": 2, "b_as_a": 1, "rate": 0.5}]
    worst = [{"class": "</script>", "rows": 3, "precision": 0.5, "recall": 0.25, "f1": 0.3}]
    report = with_test_rows(accuracy_low=promised - 0.1, accuracy_high=promised + 0.1, confused=pairs, worst=worst)
    assert report.tested.verdict == KEPT
    assert report.tested.expected.value == promised
    assert [(one.a, one.b, one.a_as_b) for one in report.tested.pairs] == [("class 0", "unheard of", 2)]
    page = page_of(report)
    assert 'id="tested"' in page
    assert "&lt;/script&gt;" in page
    assert with_test_rows(accuracy_low=0.0, accuracy_high=0.1).tested.verdict == WORSE
    assert with_test_rows(accuracy_low=0.999, accuracy_high=1.0).tested.verdict == BETTER


@pytest.mark.parametrize("confused", [None, 3, [1], [{"a": "b"}], "text"])
def test_what_an_earlier_version_did_not_note_is_left_out(with_test_rows, confused):
    assert with_test_rows(confused=confused, worst=confused).tested.pairs == ()


def test_without_test_rows_there_is_no_such_view(told):
    assert told.tested.rows == 0
    assert 'id="tested"' not in page_of(told)

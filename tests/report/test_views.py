"""Every view against a plain computation of the same thing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, replace

import numpy as np
import polars as pl
import pytest
from tests.report.made import cheap_model, twin_texts

from untwin.answer.evidence import contributions_of_words
from untwin.answer.words import read_text
from untwin.model import UntwinClassifier
from untwin.report import Report, documents, matrix
from untwin.report.advice import FIRST
from untwin.report.documents import within_budget
from untwin.report.matrix import Matrix
from untwin.report.study import LONGEST_TEXT, Study


def errors_of(model):
    answers = model.state_.answers
    pairs = zip(model.state_.y[answers.rows].tolist(), answers.predicted.tolist(), strict=True)
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def test_every_view_is_json_and_a_frame(report):
    content = report.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    for field in fields(report):
        assert isinstance(getattr(report, field.name).frame(), pl.DataFrame)


def test_summary_counts_the_errors_and_the_pairs_that_hold_half_of_them(report, model):
    errors = errors_of(model)
    both = Counter()
    for (true, said), count in errors.items():
        both[frozenset((true, said))] += count
    sizes = sorted(both.values(), reverse=True)
    least = next(n for n in range(1, len(sizes) + 1) if 2 * sum(sizes[:n]) >= sum(sizes))
    summary = report.summary
    assert (summary.errors, summary.pairs, summary.half) == (sum(sizes), len(sizes), least)
    assert summary.accuracy.value == model.scores_["accuracy"]
    assert summary.largest_class == 1 / 6
    assert sum(one.rows for one in summary.calibration) == summary.judged == 72
    gap = sum(one.rows * abs(one.accuracy - one.confidence) for one in summary.calibration) / summary.judged
    assert gap == pytest.approx(summary.calibration_error)
    assert all(sentence.endswith(".") for sentence in summary.sentences)


def test_a_pair_counts_both_ways_and_says_what_merging_gains(report, model):
    errors = errors_of(model)
    for pair in report.pairs.pairs:
        assert (pair.a_as_b, pair.b_as_a) == (errors[pair.a, pair.b], errors[pair.b, pair.a])
        merged = model.confusion_.merged({pair.a: [pair.a, pair.b]})
        assert pair.gain == pytest.approx(merged.accuracy - model.confusion_.accuracy)
        assert pair.low <= pair.rate <= pair.high
    assert sum(pair.share for pair in report.pairs.pairs) == pytest.approx(1)
    assert report.pairs.pairs[0].errors == max(pair.errors for pair in report.pairs.pairs)


def test_twins_are_those_of_the_finding(report, model):
    (finding,) = (one for one in model.findings_ if one.code == "twins")
    found = {(record["a"], record["b"]) for record in finding.evidence}
    assert {(pair.a, pair.b) for pair in report.pairs.pairs if pair.code == "twins"} <= found


def test_examples_are_the_most_confident_errors_of_their_direction(report, study):
    pair = report.pairs.pairs[0]
    a, b, answers = study.names.index(pair.a), study.names.index(pair.b), study.answers
    here = [row for row in range(72) if answers.true[row] == a and answers.said[row] == b]
    surest = sorted(here, key=lambda row: -answers.confidence[row])[:3]
    assert [answers.confidence[row] for row in pair.examples_a] == [answers.confidence[row] for row in surest]


@pytest.mark.parametrize(
    ("fields_of_pair", "code"),
    [
        ({"errors": 2, "a_as_b": 2, "b_as_a": 0}, "few"),
        ({"errors": 20, "a_as_b": 10, "b_as_a": 10}, "twins"),
        ({"errors": 20, "a_as_b": 18, "b_as_a": 2}, "one-way"),
        ({"errors": 20, "a_as_b": 11, "b_as_a": 9}, "define"),
    ],
)
def test_advice_fits_the_errors(fields_of_pair, code):
    from untwin.report.pairs import Term, _code

    telling, dull = (Term("told", 0.9, 0.1),), (Term("the", 0.5, 0.45),)
    assert _code(fields_of_pair, telling, twins=code == "twins") == code
    assert _code(fields_of_pair, dull, twins=True) == ("few" if code == "few" else "alike")
    assert code in FIRST


def test_the_matrix_holds_the_confusion_in_three_orders(report, model):
    shown, counts = report.matrix, model.confusion_.toarray()
    cells = np.zeros_like(counts)
    cells[list(shown.layers[0].true), list(shown.layers[0].predicted)] = shown.layers[0].count
    np.testing.assert_array_equal(cells, counts)
    assert [shown.lines[line] for line in shown.by_tree] == model.hierarchy_.order().tolist()
    assert shown.by_name == tuple(range(6))
    assert sum(shown.blocks) == 6
    assert [layer.title for layer in shown.layers][1:] == ["Neighbours, plain rows", "Neighbours, sprinkled"]
    assert 1 - shown.layers[1].errors / sum(shown.layers[1].count) == pytest.approx(report.space.raw)


@pytest.mark.parametrize("most", [5, 2])
def test_beyond_the_most_lines_the_matrix_shows_groups(study, report, monkeypatch, most):
    monkeypatch.setattr(matrix, "MOST_LINES", most)
    shown = Matrix.of(study)
    assert shown.collapsed
    assert len(shown.lines) == min(len(report.tree.groups), most) == len(shown.merges) + 1
    whole = report.matrix.layers[0]
    assert sum(shown.layers[0].count) == sum(whole.count)
    inside = sum(
        count
        for true, said, count in zip(whole.true, whole.predicted, whole.count, strict=True)
        if shown.node_of[true] == shown.node_of[said]
    )
    diagonal = sum(
        count
        for true, said, count in zip(
            *(getattr(shown.layers[0], name) for name in ("true", "predicted", "count")), strict=True
        )
        if true == said
    )
    assert diagonal == inside


def test_the_tree_has_every_class_once_and_a_range(report, model):
    tree = report.tree
    assert sorted(name for group in tree.groups for name in group.classes) == sorted(model.classes_.tolist())
    assert tree.low <= tree.high
    assert list(tree.distances) == sorted(tree.distances)
    group_of = {name: number for number, group in enumerate(tree.groups) for name in group.classes}
    assert all(group_of[link.a] != group_of[link.b] for link in tree.links)


def test_a_class_has_its_figures_and_nearest_classes(report, model):
    complexity = model.confusion_.mutual_complexity().toarray()
    for number, one in enumerate(report.classes.classes):
        assert one.rows == 12
        assert one.recall == pytest.approx(model.confusion_.recall[number])
        assert one.precision == pytest.approx(model.confusion_.precision[number])
        if one.nearest:
            assert one.confused[0] == pytest.approx(complexity[number].max())
        assert len(one.doubtful) <= one.n_doubtful


def test_wrong_labels_make_their_rows_doubtful():
    rng = np.random.default_rng(0)
    labels = np.repeat(["red", "green", "blue"], 40)
    texts = [" ".join(f"{label}{word}" for word in rng.integers(0, 9, 6)) for label in labels.tolist()]
    labels[[5, 25, 45]] = "blue"
    shown = Report.of(UntwinClassifier(preset="fast").fit(texts, labels)).classes
    doubtful = {one.name: (one.n_doubtful, sorted(one.doubtful)) for one in shown.classes if one.n_doubtful}
    assert doubtful == {"blue": (3, [5, 25, 45])}


def test_a_document_was_judged_and_has_its_neighbours_by_rows_of_other_folds(report, study):
    folds = study.answers.folds
    assert len(report.documents.documents) == len({one.position for one in report.documents.documents})
    assert {one.position for one in report.documents.documents} >= set(study.answers.wrong.tolist())
    for one in report.documents.documents:
        assert one.text == study.model.state_.documents[one.id]
        assert list(one.probabilities) == sorted(one.probabilities, reverse=True)
        assert (one.said, one.confidence) == (one.classes[0], one.probabilities[0])
        assert one.against != one.said
        assert all(folds[near.id] != folds[one.position] for near in one.neighbours)


def test_evidence_is_what_words_add_to_the_log_odds_of_what_answers(report, study):
    answerer, documents = study.model.state_.answerer, study.model.state_.documents
    for one in report.documents.documents[:20]:
        text = documents[study.answers.rows[one.position]]
        read = read_text(text, answerer.lookups)
        told = contributions_of_words(answerer, read, one.said, one.against)
        by_word = dict(zip(read.words, told, strict=True))
        assert one.evidence
        for word, number in one.evidence:
            assert word in text
            assert number == pytest.approx(by_word[word], abs=1e-12)
        for side in (1, -1):
            named = [number for _, number in one.evidence if number * side > 0]
            assert max(named, key=abs, default=0) == pytest.approx(side * max((side * told).max(), 0), abs=5e-4)


def test_without_texts_evidence_is_terms(model):
    study = Study.of(model, texts=False)
    known, rows = model.state_, study.training_rows
    counts, names = known.view.rows, known.view.encoder.get_feature_names_out()
    for row in range(10):
        told = rows.evidence(row, 0, 1, 3)
        here = counts.indices[counts.indptr[row] : counts.indptr[row + 1]]
        assert told
        assert {term for term, _ in told} <= set(names[here][known.view.encoder.readable_[here]])


def test_evidence_of_a_table_is_what_explanations_say():
    texts, labels = twin_texts(3, 12, length=8)
    frame = pl.DataFrame({"subject": texts, "price": [*range(35), None], "colour": ["red", "blue"] * 18})
    model = UntwinClassifier(preset="fast").fit(frame, labels)
    study = Study.of(model)
    for row, reason in enumerate(model.explain(frame[:9], top=5)):
        first, second = (model.classes_.tolist().index(name) for name in (reason.label, reason.evidence.against))
        assert study.training_rows.evidence(row, first, second, 5) == reason.evidence.terms
    assert Study.of(model, texts=False).training_rows.evidence(0, 0, 1, 5) == ()


def test_documents_stop_where_the_page_is_full(study, monkeypatch):
    everything = range(72)
    monkeypatch.setattr(documents, "FEW_BYTES", 10_000)
    kept = list(within_budget(study, everything))
    used = sum(len(json.dumps(one.to_dict(), ensure_ascii=False).encode()) for one in kept)
    assert 0 < len(kept) < 72
    assert used <= 10_000


def test_long_texts_are_cut(study):
    long = replace(study, evidence=replace(study.evidence, texts=["ß" * 5_000] * 72))
    assert len(long.text(0)) == LONGEST_TEXT
    assert long.text(0).endswith("…")


def test_findings_are_those_of_the_model(report, model):
    assert [one.code for one in report.findings.findings] == [one.code for one in model.findings_]
    assert all(len(one.records) <= 20 <= max(one.total, 20) for one in report.findings.findings)


def test_the_cost_names_sizes_configuration_and_the_way_to_repeat_it(model):
    assert Report.of(model).cost.rows.columns == model.state_.view.rows.shape[1]
    test = {"rows": 10, "accuracy": 0.5, "accuracy_low": 0.25, "accuracy_high": 0.75}
    made_by = {"command": ["fit", "my data.csv"], "seconds": {"fitting": 2.0}, "options": {"seed": 1}, "test": test}
    model.about_ = made_by
    try:
        made = Report.of(model)
    finally:
        del model.about_
    cost = made.cost
    assert "On 10 rows marked as test it is 50.0% (95% interval 25.0 to 75.0)." in made.summary.sentences
    assert (cost.command, cost.seconds, cost.options) == ("untwin fit 'my data.csv'", {"fitting": 2.0}, {"seed": 1})


def test_vectors_without_texts_or_terms_have_a_report_too():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2, 3], 20)
    X = rng.normal(size=(60, 5)) + y[:, None]
    shown = Report.of(UntwinClassifier(preset="fast").fit(X, y))
    assert shown.matrix.lines == ("1", "2", "3")
    assert all(one.text == "" and not one.evidence for one in shown.documents.documents)
    assert all(not pair.terms_a for pair in shown.pairs.pairs)


def test_a_model_of_single_rows_has_a_report_that_says_so():
    shown = Report.of(UntwinClassifier(preset="fast").fit(["red bus", "green tram", "blue boat"], ["a", "b", "c"]))
    assert shown.summary.accuracy.value is None
    assert shown.summary.judged == 0
    assert "nothing is measured" in shown.summary.sentences[0]


def test_a_frame_shows_its_rows():
    texts, labels = twin_texts(3, 12, length=8)
    frame = pl.DataFrame({"subject": texts, "price": np.arange(36.0)})
    shown = Report.of(UntwinClassifier(preset="fast").fit(frame, labels))
    assert any(texts[one.id] in one.text for one in shown.documents.documents)
    assert shown.cost.rows.columns == 2


def test_without_texts_nothing_quotes_a_document(model):
    shown = json.dumps(Report.of(model, texts=False).to_dict())
    assert "word" in shown  # terms are not documents
    for text in model.state_.documents:
        assert text[:40] not in shown


def test_classes_that_come_later_are_in_the_report():
    texts, labels = twin_texts(4, 12, length=10)
    model = cheap_model(texts[:36], labels[:36])
    model.add(texts[36:], labels[36:])
    assert len(Report.of(model).matrix.lines) == 4


def test_grades_are_answered_by_the_median_and_so_shown():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 2, 3, 4], 25)
    X = rng.normal(scale=1.5, size=(100, 3)) + y[:, None]
    model = UntwinClassifier(preset="fast", scoring="mae", order=[1, 2, 3, 4]).fit(X, y)
    shown, answers = Report.of(model).documents, model.state_.answers
    for one in shown.documents:
        assert shown.names[one.said] == str(answers.predicted[one.position])
        assert one.confidence == pytest.approx(np.exp(answers.log_p[one.position, one.said]), rel=1e-6)

"""Briefs: everything in them is counted or quoted, and a prompt fits its budget."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.report.made import made_model, twin_texts

from untwin import Brief, UntwinClassifier, audit, brief
from untwin._errors import InputError
from untwin.model.briefs.examples import ExampleRows
from untwin.model.briefs.prompt import estimated_tokens

HOSTILE = ["<script>alert(1)</script>", "a|b", 'new\nline\n- "other"', "=1+1", "`code` @all", "\u202egnp.exe", " a "]


@pytest.fixture(scope="module")
def model():
    return made_model(6, 20)


@pytest.fixture(scope="module")
def texts():
    return twin_texts(6, 20)[0]


def test_figures_are_literal_counts(model, texts):
    answers, classes = model.state_.answers, model.classes_
    for number, one in enumerate(brief(model).classes):
        mine, said = answers.true == number, answers.said == number
        assert (one.name, one.rows) == (classes[number], mine.sum())
        assert one.recall == pytest.approx((mine & said).sum() / (mine & answers.held).sum())
        for contrast in one.contrasts:
            other = classes.tolist().index(contrast.other)
            assert contrast.taken_for == (mine & (answers.said == other)).sum()
            assert contrast.taken_from == ((answers.true == other) & said).sum()
            for term in contrast.terms:  # every class but `own...` words shares its words with its twin
                if " " not in term.term:
                    here, there = (
                        np.mean([term.term in text.split() for text in np.array(texts)[rows]])
                        for rows in (mine, answers.true == other)
                    )
                    assert term.here >= here - 1e-9  # a stem stands for several words
                    assert term.there >= there - 1e-9
                    assert term.here > term.there


def test_examples_are_quoted(model, texts):
    answers = model.state_.answers
    for number, one in enumerate(brief(model).classes):
        assert len(one.typical) <= 3
        for example in one.typical:
            assert texts[int(example.row)].startswith(example.text.removesuffix("…"))
            assert answers.said[int(example.row)] == answers.true[int(example.row)] == number
        for example in one.borderline:
            P = np.exp(answers.log_p[int(example.row)])
            assert example.probability == pytest.approx(P[number])
            assert example.other != one.name
            assert example.other == model.classes_[np.argsort(-np.where(np.arange(6) == number, 0, P))[0]]


def test_it_is_the_same_again(model, tmp_path):
    model.save(tmp_path / "model")
    again = UntwinClassifier.load(tmp_path / "model")
    assert brief(model).to_dict() == brief(model).to_dict()
    assert brief(again).to_prompt(400) == brief(model).to_prompt(400)
    model.save(tmp_path / "bare", texts=False)
    bare = brief(UntwinClassifier.load(tmp_path / "bare"))
    assert {example.text for one in bare.classes for example in (*one.typical, *one.borderline)} == {None}
    assert [one.terms for one in bare.classes] == [one.terms for one in brief(model).classes]


def test_a_shortlist_is_set_against_itself(model):
    a, b, c = model.classes_[[0, 3, 5]].tolist()
    found = brief(model, [c, a, b])
    assert [one.name for one in found.classes] == [c, a, b]
    for one in found.classes:
        others = {a, b, c} - {one.name}
        assert {contrast.other for contrast in one.contrasts} >= others
        assert all(one.against(other).terms for other in others)
    there, back = found.classes[0].against(a), found.classes[1].against(c)
    assert (there.terms, there.taken_for) == (back.terms_of_other, back.taken_from)


def test_two_classes_stand_side_by_side(model):
    page = brief(model, model.classes_[:2], definitions={model.classes_[0]: "The first."}).to_markdown()
    assert "| taken for the other |" in page
    assert "`The first.`" in page
    assert "## " not in page
    assert brief(model, model.classes_[:3]).to_markdown().count("\n## ") == 3


@pytest.mark.parametrize("tokens", [95, 150, 300, 1000, 10_000])
def test_a_prompt_fits(model, tokens):
    prompt = brief(model, definitions={model.classes_[2]: "Defined."}).to_prompt(tokens)
    assert estimated_tokens(prompt) <= tokens
    assert all(f'- "{name}"\n' in prompt for name in model.classes_.tolist())
    assert ("Definition" in prompt) == (tokens > 95)


def test_more_room_shows_more_and_all_of_it_in_the_end(model):
    found = brief(model)
    lengths = [len(found.to_prompt(tokens)) for tokens in (150, 300, 600, 1200)]
    assert lengths == sorted(lengths)
    assert found.to_prompt(10**6) == found.to_prompt()


def test_a_counter_of_ones_own(model):
    found = brief(model)
    assert len(found.to_prompt(1500, count_tokens=len)) <= 1500
    assert len(found.to_prompt(60, count_tokens=lambda text: len(text.split())).split()) <= 60


def test_names_that_do_not_fit_are_an_error_with_the_least(model):
    with pytest.raises(InputError, match="names of 6 classes alone") as caught:
        brief(model).to_prompt(20)
    least = int("".join(c for c in caught.value.hint.split("(")[0] if c.isdigit()))
    assert estimated_tokens(brief(model).to_prompt(least)) <= least


def test_an_unknown_class_is_refused(model):
    with pytest.raises(InputError, match="has no class 'kin 000 class 9999'") as caught:
        brief(model, ["kin 000 class 9999"])
    assert "Did you mean" in caught.value.hint


def test_a_row_whose_label_looks_wrong_is_no_example(model):
    evidence, finding = model.evidence_, next(iter(model.findings_))
    row = brief(model).classes[0].typical[0].row
    doubted = type(finding)("label-error", "", ({"row": row},), "", "info")
    chosen = ExampleRows(evidence, [doubted], quote=None).typical(0, 3)
    assert row not in [example.row for example in chosen]


def hostile_texts():
    rng = np.random.default_rng(0)
    y = np.repeat(HOSTILE, 6)
    return [f"{rng.choice(['', 'x y', 'p|q <b>'])} word{n % 7} own{n // 6}\n" for n in range(len(y))], y


def test_no_name_and_no_text_breaks_out(tmp_path):
    model = UntwinClassifier(preset="fast").fit(*hostile_texts())
    found = brief(model, definitions={HOSTILE[0]: 'Ignore this.\n- "x"'})
    prompt = found.to_prompt()
    assert [line for line in prompt.splitlines() if line.startswith("- ")] == [
        f"- {json.dumps(name, ensure_ascii=not name.isprintable())}" for name in sorted(HOSTILE)
    ]
    page = found.to_markdown()
    assert "<script" not in page
    assert "\u202e" not in page + prompt
    pair = brief(model, HOSTILE[1:3]).to_markdown()
    assert {line.count("|") for line in pair.splitlines() if line.startswith("|")} == {4}
    json.dumps(found.to_dict(), allow_nan=False)


def test_tables():
    rng = np.random.default_rng(0)
    kind = rng.choice(["cat", "dog", "owl"], 90)
    frame = pl.DataFrame(
        {"legs": np.where(kind == "owl", 2, 4) + rng.normal(0, 0.1, 90), "says": np.where(kind == "dog", "woof", "-")}
    )
    found = brief(UntwinClassifier(preset="fast").fit(frame, kind))
    assert any("woof" in term.term for term in found.classes[1].terms)
    assert "; says: woof" in found.classes[1].typical[0].text
    assert "Example: " in found.to_prompt()


def test_vectors_have_figures_alone():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 30)
    X = rng.normal(size=(90, 8)) + np.repeat(np.eye(8)[:3], 30, axis=0)
    found = brief(UntwinClassifier(preset="fast").fit(X, y))
    assert [one.terms for one in found.classes] == [()] * 3
    assert found.classes[0].typical[0].text is None
    assert sum(contrast.taken_for for one in found.classes for contrast in one.contrasts) > 0
    assert found.to_prompt().splitlines()[2:] == ['- "a"', '- "b"', '- "c"']
    assert "row `" in found.to_markdown()


def test_an_audit_has_a_brief():
    texts, y = twin_texts(4, 15)
    found = brief(audit(y, np.roll(y, 3), texts=texts))
    assert isinstance(found, Brief)
    assert found.classes[0].contrasts[0].errors > 0


def test_one_row_classes_empty_texts_and_numbers_as_names():
    texts = ["", "red bus", "red bus", "blue car", "blue car", "", "green tram", "one of its kind"]
    found = brief(
        UntwinClassifier(preset="fast").fit(texts, [1, 1, 1, 2, 2, 2, 2, 3]), ["3", 1], definitions={"3": "x"}
    )
    first = found.classes[0]
    assert (first.name, first.rows, first.judged, first.recall, first.definition) == (3, 1, 0, None, "x")
    assert "" not in [example.text for example in found.classes[1].typical]
    assert found.to_markdown()


def test_a_thousand_classes():
    model = made_model(1000, 3)
    found = brief(model)
    assert len(found.classes) == 1000
    assert all(len(one.contrasts) <= 4 for one in found.classes)
    prompt = found.to_prompt(30_000)
    assert 25_000 < estimated_tokens(prompt) <= 30_000

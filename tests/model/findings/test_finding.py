from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from untwin.model.findings import KINDS, Finding, found
from untwin.model.findings.finding import SEVERITIES

RECORD = {"class": "<b>yak</b>", "rows": 3, "share": 0.123456, "some": [1, 2]}


def finding(**given):
    return Finding(**({"code": "c", "title": "T", "evidence": (RECORD,), "advice": "A", "severity": "info"} | given))


def test_a_finding_is_a_value():
    assert finding() == finding()
    assert finding() != finding(code="other")
    with pytest.raises(FrozenInstanceError):
        finding().code = "other"
    with pytest.raises(TypeError):
        hash(finding())


def test_its_frame_and_page_hold_the_evidence():
    assert finding().frame().to_dicts() == [RECORD]
    page = finding(title="a < b")._repr_html_()
    assert "a &lt; b" in page
    assert "&lt;b&gt;yak" in page
    assert "<b>yak" not in page
    assert finding(evidence=())._repr_html_().endswith("</p>")


def test_an_unknown_severity_is_refused():
    with pytest.raises(ValueError, match=r"severity must be one of info, warning, serious\. Got 'error' instead\."):
        finding(severity="error")


def test_nothing_to_find(evidence):
    assert found(evidence(np.repeat(["a", "b", "c"], 20))) == []


@pytest.mark.parametrize("labels", [["a", "b", "b"], ["a", "a", "a", "b", "c"], ["a", "a"]])
def test_a_handful_of_rows_that_nobody_judged(evidence, labels):
    """Whatever cannot be known is not claimed, and nothing breaks."""
    n, n_classes = len(labels), len(set(labels))
    nothing = np.full((n, n_classes), np.nan)
    rows = np.arange(n * 4.0).reshape(n, 4) % 7
    case = evidence(
        labels,
        folds=np.full(n, -1),
        probabilities=nothing,
        X=rows,
        terms=np.array(list("tuvw")),
        neighbours=np.full((n, 2), -1),
        unlabelled=np.full((3, n_classes), 1 / n_classes),
        parents=dict.fromkeys(labels, "all"),
    )
    assert {"label-error", "twins", "also-see", "group-names", "split-class"}.isdisjoint(
        one.code for one in found(case)
    )


def troubled(evidence, labels):
    """Twins, a tiny class, a leak, conflicting texts, a link across the tree and unsure rows, all at once."""
    y = np.repeat(labels, [30, 30, 30, 3])
    said = y.copy()
    said[:15], said[30:45] = labels[1], labels[0]
    texts = [f"text {row}" for row in range(93)]
    texts[1] = texts[40] = "The same"
    return evidence(
        y,
        said,
        X=np.eye(93) + (np.asarray(labels) == y[:, None]) @ np.eye(4, 93),
        terms=np.array([f"t{column}" for column in range(93)]),
        texts=texts,
        test_texts=["TEXT  7", "new"],
        test_labels=np.asarray(labels)[:2],
        unlabelled=np.full((2, 4), 0.25),
        parents=dict(zip(np.asarray(labels).tolist(), "pqqq", strict=True)),
    )


@pytest.mark.parametrize("labels", [["ape", "bee", "cat", "dog"], [10, 20, 30, 40]])
def test_all_findings_are_sorted_and_ready_for_json(evidence, labels):
    findings = found(troubled(evidence, labels))
    codes = [finding.code for finding in findings]
    assert {"split-leak", "conflicting-text", "twins", "tiny-class", "also-see", "label-next"} <= set(codes)
    assert len(set(codes)) == len(codes)
    severities = [SEVERITIES.index(finding.severity) for finding in findings]
    assert severities == sorted(severities, reverse=True)
    for one in findings:
        assert json.loads(json.dumps(one.evidence)) == list(one.evidence)
        assert one.frame().height == len(one.evidence) > 0
        assert one.title.endswith(".")
        assert one.advice.endswith(".")


def test_each_kind_reports_under_its_own_code(evidence):
    case = troubled(evidence, ["ape", "bee", "cat", "dog"])
    codes = {code: finding.code for code, look in KINDS.items() if (finding := look(case)) is not None}
    assert all(code == said for code, said in codes.items())


def test_every_code_has_its_section_in_the_documentation():
    page = Path(__file__).parents[3] / "docs" / "findings.md"
    headings = [line.strip("# `") for line in page.read_text().splitlines() if line.startswith("## ")]
    assert headings == list(KINDS)


def test_evidence_of_wrong_shape_is_refused(evidence):
    y = np.repeat(["a", "b"], 5)
    with pytest.raises(ValueError, match="scores must be those of 10 rows and 2 classes"):
        evidence(y, probabilities=np.ones((10, 3)))
    with pytest.raises(ValueError, match=r"texts must have shape \(10,\)"):
        evidence(y, texts=["a"])


def test_a_neighbour_of_the_same_fold_would_be_a_leak(evidence):
    y = np.repeat(["a", "b"], 5)
    with pytest.raises(ValueError, match="neighbours must be rows of other folds"):
        evidence(y, neighbours=np.arange(10)[:, None])
    with pytest.raises(ValueError, match="neighbours must be rows of other folds"):
        evidence(y, neighbours=np.full((10, 1), 0))
    assert evidence(y, neighbours=np.full((10, 1), -1)).neighbours is not None

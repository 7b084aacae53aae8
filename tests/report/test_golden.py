"""The JSON of every view of one small model, as it was when somebody last looked at it.

After a change that is meant: UNTWIN_GOLDEN=write pytest tests/report/test_golden.py, and read the difference.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest

from untwin.report import Report

GOLDEN = Path(__file__).parent / "golden"
VIEWS = [field.name for field in fields(Report)]
ROUNDING = 2e-6  # records are rounded to six digits, and another machine may round the other way


def as_golden(report, view):
    """Return a view without what differs from run to run, or from machine to machine.

    The space of so few texts is cut between equal singular values: which directions are in it, and so the terms that
    are similar there, is decided by rounding. (tests/represent compares similar terms where that is not so.)
    """
    content = getattr(report, view).to_dict()
    if view == "cost":
        content |= {"seconds": dict.fromkeys(content["seconds"], 0.0), "versions": sorted(content["versions"])}
        content["rows"] |= {"mebibytes": 0.0}
    if view == "space":
        listed = ("before", "after")
        content["terms"] = [one | {name: len(one[name]) for name in listed} for one in content["terms"]]
    if view == "summary":
        content["candidates"] = [one | {"seconds": 0.0} for one in content["candidates"]]
    return content


def same(found, wanted):
    """Compare JSON, numbers up to rounding."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float):
        return found == pytest.approx(wanted, abs=ROUNDING, rel=0)
    return found == wanted


@pytest.mark.parametrize("view", VIEWS)
def test_the_view_is_what_it_was(report, view):
    found, path = as_golden(report, view), GOLDEN / f"{view}.json"
    if os.environ.get("UNTWIN_GOLDEN") == "write":
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    wanted = json.loads(path.read_text(encoding="utf-8"))
    assert same(found, wanted), json.dumps(found, indent=1)

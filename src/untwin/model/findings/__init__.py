"""Findings about the data and its labels, with fixed codes, evidence and advice (docs/findings.md)."""

from untwin.model.findings.evidence import Evidence
from untwin.model.findings.finding import Finding
from untwin.model.findings.kinds import KINDS, found

__all__ = ["KINDS", "Evidence", "Finding", "found"]

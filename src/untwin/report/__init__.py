"""What a fitted model shows: ten views as records, and one self-contained HTML page that draws them."""

from untwin.report.page import write_report
from untwin.report.views import Report

__all__ = ["Report", "write_report"]

"""Briefs: what a person or a language model needs to tell classes apart, all of it counted or quoted."""

from untwin.model.briefs.briefing import Brief, brief

__all__ = ["Brief", "brief"]

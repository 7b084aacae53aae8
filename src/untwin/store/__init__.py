"""A model as a directory of arrays and one manifest: saved without a moment of danger, loaded without trust."""

from untwin.store.directory import Stored, load, save
from untwin.store.refusal import ModelRefused
from untwin.store.texts import Texts

__all__ = ["ModelRefused", "Stored", "Texts", "load", "save"]

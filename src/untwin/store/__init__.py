"""A model as a directory of arrays and one manifest: saved atomically, checked completely when loaded."""

from untwin.store.directory import Stored, holds_model, load, pack, read_digest, read_facts, save
from untwin.store.lock import sole_writer
from untwin.store.refusal import ModelRefused
from untwin.store.texts import Texts

__all__ = [
    "ModelRefused",
    "Stored",
    "Texts",
    "holds_model",
    "load",
    "pack",
    "read_digest",
    "read_facts",
    "save",
    "sole_writer",
]

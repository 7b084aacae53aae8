"""A fitted model as a directory: a tree of known classes in JSON, arrays beside it, and nothing that could be run."""

from untwin.model.saving.directory import describe, load_model, save_model

__all__ = ["describe", "load_model", "save_model"]

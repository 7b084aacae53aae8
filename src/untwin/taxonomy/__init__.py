"""Classes with history: `Taxonomy`, its changes as values, and the log of events that they and label decisions make."""

from untwin.taxonomy.changes import (
    Create,
    Define,
    Merge,
    Move,
    Rename,
    Retire,
    Revert,
    SeeAlso,
    Split,
    TaxonomyChange,
    change_from_json,
    change_to_json,
)
from untwin.taxonomy.classes import ClassEntry, FormerName, Heir, Taxonomy
from untwin.taxonomy.crosswalk import CrosswalkRow, crosswalk
from untwin.taxonomy.documents import read_taxonomy, taxonomy_from_json, taxonomy_to_json
from untwin.taxonomy.folding import apply, by_ids, fold, reverting

__all__ = [
    "ClassEntry",
    "Create",
    "CrosswalkRow",
    "Define",
    "FormerName",
    "Heir",
    "Merge",
    "Move",
    "Rename",
    "Retire",
    "Revert",
    "SeeAlso",
    "Split",
    "Taxonomy",
    "TaxonomyChange",
    "apply",
    "by_ids",
    "change_from_json",
    "change_to_json",
    "crosswalk",
    "fold",
    "read_taxonomy",
    "reverting",
    "taxonomy_from_json",
    "taxonomy_to_json",
]

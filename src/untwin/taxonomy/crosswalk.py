"""The crosswalk of a taxonomy: what other systems need to follow it from old classes to those of now."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from untwin.taxonomy.classes import Taxonomy


class CrosswalkRow(NamedTuple):
    """An old name of a class, and one class that stands for it now; none where it was retired without an heir."""

    old_id: str
    old_name: str
    new_id: str
    new_name: str
    share: float
    since: str


def crosswalk(taxonomy: Taxonomy) -> list[CrosswalkRow]:
    """Return all that was called otherwise, or is no class any more, and what it is now.

    >>> from untwin.taxonomy import Merge, Rename, Taxonomy, fold
    >>> changes = [Rename("bill", "invoice"), Merge(("invoice", "refund"), "money")]
    >>> for row in crosswalk(fold(changes, Taxonomy.of(["bill", "printer", "refund"]))):
    ...     print(row.old_id, row.old_name, row.new_id, row.new_name, row.share)
    c1 bill c4 money 1.0
    c1 invoice c4 money 1.0
    c3 refund c4 money 1.0
    """
    rows = []
    for entry in taxonomy.classes:
        names = [(former.name, former.until) for former in entry.former]
        names += [(entry.name, entry.since)] if entry.retired else []
        heirs = [(heir.id, heir.name, share) for heir, share in taxonomy.heirs(entry.id)] or [("", "", 0.0)]
        rows += [CrosswalkRow(entry.id, name, *heir, since) for name, since in names for heir in heirs]
    return rows

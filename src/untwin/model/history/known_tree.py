"""The tree of classes that the owner knows: the one that `find` was told to keep, else the taxonomy's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from untwin.taxonomy import Taxonomy


def known_tree(taxonomy: Taxonomy, kept: Mapping[Any, Any] | None, labels: Sequence[Any]) -> dict[Any, Any] | None:
    """Return the parent of each class, or its ancestors from the nearest; None if no tree is known.

    `kept` may name classes as they were once called. A class that no tree has stands alone.
    """
    if kept is not None:
        return {label: _kept_parent(taxonomy, kept, label) for label in labels}
    above = {label: tuple(_ancestors(taxonomy, label)) for label in labels}
    return {label: names or label for label, names in above.items()} if any(above.values()) else None


def _kept_parent(taxonomy: Taxonomy, kept: Mapping[Any, Any], label: Any) -> Any:
    entry = taxonomy.by_name.get(str(label))
    former = [] if entry is None else [name for name, _ in reversed(entry.former)]
    return next((kept[name] for name in (label, *former) if name in kept), label)


def _ancestors(taxonomy: Taxonomy, label: Any) -> Iterator[str]:
    """Yield the names of the classes above one."""
    entry = taxonomy.by_name.get(str(label))
    while entry is not None and entry.parent is not None:
        entry = taxonomy.by_id[entry.parent]
        yield entry.name

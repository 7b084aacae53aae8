"""A tree of the classes that the user has already (`--parent`), beside the one that confusion makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from untwin._errors import InputError
from untwin._values import positions

if TYPE_CHECKING:
    from untwin.data.columns import ColumnRoles
    from untwin.model import UntwinClassifier

TOP_LINKS = 10


def known_parents(train: pl.DataFrame, roles: ColumnRoles) -> dict[str, str] | None:
    """Return the parent of each class; a class without one stands alone, one with several is refused.

    >>> from untwin.data.columns import ColumnRoles
    >>> train = pl.DataFrame({"class": ["cat", "dog", "cat", "bus"], "kind": ["pet", "pet", None, None]})
    >>> known_parents(train, ColumnRoles(label="class", parent="kind"))
    {'bus': 'bus', 'cat': 'pet', 'dog': 'pet'}
    """
    if roles.parent is None:
        return None
    parents = {}
    found = train.group_by(str(roles.label)).agg(pl.col(roles.parent).drop_nulls().unique().sort())
    for name, several in found.sort(str(roles.label)).rows():
        if len(several) > 1:
            shown = ", ".join(map(repr, several[:3]))
            message = f"Column {roles.parent!r}: each class must have one parent. Got {shown} for {name!r} instead."
            raise InputError(message, code="two-parents", hint="Mend the column, or leave --parent out.")
        parents[name] = several[0] if several else name
    return parents


def compare_with_known(model: UntwinClassifier, parents: dict[str, str] | None) -> dict[str, Any] | None:
    """Return how two trees agree, and the classes confused although the known one keeps them apart."""
    if parents is None:
        return None
    tree, rates = model.hierarchy_, model.confusion_.pair_rates()
    links = tree.also_see(parents, top=TOP_LINKS)
    ends = [positions([link.a, link.b], model.classes_).tolist() for link in links]
    also_see = [
        {"a": link.a, "b": link.b, "parent_a": link.known_a, "parent_b": link.known_b, "rate": float(rates[a, b])}
        for link, (a, b) in zip(links, ends, strict=True)
    ]
    also_see.sort(key=lambda link: -link["rate"])
    return {"agreement": tree.agreement(parents)._asdict(), "also_see": also_see}

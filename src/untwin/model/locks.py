"""One lock for each model: threads that update the same model wait for each other, so that no update is lost."""

from __future__ import annotations

import os
from threading import RLock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# Not an attribute of the model: locks can be neither pickled nor copied, and a copy needs one of its own.
_LOCKS: WeakKeyDictionary[object, AbstractContextManager[bool]] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):  # a forked process does not have the threads that hold them
    os.register_at_fork(after_in_child=_LOCKS.clear)


def learning(model: object) -> AbstractContextManager[bool]:
    """Return the lock to hold while a model is fitted or updated.

    >>> class Model: ...
    >>> one, other = Model(), Model()
    >>> learning(one) is learning(one), learning(one) is learning(other)
    (True, False)
    """
    return _LOCKS.setdefault(model, RLock())

"""Results that are kept for the objects that they were computed from."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class IdentityCache(Generic[T]):
    """Results by the identity of objects: to compare their content would take too long.

    A result goes with the first of its objects without another reference; objects that cannot be
    referred to weakly, such as tuples, are held as long as the result is.

    Args:
        size: results that are kept; the oldest go first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[Hashable, tuple[list[object], T]] = {}
        self._lock = threading.Lock()

    def get(self, objects: tuple[object, ...], make: Callable[[], T], key: Hashable = None) -> T:
        """Return the result for ``objects``, made where it is not kept.

        Args:
            objects: compared by identity.
            make: computes the result.
            key: further arguments of the result, compared by value.
        """
        identity = (*map(id, objects), key)
        entry = self._entries.get(identity)
        if entry is None:
            entry = [self._watched(instance, identity) for instance in objects], make()
            with self._lock:
                while len(self._entries) >= self._size:
                    self._entries.pop(next(iter(self._entries)), None)
                self._entries[identity] = entry
        return entry[1]

    def _watched(self, instance: object, identity: Hashable) -> object:
        """Return a reference that ends the entry with its object, so that no other gets its id."""
        entries = self._entries
        try:
            # No lock: the collector may call this anywhere, also where the lock is held.
            return weakref.ref(instance, lambda _: entries.pop(identity, None))
        except TypeError:
            return instance

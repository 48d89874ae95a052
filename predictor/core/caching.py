"""Results that are kept for the objects that they were computed from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class IdentityCache(Generic[T]):
    """Results by the identity of objects: to compare their content would take too long.

    Args:
        size: results that are kept; the oldest go first.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[Hashable, tuple[tuple[object, ...], T]] = {}
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
            # The objects are kept too: no other gets one of their ids as long as the entry lives.
            entry = objects, make()
            with self._lock:
                while len(self._entries) >= self._size:
                    del self._entries[next(iter(self._entries))]
                self._entries[identity] = entry
        return entry[1]

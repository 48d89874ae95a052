"""Results are kept by the identity of what they were computed from."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import partial

from predictor.core.caching import IdentityCache


def counted() -> tuple[list[int], Callable[[], int]]:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return len(made)

    return made, make


def test_the_same_objects_give_the_kept_result_and_equal_ones_do_not() -> None:
    cache: IdentityCache[int] = IdentityCache(4)
    _, make = counted()
    one, equal = [1, 2], [1, 2]

    assert [cache.get((one,), make), cache.get((one,), make)] == [1, 1]
    assert cache.get((equal,), make) == 2
    assert cache.get((one, equal), make) == 3
    assert cache.get((), make) == 4
    assert cache.get((), make) == 4


def test_a_key_is_compared_by_value() -> None:
    cache: IdentityCache[int] = IdentityCache(4)
    _, make = counted()
    one = [1, 2]

    assert cache.get((one,), make, ("a", 1)) == 1
    assert cache.get((one,), make, ("a", 1)) == 1
    assert cache.get((one,), make, ("a", 2)) == 2


def test_the_oldest_result_goes_first() -> None:
    cache: IdentityCache[int] = IdentityCache(2)
    made, make = counted()
    objects = [[place] for place in range(3)]
    for each in objects:
        cache.get((each,), make)

    assert cache.get((objects[2],), make) == 3
    assert cache.get((objects[1],), make) == 2
    assert cache.get((objects[0],), make) == 4
    assert len(made) == 4


class Graph:
    """Something that can be referred to weakly, as graphs can."""

    def itself(self) -> Graph:
        return self


def test_a_result_goes_with_its_object() -> None:
    cache: IdentityCache[Graph] = IdentityCache(4)
    graph, other, result = Graph(), Graph(), Graph()
    kept = weakref.ref(result)
    cache.get((graph, other, "text"), partial(Graph.itself, result))
    del result
    gc.collect()
    assert kept() is not None

    del other

    assert kept() is None


def test_an_object_in_the_place_of_one_that_is_gone_is_another() -> None:
    cache: IdentityCache[int] = IdentityCache(100)
    _, make = counted()
    assert [cache.get((Graph(),), make) for _ in range(9)] == list(range(1, 10))

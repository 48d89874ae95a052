"""Inconclusive networks are measured again while there is time: hand-worked, by a fake clock."""

from __future__ import annotations

from predictor.probing.measuring.interface import NetworkDone
from predictor.services.probing.measure import Repeats


class Clock:
    """Seconds as the test sets them."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def repeats(clock: Clock, budget_s: float = 60.0) -> Repeats:
    return Repeats(budget_s, clock)


def told(of: Repeats, **median_ms: float | None) -> None:
    for name, value in median_ms.items():
        of.take(NetworkDone(name, {"median_ms": value}))


def test_what_was_inconclusive_comes_again_as_far_as_the_time_left_goes() -> None:
    clock = Clock()
    found = repeats(clock)
    told(found, a=1.0, b=None, c=None, d=2.0, e=None)
    clock.now_s = 35.0  # 7 s a network, 14 s if it is repeated; 25 s are left

    assert found.due() == ("b",)

    told(found, b=3.0)
    clock.now_s = 49.0

    assert found.due() == ()


def test_a_network_comes_again_twice_at_most() -> None:
    clock = Clock()
    found = repeats(clock, 1000.0)
    clock.now_s = 5.0
    told(found, a=None)

    turns = []
    for _ in range(3):
        turns.append(found.due())
        told(found, a=None)

    assert turns == [("a",), ("a",), ()]


def test_nothing_comes_again_where_all_is_well_or_a_plan_names_no_budget() -> None:
    for budget_s, median_ms in ((60.0, 1.0), (0.0, None)):
        clock = Clock()
        found = repeats(clock, budget_s)
        clock.now_s = 1.0
        told(found, a=median_ms)

        assert found.due() == ()

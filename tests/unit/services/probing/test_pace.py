"""Networks are measured again, and more of them, while there is time: by a fake clock."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from predictor.probing.measuring.interface import NetworkDone
from predictor.probing.planning import longest_seconds
from predictor.probing.runner.settings import Settings
from predictor.services.probing.measure import Pace


class Clock:
    """Seconds as the test sets them."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def pace_of(clock: Clock, budget_s: float = 60.0) -> Pace:
    return Pace(budget_s, clock)


def told(of: Pace, **median_ms: float | None) -> None:
    for name, value in median_ms.items():
        of.take(NetworkDone(name, {"median_ms": value}))


def test_what_was_inconclusive_comes_again_as_far_as_the_time_left_goes() -> None:
    clock = Clock()
    pace = pace_of(clock)
    told(pace, a=1.0, b=None, c=None, d=2.0, e=None)
    clock.now_s = 35.0  # 7 s a network, 14 s if it is repeated; 25 s are left

    assert pace.repeats() == ("b",)

    told(pace, b=3.0)
    clock.now_s = 49.0

    assert pace.repeats() == ()


def test_a_network_comes_again_twice_at_most() -> None:
    clock = Clock()
    pace = pace_of(clock, 1000.0)
    clock.now_s = 5.0
    told(pace, a=None)

    turns = []
    for _ in range(3):
        turns.append(pace.repeats())
        told(pace, a=None)

    assert turns == [("a",), ("a",), ()]


def test_nothing_comes_again_where_all_is_well_or_a_plan_names_no_budget() -> None:
    for budget_s, median_ms in ((60.0, 1.0), (0.0, None)):
        clock = Clock()
        pace = pace_of(clock, budget_s)
        clock.now_s = 1.0
        told(pace, a=median_ms)

        assert pace.repeats() == ()


# A network takes 3 blocks of 3 s and 0.3 s for its profile at most, the sentinel 3 blocks.
SETTINGS = replace(Settings(), cap_s=3.0)


def test_there_is_time_for_more_networks_at_the_pace_so_far() -> None:
    clock = Clock()
    pace = pace_of(clock)
    told(pace, a=1.0, b=1.0, c=1.0, d=1.0, e=1.0)
    for now_s, more in (
        (20.0, 4),  # ten at 4 s, but five may take 9 + 5 x 9.3 s, a network more than the 40 s
        (40.0, 2),
        (50.0, 1),
        (50.1, 0),  # 10.02 s each, 9.9 s left
        (70.0, 0),
    ):
        clock.now_s = now_s
        assert pace.more(SETTINGS) == more, now_s


def test_before_anything_is_measured_nobody_knows_the_pace() -> None:
    clock = Clock()
    assert pace_of(clock).more(SETTINGS) == 0


@given(st.floats(1.0, 600.0), st.integers(1, 20), st.floats(0.1, 1.0), st.floats(3.0, 20.0))
def test_a_run_ends_a_network_after_its_budget_at_the_latest(
    budget_s: float, measured: int, spent: float, cap_s: float
) -> None:
    clock = Clock()
    pace, settings = pace_of(clock, budget_s), replace(Settings(), cap_s=cap_s)
    told(pace, **{f"n{number}": 1.0 for number in range(measured)})
    clock.now_s = budget_s * spent
    more = pace.more(settings)
    if more:
        over_s = clock.now_s + longest_seconds(settings, more) - budget_s
        assert over_s <= longest_seconds(settings, 1) + 1e-9

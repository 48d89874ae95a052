"""The measuring protocol against a clock that only the network moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat

import pytest

from predictor.probing.runner.failures import MeasuringError
from predictor.probing.runner.sampling import profiled_runs, timed_runs, warm_up
from predictor.probing.runner.settings import Settings

MS = 1_000_000


class FakeNetwork:
    """A network whose runs take given times, and the clock that they move."""

    def __init__(self, durations_ns: Iterator[int]) -> None:
        self._durations_ns = durations_ns
        self._now_ns = 0

    def run(self) -> None:
        self._now_ns += next(self._durations_ns)

    def clock_ns(self) -> int:
        return self._now_ns


def warmed(durations_ns: Iterator[int], settings: Settings | None = None) -> dict[str, object]:
    network = FakeNetwork(durations_ns)
    return warm_up(network.run, network.clock_ns, settings or Settings())


def timed(
    durations_ns: Iterator[int],
    settings: Settings | None = None,
    tell: Callable[[Sequence[int]], None] = lambda _: None,
) -> tuple[list[int], str]:
    network = FakeNetwork(durations_ns)
    return timed_runs(network.run, network.clock_ns, settings or Settings(), tell)


def test_a_quick_network_warms_up_for_half_a_second() -> None:
    assert warmed(repeat(MS)) == {"runs": 500, "seconds": 0.5, "settled": True}


def test_a_slow_network_warms_up_for_ten_runs() -> None:
    assert warmed(repeat(200 * MS)) == {"runs": 10, "seconds": 2.0, "settled": True}


def test_a_very_slow_network_warms_up_for_twenty_seconds_at_most() -> None:
    assert warmed(repeat(3000 * MS)) == {"runs": 7, "seconds": 21.0, "settled": False}


def test_warm_up_goes_on_until_the_median_settles() -> None:
    """Runs fall by 10 % each and settle at 10 ms: the quarters agree some runs after that."""
    falling = [10 * MS + 50 * MS * 9**i // 10**i for i in range(40)]
    found = warmed(chain(falling, repeat(10 * MS)))
    assert found["settled"] is True
    assert int(str(found["runs"])) > len([d for d in falling if d > 10.2 * MS])


def test_warm_up_that_never_settles_ends_two_seconds_later() -> None:
    doubling = (MS * (2 if (i // 30) % 2 else 1) * (1 + i % 7) for i in range(10**6))
    found = warmed(doubling, Settings(settled=-1.0))
    assert found["settled"] is False
    assert 2.5 <= float(str(found["seconds"])) < 2.6


def test_a_steady_network_is_timed_for_a_second() -> None:
    samples, ended = timed(repeat(2 * MS))
    assert (samples, ended) == ([2 * MS] * 500, "interval")


def test_a_slow_network_is_timed_eleven_times() -> None:
    samples, ended = timed(repeat(500 * MS))
    assert (len(samples), ended) == (11, "interval")


def test_a_varying_network_is_timed_until_its_median_is_known() -> None:
    """Two values 10 % apart in turn: the interval spans them until the cap of 10 s a block."""
    samples, ended = timed(iter([10 * MS, 11 * MS] * 10_000))
    assert ended == "cap"
    assert 10.0 <= sum(samples) / 1e9 < 10.02


def test_more_runs_narrow_the_interval() -> None:
    """Values around 100 within 10 %: half the runs lie within 1 % once the ranks come together."""
    cycle = [100, 90, 110, 95, 105, 99, 101, 98, 102, 100]
    samples, ended = timed(MS * value for value in cycle * 10_000)
    assert ended == "interval"
    assert 1.0 <= sum(samples) / 1e9 < 10.0


def test_a_network_too_slow_for_eleven_runs_is_given_up() -> None:
    with pytest.raises(MeasuringError, match=r"10 runs took 80 s; at least 11 .* in 75 s") as error:
        timed(repeat(8000 * MS))
    assert error.value.code == "time-out"


def test_a_slow_network_may_pass_the_cap_for_its_eleven_runs() -> None:
    samples, ended = timed(repeat(5000 * MS))
    assert (len(samples), ended) == (11, "interval")


def test_every_sample_is_told_once_and_in_order() -> None:
    told: list[int] = []
    durations = [MS * (1 + i % 5) for i in range(10_000)]
    samples, _ = timed(iter(durations), tell=told.extend)
    assert told == samples == durations[: len(samples)]


@pytest.mark.parametrize(
    ("run_ms", "runs"),
    [
        (1, 200),  # no more than 200
        (10, 30),  # 0.3 s
        (100, 5),  # no fewer than five
        (2000, 3),  # no longer than 5 s
    ],
)
def test_a_profiled_pass_is_short(run_ms: int, runs: int) -> None:
    """Two runs more warm up, however long they take."""
    left = chain([9000 * MS] * 2, repeat(run_ms * MS))
    done: list[int] = []
    network = FakeNetwork(done.append(each) or each for each in left)
    profiled_runs(network.run, network.clock_ns, Settings())
    assert len(done) == 2 + runs

from __future__ import annotations

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.services.prediction.threads import threads_sentences


def target(name: str, threads: int, cores: int | None = 4, family: Family = Family.CPU) -> Target:
    metrics = {} if cores is None else {"core_count": float(cores)}
    device = Device(id=name, name=name.title(), vendor="Maker", family=family, metrics=metrics)
    return Target(device, Configuration(threads=threads))


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_threads_that_the_device_has_need_no_word(threads: int) -> None:
    assert threads_sentences([target("board", threads)]) == []


def test_more_threads_than_cores() -> None:
    assert threads_sentences([target("board", 99)]) == [
        "99 threads are more than the cores of Board: 4 of them compute."
    ]
    assert threads_sentences([target("old", 2, cores=1)]) == [
        "2 threads are more than the cores of Old: 1 of them computes."
    ]


def test_several_devices_make_one_sentence() -> None:
    small, large, enough = target("small", 16, 4), target("large", 16, 8), target("pc", 16, 16)
    assert threads_sentences([small, large, enough]) == [
        "16 threads are more than the cores of Small and Large: one a core computes."
    ]
    same = [target(name, 16, 4) for name in ("a", "b", "c")]
    assert threads_sentences(same) == [
        "16 threads are more than the cores of 3 devices: 4 of them compute."
    ]


def test_a_device_without_threads_says_so() -> None:
    assert threads_sentences([target("card", 8, family=Family.GPU)]) == [
        "A number of threads changes nothing on Card."
    ]
    assert threads_sentences([target("card", 0, family=Family.GPU)]) == []


def test_cores_that_nobody_states_are_not_judged() -> None:
    assert threads_sentences([target("board", 99, cores=None)]) == []

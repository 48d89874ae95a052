"""Other programs' work is seen, and that of this program and what it starts is not."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from predictor.services.probing import other_load as subject
from predictor.services.probing.other_load import OtherLoad, OtherPrograms, busy_words, other_load

SPIN = "import time; end = time.monotonic() + 30\nwhile time.monotonic() < end: pass"
OWN_S = 0.4


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def counters(monkeypatch: pytest.MonkeyPatch, *busy_s: float) -> None:
    """Let the machine's processors have been busy for so long at each look."""
    left = iter(busy_s)
    monkeypatch.setattr(subject, "_busy_s", lambda: next(left))


def test_what_this_process_and_its_children_take_is_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before_s = sum(psutil.Process().cpu_times()[:4])
    child = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        counters(monkeypatch, 100.0, 100.0)
        programs = OtherPrograms(named=False)
        spin(OWN_S)
        while psutil.Process(child.pid).cpu_times().user < OWN_S:
            time.sleep(0.05)
        # The processors' time did not grow: own time, were it not told apart, would be others'.
        monkeypatch.setattr(subject, "_busy_s", lambda: 100.0 + _own_s(child.pid) - before_s)
        load = programs.since()
    finally:
        child.kill()
        child.wait()
    assert load.cores < 0.2


def _own_s(child: int) -> float:
    return sum(sum(psutil.Process(each).cpu_times()[:4]) for each in (psutil.Process().pid, child))


def test_the_rest_of_the_busy_time_is_that_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    counters(monkeypatch, 100.0, 100.6)
    monkeypatch.setattr(subject, "_this_and_children", dict)
    times = iter((10.0, 11.0))
    monkeypatch.setattr(subject.time, "monotonic", lambda: next(times))
    assert OtherPrograms(named=False).since().cores == pytest.approx(0.6)


def test_a_child_that_ended_leaves_no_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "_busy_s", _with_ended)
    programs = OtherPrograms(named=False)
    subprocess.run([sys.executable, "-c", "sum(range(20_000_000))"], check=True)
    assert programs.since().cores < 0.05


def _with_ended() -> float:
    return sum(psutil.Process().cpu_times()[:4])


def test_the_busiest_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter(
        [
            {(7, "editor"): 1.0, (8, "browser"): 5.0},
            {(7, "editor"): 1.01, (8, "browser"): 5.9, (9, "browser"): 9.0},
        ]
    )
    monkeypatch.setattr(subject, "_other_programs_s", lambda _: next(looks))
    times = iter((10.0, 11.0))
    monkeypatch.setattr(subject.time, "monotonic", lambda: next(times))
    load = OtherPrograms().since()
    assert load.programs["browser"] == pytest.approx(0.9)  # what began meanwhile is not known
    words = OtherLoad(0.95, 2, load.programs).words
    assert words == "Other programs use 0.95 of 2 cores (browser 0.9)."


def test_a_program_that_explains_little_of_the_load_is_not_named() -> None:
    assert OtherLoad(0.8, 2, {"kworker": 0.07}).words == "Other programs use 0.8 of 2 cores."
    assert OtherLoad(0.3, 2, {"backup": 0.07}).words.endswith("(backup 0.07).")


def test_a_tenth_of_the_processors_is_busy() -> None:
    assert not OtherLoad(0.2, 2).is_busy
    assert OtherLoad(0.21, 2).is_busy
    assert not OtherLoad(0.7, 8).is_busy
    assert busy_words(OtherLoad(0.0, 2)).endswith("That is quiet enough to measure.")
    assert busy_words(OtherLoad(1.0, 2)).endswith("wait.")


def test_a_look_takes_as_long_as_it_is_told() -> None:
    waited: list[float] = []
    assert other_load(0.5, waited.append).cores >= 0.0
    assert waited == [0.5]

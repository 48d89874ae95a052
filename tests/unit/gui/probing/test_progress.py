"""What the events of a session add up to, with hand-worked numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.probing.grids import progress_grid
from ctm_gui.probing.progress import (
    RunProgress,
    SampleTrace,
    StoredEvent,
    duration,
    milliseconds,
)
from predictor.core.documents import ProbeOutcome, Provenance
from predictor.core.records import Configuration, Measurement
from predictor.core.stored import ProbeState, SessionProbe
from predictor.probing.measuring.interface import (
    BlockStarted,
    Drift,
    NetworkDone,
    NetworkFailed,
    RunConfiguration,
    RunFinished,
    Samples,
)
from predictor.services.probing.session_plan import LiveChoice, PlannedNetwork, SessionPlan
from predictor.services.probing.sessions import ProbeSession


def session(*probes: SessionProbe, live: LiveChoice | None = None) -> ProbeSession:
    *planned, sentinel = (
        PlannedNetwork(
            name=name,
            space="space",
            code=(),
            fingerprint="f" * 64,
            expected_ms=2.5,
            reason=f"why {name}",
        )
        for name in (*(p.name for p in probes), "sentinel")
    )
    plan = SessionPlan(
        selector="random",
        seed=0,
        expected_s=40.0,
        budget_s=0.0,
        live=live,
        settings={},
        configuration=RunConfiguration(),
        probes=tuple(planned),
        sentinel=sentinel,
    )
    return ProbeSession(
        id="1" * 32,
        device_id="board",
        configuration=Configuration(),
        plan_text=plan.to_json(),
        probes=probes,
    )


def probe(name: str, state: ProbeState = ProbeState.WAITING, **facts: Any) -> SessionProbe:
    return SessionProbe(name=name, fingerprint=name * 64, state=state, **facts)


def four() -> RunProgress:
    return RunProgress(session(*(probe(name) for name in "abcd")), {})


def done(name: str, median_ms: float | None, words: str) -> StoredEvent:
    state = ProbeState.INCONCLUSIVE if median_ms is None else ProbeState.MEASURED
    stored = probe(name, state, outcome=ProbeOutcome({"words": words}))
    if median_ms is None:
        stored = probe(name, state, reason=words)
    return StoredEvent(NetworkDone(name, {"median_ms": median_ms}), stored)


def test_a_network_is_shown_from_waiting_to_its_verdict() -> None:
    progress = four()
    assert progress.left == 4
    progress.take(StoredEvent(BlockStarted("b", 1)))
    assert progress.words() == "b, block 1"
    grid = progress_grid(progress.rows, progress.current, ())
    assert [grid.columns[3].text(row) for row in range(4)] == [
        "waiting",
        "measuring…",
        "waiting",
        "waiting",
    ]
    progress.take(done("b", 12.3456, "steady: two blocks agree within 0.4 %"))
    row = progress.rows[1]
    assert (row.why, row.expected_ms, row.median_ms) == ("why b", 2.5, 12.3456)
    assert row.words == "steady: two blocks agree within 0.4 %"
    assert progress.left == 3


def test_networks_that_are_chosen_on_the_way_join_the_rows_and_the_time_left() -> None:
    live = LiveChoice(4, 60.0, None, {})
    progress = RunProgress(session(probe("a"), probe("b"), live=live), {})
    assert (progress.total, progress.to_come, progress.left) == (2, 2, 4)
    progress.take(done("a", 1.0, "steady"), 8.0)
    assert progress.seconds_left(8.0) == 3 * 8.0

    progress.grow(session(*(probe(name) for name in "abc"), live=live))

    assert [row.name for row in progress.rows] == ["a", "b", "c"]
    assert progress.rows[0].median_ms == 1.0  # what was measured stays
    assert progress.rows[2].why == "why c"
    assert (progress.to_come, progress.left) == (1, 3)


def test_an_inconclusive_and_a_failed_network_say_why_and_have_no_number() -> None:
    progress = four()
    progress.take(done("a", None, "inconclusive: its 3 blocks differ"))
    failed = probe("b", ProbeState.FAILED, reason="missing-operator: Foo")
    progress.take(StoredEvent(NetworkFailed("b", "missing-operator", "Foo"), failed))
    assert [row.words for row in progress.rows[:2]] == [
        "inconclusive: its 3 blocks differ",
        "missing-operator: Foo",
    ]
    assert [row.median_ms for row in progress.rows[:2]] == [None, None]
    assert progress.left == 2


def test_what_was_measured_before_is_there_when_a_session_goes_on() -> None:
    before = probe(
        "a", ProbeState.MEASURED, measurement_id="m", outcome=ProbeOutcome({"words": "steady"})
    )
    measurement = Measurement(
        id="m",
        fingerprint="a" * 64,
        device_id="board",
        configuration=Configuration(),
        samples_ns=(),
        value_ms=7.0,
        statistic="median",
        protocol="p",
        provenance=Provenance(),
    )
    progress = RunProgress(session(before, probe("b")), {"m": measurement})
    assert [row.median_ms for row in progress.rows] == [7.0, None]
    assert (progress.left, progress.total) == (1, 2)


def test_time_left_follows_the_plan_then_what_networks_really_take() -> None:
    progress = four()
    assert progress.seconds_left(0.0) == 40.0
    assert progress.seconds_left(15.0) == 25.0
    assert progress.seconds_left(90.0) == 0.0
    progress.take(done("a", 1.0, "steady"), 30.0)
    progress.take(done("b", 1.0, "steady"), 50.0)
    assert progress.seconds_left(50.0) == 50.0  # 25 s each, two are left
    assert progress.seconds_left(60.0) == 40.0  # it runs down while the third is measured
    assert progress.seconds_left(90.0) == 25.0  # which takes longer: the fourth is left at least


def test_drift_is_told_in_words_with_its_limit() -> None:
    progress = four()
    assert "not known yet" in progress.drift_words()
    progress.take(StoredEvent(Drift((1.0,), 0.0)))
    assert "not known yet" in progress.drift_words()
    progress.take(StoredEvent(Drift((1.0, 1.04), 0.04)))
    assert progress.drift_words() == (
        "Steady machine: the same network took 1, 1.04 ms, within 4 %."
    )
    assert not progress.drifted
    progress.take(StoredEvent(Drift((1.0, 1.04, 1.08), 0.08)))
    assert progress.drifted
    assert "a drift of 8 %, over 5 %" in progress.drift_words()


def test_samples_belong_to_the_network_that_is_measured() -> None:
    progress = four()
    progress.take(StoredEvent(BlockStarted("a", 1)))
    progress.take(StoredEvent(Samples("a", 1, (1_000_000, 2_000_000))))
    progress.take(StoredEvent(BlockStarted("a", 2)))
    progress.take(StoredEvent(Samples("a", 2, (3_000_000,))))
    assert progress.trace.blocks == (1, 2)
    runs, values_ms = progress.trace.points(1, 10)
    assert runs.tolist() == [1.0, 2.0]
    assert values_ms.tolist() == [1.0, 2.0]
    progress.take(StoredEvent(BlockStarted("b", 1)))
    assert progress.trace.blocks == ()
    progress.take(StoredEvent(BlockStarted("a", 1, sentinel=True)))
    assert progress.words() == "a once more, to see drift"
    progress.take(StoredEvent(RunFinished()))
    assert progress.words() == ""
    assert progress.finished


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=400), st.integers(4, 50))
def test_a_plot_of_few_points_keeps_the_fastest_and_the_slowest_run(
    samples_ns: list[int], most: int
) -> None:
    trace = SampleTrace()
    trace.add(1, tuple(samples_ns))
    runs, values_ms = trace.points(1, most)
    assert len(runs) <= max(most, 1)
    assert np.all(np.diff(runs) > 0)
    assert values_ms.min() == min(samples_ns) / 1e6
    assert values_ms.max() == max(samples_ns) / 1e6
    assert all(
        samples_ns[int(run) - 1] / 1e6 == ms for run, ms in zip(runs, values_ms, strict=True)
    )


def test_durations_and_latencies_are_written_for_people() -> None:
    assert [duration(s) for s in (0.4, 59.4, 60.0, 80.0)] == ["0 s", "59 s", "1 min", "1 min 20 s"]
    assert milliseconds(None) == "—"
    assert milliseconds(12.34567) == "12.35"

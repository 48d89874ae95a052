"""Sessions that choose by what was measured, and what a plan is expected to bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from predictor.core.stored import SessionState
from predictor.probing.choice import ADAPTIVE, SELECTOR_NAMES, PlanRequest
from predictor.probing.measuring.interface import Drift, Failure
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.probing.events import ProbesChosen
from predictor.services.probing.expectation import (
    ExpectedInterval,
    expected_interval,
    interval_words,
)
from predictor.services.probing.measure import Pace, measure
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.plan import plan_probes, probe_target, probes_in_time
from tests.support.probe_sessions import Script

pytestmark = pytest.mark.slow

PI = probe_target(load_catalogue().find("rpi5"), 1)
NS = 2_000_000


@pytest.fixture
def probing(tmp_path: Path) -> Iterator[Probing]:
    with open_probing(tmp_path / "store.sqlite") as opened:
        yield opened


def outcomes(count: int) -> list[list[int]]:
    return [[NS + number, NS + number] for number in range(count)]


def test_a_session_chooses_the_rest_by_what_the_first_showed(probing: Probing) -> None:
    plan = plan_probes(PlanRequest(target=PI, probes=6, selector="dbsel", live=True))
    assert (len(plan.probes), plan.to_come) == (3, 3)
    session = probing.sessions.start(plan)
    assert session.plan.to_come == 3
    script = Script(*outcomes(6))

    events = list(measure(probing.sessions, session.id, script))

    (chosen,) = [event for event in events if isinstance(event, ProbesChosen)]
    done = probing.sessions.get(session.id)
    assert done.state is SessionState.FINISHED
    assert [probe.name for probe in done.probes[3:]] == list(chosen.names)
    assert len({probe.name for probe in done.probes}) == 6
    assert [len(plan.networks) for plan in script.plans] == [3, 3]
    # Two runs of 1.0 and 1.1 ms each are one row of medians.
    assert [e.medians_ms for e in events if isinstance(e, Drift)] == [(1.0, 1.1), (1.0, 1.1) * 2]
    (signature,) = probing.signatures.all()
    assert len(signature.signature.measurement_ids) == 6


def test_a_session_that_was_stopped_before_the_choice_goes_on_with_it(probing: Probing) -> None:
    session = probing.sessions.start(
        plan_probes(PlanRequest(target=PI, probes=6, selector="dbsel", live=True))
    )
    begun = measure(probing.sessions, session.id, Script(*outcomes(3)))
    while not isinstance(next(begun), Drift):
        pass
    begun.close()  # all three are measured, and nothing was chosen yet

    again = Script(*outcomes(3))
    for _ in measure(probing.sessions, session.id, again):
        pass

    assert len(again.plans) == 1
    assert len(probing.sessions.get(session.id).probes) == 6


def test_the_adaptive_session_stops_at_the_width_that_is_wished(probing: Probing) -> None:
    wide = probing.sessions.start(
        plan_probes(PlanRequest(target=PI, probes=4, selector="adaptive", live=True, within=5.0))
    )
    for _ in measure(probing.sessions, wide.id, Script(*outcomes(3))):
        pass
    assert len(probing.sessions.get(wide.id).probes) == 3

    none = probing.sessions.start(
        plan_probes(PlanRequest(target=PI, probes=4, selector="adaptive", live=True, within=1e-9))
    )
    for _ in measure(probing.sessions, none.id, Script(Failure.CRASHED, *outcomes(3))):
        pass
    done = probing.sessions.get(none.id)
    assert len({probe.name for probe in done.probes}) == 4
    assert done.state is SessionState.FINISHED


def test_more_networks_are_expected_to_narrow_the_interval_further() -> None:
    plan = plan_probes(PlanRequest(target=PI, probes=6, selector="iopt"))
    fingerprints = [probe.network.fingerprint for probe in plan.probes]
    few, many = (expected_interval(PI, fingerprints[:k]) for k in (2, 6))
    assert few is not None
    assert many is not None
    assert few.now == pytest.approx(many.now, rel=0.2)
    assert many.after < few.after < few.now


def test_a_plan_that_gains_nothing_promises_nothing() -> None:
    assert interval_words(ExpectedInterval(0.4, 0.25), 1) == (
        "Error of the open model now up to +40 %; expected after probing: +25 %."
    )
    assert interval_words(ExpectedInterval(0.287, 0.323)) == (
        "Error of a typical network now up to +28.7 %; this plan is not expected to lower it."
    )


@pytest.mark.parametrize("selector", SELECTOR_NAMES)
def test_a_short_session_measures_more_networks_while_there_is_time_left(
    probing: Probing, monkeypatch: pytest.MonkeyPatch, selector: str
) -> None:
    monkeypatch.setattr(Pace, "more", lambda _, __: next(left))
    request = probes_in_time(
        PlanRequest(target=PI, probes=12, selector=selector, budget_s=60.0, live=True)
    )
    plan = plan_probes(request)
    first = len(plan.probes)
    left = iter([2, 2, 1, 0] if selector == ADAPTIVE else [3, 1, 0])
    assert request.sure is not None
    assert (first, first + plan.to_come) == (min(request.sure, first), 12)
    assert plan.expected_s <= 60.0
    session = probing.sessions.start(plan)

    script = Script(*outcomes(12))
    chosen = [
        event.names
        for event in measure(probing.sessions, session.id, script)
        if isinstance(event, ProbesChosen)
    ]

    done = probing.sessions.get(session.id)
    assert done.state is SessionState.FINISHED
    names = [probe.name for probe in done.probes]
    assert len(set(names)) == len(names) == request.sure + 4
    assert [name for some in chosen for name in some] == names[first:]

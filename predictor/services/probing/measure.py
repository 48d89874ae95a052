"""Measurement of sessions: waiting networks, those chosen by them, then inconclusive ones."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from predictor.core.progress import CancelToken
from predictor.core.records import Target
from predictor.devices.schema import device_from_object
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.choice import ADAPTIVE, BY_OPERATORS, PlanRequest
from predictor.probing.measuring import interface
from predictor.probing.networks.known import load_pool_latencies
from predictor.probing.networks.pool import load_pool
from predictor.probing.planning import PlannedProbe, longest_seconds, more_probes
from predictor.probing.protocol import checked_network
from predictor.probing.runner.medians import difference
from predictor.probing.runner.settings import Settings
from predictor.services.probing.build import build_plan
from predictor.services.probing.events import ProbesChosen, SessionEvent
from predictor.services.probing.expectation import beliefs_of
from predictor.services.probing.sessions import ProbeSession, ProbeSessions
from predictor.services.signatures.user_signatures import measurements_of
from predictor.store import probe_sessions as records

_MAX_REPEATS: Final = 2  # of one network
_LONGER: Final = 2.0  # what is repeated needs a third block, and a sentinel stands beside it


def measure(
    sessions: ProbeSessions,
    session_id: str,
    runner: interface.ProbeRunner,
    cancel: CancelToken | None = None,
    source: str = "local",
    to_predict: Sequence[OperatorGraph] = (),
    *,
    use_anyway: bool = False,
) -> Iterator[SessionEvent]:
    """Measure the waiting networks of a session, and yield events as they come.

    The result in an event is on the disk when the event is yielded. A session that was
    killed, paused or cancelled goes on with the network that it had begun. A live session chooses
    further networks once the first are measured, and one of as many networks as fit into its time
    does so while the next one fits. Inconclusive networks are measured again as long as there is
    time left in the budget. When nothing is waiting any more and nothing is to come,
    the session ends and its measurements become a signature, which is active where it passes its
    checks.

    Args:
        sessions: of the store.
        session_id: of the session.
        runner: of the machine that is measured.
        cancel: ends the run within a second; the session can go on later.
        source: kind of the runner, for the provenance: local or ssh.
        to_predict: graphs of the user's models, for the adaptive selector; none for networks of the
            pool.
        use_anyway: whether the signature is active though it fails its checks.

    Raises:
        InputError: there is no such session, it has ended, or the plan is wrong.
        HostError: the machine or the store fails.
        CancelledError: it was cancelled.
    """
    session = sessions.running(session_id)
    medians_ms: tuple[float, ...] = ()  # of the sentinel in the rounds before
    drift: interface.Drift | None = None
    pace = Pace(session.plan.budget_s)
    try:
        while True:
            for event in _measure_waiting(sessions, session, runner, cancel, source):
                pace.take(event)
                if not isinstance(event, interface.Drift):
                    yield event
                    continue
                # Drift over the session, so of the medians of the sentinel in all rounds.
                together = (*medians_ms, *event.medians_ms)
                drift = interface.Drift(together, difference(together)) if medians_ms else event
                sessions.note(session.id, drift=drift.drift)
                yield drift
            medians_ms = drift.medians_ms if drift else ()
            chosen = _choose_more(sessions, sessions.get(session.id), to_predict, pace)
            # New networks come first: they add more than a repeat of an inconclusive one.
            again = () if chosen else pace.repeats()
            if again:
                records.repeat(sessions.database, session.id, again)
            if not (chosen or again):
                break
            yield ProbesChosen(chosen or again, again=bool(again))
            session = sessions.get(session.id)
    finally:
        # Also when cancelled: the files can be built again from the codes in the plan.
        sessions.remove_folder(session.id)
    sessions.finish(session.id, use_anyway=use_anyway)


def _measure_waiting(
    sessions: ProbeSessions,
    session: ProbeSession,
    runner: interface.ProbeRunner,
    cancel: CancelToken | None,
    source: str,
) -> Iterator[interface.ProbeEvent]:
    """Measure the waiting networks of a session, each stored before its event is yielded."""
    names = session.waiting
    if not names:
        return
    host: Mapping[str, Any] = {}
    plan = build_plan(session.id, session.plan, names, sessions.folder(session.id), cancel)
    for event in runner.run(plan, cancel):
        if isinstance(event, interface.RunStarted):
            host = event.host
        # Stored before it is yielded, so that a caller that stops here loses nothing.
        if _is_awaited(event, names):
            _record(sessions, session, event, {"source": source, "host": dict(host)})
            yield event


def _is_awaited(event: interface.ProbeEvent, names: Sequence[str]) -> bool:
    """Return whether an event is of this run: a board that was left alone has older ones."""
    if isinstance(event, interface.NetworkDone):
        return event.name in names
    return not isinstance(event, interface.NetworkFailed) or event.sentinel or event.name in names


def _record(
    sessions: ProbeSessions,
    session: ProbeSession,
    event: interface.ProbeEvent,
    origin: Mapping[str, Any],
) -> None:
    if isinstance(event, interface.NetworkDone):
        # Verdict and median are read again from the samples: a board is not trusted with them.
        network = checked_network(event.document, session.plan.protocol, "the runner")
        sessions.record(session, network, origin)
    elif isinstance(event, interface.NetworkFailed) and not event.sentinel:
        sessions.record_failure(session.id, event.name, event.failure, event.reason)
    elif isinstance(event, interface.RunStarted):
        sessions.note(session.id, host=dict(event.host))


def _choose_more(
    sessions: ProbeSessions, session: ProbeSession, to_predict: Sequence[OperatorGraph], pace: Pace
) -> tuple[str, ...]:
    """Add the next networks of a live session; return their names, none once it is enough."""
    if not session.plan.to_come:
        return ()
    chosen = _next_probes(sessions, session, to_predict, pace)
    if chosen:
        sessions.extend(session, chosen)
    return tuple(probe.network.name for probe in chosen)


def _next_probes(
    sessions: ProbeSessions, session: ProbeSession, to_predict: Sequence[OperatorGraph], pace: Pace
) -> list[PlannedProbe]:
    plan, live = session.plan, session.plan.live
    assert live is not None, "there is something to come"  # noqa: S101
    measurements = sessions.measurements(session.id)
    # In the order of choice; NaN for networks that have no number.
    latency_ms = {
        probe.name: measurements[probe.measurement_id].value_ms
        if probe.measurement_id
        else math.nan
        for probe in session.probes
    }
    request = PlanRequest(
        target=Target(device_from_object(live.device, "the plan").device, session.configuration),
        probes=live.probes,
        selector=plan.selector,
        seed=plan.seed,
        budget_s=live.budget_s,
        live=True,
        within=live.within,
        sure=live.sure,
    )
    beliefs = None
    if plan.selector in BY_OPERATORS:
        measured = None
        if plan.selector == ADAPTIVE:
            measured, _ = measurements_of(sessions.database, "", measurements.values())
        beliefs = beliefs_of(request.target, to_predict, measured)
    limit = None if live.sure is None else pace.more(plan.protocol)
    return more_probes(
        request, load_pool(), load_pool_latencies().latency_ms, latency_ms, beliefs, limit
    )


class Pace:
    """Time that a run of a session has taken, and the networks that there is time left for.

    Args:
        budget_s: time for the run; 0 leaves none.
        clock: in seconds.
    """

    def __init__(self, budget_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget_s = budget_s
        self._clock = clock
        self._start_s = clock()
        self._measured = 0
        self._inconclusive: dict[str, bool] = {}
        self._repeats: dict[str, int] = {}

    def take(self, event: interface.ProbeEvent) -> None:
        """Take note of the result of a network."""
        if isinstance(event, interface.NetworkDone):
            self._measured += 1
            self._inconclusive[event.name] = event.document.get("median_ms") is None

    def more(self, settings: Settings) -> int:
        """Number of further networks, at the pace so far.

        Where all of them need a third block, the run ends a network after its budget at the
        latest.
        """
        spent_s = self._clock() - self._start_s
        left_s, pace_s = self._budget_s - spent_s, spent_s / max(1, self._measured)
        if not 0 < pace_s <= left_s:
            return 0
        sentinel_s = longest_seconds(settings, 0)
        longest_s = longest_seconds(settings, 1) - sentinel_s  # of a network
        sure = max(1.0, 1 + (left_s - sentinel_s) / longest_s)
        return int(min(left_s / pace_s, sure))

    def repeats(self) -> tuple[str, ...]:
        """Names of the networks to measure again, as they were inconclusive, if time is left."""
        names = [
            name
            for name, inconclusive in self._inconclusive.items()
            if inconclusive and self._repeats.get(name, 0) < _MAX_REPEATS
        ]
        spent_s = self._clock() - self._start_s
        left_s = self._budget_s - spent_s
        # From the pace of this run: estimates of the plan may be far off on a new target.
        pace_s = _LONGER * spent_s / max(1, self._measured)
        affordable = int(left_s / pace_s) if 0 < pace_s <= left_s else 0
        for name in names[:affordable]:
            self._repeats[name] = self._repeats.get(name, 0) + 1
        return tuple(names[:affordable])

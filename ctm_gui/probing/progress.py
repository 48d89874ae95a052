"""Progress of a session: the sum of its events, without threads and without widgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ctm_gui.widgets.ordering import FloatArray
from predictor.core.records import Measurement
from predictor.core.stored import ProbeState, SessionProbe
from predictor.core.units import significant
from predictor.presentation.wording import NOTHING, percent, shown
from predictor.probing.measuring.interface import (
    BlockStarted,
    Drift,
    NetworkDone,
    NetworkFailed,
    ProbeEvent,
    RunFinished,
    RunStarted,
    Samples,
)
from predictor.services.probing.events import DRIFT_LIMIT
from predictor.services.probing.sessions import ProbeSession

Points = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event, and the stored network after it; None where it is about none."""

    event: ProbeEvent
    probe: SessionProbe | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRow:
    """One network of a session.

    Attributes:
        name: of the network.
        why: it was chosen.
        expected_ms: its estimate; None where there is none.
        state: of its measurement.
        median_ms: None while there is none.
        words: its verdict, or the reason for its missing number.
    """

    name: str
    why: str
    expected_ms: float | None
    state: ProbeState
    median_ms: float | None
    words: str


class SampleTrace:
    """The samples of one network, block by block, for a plot."""

    def __init__(self) -> None:
        self._blocks: dict[int, list[FloatArray]] = {}

    @property
    def blocks(self) -> tuple[int, ...]:
        """The numbers of the blocks, from 1."""
        return tuple(self._blocks)

    def add(self, block: int, samples_ns: tuple[int, ...]) -> None:
        """Add samples of a block, in order."""
        values_ms = np.array(samples_ns, dtype=np.float64) / 1e6
        self._blocks.setdefault(block, []).append(values_ms)

    def points(self, block: int, limit: int) -> Points:
        """Return run numbers from 1 and latencies in ms, at most ``limit`` of them.

        Where there are more, the least and the greatest of each stretch are given, so that no
        outlier vanishes.
        """
        values_ms = np.concatenate(self._blocks[block]) if block in self._blocks else np.empty(0)
        if values_ms.size <= limit:
            return np.arange(1.0, values_ms.size + 1), values_ms
        # Two points a stretch, so half as many stretches as points.
        edges = np.linspace(0, values_ms.size, limit // 2 + 1).astype(np.intp)
        extremes: list[int] = []
        for first, end in pairwise(edges):
            stretch = values_ms[first:end]
            extremes += sorted({int(first + stretch.argmin()), int(first + stretch.argmax())})
        places = np.array(extremes, dtype=np.intp)
        return np.asarray(places + 1.0, dtype=np.float64), values_ms[places]


class RunProgress:
    """Adds up the events of a session.

    Args:
        session: as stored when the run begins.
        measurements: of it, by id.

    Attributes:
        current: name of the network that is measured; empty between networks.
        block: of it, from 1.
        sentinel: whether it is measured as the drift sentinel.
        trace: its samples.
        drift: of the sentinel so far.
        host: facts of the machine that measures.
        finished: whether the runner has reported the end.
        to_come: number of networks still to be chosen, at most.
    """

    def __init__(self, session: ProbeSession, measurements: Mapping[str, Measurement]) -> None:
        self._rows = _rows(session, session.probes, measurements)
        self.to_come = session.plan.to_come
        self._expected_s = session.plan.expected_s
        self._done_here = 0
        self._done_s = 0.0  # of measuring, when the last network was done
        self.current = ""
        self.block = 0
        self.sentinel = False
        self.trace = SampleTrace()
        self.drift: Drift | None = None
        self.host: Mapping[str, object] = {}
        self.finished = False

    @property
    def rows(self) -> tuple[NetworkRow, ...]:
        """The networks in the order of measuring."""
        return tuple(self._rows.values())

    @property
    def total(self) -> int:
        """Number of networks."""
        return len(self._rows)

    @property
    def left(self) -> int:
        """Number of waiting networks, those that are still to be chosen among them."""
        waiting = sum(row.state is ProbeState.WAITING for row in self._rows.values())
        return waiting + self.to_come

    def grow(self, session: ProbeSession) -> None:
        """Add the networks that were chosen since the session was read."""
        new = [probe for probe in session.probes if probe.name not in self._rows]
        self._rows |= _rows(session, new, {})
        self.to_come = session.plan.to_come

    def take(self, stored: StoredEvent, active_s: float = 0.0) -> None:
        """Add an event.

        Args:
            stored: the event.
            active_s: seconds measured in this run until then.
        """
        event = stored.event
        if isinstance(event, RunStarted):
            self.host = event.host
        elif isinstance(event, BlockStarted):
            self._begin(event)
        elif isinstance(event, Samples):
            self.trace.add(event.block, event.samples_ns)
        elif isinstance(event, Drift):
            self.drift = event
        elif isinstance(event, RunFinished):
            self.finished, self.current = True, ""
        if stored.probe is not None and isinstance(event, NetworkDone | NetworkFailed):
            self._end(stored.probe, event)
            self._done_s = active_s

    def seconds_left(self, active_s: float) -> float:
        """Expected seconds of the rest.

        Args:
            active_s: seconds measured in this run. What the networks that are done took gives the
                time of one, for which the plan's estimate stands before the first is done.
        """
        if not self._done_here:
            network_s = self._expected_s / max(self.total + self.to_come, 1)
            return max(network_s * self.left - active_s, 0.0)
        network_s = self._done_s / self._done_here
        # The network that is measured now takes no longer than another, as far as is known.
        current_s = min(active_s - self._done_s, network_s)
        return max(network_s * self.left - current_s, 0.0)

    def words(self) -> str:
        """Return the current activity in one line."""
        if not self.current:
            return ""
        if self.sentinel:
            return f"{shown(self.current)} once more, to see drift"
        return f"{shown(self.current)}, block {self.block}"

    def drift_words(self) -> str:
        """Return the drift of the sentinel in words."""
        if self.drift is None or len(self.drift.medians_ms) < 2:
            return (
                "Whether the machine changes its speed is not known yet: one network is measured "
                "first, in the middle and last."
            )
        drifted = self.drift.drift
        drift, limit = percent(drifted), percent(DRIFT_LIMIT)
        medians = ", ".join(significant(value) for value in self.drift.medians_ms)
        if drifted <= DRIFT_LIMIT:
            return f"Steady machine: the same network took {medians} ms, within {drift}."
        return (
            f"The same network took {medians} ms: a drift of {drift}, over {limit}. The machine "
            "gets warm or other programs are at work. Pause to let it cool down."
        )

    @property
    def drifted(self) -> bool:
        """Whether the sentinel has drifted by more than the limit."""
        return self.drift is not None and self.drift.drift > DRIFT_LIMIT

    def _begin(self, event: BlockStarted) -> None:
        # A repeat of the same network begins with block 1 again.
        if (event.name, event.sentinel) != (self.current, self.sentinel) or event.block == 1:
            self.trace = SampleTrace()
        self.current, self.block, self.sentinel = event.name, event.block, event.sentinel

    def _end(self, probe: SessionProbe, event: NetworkDone | NetworkFailed) -> None:
        median_ms = event.document.get("median_ms") if isinstance(event, NetworkDone) else None
        row = self._rows[probe.name]
        self._rows[probe.name] = network_row(probe, row.why, row.expected_ms, median_ms)
        self._done_here += 1


def _rows(
    session: ProbeSession, probes: Iterable[SessionProbe], measurements: Mapping[str, Measurement]
) -> dict[str, NetworkRow]:
    """Return the rows of some of a session's networks, by name."""
    planned = {network.name: network for network in session.plan.probes}
    return {
        probe.name: network_row(
            probe,
            planned[probe.name].reason,
            planned[probe.name].expected_ms,
            _median(probe, measurements),
        )
        for probe in probes
    }


def network_row(
    probe: SessionProbe, why: str, expected: float | None, median_ms: float | None
) -> NetworkRow:
    """Return the row of a network as it is stored."""
    words = str(probe.state)
    if probe.state is ProbeState.MEASURED:
        words = probe.outcome.words or "measured"
    elif probe.reason:
        words = probe.reason
    return NetworkRow(
        name=probe.name,
        why=why,
        expected_ms=expected,
        state=probe.state,
        median_ms=median_ms,
        words=shown(words),
    )


def duration(seconds: float) -> str:
    """Write a duration in words: ``1 min 20 s``."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def milliseconds(value_ms: float | None) -> str:
    """Write a latency with four significant digits, a dash where there is none."""
    return NOTHING if value_ms is None else significant(value_ms, 4)


def _median(probe: SessionProbe, measurements: Mapping[str, Measurement]) -> float | None:
    measurement = measurements.get(probe.measurement_id or "")
    return None if measurement is None else measurement.value_ms

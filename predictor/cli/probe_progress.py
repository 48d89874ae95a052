"""How a probe run goes, on the standard error."""

from __future__ import annotations

import time

from predictor.cli.console import Console
from predictor.cli.durations import duration
from predictor.core.text import printable
from predictor.core.wording import percent
from predictor.services.probing.events import (
    DRIFT_LIMIT,
    Drift,
    NetworkDone,
    NetworkFailed,
    ProbesChosen,
    SessionEvent,
    done_words,
)
from predictor.services.probing.live import probes_to_come
from predictor.services.probing.sessions import StoredSession


class ProbeProgress:
    """Writes a line for each network and for drift.

    Args:
        session: that is run.
        console: to write to.
    """

    def __init__(self, session: StoredSession, console: Console) -> None:
        self._console = console
        self._total = len(session.probes)
        self._begun = self._done = sum(p.measurement_id is not None for p in session.probes)
        self._start_s = time.monotonic()
        to_come = probes_to_come(session.plan)
        later = f", and up to {to_come} chosen by what they show" if to_come else ""
        console.note(f"Session {session.id}: {self._total} networks{later}.")
        self._total += to_come

    def take(self, event: SessionEvent) -> None:
        """Tell what an event means."""
        if isinstance(event, NetworkDone):
            self._tell(event.name, done_words(event))
        elif isinstance(event, NetworkFailed):
            if not event.sentinel:
                self._tell(event.name, f"not measured: {event.reason} ({event.failure})")
        elif isinstance(event, ProbesChosen):
            self._total += len(event.names) * event.again
            why = (
                "Inconclusive, and measured again" if event.again else "Chosen by what they showed"
            )
            self._console.note(f"{why}: {', '.join(map(printable, event.names))}.")
        elif isinstance(event, Drift) and event.drift > DRIFT_LIMIT:
            self._console.note(
                f"The sentinel network has drifted by {percent(event.drift)}: the machine gets "
                "warm or other programs are at work. Let it cool down and measure again."
            )

    def _tell(self, name: str, what: str) -> None:
        self._done += 1
        each_s = (time.monotonic() - self._start_s) / (self._done - self._begun)
        left = self._total - self._done
        rest = f" (about {duration(each_s * left)} left)" if left else ""
        self._console.note(
            f"{self._done} of {self._total}  {printable(name)}: {printable(what)}{rest}"
        )

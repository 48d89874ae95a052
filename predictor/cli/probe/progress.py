"""The lines of a probing on the console while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from predictor.cli.progress import duration
from predictor.core.text import printable
from predictor.presentation.wording import percent
from predictor.probing.measuring.interface import Drift, NetworkDone, NetworkFailed
from predictor.services.probing import events
from predictor.services.probing.sessions import ProbeSession


class ProbeProgress:
    """Writes a line for each network and for drift.

    Args:
        session: that is run.
        note: writes a line.
    """

    def __init__(self, session: ProbeSession, note: Callable[[str], None]) -> None:
        self._note = note
        self._total = len(session.probes)
        self._stored = self._done = sum(p.measurement_id is not None for p in session.probes)
        self._start_s = time.monotonic()
        self._in_time, to_come = session.plan.in_time, session.plan.to_come
        why = "more while there is time left" if self._in_time else "chosen by what they show"
        later = f", and up to {to_come} {why}" if to_come else ""
        note(f"Session {session.id}: {self._total} networks{later}.")
        # Those that there may be no time for are counted when they are chosen.
        self._total += 0 if self._in_time else to_come

    def take(self, event: events.SessionEvent) -> None:
        """Write the line of an event."""
        if isinstance(event, NetworkDone):
            self._write(event.name, events.done_words(event))
        elif isinstance(event, NetworkFailed):
            if not event.sentinel:
                self._write(event.name, f"not measured: {event.reason} ({event.failure})")
        elif isinstance(event, events.ProbesChosen):
            self._total += len(event.names) * (event.again or self._in_time)
            chosen = "There is time for more" if self._in_time else "Chosen by what they showed"
            why = "Inconclusive, and measured again" if event.again else chosen
            self._note(f"{why}: {', '.join(map(printable, event.names))}.")
        elif isinstance(event, Drift) and event.drift > events.DRIFT_LIMIT:
            self._note(
                f"The network that is measured again and again changed by {percent(event.drift)}: "
                "the machine gets warm or other programs are at work. Let it cool down and "
                "measure again."
            )

    def _write(self, name: str, what: str) -> None:
        self._done += 1
        # A session that goes on has networks from before: they took none of this time.
        network_s = (time.monotonic() - self._start_s) / (self._done - self._stored)
        left = self._total - self._done
        rest = f" (about {duration(network_s * left)} left)" if left else ""
        self._note(f"{self._done} of {self._total}  {printable(name)}: {printable(what)}{rest}")

"""``ctm probe run``: reference networks measured on this machine or a board."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.parser import Parser, json_option
from predictor.cli.probe.plan import plan_options, plan_request
from predictor.cli.probe.sessions import ID_DIGITS, print_session, with_store
from predictor.cli.progress import duration
from predictor.core.errors import InputError
from predictor.core.text import printable
from predictor.core.wording import percent
from predictor.services.devices.this_machine import THIS_MACHINE_ID
from predictor.services.probing.events import (
    DRIFT_LIMIT,
    Drift,
    NetworkDone,
    NetworkFailed,
    ProbesChosen,
    SessionEvent,
    done_words,
)
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing
from predictor.services.probing.plan import plan_probes
from predictor.services.probing.runners import LocalRunner, ProbeRunner, board_runner
from predictor.services.probing.sessions import ProbeSession

_THIS_MACHINE = "this"


def add_run(parser: Parser) -> None:
    """Add the options of the action."""
    parser.set_defaults(run=with_store(_run))
    plan_options(parser)
    parser.add_argument("--session", metavar="ID", help="go on with a session instead of a new one")
    parser.add_argument(
        "--repeat",
        action="append",
        default=[],
        metavar="NAME",
        help="with --session: measure this network again; may be repeated",
    )
    parser.add_argument("--ssh", metavar="USER@HOST", help="measure on this board instead")
    parser.add_argument(
        "--ssh-key", action="append", default=[], metavar="FILE", help="private key for --ssh"
    )
    parser.add_argument(
        "--ssh-python", default="python3", metavar="PROGRAM", help="Python there, default: python3"
    )
    parser.add_argument(
        "--host-key", metavar="SHA256:...", help="accept the board's key if it is this one"
    )
    json_option(parser)


def _run(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    """Measure a new session or go on with one."""
    runner = _runner(options, console)
    session = _session(options, console, probing)
    progress = ProbeProgress(session, console)
    source = "ssh" if options.ssh else "local"
    try:
        for event in measure(probing.sessions, session.id, runner, source=source):
            progress.take(event)
    except KeyboardInterrupt:
        console.note(f"`ctm probe run --session {session.id[:ID_DIGITS]}` goes on with it.")
        raise
    return print_session(probing, session.id, options, console)


def _session(options: argparse.Namespace, console: Console, probing: Probing) -> ProbeSession:
    """Return the session that was named, else a new one."""
    if not options.session:
        if options.repeat:
            raise InputError("--repeat", "it names no session", "add --session ID")
        if options.ssh and options.device == _THIS_MACHINE:
            raise InputError("--ssh", "a board is not this machine", "say what it is with --device")
        plan = plan_probes(plan_request(options, console, live=True))
        if plan.target.device.id == THIS_MACHINE_ID and probing.devices.keep(plan.target.device):
            console.note("This machine is one of your devices now, with its measured rates.")
        return probing.sessions.start(plan)
    session = probing.sessions.get(options.session)
    if options.repeat:
        probing.sessions.repeat(session.id, options.repeat)
    return session


def _runner(options: argparse.Namespace, console: Console) -> ProbeRunner:
    """Return the runner of the machine that is to be measured."""
    if not options.ssh:
        return LocalRunner()
    return board_runner(
        options.ssh,
        options.store,
        [Path(key) for key in options.ssh_key],
        lambda key: key.fingerprint == options.host_key,
        lambda progress: console.note(progress.message),
        options.ssh_python,
    )


class ProbeProgress:
    """Writes a line for each network and for drift.

    Args:
        session: that is run.
        console: to write to.
    """

    def __init__(self, session: ProbeSession, console: Console) -> None:
        self._console = console
        self._total = len(session.probes)
        self._begun = self._done = sum(p.measurement_id is not None for p in session.probes)
        self._start_s = time.monotonic()
        to_come = session.plan.to_come
        later = f", and up to {to_come} chosen by what they show" if to_come else ""
        console.note(f"Session {session.id}: {self._total} networks{later}.")
        self._total += to_come

    def take(self, event: SessionEvent) -> None:
        """Write the line of an event."""
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

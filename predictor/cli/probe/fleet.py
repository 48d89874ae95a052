"""``ctm probe fleet``: the boards of an inventory, probed side by side over SSH."""

from __future__ import annotations

import argparse
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from predictor.cli.catalogue import quiet_catalogue
from predictor.cli.console import Console
from predictor.cli.parser import Parser, json_option, positive_int
from predictor.cli.probe.progress import ProbeProgress
from predictor.cli.probe.run import check_within, choice_options, request_of
from predictor.cli.probe.sessions import ID_DIGITS, signature_of, use_option, with_store
from predictor.cli.tables import render_table
from predictor.core.errors import CtmError, InputError
from predictor.core.progress import CancelToken
from predictor.core.records import Device
from predictor.core.text import plural, printable
from predictor.presentation.wording import UNSTABLE
from predictor.services.devices.catalogue import Catalogue, means_this_machine
from predictor.services.probing.events import SessionEvent
from predictor.services.probing.fleet import Board, BoardDone, FleetRun, probe_fleet
from predictor.services.probing.inventory import Host, read_inventory
from predictor.services.probing.open import Probing
from predictor.services.probing.plan import probe_target
from predictor.services.probing.sessions import ProbeSession
from predictor.services.signatures.checks import is_used

_JOBS = 8


def add_fleet(parser: Parser) -> None:
    """Add the options of the action."""
    parser.set_defaults(run=with_store(_fleet), affinity=())
    parser.add_argument("inventory", type=Path, metavar="inventory.toml", help="hosts as [[host]]")
    parser.add_argument(
        "--jobs",
        type=positive_int,
        default=_JOBS,
        metavar="N",
        help=f"boards probed at once, default: {_JOBS}",
    )
    parser.add_argument(
        "--again", action="store_true", help="also boards that an earlier run has finished"
    )
    choice_options(parser)
    use_option(parser)
    json_option(parser)


def _fleet(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    """Probe the boards; return 0, or the highest exit code of those that failed."""
    check_within(options)
    catalogue = quiet_catalogue(options)
    boards = [_board(host, options, catalogue) for host in read_inventory(options.inventory)]
    lines = _Lines(console, len(boards))
    run = FleetRun(
        store=options.store,
        jobs=options.jobs,
        again=options.again,
        on_event=lines.write,
        cancel=CancelToken(),
        use_anyway=options.use_anyway,
    )
    results: dict[Board, BoardDone] = {}
    try:
        with closing(probe_fleet(probing, boards, run)) as probed:
            for done in probed:
                results[done.board] = done
                lines.done(done)
    except KeyboardInterrupt:
        # What was measured is stored, and the sessions are found by their boards.
        console.note("The same command goes on where this one was stopped.")
        raise
    rows = [_row(results[board], probing) for board in boards]
    if options.json:
        console.document(_document(options.inventory, rows))
    else:
        console.result(_text(rows))
    problems = [done.problem for done in results.values() if done.problem is not None]
    return max((problem.exit_code for problem in problems), default=0)


def _board(host: Host, options: argparse.Namespace, catalogue: Catalogue) -> Board:
    """Return a host with the request of its plan, or why there is none."""
    try:
        device = _device(host, catalogue)
        target = probe_target(device, host.threads)
        return Board(host, request_of(options, target, live=True))
    except CtmError as error:
        return Board(host, None, error)


def _device(host: Host, catalogue: Catalogue) -> Device:
    """Return the device of a host.

    Raises:
        CtmError: the host has a problem, or its device is not in the catalogue.
    """
    if host.problem is not None:
        raise host.problem
    if means_this_machine(host.device):
        reason = "a board is not this machine"
        raise InputError(f"host {host.name}", reason, "say what it is with device")
    return catalogue.find(host.device)


class _Lines:
    """Lines on stderr, each with the name of its host; called in several threads.

    Args:
        console: to write to.
        total: number of boards.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total = console, total
        self._done = 0
        self._progress: dict[str, ProbeProgress] = {}
        self._lock = threading.Lock()

    def write(self, host: Host, session: ProbeSession, event: SessionEvent | None) -> None:
        """Write the line of an event."""
        if event is None:
            self._progress[host.name] = ProbeProgress(session, partial(self._note, host.name))
        else:
            self._progress[host.name].take(event)

    def done(self, done: BoardDone) -> None:
        """Write that a board is done."""
        self._done += 1
        what = "finished before" if done.earlier else "finished"
        if done.problem is not None:
            what = f"failed: {done.problem}"
        self._note(done.board.host.name, f"{what} ({self._done} of {self._total} hosts)")

    def _note(self, name: str, text: str) -> None:
        with self._lock:
            self._console.note(f"{printable(name)}: {printable(text)}")


def _row(done: BoardDone, probing: Probing) -> dict[str, Any]:
    """Return the entry of a board in the document."""
    host, request = done.board.host, done.board.request
    session = probing.sessions.get(done.session_id) if done.session_id else None
    probes = session.probes if session else ()
    stored = signature_of(probing, session) if session and not done.problem else None
    reason = probing.signatures.reason_against(stored) if stored else ""
    states = {True: "failed", False: "finished before" if done.earlier else "finished"}
    return {
        "name": host.name,
        "address": host.address,
        "device": request.target.device.id if request else host.device,
        "configuration": asdict(request.target.configuration) if request else None,
        "state": states[done.problem is not None],
        "session": session.id if session else None,
        "signature": stored.signature.id if stored else None,
        "used": bool(stored and is_used(stored, reason)),
        "unstable": reason,
        "probes": len(probes),
        "measured": sum(probe.measurement_id is not None for probe in probes),
        "seconds": round(done.seconds, 1),
        "problem": done.problem.to_dict() if done.problem else None,
    }


def _document(inventory: Path, rows: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    failed = sum(row["problem"] is not None for row in rows)
    return {
        "schema": "ctm-probe-fleet/1",
        "inventory": str(inventory),
        "finished": len(rows) - failed,
        "failed": failed,
        "hosts": rows,
    }


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the hosts, and what to know of those that share a target."""
    headers = ("Host", "Device", "Threads", "State", "Measured", "Signature", "")
    cells = [
        (
            printable(row["name"]),
            printable(row["device"]),
            str(row["configuration"]["threads"]) if row["configuration"] else "",
            row["state"],
            f"{row['measured']} of {row['probes']}" if row["probes"] else "",
            (row["signature"] or "")[:ID_DIGITS],
            _words(row),
        )
        for row in rows
    ]
    failed = sum(row["problem"] is not None for row in rows)
    parts = [render_table(headers, cells, "  r r")]
    parts.append(f"{len(rows) - failed} of {plural(len(rows), 'host')} finished.")
    shared = Counter((row["device"], row["configuration"]["threads"]) for row in rows
                     if row["signature"])  # fmt: skip
    parts += [
        f"{count} hosts are {printable(device)}, {plural(threads, 'thread')}: predictions use the "
        "signature that came last; `ctm probe use ID` chooses another."
        for (device, threads), count in shared.items()
        if count > 1
    ]
    return "\n\n".join(parts)


def _words(row: Mapping[str, Any]) -> str:
    """Return the problem of a host, or why its signature is not believed; empty for neither."""
    if problem := row["problem"]:
        return printable(f"{problem['subject']}: {problem['reason']}")
    if not row["unstable"]:
        return ""
    return f"{UNSTABLE if row['used'] else 'not used'}: {row['unstable']}"

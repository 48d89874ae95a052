"""Boards probed side by side over SSH; a later run goes on with the session of each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import CtmError, HostError
from predictor.core.progress import CancelToken
from predictor.core.stored import SessionState
from predictor.probing.choice import PlanRequest
from predictor.probing.measuring.interface import ProbeRunner
from predictor.services.probing.events import SessionEvent
from predictor.services.probing.inventory import Host
from predictor.services.probing.measure import measure
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.plan import plan_probes
from predictor.services.probing.runners import board_runner
from predictor.services.probing.sessions import ProbeSession

_FACT: Final = "fleet"  # of a session: the board and the plan that it is of

OnEvent = Callable[[Host, ProbeSession, SessionEvent | None], None]
"""Gets a session that begins or goes on (None), and its events; called in several threads."""


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """A host and its request; equal to itself alone, as a faulty inventory has a host twice.

    Attributes:
        host: of the inventory.
        request: of its plan; None where there is a problem.
        problem: why it is not probed; None where it is.
    """

    host: Host
    request: PlanRequest | None
    problem: CtmError | None = None

    @property
    def fact(self) -> dict[str, Any]:
        """Board and plan, as a session keeps them: the same are probed once."""
        request = self.request
        assert request is not None, "it has no problem"  # noqa: S101
        return {
            "host": self.host.name,
            "address": self.host.address,
            "device": request.target.device.id,
            "threads": request.target.configuration.threads,
            "selector": request.selector,
            "probes": request.probes,
            "budget_s": request.budget_s,
            "seed": request.seed,
            "within": request.within or 0,  # the store's facts keep no null
            "provider": request.configuration.provider,
        }


@dataclass(frozen=True, slots=True)
class BoardDone:
    """A board that needs nothing more in this run.

    Attributes:
        board: as requested.
        session_id: of its session; empty where none was begun.
        earlier: whether an earlier run had finished it.
        seconds: taken by this run.
        problem: why it has no signature; None where it has one.
    """

    board: Board
    session_id: str = ""
    earlier: bool = False
    seconds: float = 0.0
    problem: CtmError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRun:
    """Settings of the probing of a fleet.

    Attributes:
        store: file of the store; None for the user's own.
        jobs: number of boards probed at once.
        again: whether boards that an earlier run finished are probed again.
        use_anyway: whether signatures are active though they fail their checks.
        on_event: see ``OnEvent``.
        cancel: ends the run within a second; it can go on later.
    """

    store: Path | None
    jobs: int
    again: bool
    on_event: OnEvent
    cancel: CancelToken
    use_anyway: bool = False


def probe_fleet(probing: Probing, boards: Sequence[Board], run: FleetRun) -> Generator[BoardDone]:
    """Probe boards, and yield each as it is done.

    A board that fails costs no other. Every measured network is stored at once; a board that is
    named with the same plan again goes on with its session, or is done where that has finished.

    Args:
        probing: services of the store, which this thread has opened.
        boards: to be probed; several of one address take turns.
        run: how.

    Raises:
        CtmError: the store cannot be read.
    """
    sessions = {} if run.again else _latest(probing)
    waiting: list[tuple[Board, str]] = []
    for board in boards:
        if board.problem is not None:
            yield BoardDone(board, problem=board.problem)
            continue
        session = sessions.get(_key(board.fact))
        if session is not None and session.state is not SessionState.RUNNING:
            yield BoardDone(board, session.id, earlier=True)
        else:
            waiting.append((board, session.id if session is not None else ""))
    turns = {board.host.address: threading.Lock() for board, _ in waiting}
    with ThreadPoolExecutor(run.jobs) as pool:
        try:
            probed = [
                pool.submit(_probe, board, session_id, run, turns[board.host.address])
                for board, session_id in waiting
            ]
            for done in as_completed(probed):
                yield done.result()
        finally:
            # Also where the caller was interrupted: boards that wait are dropped, the others end.
            run.cancel.cancel()
            pool.shutdown(wait=True, cancel_futures=True)


def _latest(probing: Probing) -> dict[str, ProbeSession]:
    """Return the newest session of each board and plan that can go on or has a signature."""
    of_signatures = {stored.session_id for stored in probing.signatures.all()}
    sessions: dict[str, ProbeSession] = {}
    for session in probing.sessions.all():
        fact = session.facts.content.get(_FACT)
        alive = session.state is SessionState.RUNNING and not session.problem
        if isinstance(fact, dict) and (alive or session.id in of_signatures):
            sessions[_key(fact)] = session
    return sessions


def _key(fact: Mapping[str, Any]) -> str:
    return repr(sorted(fact.items()))


def _probe(board: Board, session_id: str, run: FleetRun, turn: threading.Lock) -> BoardDone:
    """Probe one board in a thread of its own; its problem is part of the result."""
    with turn:
        start_s = time.monotonic()
        done = BoardDone(board, session_id)
        try:
            run.cancel.check()
            # A connection to the store belongs to its thread.
            with open_probing(run.store) as probing:
                session = _session(probing, board, session_id)
                done = replace(done, session_id=session.id)
                _measure(probing, board, session, run)
                state = probing.sessions.get(session.id).state
            if state is SessionState.FAILED:
                reason = "no network could be measured"
                action = f"see `ctm probe show {session.id[:8]}`"
                done = replace(done, problem=HostError(board.host.name, reason, action))
        except CtmError as error:
            done = replace(done, problem=error)
        return replace(done, seconds=time.monotonic() - start_s)


def _session(probing: Probing, board: Board, session_id: str) -> ProbeSession:
    """Return the session to go on with, else a new one."""
    if session_id:
        return probing.sessions.get(session_id)
    assert board.request is not None, "it has no problem"  # noqa: S101
    session = probing.sessions.start(plan_probes(board.request))
    probing.sessions.note(session.id, **{_FACT: board.fact})
    return session


def _measure(probing: Probing, board: Board, session: ProbeSession, run: FleetRun) -> None:
    host = board.host
    runner: ProbeRunner = board_runner(
        host.address,
        run.store,
        host.keys,
        lambda key: key.fingerprint == host.host_key,
        python=host.python,
    )
    run.on_event(host, session, None)
    events = measure(
        probing.sessions, session.id, runner, run.cancel, "ssh", use_anyway=run.use_anyway
    )
    for event in events:
        run.on_event(host, session, event)

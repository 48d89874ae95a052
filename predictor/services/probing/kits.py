"""Kits: written for a plan, and their results taken over into the session that waits for them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.stored import ProbeState, SessionState
from predictor.probing.kit.results import KitResults, read_results
from predictor.probing.kit.writer import write_kit
from predictor.probing.planning import ProbePlan
from predictor.services.probing.build import build_plan
from predictor.services.probing.session_plan import SessionPlan
from predictor.services.probing.sessions import ProbeSession, ProbeSessions


def make_kit(sessions: ProbeSessions, plan: ProbePlan, path: Path) -> ProbeSession:
    """Write the kit of a plan, and store the session that its results will belong to.

    Raises:
        HostError: the kit cannot be written.
    """
    # The kit is written first: where that fails, no session waits for its results.
    names = [probe.network.name for probe in plan.probes]
    with tempfile.TemporaryDirectory(prefix="ctm-kit-") as folder:
        built = build_plan(plan.id, SessionPlan.of(plan), names, Path(folder))
        plan_sha256 = write_kit(built, path, plan.expected_s)
    return sessions.start(plan, {"plan_sha256": plan_sha256})


def import_results(
    sessions: ProbeSessions, path: Path, *, use_anyway: bool = False
) -> ProbeSession:
    """Take over the measurements of a kit, and return its session.

    Args:
        sessions: of the store that made the kit.
        path: of its results.
        use_anyway: whether the signature is active though it fails its checks.

    Raises:
        InputError: the file is no results of a kit, was changed, is of a kit that this store did
            not make, or was taken over before.
    """
    results = read_results(path)
    session = _session_of_kit(sessions.all(), results, str(path))
    # Results of an earlier stage of the same kit may be stored already.
    waiting = {p.name for p in session.probes if p.state is not ProbeState.MEASURED}
    origin = {"source": "kit", "host": dict(results.host)}
    sessions.note(session.id, host=dict(results.host), drift=results.drift)
    for network in results.measured:
        if network.name in waiting:
            sessions.record(session, network, origin)
    for failed in results.failed:
        if failed.name in waiting:
            sessions.record_failure(session.id, failed.name, failed.failure, failed.reason)
    if results.finished:
        sessions.finish(session.id, use_anyway=use_anyway)
    return sessions.get(session.id)


def _session_of_kit(
    sessions: Iterable[ProbeSession], results: KitResults, source: str
) -> ProbeSession:
    """Return the session that a kit was made for; its results must be of that very kit."""
    session = next((s for s in sessions if s.id == results.plan_id), None)
    if session is None or session.plan.kit is None:
        raise InputError(
            source,
            f"it is of kit {results.plan_id}, which this store did not make",
            "give the --store that made the kit",
        )
    # The id alone does not do: a plan edited on the board would measure something else under it.
    if session.plan.kit["plan_sha256"] != results.plan_sha256:
        raise InputError(
            source, "the plan in the kit was changed after it was made", "make a new kit"
        )
    if session.state is not SessionState.RUNNING:
        raise InputError(source, "its results were taken over before", "see `ctm probe show`")
    planned = {probe.name: probe.fingerprint for probe in session.probes}
    # By fingerprint, so that a file swapped under the name of a network is seen.
    strange = [n.name for n in results.measured if planned.get(n.name) != n.fingerprint]
    strange += [failed.name for failed in results.failed if failed.name not in planned]
    if strange or asdict(results.settings) != session.plan.settings:
        subject = f"network {strange[0]}" if strange else "its protocol"
        raise InputError(source, f"{subject} is not what the kit was to measure", "make a new kit")
    return session

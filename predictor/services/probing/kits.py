"""Which session the results of a kit belong to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from predictor.core.errors import InputError
from predictor.probing.kit.results import KitResults
from predictor.services.probing.plan import plan_facts
from predictor.store.probe_sessions import SessionState, StoredSession


def session_of_kit(
    sessions: Iterable[StoredSession], results: KitResults, source: str
) -> StoredSession:
    """Return the session that a kit was made for; its results must be of that very kit.

    Args:
        sessions: of the store.
        results: as read and checked by themselves.
        source: where they come from, for the error.

    Raises:
        InputError: the kit is of another store, was changed, or was taken over before.
    """
    session = next((s for s in sessions if s.id == results.plan_id), None)
    kit = plan_facts(session.plan)["kit"] if session else None
    if session is None or kit is None:
        raise InputError(
            source,
            f"it is of kit {results.plan_id}, which this store did not make",
            "give the --store that made the kit",
        )
    if kit["plan_sha256"] != results.plan_sha256:
        raise InputError(
            source, "the plan in the kit was changed after it was made", "make a new kit"
        )
    if session.state is not SessionState.RUNNING:
        raise InputError(source, "its results were taken over before", "see `ctm probe show`")
    planned = {probe.name: probe.fingerprint for probe in session.probes}
    strange = [n.name for n in results.measured if planned.get(n.name) != n.fingerprint]
    strange += [failed.name for failed in results.failed if failed.name not in planned]
    if strange or asdict(results.settings) != plan_facts(session.plan)["settings"]:
        what = f"network {strange[0]}" if strange else "its protocol"
        raise InputError(source, f"{what} is not what the kit was to measure", "make a new kit")
    return session

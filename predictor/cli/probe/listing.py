"""``ctm probe list`` and ``show``: the sessions and signatures of the store."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from predictor.cli.console import Console
from predictor.cli.parser import Parser, json_option
from predictor.cli.probe.sessions import (
    ID_DIGITS,
    print_session,
    signature_summary,
    use_text,
    with_store,
)
from predictor.cli.probe.signatures import show_signature
from predictor.cli.tables import configuration_text, day, render_table
from predictor.core.errors import InputError
from predictor.core.stored import StoredSignature
from predictor.core.text import printable
from predictor.services.probing.open import Probing
from predictor.services.probing.sessions import ProbeSession


def add_list(parser: Parser) -> None:
    """Add the options of ``ctm probe list``."""
    parser.set_defaults(run=with_store(_list))
    json_option(parser)


def add_show(parser: Parser) -> None:
    """Add the options of ``ctm probe show``."""
    parser.set_defaults(run=with_store(_show))
    parser.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="how a signature changes the prediction of this model; may be repeated",
    )
    json_option(parser)


def _list(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    sessions = probing.sessions.all()
    store = probing.signatures
    signatures = [(stored, store.noted_reason(stored)) for stored in store.all()]
    if options.json:
        console.document(
            {
                "sessions": [_session_summary(session) for session in sessions],
                "signatures": [signature_summary(*stored) for stored in signatures],
            }
        )
    else:
        console.result(_list_text(sessions, signatures))
    return 0


def _show(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    if show_signature(options, console, probing):
        return 0
    if options.model:
        raise InputError("--model", f"{options.id} is no signature", "run `ctm probe list`")
    print_session(probing, options.id, options, console)
    return 0


def _list_text(
    sessions: Sequence[ProbeSession], signatures: Sequence[tuple[StoredSignature, str]]
) -> str:
    """Return the tables of sessions and signatures, these with why they are not believed."""
    if not sessions and not signatures:
        return "Nothing was probed yet; start with `ctm probe run`."
    session_rows = [
        (
            session.id[:ID_DIGITS],
            day(session.created_ns),
            printable(session.device_id),
            configuration_text(session.configuration),
            str(session.state),
            f"{sum(p.measurement_id is not None for p in session.probes)} of {len(session.probes)}",
        )
        for session in sessions
    ]
    signature_rows = [
        (
            stored.signature.id[:ID_DIGITS],
            day(stored.created_ns),
            printable(stored.signature.device_id),
            configuration_text(stored.signature.configuration),
            use_text(stored, reason),
            str(len(stored.signature.measurement_ids)),
        )
        for stored, reason in signatures
    ]
    headers = ("Date", "Device", "Configuration", "State", "Measured")
    tables = [
        render_table((name, *headers), rows, "     r")
        for name, rows in (("Session", session_rows), ("Signature", signature_rows))
        if rows
    ]
    problems = [printable(session.problem) for session in sessions if session.problem]
    return "\n\n".join([*tables, *problems])


def _session_summary(session: ProbeSession) -> dict[str, object]:
    """Return a session's entry of ``ctm probe list --json``."""
    return {
        "session": session.id,
        "device": session.device_id,
        "configuration": asdict(session.configuration),
        "state": str(session.state),
        "created_ns": session.created_ns,
        "probes": len(session.probes),
        "measured": sum(probe.measurement_id is not None for probe in session.probes),
        **({"problem": session.problem} if session.problem else {"kit": bool(session.plan.kit)}),
    }

"""A probing session as ``ctm probe`` prints it, in text and JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from predictor.cli.console import Console
from predictor.cli.tables import configuration_text, render_table
from predictor.core.percentiles import coefficient_of_variation, supported_percentiles
from predictor.core.records import Measurement
from predictor.core.stored import ProbeState, SessionProbe, SessionState, StoredSignature
from predictor.core.text import printable
from predictor.core.units import significant
from predictor.presentation.wording import UNSTABLE, percent
from predictor.services.probing.events import drift_words
from predictor.services.probing.open import Probing, open_probing
from predictor.services.probing.sessions import ProbeSession
from predictor.services.signatures.checks import belief_words, is_used
from predictor.services.signatures.quick import is_quick

ID_DIGITS = 8
_NOTHING_MEASURED = 3


def with_store(
    action: Callable[[argparse.Namespace, Console, Probing], int],
) -> Callable[[argparse.Namespace, Console], int]:
    """Return an action of ``ctm probe`` as a command that opens the store for it."""

    def run(options: argparse.Namespace, console: Console) -> int:
        with open_probing(options.store) as probing:
            return action(options, console, probing)

    return run


def print_session(
    probing: Probing, session_id: str, options: argparse.Namespace, console: Console
) -> int:
    """Print a session; return 0, or 3 where nothing could be measured."""
    session = probing.sessions.get(session_id)
    measurements = probing.sessions.measurements(session.id)
    stored = signature_of(probing, session)
    reason = probing.signatures.reason_against(stored) if stored else ""
    if options.json:
        console.document(session_document(session, measurements, stored, reason))
    else:
        console.result(session_text(session, measurements, stored, reason))
    return _NOTHING_MEASURED if session.state is SessionState.FAILED else 0


def signature_of(probing: Probing, session: ProbeSession) -> StoredSignature | None:
    """Return the newest signature that came of a session."""
    # Excluding a network or adapting makes a new signature of the same session.
    stored = [s for s in probing.signatures.all() if s.session_id == session.id]
    return stored[-1] if stored else None


def use_option(parser: argparse.ArgumentParser) -> None:
    """Add the option to use a probing that fails its own checks."""
    parser.add_argument(
        "--use-anyway",
        action="store_true",
        help=f"let predictions use it though it fails its own checks; they say {UNSTABLE} then",
    )


def belief_text(stored: StoredSignature, reason: str) -> str:
    """Return what failed checks mean and what to do; empty where none failed."""
    words = belief_words(stored, reason)
    if not words or is_used(stored, reason):
        return words
    use = f"`ctm probe use {stored.signature.id[:ID_DIGITS]}`"
    return f"{words} Probe again when the machine is idle, or use it anyway: {use}."


def session_text(
    session: ProbeSession,
    measurements: Mapping[str, Measurement],
    stored: StoredSignature | None,
    reason: str = "",
) -> str:
    """Return a session: its networks with their latencies or why they have none.

    Args:
        session: the session.
        measurements: of it, by id.
        stored: the signature that came of it.
        reason: why that is not believed; empty where it is.
    """
    rows = [
        (printable(probe.name), *_cells(probe, measurements.get(probe.measurement_id or "")))
        for probe in session.probes
    ]
    table = render_table(
        ("Network", "Median ms", "Minimum ms", "Spread", "Runs", ""), rows, " rrrr"
    )
    head = (
        f"Session {session.id}: {printable(session.device_id)}, "
        f"{configuration_text(session.configuration)}, {session.state}"
    )
    drift = session.facts.drift
    lines = [head, "", table]
    if drift is not None:
        lines += ["", drift_words(drift)]
    doubtful = sum(_is_doubtful(probe) for probe in session.probes)
    if doubtful:
        again = f"`ctm probe run --session {session.id[:ID_DIGITS]} --repeat NAME`"
        count = f"{doubtful} of {len(session.probes)} are noisy or inconclusive."
        lines += ["", f"{count} Close other programs and repeat them: {again}."]
    if stored:
        signature = f"Signature {stored.signature.id}."
        lines += ["", " ".join(filter(None, (signature, belief_text(stored, reason))))]
    return "\n".join(lines)


def _cells(probe: SessionProbe, measurement: Measurement | None) -> tuple[str, ...]:
    if measurement is None:
        words = probe.reason or str(probe.state)
        return "—", "", "", "", printable(words)
    words = probe.outcome.words if probe.state is ProbeState.MEASURED else ""
    samples_ns = measurement.samples_ns
    return (
        significant(measurement.value_ms, 4),
        significant(min(samples_ns) / 1e6, 4) if samples_ns else "",
        percent(coefficient_of_variation(samples_ns)) if samples_ns else "",
        str(len(samples_ns)),
        printable(words),
    )


def _is_doubtful(probe: SessionProbe) -> bool:
    return probe.outcome.verdict == "noisy" or probe.state is ProbeState.INCONCLUSIVE


def session_document(
    session: ProbeSession,
    measurements: Mapping[str, Measurement],
    stored: StoredSignature | None,
    reason: str = "",
) -> dict[str, object]:
    """Return a session with its probes; latencies in ms. The arguments are ``session_text``'s."""
    planned = {network.name: network for network in session.plan.probes}
    return {
        "schema": "ctm-probe-session/1",
        "session": session.id,
        "device": session.device_id,
        "configuration": asdict(session.configuration),
        "state": str(session.state),
        "created_ns": session.created_ns,
        "finished_ns": session.finished_ns,
        "signature": stored.signature.id if stored else None,
        "used": bool(stored and is_used(stored, reason)),
        "unstable": reason,
        **measuring_facts(session.plan.facts()),
        "host": session.facts.content.get("host"),
        "drift": session.facts.content.get("drift"),
        "probes": [
            {
                "name": probe.name,
                "fingerprint": probe.fingerprint,
                "state": str(probe.state),
                "reason": planned[probe.name].reason,
                "problem": probe.reason,
                "expected_ms": planned[probe.name].expected_ms,
                **measured_numbers(measurements.get(probe.measurement_id or "")),
            }
            for probe in session.probes
        ],
    }


def measuring_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a measurement, the runner's configuration as ``run``."""
    # The document has the target's configuration under that key.
    return {"run" if key == "configuration" else key: value for key, value in facts.items()}


def measured_numbers(measurement: Measurement | None) -> dict[str, Any]:
    """Return the figures of a measurement; percentiles only where there are enough runs."""
    if measurement is None:
        return {"latency_ms": None}
    ordered = sorted(measurement.samples_ns)
    provenance = measurement.provenance.content
    return {
        "latency_ms": measurement.value_ms,
        "statistic": measurement.statistic,
        "least_ms": ordered[0] / 1e6 if ordered else None,
        "variation": coefficient_of_variation(ordered) if ordered else None,
        "runs": len(ordered),
        "percentiles_ms": {
            f"p{share * 100:.0f}": value / 1e6
            for share, value in supported_percentiles(ordered).items()
        },
        "verdict": provenance.get("verdict"),
        "words": provenance.get("words"),
        "operators": provenance.get("operators"),
        "measurement": measurement.id,
    }


def use_text(stored: StoredSignature, reason: str) -> str:
    """Return whether predictions use a signature, in a few words."""
    words = "in use" if is_used(stored, reason) else "not used" if reason else ""
    kind = "ten seconds" if is_quick(stored) else ""
    return ", ".join(filter(None, (words, UNSTABLE if reason else "", kind)))


def signature_summary(stored: StoredSignature, reason: str) -> dict[str, object]:
    """Return a signature's entry of ``ctm probe list --json``."""
    signature = stored.signature
    return {
        "signature": signature.id,
        "device": signature.device_id,
        "configuration": asdict(signature.configuration),
        "active": signature.active,
        "used": is_used(stored, reason),
        "unstable": reason,
        "quick": is_quick(stored),
        "created_ns": stored.created_ns,
        "session": stored.session_id,
        "probes": len(signature.measurement_ids),
    }

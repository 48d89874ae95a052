"""What ``ctm probe`` prints for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from predictor.cli.durations import duration
from predictor.cli.tables import render_table
from predictor.core.percentiles import coefficient_of_variation
from predictor.core.records import Configuration, Measurement, Prediction
from predictor.core.text import plural, printable
from predictor.core.units import format_count, significant
from predictor.core.wording import percent
from predictor.services.probing.events import drift_words
from predictor.services.probing.expectation import ExpectedInterval, interval_words
from predictor.services.probing.plan import ProbePlan
from predictor.services.probing.sessions import (
    ProbeState,
    StoredProbe,
    StoredSession,
    StoredSignature,
)
from predictor.services.signatures.fit import LeftOut, errors_in_words
from predictor.services.signatures.stored import (
    ADAPTATIONS,
    adaptation_of,
    excluded_words,
    included_again_words,
    outdated_film_words,
)
from predictor.services.signatures.use import BeforeAfter

ID_DIGITS = 8


def plan_text(plan: ProbePlan, interval: ExpectedInterval | None, live: int = 0) -> str:
    """Return a plan: its networks, why each, how long it takes, and what it is expected to bring.

    Args:
        plan: what is to be measured.
        interval: what is expected of it; None where nothing is.
        live: how many other networks a run measures first, to choose the rest by what they show.
    """
    rows = [
        (
            probe.network.name,
            format_count(probe.network.macs),
            "—" if probe.expected_ms is None else significant(probe.expected_ms),
            probe.reason,
        )
        for probe in plan.probes
    ]
    table = render_table(("Network", "MACs", "Expected ms", "Why"), rows, " rr")
    target = (
        f"{printable(plan.target.device.name)}, {configuration_text(plan.target.configuration)}"
    )
    takes = (
        f"Measuring is expected to take {duration(plan.expected_s)}, between them "
        f"{plan.sentinel.network.name} three times to see drift."
    )
    lines = [target, "", table, "", takes]
    if interval is not None:
        lines.append(interval_words(interval))
    if live:
        lines.append(
            f"This is the plan of a kit. `ctm probe run` measures {live} networks first and "
            "chooses the rest by what they show."
        )
    return "\n".join(lines)


def session_text(
    session: StoredSession, measurements: Mapping[str, Measurement], signature_id: str | None
) -> str:
    """Return a session: its networks with their latencies or why they have none."""
    rows = [
        (printable(probe.name), *_cells(probe, measurements.get(probe.measurement_id or "")))
        for probe in session.probes
    ]
    table = render_table(("Network", "Median ms", "Least ms", "CV", "Runs", ""), rows, " rrrr")
    head = (
        f"Session {session.id}: {printable(session.device_id)}, "
        f"{configuration_text(session.configuration)}, {session.state}"
    )
    drift = json.loads(session.facts).get("drift")
    lines = [head, "", table]
    if drift is not None:
        lines += ["", drift_words(drift)]
    doubtful = sum(_is_doubtful(probe) for probe in session.probes)
    if doubtful:
        again = f"`ctm probe run --session {session.id[:ID_DIGITS]} --repeat NAME`"
        count = f"{doubtful} of {len(session.probes)} are noisy or inconclusive."
        lines += ["", f"{count} Close other programs and repeat them: {again}."]
    if signature_id:
        lines += ["", f"Signature {signature_id}."]
    return "\n".join(lines)


def signature_text(
    stored: StoredSignature,
    measurements: Sequence[Measurement],
    fits: Sequence[LeftOut],
    changed: Sequence[BeforeAfter] = (),
) -> str:
    """Return a signature: its machine, its latencies, and what they tell of one another.

    Args:
        stored: the signature.
        measurements: of it.
        fits: each predicted from the others.
        changed: models with and without it.
    """
    known = {fit.measurement_id: fit for fit in fits}
    signature, facts = stored.signature, json.loads(stored.facts)
    rows = [
        (
            printable(str(json.loads(m.provenance).get("network", m.fingerprint[:ID_DIGITS]))),
            significant(m.value_ms, 4),
            str(len(m.samples_ns)),
            *_fit_cells(known.get(m.id)),
        )
        for m in measurements
    ]
    host = facts.get("host") or {}
    machine = ", ".join(
        printable(str(host[key])) for key in ("processor", "system", "onnxruntime") if host.get(key)
    )
    head = (
        f"Signature {signature.id}: {printable(signature.device_id)}, "
        f"{configuration_text(signature.configuration)}, {day(stored.created_ns)}"
        f"{', in use' if signature.active else ''}"
    )
    headers = ("Network", "Median ms", "Runs", "From the others ms", "Error", "")
    table = render_table(headers, rows, " rrrr")
    words = errors_in_words(fits)
    told = ["", words] if words else []
    told += [f"Adapted by: {ADAPTATIONS[adaptation_of(stored)]}"]
    if outdated := outdated_film_words(stored):
        told += [f"FiLM: {outdated}"]
    told += [f"Left out: {printable(text)}" for text in excluded_words(facts)]
    told += [f"Taken in again: {printable(text)}" for text in included_again_words(facts)]
    models = ["", _changed_table(changed)] if changed else []
    return "\n".join([head, *([machine] if machine else []), "", table, *told, *models])


def _changed_table(changed: Sequence[BeforeAfter]) -> str:
    rows = [
        (
            printable(each.after.model),
            *_interval_cells(each.before),
            *_interval_cells(each.after),
        )
        for each in changed
    ]
    headers = ("Model", "Before ms", "80 % interval", "After ms", "80 % interval")
    return render_table(headers, rows, " rrrr")


def _interval_cells(prediction: Prediction) -> tuple[str, str]:
    p50, low, high = prediction.latency_ms, prediction.low80_ms, prediction.high80_ms
    if p50 is None or low is None or high is None:
        return "—", "—"
    return significant(p50, 4), f"{significant(low)} to {significant(high)}"


def _fit_cells(fit: LeftOut | None) -> tuple[str, str, str]:
    if fit is None:
        return "—", "—", ""
    doubt = "disagrees with the others: repeat it" if fit.disagrees else ""
    return significant(fit.predicted_ms, 4), percent(fit.error, signed=True), doubt


def adapted_text(signature_id: str, chosen: str, errors: Mapping[str, float]) -> str:
    """Say how predictions are adapted to a signature now.

    Args:
        signature_id: of the signature that says so.
        chosen: as ``Prediction.adaptation`` names it.
        errors: median error of each way where both were tried.
    """
    ways = {"posterior": "without fine-tuning", "film": "with FiLM fine-tuned"}
    told = [
        f"Each network predicted from the others, median error: {percent(error)} {ways[way]}."
        for way, error in errors.items()
    ]
    return "\n".join([*told, f"Signature {signature_id}: {ADAPTATIONS[chosen]}."])


def list_text(sessions: Sequence[StoredSession], signatures: Sequence[StoredSignature]) -> str:
    """Return the tables of sessions and signatures."""
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
            "in use" if stored.signature.active else "",
            str(len(stored.signature.measurement_ids)),
        )
        for stored in signatures
    ]
    headers = ("Date", "Device", "Configuration", "State", "Measured")
    tables = [
        render_table((name, *headers), rows, "     r")
        for name, rows in (("Session", session_rows), ("Signature", signature_rows))
        if rows
    ]
    return "\n\n".join(tables)


def configuration_text(configuration: Configuration) -> str:
    """Return a configuration in a few words."""
    threads = configuration.threads
    spread = "" if not threads else f" {plural(threads, 'thread')}"
    return f"{configuration.runtime} {configuration.precision}{spread}"


def day(time_ns: int) -> str:
    """Return the day of a time since 1970."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).date().isoformat()


def _is_doubtful(probe: StoredProbe) -> bool:
    noisy = json.loads(probe.outcome).get("verdict") == "noisy"
    return noisy or probe.state is ProbeState.INCONCLUSIVE


def _cells(probe: StoredProbe, measurement: Measurement | None) -> tuple[str, ...]:
    if measurement is None:
        words = probe.reason or str(probe.state)
        return "—", "", "", "", printable(words)
    words = json.loads(probe.outcome).get("words", "") if probe.state is ProbeState.MEASURED else ""
    samples_ns = measurement.samples_ns
    return (
        significant(measurement.value_ms, 4),
        significant(min(samples_ns) / 1e6, 4) if samples_ns else "",
        percent(coefficient_of_variation(samples_ns)) if samples_ns else "",
        str(len(samples_ns)),
        printable(words),
    )

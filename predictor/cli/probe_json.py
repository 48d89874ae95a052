"""The JSON documents of ``ctm probe``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from predictor.core.percentiles import coefficient_of_variation, supported_percentiles
from predictor.core.records import Configuration, Measurement, Prediction
from predictor.services.probing.expectation import ExpectedInterval
from predictor.services.probing.plan import ProbePlan, expected_ms, plan_facts, reasons
from predictor.services.probing.sessions import StoredSession, StoredSignature
from predictor.services.signatures.fit import LeftOut
from predictor.services.signatures.own import FILM
from predictor.services.signatures.stored import adaptation_of
from predictor.services.signatures.use import BeforeAfter


def plan_document(plan: ProbePlan, interval: ExpectedInterval | None) -> dict[str, object]:
    """Return what ``ctm probe plan --json`` prints."""
    return {
        "schema": "ctm-probe-plan/1",
        "device": plan.target.device.id,
        "configuration": configuration_object(plan.target.configuration),
        "selector": plan.selector,
        "seed": plan.seed,
        "expected_s": plan.expected_s,
        "interval80_above": asdict(interval) if interval else None,
        "settings": asdict(plan.settings),
        "sentinel": plan.sentinel.network.name,
        "probes": [
            {
                "name": probe.network.name,
                "fingerprint": probe.network.fingerprint,
                "macs": probe.network.macs,
                "params": probe.network.parameters,
                "reason": probe.reason,
                "expected_ms": probe.expected_ms,
            }
            for probe in plan.probes
        ],
    }


def session_document(
    session: StoredSession,
    measurements: Mapping[str, Measurement],
    signature_id: str | None,
) -> dict[str, object]:
    """Return a session with its probes; latencies in ms."""
    why, expected = reasons(session.plan), expected_ms(session.plan)
    facts = json.loads(session.facts)
    return {
        "schema": "ctm-probe-session/1",
        "session": session.id,
        "device": session.device_id,
        "configuration": configuration_object(session.configuration),
        "state": str(session.state),
        "created_ns": session.created_ns,
        "finished_ns": session.finished_ns,
        "signature": signature_id,
        **_how(plan_facts(session.plan)),
        "host": facts.get("host"),
        "drift": facts.get("drift"),
        "probes": [
            {
                "name": probe.name,
                "fingerprint": probe.fingerprint,
                "state": str(probe.state),
                "reason": why.get(probe.name, ""),
                "problem": probe.reason,
                "expected_ms": expected.get(probe.name),
                **_numbers(measurements.get(probe.measurement_id or "")),
            }
            for probe in session.probes
        ],
    }


def signature_document(
    stored: StoredSignature,
    measurements: list[Measurement],
    fits: Sequence[LeftOut],
    changed: Sequence[BeforeAfter] = (),
) -> dict[str, object]:
    """Return a signature with its measurements; latencies in ms.

    ``left_out_ms`` is what the others tell of a network, null where they tell nothing; ``models``
    are predictions without the signature and with it.
    """
    known = {fit.measurement_id: fit for fit in fits}
    return {
        "schema": "ctm-signature/1",
        **signature_summary(stored),
        **_how({key: fact for key, fact in json.loads(stored.facts).items() if key != FILM}),
        "adaptation": adaptation_of(stored),
        "measurements": [
            {
                "fingerprint": measurement.fingerprint,
                **_numbers(measurement),
                "left_out_ms": fit.predicted_ms if (fit := known.get(measurement.id)) else None,
                "disagrees": fit.disagrees if fit else None,
            }
            for measurement in measurements
        ],
        "models": [
            {
                "model": each.after.model,
                "before": _interval(each.before),
                "after": _interval(each.after),
            }
            for each in changed
        ],
    }


def _interval(prediction: Prediction) -> dict[str, object]:
    names = ("latency_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms")
    return {"basis": prediction.basis, **{name: getattr(prediction, name) for name in names}}


def signature_summary(stored: StoredSignature) -> dict[str, object]:
    """Return a signature's entry of ``ctm probe list --json``."""
    signature = stored.signature
    return {
        "signature": signature.id,
        "device": signature.device_id,
        "configuration": configuration_object(signature.configuration),
        "active": signature.active,
        "created_ns": stored.created_ns,
        "session": stored.session_id,
        "probes": len(signature.measurement_ids),
    }


def session_summary(session: StoredSession) -> dict[str, object]:
    """Return a session's entry of ``ctm probe list --json``."""
    return {
        "session": session.id,
        "device": session.device_id,
        "configuration": configuration_object(session.configuration),
        "state": str(session.state),
        "created_ns": session.created_ns,
        "probes": len(session.probes),
        "measured": sum(probe.measurement_id is not None for probe in session.probes),
        "kit": plan_facts(session.plan)["kit"] is not None,
    }


def configuration_object(configuration: Configuration) -> dict[str, object]:
    """Return a configuration as in ``ctm predict --json``."""
    return {
        "runtime": configuration.runtime,
        "precision": str(configuration.precision),
        "threads": configuration.threads,
        "batch": configuration.batch,
    }


def _how(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return how it was measured; the runner's configuration beside the target's."""
    return {"run" if key == "configuration" else key: value for key, value in facts.items()}


def _numbers(measurement: Measurement | None) -> dict[str, Any]:
    """Return what was measured; percentiles only where there are enough runs."""
    if measurement is None:
        return {"latency_ms": None}
    ordered = sorted(measurement.samples_ns)
    provenance = json.loads(measurement.provenance)
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

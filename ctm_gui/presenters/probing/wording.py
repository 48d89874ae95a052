"""Sentences of the result page on signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ctm_gui.presenters.probing.choice import Way
from ctm_gui.presenters.probing.results import Result
from predictor.core.text import plural
from predictor.core.units import significant
from predictor.core.wording import NOTHING, local_time, percent, shown
from predictor.services.probing.events import drift_words
from predictor.services.probing.sessions import SessionState
from predictor.services.signatures.adaptation import (
    ADAPTATIONS,
    StoredSignature,
    adaptation_of,
    outdated_film_words,
)
from predictor.services.signatures.assessment import errors_in_words


def signature_title(stored: StoredSignature) -> str:
    """Name a signature among others: when it was made, and whether it is fine-tuned."""
    tuned = ", fine-tuned" if adaptation_of(stored) == "film" else ""
    return f"{local_time(stored.created_ns)}{tuned}"


def signature_facts(stored: StoredSignature) -> list[tuple[str, str]]:
    """Return the facts of a signature beside its numbers, as label and words."""
    facts, host, drift = stored.facts, stored.facts.host, stored.facts.drift
    lines = [
        ("Protocol", facts.protocol or "imported"),
        ("Machine", _joined(host, ("node", "processor", "system"))),
        ("Runtime", _runtime(host, facts.configuration)),
        ("Power", _joined(host, ("power_source", "governor"))),
        ("Drift", "" if drift is None else percent(drift)),
        ("FiLM", outdated_film_words(stored)),
        ("Left out", ", ".join(facts.excluded_words())),
        ("Taken in again", ", ".join(facts.included_again_words())),
    ]
    return [(label, shown(words)) for label, words in lines if words]


def fit_words(result: Result) -> str:
    """Return the agreement of the networks of a signature in words."""
    if result.signature is None:
        return ""
    if not result.assessed:
        return "Working out how well the networks tell of one another…"
    words, odd = errors_in_words(result.fits), result.odd
    if result.drifted:
        words = f"{drift_words(result.drift)} {words}"
    if odd:
        disagreeing = plural(odd, "network disagrees", "networks disagree")
        words += f" {disagreeing} with the others: repeat, or exclude with a reason."
    return words


def result_words(result: Result) -> str:
    """Return the outcome in a sentence or two."""
    session = result.session
    if result.signature is None:
        if session is None:
            return "No signature of this target is left."
        if session.state is SessionState.RUNNING and result.way is Way.KIT:
            return (
                "The kit is written. Unpack it on the machine, run python3 ctm_runner.pyz in "
                "its folder, and import its results here."
            )
        return "No network could be measured, so there is no signature; the reasons are below."
    active = result.signature.signature.active
    made = local_time(result.signature.created_ns)
    words = f"Signature of {made}, {'' if active else 'not '}active: {_counted(result)}."
    if active:
        adaptation = ADAPTATIONS[adaptation_of(result.signature)]
        words += f" Predictions for this target use it: {adaptation}."
    return words


def _counted(result: Result) -> str:
    measured = len(result.used)
    missing = sum(row.median_ms is None for row in result.rows)
    excluded = sum(bool(row.excluded) for row in result.rows)
    words = f"{plural(measured, 'network')} measured"
    if missing:
        words += f", {plural(missing, 'has', 'have')} no number"
    return f"{words}, {excluded} left out" if excluded else words


def ratio_text(share: float | None) -> str:
    """Write a relative difference with its sign: ``+3.1 %``; a dash where there is none."""
    if share is None:
        return NOTHING
    return f"{'+' if share >= 0 else '−'}{significant(abs(share) * 100, 2)} %"


def _joined(facts: Mapping[str, Any], keys: Sequence[str]) -> str:
    return ", ".join(str(facts[key]) for key in keys if facts.get(key))


def _runtime(host: Mapping[str, Any], configuration: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (_joined(host, ("onnxruntime",)), configuration.get("provider"))))

"""Content of a session or signature, as the result page shows it, and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctm_gui.probing.choice import Way, way_of
from predictor.core.errors import InputError
from predictor.core.percentiles import coefficient_of_variation
from predictor.core.records import Configuration, Measurement
from predictor.core.stored import SessionProbe, SessionState, StoredSignature
from predictor.core.text import plural
from predictor.core.units import significant
from predictor.presentation.wording import NOTHING, local_time, percent, shown
from predictor.services.probing.events import DRIFT_LIMIT, drift_words
from predictor.services.probing.open import Probing
from predictor.services.probing.sessions import ProbeSession
from predictor.services.signatures.adaptation import ADAPTATIONS, adaptation_of, outdated_film_words
from predictor.services.signatures.assessment import BeforeAfter, LeftOut, errors_in_words
from predictor.services.signatures.checks import belief_words, is_used


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One network of a signature or session.

    Attributes:
        name: of the network.
        fingerprint: of its graph, the key for comparing signatures.
        median_ms: None where it has no number.
        least_ms: of its fastest run; None where single runs are not known.
        variation: coefficient of variation, as a share.
        runs: number of known runs.
        words: its verdict, or the reason for its missing number.
        other_ms: the median in the signature that it is compared with.
        measurement_id: of its measurement; empty where it has no number.
        fit: its prediction from the other networks; None where there is none yet.
        excluded: the user's reason for leaving it out of the signature; empty where it is in it.
    """

    name: str
    fingerprint: str
    median_ms: float | None
    least_ms: float | None = None
    variation: float | None = None
    runs: int = 0
    words: str = ""
    other_ms: float | None = None
    measurement_id: str = ""
    fit: LeftOut | None = None
    excluded: str = ""

    @property
    def disagrees(self) -> bool:
        """Whether it lies outside of the interval that the other networks give."""
        return self.fit is not None and self.fit.disagrees

    @property
    def ratio(self) -> float | None:
        """Relative difference from the other signature, as a share."""
        if self.median_ms is None or not self.other_ms:
            return None
        return self.median_ms / self.other_ms - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Content of the result page.

    Attributes:
        device_id: of the target.
        configuration: of the target.
        rows: its networks.
        signature: None where no signature came of the session.
        session: None for a signature that was imported.
        signatures: all of the target, the newest first.
        other_id: of the signature that it is compared with, else empty.
        way: of its session's measurement; None where unknown.
        assessed: whether the networks' fits and the models' changes are computed.
        changes: the open models without the signature and with it.
        reason: why the signature is not believed, without a full stop; empty where it is.
    """

    device_id: str
    configuration: Configuration
    rows: tuple[ResultRow, ...]
    signature: StoredSignature | None = None
    session: ProbeSession | None = None
    signatures: tuple[StoredSignature, ...] = ()
    other_id: str = ""
    way: Way | None = None
    assessed: bool = False
    changes: tuple[BeforeAfter, ...] = ()
    reason: str = ""

    @property
    def is_used(self) -> bool:
        """Whether predictions use the signature."""
        return self.signature is not None and is_used(self.signature, self.reason)

    @property
    def drift(self) -> float:
        """Drift of the sentinel, as a share; 0 where it is unknown."""
        return (self.signature and self.signature.facts.drift) or 0.0

    @property
    def drifted(self) -> bool:
        """Whether that is more than the protocol takes for steady."""
        return self.drift > DRIFT_LIMIT

    @property
    def used(self) -> tuple[ResultRow, ...]:
        """Those that are measured and not left out."""
        return tuple(row for row in self.rows if row.measurement_id and not row.excluded)

    @property
    def odd(self) -> int:
        """Number of its networks that disagree with the others."""
        return sum(row.disagrees for row in self.rows)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The networks of its session that are better measured again."""
        if self.session is None:
            return ()
        odd = {row.name for row in self.rows if row.disagrees}
        return tuple(
            probe.name for probe in self.session.probes if _is_doubtful(probe) or probe.name in odd
        )

    @property
    def repeatable(self) -> frozenset[str]:
        """The networks that its session can measure again."""
        if self.session is None or self.way is Way.KIT:
            return frozenset()
        return frozenset(probe.name for probe in self.session.probes)

    @property
    def fits(self) -> tuple[LeftOut, ...]:
        """Predictions of the networks from one another."""
        return tuple(row.fit for row in self.rows if row.fit is not None)


def result_rows(
    measurements: Sequence[Measurement], probes: Sequence[SessionProbe] = ()
) -> tuple[ResultRow, ...]:
    """Return a row for each measurement, and for each network that has no number.

    Args:
        measurements: of a signature or session.
        probes: of its session; those without a measurement are listed with their reason.
    """
    rows = [_row(measurement) for measurement in measurements]
    missing = [
        ResultRow(
            name=probe.name,
            fingerprint=probe.fingerprint,
            median_ms=None,
            words=shown(probe.reason or str(probe.state)),
        )
        for probe in probes
        if probe.measurement_id is None
    ]
    return (*rows, *missing)


def excluded_rows(
    measurements: Sequence[Measurement], reasons: Mapping[str, str]
) -> tuple[ResultRow, ...]:
    """Return a row for each network that was left out of a signature.

    Args:
        measurements: that were left out.
        reasons: why, by the measurements' ids.
    """
    return tuple(replace(_row(m), excluded=shown(reasons[m.id])) for m in measurements)


def compared(
    rows: Sequence[ResultRow], measurements: Sequence[Measurement]
) -> tuple[ResultRow, ...]:
    """Return the rows with the medians that the same networks have in another signature."""
    medians_ms = {measurement.fingerprint: measurement.value_ms for measurement in measurements}
    return tuple(replace(row, other_ms=medians_ms.get(row.fingerprint)) for row in rows)


def assessed(result: Result, fits: Sequence[LeftOut], changes: tuple[BeforeAfter, ...]) -> Result:
    """Return a result with its networks' fits and the changes of the open models."""
    by_measurement = {fit.measurement_id: fit for fit in fits}
    rows = tuple(replace(row, fit=by_measurement.get(row.measurement_id)) for row in result.rows)
    return replace(result, rows=rows, assessed=True, changes=changes)


def of_session(session_id: str, probing: Probing) -> Result:
    """Return the outcome of a session: its newest signature, else its measurements so far."""
    session = probing.sessions.get(session_id)
    signatures = _of_target(probing, session.device_id, session.configuration)
    signature = next((s for s in signatures if s.session_id == session.id), None)
    if signature is not None:
        return of_signature(signature.signature.id, "", probing)
    measured = probing.sessions.measurements(session.id)
    return Result(
        device_id=session.device_id,
        configuration=session.configuration,
        rows=result_rows(list(measured.values()), session.probes),
        session=session,
        signatures=signatures,
        way=way_of(session, measured),
    )


def of_signature(signature_id: str, other_id: str, probing: Probing) -> Result:
    """Return a signature, beside another one where ``other_id`` is not empty.

    Raises:
        InputError: it was deleted.
    """
    stored = next((s for s in probing.signatures.all() if s.signature.id == signature_id), None)
    if stored is None:
        raise InputError(f"signature {signature_id}", "it was deleted", "choose another one")
    session = probing.sessions.get(stored.session_id) if stored.session_id else None
    probes = session.probes if session else ()
    measured = probing.signatures.measurements(signature_id)
    rows = result_rows(measured, probes) + excluded_rows(
        probing.signatures.excluded(signature_id), stored.facts.excluded
    )
    if other_id:
        rows = compared(rows, probing.signatures.measurements(other_id))
    signature = stored.signature
    return Result(
        device_id=signature.device_id,
        configuration=signature.configuration,
        rows=rows,
        signature=stored,
        session=session,
        signatures=_of_target(probing, signature.device_id, signature.configuration),
        other_id=other_id,
        way=way_of(session, {m.id: m for m in measured}) if session else None,
        reason=probing.signatures.reason_against(stored),
    )


def after_deletion(deleted: StoredSignature, probing: Probing) -> Result:
    """Return the active signature of the target, else its newest, else nothing of it."""
    device_id, configuration = deleted.signature.device_id, deleted.signature.configuration
    left = _of_target(probing, device_id, configuration)
    chosen = next((s for s in left if s.signature.active), left[0] if left else None)
    if chosen is None:
        return Result(device_id=device_id, configuration=configuration, rows=())
    return of_signature(chosen.signature.id, "", probing)


def _row(measurement: Measurement) -> ResultRow:
    provenance = measurement.provenance
    samples_ns = measurement.samples_ns
    words = provenance.words or f"imported: {measurement.statistic}"
    return ResultRow(
        name=shown(provenance.network or measurement.fingerprint[:12]),
        fingerprint=measurement.fingerprint,
        median_ms=measurement.value_ms,
        least_ms=min(samples_ns) / 1e6 if samples_ns else None,
        variation=coefficient_of_variation(samples_ns) if samples_ns else None,
        runs=len(samples_ns),
        words=shown(words),
        measurement_id=measurement.id,
    )


def _of_target(
    probing: Probing, device_id: str, configuration: Configuration
) -> tuple[StoredSignature, ...]:
    target = (device_id, configuration)
    return tuple(
        entry
        # The store lists the oldest first.
        for entry in reversed(probing.signatures.all())
        if (entry.signature.device_id, entry.signature.configuration) == target
    )


def _is_doubtful(probe: SessionProbe) -> bool:
    noisy = probe.outcome.verdict == "noisy"
    return noisy or (probe.measurement_id is None and probe.state != "waiting")


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
        return "Working out how well the networks predict each other…"
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
                "The kit is written. Unpack it on the machine and run python3 ctm_runner.pyz in "
                "its folder. Back leads to the page that imports the results.json it writes."
            )
        return (
            "No network could be measured, so there is no signature; the reasons are below. "
            "Let other programs rest, then press Repeat."
        )
    active = result.is_used
    made = local_time(result.signature.created_ns)
    words = f"Signature of {made}, {'' if active else 'not '}active: {_counted(result)}."
    if active:
        adaptation = ADAPTATIONS[adaptation_of(result.signature)]
        words += f" Predictions for this target use it: {adaptation}."
    return words


def belief_question(result: Result) -> str:
    """Return what failed checks mean, with the question what to do; empty where none failed."""
    if result.signature is None or not result.reason:
        return ""
    words = belief_words(result.signature, result.reason)
    if result.is_used:
        return words
    return f"{words} Probe again when the machine is idle, or use it anyway?"


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

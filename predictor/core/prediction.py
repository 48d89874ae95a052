"""The record of a prediction: the latency of one model on one target, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from predictor.core.records import Basis, Configuration, Precision
from predictor.core.run_facts import MEDIAN, P90, P99, MemoryUse, Spread, Unsupported


@dataclass(frozen=True, slots=True)
class ScaledFrom:
    """A latency that the user measured of a model, which corrects its predictions elsewhere.

    Attributes:
        device_id: id of the device that was measured.
        configuration: as run, threads resolved to a count.
        latency_ms: measured.
    """

    device_id: str
    configuration: Configuration
    latency_ms: float


TIMES: Final = ("latency_ms", "low80_ms", "high80_ms", "low95_ms", "high95_ms")
"""Fields of a prediction that are its P50 and the ends of its intervals."""

FEW_CHIPS: Final = 5
"""Checked on fewer, a runtime has no evidence of its own on a kind of device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The predicted latency of one model on one target.

    Attributes:
        model: name of the model's file, without its folder.
        fingerprint: of the operator graph.
        device_id: id of the device.
        configuration: as predicted, threads and batch resolved to counts.
        engine: name and version of the engine.
        basis: of the number; None where there is no number.
        latency_ms: P50 of one run over the batch; None where there is no number.
        low80_ms, high80_ms, low95_ms, high95_ms: intervals; None for engines that give none.
        bound_ms: no run can be faster; None where a needed fact is missing.
        fits_memory: whether weights and activations fit; None where the memory is not known.
        problem: why there is no number ("not supported ...", "missing metric ..."), else empty.
        out_of_distribution: reason in words, else empty.
        signature: id of the signature that was used, else None.
        flagged_operators: names of operators that the target cannot run or that are not counted.
        predicted_ms: the engine's own where ``latency_ms`` was measured, else None.
        provenance: source of ``latency_ms`` in words where it was measured, else empty.
        fine_tuned: whether the network itself was fine-tuned to the signature, its FiLM.
        by_operators: whether it was calibrated by measured times of operators.
        evidence: in words, which measurements the number comes from and how it was checked; empty
            for engines that do not say.
        unstable: why the probing that the number rests on failed its own checks, in words; empty
            where it did not.
        shared_error: float32 numbers as bytes, the part that errors of models on one target have in
            common: the dot product of two models' is the correlation of their errors of
            ln(latency). Empty where it is not known; not stored, so that a prediction equals its
            record.
        scale: ``latency_ms`` over the engine's own, where it was corrected by measurements of the
            model elsewhere; not stored either.
        scaled_from: these measurements.
        memory: at the peak of the run; None where it is not known. Not stored: it follows from the
            graph and the target.
        unsupported: operators that the runtime does not run there; None where there are none, or no
            list is known. Not stored either.
        spread: how far the slow runs lie over the P50; None where it is unknown. Not stored
            either.
        class_chips: kinds of silicon that this runtime was checked on, on devices of this kind that
            the engine had not seen; 0 for none. None for what was measured there or on the same
            chip, and for engines that do not say. Not stored either.
        run_precision: that the products of a file of integers run in, or a file of halves between
            casts; None of other files, and for engines that do not say. Not stored either.
        slower: in words, that measurements have runs like this slower than in FP32 or on fewer
            threads; empty where none have. Not stored either.
    """

    model: str
    fingerprint: str
    device_id: str
    configuration: Configuration
    engine: str
    basis: Basis | None
    latency_ms: float | None
    low80_ms: float | None = None
    high80_ms: float | None = None
    low95_ms: float | None = None
    high95_ms: float | None = None
    bound_ms: float | None = None
    fits_memory: bool | None = None
    problem: str = ""
    out_of_distribution: str = ""
    signature: str | None = None
    flagged_operators: tuple[str, ...] = ()
    predicted_ms: float | None = None
    provenance: str = ""
    fine_tuned: bool = False
    by_operators: bool = False
    evidence: str = ""
    unstable: str = ""
    shared_error: bytes = field(default=b"", compare=False)
    scale: float = field(default=1.0, compare=False)
    scaled_from: tuple[ScaledFrom, ...] = field(default=(), compare=False)
    memory: MemoryUse | None = field(default=None, compare=False)
    unsupported: Unsupported | None = field(default=None, compare=False)
    spread: Spread | None = field(default=None, compare=False)
    class_chips: int | None = field(default=None, compare=False)
    run_precision: Precision | None = field(default=None, compare=False)
    slower: str = field(default="", compare=False)

    def scaled(self, factor: float, floor_ms: float = 0.0) -> Prediction:
        """Return a prediction that takes so much longer, no time of it under ``floor_ms``."""
        times: dict[str, Any] = {
            name: max(time_ms * factor, floor_ms)
            for name in TIMES
            if (time_ms := getattr(self, name)) is not None
        }
        return replace(self, **times)

    @property
    def few_chips(self) -> bool:
        """Whether its runtime was checked on few chips of this kind: it is not called fastest."""
        is_measured = self.basis is Basis.MEASURED or self.class_chips is None
        return not is_measured and (self.class_chips or 0) < FEW_CHIPS

    @property
    def p90_ms(self) -> float | None:
        """Latency that nine of ten runs keep; None where it is unknown."""
        return self.tail_ms(P90)

    @property
    def p99_ms(self) -> float | None:
        """Latency that 99 of 100 runs keep; None where it is unknown."""
        return self.tail_ms(P99)

    def tail_ms(self, percentile: int) -> float | None:
        """Return P50, P90 or P99; None where it is unknown."""
        if percentile == MEDIAN or self.latency_ms is None:
            return self.latency_ms
        return None if self.spread is None else self.latency_ms * self.spread.tail(percentile).ratio

    @property
    def adaptation(self) -> str | None:
        """Kind of adaptation to the target, as ``adaptation_by``; None without one."""
        if self.basis is not Basis.PROBED:
            return None
        return adaptation_by(fine_tuned=self.fine_tuned, by_operators=self.by_operators)

    @property
    def is_lower_limit(self) -> bool:
        """Whether operators of unknown cost are missing from a latency that was not measured."""
        return bool(self.flagged_operators) and self.basis is not Basis.MEASURED


def adaptation_by(*, fine_tuned: bool, by_operators: bool) -> str:
    """Return the kind of adaptation of predictions to a target that was measured.

    Returns:
        "posterior" over latencies of whole networks, "operators" over their operators' times too,
        "film" for fine-tuned FiLM with a posterior of the rest on top of it.
    """
    if fine_tuned:
        return "film"
    return "operators" if by_operators else "posterior"

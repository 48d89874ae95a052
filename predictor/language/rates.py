"""Time of the phases of a decoder on a device: physics, and how far measurements are from it.

Time of a token joins works over rates: bytes of weights and KV cache over the bandwidth, weights to
multiply and to unpack over the vector rate, layers to start over the clock. A prompt
adds products over the matrix rate; reading the weights and multiplying them overlap as the root of
their squares does (GEMM times of A100 and A40 by rows). Every coefficient is positive, so a rate
that grows never raises a time, nor lowers it by more than its own factor.

The deviation of measurements from that is one number a device and format with a covariance: the
same architecture, the same silicon, the same device and format. Given what was measured, its mean
moves the time, its variance is the interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Device
from predictor.language.machine import Machine
from predictor.language.passes import Passes
from predictor.language.weights import BITS, WeightFormat

Floats = NDArray[np.float64]

OVERLAP: Final = 1.3  # exponent of the norm: 1 is the sum, infinity the larger
Z80: Final = 1.2815515655446004  # quantile 0.9 of the normal distribution


class Phase(StrEnum):
    """A phase of generation."""

    PREFILL = "prefill"
    DECODE = "decode"


class Group(StrEnum):
    """Formats that are unpacked alike: by bits, and blocks of 256 (k) or of one scale."""

    HALF = "16"
    BYTE = "8"
    BLOCKS = "4"
    SUPER_BLOCKS = "4k"


_HALF_BITS, _BYTE_BITS = 12, 7
_LONG = ("_k", "_s", "_xs", "_xxs", "_m")  # types in blocks of 256 end so


def group_of(form: WeightFormat) -> Group:
    """Return the group of a format, of a format of experts that of the experts."""
    kind = form.name if form.experts else form.matrices
    bits = BITS[kind]
    if bits >= _BYTE_BITS:
        return Group.HALF if bits >= _HALF_BITS else Group.BYTE
    return Group.SUPER_BLOCKS if kind.endswith(_LONG) else Group.BLOCKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Multiples of works over rates, each at least 0.

    Attributes:
        bandwidth: of bytes over the bandwidth, at least 1.
        unpack: of weights over the vector rate in decoding, by group.
        cache: of KV bytes over the vector rate in decoding.
        step: GHz x s a layer in decoding.
        product: of FLOPs over the matrix rate in a prompt, by group.
        scaling: of FLOPs over the vector rate in a prompt, by group: what is unpacked and scaled
            beside the matrix units.
        attention: of FLOPs over the vector rate in a prompt.
        activation: of activation bytes over the bandwidth in a prompt.
        prompt_step: GHz x s a layer and pass of a prompt.
    """

    bandwidth: float
    unpack: Mapping[Group, float]
    cache: float
    step: float
    product: Mapping[Group, float]
    scaling: Mapping[Group, float]
    attention: float
    activation: float
    prompt_step: float


class Part(StrEnum):
    """A part of a time; the largest of them binds it."""

    WEIGHTS = "reading the weights"
    CACHE = "reading the KV cache"
    UNPACK = "unpacking and multiplying the weights"
    PRODUCT = "multiplying"
    ATTENTION = "attention"
    ACTIVATION = "moving activations"
    STEP = "launching the layers"


def decode_parts(
    passes: Passes, machine: Machine, c: Coefficients, group: Group
) -> dict[Part, Floats]:
    """Return seconds of each pass of one token by part, float64 [P].

    Launching the layers is hidden in part behind their work: the two join as a norm between the sum
    and the larger. Parts are shares of the whole.
    """
    one = c.unpack[group] * passes.weights / machine.vector
    # Another sequence costs its share of a product, or once more what the first one does.
    more = np.minimum(one, passes.flops * per_flop(machine, c, group))
    work = {
        Part.WEIGHTS: c.bandwidth * passes.weight_bytes / machine.bandwidth,
        Part.CACHE: passes.kv_bytes * (c.bandwidth / machine.bandwidth + c.cache / machine.vector),
        Part.UNPACK: one + (passes.batch - 1) * more,
    }
    worked: Floats = np.sum(list(work.values()), axis=0)
    step = np.full_like(one, c.step * passes.layers / machine.clock)
    total = (worked**OVERLAP + step**OVERLAP) ** (1 / OVERLAP)
    share = (worked / total) ** (OVERLAP - 1)
    parts = {part: seconds * share for part, seconds in work.items()}
    return {**parts, Part.STEP: step * (step / total) ** (OVERLAP - 1)}


def per_flop(machine: Machine, c: Coefficients, group: Group) -> float:
    """Return the seconds of a floating-point operation in the products of a prompt."""
    return c.product[group] / machine.matrix + c.scaling[group] / machine.vector


def prefill_parts(
    passes: Passes, machine: Machine, c: Coefficients, group: Group
) -> dict[Part, Floats]:
    """Return seconds of each pass of a prompt by part, float64 [P].

    Parts are shares of the whole: of the root of two squares each has its square's share.
    """
    read = c.bandwidth * (passes.weight_bytes + passes.kv_bytes) / machine.bandwidth
    product = passes.batch * passes.flops * per_flop(machine, c, group)
    traffic = c.activation * passes.batch * passes.activation_bytes / machine.bandwidth
    work = product + traffic
    joined = np.hypot(read, work)
    share = work / joined
    return {
        Part.WEIGHTS: read * (read / joined),
        Part.PRODUCT: product * share,
        Part.ACTIVATION: traffic * share,
        Part.ATTENTION: c.attention * passes.batch * passes.attention_flops / machine.vector,
        Part.STEP: np.full_like(read, c.prompt_step * passes.layers / machine.clock),
    }


def bound(passes: Passes, machine: Machine) -> Floats:
    """Return the least seconds of each pass: all bytes as stated, all FLOPs at the highest rate."""
    traffic = (passes.weight_bytes + passes.kv_bytes) / machine.stated_bandwidth
    work = passes.batch * (passes.flops + passes.attention_flops) / machine.peak
    return np.maximum(traffic, work)


class Origin(StrEnum):
    """Where a measured deviation comes from."""

    PUBLISHED = "published"
    PROBED = "probed by you"
    MEASURED = "measured by you"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A measured deviation from physics.

    Attributes:
        device: id.
        silicon: id of the die.
        architecture: id of the design, empty where it is not known.
        group: of the format of weights.
        deviation: logarithm of measured over physical time, the median of its rates.
        rates: number of measured rates.
        origin: whose it is.
    """

    device: str
    silicon: str
    architecture: str
    group: Group
    deviation: float
    rates: int = 1
    origin: Origin = Origin.PUBLISHED

    @property
    def is_of_user(self) -> bool:
        """Whether the user measured or probed it."""
        return self.origin is not Origin.PUBLISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class Scales:
    """Standard deviations of the parts of a deviation.

    Attributes:
        architecture: of a design.
        silicon: of a die.
        format: of a group of formats on a die.
        noise: of one measurement, and of another version of the runtime.
        widen: factor of intervals, from devices left out.
        widen_of: the same of single groups of formats, where enough devices give it.
        blind: of what physics alone leaves open, where a group or a backend was never measured.
    """

    architecture: float
    silicon: float
    format: float
    noise: float
    widen: float = 1.0
    blind: float = 0.0
    widen_of: Mapping[Group, float] = field(default_factory=dict)


_REPEAT_NOISE: Final = 0.02  # repeats of one rate by llama-bench
# Assumed: a probe runs under another runtime, to which no backend is fitted. Under two that are,
# the deviations of one GPU differ by 0.12 (14 pairs in rates.json, without CDNA).
_PROBE_NOISE: Final = 0.2
_OTHER_GROUP: Final = 0.15  # of a group of formats that was measured on fewer kinds of silicon
_FEW_SILICON: Final = 6


@dataclass(frozen=True, slots=True)
class Deviation:
    """Mean and standard deviation of a logarithm of time, and the evidence nearest to it."""

    mean: float
    spread: float
    evidence: str


@dataclass(frozen=True, slots=True)
class Deviations:
    """The posterior over the deviations of one backend and phase.

    Attributes:
        scales: of the prior.
        observed: measurements.
    """

    scales: Scales
    observed: tuple[Observed, ...] = ()
    _solved: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    def with_user(self, observations: Sequence[Observed]) -> Deviations:
        """Return the posterior that knows the user's measurements too."""
        return Deviations(self.scales, (*self.observed, *observations)) if observations else self

    def covariance(self, rows: Sequence[Observed], columns: Sequence[Observed]) -> Floats:
        """Return the prior covariance, without noise, float64 [R, C]."""
        s = self.scales
        same = {
            name: np.equal.outer(
                np.array([getattr(r, name) for r in rows], object),
                np.array([getattr(c, name) for c in columns], object),
            ).astype(np.float64)
            for name in ("architecture", "silicon", "group", "device")
        }
        named = np.array([bool(r.architecture) for r in rows], np.float64)[:, None]
        total: Floats = (
            s.architecture**2 * same["architecture"] * named
            + s.silicon**2 * same["silicon"]
            + s.format**2 * same["silicon"] * same["group"]
            # Between published rates it is noise: another board, another version of the runtime.
            + s.noise**2 * same["device"] * np.outer(_of_user(rows), _of_user(columns))
        )
        return total

    def noise(self) -> Floats:
        """Return the variance of each measurement, float64 [N]."""
        of = {Origin.MEASURED: _REPEAT_NOISE, Origin.PROBED: _PROBE_NOISE}
        return np.array([of.get(o.origin, self.scales.noise) ** 2 for o in self.observed])

    def of(self, targets: Sequence[Observed]) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of each target's deviation, float64 [T] each."""
        s = self.scales
        other = np.array([_OTHER_GROUP**2 * self._is_rare(t) for t in targets])
        prior = s.architecture**2 + s.silicon**2 + s.format**2 + s.blind**2 + other
        widen = np.array([s.widen_of.get(t.group, s.widen) for t in targets])
        if not self.observed:
            return np.zeros(len(targets)), widen * np.sqrt(prior + s.noise**2)
        measured_devices = {o.device for o in self.observed if o.is_of_user}
        again = np.array([_REPEAT_NOISE * (t.device in measured_devices) for t in targets])
        if not self._solved:
            covariance = self.covariance(self.observed, self.observed) + np.diag(self.noise())
            inverse = np.linalg.inv(covariance).astype(np.float64)
            self._solved["inverse"] = inverse
            deviations = np.array([o.deviation for o in self.observed])
            self._solved["weights"] = inverse @ deviations
        to = self.covariance(targets, self.observed)  # [T, N]
        explained = np.einsum("tn,nm,tm->t", to, self._solved["inverse"], to)
        spread = np.sqrt(np.maximum(prior + s.noise**2 - explained, 0.0) + again**2)
        return to @ self._solved["weights"], widen * spread

    def _is_rare(self, target: Observed) -> bool:
        """Whether a group of formats was measured on few kinds of silicon, and not on this one."""
        silicon = {o.silicon for o in self.observed if o.group is target.group}
        return len(silicon) < _FEW_SILICON and target.silicon not in silicon


def _of_user(rows: Sequence[Observed]) -> Floats:
    """Return 1 for what the user measured or asks for, 0 for what is published, float64 [N]."""
    return np.array([o.is_of_user or math.isnan(o.deviation) for o in rows], np.float64)


def silicon_of(device: Device) -> str:
    """Return the id of a device's die, of its own where the die is not known."""
    return device.chip or device.id


def target_of(device: Device, group: Group) -> Observed:
    """Return where a device and a group of formats stand among measurements."""
    return Observed(
        device=device.id,
        silicon=silicon_of(device),
        architecture=device.architecture,
        group=group,
        deviation=math.nan,
        rates=0,
    )


def evidence_text(target: Observed, observed: Sequence[Observed], title: str) -> str:
    """Return in words which measurements a time rests on, the nearest first."""
    for what, names in (
        ("on this device with such weights", ("device", "group")),
        ("on this device with other weights", ("device",)),
        ("on this chip", ("silicon",)),
        ("on this architecture", ("architecture",)),
    ):
        rows = [o for o in observed if _is(o, target, *names) and getattr(o, names[0])]
        for origin in (Origin.MEASURED, Origin.PROBED):
            if any(o.origin is origin for o in rows):
                return f"{origin} {what}"
        if rows:
            count = sum(o.rates for o in rows)
            rates = "1 published rate" if count == 1 else f"{count} published rates"
            return f"{rates} of {title} {what}"
    devices = len({o.device for o in observed})
    if devices:
        return f"published rates of {title} on {devices} other devices"
    return f"physics alone: no published rate of {title}"


def _is(one: Observed, other: Observed, *names: str) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in names)

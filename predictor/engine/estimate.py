"""The estimate for hardware of which little or nothing was measured.

Physics, times efficiencies of the runtime and the kind of device, times what measurements near the
target tell. Its intervals are those that the same estimate needed on silicon that it had not seen.

Reference:
    HODM's attention, CloserToMe Eq. (7): here the share of a rate in an operator's time, which is
    minus the elasticity of the time to that rate.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.efficiencies import GROUPS, LEVELS, Efficiencies, groups_of
from predictor.calibration.evidence import NEARNESS, Evidence, Keys, Known, Scales
from predictor.core.caching import IdentityCache
from predictor.core.records import Device, Target, TargetId
from predictor.core.runtimes import UNKNOWN
from predictor.core.text import plural
from predictor.core.wording import percent
from predictor.cost.engine import AttentionMaps, BoundType, Explanation
from predictor.cost.operator_kinds import KINDS, kinds_of
from predictor.cost.physics import (
    TERMS,
    Rates,
    TypicalRates,
    Work,
    kinds_of_devices,
    rates_of,
    term_times,
)
from predictor.devices.catalogue import device_name
from predictor.graph.operator_graph import OperatorGraph

Floats = NDArray[np.float64]

FORMAT: Final = "ctm-estimate/1"
# The rates that the terms of the physics are work over.
RATES: Final = ("matrix_rate", "unit_rate", "bandwidth", "launch")
_MOST_GRAPHS: Final = 512
_LEAST_MS: Final = 1e-12
_NONE: Final = np.empty(0, np.int64)
_TRACKED: Final = ("unseen", "near")
# What a record was checked on, by the level of its group.
_CHECKED: Final = {
    "class": "of this kind",
    "runtime": "under this runtime",
    "kind": "of this kind under any runtime",
    "all": "of any kind",
}
# The corpus measures runs that are bound to some cores of a device as a device of these cores.
_CORES_OF_DEVICE: Final = "-cluster-"


@dataclass(frozen=True, slots=True)
class Track:
    """Errors of a group of targets on silicon, or devices, that the estimate had not seen.

    Attributes:
        silicon: kinds of silicon that it was checked on.
        devices: that it was checked on.
        error: median relative error.
        wide80, wide95: factors on the standard deviation of ln(latency) for intervals that cover
            80 and 95 %.
    """

    silicon: int
    devices: int
    error: float
    wide80: float
    wide95: float


@dataclass(frozen=True, slots=True, eq=False)
class TargetEstimates:
    """What the estimate knows of T targets before any graph.

    Attributes:
        targets: T targets.
        rates: of them, without gaps.
        factors: float64 [T, len(KINDS), len(TERMS)], of the terms.
        deviation: float64 [T], standard deviation of ln(latency).
        apart: float64 [2, T], ln of the ends of the 80 % and the 95 % interval over the median.
        shared: float64 [T], part of the variance that all graphs on the target share.
        evidence: in words, T of them.
        doubts: in words, empty for none.
    """

    targets: Sequence[Target]
    rates: Rates
    factors: Floats
    deviation: Floats
    apart: Floats
    shared: Floats
    evidence: Sequence[str]
    doubts: Sequence[str]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Efficiencies, evidence and track record, as they ship.

    Attributes:
        efficiencies: of groups of targets.
        evidence: of measured targets.
        tracks: by ``unseen`` (silicon) or ``near`` (the silicon is known), then by group.
    """

    efficiencies: Efficiencies
    evidence: Evidence
    tracks: Mapping[str, Mapping[str, Track]]
    _works: IdentityCache[Work] = field(
        default_factory=lambda: IdentityCache(_MOST_GRAPHS), init=False, repr=False
    )

    def of(self, targets: Sequence[Target]) -> TargetEstimates:
        """Return what is known of targets, cost O(T)."""
        known = self.evidence.about(Keys.of(targets))
        network = self.evidence.scales.network**2
        deviation = np.sqrt(known.variance + network)
        tracks = [
            self.track(target, is_near=near > 0)
            for target, near in zip(targets, known.nearness.tolist(), strict=True)
        ]
        wide = np.array([(track.wide80, track.wide95) for _, track in tracks]).reshape(-1, 2).T
        factors = self.efficiencies.of(targets) * np.exp(known.mean)[:, None, None]
        kinds = kinds_of_devices(targets)
        return TargetEstimates(
            targets,
            self.efficiencies.typical.complete(rates_of(targets), kinds),
            factors,
            deviation,
            wide * deviation,
            known.variance / (known.variance + network),
            [self._words(known, place, *track) for place, track in enumerate(tracks)],
            [
                self._doubt(target, is_near=near > 0)
                for target, near in zip(targets, known.nearness.tolist(), strict=True)
            ],
        )

    def track(self, target: Target, *, is_near: bool) -> tuple[str, Track]:
        """Return level and track record of the finest group of a target that has one."""
        groups, tracks = groups_of(target), self.tracks[_TRACKED[is_near]]
        level = next(name for name in reversed(LEVELS) if groups[name] in tracks)
        return level, tracks[groups[level]]

    def latency_ms(self, graph: OperatorGraph, targets: TargetEstimates) -> Floats:
        """Return the latency of a graph on each target, float64 [T]."""
        work = self._works.get((graph,), lambda: _by_kind(graph))
        times = term_times(work, targets.rates)  # [K, T, terms]
        latency: Floats = np.einsum("ktm,tkm->t", times, targets.factors)
        return latency

    def shares(
        self, graph: OperatorGraph, targets: TargetEstimates, operators: NDArray[np.int64]
    ) -> Floats:
        """Return the parts of the latency that some operators take, float64 [R, T]."""
        times = term_times(Work.of(graph).take(operators), targets.rates)  # [R, T, terms]
        factors = targets.factors[:, kinds_of(graph)[operators]]  # [T, R, terms]
        shares: Floats = np.einsum("rtm,trm->rt", times, factors)
        shares /= np.maximum(self.latency_ms(graph, targets), _LEAST_MS)
        return shares

    def with_measured(
        self, target: Target, graphs: Sequence[OperatorGraph], latency_ms: Floats
    ) -> Estimate:
        """Return the estimate with the user's measurements of one target beside the shipped ones.

        Args:
            target: that was measured.
            graphs: k graphs.
            latency_ms: float64 [k].
        """
        none = np.empty(0)
        keys, counts = Keys.of([target]), np.array([len(graphs)])
        nothing = replace(
            self.evidence, keys=keys.take(_NONE), deviation=none, networks=_NONE, rate=none
        )
        plain = replace(self, evidence=nothing)
        estimates = plain.of([target])
        estimated = np.concatenate([plain.latency_ms(graph, estimates) for graph in graphs])
        deviation = np.median(np.log(latency_ms / np.maximum(estimated, _LEAST_MS)))
        own = Evidence(
            keys, np.array([deviation]), counts, estimates.rates.matrix, self.evidence.scales
        )
        return replace(self, evidence=self.evidence.joined(own))

    def twins(self, targets: Sequence[Target]) -> list[TargetId | None]:
        """Return for each target a measured one that is as good as the same, None where none is.

        Only accelerators have such: processors with equal cores differ in all around them.
        """
        kinds = kinds_of_devices(targets)
        rates = self.efficiencies.typical.complete(rates_of(targets), kinds)
        places = self.evidence.twins(Keys.of(targets), rates.matrix)
        keys = self.evidence.keys
        return [
            None
            if place < 0 or kind != "npu"
            else TargetId.parse(
                f"{keys.device[place]}/{keys.runtime[place]}/{keys.configuration[place]}"
            )
            for place, kind in zip(places.tolist(), kinds, strict=True)
        ]

    def operator_ms(self, graph: OperatorGraph, targets: TargetEstimates) -> Floats:
        """Return the terms of each operator on the first target, float64 [N, len(TERMS)]."""
        times = term_times(Work.of(graph), targets.rates.take(np.array([0])))[:, 0]
        parts: Floats = times * targets.factors[0][kinds_of(graph)]
        return parts

    def varied_ms(
        self, graph: OperatorGraph, targets: TargetEstimates, devices: Sequence[Device]
    ) -> Floats:
        """Return the operators' times on the first target were its device one of these, [V, N].

        Its factors, and with them all that evidence tells, stay: only the rates differ.
        """
        others = [replace(targets.targets[0], device=device) for device in devices]
        rates = self.efficiencies.typical.complete(rates_of(others), kinds_of_devices(others))
        times = term_times(Work.of(graph), rates)  # [N, V, terms]
        varied: Floats = np.einsum("nvm,nm->vn", times, targets.factors[0][kinds_of(graph)])
        return varied

    def explanation(
        self, graph: OperatorGraph, targets: TargetEstimates, bound_ms: float
    ) -> Explanation:
        """Return where a graph's time goes on the first target.

        Args:
            graph: N operators.
            targets: one target.
            bound_ms: least latency, which the parts are raised to.
        """
        terms = self.operator_ms(graph, targets)
        # A graph of views alone takes no time; fmax ignores the NaN of an unknown bound.
        terms *= np.fmax(1.0, bound_ms / max(terms.sum(), _LEAST_MS))
        parts = np.stack([terms[:, :2].sum(axis=1), terms[:, 2], terms[:, 3]], axis=1)
        latency_ms = parts.sum(axis=1)
        kind = np.array([BoundType.COMPUTE, BoundType.MEMORY, BoundType.LAUNCH])[parts.argmax(1)]
        return Explanation(
            latency_ms=latency_ms,
            compute_ms=parts[:, 0],
            memory_ms=parts[:, 1],
            launch_ms=parts[:, 2],
            bound_ms=np.full(len(graph), np.nan),
            bound_type=np.where(latency_ms > 0, kind, BoundType.NONE).astype(np.int8),
            attention=_shares(terms),
        )

    def _doubt(self, target: Target, *, is_near: bool) -> str:
        """Return why the estimate of a target is of other classes, empty where it is not."""
        groups, runtime = groups_of(target), _named(target.configuration.runtime)
        if groups["runtime"] not in self.efficiencies.effects["runtime"]:
            return f"no run on {runtime} is among what it has learned from"
        if not is_near and groups["class"] not in self.tracks["unseen"]:
            return f"hardly any hardware of this kind was measured under {runtime}"
        return ""

    def _words(self, known: Known, place: int, level: str, track: Track) -> str:
        """Return from where a target's estimate comes, and how it was checked, in words."""
        near = NEARNESS[known.nearness[place]]
        checked = (
            f"checked on {plural(track.silicon, 'chip')} {_CHECKED[level]}: "
            f"median error {percent(track.error)}"
        )
        if not near:
            return f"not measured here; {checked}"
        source = int(known.nearest[place])
        keys, count = self.evidence.keys, int(self.evidence.networks[source])
        device = device_name(str(keys.device[source]).partition(_CORES_OF_DEVICE)[0])
        precision, _, threads = str(keys.configuration[source]).partition("/t")
        run = f"{_named(str(keys.runtime[source]))} {precision}"
        run += f", {plural(int(threads), 'thread')}" if threads != "0" else ""
        networks = plural(count, "network")
        whence = {
            "chip": f"from {device}, which has the same chip or cores ({run}; {networks})",
            "device": f"from this device under {run} ({networks})",
            "target": f"from {networks} measured on this device",
        }[near]
        return f"{whence}; {checked}"


def _named(runtime: str) -> str:
    return "an unknown runtime" if runtime == UNKNOWN else runtime


def _by_kind(graph: OperatorGraph) -> Work:
    return Work.of(graph).by_kind(kinds_of(graph), len(KINDS))


def _shares(terms: Floats) -> AttentionMaps:
    """Return the shares of the rates in each operator's time, and of the operators in each rate's.

    Operators and rates that take no time are level.
    """
    count, width = terms.shape
    forward, backward = np.full((count, width), 1 / width), np.full((width, count), 1 / count)
    rows, columns = terms.sum(axis=1), terms.sum(axis=0)
    forward[rows > 0] = terms[rows > 0] / rows[rows > 0, None]
    backward[columns > 0] = (terms[:, columns > 0] / columns[columns > 0]).T
    maps = forward.astype(np.float32), backward.astype(np.float32)
    return AttentionMaps(RATES, *maps, blend=1.0, residual=0.0, is_time=True)


def write_estimate(path: Path, estimate: Estimate) -> None:
    """Write an estimate as a NumPy archive: numbers as arrays, names as one JSON text."""
    efficiencies, evidence = estimate.efficiencies, estimate.evidence
    words = {
        "format": FORMAT,
        "effects": {name: list(each) for name, each in efficiencies.effects.items()},
        "level": efficiencies.level,
        "typical": asdict(efficiencies.typical),
        "scales": asdict(evidence.scales),
        "tracks": {
            name: {group: asdict(track) for group, track in tracks.items()}
            for name, tracks in estimate.tracks.items()
        },
        "keys": {name: getattr(evidence.keys, name).tolist() for name in Keys.__slots__},
    }
    effects = [row for each in efficiencies.effects.values() for row in each.values()]
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            words=np.frombuffer(json.dumps(words).encode(), np.uint8),
            mean=efficiencies.mean,
            effects=np.array(effects, np.float32),
            deviation=evidence.deviation.astype(np.float32),
            networks=evidence.networks.astype(np.int32),
            rate=evidence.rate,
        )


def read_estimate(path: Path) -> Estimate:
    """Read an estimate.

    Raises:
        OSError: the file cannot be read.
        KeyError, TypeError, ValueError, zipfile.BadZipFile: it is damaged or of another form.
    """
    try:
        # NumPy leaves a file open that is no archive, so it is opened here.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            words = json.loads(arrays["words"].tobytes())
            rows = arrays["effects"].astype(np.float64)
            mean, deviation = arrays["mean"], arrays["deviation"].astype(np.float64)
            networks, rate = arrays["networks"].astype(np.int64), arrays["rate"]
    except (EOFError, zlib.error) as error:
        raise ValueError(f"its estimate is cut short: {error}") from error
    if words["format"] != FORMAT:
        raise ValueError(f"the format of the estimate is {words['format']}")
    groups = [(level, name) for level, names in words["effects"].items() for name in names]
    effects: dict[str, dict[str, Floats]] = {level: {} for level in words["effects"]}
    for (level, name), row in zip(groups, rows, strict=True):
        effects[level][name] = row
    estimate = Estimate(
        Efficiencies(mean, effects, words["level"], TypicalRates(**words["typical"])),
        Evidence(
            Keys(**{name: np.array(values, np.str_) for name, values in words["keys"].items()}),
            deviation,
            networks,
            rate,
            Scales(**words["scales"]),
        ),
        {
            name: {group: Track(**track) for group, track in tracks.items()}
            for name, tracks in words["tracks"].items()
        },
    )
    if not _fits(estimate, rows):
        raise ValueError("the parts of its estimate do not fit")
    return estimate


def _fits(estimate: Estimate, effects: Floats) -> bool:
    """Return whether the parts of an estimate have the shapes and groups of this program."""
    efficiencies, evidence = estimate.efficiencies, estimate.evidence
    width, count = len(KINDS) * len(TERMS), (len(evidence.deviation),)
    measured = (evidence.deviation, evidence.networks, evidence.rate)
    keys = [getattr(evidence.keys, name) for name in Keys.__slots__]
    scales = np.array(list(asdict(evidence.scales).values()), np.float64)
    return (
        efficiencies.mean.shape == (width,)
        and effects.shape[1:] == (width,)
        and all(each.shape == count for each in (*measured, *keys))
        and bool((evidence.networks > 0).all())
        and not bool((evidence.rate <= 0).any())
        and all(np.isfinite(n).all() for n in (efficiencies.mean, effects, evidence.deviation))
        and bool((scales >= 0).all() and evidence.scales.network > 0)
        and efficiencies.effects.keys() <= {*GROUPS}
        and efficiencies.level.keys() == {*LEVELS}
        and all("all" in estimate.tracks[name] for name in _TRACKED)
    )

"""Devices as users write them against the same devices with all facts: how far predictions differ.

Each shipped device is stripped to name, vendor, family, clusters by name and the metrics of a
datasheet's first lines. Its name is written as four kinds of sources write it. Its design follows
from that name; three networks are predicted under the configuration of the full device.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from statistics import median
from typing import Final

from benchmarks.common import Table, parse_arguments, publish
from benchmarks.source_names import STYLES
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, Target
from predictor.core.resources import resources_dir
from predictor.devices.architectures import kind
from predictor.devices.configurations import with_implied
from predictor.devices.inference import with_inferred
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.engines import CLOSERTOME
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets

WITHIN: Final = 0.05
GOAL: Final = 0.95
NETWORKS: Final = ("mobilenetv2-1.0-224", "yolov3-tiny-416", "distilbert-base")
BASIC: Final = ("clock_mhz", "boost_clock_mhz", "core_count", "dram_bw_gbps", "dram_gb")
"""Metrics that stay, of every device."""

# What accelerators and mobile GPUs are sold by, and how one without memory is connected.
_RATES: Final = ("int8_tops", "fp16_tflops", "fp32_tflops", "host_link_gbps", "onchip_sram_kb")
_BY_RATE: Final = frozenset({Family.NPU, Family.ASIC, Family.FPGA, Family.MOBILE_GPU})
_EVIDENCE: Final = (
    "Ids are new, so that nothing measured on the device itself counts; what was measured on its "
    "silicon does, for both."
)
_FULL_ID: Final = "full-"
_HEADER: Final = (
    *("kind", "devices", "design by name"),
    *(f"within 5 %: {style}" for style in STYLES),
    *("not within: median", "without a name", "what would mend it"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A stripped device beside the full one.

    Attributes:
        full: the shipped device.
        style: how its name is written.
        is_found: whether its architecture is the stated one.
        ratio: the largest ratio of a network's latency, either way; None without a number.
        nameless: the same without any inference.
    """

    full: Device
    style: str
    is_found: bool
    ratio: float | None
    nameless: float | None

    @property
    def is_within(self) -> bool:
        """Whether all networks are within the limit."""
        return self.ratio is not None and self.ratio <= 1 + WITHIN


def main() -> int:
    """Compare all devices, print the table and write it where the options say."""
    options = parse_arguments(__doc__, repeats=1)
    models = networks()
    devices = [device for device in load_catalogue().devices if _is_stated(device)]
    differences = compare(devices, models)
    table = Table(_HEADER, list(_rows(differences, models)))
    share = share_within(differences)
    count, basic, rates = len(differences), ", ".join(BASIC), ", ".join(_RATES)
    notes = [
        f"{share:.1%} of {count} devices and names are within 5 % on all networks (goal 95 %).",
        _EVIDENCE,
        f"Metrics that stay: {basic}; of accelerators and mobile GPUs also {rates}.",
    ]
    publish(
        "inferred-devices",
        "Devices from their names",
        table,
        [
            {"devices_and_names": len(differences), "share_within": share},
            *(_figure(d) for d in differences if not (d.is_within and d.is_found)),
        ],
        options.output,
        notes,
        CLOSERTOME,
    )
    return 0 if share >= GOAL else 1


def networks() -> list[Model]:
    """Return the three sample networks."""
    return [ingest(str(resources_dir() / "samples" / f"{name}.onnx")) for name in NETWORKS]


def compare(devices: Sequence[Device], models: Sequence[Model]) -> list[Difference]:
    """Return each device that has a number, in each style beside the full one."""
    full = [replace(device, id=f"{_FULL_ID}{device.id}") for device in devices]
    latencies = _latencies(resolve_targets(full), models)
    has_number = [any(latency is not None for latency in row) for row in latencies]
    devices, full = list(compress(devices, has_number)), list(compress(full, has_number))
    targets, expected = resolve_targets(full), list(compress(latencies, has_number))
    bare = _on(targets, [stripped(device, str.strip) for device in devices])
    nameless = _latencies(bare, models)
    differences = []
    for style, rewrite in STYLES.items():
        inferred = [completed(stripped(device, rewrite)) for device in devices]
        predicted = _latencies(_on(targets, inferred), models)
        differences += [
            Difference(
                device,
                style,
                _designs(guess) == _designs(device),
                _ratio(expected[place], predicted[place]),
                _ratio(expected[place], nameless[place]),
            )
            for place, (device, guess) in enumerate(zip(devices, inferred, strict=True))
        ]
    return differences


def share_within(differences: Sequence[Difference]) -> float:
    """Return the part of devices and names whose predictions are within the limit."""
    return sum(difference.is_within for difference in differences) / len(differences)


def stripped(device: Device, rewrite: Callable[[str], str]) -> Device:
    """Return a device as a user writes it, its name as a source writes it."""
    names = (*BASIC, *(_RATES if device.family in _BY_RATE else ()))
    clusters = tuple(
        Cluster(name=cluster.name, cores=cluster.cores, clock_mhz=cluster.clock_mhz)
        for cluster in device.clusters
    )
    return Device(
        id="a-users-device",
        name=rewrite(device.name),
        vendor=device.vendor,
        family=device.family,
        metrics={name: device.metrics[name] for name in names if name in device.metrics},
        clusters=clusters,
    )


def completed(device: Device) -> Device:
    """Return a device with the fields and configurations that its name implies."""
    return with_implied(with_inferred(device))


def _on(targets: Sequence[Target], devices: Sequence[Device]) -> list[Target]:
    """Return other devices under the configurations of targets, which they are said to run."""
    return [
        Target(
            replace(
                device,
                id=f"stripped-{place}",
                configurations=(target.configuration, *device.configurations),
            ),
            target.configuration,
        )
        for place, (target, device) in enumerate(zip(targets, devices, strict=True))
    ]


def _latencies(targets: Sequence[Target], models: Sequence[Model]) -> list[list[float | None]]:
    """Return the latencies of each target, one a model."""
    predictions = predict(models, targets)
    count = len(targets)
    return [[prediction.latency_ms for prediction in predictions[at::count]] for at in range(count)]


def _ratio(expected: Sequence[float | None], predicted: Sequence[float | None]) -> float | None:
    """Return the largest ratio of two latencies; None where only one of them is a number."""
    ratios = [1.0]
    for first, second in zip(expected, predicted, strict=True):
        if first is None:
            continue
        if second is None:
            return None
        ratios.append(max(first / second, second / first))
    return max(ratios)


def _rows(differences: Sequence[Difference], models: Sequence[Model]) -> Iterator[tuple[str, ...]]:
    kinds = sorted({kind(difference.full) for difference in differences})
    for name in (*kinds, "all"):
        of_kind = [d for d in differences if name in {"all", kind(d.full)}]
        wide = [d for d in of_kind if not d.is_within]
        ratios = [d.ratio for d in wide if d.ratio is not None]
        nameless = [d for d in of_kind if d.nameless is not None and d.nameless <= 1 + WITHIN]
        yield (
            name,
            str(len(of_kind) // len(STYLES)),
            f"{sum(d.is_found for d in of_kind) / len(of_kind):.0%}",
            *(f"{share_within([d for d in of_kind if d.style == s]):.0%}" for s in STYLES),
            f"{median(ratios) - 1:+.0%}" if ratios else "",
            f"{len(nameless) / len(of_kind):.0%}",
            "" if name == "all" else ", ".join(_mending(wide, models)),
        )


def _mending(wide: Sequence[Difference], models: Sequence[Model]) -> list[str]:
    """Return the facts that bring most of the devices nearest to the full ones, with counts."""
    counts: dict[str, int] = {}
    for difference in {d.full.id: d for d in wide}.values():
        best = _best_fact(difference, models)
        counts[best] = counts.get(best, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return [f"{name} ({count})" for name, count in ordered[:3]]


def _best_fact(difference: Difference, models: Sequence[Model]) -> str:
    """Return the one fact of the full device that brings the stripped one nearest to it."""
    full, rewrite = difference.full, STYLES[difference.style]
    (target,) = resolve_targets([replace(full, id=f"{_FULL_ID}{full.id}")])
    guess = stripped(full, rewrite)
    candidates = {"nothing alone": completed(guess)}
    for name in full.metrics.keys() - guess.metrics.keys():
        metrics = {**guess.metrics, name: full.metrics[name]}
        candidates[name] = completed(replace(guess, metrics=metrics))
    candidates["architecture"] = completed(
        replace(guess, architecture=full.architecture, clusters=full.clusters)
    )
    candidates["instruction sets"] = replace(
        candidates["architecture"], instruction_sets=full.instruction_sets
    )
    candidates["chip"] = replace(completed(guess), chip=full.chip)
    candidates["measured"] = replace(completed(guess), measured=full.measured)
    (expected,) = _latencies([target], models)
    targets = [_on([target], [device])[0] for device in candidates.values()]
    targets = [
        replace(t, device=replace(t.device, id=f"candidate-{place}"))
        for place, t in enumerate(targets)
    ]
    ratios = [_ratio(expected, latencies) for latencies in _latencies(targets, models)]
    scores = {name: r or 1e9 for name, r in zip(candidates, ratios, strict=True)}
    return min(scores, key=lambda name: scores[name])


def _designs(device: Device) -> list[str]:
    return [cluster.architecture for cluster in device.clusters] or [device.architecture]


def _is_stated(device: Device) -> bool:
    return any(_designs(device))


def _figure(difference: Difference) -> Mapping[str, object]:
    return {
        "device": difference.full.id,
        "kind": kind(difference.full),
        "style": difference.style,
        "name": STYLES[difference.style](difference.full.name),
        "design_found": difference.is_found,
        "ratio": difference.ratio,
        "ratio_without_inference": difference.nameless,
    }


if __name__ == "__main__":
    sys.exit(main())

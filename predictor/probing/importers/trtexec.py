"""TensorRT's trtexec: ``--exportTimes`` and ``--exportProfile``, JSON arrays with times in ms.

Written by ``samples/common/sampleReporting.cpp``. Versions before 8.6 export the warm-up runs too;
they start within trtexec's default warm-up of 200 ms, later versions leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Entry, Source, median_ns
from predictor.probing.operator_times import OperatorTime

_WARM_UP_MS = 200.0
_START_KEYS = ("startH2dMs", "startInMs")  # newer and older versions
_SUM_TOLERANCE = 0.02
_NOTE_SHARES = (
    "This file holds times of layers under the profiler. They give shares, not the latency: "
    "import the file of --exportTimes for that."
)


def recognises_times(source: Source) -> bool:
    """Whether a file looks like one of ``--exportTimes``."""
    head = source.text[:4096]
    return head.lstrip().startswith("[") and '"latencyMs"' in head and '"computeMs"' in head


def recognises_profile(source: Source) -> bool:
    """Whether a file looks like one of ``--exportProfile``."""
    head = source.text[:4096]
    return head.lstrip().startswith("[") and '"count"' in head and '"averageMs"' in head


def parse_times(source: Source) -> Reading:
    """Read the host latency of each query: transfers in and out and the time on the GPU.

    Raises:
        InputError: the file is damaged, or holds no query after the warm-up.
    """
    entries = list(source.elements())
    if not entries:
        raise source.error("it holds no query", "run trtexec for longer")
    queries = [
        (entry, source.table(f"line {entry.line}", entry.value, "a query")) for entry in entries
    ]
    before_ms = 0.0
    samples: list[int] = []
    compute: list[int] = []
    warm_ups = 0
    for entry, query in queries:
        place = f"line {entry.line}"
        start_ms = source.quantity(place, query.get("startComputeMs"), "startComputeMs")
        before_ms = _later(source, place, query, before_ms)
        latency_ms = source.latency_ms(place, query.get("latencyMs"), 1.0, "latencyMs")
        compute_ms = source.latency_ms(place, query.get("computeMs"), 1.0, "computeMs")
        source.ordered(place, {"computeMs": compute_ms, "latencyMs": latency_ms})
        if start_ms < _WARM_UP_MS:
            warm_ups += 1
            continue
        samples.append(round(latency_ms * 1e6))
        compute.append(round(compute_ms * 1e6))
    if not samples:
        raise source.error("all its queries belong to the warm-up", "run trtexec for longer")
    return Reading((_times(entries[0], samples, compute, warm_ups),))


def _later(source: Source, place: str, query: Mapping[str, object], before_ms: float) -> float:
    """Return when the query was enqueued; trtexec sorts by it, so two runs in a file show."""
    key = next((key for key in _START_KEYS if key in query), None)
    if key is None:
        return before_ms
    start_ms = source.quantity(place, query[key], key)
    if start_ms < before_ms:
        raise source.error_at(
            place, f"{key} goes back, so another run starts here", "import one at a time"
        )
    return start_ms


def _times(
    first: Entry, samples: Sequence[int], compute: Sequence[int], warm_ups: int
) -> ImportedLatency:
    return ImportedLatency(
        network="",
        place=f"line {first.line}",
        value_ms=median_ns(samples) / 1e6,
        statistic=Statistic.MEDIAN,
        samples_ns=tuple(samples),
        runs=len(samples),
        runtime="tensorrt",
        facts={
            "boundary": "transfer to the GPU, computation, transfer back",
            "gpu_compute_median_ms": f"{median_ns(compute) / 1e6:.6g}",
            "warm_ups_left_out": str(warm_ups),
        },
    )


def parse_profile(source: Source) -> Reading:
    """Read the layers: the median of each where the version prints it, else the mean.

    Raises:
        InputError: the file is damaged, holds no layer, or its shares do not sum up to 100 %.
    """
    entries = list(source.elements())
    count = _iterations(source, entries)
    if len(entries) < 2:
        raise source.error(
            "it holds no layer", "profile with --exportProfile and --separateProfileRun"
        )
    layers: list[OperatorTime] = []
    percent = 0.0
    for entry in entries[1:]:
        place = f"line {entry.line}"
        layer = source.table(place, entry.value, "a layer")
        if "count" in layer:
            raise source.error_at(
                place, "a second count starts another profile", "import one at a time"
            )
        name = layer.get("name")
        if not isinstance(name, str):
            raise source.error_at(place, "the layer has no name")
        key = "medianMs" if "medianMs" in layer else "averageMs"
        layers.append(OperatorTime(name, "", source.duration_ms(place, layer.get(key), 1.0, key)))
        total_ms = source.quantity(place, layer.get("timeMs"), "timeMs")
        mean_ms = source.duration_ms(place, layer.get("averageMs"), 1.0, "averageMs")
        source.ordered(place, {"averageMs": mean_ms, "timeMs": total_ms})
        percent += source.quantity(place, layer.get("percentage"), "percentage")
    if abs(percent / 100 - 1) > _SUM_TOLERANCE:
        raise source.error(f"the shares of its layers sum up to {percent:.4g} %, not 100 %")
    latency = ImportedLatency(
        network="",
        place=f"line {entries[0].line}",
        value_ms=None,
        statistic=None,
        runs=count,
        runtime="tensorrt",
        profiled=True,
        operators=tuple(layers),
    )
    return Reading((latency,), (_NOTE_SHARES,))


def _iterations(source: Source, entries: Sequence[Entry]) -> int:
    if not entries:
        raise source.error("it is an empty array")
    place = f"line {entries[0].line}"
    first = source.table(place, entries[0].value, "the first entry")
    return source.count(place, first.get("count"), "count")

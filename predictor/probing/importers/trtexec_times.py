"""TensorRT's ``trtexec --exportTimes``: a JSON array of queries with times in ms.

Written by ``samples/common/sampleReporting.cpp``. Versions before 8.6 export the warm-up runs too;
they start within trtexec's default warm-up of 200 ms, later versions leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Entry, Source, median_ns

_WARM_UP_MS = 200.0
_START_KEYS = ("startH2dMs", "startInMs")  # newer and older versions


def recognises(source: Source) -> bool:
    """Whether a file looks like one of ``--exportTimes``."""
    head = source.text[:4096]
    return head.lstrip().startswith("[") and '"latencyMs"' in head and '"computeMs"' in head


def parse(source: Source) -> Reading:
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

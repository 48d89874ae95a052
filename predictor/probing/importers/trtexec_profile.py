"""TensorRT's ``trtexec --exportProfile``: a JSON array of layers with times in ms."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.probing.importers.records import ImportedLatency, Reading
from predictor.probing.importers.source import Entry, Source
from predictor.probing.operator_times import OperatorTime

_SUM_TOLERANCE = 0.02
_NOTE_SHARES = (
    "This file holds times of layers under the profiler. They give shares, not the latency: "
    "import the file of --exportTimes for that."
)


def recognises(source: Source) -> bool:
    """Whether a file looks like one of ``--exportProfile``."""
    head = source.text[:4096]
    return head.lstrip().startswith("[") and '"count"' in head and '"averageMs"' in head


def parse(source: Source) -> Reading:
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

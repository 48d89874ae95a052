"""``benchmark_results.json`` of ExecuTorch's benchmark app for Android (minibench): an array.

An entry is a metric of a model; its unit stands in its name. The app of 2024 (``actual``) and those
since (``actualValue``, ``deviceInfo``) differ in names. It splits the name of a file at ``_`` into
model, backend and quantization, also where the file is not named so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from predictor.core.records import Precision
from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source

_MEAN = "avg_inference_latency(ms)"
_METRICS = (_MEAN, "trimmean_inference_latency(ms)", "model_load_time(ms)")
_PRECISIONS = {"fp32": Precision.FP32, "fp16": Precision.FP16, "q8": Precision.INT8}
_ACTION = "run the app again, and import the file as it wrote it"
_NOTE = "ExecuTorch's app states no number of threads."


@dataclass(slots=True, kw_only=True)
class _Model:
    place: str
    device: str
    backend: str
    quantization: str
    times: dict[str, float] = field(default_factory=dict)


def recognises(source: Source) -> bool:
    """Whether a file looks like the results of the app."""
    return source.text.lstrip().startswith("[") and '"benchmarkModel"' in source.text


def parse(source: Source) -> Reading:
    """Read the mean of each model.

    Raises:
        InputError: the file is damaged, a model did not load, or is a language model.
    """
    models: dict[tuple[str, str, str], _Model] = {}
    for entry in source.elements():
        place = f"line {entry.line}"
        row = source.table(place, entry.value, "a metric")
        key, model = _model(source, place, row)
        _enter(source, place, row, models.setdefault(key, model))
    for (name, *_), model in models.items():
        if _MEAN not in model.times:
            raise source.error_at(model.place, f"{name} has no {_MEAN}", _ACTION)
    if not models:
        raise source.error("it holds no metric", _ACTION)
    latencies = tuple(_latency(name, model) for (name, *_), model in models.items())
    return Reading(latencies, (_NOTE,))


def _model(
    source: Source, place: str, row: Mapping[str, object]
) -> tuple[tuple[str, str, str], _Model]:
    """Return the key of a metric's model (name, run, device), and the model."""
    model = source.table(place, row.get("benchmarkModel"), "benchmarkModel")
    words = [str(model.get(key) or "") for key in ("name", "backend", "quantization")]
    name, backend, quantization = words
    if quantization not in _PRECISIONS:
        name, backend, quantization = "_".join(word for word in words if word), "", ""
    where = row
    if "deviceInfo" in row:
        where = source.table(place, row["deviceInfo"], "deviceInfo")
    device = " ".join(str(where[key]) for key in ("device", "arch") if where.get(key))
    record = _Model(place=place, device=device, backend=backend, quantization=quantization)
    return (name, backend + "_" + quantization, device), record


def _enter(source: Source, place: str, row: Mapping[str, object], model: _Model) -> None:
    """Enter a metric of a model."""
    metric = str(row.get("metric"))
    value = row.get("actualValue", row.get("actual"))
    if metric == "token_per_sec":
        reason = "it is of a language model, whose runs are of many tokens"
        raise source.error_at(place, reason, "import runs of networks without a tokenizer")
    if metric == "load_status" and value != 0:
        raise source.error_at(place, f"the model did not load (status {value})", _ACTION)
    if metric in model.times:
        raise source.error_at(place, f"{metric} stands twice for a model", _ACTION)
    if metric in _METRICS:
        model.times[metric] = source.latency_ms(place, value, 1.0, metric)
        model.place = place if metric == _MEAN else model.place


def _latency(name: str, model: _Model) -> ImportedLatency:
    further = {key.removesuffix("(ms)"): time for key, time in model.times.items() if key != _MEAN}
    facts = facts_ms(further)
    if model.backend:
        facts["backend"] = model.backend
    return ImportedLatency(
        network=name,
        place=model.place,
        value_ms=model.times[_MEAN],
        statistic=Statistic.MEAN,
        runtime="executorch",
        precision=_PRECISIONS.get(model.quantization),
        device=model.device,
        facts=facts,
    )

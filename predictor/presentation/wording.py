"""Latencies, intervals, times, configurations and names from files, written for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from predictor.core.prediction import Prediction
from predictor.core.records import Configuration, Device, OperatingPoint
from predictor.core.run_facts import MemoryUse, Unsupported
from predictor.core.runtimes import UNKNOWN
from predictor.core.text import plural, printable
from predictor.core.units import GIB, LatencyUnit, format_bytes, significant

NOTHING = "—"
QUANTISED = "needs a quantised model"
FEW_CHECKED = "few chips of its kind were checked"
UNSTABLE: Final = "unstable"
"""The word of a number that rests on a probing that failed its own checks."""
_ADAPTATIONS: Final[Mapping[str, str]] = {
    "posterior": "posterior",
    "operators": "operator times",
    "film": "FiLM and posterior",
}
_ADAPTED: Final[Mapping[str, str]] = {
    "posterior": "Bayesian posterior over",
    "operators": "operators timed in",
    "film": "FiLM fine-tuned, then a Bayesian posterior over",
}
_LONGEST_NAME = 240
_MAX_DEVICES: Final = 2  # by name; more of them are counted
_ID_DIGITS = 8
_TYPES_NAMED = 3
# Under this a rate or a latency has no digits left that mean anything.
_LARGEST_WRITTEN = 1e15


def device_names(devices: Iterable[Device]) -> str:
    """Return the names of one or two devices, or the number of more."""
    names = list(dict.fromkeys(device.name for device in devices))
    return " and ".join(names) if len(names) <= _MAX_DEVICES else plural(len(names), "device")


def shown(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name from a file as it is shown: escaped, the middle of a very long one left out.

    It is cut before it is escaped: a name may be megabytes long and is requested at every paint.
    """
    if len(text) > longest:
        half = longest // 2
        text = f"{text[:half]}…{text[-half:]}"
    return printable(text)


def model_name(label: str) -> str:
    """Return a model's label for where room is short: without its ending, fit to be shown."""
    return shown(label.removesuffix(".onnx"))


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with ``digits`` significant digits, a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if abs(value) >= _LARGEST_WRITTEN:
        return f"{value:.2e}"
    return significant(value, digits)


def plain_number(value: float | None) -> str:
    """Write a number for another program: six significant digits, empty where there is none."""
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:.6g}"


def batch_of(configuration: Configuration) -> int:
    """Return the batch that a rate counts; one that is not resolved counts as one."""
    return max(configuration.batch, 1)


def in_unit(latency_ms: float | None, unit: LatencyUnit, batch: int) -> float | None:
    """Return a latency in ``unit``; None where there is none or it has no finite value there."""
    if latency_ms is None:
        return None
    value = unit.from_ms(latency_ms, batch)
    return value if math.isfinite(value) else None


def all_cores(count: int) -> str:
    """Write what no number of threads stands for: ``all 4 cores``; 0 where it is not known."""
    return f"all {plural(count, 'core')}" if count else "all cores"


def latency_text(latency_ms: float | None, unit: LatencyUnit, batch: int = 1) -> str:
    """Write a latency with its unit: ``12.3 ms``, ``81.3 FPS``."""
    value = in_unit(latency_ms, unit, batch)
    return NOTHING if value is None else f"{number(value)} {unit}"


def limit_sign(prediction: Prediction, unit: LatencyUnit = LatencyUnit.MS) -> str:
    """Return the sign before a number that operators of unknown cost are missing from.

    ``≥ `` before a time, ``≤ `` before a rate, empty where all is counted.
    """
    if not prediction.is_lower_limit or prediction.latency_ms is None:
        return ""
    return "≤ " if unit is LatencyUnit.FPS else "≥ "


def p50_number(prediction: Prediction, unit: LatencyUnit = LatencyUnit.MS) -> str:
    """Write the P50 without its unit: ``12.3``, ``≥ 12.3`` where it is a lower limit."""
    value = in_unit(prediction.latency_ms, unit, batch_of(prediction.configuration))
    return NOTHING if value is None else f"{limit_sign(prediction, unit)}{number(value)}"


def p50_text(prediction: Prediction, unit: LatencyUnit = LatencyUnit.MS) -> str:
    """Write the P50 with its unit: ``12.3 ms``, ``≥ 12.3 ms`` where it is a lower limit."""
    text = p50_number(prediction, unit)
    return text if text == NOTHING else f"{text} {unit}"


def interval_ms(prediction: Prediction, percent: int = 80) -> tuple[float | None, float | None]:
    """Return the ends of the 80 or 95 % interval in ms.

    None for engines that give none, and for a lower limit: its interval is that of a part.
    """
    if prediction.is_lower_limit:
        return None, None
    if percent == 95:
        return prediction.low95_ms, prediction.high95_ms
    return prediction.low80_ms, prediction.high80_ms


def interval_in_unit(
    prediction: Prediction, unit: LatencyUnit, percent: int = 80
) -> tuple[float | None, float | None]:
    """Return the 80 or 95 % interval in ``unit``, the smaller end first.

    A rate turns its ends round.
    """
    batch = batch_of(prediction.configuration)
    low, high = (in_unit(end_ms, unit, batch) for end_ms in interval_ms(prediction, percent))
    return (high, low) if unit is LatencyUnit.FPS else (low, high)


def interval_text(prediction: Prediction, unit: LatencyUnit, percent: int = 80) -> str:
    """Write the 80 or 95 % interval without its unit: ``10.1 – 15.2``, else a dash."""
    low, high = interval_in_unit(prediction, unit, percent)
    if low is None or high is None:
        return NOTHING
    return f"{number(low)} – {number(high)}"


def shape_text(shape: Iterable[int | str]) -> str:
    """Write a shape: ``1×3×224×224``; a scalar's is ``scalar``."""
    return "×".join(shown(str(dim)) for dim in shape) or "scalar"


def threads_text(threads: int) -> str:
    """Write a count of threads; 0 is that of a device where threads mean nothing, a GPU."""
    return NOTHING if threads == 0 else str(threads)


def batch_text(batch: int) -> str:
    """Write a batch; 0 means the model's own."""
    return "default" if batch == 0 else str(batch)


def runtime_text(configuration: Configuration) -> str:
    """Write runtime and precision as they stand beside a device: ``tensorrt fp16``."""
    runtime = configuration.runtime
    precision = configuration.precision.value
    return precision if runtime == UNKNOWN else f"{runtime} {precision}"


def rest_text(configuration: Configuration) -> str:
    """Write what ``runtime_text`` leaves out: ``4 threads, batch 8``; empty where nothing is."""
    words = [plural(configuration.threads, "thread")] if configuration.threads else []
    words += [f"batch {configuration.batch}"] if configuration.batch > 1 else []
    return ", ".join(words)


def are_alike(configurations: Iterable[Configuration]) -> bool:
    """Whether all run under one runtime in one precision, so that nothing need name them."""
    return (
        len({(configuration.runtime, configuration.precision) for configuration in configurations})
        < 2
    )


def configuration_text(configuration: Configuration) -> str:
    """Write a configuration in a few words: ``onnxruntime, fp32, 4 threads, batch 8``.

    Unknown and usual values are left out: runtime ``unknown``, all cores, batch 1.
    """
    c = configuration
    words = [] if c.runtime == UNKNOWN else [c.runtime]
    return ", ".join(filter(None, [*words, c.precision.value, rest_text(c)]))


def target_text(configuration: Configuration) -> str:
    """Write the configuration of a target; a batch that is asked of it is named, 1 too."""
    words = configuration_text(configuration)
    return f"{words}, batch 1" if configuration.batch == 1 else words


def run_text(configuration: Configuration, point: OperatingPoint | None) -> str:
    """Write a configuration with the operating point that it runs at, if any."""
    words = configuration_text(configuration)
    return words if point is None else f"{words}, {shown(point.name)}"


def runs_text(configurations: Iterable[Configuration]) -> str:
    """Write what a device runs, by runtime: ``onnxruntime fp32, int8; pytorch fp32``."""
    by_runtime: dict[str, list[str]] = {}
    for c in configurations:
        by_runtime.setdefault(c.runtime, []).append(configuration_text(replace(c, runtime=UNKNOWN)))
    unnamed = "another runtime " if len(by_runtime) > 1 else ""
    return "; ".join(
        f"{unnamed if runtime == UNKNOWN else f'{runtime} '}{', '.join(words)}"
        for runtime, words in by_runtime.items()
    )


def memory_text(fits: bool | None, memory: MemoryUse | None = None) -> str:
    """Write the memory of a run, or in words whether it fits: ``46.3 MB of 8 GiB``."""
    if memory is None:
        return "not known" if fits is None else "fits" if fits else "does not fit"
    peak = format_bytes(memory.peak_bytes)
    has = "" if memory.device_bytes is None else f" of {number(memory.device_bytes / GIB)} GiB"
    return f"{peak}{has}"


def memory_details(prediction: Prediction) -> str:
    """Write the memory of a prediction with its parts, and whether it fits."""
    fits, memory = prediction.fits_memory, prediction.memory
    if memory is None:
        return memory_text(fits)
    weights, live = format_bytes(memory.weights_bytes), format_bytes(memory.activations_bytes)
    ends = {None: "", True: ", fits", False: ", does not fit"}[fits]
    return f"{memory_text(fits, memory)}{ends}; {weights} weights, {live} activations"


def unsupported_text(unsupported: Unsupported) -> str:
    """Write which operators a runtime does not run, and what happens to them."""
    few = unsupported.types[:_TYPES_NAMED]
    types = ", ".join(map(shown, few))
    if len(unsupported.types) > len(few):
        types += ", …"
    operators = plural(len(unsupported.operators), "operator")
    runtime, then = unsupported.runtime, unsupported.consequence
    return f"{operators} not supported by {runtime} ({types}): {then}"


def basis_text(prediction: Prediction) -> str:
    """Name the basis of a number, and whether it is unstable; a dash where there is no number."""
    if prediction.basis is None:
        return NOTHING
    words = prediction.basis.words
    return f"{words}, {UNSTABLE}" if prediction.unstable else words


def adaptation_name(adaptation: str | None) -> str:
    """Name an adaptation as of ``Prediction.adaptation`` in a word or two; a dash for none."""
    return NOTHING if adaptation is None else _ADAPTATIONS[adaptation]


def adaptation_text(prediction: Prediction) -> str:
    """Return in words the adaptation of a number to its target; empty without one."""
    if prediction.adaptation is None:
        return ""
    measured = "measurements of this target"
    if prediction.signature:
        measured = f"your signature {prediction.signature[:_ID_DIGITS]}"
    return f"{_ADAPTED[prediction.adaptation]} {measured}"


def signed(value: float | None) -> str:
    """Write a difference with three significant digits and its sign: ``−3.7``, ``+12``, ``0``."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = number(abs(value))
    return text if text == "0" else f"{'+' if value > 0 else '−'}{text}"


def percent(part: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """Write a part as a percentage: ``12.3 %``, ``−4.1 %``; with ``signed``, ``+8 %`` too."""
    if part is None or not math.isfinite(part):
        return NOTHING
    size = number(abs(part) * 100, digits)
    sign = "" if size == "0" else "−" if part < 0 else "+" if signed else ""
    return f"{sign}{size} %"


def change_text(ratio: float | None) -> str:
    """Write the ratio of two times: ``−23.4 %``, ``+8 %``, ``12×`` from tenfold on."""
    if ratio is None or not math.isfinite(ratio):
        return NOTHING
    return f"{number(ratio)}×" if ratio >= 10 else percent(ratio - 1, signed=True)


def local_time(time_ns: int) -> str:
    """Write a time of the store as the day and minute of this place."""
    try:
        return f"{datetime.fromtimestamp(time_ns / 1e9).astimezone():%Y-%m-%d %H:%M}"
    # Which of them a time outside the calendar raises depends on the platform.
    except (OverflowError, ValueError, OSError):
        return NOTHING

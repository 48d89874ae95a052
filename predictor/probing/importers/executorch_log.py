"""Log of ExecuTorch's ``executor_runner``, and of ``qnn_executor_runner``, in ms.

From 0.6 on ``examples/portable/executor_runner`` says how long its runs took together; the newest
prints each of them too. The runner of the Qualcomm backend prints the mean. Before 0.6 the log has
no time. The first run, which is the slowest, is one of them.
"""

from __future__ import annotations

import re

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source, median_ns

_MODEL = re.compile(r"\bModel file (?P<path>\S+) is loaded\.")
_RUN = re.compile(r"^\s*Iteration \d+ of \d+: (?P<value>\S+) ms\s*$")
_TOTAL = re.compile(
    r"^\s*Model executed successfully (?P<count>\d+) time\(s\) in (?P<value>\S+) ms\."
)
_MEAN = re.compile(r"^\s*(?P<count>\d+) inference took (?P<value>\S+) ms, avg (?P<mean>\S+) ms\s*$")
_DONE = "Model executed successfully"
_ACTION = "run executor_runner of ExecuTorch 0.6 or newer with --num_executions=100"
_FIRST = "The first run is in the mean; with many runs it counts for little."
_ONCE = "It is one run, the first, which is the slowest."


def recognises(source: Source) -> bool:
    """Whether a file looks like a log of a runner of ExecuTorch."""
    text = source.text
    return "executor_runner" in text and (_DONE in text or " inference took " in text)


def parse(source: Source) -> Reading:
    """Read each run of the runner: the median of its runs without the first, else their mean.

    Raises:
        InputError: a run has no time, or its times contradict each other.
    """
    latencies: list[ImportedLatency] = []
    notes: list[str] = []
    samples: list[int] = []
    network = ""
    for number, line in source.messages():
        place = f"line {number}"
        if model := _MODEL.search(line):
            network, samples = model["path"], []
        elif run := _RUN.match(line):
            samples.append(round(1e6 * source.latency_ms(place, run["value"], 1.0, "a run")))
        elif total := _TOTAL.match(line) or _MEAN.match(line):
            latency, note = _latency(source, place, total, network, samples)
            latencies.append(latency)
            if note and note not in notes:
                notes.append(note)
            samples = []
        elif _DONE in line and " ms" in line:
            raise source.error_at(place, "the line of the result is damaged", _ACTION)
    if samples:
        raise source.error("it ends before the time of all runs", _ACTION)
    if not latencies:
        raise source.error("it states no time of a run", _ACTION)
    return Reading(tuple(latencies), tuple(notes))


def _latency(
    source: Source, place: str, total: re.Match[str], network: str, samples: list[int]
) -> tuple[ImportedLatency, str]:
    """Return the result of a run of the tool, and a sentence on its first run."""
    count = source.count(place, total["count"], "the number of runs")
    mean_ms = source.latency_ms(place, total["value"], 1.0, "the time of all runs") / count
    stated = total.groupdict().get("mean")
    if stated is not None:
        stated_ms = source.latency_ms(place, stated, 1.0, "the mean")
        source.ordered(place, {"time over runs": mean_ms, "mean": stated_ms})
        source.ordered(place, {"mean": stated_ms, "time over runs": mean_ms})
    if samples and len(samples) != count:
        raise source.error_at(place, f"it has {len(samples)} of {count} runs", _ACTION)
    later = tuple(samples[1:])
    note = "" if later else _FIRST if count > 1 else _ONCE
    return (
        ImportedLatency(
            network=network,
            place=place,
            value_ms=median_ns(later) / 1e6 if later else mean_ms,
            statistic=Statistic.MEDIAN if later else Statistic.MEAN,
            samples_ns=later,
            runs=len(later) or count,
            runtime="executorch",
            facts={"mean_ms": f"{mean_ms:.6g}"},
        ),
        note,
    )

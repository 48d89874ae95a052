"""Report of OpenVINO's ``benchmark_app -report_type no_counters``: JSON, or CSV with semicolons.

Written by ``samples/cpp/benchmark_app/statistics_report.cpp`` since 2022.1 (``-json_stats`` for
JSON), and as CSV by ``tools/benchmark_tool``; both have the options of the command, the set-up and
the results, in ms.
"""

from __future__ import annotations

from collections.abc import Mapping

from predictor.probing.importers.openvino_log import check_alone
from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source

_SETUP, _RESULTS = "configuration_setup", "execution_results"
_SECTIONS = {"Configuration setup": _SETUP, "Execution results": _RESULTS}
_KEYS = {
    "topology": "topology",
    "batch size": "batch_size",
    "number of parallel infer requests": "nireq",
    "total number of iterations": "iterations_num",
    "median latency (ms)": "latency_median",
    "percentile boundary": "percentile_boundary",
    "average latency (ms)": "latency_avg",
    "avg latency (ms)": "latency_avg",
    "min latency (ms)": "latency_min",
    "max latency (ms)": "latency_max",
}
_ACTION = "import the benchmark_report that benchmark_app wrote"
_Section = Mapping[str, object]


def recognises(source: Source) -> bool:
    """Whether a file looks like a report of benchmark_app."""
    text = source.text
    if source.looks_like_json:
        return f'"{_RESULTS}"' in text and f'"{_SETUP}"' in text
    return all(f"{title}\n" in text.replace("\r", "") for title in _SECTIONS)


def parse(source: Source) -> Reading:
    """Read the median of a run with one request at a time, its mean without a median.

    Raises:
        InputError: the report is damaged, has no latency, or several requests ran at once.
    """
    setup, results = _of_json(source) if source.looks_like_json else _of_table(source)
    check_alone(source, _SETUP, setup.get("nireq"), "nireq")
    times = {
        name: source.latency_ms(_RESULTS, results[key], 1.0, key)
        for name in ("min", "median", "max", "avg")
        if (key := f"latency_{name}") in results
    }
    # Another percentile stands under the key of the median.
    if str(results.get("percentile_boundary", 50)) != "50":
        times.pop("median", None)
    name = "median" if "median" in times else "avg"
    if name not in times:
        raise source.error("it has no latency", _ACTION)
    source.ordered(_RESULTS, {key: times[key] for key in ("min", name, "max") if key in times})
    runs, batch = results.get("iterations_num"), setup.get("batch_size")
    return Reading(
        (
            ImportedLatency(
                network="",
                place=_RESULTS,
                value_ms=times[name],
                statistic=Statistic.MEDIAN if name == "median" else Statistic.MEAN,
                runs=None if runs is None else source.count(_RESULTS, runs, "iterations_num"),
                runtime="openvino",
                batch=None if batch is None else source.count(_SETUP, batch, "batch_size"),
                facts={
                    **facts_ms(times),
                    "topology": str(setup.get("topology", "")),
                },
            ),
        )
    )


def _of_json(source: Source) -> tuple[_Section, _Section]:
    document = source.table("", source.document, "the document")
    setup = source.table(_SETUP, document.get(_SETUP), _SETUP)
    return setup, source.table(_RESULTS, document.get(_RESULTS), _RESULTS)


def _of_table(source: Source) -> tuple[_Section, _Section]:
    """Return the sections under the keys of the JSON form."""
    sections: dict[str, dict[str, object]] = {_SETUP: {}, _RESULTS: {}}
    section: dict[str, object] = {}
    for number, line in source.lines():
        title, separator, value = line.partition(";")
        if not separator:
            section = sections.get(_SECTIONS.get(line.strip(), ""), {})
        elif (key := _KEYS.get(title.strip().lower())) is not None:
            if key in section:
                raise source.error_at(f"line {number}", f"{title} stands twice", _ACTION)
            section[key] = value.strip().rstrip(";")
    return sections[_SETUP], sections[_RESULTS]

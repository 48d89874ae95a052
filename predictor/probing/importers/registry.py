"""The formats that can be imported, and the one way in: a file is known by its content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from predictor.core import plugins
from predictor.core.files import read_bytes
from predictor.probing.importers import (
    aihub_profile,
    csv_table,
    ctm_results,
    executorch_inspector,
    executorch_log,
    executorch_minibench,
    hailo_log,
    mlperf_log,
    mnn_log,
    model_analyzer_csv,
    ncnn_log,
    onnxruntime_log,
    onnxruntime_profile,
    openvino_log,
    openvino_report,
    perf_analyzer_log,
    qnn_profile,
    rknn_log,
    snpe_profile,
    tflite_log,
    trtexec_log,
    trtexec_profile,
    trtexec_times,
    ultralytics_table,
)
from predictor.probing.importers.records import ImportedFile, ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import LONGEST_LINE, MAX_BYTES, Source
from predictor.probing.runner.settings import LONGEST_NAME

NAME = "typed"
_LONGEST = 500
# Both signs for micro, U+00B5 and U+03BC: keyboards and tools write either.
_PER_MS = {"ns": 1e6, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1.0, "s": 1e-3}
_LINE = re.compile(
    r"^(?P<network>\S.*?)\s*[\s:=,;]\s*(?P<number>[-+]?[\d.,]\S*?)\s*(?P<unit>[a-zA-Zµμ]*)$"
)
_ACTION = "write one network a line, as: resnet50 23.4 ms"


def parse_typed(text: str) -> Reading:
    """Read typed medians; ms where no line names a unit. Empty lines and ``#`` comments are free.

    Raises:
        InputError: a line is no name with a time, some lines name a unit and others do not, or a
            network stands twice.
    """
    source = Source("the typed values", text)
    latencies: list[ImportedLatency] = []
    line_of: dict[str, int] = {}
    units: dict[bool, int] = {}
    for number, line in source.lines():
        content = line.split("#", 1)[0].strip()
        if not content:
            continue
        place = f"line {number}"
        if len(content) > _LONGEST:
            reason = f"it has {len(content)} characters, more than the limit of {_LONGEST}"
            raise source.error_at(place, reason, _ACTION)
        match = _LINE.match(content)
        if match is None:
            raise source.error_at(place, f"{content!r} is no name with a time", _ACTION)
        if "," in match["number"]:
            raise source.error_at(
                place, f"{match['number']} has a comma", "write decimals with a point"
            )
        network, unit = match["network"], match["unit"]
        units.setdefault(bool(unit), number)
        if len(units) > 1:
            other = units[not unit]
            raise source.error_at(
                place, f"it and line {other} differ in naming a unit", "name the unit on each line"
            )
        if unit and unit not in _PER_MS:
            raise source.error_at(place, f"{unit!r} is no unit of time", "write ns, us, ms or s")
        if network in line_of:
            raise source.error_at(
                place, f"{network} stands twice, first on line {line_of[network]}", _ACTION
            )
        line_of[network] = number
        value_ms = source.latency_ms(place, match["number"], _PER_MS[unit or "ms"], "the time")
        latencies.append(
            ImportedLatency(
                network=network, place=place, value_ms=value_ms, statistic=Statistic.MEDIAN
            )
        )
    if not latencies:
        raise source.error("there is no line with a network", _ACTION)
    return Reading(tuple(latencies))


# JSON spells letters beyond 16 bits by two halves; one alone is none that a file can hold.
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")


class Importer(Protocol):
    """A module that reads a kind of file."""

    def recognises(self, source: Source, /) -> bool:
        """Whether a file looks like this; looks at the content only and never raises."""

    def parse(self, source: Source, /) -> Reading:
        """Read the whole file, or raise one ``InputError`` and keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A kind of file.

    Attributes:
        name: short and stable; kept with every measurement.
        title: for people.
        made_by: the command that makes such a file.
        importer: the module that reads it.
        names_nodes: whether times of operators carry the names of the model's nodes.
        has_lines: whether it is read line by line; such files have no long lines.
    """

    name: str
    title: str
    made_by: str
    importer: Importer
    names_nodes: bool = False
    has_lines: bool = False


def _text(name: str, title: str, made_by: str, importer: Importer) -> Format:
    """Return a format that is read line by line."""
    return Format(name=name, title=title, made_by=made_by, importer=importer, has_lines=True)


FORMATS: Final = (
    Format(
        name="ctm-results",
        title="ctm results (JSON)",
        made_by="ctm probe run, or a kit",
        importer=ctm_results,
        names_nodes=True,
    ),
    Format(
        name="onnxruntime-profile",
        title="ONNX Runtime profile (JSON)",
        made_by="onnxruntime_perf_test -p profile, or enable_profiling of SessionOptions",
        importer=onnxruntime_profile,
        names_nodes=True,
    ),
    Format(
        name="trtexec-times",
        title="trtexec --exportTimes (JSON)",
        made_by="trtexec --onnx=model.onnx --exportTimes=times.json",
        importer=trtexec_times,
    ),
    Format(
        name="trtexec-profile",
        title="trtexec --exportProfile (JSON)",
        made_by="trtexec --onnx=model.onnx --exportProfile=profile.json --separateProfileRun",
        importer=trtexec_profile,
    ),
    _text(
        "onnxruntime-log",
        "onnxruntime_perf_test output",
        "onnxruntime_perf_test -I -m times -r 1000 model.onnx",
        onnxruntime_log,
    ),
    _text(
        "openvino-log",
        "OpenVINO benchmark_app log",
        "benchmark_app -m model.xml -hint latency -nireq 1",
        openvino_log,
    ),
    Format(
        name="openvino-report",
        title="OpenVINO benchmark_app report (JSON, CSV)",
        made_by="benchmark_app -m model.xml -hint latency -nireq 1 -report_type no_counters",
        importer=openvino_report,
    ),
    _text("hailo-log", "hailortcli benchmark output", "hailortcli benchmark model.hef", hailo_log),
    _text(
        "perf-analyzer",
        "Triton perf_analyzer output",
        "perf_analyzer -m model --concurrency-range 1",
        perf_analyzer_log,
    ),
    _text(
        "model-analyzer",
        "Triton Model Analyzer table (CSV)",
        "model-analyzer profile --profile-models model --export-path out",
        model_analyzer_csv,
    ),
    _text("trtexec-log", "trtexec's printed summary", "trtexec --onnx=model.onnx", trtexec_log),
    _text(
        "tflite-benchmark",
        "TFLite benchmark_model log",
        "benchmark_model --graph=model.tflite --num_threads=4",
        tflite_log,
    ),
    _text("ncnn-benchmark", "ncnn benchncnn log", "benchncnn 8 4 0 -1", ncnn_log),
    _text(
        "mnn-log",
        "MNN benchmark.out, MNNV2Basic.out or timeProfile.out output",
        "benchmark.out models 10 2 0 4",
        mnn_log,
    ),
    _text(
        "rknn-log",
        "RKNN eval_perf or rknn_benchmark output",
        "rknn.eval_perf(), or rknn_benchmark model.rknn",
        rknn_log,
    ),
    _text(
        "executorch-log",
        "ExecuTorch executor_runner log",
        "executor_runner --model_path model.pte --num_executions=100",
        executorch_log,
    ),
    _text(
        "executorch-inspector",
        "ExecuTorch Inspector table or TSV",
        "python -m devtools.inspector.inspector_cli --etdump_path model.etdp",
        executorch_inspector,
    ),
    Format(
        name="executorch-minibench",
        title="ExecuTorch Android app's benchmark_results.json",
        made_by="adb shell am start -n org.pytorch.minibench/.BenchmarkActivity --es model_dir DIR",
        importer=executorch_minibench,
    ),
    _text(
        "ultralytics",
        "Ultralytics benchmark table",
        "yolo benchmark model=yolo11n.pt imgsz=640",
        ultralytics_table,
    ),
    _text(
        "qnn-profile",
        "qnn-profile-viewer output",
        "qnn-profile-viewer --input_log qnn-profiling-data_0.log",
        qnn_profile,
    ),
    _text(
        "snpe-profile",
        "snpe-diagview output",
        "snpe-diagview --input_log SNPEDiag_0.log",
        snpe_profile,
    ),
    Format(
        name="aihub-profile",
        title="Qualcomm AI Hub profile (JSON)",
        made_by="ProfileJob.download_profile() of qai_hub",
        importer=aihub_profile,
    ),
    _text(
        "mlperf-log",
        "MLPerf LoadGen mlperf_log_detail.txt",
        "a SingleStream performance run",
        mlperf_log,
    ),
    _text(
        "csv",
        "CSV table (model, latency_ms)",
        "a table with the header model,latency_ms",
        csv_table,
    ),
)


def names_nodes(name: str) -> bool:
    """Return whether times of operators of a format carry the names of the model's nodes."""
    matches = [format_ for format_ in FORMATS if format_.name == name] or _of_plugins()
    return any(format_.names_nodes for format_ in matches if format_.name == name)


def _of_plugins() -> list[Format]:
    """Return the formats of plug-ins."""
    return [*plugins.plugins(plugins.IMPORTERS).by_name.values()]


def import_file(path: Path) -> ImportedFile:
    """Read a file of any known format whole, or nothing of it.

    Raises:
        InputError: it cannot be read, is of no known format, of two at once, or damaged.
    """
    return import_bytes(path.name, read_bytes(path, MAX_BYTES, "choose a file that you can open"))


def import_bytes(name: str, data: bytes) -> ImportedFile:
    """Read the content of a file; see ``import_file``."""
    source = Source.from_bytes(name, data)
    chosen = recognise(source)
    reading = chosen.importer.parse(source)
    _check_texts(source, reading)
    return ImportedFile(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        format=chosen.name,
        latencies=reading.latencies,
        notes=reading.notes,
    )


def _check_texts(source: Source, reading: Reading) -> None:
    for latency in reading.latencies:
        if len(latency.network) > LONGEST_NAME:
            reason = f"a name is longer than the limit of {LONGEST_NAME} characters"
            raise source.error_at(latency.place, reason)
    if _HALVES.search(source.text):
        try:
            "".join(_texts(reading)).encode()
        except UnicodeEncodeError as error:
            raise source.error("a text in it spells half a character (\\ud800)") from error


def _texts(reading: Reading) -> Iterator[str]:
    yield from reading.notes
    for latency in reading.latencies:
        yield from (latency.network, latency.device or "", *latency.facts.values())
        for operator in latency.operators:
            yield from (operator.name, operator.op_type, operator.unit)


def import_typed(text: str) -> ImportedFile:
    """Read medians typed by hand.

    Raises:
        InputError: a line is no name with a time.
    """
    reading = parse_typed(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return ImportedFile("typed values", digest, NAME, reading.latencies, reading.notes)


def recognise(source: Source) -> Format:
    """Return the format of a file.

    Raises:
        InputError: no format knows it, or several do.
    """
    formats: Sequence[Format] = FORMATS
    if source.long_line:
        if not source.looks_like_json:
            reason = f"it is longer than the limit of {LONGEST_LINE:,} characters"
            raise source.error_at(f"line {source.long_line}", reason)
        formats = [format_ for format_ in FORMATS if not format_.has_lines]
    matching = [format_ for format_ in formats if format_.importer.recognises(source)]
    if not matching:
        matching = [f for f in _of_plugins() if f.importer.recognises(source)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise source.error(
            f"it holds several formats at once ({', '.join(f.title for f in matching)})",
            "split it and import one at a time",
        )
    if source.looks_like_json:
        _ = source.document  # says where, when the JSON itself is damaged
    names = ", ".join(f.name for f in FORMATS)
    problems = plugins.plugins(plugins.IMPORTERS).problems
    unknown = "; ".join(("it is of no format that can be imported", *problems))
    raise source.error(unknown, f"import one of these: {names}")

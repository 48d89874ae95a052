"""Table of ``yolo benchmark`` and ``model.benchmark()`` of Ultralytics, of YOLOv5 too, in ms.

A row is the network in an exported format: each is a runtime here. The time is the mean of the
images of the data set, one at a time, without pre- and postprocessing. Read from output of YOLOv5,
and of Ultralytics 8.0 to 8.4: ruled tables of the newest, of pandas before, with and without signs
of the status and frames a second.
"""

from __future__ import annotations

from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source

_RUNTIMES = {
    "PyTorch": "pytorch",
    "ONNX": "onnxruntime",
    "OpenVINO": "openvino",
    "TensorRT": "tensorrt",
    "CoreML": "coreml",
    "TensorFlow SavedModel": "tensorflow",
    "TensorFlow Lite": "tflite",
    "PaddlePaddle": "paddle-inference",
    "MNN": "mnn",
    "NCNN": "ncnn",
    "IMX": "sony-imx",
    "RKNN": "rknn",
    "ExecuTorch": "executorch",
}
_HEADLINE = "Benchmarks complete for "
_TIME, _FPS = "Inference time (ms", "FPS"
_SIGNS = ("\u2705", "\u274e", "\u274c", "\u2753", "\u2754")
_ABSENT = ("-", "NaN", "None", "null")
_ACTION = "import the table as Ultralytics printed it"
_NOTE = (
    "It is the mean time of an image in the network alone, without pre- and postprocessing; the "
    "table does not state the precision."
)


def recognises(source: Source) -> bool:
    """Whether a file looks like a table of Ultralytics."""
    return _TIME in source.text and any(_is_header(line) for _, line in source.messages())


def _is_header(line: str) -> bool:
    words = line.strip(" |").split()
    return words[:1] == ["Format"] and _TIME in line


def parse(source: Source) -> Reading:
    """Read each format that ran and is a runtime.

    Raises:
        InputError: a row is damaged, a network ran twice in a format, or none ran.
    """
    latencies: list[ImportedLatency] = []
    place_of: dict[tuple[str, str], str] = {}
    unread: dict[str, None] = {}
    network = ""
    has_fps: bool | None = None
    for number, line in source.messages():
        place = f"line {number}"
        words = line.strip(" |").split()
        if _HEADLINE in line:
            network, has_fps = _network(line), None
        elif _is_header(line):
            has_fps = words[-1] == _FPS
        elif has_fps is not None and words and words[0].isdigit():
            name, time = _row(source, place, words[1:], has_fps=has_fps)
            runtime = _RUNTIMES.get(name)
            if time in _ABSENT:
                continue
            if runtime is None:
                unread[name] = None
                continue
            if (network, runtime) in place_of:
                first = place_of[network, runtime]
                reason = f"{network or 'the network'} ran in {name} before, at {first}"
                raise source.error_at(place, reason, "import one benchmark at a time")
            place_of[network, runtime] = place
            latencies.append(_latency(source, place, network, runtime, time))
    if not latencies:
        raise source.error("no format in it ran that is a runtime here", _ACTION)
    notes = [_NOTE]
    if unread:
        notes.append(f"These formats are no runtimes here: {', '.join(unread)}.")
    return Reading(tuple(latencies), tuple(notes))


def _network(line: str) -> str:
    """Return the name in "Benchmarks complete for NAME on DATA at imgsz=640 (61.84s)"."""
    rest = line.partition(_HEADLINE)[2].rpartition(" at imgsz=")[0]
    return rest.rpartition(" on ")[0] or rest


def _row(source: Source, place: str, words: list[str], *, has_fps: bool) -> tuple[str, str]:
    """Return the format of a row and its time as text.

    Numbers follow the name and the sign: size, score, time, and frames a second.
    """
    count = 4 if has_fps else 3
    names, numbers = words[:-count], words[-count:]
    if names and names[-1].startswith(_SIGNS):
        names = names[:-1]
    is_number = [word in _ABSENT or _number(word) is not None for word in numbers]
    if not names or len(numbers) < count or not all(is_number) or _number(names[-1]) is not None:
        raise source.error_at(place, "the row is not complete", _ACTION)
    time, fps = _number(numbers[2]), _number(numbers[3]) if has_fps else None
    if time and fps and not 0.9 < time * fps / 1e3 < 1.1:
        reason = f"its values contradict each other ({time:g} ms, {fps:g} FPS)"
        raise source.error_at(place, reason, _ACTION)
    return " ".join(names), numbers[2]


def _number(text: str) -> float | None:
    try:
        return float(text) if text not in _ABSENT else None
    except ValueError:
        return None


def _latency(source: Source, place: str, network: str, runtime: str, time: str) -> ImportedLatency:
    return ImportedLatency(
        network=network,
        place=place,
        value_ms=source.latency_ms(place, time, 1.0, "the inference time"),
        statistic=Statistic.MEAN,
        runtime=runtime,
        batch=1,
    )

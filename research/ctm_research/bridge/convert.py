"""The process that makes networks' files, in the bridge's environment.

Each line of standard input is a job as a JSON object; it answers ``{}`` or ``{"reason": ...}``. One
process serves many jobs, since the libraries take seconds to import.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ctm_research.bridge.runtimes import adapter
from ctm_research.bridge.runtimes.job import ConversionError, Job

_GAINS = (1.0, 0.7, 0.5)


def main() -> NoReturn:
    """Answer each job."""
    serve(_answer)


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> NoReturn:
    """Answer each job of standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # converters print
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()
    os._exit(0)  # some runtimes crash when they are taken down


def _answer(fields: dict[str, Any]) -> dict[str, str]:
    """Make the files of a job; the folder is whole when it has its last name."""
    folder = Path(fields["folder"])
    making = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    try:
        making.mkdir(parents=True)
        _make(fields, making)
        making.rename(folder)
    except Exception as error:  # noqa: BLE001  # converters' errors have no common base
        shutil.rmtree(making, ignore_errors=True)
        return {"reason": named(error)}
    return {}


def named(error: Exception) -> str:
    """Return an error as the reason of a row."""
    words = " ".join(str(error).split())
    return words if isinstance(error, ConversionError) else f"{type(error).__name__}: {words}"[:300]


def _make(fields: dict[str, Any], folder: Path) -> None:
    if fields["runtime"]:
        adapter(fields["runtime"]).convert(Job.of({**fields, "folder": folder}))
    else:
        _make_source(Path(fields["archive"]), fields["member"], folder)


def _make_source(archive: Path, member: str, folder: Path) -> None:
    """Write a graph with weights under which its outputs are finite, and inputs for it."""
    import onnx  # noqa: PLC0415
    import onnxruntime  # noqa: PLC0415

    from ctm_research.bridge.weights import random_inputs, with_random_weights  # noqa: PLC0415

    with zipfile.ZipFile(archive) as file:
        data = file.read(member)
    for gain in _GAINS:
        model = onnx.ModelProto.FromString(data)
        with_random_weights(model, gain)
        inputs = random_inputs(model)
        np.savez(folder / "inputs.npz", **inputs)  # type: ignore[arg-type]  # names of inputs
        path = folder / "model.onnx"
        onnx.save(model, path)
        outputs = onnxruntime.InferenceSession(path).run(None, inputs)
        if all(_is_sane(output) for output in outputs):
            return
    raise ConversionError("its outputs are not finite with any scale of the random weights")


def _is_sane(output: Any) -> bool:
    if not isinstance(output, np.ndarray) or output.dtype.kind != "f":
        return True
    return bool(np.isfinite(output).all()) and float(np.abs(output).max(initial=0)) > 1e-20

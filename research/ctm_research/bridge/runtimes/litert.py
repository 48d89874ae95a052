"""LiteRT (TensorFlow Lite): from PyTorch's exported program by litert-torch.

int8: weights and activations by ai-edge-quantizer, calibrated on random inputs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctm_research.bridge.runtimes.job import ConversionError, Job, Operators

BOUNDARY = "interpreter.invoke, inputs copied before"


def convert(job: Job) -> None:
    """Convert the program, or quantise the FP32 file."""
    if job.precision == "int8":
        _quantise(job)
        return
    import litert_torch  # noqa: PLC0415
    import torch  # noqa: PLC0415

    program = job.folder.with_name("pytorch-fp32") / "model.pt2"
    if not program.exists():
        raise ConversionError("PyTorch's export, which it starts from, failed")
    inputs = tuple(torch.from_numpy(array) for array in job.inputs().values())
    edge = litert_torch.convert(torch.export.load(program).module(), inputs)
    edge.export(str(job.folder / "model.tflite"))


def _quantise(job: Job) -> None:
    from ai_edge_quantizer import quantizer, recipe  # noqa: PLC0415

    plain = job.folder.with_name("tflite-fp32") / "model.tflite"
    if not plain.exists():
        raise ConversionError("the FP32 conversion, which it starts from, failed")
    work = quantizer.Quantizer(str(plain), recipe.static_wi8_ai8())
    details = _inputs_of(_interpreter(plain, 1))
    samples = [
        {
            f"args_{place}": values.astype(tensor["dtype"])
            for place, (tensor, values) in enumerate(zip(details, sample.values(), strict=True))
        }
        for sample in job.calibration()
    ]
    work.quantize(work.calibrate({"serving_default": samples})).export_model(
        str(job.folder / "model.tflite")
    )


def _interpreter(path: Path, threads: int) -> Any:
    from ai_edge_litert.interpreter import Interpreter  # noqa: PLC0415

    return Interpreter(str(path), num_threads=threads)


def _inputs_of(interpreter: Any) -> list[dict[str, Any]]:
    """Return the details of the inputs in the order of the module's."""
    return sorted(interpreter.get_input_details(), key=lambda tensor: str(tensor["name"]))


class Session:
    """A network in LiteRT's interpreter with the XNNPACK delegate, its default."""

    def __init__(self, job: Job) -> None:
        self._interpreter = _interpreter(job.folder / "model.tflite", job.threads)
        self._interpreter.allocate_tensors()
        details = _inputs_of(self._interpreter)
        for tensor, values in zip(details, job.inputs().values(), strict=True):
            self._interpreter.set_tensor(tensor["index"], values.astype(tensor["dtype"]))

    def run(self) -> Any:
        """Run once."""
        self._interpreter.invoke()


def operators(job: Job) -> Operators:
    """Refuse: the Python interpreter has no profiler."""
    del job
    raise ConversionError("LiteRT's Python interpreter has no profiler")

"""Models of the Python API: files, ONNX models in memory and modules of PyTorch."""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.graph.model import Model
from predictor.services.models.ingestion import IngestionWorker

_ONNX: Final = "ModelProto"
_LOAD: Final = "ctm.load"


def load(
    source: Any,
    *,
    inputs: tuple[Any, ...] | None = None,
    name: str = "",
    batch: int | None = None,
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Model:
    """Read a model and count its operators; weights are not kept.

    Args:
        source: the path of a file of any format that ``ctm`` opens, an ``onnx.ModelProto``, a
            ``torch.nn.Module`` or a ``torch.export.ExportedProgram``.
        inputs: arguments of a forward pass of the module, whose shapes are those of the model.
        name: of a model that is no file; empty for that of its graph or class.
        batch: batch to set; one that the file fixes is replaced.
        dims: values of dimensions that the file leaves open, by name.
        shapes: shapes of inputs, by name.

    Raises:
        InputError: the model or one of the arguments is wrong.
        HostError: the reader of model files cannot be started.
    """
    if isinstance(source, Model):
        return source
    with _as_file(source, inputs, name) as (path, label):
        model = reader().ingest(path, dims, batch, shapes)
    return replace(model, path=label) if label else model


def loaded(models: Any) -> list[Model]:
    """Return models that are named alone or in a sequence."""
    return [load(source) for source in sequence_of(models)]


@contextmanager
def loading(models: Any) -> Iterator[Sequence[Future[Model]]]:
    """Load models in the block while it does something else; yields a future a model."""
    reader().start()
    with ThreadPoolExecutor(1) as pool:
        yield [pool.submit(load, source) for source in sequence_of(models)]


def sequence_of(values: Any) -> Sequence[Any]:
    """Return a list or a tuple as it is, and anything else as the only one of its sequence."""
    return values if isinstance(values, list | tuple) else (values,)


@cache
def reader() -> IngestionWorker:
    """Return the process that reads the models of this one; it ends with it."""
    worker = IngestionWorker()
    atexit.register(worker.close)
    return worker


@contextmanager
def _as_file(
    source: Any, inputs: tuple[Any, ...] | None, name: str
) -> Iterator[tuple[str | os.PathLike[str], str]]:
    """Write a model in memory to a file for the block; yields the file and the model's name.

    The name of a model that is a file already is empty.
    """
    if isinstance(source, str | os.PathLike):
        yield source, ""
        return
    with tempfile.TemporaryDirectory(prefix="ctm-load-") as folder:
        if type(source).__name__ == _ONNX and hasattr(source, "SerializeToString"):
            path, label = Path(folder) / "model.onnx", name or source.graph.name
            path.write_bytes(_serialised(source))
        else:
            path, label = Path(folder) / "model.pt2", name or type(source).__name__
            torch = sys.modules.get("torch")  # imported by the program that made the module
            if torch is None:
                reason = f"a {type(source).__name__} is no model"
                raise InputError(_LOAD, reason, "give a path, an onnx.ModelProto or a torch module")
            torch.export.save(_exported(torch, source, inputs), path)
        yield path, label or "model"


def _serialised(proto: Any) -> bytes:
    try:
        return bytes(proto.SerializeToString())
    except ValueError as error:
        reason = "it is larger than the 2 GiB of one protobuf message"
        action = "save it with onnx.save(..., save_as_external_data=True) and load that file"
        raise InputError(_LOAD, reason, action) from error


def _exported(torch: Any, source: Any, inputs: tuple[Any, ...] | None) -> Any:
    """Return a module as an exported program."""
    if isinstance(source, torch.export.ExportedProgram):
        return source
    if not isinstance(source, torch.nn.Module):
        reason = f"a {type(source).__name__} is no model"
        raise InputError(_LOAD, reason, "give a path, an onnx.ModelProto or a torch module")
    if inputs is None:
        raise InputError(
            _LOAD,
            "the shapes of a module's inputs are not known",
            "give inputs=(tensor,), the arguments of a forward pass",
        )
    try:
        return torch.export.export(source.eval(), inputs)
    except Exception as error:  # torch.export raises errors of many kinds
        reason = f"torch.export refuses it ({str(error).splitlines()[0]})"
        raise InputError(type(source).__name__, reason, "export it yourself, load the .pt2") from (
            error
        )

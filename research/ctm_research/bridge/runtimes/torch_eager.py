"""PyTorch, operator by operator: the exported program of the module, run by torch's dispatcher.

The module is the library's own definition (timm, torchvision, transformers) where there is one, so
that batch norm and attention run as users run them; else the ONNX file's operators in torch.
Exporting keeps those operators and leaves out the libraries, whose import takes seconds.
"""

from __future__ import annotations

import importlib.util
import json
import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ctm_research.bridge.runtimes.job import (
    PROFILED_RUNS,
    ConversionError,
    Job,
    Operators,
    medians,
)  # fmt: skip

BOUNDARY = "one call of the exported program in inference mode"


def convert(job: Job) -> None:
    """Export the module with random weights."""
    torch = _torch()
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        module = (library_module(job.module) if job.module else _from_onnx(job)).eval()
        program = torch.export.export(module, _tensors(job), strict=False)
    torch.export.save(program, job.folder / "model.pt2")


def _torch() -> Any:
    import torch  # noqa: PLC0415

    return torch


def library_module(place: str) -> Any:
    """Return a module of a library, as ``library:name key=value``."""
    library, _, rest = place.partition(":")
    name, *words = rest.split()
    settings = {key: json.loads(value) for key, value in (word.split("=") for word in words)}
    _declare_operators()
    if library == "transformers":
        import transformers  # noqa: PLC0415

        kind = getattr(transformers, name)
        return _as_tuple(kind(kind.config_class(**settings)))
    if library == "timm":
        import timm  # noqa: PLC0415

        merged = settings.pop("reparameterized", 0)
        module = _without_zeros(timm.create_model(name, **settings).eval())
        return timm.utils.reparameterize_model(module) if merged else module
    import torchvision  # noqa: PLC0415

    return getattr(torchvision.models, name)(weights=None, **settings)


def _without_zeros(module: Any) -> Any:
    """Set weights and gains that start at zero to one: a converter folds such branches away."""
    for name, values in module.named_parameters():
        if not name.endswith(("bias", "biases")) and not values.any():
            _torch().nn.init.ones_(values)
    return module


def _as_tuple(module: Any) -> Any:
    """Return a module whose results are tuples: an export with others needs the library to load."""

    class Tuple(_torch().nn.Module):  # type: ignore[misc]  # the base is known at run time only
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, *inputs: Any) -> Any:
            return self.inner(*inputs).to_tuple()

    return Tuple()


def _declare_operators() -> None:
    """Declare torchvision's compiled operators, which no CPU build brings and none here uses."""
    if _declared:
        return
    torch = _torch()
    package = Path(str(importlib.util.find_spec("torchvision").origin)).parent  # type: ignore[union-attr]
    text = (package / "_meta_registrations.py").read_text(encoding="utf-8")
    _declared.append(torch.library.Library("torchvision", "DEF"))
    for name in set(re.findall(r'(?:register_meta\("|torchvision::)(\w+)', text)):
        _declared[-1].define(f"{name}(Tensor x) -> Tensor")


_declared: list[Any] = []  # a library's operators go with it


def _from_onnx(job: Job) -> Any:
    _declare_operators()
    import onnx2torch  # noqa: PLC0415
    import onnxruntime  # noqa: PLC0415

    # Its operators read shapes out of tensors: those that depend on others are folded first.
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(job.folder / "folded.onnx")
    onnxruntime.InferenceSession(str(job.source), options)
    try:
        module = onnx2torch.convert(str(job.folder / "folded.onnx")).eval()
    except NotImplementedError as error:
        raise ConversionError(f"onnx2torch: {error}") from error
    finally:
        (job.folder / "folded.onnx").unlink(missing_ok=True)
    _settle_shapes(module, _tensors(job))
    return module


def _settle_shapes(module: Any, inputs: tuple[Any, ...]) -> None:
    """Give shapes, slices and pads the values of one run: an export allows of no tensor."""

    def settle(part: Any, given: Any, named: Any, result: Any) -> None:
        forward = _settled(part, (*given, *named.values())[1:], result.shape)
        part.forward = lambda x, *_, **__: forward(x)

    hooks = [
        part.register_forward_hook(settle, with_kwargs=True)
        for part in module.modules()
        if type(part).__name__ in {"OnnxReshape", "OnnxResize", "OnnxSlice", "OnnxPadDynamic"}
    ]
    module(*inputs)
    for hook in hooks:
        hook.remove()


def _settled(part: Any, given: tuple[Any, ...], shape: Any) -> Callable[[Any], Any]:
    """Return an operator of its first input alone.

    Args:
        part: operator of onnx2torch.
        given: its other inputs in a run.
        shape: of its result in that run.
    """
    from onnx2torch.node_converters import pad  # noqa: PLC0415
    from onnx2torch.node_converters import slice as slices  # noqa: PLC0415

    torch = _torch()
    kind = type(part).__name__
    if kind == "OnnxReshape":
        return partial(torch.reshape, shape=shape)
    if kind == "OnnxSlice":
        flipped, forward, backward = slices._get_slices(*given, *[None] * (4 - len(given)))  # noqa: SLF001
        return lambda x: slices._do_slice(x, flipped, forward, backward)  # noqa: SLF001
    if kind == "OnnxPadDynamic":
        pads = pad._torch_padding_to_mode_format(  # noqa: SLF001
            pad._onnx_padding_to_torch(given[0].tolist()),  # noqa: SLF001
            part.mode,
        )
        value = float(given[1]) if len(given) > 1 and part.mode == "constant" else None
        return partial(torch.nn.functional.pad, pad=pads, mode=part.mode, value=value)
    settings = {"mode": _RESIZE_MODES[part.onnx_mode], "align_corners": part.align_corners}
    return partial(torch.nn.functional.interpolate, size=shape[2:], **settings)


_RESIZE_MODES = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}


def _tensors(job: Job) -> tuple[Any, ...]:
    torch = _torch()
    return tuple(torch.from_numpy(array) for array in job.inputs().values())


class Session:
    """A program that torch runs operator by operator."""

    def __init__(self, job: Job) -> None:
        torch = _torch()
        torch.set_num_threads(job.threads)
        if torch.get_num_interop_threads() != 1:  # may be set once in a process
            torch.set_num_interop_threads(1)
        self._module = self._loaded(job)
        self._inputs = _tensors(job)
        # Entered for the life of the process: a guard for each run would be timed with it.
        self._guard = torch.inference_mode()
        self._guard.__enter__()

    def _loaded(self, job: Job) -> Any:
        return _torch().export.load(job.folder / "model.pt2").module()

    def run(self) -> Any:
        """Run once."""
        return self._module(*self._inputs)


def operators(job: Job) -> Operators:
    """Return the times of the operators, by torch's profiler."""
    return profiled(Session(job))


def profiled(session: Session) -> Operators:
    """Return the own times of the operators of a session by name, by torch's profiler."""
    profiler = _torch().profiler
    session.run()
    runs = []
    for _ in range(PROFILED_RUNS):
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as profile:
            session.run()
        runs.append(
            [
                (event.key, event.key, event.self_cpu_time_total * 1e3)
                for event in profile.key_averages()
            ]
        )
    return medians(runs)

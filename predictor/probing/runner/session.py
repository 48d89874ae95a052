"""A network loaded by onnxruntime as the plan says, and values for its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .failures import MeasuringError
from .settings import CPU_PROVIDER

_OPTIMISATION = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_NUMPY_TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(int16)": "int16",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
}


def open_session(
    job: dict[str, Any], profile_prefix: str | None = None
) -> tuple[Any, dict[str, Any]]:
    """Load the network and make its inputs; nothing may fall back to another provider.

    Args:
        job: of a block.
        profile_prefix: path and beginning of the name of the file that the profiler writes; None
            for no profiler.

    Raises:
        MeasuringError: the provider is missing or does not start, or an input cannot be made.
    """
    import onnxruntime  # noqa: PLC0415  # the parent needs none

    configuration = job["configuration"]
    provider = configuration["provider"]
    if provider not in onnxruntime.get_available_providers():
        available = ", ".join(onnxruntime.get_available_providers())
        raise MeasuringError(
            "provider-missing", f"this onnxruntime has no {provider}; it has {available}"
        )
    chosen = [(provider, dict(configuration["provider_options"]))]
    options = _session_options(onnxruntime, configuration)
    if profile_prefix is not None:
        options.enable_profiling = True
        options.profile_file_prefix = profile_prefix
    session = onnxruntime.InferenceSession(job["path"], options, providers=chosen)
    if session.get_providers()[0] != provider:
        raise MeasuringError(
            "fall-back", f"{provider} did not start, {session.get_providers()[0]} did"
        )
    return session, {
        tensor.name: _input_values(tensor, job["inputs"].get(tensor.name))
        for tensor in session.get_inputs()
    }


def _session_options(onnxruntime: Any, configuration: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = configuration["threads"]
    options.inter_op_num_threads = 1
    level = _OPTIMISATION[configuration["graph_optimisation"]]
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    if configuration["provider"] != CPU_PROVIDER:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return options


def _input_values(tensor: Any, dims: Sequence[int] | None) -> Any:
    """Return generated values: reals spread over [-1, 1), whole numbers 0 and 1."""
    import numpy  # noqa: PLC0415, ICN001  # the parent needs none

    shape = list(dims) if dims else tensor.shape
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise MeasuringError(
            "bad-network", f"input {tensor.name} has open dimensions: {tensor.shape}"
        )
    kind = _NUMPY_TYPES.get(tensor.type)
    if kind is None:
        raise MeasuringError("bad-network", f"input {tensor.name} is of {tensor.type}")
    generator = numpy.random.default_rng(len(tensor.name))
    if kind.startswith("float"):
        return generator.uniform(-1, 1, shape).astype(kind)
    return generator.integers(0, 2, shape).astype(kind)

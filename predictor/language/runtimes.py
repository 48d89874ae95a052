"""Programs that run language models: on which devices, by which backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.core.text import printable
from predictor.language.memory import is_card

_GPUS: Final = frozenset({Family.GPU, Family.MOBILE_GPU})
_ANY: Final = ""  # maker: all others
NONE: Final = ""  # backend: it does not run
LLAMA_CPP: Final = "llama.cpp"  # also begins the names of its other builds
_LLAMA_CPP: Final = frozenset({"cuda", "metal", "vulkan", "rocm", "cpu"})  # backends


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRuntime:
    """A program that runs language models.

    Attributes:
        name: on the command line.
        title: for people.
        backends: name of the fitted backend by kind of device and maker; an empty maker stands
            for all that are not named.
        micro_batch: most tokens of a prompt in one pass; 0 for the whole prompt.
        architectures: of devices that it runs on; empty for all.
        tensor_parallel: whether cards share its layers; else each has some of them.
    """

    name: str
    title: str
    backends: Mapping[tuple[Family, str], str]
    micro_batch: int = 0
    architectures: frozenset[str] = frozenset()
    tensor_parallel: bool = False

    def backend(self, device: Device) -> str:
        """Return the backend on ``device``, empty where the program does not run there."""
        if self.architectures and device.architecture not in self.architectures:
            return NONE
        if self.name == "llama.cpp" and device.architecture.startswith("cdna"):
            return "rocm"  # these cards have no graphics, so nobody runs Vulkan on them
        named = self.backends.get((device.family, device.vendor))
        return self.backends.get((device.family, _ANY), NONE) if named is None else named


def _on(backend: str, families: frozenset[Family], *makers: str) -> dict[tuple[Family, str], str]:
    return {(family, maker): backend for family in families for maker in makers or (_ANY,)}


_ON_GPU: Final = frozenset({Family.GPU})

# In the order in which a device without --runtime takes the first that runs on it.
_ROWS: Final = (
    LanguageRuntime(
        name="llama.cpp",
        title="llama.cpp",
        backends={
            **_on("vulkan", _GPUS),
            **_on("cuda", _ON_GPU, "NVIDIA"),
            **_on("metal", _GPUS, "Apple"),
            **_on("cpu", CPUS),
        },
        micro_batch=512,
    ),
    LanguageRuntime(
        name="llama.cpp-vulkan",
        title="llama.cpp with Vulkan",
        # macOS has no Vulkan of its own.
        backends={**_on("vulkan", _GPUS), **_on(NONE, _GPUS, "Apple")},
        micro_batch=512,
    ),
    LanguageRuntime(
        name="llama.cpp-rocm",
        title="llama.cpp with ROCm",
        backends=_on("rocm", _ON_GPU, "AMD"),
        micro_batch=512,
    ),
    LanguageRuntime(
        name="genie",
        title="Qualcomm Genie",
        backends=_on("genie", frozenset({Family.NPU}), "Qualcomm"),
        micro_batch=128,
        # NPUs of phones from Snapdragon 8 Gen 2 on; the maker's server cards have another runtime.
        architectures=frozenset({"hexagon-v73", "hexagon-v75", "hexagon-v79", "hexagon-v81"}),
    ),
    LanguageRuntime(
        name="mlc",
        title="MLC LLM",
        backends=_on("mlc", _GPUS, "NVIDIA", "AMD", "Apple", "Intel", "Qualcomm", "Arm"),
        tensor_parallel=True,
    ),
    LanguageRuntime(
        name="onnxruntime-genai",
        title="ONNX Runtime generate()",
        backends={
            **_on("onnxruntime-genai-gpu", _ON_GPU, "NVIDIA"),
            **_on("onnxruntime-genai-cpu", CPUS),
        },
    ),
    LanguageRuntime(
        name="tensorrt-llm",
        title="TensorRT-LLM",
        backends=_on("tensorrt-llm", _ON_GPU, "NVIDIA"),
        tensor_parallel=True,
    ),
    LanguageRuntime(
        name="vllm",
        title="vLLM",
        backends={**_on("vllm", _ON_GPU, "NVIDIA"), **_on("vllm-rocm", _ON_GPU, "AMD")},
        tensor_parallel=True,
    ),
)

LANGUAGE_RUNTIMES: Final[Mapping[str, LanguageRuntime]] = MappingProxyType(
    {row.name: row for row in _ROWS}
)


def runtime_for(device: Device, name: str = "") -> tuple[LanguageRuntime, str]:
    """Return the runtime and its backend on a device.

    Args:
        device: the device.
        name: of the runtime; empty for llama.cpp where it runs, else the first that does.

    Raises:
        InputError: none runs there, or the named one does not.
    """
    running = {runtime.name: backend for runtime in _ROWS if (backend := runtime.backend(device))}
    if not running:
        raise InputError(
            device.id,
            f"no runtime of language models is known for {printable(device.name)}",
            "choose the CPU or the GPU of the same system, or another device",
        )
    if name and name not in running:
        raise InputError(
            device.id,
            f"{name} does not run on {printable(device.name)}, where {', '.join(running)} can",
            "choose one of these with --runtime",
        )
    chosen = name or next(iter(running))
    return LANGUAGE_RUNTIMES[chosen], running[chosen]


def table_on_host(device: Device, backend: str) -> bool:
    """Whether the table of input tokens stays out of a device's memory."""
    return backend in _LLAMA_CPP and is_card(device)

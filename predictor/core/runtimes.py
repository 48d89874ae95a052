"""The registry of runtimes: everything that the program knows of one stands in its row.

The device file and its schema, the form, the command line, the window, the cost model and the
training of the network read these rows. A checkpoint keeps the list that it was trained with, so a
new row needs no training: for an older checkpoint its runs are of an unknown runtime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from predictor.core import instruction_sets, plugins
from predictor.core.metrics import Family
from predictor.core.records import Precision

UNKNOWN: Final = "unknown"
MEASURED: Final = "onnxruntime"  # what our own runner measures with

CPUS: Final = frozenset({Family.CPU, Family.MOBILE_CPU})
_FLOAT_AND_INT8: Final = frozenset({Precision.FP32, Precision.FP16, Precision.INT8})


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A program that runs networks.

    Attributes:
        name: in device files, in the store and on the command line.
        title: for people.
        families: kinds of device that it runs on.
        portable: those of them on which every device can install it; a device of another kind has
            to list it.
        precisions: that it runs in.
        kernels: instruction sets that it has kernels for on processors; empty where that is not
            known, or where it compiles for the processor that it meets.
        may_halve: whether it may run an FP32 network in half precision without an option for it.
        hides_halves: whether its published latencies do not say where it did.
        casts_halves: whether it runs FP16 networks in FP32 on processors that multiply no halves.
        tf32: products of FP32 networks that it computes in TF32 by default, on GPUs that
            have it: ``""``, ``"convolutions"`` or ``"all"``.
        cpu_launch_us: cost of starting one operator on a CPU, in microseconds; None for the usual
            one of the device (``cost.capability``).
        unset_threads: that it runs on where no number is set, 0 for all cores; None if not known.
        fastest_cores: whether it then leaves the slower kinds of cores of a processor idle.
        interpreted: whether an interpreter on the host starts each operator of a GPU.
        is_learned: whether a network that is trained gets an input for it.
        is_usual: whether a device without stated configurations lists it where it is portable; one
            that is not usual has to be named.
    """

    name: str
    title: str
    families: frozenset[Family] = frozenset()
    portable: frozenset[Family] = frozenset()
    precisions: frozenset[Precision] = frozenset()
    kernels: frozenset[str] = frozenset()
    may_halve: bool = False
    hides_halves: bool = False
    casts_halves: bool = False
    tf32: Literal["", "convolutions", "all"] = ""
    cpu_launch_us: float | None = None
    unset_threads: int | None = None
    fastest_cores: bool = False
    interpreted: bool = False
    is_learned: bool = True
    is_usual: bool = True


# Their order is that of the schema, of the command line's choices and of a network's inputs.
_ROWS: Final = (
    Runtime(
        name=MEASURED,
        title="ONNX Runtime",
        families=CPUS | {Family.GPU, Family.NPU},
        portable=CPUS | {Family.GPU},
        precisions=_FLOAT_AND_INT8,
        kernels=instruction_sets.MLAS,
        casts_halves=True,  # it casts inputs and outputs, and weights as it loads them
        tf32="all",  # use_tf32 of its CUDA provider
        unset_threads=0,  # intra_op_num_threads 0: one a physical core
    ),
    Runtime(
        name="ncnn",
        title="ncnn on a CPU",
        families=CPUS,
        portable=CPUS,
        precisions=_FLOAT_AND_INT8,
        kernels=instruction_sets.NCNN,
        may_halve=True,  # it stores and computes in FP16 or BF16 where it can
        hides_halves=True,
    ),
    Runtime(
        name="ncnn-vulkan",
        title="ncnn on a GPU",
        families=frozenset({Family.GPU, Family.MOBILE_GPU}),
        portable=frozenset({Family.GPU, Family.MOBILE_GPU}),
        precisions=frozenset({Precision.FP32, Precision.FP16}),
        may_halve=True,
        hides_halves=True,
    ),
    Runtime(
        name="pytorch",
        title="PyTorch",
        families=CPUS | {Family.GPU},
        portable=CPUS | {Family.GPU},
        precisions=frozenset(Precision) - {Precision.INT8},
        kernels=instruction_sets.ONEDNN,
        tf32="convolutions",  # torch.backends.cudnn.allow_tf32, and not that of matmul
        # Measured by benchmarks/launch_overhead.py, see decision 0001.
        cpu_launch_us=0.8,  # it comes back to Python for each operator
        unset_threads=0,  # torch.get_num_threads(): one a physical core
        interpreted=True,
    ),
    Runtime(
        name="pytorch-compiled",
        title="PyTorch, compiled",
        families=CPUS | {Family.GPU},
        portable=CPUS | {Family.GPU},
        precisions=frozenset({Precision.FP32, Precision.BF16, Precision.AMP_BF16}),
        kernels=instruction_sets.ONEDNN,
        tf32="convolutions",
        unset_threads=0,
    ),
    Runtime(
        name="tflite",
        title="TensorFlow Lite",
        families=CPUS | {Family.MOBILE_GPU, Family.NPU, Family.MCU},
        portable=CPUS | {Family.MOBILE_GPU},
        precisions=_FLOAT_AND_INT8,
        kernels=instruction_sets.XNNPACK,
        may_halve=True,  # its GPU delegate allows loss of precision by default
        unset_threads=1,  # num_threads of its benchmark tool
    ),
    Runtime(
        name="qnn",
        title="Qualcomm AI Engine Direct",
        families=frozenset({Family.NPU}),
        precisions=frozenset({Precision.FP16, Precision.INT8}),
        may_halve=True,  # HTP runs float graphs in FP16
    ),
    Runtime(
        name="tensorrt",
        title="TensorRT",
        families=frozenset({Family.GPU, Family.NPU}),  # an NPU is the DLA of a Jetson
        precisions=_FLOAT_AND_INT8,
        tf32="all",  # BuilderFlag::kTF32 is set by default
    ),
    Runtime(
        name="openvino",
        title="OpenVINO",
        families=CPUS | {Family.GPU, Family.NPU},
        portable=CPUS,
        precisions=_FLOAT_AND_INT8 | {Precision.BF16},
        kernels=instruction_sets.ONEDNN,
        may_halve=True,  # it infers in FP16 on GPUs, and in BF16 on CPUs that have it
        unset_threads=0,
        fastest_cores=True,  # ov::Affinity::HYBRID_AWARE binds latency tasks to the big cores
    ),
    Runtime(
        name="opencv",
        title="OpenCV",
        families=CPUS | {Family.GPU, Family.MOBILE_GPU},
        portable=CPUS | {Family.GPU, Family.MOBILE_GPU},
        kernels=instruction_sets.OPENCV_DNN,
    ),
    Runtime(
        name=UNKNOWN,
        title="not known",
        families=frozenset(Family),
        portable=frozenset(Family),
        precisions=frozenset(Precision),
        may_halve=True,
        is_learned=False,
    ),
    Runtime(
        name="coreml",
        title="Core ML",
        families=CPUS | {Family.GPU, Family.MOBILE_GPU, Family.NPU},
        precisions=_FLOAT_AND_INT8,
    ),
    Runtime(
        name="hailort",
        title="HailoRT",
        families=frozenset({Family.NPU}),
        precisions=frozenset({Precision.INT8}),
        is_learned=False,  # frame rates of it are published, no latencies
    ),
    Runtime(
        name="rknn",
        title="RKNN",
        families=frozenset({Family.NPU}),
        precisions=frozenset({Precision.FP16, Precision.INT8}),
        is_learned=False,  # frame rates of it are published, no latencies
    ),
    Runtime(
        name="vitis-ai",
        title="Vitis AI",
        families=frozenset({Family.FPGA}),
        precisions=frozenset({Precision.INT8}),
    ),
)

_PHONE: Final = CPUS | {Family.MOBILE_GPU, Family.NPU}
_SERVER: Final = CPUS | {Family.GPU}
_NPU: Final = frozenset({Family.NPU, Family.ASIC})
_MINOR_KERNELS: Final[Mapping[str, frozenset[str]]] = {
    "armnn": instruction_sets.ARM_COMPUTE,
    "pytorch-mobile": instruction_sets.PYTORCH_MOBILE,
    "executorch": instruction_sets.XNNPACK,
    "paddle-lite": instruction_sets.PADDLE_LITE,
    "paddle-inference": instruction_sets.ONEDNN,
    "mnn": instruction_sets.MNN,
    "xnnpack": instruction_sets.XNNPACK,
    "tensorflow": instruction_sets.ONEDNN,
    "deepsparse": instruction_sets.DEEPSPARSE,
}
_ARM: Final = frozenset({Family.MOBILE_CPU})
_MINOR_PORTABLE: Final[Mapping[str, frozenset[Family]]] = {
    "armnn": _ARM | {Family.MOBILE_GPU},
    "pytorch-mobile": _ARM,
    "executorch": CPUS,
    "paddle-lite": _ARM | {Family.MOBILE_GPU},
    "paddle-inference": _SERVER,
    "mnn": CPUS | {Family.MOBILE_GPU},
    "tnn": _ARM | {Family.MOBILE_GPU},
    "tengine": _ARM,
    "xnnpack": CPUS,
    "tensorflow": _SERVER,
    "deepsparse": CPUS,
    "tvm": _SERVER | _ARM | {Family.MOBILE_GPU},
}
_MINOR_TF32: Final = frozenset({"paddle-tensorrt", "tensorflow"})
# Measured by others only: no importer, no shipped network with an input for it. NPUs run float
# networks in half precision whatever the file says.
_MINOR_ROWS: Final = tuple(
    Runtime(
        name=name,
        title=title,
        families=families,
        portable=_MINOR_PORTABLE.get(name, frozenset()),
        precisions=precisions,
        kernels=_MINOR_KERNELS.get(name, frozenset()),
        may_halve=Family.NPU in families,
        tf32="all" if name in _MINOR_TF32 else "",
        is_learned=False,
        is_usual=False,
    )
    for name, title, families, precisions in (
        ("armnn", "Arm NN", _PHONE, _FLOAT_AND_INT8),
        ("pytorch-mobile", "PyTorch Mobile", _PHONE, _FLOAT_AND_INT8),
        ("executorch", "ExecuTorch", _PHONE, _FLOAT_AND_INT8),
        ("paddle-lite", "Paddle Lite", _PHONE, _FLOAT_AND_INT8),
        ("paddle-inference", "Paddle Inference", _SERVER, _FLOAT_AND_INT8),
        ("paddle-tensorrt", "Paddle Inference with TensorRT", _SERVER, _FLOAT_AND_INT8),
        ("mnn", "MNN", _PHONE | _SERVER, _FLOAT_AND_INT8),
        ("tnn", "TNN", _PHONE, _FLOAT_AND_INT8),
        ("tengine", "Tengine", _PHONE, _FLOAT_AND_INT8),
        ("xnnpack", "XNNPACK, which TensorFlow Lite runs by", CPUS, _FLOAT_AND_INT8),
        ("tensorflow", "TensorFlow", _SERVER, _FLOAT_AND_INT8 | {Precision.BF16}),
        ("deepsparse", "DeepSparse", CPUS, _FLOAT_AND_INT8),
        ("tvm", "Apache TVM", _PHONE | _SERVER, _FLOAT_AND_INT8),
        (
            "tflite-micro",
            "TensorFlow Lite Micro",
            frozenset({Family.MCU, Family.NPU}),
            _FLOAT_AND_INT8,
        ),
        ("x-cube-ai", "X-CUBE-AI", frozenset({Family.MCU, Family.NPU}), _FLOAT_AND_INT8),
        ("snpe", "Qualcomm Neural Processing SDK", _PHONE, _FLOAT_AND_INT8),
        ("enn", "Samsung Exynos Neural Network", _PHONE, _FLOAT_AND_INT8),
        ("neuron", "MediaTek NeuroPilot", _PHONE, _FLOAT_AND_INT8),
        ("qaic", "Qualcomm Cloud AI", _NPU, _FLOAT_AND_INT8),
        ("cann", "Ascend CANN", _NPU, _FLOAT_AND_INT8),
        ("drp-ai", "Renesas DRP-AI", CPUS | _NPU, _FLOAT_AND_INT8),
        ("sophon", "Sophon BMRuntime", _NPU, _FLOAT_AND_INT8),
        ("hobot-dnn", "Horizon hobot-dnn", _NPU, _FLOAT_AND_INT8),
        ("kann", "Kalray KaNN", _NPU, _FLOAT_AND_INT8),
        ("axera", "AXERA AXEngine", _NPU, _FLOAT_AND_INT8),
        ("dx-rt", "DEEPX Runtime", _NPU, _FLOAT_AND_INT8),
        ("tidl", "TI Deep Learning", _NPU, frozenset({Precision.INT8})),
        ("furiosa-sdk", "FuriosaAI SDK", _NPU, frozenset({Precision.INT8})),
        ("rbln-sdk", "Rebellions SDK", _NPU, frozenset({Precision.FP16, Precision.INT8})),
        ("sony-imx", "Sony IMX500 packager", _NPU, frozenset({Precision.INT8})),
        ("vectorblox", "VectorBlox", frozenset({Family.FPGA}), frozenset({Precision.INT8})),
    )
)


class _Registry(Mapping[str, Runtime]):
    """The rows that ship, in their order; a name of none of them is looked up among plug-ins."""

    def __init__(self) -> None:
        self._rows = {row.name: row for row in (*_ROWS, *_MINOR_ROWS)}

    def __getitem__(self, name: str) -> Runtime:
        row = self._rows.get(name) or plugins.plugins(plugins.RUNTIMES).by_name[name]
        if not isinstance(row, Runtime):
            raise KeyError(name)
        return row

    def get(self, name: str, default: Any = None) -> Any:
        # Most names are of rows that ship; targets are asked for theirs again and again.
        return self._rows.get(name) or super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


RUNTIMES: Final[Mapping[str, Runtime]] = _Registry()


# Published measurements of a library alone; what an owner deploys is the runtime around it.
_PART_OF: Final[Mapping[str, str]] = MappingProxyType({"xnnpack": "tflite"})


def offered() -> tuple[str, ...]:
    """Return the names of the runtimes that can be requested."""
    return tuple(name for name in RUNTIMES if name != UNKNOWN and name not in _PART_OF)


def is_offered(name: str) -> bool:
    """Return whether a runtime can be requested, one of a plug-in too."""
    return name in RUNTIMES and name != UNKNOWN and name not in _PART_OF


def usual_name(name: str) -> str:
    """Return the name under which a runtime is deployed: ``tflite`` of ``xnnpack``."""
    return _PART_OF.get(name, name)


def runtime_of(name: str) -> Runtime:
    """Return the row of a runtime; an empty one for a name that the registry lacks."""
    return RUNTIMES.get(name) or Runtime(name=name, title=name)

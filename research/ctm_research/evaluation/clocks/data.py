"""Published latencies at several clocks, each network with its operators' times at default clocks.

Tables: ``kernels/dvfs`` of the data folder; its README has sources and caveats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, save_model

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources.graphs import graph_file
from ctm_research.sources.samples import GraphFile
from ctm_research.sources.tables import read_rows
from predictor.core.records import Device, Precision, Target
from predictor.cost.clocks import CPU, GPU, ClockModel, Slowness
from predictor.devices.operating import Clocks, clock_domain, clocks_of, named_mode
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.services.prediction.clocks import slowness_of
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.targets import resolve_targets

Floats = NDArray[np.float64]

_FOLDER: Final = Path("kernels/dvfs")
TX2: Final = "Jetson TX2, TensorRT"
_TX2_NETWORKS: Final = {"ResNet50_224x224": "resnet50", "yolov3-tiny-416": "yolov3_tiny"}
# The published precision is not stated; both that the device runs are judged.
_TX2_PRECISIONS: Final = (Precision.FP32, Precision.FP16)
# Absolute clocks only: in other files of the source they are offsets from an unknown clock.
_CARDS: Final = {
    "titanX-caffe-googlenet.csv": ("titan-x-pascal", "googlenet", 128),
    "titanX-caffe-resnet.csv": ("titan-x-pascal", "resnet50", 64),
    "titanX-vgg-logs-v2.csv": ("titan-x-pascal", "vgg16", 64),
    "gtx1080Ti-googlenet.csv": ("gtx1080-ti", "googlenet", 128),
}
_BOARDS: Final = {
    "Raspberry Pi, ARMv7 rev 4 (chasseral)": "rpi4",
    "Raspberry Pi, ARMv7 rev 4 (chaumont)": "rpi4",
    "Raspberry Pi 3 Model B+ (vully)": "rpi3b-plus",
    "Intel Core i7-7567U NUC": "core-i7-7567u",
}
_BATCH: Final = 64
_ORIN: Final = {"Resnet Results": "resnet152", "Depth Anything Results": "depth_anything_small"}


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """One network on one device at K operating points.

    Attributes:
        setting: device and runtime, for people.
        network: its name.
        variant: precision of the engine's terms.
        model: of the network, with the constants that ship.
        points: K points.
        latency_ms: measured, float64 [K].
        reference: place of the point nearest to the device's default clocks.
        own: the device's own clock in MHz at each point, [K].
    """

    setting: str
    network: str
    variant: str
    model: ClockModel
    points: Slowness
    latency_ms: Floats
    reference: int
    own: Floats


class Sweeps:
    """Reads the tables of a data folder; each network is ingested once."""

    def __init__(self, data: Path, devices: Mapping[str, Device], reader: GraphReader) -> None:
        self._data, self._devices, self._reader = data, devices, reader
        self._graphs: dict[str, OperatorGraph] = {}

    def tx2(self) -> Iterator[Swept]:
        """Yield the grid of GPU and memory clocks of the Jetson TX2."""
        columns = ("series", "model_in_log", "gpu_mhz", "emc_mhz", "latency_ms")
        rows = [
            row
            for row in read_rows(self._data / _FOLDER / "jetson_tx2_gpu_emc.csv", columns)
            if row["series"] == "data_transfer_all"
        ]
        for name, graph in _TX2_NETWORKS.items():
            own = [row for row in rows if row["model_in_log"] == name]
            clocks = [Clocks(gpu=float(r["gpu_mhz"]), mem=float(r["emc_mhz"])) for r in own]
            times = [float(row["latency_ms"]) for row in own]
            for precision in _TX2_PRECISIONS:
                target = self._target("jetson-tx2-gpu", "tensorrt", precision)
                yield self._swept(TX2, graph, 1, target, clocks, times)

    def cards(self) -> Iterator[Swept]:
        """Yield Caffe's networks on desktop cards: iterations of training, or of timing."""
        columns = ("file", "core", "mem", "time_ms")
        rows = list(read_rows(self._data / _FOLDER / "caffe_nets_desktop_gpus.csv", columns))
        for file, (device, graph, batch) in _CARDS.items():
            own = [row for row in rows if row["file"].endswith("/" + file)]
            clocks = [Clocks(gpu=float(r["core"]), mem=float(r["mem"])) for r in own]
            target = self._target(device, "pytorch", Precision.FP32)
            times = [float(row["time_ms"]) for row in own]
            yield self._swept(f"{target.device.name}, Caffe", graph, batch, target, clocks, times)

    def boards(self) -> Iterator[Swept]:
        """Yield torchvision's networks at the lowest and highest clock of four processors."""
        columns = ("device", "cpu_mhz_stated", "batch", "model", "time_s")
        rows = [
            row
            for row in read_rows(self._data / _FOLDER / "torchvision_rpi_nuc_cpu_freq.csv", columns)
            if row["batch"] == str(_BATCH)
        ]
        for name, device in _BOARDS.items():
            target = self._target(device, "pytorch", Precision.FP32)
            for graph in sorted({row["model"] for row in rows if row["device"] == name}):
                own = [r for r in rows if r["device"] == name and r["model"] == graph]
                clocks = [Clocks(cpu=float(row["cpu_mhz_stated"])) for row in own]
                times = [1e3 * float(row["time_s"]) for row in own]
                yield self._swept(f"{name}, PyTorch", graph, _BATCH, target, clocks, times)

    def modes(self) -> Iterator[Swept]:
        """Yield networks in the power modes of AGX Xavier and AGX Orin."""
        rows = list(
            read_rows(
                self._data / _FOLDER / "jetson_xavier_power_modes_yolov3.csv",
                ("mode", "latency_mean_ms"),
            )
        )
        target = self._target("jetson-agx-xavier-gpu", "pytorch", Precision.FP32)
        times = [float(row["latency_mean_ms"]) for row in rows]
        modes = [clocks_of(target.device, named_mode(target.device, row["mode"])) for row in rows]
        yield self._swept("AGX Xavier, darknet in ROS", "yolov3_darknet", 1, target, modes, times)
        table = self._data / _FOLDER / "jetson_orin_power_modes_scales.csv"
        rows = list(read_rows(table, ("model", "power_mode", "rate")))
        target = self._target("jetson-agx-orin-gpu", "pytorch", Precision.FP32)
        for name, graph in _ORIN.items():
            own = [row for row in rows if row["model"] == name]
            modes = [
                clocks_of(target.device, named_mode(target.device, row["power_mode"]))
                for row in own
            ]
            times = [1e3 / float(row["rate"]) for row in own]
            yield self._swept("AGX Orin, PyTorch", graph, 1, target, modes, times)

    def _swept(
        self,
        setting: str,
        name: str,
        batch: int,
        target: Target,
        clocks: Sequence[Clocks],
        times: Sequence[float],
    ) -> Swept:
        graph = self._graph(name)
        graph = at_batch(graph, batch) if batch > 1 else graph
        (terms,) = open_engine().explain(graph, [target])
        assert terms is not None, target.device.id  # noqa: S101 - it is rated
        is_gpu = clock_domain(target.device) == "gpu"
        model = ClockModel(
            compute_ms=terms.compute_ms,
            memory_ms=terms.memory_ms,
            launch_ms=terms.launch_ms,
            busy_ms=terms.latency_ms - terms.launch_ms,
            overlap=GPU if is_gpu else CPU,
            is_launched=is_gpu,
        )
        points = slowness_of(target, clocks)
        # The device's own clock decides; among equals the fastest memory.
        reference = int(np.lexsort((points.memory, points.unit))[0])
        own = np.array([each.gpu if is_gpu else each.cpu for each in clocks], np.float64)
        variant = target.configuration.precision.value
        return Swept(setting, name, variant, model, points, np.array(times), reference, own)

    def _target(self, device: str, runtime: str, precision: Precision) -> Target:
        return resolve_targets([self._devices[device]], runtime, precision)[0]

    def _graph(self, name: str) -> OperatorGraph:
        if name not in self._graphs:
            self._graphs[name] = self._read(name)
        return self._graphs[name]

    def _read(self, name: str) -> OperatorGraph:
        if name == "yolov3_tiny":
            with TemporaryDirectory(prefix="ctm-clocks-") as folder:
                path = Path(folder) / "yolov3_tiny.onnx"
                write_yolov3_tiny(path)
                return self._reader.read(GraphFile(path))
        side = {"yolov3_darknet": "__416x416", "depth_anything_small": "__518x518"}
        in_timm = {"resnet18", "resnet152"}
        if name in in_timm:
            return self._reader.read(graph_file(self._data, "timm", f"{name}__224.onnx"))
        file = f"{name}{side.get(name, '__224x224')}.onnx"
        return self._reader.read(graph_file(self._data, "graphs", file))


def write_yolov3_tiny(path: Path) -> None:
    """Write tiny YOLOv3 at 416 x 416 without weights, by the published layers of darknet.

    Reference:
        Redmon and Farhadi, YOLOv3, 2018; pjreddie/darknet, cfg/yolov3-tiny.cfg.
    """
    net = _Layers()
    value, channels = "image", 3
    for width in (16, 32, 64, 128):
        value, channels = net.pool(net.conv(value, channels, width, 3)), width
    route = net.conv(value, 128, 256, 3)
    value = net.pool(net.conv(net.pool(route), 256, 512, 3), stride=1)
    narrow = net.conv(net.conv(value, 512, 1024, 3), 1024, 256, 1)
    coarse = net.conv(net.conv(narrow, 256, 512, 3), 512, 255, 1, is_last=True)
    both = net.joined(net.conv(narrow, 256, 128, 1), route)
    fine = net.conv(net.conv(both, 384, 256, 3), 256, 255, 1, is_last=True)
    net.save(path, coarse, fine)


class _Layers:
    """Nodes of an ONNX graph; weights are of shapes alone."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._shapes: list[TensorProto] = []

    def conv(self, value: str, before: int, width: int, side: int, *, is_last: bool = False) -> str:
        weight = self._weight([width, before, side, side])
        inputs = [value, weight, self._weight([width])]
        out = self._node("Conv", inputs, kernel_shape=[side] * 2, pads=[side // 2] * 4)
        return out if is_last else self._node("LeakyRelu", [out], alpha=0.1)

    def pool(self, value: str, stride: int = 2) -> str:
        # The pool of stride 1 keeps the size: one more column and row at the end.
        pads = [0, 0, 0, 0] if stride == 2 else [0, 0, 1, 1]
        return self._node("MaxPool", [value], kernel_shape=[2, 2], strides=[stride] * 2, pads=pads)

    def joined(self, small: str, route: str) -> str:
        self._shapes.append(helper.make_tensor("twice", TensorProto.FLOAT, [4], [1, 1, 2, 2]))
        grown = self._node("Resize", [small, "", "twice"], mode="nearest")
        return self._node("Concat", [grown, route], axis=1)

    def save(self, path: Path, *outputs: str) -> None:
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 416, 416])
        out = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self._nodes, "yolov3_tiny", [image], out, self._shapes)
        opset = [helper.make_opsetid("", 17)]
        save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)

    def _weight(self, dims: list[int]) -> str:
        name = f"shape{len(self._shapes)}"
        self._shapes.append(helper.make_tensor(name, TensorProto.INT64, [len(dims)], dims))
        return self._node("ConstantOfShape", [name])

    def _node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

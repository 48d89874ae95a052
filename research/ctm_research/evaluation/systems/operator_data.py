"""NeuSight's published tables: operators timed on cards, whole transformers as their lists."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.judge.judged import Rows
from ctm_research.sources.tables import Row, read_rows

FOLDER: Final = "neusight"
CLASSES: Final = ("linear", "bmm", "elementwise", "softmax", "layernorm")
# FLOPs an element, as in NeuSight's code.
_FLOPS: Final = {"softmax": 5.0, "layernorm": 6.0}
_TWO_INPUTS: Final = ("add", "mul", "div", "pow")
_FLOAT_BYTES: Final = 4.0
_VECTOR: Final = {"softmax": "softmax", "ln": "layernorm"}


@dataclass(frozen=True, slots=True)
class Card:
    """Peaks of a card: FLOP/s, bytes/s, SMs, bytes of memory and of the last cache."""

    flops: float
    bandwidth: float
    units: float
    memory: float
    cache: float


@dataclass(frozen=True, slots=True, eq=False)
class Operators:
    """N operators in FP32.

    Attributes:
        klass: int64 [N], index into ``CLASSES``.
        size: float64 [N, 4], products, rows, columns and length of the sums; of the others 1, rows,
            columns and number of inputs.
        tile: float64 [N, 2], rows and columns of the result that one block makes; NaN where it is
            not recorded.
        kernel: int64 [N], number of the kernel that ran, 0 where it is not recorded.
        ms: float64 [N], measured; NaN where it is not.
    """

    klass: Rows
    size: Floats
    tile: Floats
    kernel: Rows
    ms: Floats

    def take(self, rows: Rows | NDArray[np.bool_]) -> Operators:
        """Return some of the operators."""
        return Operators(*(getattr(self, each.name)[rows] for each in fields(self)))

    def __len__(self) -> int:
        return len(self.klass)

    @property
    def is_product(self) -> NDArray[np.bool_]:
        """Whether each is a matrix product."""
        return self.klass <= CLASSES.index("bmm")

    @property
    def flops(self) -> Floats:
        """Floating-point operations of each."""
        each = np.array([_FLOPS.get(name, 1.0) for name in CLASSES])[self.klass]
        products = 2 * self.size.prod(axis=1)
        return np.where(self.is_product, products, each * self.size[:, 1] * self.size[:, 2])

    @property
    def bytes(self) -> Floats:
        """Bytes read and written by each, each operand once."""
        return block_bytes(self, self.size[:, 1], self.size[:, 2]) * self.size[:, 0]


def block_bytes(operators: Operators, rows: Floats, columns: Floats) -> Floats:
    """Return bytes that a block of the result reads and writes, [N]."""
    length = operators.size[:, 3]
    product = rows * length + length * columns + rows * columns
    vector = (length + 1) * rows * columns
    return _FLOAT_BYTES * np.where(operators.is_product, product, vector)


@dataclass(frozen=True, slots=True, eq=False)
class Transformer:
    """One measured network on one card.

    Attributes:
        card: name.
        name: such as ``bert_large-512-8``.
        ms: measured.
    """

    card: str
    name: str
    ms: float


@dataclass(frozen=True, slots=True, eq=False)
class NeuSightData:
    """The tables.

    Attributes:
        cards: NVIDIA's cards with measurements, by name.
        timed: operators timed on each card.
        graphs: operators of each network with how often each runs, and bytes that other operators
            move.
        transformers: networks measured end to end in inference, unfused.
        printed: error in percent that the authors' stored predictions have, by method, card and
            network.
    """

    cards: dict[str, Card]
    timed: dict[str, Operators]
    graphs: dict[str, tuple[Operators, Floats, float]]
    transformers: list[Transformer]
    printed: dict[tuple[str, str, str], float]


def read_data(data: Path) -> NeuSightData:
    """Read the tables of a data folder.

    Raises:
        InputError: a table is missing or damaged.
    """
    folder = data / FOLDER
    cards = {
        row["device_id"]: _card(row)
        for row in read_rows(folder / "gpus.csv", ("device_id", "vendor", "split", "fp32_gflops"))
        if row["vendor"] == "NVIDIA" and row["split"] == "train"
    }
    tiles = {
        row["kernel_id"]: (row["tile_rows"], row["tile_cols"])
        for row in read_rows(folder / "kernels.csv.gz", ("kernel_id", "tile_rows", "tile_cols"))
    }
    timed = _timed(folder / "ops_train.csv.gz", cards, tiles)
    transformers = [
        Transformer(row["device_id"], _network(row), row.positive("measured_e2e_ms"))
        for row in read_rows(folder / "models.csv", ("device_id", "mode", "fused", "n_gpus"))
        if row["device_id"] in cards and _is_plain(row) and _is_dense(row)
    ]
    names = sorted({each.name for each in transformers})
    graphs = {name: _graph(folder / "opgraphs" / f"{name}.csv") for name in names}
    printed = {
        (row["method"], row["device_id"], _network(row)): row.positive("abs_pct_err")
        for row in read_rows(folder / "peers.csv", ("device_id", "method", "abs_pct_err"))
        if row["device_id"] in cards and _is_plain(row) and _is_dense(row)
    }
    return NeuSightData(cards, timed, graphs, transformers, printed)


def _is_plain(row: Row) -> bool:
    return (row["mode"], row["fused"], row["n_gpus"]) == ("inf", "False", "1")


def _is_dense(row: Row) -> bool:
    return not row["model"].startswith("switch")  # mixtures of experts have no ONNX graph


def _network(row: Row) -> str:
    return f"{row['model']}-{row['seq_len']}-{row['batch']}"


def _card(row: Row) -> Card:
    return Card(
        1e9 * row.positive("fp32_gflops"),
        1e9 * row.positive("mem_bw_gb_per_s"),
        row.positive("num_sm"),
        1e9 * row.positive("dev_mem_gb"),
        1e6 * row.positive("l2_cache_mb"),
    )


def _timed(
    path: Path, cards: dict[str, Card], tiles: dict[str, tuple[str, str]]
) -> dict[str, Operators]:
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in cards}
    for row in read_rows(path, ("device_id", "op", "op_class", "latency_ms", "kernel_id")):
        if row["device_id"] in rows and row["in_neusight_train"] == "True":
            klass = CLASSES.index(row["op_class"])
            size = _size(row["op_class"], row["op"], row)
            tile = _tile(row, tiles, size)
            kernel = float(row["kernel_id"] or 0)
            rows[row["device_id"]].append((klass, *size, *tile, kernel, float(row["latency_ms"])))
    return {name: _operators(np.array(each, np.float64)) for name, each in rows.items()}


def _operators(table: Floats) -> Operators:
    return Operators(
        table[:, 0].astype(np.int64),
        table[:, 1:5],
        table[:, 5:7],
        table[:, 7].astype(np.int64),
        table[:, 8],
    )


def _size(klass: str, op: str, row: Row) -> tuple[float, float, float, float]:
    if klass == "linear":
        rows = float(row["mm_batch"]) * float(row["mm_rows"])
        return 1.0, rows, float(row["mm_cols"]), float(row["mm_inner"])
    if klass == "bmm":
        batch, rows = float(row["mm_batch"]), float(row["mm_rows"])
        return batch, rows, float(row["mm_cols"]), float(row["mm_inner"])
    inputs = 2.0 if op in _TWO_INPUTS else 1.0
    return 1.0, float(row["vec_rows"]), float(row["vec_cols"]), inputs


def _tile(
    row: Row, tiles: dict[str, tuple[str, str]], size: tuple[float, float, float, float]
) -> tuple[float, float]:
    if row["op_class"] in ("linear", "bmm"):
        rows, columns = tiles.get(row["kernel_id"], ("", ""))
        return (float(rows), float(columns)) if rows and columns else (np.nan, np.nan)
    if row["op_class"] in _FLOPS:
        return 1.0, size[2]  # a block works on a row
    blocks = float(row["grid_x"] or 0) * float(row["grid_y"] or 0) * float(row["grid_z"] or 0)
    return (1.0, size[1] * size[2] / blocks) if blocks else (np.nan, np.nan)


def _graph(path: Path) -> tuple[Operators, Floats, float]:
    rows: list[tuple[float, ...]] = []
    counts: list[float] = []
    moved = 0.0
    for row in read_rows(
        path, ("fw_op", "d1", "d2", "d3", "d4", "in_shapes", "out_shape", "count")
    ):
        op, count = row["fw_op"], float(row["count"])
        dims = [float(row[f"d{place}"] or 0) for place in range(1, 5)]
        if op == "mem":
            shapes = ";".join([row["in_shapes"], row["out_shape"]])
            moved += count * _FLOAT_BYTES * sum(map(_elements, shapes.split(";")))
        elif op:
            counts.append(count)
            rows.append((*_planned(op, dims), np.nan, np.nan, 0.0, np.nan))
    return _operators(np.array(rows)), np.array(counts), moved


def _planned(op: str, dims: list[float]) -> tuple[float, float, float, float, float]:
    """Return class and size of an operator of a graph."""
    if op == "linear":
        return CLASSES.index(op), 1.0, dims[0], dims[2], dims[1]
    if op == "bmm":
        return CLASSES.index(op), dims[0], dims[1], dims[3], dims[2]
    klass = CLASSES.index(_VECTOR.get(op, "elementwise"))
    return klass, 1.0, dims[0], dims[1], 2.0 if op in _TWO_INPUTS else 1.0


def _elements(shape: str) -> float:
    return float(np.prod([float(each) for each in shape.split("x")])) if shape else 0.0

"""Figures and words of the boxes of the picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ctm_gui.operators.rows import operator_details, operator_unit
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from predictor.core.text import plural
from predictor.core.units import LatencyUnit, format_bytes, format_count
from predictor.presentation.wording import latency_text, number, percent, shape_text, shown
from predictor.services.graph.grouping import GroupTree
from predictor.services.prediction.explain import BOUND_TYPES, OperatorTable

# Kinds of operators by a part of their type, in the order of the theme's series; the first that
# fits. What moves data only is the last, in the series' grey.
KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("convolution", ("conv",)),
    ("matrix product", ("matmul", "gemm", "einsum", "attention", "lstm", "gru", "rnn")),
    ("activation", ("relu", "sigmoid", "tanh", "gelu", "clip", "softmax", "swish", "silu", "elu",
                    "erf", "softplus", "mish")),
    ("normalisation", ("norm", "lrn")),
    ("pooling, reduction", ("pool", "reduce", "argmax", "topk", "resize", "upsample")),
    ("arithmetic", ("add", "sub", "mul", "div", "pow", "sqrt", "exp", "log", "neg", "sum", "min",
                    "max", "abs", "floor", "where", "equal", "less", "greater", "and", "or",
                    "not")),
    ("other", ()),
    ("data movement", ("reshape", "transpose", "concat", "split", "slice", "gather", "flatten",
                       "squeeze", "expand", "pad", "cast", "shape", "constant", "identity", "tile",
                       "scatter", "quantizelinear")),
)  # fmt: skip
_OTHER, _MOVES = 6, 7
# ConvTranspose moves no data only; Expand is no power.
_ORDER: tuple[int, ...] = (0, 1, _MOVES, 2, 3, 4, 5)
_TYPES_NAMED = 6
TOP_METRICS = 6  # that have a colour of their own
_MIN_SHARE = 0.001  # that a box names


def kind_of(op_type: str) -> int:
    """Return the index in ``KINDS`` of an operator's type."""
    word = op_type.rpartition(":")[2].lower()
    for kind in _ORDER:
        parts = KINDS[kind][1]
        # Short ones are parts of too many other words.
        if word in parts or any(len(part) > 3 and part in word for part in parts):
            return kind
    return _OTHER


@dataclass(frozen=True, eq=False)
class NodeFacts:
    """Facts of each node of a tree on one target: operators, and groups as their sums.

    Attributes:
        tree: N operators in G groups.
        table: times of the operators.
        interval: low and high end of the model's 80 % interval over its latency; None without one.
    """

    tree: GroupTree
    table: OperatorTable
    interval: tuple[float, float] | None = None

    @cached_property
    def latency_ms(self) -> FloatArray:
        """Time of each node, float64 [N + G]."""
        return self.tree.sums(self.table.latency_ms)

    @cached_property
    def share(self) -> FloatArray:
        """Part of the model's time, 0 to 1, float64 [N + G]."""
        return self.tree.sums(self.table.share)

    @cached_property
    def traffic(self) -> FloatArray:
        """Part of the model's bytes moved, 0 to 1, float64 [N + G]."""
        sums = self.tree.sums(self.table.bytes_moved.astype(np.float64))
        return sums / max(float(sums[self.tree.root]), 1.0)

    @cached_property
    def _attention(self) -> FloatArray | None:
        """Time of each operator by metric, float64 [N, K]; None without attention."""
        maps = self.table.attention
        if maps is None or not maps.metrics:
            return None
        return maps.operator_to_metric * self.table.latency_ms[:, None]

    @cached_property
    def top_metrics(self) -> tuple[int, ...]:
        """The metrics with most attention over the time, the first of them; none without."""
        if self._attention is None:
            return ()
        order = np.argsort(-self._attention.sum(axis=0), kind="stable")
        return tuple(order[:TOP_METRICS].tolist())

    def attended(self, node: int) -> int:
        """Return the place in ``top_metrics`` of what a node attends to most, or behind them."""
        if self._attention is None:
            return 0
        metric = int(self._attention[self.tree.operators_of(node)].sum(axis=0).argmax())
        return self.top_metrics.index(metric) if metric in self.top_metrics else TOP_METRICS

    @cached_property
    def by_bound_ms(self) -> FloatArray:
        """Time of each node by what binds it, float64 [N + G, len(BOUND_TYPES)]."""
        bound = self.table.bounds
        times = [
            self.tree.sums(np.where(bound == code, self.table.latency_ms, 0.0))
            for code in range(len(BOUND_TYPES))
        ]
        return np.stack(times, axis=1)

    @cached_property
    def kinds(self) -> IndexArray:
        """Index in ``KINDS`` of each operator's type, and of what takes most time of a group."""
        kind_by_type = {name: kind_of(name) for name in dict.fromkeys(self.table.op_types)}
        kinds_of = map(kind_by_type.__getitem__, self.table.op_types)
        of_operators = np.fromiter(kinds_of, np.intp, len(self.table.op_types))
        times = np.stack(
            [
                # A part of a nanosecond each, so that groups of no time have a kind too.
                self.tree.sums(np.where(of_operators == kind, self.table.latency_ms + 1e-9, 0.0))
                for kind in range(len(KINDS))
            ],
            axis=1,
        )
        kinds: IndexArray = np.argmax(times, axis=1)
        return kinds

    def prepare(self) -> None:
        """Work out what every picture of the nodes reads."""
        _ = self.latency_ms, self.share, self.by_bound_ms, self.kinds

    def title(self, node: int) -> str:
        """Return the name of a node within its group."""
        return shown(self.tree.labels[node]) or "model"

    def subtitle(self, node: int) -> str:
        """Return an operator's type, its shape where its name is its type; a group's size."""
        if self.tree.is_group(node):
            return plural(self.tree.count(node), "operator")
        op_type, shape = self.table.op_types[node], self.table.output_shapes[node]
        is_named_so = self.tree.labels[node].startswith(op_type) and shape
        return shape_text(shape) if is_named_so else shown(op_type)

    def time(self, node: int, unit: LatencyUnit) -> str:
        """Return the time of a node and its share; nothing where it takes none."""
        latency = float(self.latency_ms[node])
        if not latency:
            return ""
        text, share = latency_text(latency, operator_unit(unit)), self.share_text(node)
        return f"{text} · {share}" if share else text

    def share_text(self, node: int) -> str:
        """Return the share of a node in the time; nothing where it is too small to say."""
        share = float(self.share[node])
        return "" if share < _MIN_SHARE else percent(share, 2)

    def details(self, node: int, unit: LatencyUnit) -> str:
        """Return the lines that hovering over a node shows, as plain text."""
        operators = self.tree.operators_of(node)
        if self.tree.is_group(node):
            lines = self._group_lines(node, operators, operator_unit(unit))
        else:
            lines = operator_details(self.table, node, unit, self.interval)
        if not self.tree.is_group(node) and self.table.flags[node]:
            lines.append(shown(self.table.flags[node]))
        return "\n".join(lines)

    def path(self, node: int) -> str:
        """Return the names of a node and of the groups around it, the outermost first."""
        around = [
            ancestor
            for ancestor in reversed(self.tree.ancestors(node))
            if self.tree.labels[ancestor]
        ]
        return shown(
            " / ".join([*(self.tree.labels[ancestor] for ancestor in around), self.title(node)])
        )

    def _group_lines(self, node: int, operators: IndexArray, unit: LatencyUnit) -> list[str]:
        table, latency = self.table, float(self.latency_ms[node])
        macs, traffic_bytes = (
            int(table.macs[operators].sum()),
            int(table.bytes_moved[operators].sum()),
        )
        share = percent(float(self.share[node]))
        lines = [
            f"{self.path(node)}: {self.subtitle(node)}",
            types_text(table, operators),
            f"{format_count(macs)} MACs, {format_bytes(traffic_bytes)} moved",
            f"{latency_text(latency, unit)}, {share} of the model",
        ]
        if self.interval is not None and latency:
            low, high = (number(unit.from_ms(latency * end)) for end in self.interval)
            lines.append(f"{low} to {high} {unit} by the model's 80 % interval")
        parts = [
            f"{bound} {percent(float(part) / latency, 2)}"
            for bound, part in zip(BOUND_TYPES, self.by_bound_ms[node], strict=True)
            if part > 0
        ]
        return [*lines, f"bound by {', '.join(parts)}"] if parts else lines


def types_text(table: OperatorTable, operators: IndexArray) -> str:
    """Return the types of operators with their numbers: ``Conv × 12, Relu × 11``."""
    codes, types = table.types
    counts = np.bincount(codes[operators], minlength=len(types))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist()
    words = [f"{shown(types[code])} × {counts[code]}" for code in order[:_TYPES_NAMED]]
    if len(order) > _TYPES_NAMED:
        words.append(plural(len(order) - _TYPES_NAMED, "more type"))
    return ", ".join(words)

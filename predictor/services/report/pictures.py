"""Pictures as appendices: every model's roofline, timeline and modules, and the matrix of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import HostError
from predictor.core.prediction import Prediction
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.presentation import report
from predictor.presentation.wording import batch_of, in_unit, latency_text, number, percent, shown
from predictor.services.graph.grouping import GroupTree, group_operators
from predictor.services.graph.layout import by_depth, lay_out
from predictor.services.graph.placement import first_opened, picture_of, visible_groups
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.timeline import LANES, timeline_of
from predictor.services.report.operators import Explained, fastest_per_model, pair_heading
from predictor.services.report.request import ReportRequest
from predictor.services.report.why import BOUNDS, roofline_chart
from predictor.services.report.words import brief

_MIN_SPAN = 1 / 1500  # of the latency: a hair on paper
_MODULE_LANES = 2
_BOUND_OF = tuple(map(BOUNDS.index, ("launch", "compute", "memory")))  # of each of LANES
_MAX_BOXES = 60  # of a graph: a page or two
_MATRIX_ROWS = 400
_Spans = tuple[report.Span, ...]


def matrix_section(request: ReportRequest) -> report.Section:
    """Return the latency of every model on every target as a heat map, a row a target."""
    per_model = len(request.targets)
    pairs = list(request.pairs())
    latency_ms = np.array(
        [np.nan if p.prediction.latency_ms is None else p.prediction.latency_ms for p in pairs]
    ).reshape(-1, per_model)
    texts = [
        number(
            in_unit(p.prediction.latency_ms, request.unit, p.prediction.configuration.batch or 1)
        )
        for p in pairs
    ]
    rows = range(min(per_model, _MATRIX_ROWS))
    heat_map = report.HeatMap(
        title=f"Latency of every model on every target, {request.unit}: the darker, the slower",
        row_title="Target",
        rows=tuple(request.target_name(request.targets[row]) for row in rows),
        columns=tuple(brief(model.label) for model in request.models),
        values=tuple(tuple(column) for column in _heat(latency_ms).T[: len(rows)].tolist()),
        texts=tuple(tuple(texts[row::per_model]) for row in rows),
    )
    return report.Section(report.SectionId.MATRIX, "Matrix", (heat_map,))


def _figure(prediction: Prediction, unit: LatencyUnit) -> str:
    return number(in_unit(prediction.latency_ms, unit, batch_of(prediction.configuration)))


def _heat(latency_ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0 for the shortest latency and 1 for the longest, by logarithm; 0 without one."""
    logs = np.log(np.maximum(latency_ms, np.finfo(np.float64).tiny))
    finite = logs[~np.isnan(logs)]
    if not finite.size:
        return np.zeros_like(logs)
    low, high = finite.min(), finite.max()
    heat: NDArray[np.float64] = np.nan_to_num((logs - low) / max(high - low, 1e-9))
    return heat


def rooflines_section(request: ReportRequest, explained: Sequence[Explained]) -> report.Section:
    """Return the roofline of each model on its fastest target."""
    blocks: list[report.Block] = []
    for one in fastest_per_model(explained):
        chart = roofline_chart(one)
        if chart.points:
            blocks += [pair_heading(one.pair, request), chart]
    return report.Section(report.SectionId.ROOFLINE, "Rooflines", tuple(blocks))


def timelines_section(request: ReportRequest, explained: Sequence[Explained]) -> report.Section:
    """Return the operators of each model over time, on its fastest target."""
    blocks: list[report.Block] = []
    for one in fastest_per_model(explained):
        if one.table.latency_ms.sum() > 0:
            blocks += [pair_heading(one.pair, request), _timeline(one.table)]
    return report.Section(report.SectionId.TIMELINE, "Timelines", tuple(blocks))


def _timeline(table: OperatorTable) -> report.Timeline:
    timeline = timeline_of(table)
    ends, min_ms = timeline.ends_ms, timeline.total_ms * _MIN_SPAN
    lanes = []
    for depth in range(min(timeline.depth, _MODULE_LANES)):
        spans = (
            report.Span(float(ends[m.operators[0]]), float(ends[m.operators[1]]), shown(m.path[-1]))
            for m in timeline.modules
            if m.depth == depth
        )
        lanes.append(report.Lane("Modules" if depth == 0 else "", tuple(spans)))
    # An operator that takes no time is bound by nothing, and is not drawn.
    bounds = [BOUNDS.index(kind) if kind in BOUNDS else 0 for kind in table.bound_type]
    lanes.append(report.Lane("Operators", _runs(ends[:-1], table.latency_ms, bounds, min_ms)))
    for place, name in enumerate(LANES):
        starts, lengths = timeline.lane_start_ms[place], timeline.lane_ms[place]
        lanes.append(
            report.Lane(name, _runs(starts, lengths, [_BOUND_OF[place]] * len(bounds), min_ms))
        )
    colours = tuple(f"bound by {kind}" for kind in BOUNDS)
    return report.Timeline(colours, tuple(lanes), timeline.total_ms, "ms")


def _runs(
    starts: NDArray[np.float64], lengths: NDArray[np.float64], series: Sequence[int], min_ms: float
) -> _Spans:
    """Return a span an operator; neighbours of one colour are one where each would be a hair."""
    spans: list[report.Span] = []
    for start, length, place in zip(starts.tolist(), lengths.tolist(), series, strict=True):
        if length <= 0:
            continue
        last = spans[-1] if spans else None
        is_short = last is not None and (length < min_ms or last.end - last.start < min_ms)
        if last is not None and is_short and last.series == place and start - last.end < min_ms:
            spans[-1] = report.Span(last.start, start + length, "", place)
        else:
            spans.append(report.Span(start, start + length, "", place))
    return tuple(spans)


def graphs_section(request: ReportRequest, explained: Sequence[Explained]) -> report.Section:
    """Return the modules of each model as boxes, with their time on its fastest target."""
    blocks: list[report.Block] = []
    for one in fastest_per_model(explained):
        blocks += [pair_heading(one.pair, request), _graph(one.table, request.unit)]
    return report.Section(report.SectionId.GRAPH, "Graphs", tuple(blocks))


def _graph(table: OperatorTable, unit: LatencyUnit) -> report.Graph:
    """Return the picture that the window shows first, its groups open as far as a page holds."""
    tree = group_operators(table.names, table.op_types, table.edges)
    opened = frozenset(first_opened(tree, _MAX_BOXES))
    groups = visible_groups(tree, opened)
    try:
        levels = lay_out(tree, groups)
    except HostError:  # without the library, a plain order
        levels = {group: by_depth(tree, group) for group in groups}
    picture = picture_of(tree, levels, opened)
    times, shares = tree.sums(table.latency_ms), tree.sums(table.share)
    written = LatencyUnit.MS if unit is LatencyUnit.FPS else unit  # of an operator a rate is none
    boxes = []
    for node, is_open, (left, top, width, height) in zip(
        picture.nodes.tolist(), picture.is_open.tolist(), picture.rects.tolist(), strict=True
    ):
        time, share = float(times[node]), float(shares[node])
        words = f"{latency_text(time, written)} · {percent(share, 2)}" if time else ""
        title, detail = shown(tree.labels[node]) or "model", _kinds(tree, node, table)
        boxes.append(
            report.GraphBox(
                path=_path(tree, node),
                title=title,
                detail=detail,
                time=words,
                share=share,
                is_frame=is_open,
                left=left,
                top=top,
                width=width,
                height=height,
            )
        )
    edges = tuple(edge.points for edge in picture.edges)
    return report.Graph(tuple(boxes), edges, picture.width, picture.height)


def _path(tree: GroupTree, node: int) -> str:
    around = reversed(tree.ancestors(node)[:-1])  # the last is the whole graph
    return " / ".join(shown(tree.labels[place]) for place in (*around, node))


def _kinds(tree: GroupTree, node: int, table: OperatorTable) -> str:
    if not tree.is_group(node):
        return shown(table.op_types[node])
    return plural(tree.count(node), "operator")

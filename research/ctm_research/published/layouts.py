"""The fingerprints under which the latencies of a network stand: its file's, other libraries'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources import GraphFile
from predictor.core.errors import InputError
from predictor.core.progress import Progress, ProgressCallback
from predictor.graph.ingest import build_model
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.reader import ReadModel, read_model

Network = tuple[GraphFile, int]  # file and how many times its batch


class Layout(NamedTuple):
    """A graph of a network.

    Attributes:
        fingerprint: of the graph; a former one finds graphs that were stored under it.
        macs: of the graph.
        remark: how it differs from the graph that was measured; empty for that one.
        is_former: whether the fingerprint is by the former recipe.
    """

    fingerprint: str
    macs: int
    remark: str = ""
    is_former: bool = False


def layouts_of(
    networks: Iterable[Network],
    alternatives: Mapping[GraphFile, Mapping[GraphFile, str]],
    progress: ProgressCallback,
) -> dict[Network, tuple[Layout, ...]]:
    """Return the graphs of networks at their batches; none where a node pins another batch.

    Args:
        networks: to be looked up.
        alternatives: the same network in another layout, with a remark, by file.
        progress: told before each file is read.
    """
    distinct = list(dict.fromkeys(networks))
    remarks = {file: {file: "", **alternatives.get(file, {})} for file, _ in distinct}
    factors: dict[GraphFile, dict[int, None]] = {}
    for file, factor in distinct:
        for layout in remarks[file]:
            factors.setdefault(layout, {})[factor] = None
    graphs: dict[Network, tuple[Layout, ...]] = {}
    with GraphReader() as reader:
        for done, file in enumerate(factors):
            progress(Progress(done, len(factors), file.member or file.path.name))
            model = read_model(reader.path_of(file))
            for factor in factors[file]:
                graph = _at_batch(model, factor)
                if graph is not None:
                    graphs[file, factor] = _layouts(graph)
    return {
        (file, factor): tuple(
            layout._replace(remark=remark)
            for alternative, remark in remarks[file].items()
            for layout in graphs.get((alternative, factor), ())
        )
        for file, factor in distinct
    }


def _layouts(graph: OperatorGraph) -> tuple[Layout, ...]:
    macs = int(graph.macs.sum())
    former = Layout(graph.former_fingerprint, macs, is_former=True)
    return Layout(graph.fingerprint, macs), former


def _at_batch(read: ReadModel, factor: int) -> OperatorGraph | None:
    """Return the graph of a model at a multiple of its batch, if it has one."""
    if factor == 1:
        return build_model(read, {}, None, {}).graph
    shapes = (value.type.tensor_type.shape.dim for value in read.proto.graph.input)
    batch = next((shape[0].dim_value for shape in shapes if shape), 1)
    try:
        return build_model(read, {}, batch * factor, {}).graph
    except InputError:
        return None

"""Builds graphs one after the other and keeps a row of each, with its reason where it failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ctm_research.bridge.environment import command
from ctm_research.bridge.prepare import Converter, check_disk
from ctm_research.bridge.table import Table
from ctm_research.building.plan import Definition
from ctm_research.corpus.graph_files import GraphReader
from ctm_research.sources.built import ENDING
from ctm_research.sources.samples import GraphFile
from predictor.core.errors import InputError
from predictor.graph.operator_graph import OperatorGraph

ROWS = "rows.jsonl"
LIMIT_S = 300.0


def build(
    definitions: Sequence[Definition],
    folder: Path,
    work: Path,
    tell: Callable[[str], None],
    limit_s: float = LIMIT_S,
    *,
    again: bool = False,
) -> None:
    """Build what is not there and has not failed: an end at any moment loses the running one only.

    Args:
        definitions: what to build, in this order.
        folder: of the graphs.
        work: folder of the environment.
        tell: takes a line of progress.
        limit_s: longest time of one network.
        again: whether to try those that failed before, too.

    Raises:
        HostError: there is no environment, or a file cannot be written.
        InputError: the file of rows is damaged.
    """
    table = Table(folder / ROWS)
    failed = {entry["name"] for entry in table.entries if "reason" in entry and not again}
    waiting = [d for d in definitions if d.name not in failed and not _path(folder, d).exists()]
    tell(f"{len(definitions)} networks, {len(waiting)} to build")
    if not waiting:
        return
    arguments = command(work, "building.export")
    folder.mkdir(parents=True, exist_ok=True)
    with Converter(arguments, folder, limit_s) as converter, GraphReader() as reader:
        for number, definition in enumerate(waiting, 1):
            check_disk(folder)
            began = time.monotonic()
            row = _built(definition, _path(folder, definition), converter, reader)
            seconds = time.monotonic() - began
            table.add({"name": definition.name, "rows": definition.rows, **row})
            result = row.get("reason") or f"{seconds:.1f} s"
            tell(f"{number}/{len(waiting)} {definition.name}, {definition.rows} rows: {result}")


def _path(folder: Path, definition: Definition) -> Path:
    return folder / f"{definition.name}{ENDING}"


def _built(
    definition: Definition, path: Path, converter: Converter, reader: GraphReader
) -> dict[str, Any]:
    # Nobody reads it by this name before it is known to be the network that was measured.
    unchecked = path.with_name(f"{definition.name}.unchecked.gz")
    job = {"module": definition.module, "inputs": definition.inputs, "path": str(unchecked)}
    answer = converter.answer(job)
    if "reason" in answer:
        unchecked.unlink(missing_ok=True)
        return {"reason": answer["reason"]}
    try:
        graph = reader.read(GraphFile(unchecked))
        reason = definition.misfit(answer["parameters"], _macs(graph))
    except InputError as error:
        reason = f"{error.subject}: {error.reason}"
    if reason:
        unchecked.unlink()
        return {"reason": reason}
    unchecked.replace(path)
    return {"parameters": answer["parameters"], "macs": _macs(graph)}


def _macs(graph: OperatorGraph) -> int:
    return int(graph.macs.sum())

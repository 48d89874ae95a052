"""The user's measurements of targets, as engines take them.

A target has its active signature, where that passed its checks or is used anyway, and the
measurements there outside of signatures and probe sessions: the user's own models, the newest
measurement of each graph. Signatures that are not active, say of an older driver, and measurements
that were excluded from one have no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from predictor.core.records import Measurement, Target, TargetId
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.store import measurements as measurement_records
from predictor.store import models as model_records
from predictor.store import signatures as signature_records
from predictor.store.database import Database, has_store, open_database

if TYPE_CHECKING:
    from predictor.probing.importers.fused_operators import OperatorNames
    from predictor.probing.operator_times import OperatorTime

# What a store without signatures does not need is imported where it is used.
# ruff: noqa: PLC0415

_MAX_ADDED_MS: Final = 0.01  # that a profiler may add to an entry
_MIN_SHARE: Final = 0.2  # of an entry that is not the profiler's
_FOR_THE_NEXT: Final = "ReorderInput"  # onnxruntime's, before a convolution


def times_of_operators(
    graph: OperatorGraph, entries: Sequence[OperatorTime], latency_ms: float
) -> OperatorTimes | None:
    """Return the times of a graph's operators; None where no entry is one of them.

    A profiled run takes longer than others. The excess is the profiler's, equal for each entry;
    then the entries are made to sum to the latency that was measured without it. Layout changes
    that the runtime put in for an operator count for that operator.

    Args:
        graph: that was profiled; its operators have the names of the file's nodes.
        entries: of the profile.
        latency_ms: measured without the profiler.
    """
    from predictor.probing.importers.fused_operators import match_entries

    time_ms = np.array([entry.time_ms for entry in entries])
    if not len(time_ms) or time_ms.sum() <= 0:
        return None
    # At most 10 us and four fifths of an entry: decision record 0014.
    added = np.clip((time_ms.sum() - latency_ms) / len(time_ms), 0.0, _MAX_ADDED_MS)
    net_ms = np.maximum(time_ms - added, _MIN_SHARE * time_ms)
    net_ms *= latency_ms / net_ms.sum()
    groups = match_entries(entries, _names(graph))
    matched = np.array([place for place, group in enumerate(groups) if group])
    if not len(matched):
        return None
    # Index into ``matched`` of the last matched entry at or before each entry; -1 for none.
    before = np.searchsorted(matched, np.arange(len(entries)), "right") - 1
    after = np.minimum(before + 1, len(matched) - 1)
    # A reorder before a convolution belongs to the next operator; all others to the one before.
    first = np.array([entry.op_type == _FOR_THE_NEXT for entry in entries]) | (before < 0)
    first[matched] = False
    sums_ms = np.zeros(len(matched))
    # Not ``whole[...] +=``, which counts repeated indices once.
    np.add.at(sums_ms, np.where(first, after, before), net_ms)
    return OperatorTimes([groups[place] for place in matched], sums_ms)


def _names(graph: OperatorGraph) -> list[OperatorNames]:
    from predictor.probing.importers.fused_operators import OperatorNames

    inputs: list[list[str]] = [[] for _ in range(len(graph))]
    for producer, consumer in graph.edges.T.tolist():
        inputs[consumer].append(graph.names[producer])
    return [
        OperatorNames(name, op_type, tuple(read), (name,))
        for name, op_type, read in zip(graph.names, graph.op_types, inputs, strict=True)
    ]


MIN_NOISE: Final = 0.01
"""Of ln(latency): medians of one machine differ by as much from one minute to the next."""
DEFAULT_NOISE: Final = 0.03
"""Of ln(latency) of a measurement without samples."""


@dataclass(frozen=True, slots=True)
class UserSignatures:
    """The user's measurements by target; equal where they have the same measurements.

    Attributes:
        ids: of each target's signature (empty for none) and measurements.
        measured: as engines take it.
    """

    ids: Mapping[TargetId, tuple[str, ...]] = field(default_factory=dict)
    measured: Mapping[TargetId, TargetMeasurements] = field(default_factory=dict, compare=False)

    def of(self, targets: Sequence[Target]) -> dict[TargetId, TargetMeasurements]:
        """Return the measurements of the devices of some targets, in whatever configuration.

        Those of one configuration are evidence for the others of its device.
        """
        devices = {target.device.id for target in targets}
        return {
            key: measurements
            for key, measurements in self.measured.items()
            if key.device_id in devices
        }

    def has_device(self, device_id: str) -> bool:
        """Return whether something was measured on a device in any configuration."""
        return any(target.device_id == device_id for target in self.measured)


NOTHING_MEASURED: Final = UserSignatures()


def read_user_signatures(database: Database) -> UserSignatures:
    """Read the user's measurements of all targets.

    Raises:
        HostError: the store cannot be read.
    """
    from predictor.services.signatures.quick import used_signatures

    ids: dict[TargetId, str] = {}
    stored: dict[TargetId, list[Measurement]] = {}
    unstable: dict[TargetId, str] = {}
    for entry in used_signatures(signature_records.stored(database)):
        from predictor.services.signatures.checks import reason_against

        signature, reason = entry.signature, ""
        measurements = measurement_records.of_signature(database, signature.id)
        reason = reason_against(
            database, entry, partial(measurements_of, database, signature.id, measurements)
        )
        if reason and not entry.facts.used_anyway:
            continue
        name = TargetId.of(signature)
        ids[name], stored[name], unstable[name] = signature.id, measurements, reason
    for measurement in measurement_records.of_no_signature(database):
        stored.setdefault(TargetId.of(measurement), []).append(measurement)
    measured = {
        name: replace(for_engine, unstable=unstable.get(name, ""))
        for name, of_target in stored.items()
        if (for_engine := _measurements(database, ids.get(name, ""), of_target)) is not None
    }
    return UserSignatures(
        {name: (ids.get(name, ""), *(m.id for m in stored[name])) for name in measured}, measured
    )


def stored_signatures(path: Path | None = None) -> UserSignatures:
    """Read the user's measurements from the store at ``path``; a store is not made for it.

    Args:
        path: the store's file; None for that of CTM_STORE, else the one in the user's folder.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the store cannot be read.
    """
    if not has_store(path):
        return NOTHING_MEASURED
    with closing(open_database(path)) as database:
        return read_user_signatures(database)


def noise_of(measurement: Measurement) -> float:
    """Return the standard deviation of ln(value) by its samples."""
    samples = np.array(measurement.samples_ns, np.float64)
    if samples.size < 2 or samples.min() <= 0:
        return DEFAULT_NOISE
    return max(MIN_NOISE, float(np.log(samples).std()) / math.sqrt(samples.size))


def measurements_of(
    database: Database, signature_id: str, measurements: Iterable[Measurement]
) -> tuple[TargetMeasurements, tuple[Measurement, ...]]:
    """Return measurements as engines take them, and those of which the graph is known.

    Args:
        database: where graphs that are not of the pool are looked up.
        signature_id: that they are of, empty for none.
        measurements: the oldest first; the newest of a graph counts.
    """
    from predictor.services.signatures.adaptation import film_of

    newest = {m.fingerprint: m for m in measurements if m.value_ms > 0}
    pairs = [(graph, m) for m in newest.values() if (graph := _graph(database, m.fingerprint))]
    measured = TargetMeasurements(
        signature_id=signature_id,
        graphs=tuple(graph for graph, _ in pairs),
        latency_ms=np.array([m.value_ms for _, m in pairs], np.float64),
        noise=np.array([noise_of(m) for _, m in pairs], np.float64),
        film=film_of(signature_records.facts_of(database, signature_id)),
        operators=_operators(pairs),
    )
    return measured, tuple(m for _, m in pairs)


def _operators(
    pairs: Sequence[tuple[OperatorGraph, Measurement]],
) -> tuple[OperatorTimes | None, ...]:
    """Return the times of the operators of each graph; empty where none are known."""
    from predictor.probing.operator_times import operator_times

    times = tuple(
        times_of_operators(graph, operator_times(m.provenance), m.value_ms) for graph, m in pairs
    )
    return times if any(times) else ()


def _measurements(
    database: Database, signature_id: str, measurements: Iterable[Measurement]
) -> TargetMeasurements | None:
    measured, used = measurements_of(database, signature_id, measurements)
    return measured if used else None


def _graph(database: Database, fingerprint: str) -> OperatorGraph | None:
    # Graphs of the pool ship with the program and are not stored with every signature.
    from predictor.probing.networks.graphs import pool_graph

    graph = pool_graph(fingerprint)
    if graph is not None:
        return graph
    data = model_records.graph_of(database, fingerprint)
    return _parsed(data) if data else None


@lru_cache(maxsize=64)
def _parsed(data: bytes) -> OperatorGraph | None:
    try:
        return OperatorGraph.from_bytes(data)
    except (ValueError, KeyError):
        return None  # of an older program

"""The protocol of every latency engine, its arguments and its results."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats
from predictor.core.errors import InputError
from predictor.core.records import Basis, Device, Target, TargetId
from predictor.cost.run_facts import Facts
from predictor.graph.operator_graph import OperatorGraph


@dataclass(frozen=True, slots=True, eq=False)
class FilmBiases:
    """The last biases of the two MLPs of FiLM: for one target, gamma and beta themselves.

    Attributes:
        gamma, beta: float32 [d].
    """

    gamma: NDArray[np.float32]
    beta: NDArray[np.float32]

    def to_json(self) -> dict[str, str]:
        """Return plain values."""
        return {"gamma": _text(self.gamma), "beta": _text(self.beta)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FilmBiases:
        """Rebuild from :meth:`to_json`.

        Raises:
            KeyError, TypeError, ValueError: a part is missing or wrong.
        """
        gamma, beta = _array(data["gamma"]), _array(data["beta"])
        if gamma.shape != beta.shape or not np.isfinite([gamma, beta]).all():
            raise ValueError("gamma and beta do not fit")
        return cls(gamma, beta)


@dataclass(frozen=True, slots=True, eq=False)
class FilmTuning:
    """FiLM fine-tuned to the measurements of one target.

    Attributes:
        network: SHA-256 of the file of the network that was fine-tuned; no other takes it.
        biases: fitted to all measurements.
        without: fitted to all but one, by the fingerprint of that one's graph: a graph that was
            measured is predicted by biases that have not seen it.
    """

    network: str
    biases: FilmBiases
    without: Mapping[str, FilmBiases] = field(default_factory=dict)

    def unseen(self, fingerprint: str) -> FilmTuning:
        """Return the tuning without a graph; itself where that is none of its samples."""
        biases = self.without.get(fingerprint)
        return self if biases is None else FilmTuning(self.network, biases)

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "network": self.network,
            **self.biases.to_json(),
            "without": {key: biases.to_json() for key, biases in self.without.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FilmTuning:
        """Rebuild from :meth:`to_json`.

        Raises:
            AttributeError, KeyError, TypeError, ValueError: a part is missing or wrong.
        """
        without = {
            str(key): FilmBiases.from_json(biases) for key, biases in data["without"].items()
        }
        return cls(str(data["network"]), FilmBiases.from_json(data), without)


def _text(values: NDArray[np.float32]) -> str:
    # Little-endian on every machine: the text travels in stores and project files.
    return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def _array(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)


class BoundType(IntEnum):
    """Largest part of an operator's time."""

    NONE = 0  # a view or a fused epilogue: no time of its own
    COMPUTE = 1
    MEMORY = 2
    LAUNCH = 3


@dataclass(frozen=True, slots=True, eq=False)
class OperatorTimes:
    """Times of the operators of one graph, from a profile.

    Attributes:
        groups: operators that ran together, by their places in the graph, n groups.
        time_ms: float64 [n]; with operators of no group they sum to the graph's latency.
    """

    groups: Sequence[tuple[int, ...]]
    time_ms: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TargetMeasurements:
    """Measurements on one target: its Device Behavior Signature with the graphs themselves.

    Attributes:
        signature_id: id of the signature that they are of, empty for measurements of none.
        graphs: S graphs, each at the batch that was run.
        latency_ms: float64 [S], of one run over the graph's batch.
        noise: float64 [S], standard deviation of ln(latency) as far as the samples show it.
        film: FiLM fine-tuned to them; None where the network stays as it ships.
        operators: times of the operators of each graph, None for a graph without a profile; empty
            where no graph has one.
        unstable: why their probing failed its own checks, in words; empty where it did not.
    """

    signature_id: str
    graphs: Sequence[OperatorGraph]
    latency_ms: Floats
    noise: Floats
    film: FilmTuning | None = None
    operators: Sequence[OperatorTimes | None] = ()
    unstable: str = ""


NOTHING_MEASURED: Final[Mapping[TargetId, TargetMeasurements]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PredictionTable:
    """Latencies of G graphs on T targets; NaN where there is no number.

    Attributes:
        engine: name and version of the engine.
        latency_ms: float64 [G, T], P50 of one run over the graph's batch.
        low80_ms, high80_ms, low95_ms, high95_ms: float64 [G, T]; NaN for engines without intervals.
        bound_ms: float64 [G, T], no run can be faster.
        basis: Basis of each cell by (graph, target) index, or None, G rows of T.
        memory_bytes: float64 [G, T], weights and peak activations in the target's precision.
        fits_memory: True, False, or None where the device's memory is not known, G rows of T.
        problems: why a cell has no number, by (graph, target) index.
        predicted_ms: float64 [G, T], the engine's own; ``latency_ms`` differs from it where
            the basis is MEASURED.
        out_of_distribution: why a cell is outside the training distribution, in words, by
            (graph, target) index.
        shared_error: float32 [G, T, S], shared part of the errors of graphs on one target: the
            dot product of two graphs' vectors is the correlation of their errors of ln(latency).
            None for engines without intervals.
        facts: values of further fields of ``Prediction`` by name, G rows of T, computed as they are
            read or before. A new field needs no other place between an engine and the records.
    """

    engine: str
    latency_ms: Floats
    low80_ms: Floats
    high80_ms: Floats
    low95_ms: Floats
    high95_ms: Floats
    bound_ms: Floats
    basis: Sequence[Sequence[Basis | None]]
    memory_bytes: Floats
    fits_memory: Sequence[Sequence[bool | None]]
    problems: Mapping[tuple[int, int], str]
    predicted_ms: Floats
    out_of_distribution: Mapping[tuple[int, int], str] = field(default_factory=dict)
    shared_error: NDArray[np.float32] | None = None
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AttentionMaps:
    """Attention of the Hardware-Operation Dialogue Module, of one graph on one target.

    Attributes:
        metrics: names of the K metrics of the target that are known, in the order of the registry.
        operator_to_metric: float32 [N, K], each row sums to 1.
        metric_to_operator: float32 [K, N], each row sums to 1.
        blend: lambda of Eq. (9), the weight of the branch in which operators attend to metrics.
        residual: alpha_res of Eq. (8), the weight of attention beside an operator's own state.
        is_time: whether the weights are shares of time, from terms that add up, and no network's.
        learned: float32 [N, K], the factors on the time of each metric that were learned of single
            operators; None where the maps are a network's.
        network: factor on the time of the whole graph that was learned of like networks.

    Reference:
        CloserToMe, Eq. (7) to (9).
    """

    metrics: tuple[str, ...]
    operator_to_metric: NDArray[np.float32]
    metric_to_operator: NDArray[np.float32]
    blend: float
    residual: float
    is_time: bool = False
    learned: NDArray[np.float32] | None = None
    network: float = 1.0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Explanation:
    """Where one graph's time goes on one target; every array float64 [N] in ms unless said.

    Attributes:
        latency_ms: per operator; sums to the prediction.
        compute_ms: time that the operator's arithmetic takes at the target's rate.
        memory_ms: time that its traffic takes at the target's bandwidth.
        launch_ms: its launch overhead.
        bound_ms: the part of the physical bound that its arithmetic makes.
        bound_type: int8 [N], :class:`BoundType`.
        attention: HODM's attention maps; None for engines without it.
    """

    latency_ms: Floats
    compute_ms: Floats
    memory_ms: Floats
    launch_ms: Floats
    bound_ms: Floats
    bound_type: NDArray[np.int8]
    attention: AttentionMaps | None = None

    @classmethod
    def of_parts(cls, parts_ms: Floats, attention: AttentionMaps | None = None) -> Explanation:
        """Return the explanation of operators by parts that add up, without bounds.

        Args:
            parts_ms: float64 [N, 3], arithmetic, traffic and launches; operators that take no time
                are 0.
            attention: of the graph on the target.
        """
        latency_ms = parts_ms.sum(axis=1)
        kind = np.array([BoundType.COMPUTE, BoundType.MEMORY, BoundType.LAUNCH], np.int8)
        return cls(
            latency_ms=latency_ms,
            compute_ms=parts_ms[:, 0],
            memory_ms=parts_ms[:, 1],
            launch_ms=parts_ms[:, 2],
            bound_ms=np.full(len(parts_ms), np.nan),
            bound_type=np.where(latency_ms > 0, kind[parts_ms.argmax(axis=1)], np.int8(0)),
            attention=attention,
        )


@dataclass(frozen=True, slots=True, eq=False)
class VariedTimes:
    """Times of one graph of N operators on V variants of a target; float64, ms.

    Attributes:
        operator_ms: [V, N], before they are raised to the bound.
        latency_ms: [V], the predictions.
    """

    operator_ms: Floats
    latency_ms: Floats


class Engine(Protocol):
    """Predicts the latency of operator graphs on targets."""

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction: ``roofline/1``."""

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],
    ) -> PredictionTable:
        """Predict every graph on every target in one call.

        Args:
            graphs: G graphs, each at the batch that is asked about.
            targets: T targets.
            measured: measurements on targets; engines that need none ignore it.

        Returns:
            A table of G x T; a cell without a number has a problem in words.
        """

    def explain(
        self,
        graph: OperatorGraph,
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
        *,
        predicted: Floats | None = None,
        places: Sequence[int] | None = None,
    ) -> Iterator[Explanation | None]:
        """Explain the time of one graph on targets, one after the other.

        None where there is no number. An explanation is made as it is read: those of a large graph
        on many targets side by side would take gigabytes.

        Args:
            graph: the graph.
            targets: T of them; as given to :meth:`predict` they are not looked up again.
            measured: given the same as :meth:`predict`.
            predicted: float64 [T], the latencies that it gave; None where they are to be predicted.
            places: of the targets to explain; None for all.
        """

    def varied(
        self,
        graph: OperatorGraph,
        target: Target,
        devices: Sequence[Device],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
    ) -> VariedTimes:
        """Return the times of a graph were the facts of a target's device others.

        Evidence stays that of the target: what its measurements gave with its own facts.

        Args:
            graph: N operators.
            target: the target.
            devices: V variants of its device, see :mod:`predictor.devices.variation`.
            measured: given the same as :meth:`predict`.

        Raises:
            InputError: the target has no number for this graph; the reason as in the table.
        """


def no_number(target: Target, problem: str) -> InputError:
    """Return the error of a target without a number, from the words of its problem."""
    reason, _, action = problem.rpartition("; ")
    return InputError(target.device.id, reason, action)

"""The shipped network through onnxruntime: one graph encoded once, then any number of targets.

No torch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats, Integers
from predictor.core.caching import IdentityCache
from predictor.core.errors import InputError
from predictor.cost.columns import Columns, OperatorColumns
from predictor.cost.engine import FilmBiases
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import exact_features, scale_free
from predictor.network.reference_rates import ReferenceRates
from predictor.network.target_facts import TargetFacts
from predictor.network.work_terms import off_chip_share, running_operators, work_terms

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, OrtValue

FILM_GAMMA: Final = "network.conversation.film.gamma.2.bias"
FILM_BETA: Final = "network.conversation.film.beta.2.bias"
"""Weights of the head that FiLM fine-tuning fits: for one target, gamma and beta themselves."""

_THREADS: Final = 2  # more do not make a graph of a hundred operators faster
_MAX_TUNED: Final = 32  # heads with FiLM fine-tuned, a third of a megabyte each


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EncodedGraph:
    """One graph after the graph layers.

    Attributes:
        places: int64 [R], of its operators that run.
        states: float32 [R, d].
        responses: float32 [R, 3, F].
        operators: costs of the R.
        weights: [1, WIDTHS], bytes of its distinct weights.
        live: [1, WIDTHS], bytes of its largest set of live activations.
    """

    places: Integers
    states: NDArray[np.float32]
    responses: NDArray[np.float32]
    operators: OperatorColumns
    weights: Floats
    live: Floats


@dataclass(frozen=True, slots=True, eq=False)
class HeadOutput:
    """Outputs of the head for R operators on T targets.

    Attributes:
        parts_ms: float32 [R, T, 3], time in arithmetic, traffic and launches.
        run_ms: float32 [T], of every run.
        operator_to_metric: float32 [R, T, J + M + 1]: kinds of choices, metrics, "unknown".
        metric_to_operator: float32 [R, T, J + M + 1].
    """

    parts_ms: NDArray[np.float32]
    run_ms: NDArray[np.float32]
    operator_to_metric: NDArray[np.float32]
    metric_to_operator: NDArray[np.float32]


class TermRuntime:
    """Both halves of the network, ready to run."""

    def __init__(self, encoder: Path, head: Path, vocabulary: int) -> None:
        """Load the files.

        Args:
            encoder: half of the exported network that reads the graph.
            head: the half that reads targets.
            vocabulary: operators that the network knows; a later code counts as unknown.

        Raises:
            InputError: a file is missing, damaged, or needs a newer onnxruntime.
        """
        self._encoder, self._head = _session(encoder), _session(head)
        self._vocabulary = vocabulary
        self._head_file = head
        # A tuned head is a session of its own: initializers cannot change in a loaded one.
        self._tuned: IdentityCache[_TunedHead] = IdentityCache(_MAX_TUNED)

    def encode(self, graph: OperatorGraph) -> EncodedGraph:
        """Run the graph layers over one graph."""
        costs = Columns.of(graph)
        operators, places = running_operators(costs)
        code = np.where(graph.op_code < self._vocabulary, graph.op_code, 0).astype(np.int64)
        # In float64: float32 amounts round differently at each batch, and features must not change.
        features = scale_free(exact_features(graph))
        states, responses = self._encoder.run(
            None,
            {
                "op_code": code,
                "features": features,
                "edges": graph.edges.astype(np.int64),
                "running": places.astype(np.int64),
            },
        )
        return EncodedGraph(
            places=places,
            states=states,
            responses=responses,
            operators=operators,
            weights=costs.weights_by_width[None],
            live=costs.live_by_width[None],
        )

    def expect(
        self,
        graph: EncodedGraph,
        facts: TargetFacts,
        rates: ReferenceRates,
        film: FilmBiases | None = None,
    ) -> HeadOutput:
        """Return the network's outputs on T targets.

        Args:
            graph: encoded.
            facts: of the targets.
            rates: of the targets.
            film: FiLM as it was fine-tuned; None for that which ships.
        """
        head = self._head
        if film is not None:
            head = self._tuned.get((film,), lambda: _TunedHead(self._head_file, film)).session
        return HeadOutput(*head.run(None, self.head_inputs(graph, facts, rates)))

    def head_inputs(
        self, graph: EncodedGraph, facts: TargetFacts, rates: ReferenceRates
    ) -> dict[str, NDArray[np.generic]]:
        """Return the inputs of the head for one graph on T targets."""
        leaving = off_chip_share(graph.weights, graph.live, rates)
        return {
            "states": graph.states,
            "values": np.where(facts.available, facts.values, 0),
            "available": facts.available,
            "choices": facts.choices,
            "terms_ms": work_terms(graph.operators, leaving, rates),
        }


class _TunedHead:
    """The head with its FiLM fine-tuned; the session reads the values for as long as it lives."""

    def __init__(self, path: Path, film: FilmBiases) -> None:
        import onnxruntime  # noqa: PLC0415  # as below

        biases = {FILM_GAMMA: film.gamma, FILM_BETA: film.beta}
        self._values = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(bias))
            for name, bias in biases.items()
        }
        self.session = _session(path, self._values)


def _session(path: Path, replaced: Mapping[str, OrtValue] | None = None) -> InferenceSession:
    """Load a file, with other weights in the place of some of its own by name."""
    # Set before the first import, or onnxruntime keeps a device id and reports its use.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # noqa: PLC0415  # 100 ms, and only the learned engine needs it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
    # A thread that waits for the other's part would keep a core busy: twice the processor time for
    # ResNet-50 on 600 targets, and no less time where other programs want that core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Errors only: warnings of the runtime would mix with a command's messages on stderr.
    options.log_severity_level = 3
    # What ORT_ENABLE_ALL adds is for convolutions: a third of the time to load, and no faster run.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    # The arena keeps what the largest graph took, half a gigabyte for 100 000 operators, and is no
    # faster for runs of milliseconds.
    options.enable_cpu_mem_arena = False
    for name, values in (replaced or {}).items():
        options.add_initializer(name, values)
    try:
        return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises types of its own, by reason
        reason = str(error).partition("\n")[0][:200]
        raise InputError(
            str(path), f"it cannot be loaded ({reason})", "install the program again"
        ) from error

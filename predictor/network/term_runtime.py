"""The shipped network through onnxruntime: one graph encoded once, then any number of targets.

No torch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.cost.columns import Columns
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import exact_features
from predictor.network.reference_rates import ReferenceRates
from predictor.network.scale_free import scale_free
from predictor.network.target_facts import TargetFacts
from predictor.network.work_terms import Operators, leaving_share, work_terms

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_CELLS: Final = 1 << 15  # operators x targets at a time: the head's temporaries stay small
_THREADS: Final = 2  # more do not make a graph of a hundred operators faster


@dataclass(frozen=True, slots=True, eq=False)
class EncodedGraph:
    """One graph after the graph layers.

    Attributes:
        places: int64 [R], which of its operators run.
        states: float32 [R, d].
        responses: float32 [R, 3, F].
        operators: costs of the R.
        weights: [1, WIDTHS], bytes of its distinct weights.
        live: [1, WIDTHS], bytes of its largest set of live activations.
    """

    places: NDArray[np.int64]
    states: NDArray[np.float32]
    responses: NDArray[np.float32]
    operators: Operators
    weights: NDArray[np.float64]
    live: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HeadOutput:
    """What the network says of R operators on T targets.

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
            encoder: as :func:`predictor.network.term_export.export_terms` writes it.
            head: likewise.
            vocabulary: operators that the network knows; a later code counts as unknown.

        Raises:
            InputError: a file is missing, damaged, or needs a newer onnxruntime.
        """
        self._encoder, self._head = _session(encoder), _session(head)
        self._vocabulary = vocabulary

    def encode(self, graph: OperatorGraph) -> EncodedGraph:
        """Run the graph layers over one graph."""
        costs = Columns.of(graph)
        operators, places = Operators.of(costs)
        code = np.where(graph.op_code < self._vocabulary, graph.op_code, 0).astype(np.int64)
        states, responses = self._encoder.run(
            None,
            {
                "op_code": code,
                "features": scale_free(exact_features(graph)),
                "edges": graph.edges.astype(np.int64),
                "running": places.astype(np.int64),
            },
        )
        return EncodedGraph(
            places,
            states,
            responses,
            operators,
            costs.weights_by_width[None],
            costs.live_by_width[None],
        )

    def expect(
        self, graph: EncodedGraph, facts: TargetFacts, rates: ReferenceRates
    ) -> Iterator[tuple[slice, HeadOutput]]:
        """Yield what is expected on T targets, some targets at a time."""
        step = max(1, _CELLS // max(1, len(graph.places)))
        for start in range(0, len(rates), step):
            part = slice(start, start + step)
            some = rates.take(np.arange(len(rates))[part])
            leaving = leaving_share(graph.weights, graph.live, some)
            yield (
                part,
                HeadOutput(
                    *self._head.run(
                        None,
                        {
                            "states": graph.states,
                            "values": np.where(facts.available, facts.values, 0)[part],
                            "available": facts.available[part],
                            "choices": facts.choices[part],
                            "terms_ms": work_terms(graph.operators, leaving, some),
                        },
                    )
                ),
            )


def _session(path: Path) -> InferenceSession:
    # Set before the first import, or onnxruntime keeps a device id and reports its use.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # noqa: PLC0415  # 100 ms, and only the learned engine needs it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(_THREADS, os.cpu_count() or 1)
    options.log_severity_level = 3
    # What ORT_ENABLE_ALL adds is for convolutions: a third of the time to load, and no faster run.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    try:
        return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises types of its own, by reason
        reason = str(error).partition("\n")[0][:200]
        raise InputError(
            str(path), f"it cannot be loaded ({reason})", "install the program again"
        ) from error

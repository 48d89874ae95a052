"""A tiny checkpoint with random weights of the network and a small estimate."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from ctm_research.network.choices import CHOICES
from ctm_research.training.files import write_card, write_estimate
from ctm_research.training.statistics import fit_facts, fit_typical
from predictor.calibration.deviation import DeviationPrior
from predictor.core.metrics import Family
from predictor.core.records import Precision, Target
from predictor.cost.engine import FilmBiases, FilmTuning, TargetMeasurements
from predictor.cost.operator_kinds import NETWORK_KINDS
from predictor.engine.checkpoint import ESTIMATE, EngineCard, Widths
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import Estimate
from predictor.graph.operators import OPERATORS
from predictor.network.reference_rates import ReferenceRates
from predictor.network.term_runtime import FILM_BETA, FILM_GAMMA
from tests.support.estimates import evidence_of, other_device, small_estimate
from tests.support.graphs import Op, make_graph, make_target
from tests.support.operator_factors import random_factors

EXPORTED = Path(__file__).resolve().parents[1] / "golden" / "tiny_network"
RESPONSES = 2
TARGETS = [
    other_device("first"),
    other_device(
        "second",
        make_target(
            {"fp32_tflops": 8.0, "dram_bw_gbps": 300.0, "l2_kb": 4000.0, "clock_mhz": 1500.0}
        ),
    ),
    other_device(
        "board",
        make_target(
            {"fp32_tflops": 0.1, "dram_bw_gbps": 10.0, "core_count": 4.0},
            family=Family.CPU,
            runtime="ncnn",
        ),
    ),
]
TYPICAL = fit_typical([target.device for target in TARGETS])
FACTS = fit_facts(TARGETS, ReferenceRates.of(TARGETS, TYPICAL))
PROBED = other_device(
    "probed",
    make_target({"fp32_tflops": 3.0, "dram_bw_gbps": 200.0}, precision=Precision.FP16),
)


def tiny_card() -> EngineCard:
    """Return the card of the network."""
    return EngineCard(
        name="closertome/1",
        responses=RESPONSES + len(NETWORK_KINDS),
        operators=len(OPERATORS),
        choices=CHOICES,
        facts=FACTS,
        typical=TYPICAL,
        prior=DeviationPrior(0.3, 1.0, 0.1),
        widths=Widths((1.2, 1.1), (0.9, 1.0), (1.5, 1.4)),
        families=dict.fromkeys(OPERATORS, 5),
        blend=0.5,
        residual=0.25,
        notes={"trained_on": "nothing"},
    )


def tiny_estimate() -> Estimate:
    """Return an estimate that has seen ``PROBED``: half as fast as expected, and surely so.

    Its factors of single operators are random.
    """
    estimate = small_estimate(evidence_of([PROBED], [np.log(2.0)], [12]))
    return replace(estimate, operators=random_factors())


def write_tiny(folder: Path) -> Path:
    """Write the checkpoint into ``folder``."""
    shutil.copytree(EXPORTED, folder)
    write_estimate(folder / ESTIMATE, tiny_estimate())
    write_card(folder, tiny_card())
    return folder


_KEPT = tempfile.TemporaryDirectory()


@cache
def tiny_checkpoint() -> Path:
    """Return a folder with the checkpoint, written once; no test changes it."""
    return write_tiny(Path(_KEPT.name) / "tiny")


@cache
def tiny_engine() -> CloserToMeEngine:
    """Return the engine of the tiny checkpoint."""
    return CloserToMeEngine(tiny_checkpoint())


# --- A target that the network was fine-tuned to ---

GRAPHS = [
    make_graph([Op(macs=m, read=m // part, written=m // part)] * count)
    for m, part, count in ((10**6, 9, 2), (10**7, 3, 4), (10**8, 50, 3), (10**9, 20, 5))
]


@cache
def shipped_biases() -> FilmBiases:
    """Return the FiLM of the tiny network before any fine-tuning."""
    weights = {each.name: each for each in onnx.load(tiny_engine().network.head).graph.initializer}
    gamma, beta = (numpy_helper.to_array(weights[name]) for name in (FILM_GAMMA, FILM_BETA))
    return FilmBiases(gamma, beta)


def moved(biases: FilmBiases, by: float = 0.5) -> FilmBiases:
    """Return biases further off."""
    return FilmBiases(biases.gamma + np.float32(by), biases.beta - np.float32(by))


def tuned_to(target: Target, factor: float = 1.0, by: float = 0.5) -> TargetMeasurements:
    """Return measurements of a target that the network was fine-tuned to.

    Args:
        target: that was measured.
        factor: on the estimate's latencies.
        by: move of the biases by fine-tuning.
    """
    plain = tiny_engine().predict(GRAPHS, [target], {}).latency_ms[:, 0]
    latency_ms = plain * factor * np.array([2.0, 1.0, 3.0, 1.5])
    film = FilmTuning(tiny_engine().network.checksum, moved(shipped_biases(), by))
    return TargetMeasurements(
        signature_id="own",
        graphs=GRAPHS,
        latency_ms=latency_ms,
        noise=np.full(len(GRAPHS), 0.01),
        film=film,
    )

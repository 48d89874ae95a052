"""A tiny checkpoint of the learned engine with random weights: what holds of it holds of any."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from predictor.calibration.deviation import DeviationPrior
from predictor.core.metrics import Family
from predictor.core.records import Precision, Target
from predictor.engine.checkpoint import (
    ENCODER,
    HEAD,
    EngineCard,
    Experience,
    ShippedSignatures,
    Widths,
)
from predictor.engine.closertome import CloserToMeEngine
from predictor.graph.operators import OPERATORS
from predictor.network.config import NetworkConfig
from predictor.network.features import OPERATOR_KINDS, SCALE_FREE_NAMES, exact_features, scale_free
from predictor.network.reference_rates import ReferenceRates
from predictor.network.scaling import Scaling
from predictor.network.target_facts import CHOICES, OF_KIND
from predictor.network.term_network import TermNetwork
from predictor.research.training.export import export_terms
from predictor.research.training.files import write_card, write_signatures
from predictor.research.training.statistics import fit_facts, fit_typical
from tests.unit.cost.graphs import Op, make_graph, make_target
from tests.unit.network.samples import randomise

RESPONSES = 2
TARGETS = [
    make_target(),
    make_target({"fp32_tflops": 8.0, "dram_bw_gbps": 300.0, "l2_kb": 4000.0, "clock_mhz": 1500.0}),
    make_target(
        {"fp32_tflops": 0.1, "dram_bw_gbps": 10.0, "core_count": 4.0},
        family=Family.CPU,
        runtime="ncnn",
    ),
]
TYPICAL = fit_typical([target.device for target in TARGETS])
FACTS = fit_facts(TARGETS, ReferenceRates.of(TARGETS, TYPICAL))
_FP16 = make_target({"fp32_tflops": 3.0, "dram_bw_gbps": 200.0}, precision=Precision.FP16)
PROBED = Target(replace(_FP16.device, id="probed"), _FP16.configuration)


def tiny_network(seed: int = 0) -> TermNetwork:
    """Return a network of which every weight is random, as after training."""
    config = NetworkConfig(
        metrics=FACTS.names, width=8, layers=1, features=len(SCALE_FREE_NAMES), seed=seed
    )
    rows = scale_free(exact_features(make_graph([Op(macs=100, read=10, written=10), Op()])))
    network = TermNetwork(
        config, OF_KIND, RESPONSES, Scaling.fit(SCALE_FREE_NAMES, rows), summary=3
    )
    randomise(network, seed)
    return network.eval()


def tiny_card(network: TermNetwork) -> EngineCard:
    """Return the card of a network."""
    return EngineCard(
        name="closertome/1",
        responses=network.response_count,
        operators=network.config.operators,
        choices=CHOICES,
        facts=FACTS,
        typical=TYPICAL,
        prior=DeviationPrior(0.3, 1.0, 0.1),
        widths=Widths((1.2, 1.1), (0.9, 1.0), (1.5, 1.4)),
        experience=Experience(
            dict.fromkeys(OPERATORS, 5),
            {"family gpu": 9, "precision fp32": 9, "precision fp16": 9, "runtime pytorch": 9},
            {"fp32_tflops": (np.log(0.1), np.log(100.0))},
        ),
        blend=0.5,
        residual=0.25,
        notes={"trained_on": "nothing"},
    )


def tiny_signatures() -> ShippedSignatures:
    """Return what is known of ``PROBED``: half as fast as expected, and surely so."""
    learned, kinds = [np.log(2.0), 0.3, -0.2], np.zeros(len(OPERATOR_KINDS))
    spread = np.concatenate([[0.01, 0.02, 0.02], kinds + 0.02])
    covariance = np.diag(spread)[np.tril_indices(len(spread))]
    return ShippedSignatures(
        (str(PROBED.id),),
        np.concatenate([learned, kinds])[None].astype(np.float32),
        covariance[None].astype(np.float32),
        np.array([0.05], np.float32),
        np.array([12], np.int32),
    )


def write_tiny(folder: Path) -> Path:
    """Write the checkpoint into ``folder``."""
    network = tiny_network()
    folder.mkdir(parents=True, exist_ok=True)
    export_terms(network, folder / ENCODER, folder / HEAD)
    write_signatures(folder, tiny_signatures())
    write_card(folder, tiny_card(network))
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

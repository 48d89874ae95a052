"""A small estimate with round numbers, and the shipped engine with and without its evidence."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from predictor.calibration.efficiencies import Efficiencies
from predictor.calibration.evidence import Evidence, Keys, Scales
from predictor.core.records import Target
from predictor.core.resources import resources_dir
from predictor.cost.engine import PredictionTable
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS, TypicalRates
from predictor.engine.checkpoint import ESTIMATE, EngineCard, ShippedSignatures, read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import Estimate, Track, write_estimate
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.research.training.files import write_card, write_signatures
from predictor.services.devices.catalogue import load_catalogue
from tests.unit.cost.graphs import make_target

SHIPPED = resources_dir() / "checkpoints" / "closertome"
# Variances 0.16, 0.09, 0.04, 0.01 and 0.01, 0.31 in all; 0.25 of one network.
SCALES = Scales(0.4, 0.3, 0.2, 0.1, 0.1, 0.5)
FACTORS = {"arithmetic": 2.0, "block": 1.0, "memory": 3.0, "launch": 4.0}
TYPICAL = TypicalRates(
    {"": 1e12}, {"vector": {"": 1.0}, "unit": {"": 0.01}, "bandwidth": {"": 0.1}}
)
ALL = Track(silicon=40, devices=60, error=0.3, wide80=1.5, wide95=2.5)
CLASS = Track(silicon=12, devices=15, error=0.214, wide80=1.25, wide95=2.0)
NEAR = Track(silicon=1, devices=3, error=0.1, wide80=1.0, wide95=1.75)


def small_estimate(evidence: Evidence | None = None) -> Estimate:
    """Return an estimate that has learned PyTorch on GPUs of no known maker."""
    none = np.zeros(len(KINDS) * len(TERMS))
    return Estimate(
        Efficiencies(
            np.tile(np.log([FACTORS[term] for term in TERMS]), len(KINDS)),
            {"all": {"all": none}, "runtime": {"pytorch": none, "ncnn": none}},
            {"all": {"all": 0.0}, "kind": {}, "runtime": {}, "class": {}},
            TYPICAL,
        ),
        evidence or evidence_of([], [], []),
        {"unseen": {"all": ALL, "gpu x pytorch": CLASS}, "near": {"all": NEAR}},
    )


def evidence_of(targets: list[Target], deviation: list[float], networks: list[int]) -> Evidence:
    counts = np.array(networks, np.int64)
    rate = np.full(len(targets), 1e12)
    return Evidence(Keys.of(targets), np.array(deviation), counts, rate, SCALES)


def other_device(name: str, target: Target | None = None, architecture: str = "") -> Target:
    """Return a target on another device of the same facts."""
    target = target or make_target()
    device = replace(target.device, id=name, architecture=architecture)
    return Target(device, target.configuration)


@cache
def shipped_engine() -> CloserToMeEngine:
    """Return the engine that ships."""
    return CloserToMeEngine(SHIPPED)


_KEPT = tempfile.TemporaryDirectory()


@cache
def without_estimate() -> Path:
    """Return a folder with the checkpoint that ships, as one of before estimates."""
    folder = Path(shutil.copytree(SHIPPED, Path(_KEPT.name) / "without"))
    (folder / ESTIMATE).unlink()
    write_card(folder, shipped_card())
    return folder


@cache
def shipped_card() -> EngineCard:
    """Return the card of the checkpoint that ships."""
    return read_checkpoint(SHIPPED).engine


@cache
def blind_engine() -> CloserToMeEngine:
    """Return the engine that ships, without any evidence: it estimates every target."""
    folder = Path(shutil.copytree(SHIPPED, Path(_KEPT.name) / "blind"))
    checkpoint = read_checkpoint(folder)
    assert checkpoint.estimate is not None
    evidence = checkpoint.estimate.evidence
    nothing = Evidence(
        evidence.keys.take(np.empty(0, np.int64)),
        np.empty(0),
        np.empty(0, np.int64),
        np.empty(0),
        evidence.scales,
    )
    write_estimate(folder / ESTIMATE, replace(checkpoint.estimate, evidence=nothing))
    s = checkpoint.signatures
    arrays = (s.mean, s.covariance, s.noise, s.graphs)
    write_signatures(folder, ShippedSignatures((), *(array[:0] for array in arrays)))
    write_card(folder, checkpoint.engine)
    return CloserToMeEngine(folder)


@cache
def every_target() -> tuple[Target, ...]:
    """Return each device of the catalogue in each configuration that it lists."""
    return tuple(
        Target(device, configuration)
        for device in load_catalogue().devices
        for configuration in device.configurations
    )


@cache
def samples() -> Mapping[str, OperatorGraph]:
    """Return the sample networks by name."""
    paths = sorted((resources_dir() / "samples").glob("*.onnx"))
    return {path.stem: ingest(str(path)).graph for path in paths}


def is_estimated(table: PredictionTable) -> np.ndarray:
    """Return of which targets the estimate predicts, bool [T]: it alone names its checks."""
    return np.array(["checked on" in words for words in table.facts["evidence"][0]])

"""A small estimate with round numbers, and the shipped engine with and without its evidence."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from ctm_research.training.files import write_card, write_estimate
from predictor.calibration.efficiencies import Efficiencies
from predictor.calibration.evidence import Evidence, Keys, Scales
from predictor.calibration.network_deviations import NetworkDeviations
from predictor.calibration.product_kinds import PRODUCT_KINDS
from predictor.calibration.target_fit import PARTS
from predictor.calibration.unknowns import MeasuredKinds
from predictor.core.records import Target
from predictor.core.resources import resources_dir
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.cost.rates.typical import TypicalRates
from predictor.engine import track
from predictor.engine.checkpoint import ESTIMATE, EngineCard, read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import Estimate
from predictor.engine.track import CHIP, UNSEEN, Track
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.devices.catalogue import load_catalogue
from tests.support.graphs import make_target
from tests.support.operator_factors import no_factors

SHIPPED = resources_dir() / "checkpoints" / "closertome"
# Variances 0.16, 0.09, 0.04, 0.01 and 0.01, 0.31 in all.
SCALES = Scales(0.4, 0.3, 0.2, 0.1, 0.1)
LEVEL = 0.31
ONE = 0.25  # variance of a level that one network tells
FACTORS = {"arithmetic": 2.0, "block": 1.0, "memory": 3.0, "launch": 4.0}
TYPICAL = TypicalRates(
    {"": 1e12},
    {"convolution": {"": 1.0}, "vector": {"": 1.0}, "unit": {"": 0.01}, "bandwidth": {"": 0.1}},
)
ALL = Track(silicon=40, devices=60, error=0.3, spread=0.6, wide80=1.5, wide95=2.5)
CLASS = Track(silicon=12, devices=15, error=0.214, spread=0.5, wide80=1.25, wide95=2.0)
NEAR = Track(silicon=1, devices=3, error=0.1, spread=0.4, wide80=1.0, wide95=1.75)
MEASURED = Track(silicon=9, devices=11, error=0.08, spread=0.2, wide80=1.1, wide95=1.6)
PROBED = Track(silicon=9, devices=11, error=0.12, spread=0.3, wide80=1.2, wide95=1.9)


class _Everything(frozenset[str]):
    """Names of everything: nothing is unknown."""

    def __contains__(self, name: object) -> bool:
        return True


def small_estimate(evidence: Evidence | None = None) -> Estimate:
    """Return an estimate that has learned PyTorch on GPUs of no known maker.

    Its factors of single operators are all 1.
    """
    none = np.zeros(PARTS)
    return Estimate(
        efficiencies=Efficiencies(
            np.tile(np.log([FACTORS[term] for term in TERMS]), len(KINDS)),
            {"all": {"all": none}, "runtime": {"tensorrt": none, "ncnn": none}},
            {"all": {"all": 0.0}, "kind": {}, "runtime": {}, "class": {}},
            TYPICAL,
        ),
        operators=no_factors(),
        networks=NetworkDeviations.nothing(),
        directions=np.empty((PRODUCT_KINDS, 0)),
        evidence=evidence or Evidence.nothing(SCALES),
        measured=MeasuredKinds(_Everything(), _Everything(), _Everything()),
        tracks={
            UNSEEN: {"all": ALL, "gpu x tensorrt": CLASS},
            CHIP: {"all": NEAR},
            **{case: {"all": MEASURED} for case in track.MEASURED},
            **{case: {"all": PROBED} for case in track.PROBED},
        },
    )


def evidence_of(
    targets: Sequence[Target],
    level: Sequence[float],
    networks: Sequence[int],
    shape: np.ndarray | None = None,
) -> Evidence:
    """Return evidence of targets; their shapes are none, or all this one, [P]."""
    counts = np.array(networks, np.int64)
    shapes = np.tile(np.zeros(PARTS) if shape is None else shape, (len(targets), 1))
    levels = np.array(level, np.float64)
    return Evidence(
        keys=Keys.of(targets),
        level=levels,
        variance=ONE / counts,
        shape=shapes,
        networks=counts,
        scales=SCALES,
    )


def other_device(name: str, target: Target | None = None, architecture: str = "") -> Target:
    """Return a target on another device of the same facts."""
    target = target or make_target(runtime="tensorrt")
    device = replace(target.device, id=name, architecture=architecture)
    return Target(device, target.configuration)


@cache
def shipped_engine() -> CloserToMeEngine:
    """Return the engine that ships."""
    return CloserToMeEngine(SHIPPED)


@cache
def shipped_card() -> EngineCard:
    """Return the card of the checkpoint that ships."""
    return read_checkpoint(SHIPPED).engine


_KEPT = tempfile.TemporaryDirectory()


@cache
def blind_engine() -> CloserToMeEngine:
    """Return the engine that ships, without any evidence."""
    folder = Path(shutil.copytree(SHIPPED, Path(_KEPT.name) / "blind"))
    checkpoint = read_checkpoint(folder)
    evidence = checkpoint.estimate.evidence
    nothing = Evidence.nothing(evidence.scales, evidence.covariance)
    write_estimate(folder / ESTIMATE, replace(checkpoint.estimate, evidence=nothing))
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

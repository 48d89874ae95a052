"""The estimate as a file: a NumPy archive of numbers, with names as one JSON text."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.efficiencies import GROUPS, LEVELS, Efficiencies
from predictor.calibration.evidence import Evidence, Keys, Scales
from predictor.calibration.network_deviations import NetworkDeviations
from predictor.calibration.product_kinds import PRODUCT_KINDS
from predictor.calibration.unknowns import MeasuredKinds
from predictor.core.arrays import Floats
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.cost.rates.typical import TypicalRates
from predictor.engine.estimate import Estimate
from predictor.engine.operator_factors import GROUPS as OPERATOR_GROUPS
from predictor.engine.operator_factors import OperatorFactors
from predictor.engine.track import CASES, Track

FORMAT: Final = "ctm-estimate/7"
OPERATOR_ARRAYS: Final = "operators."
"""Before the names of the arrays of the factors of operators."""
NETWORK_ARRAYS: Final = "networks."
"""Before the names of the arrays of the deviations of networks."""


def read_estimate(path: Path) -> Estimate:
    """Read an estimate.

    Raises:
        OSError: the file cannot be read.
        KeyError, TypeError, ValueError, zipfile.BadZipFile: it is damaged or of another form.
    """
    try:
        # NumPy leaves a file open that is no archive, so it is opened here.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            words = json.loads(arrays["words"].tobytes())
            rows = arrays["effects"].astype(np.float64)
            level, variance, shape = (
                arrays[name].astype(np.float64) for name in ("level", "variance", "shape")
            )
            mean, networks = arrays["mean"], arrays["networks"]
            covariance, directions = (
                arrays[name].astype(np.float64) for name in ("covariance", "directions")
            )
            weights, of_networks = (
                {
                    name.removeprefix(start): arrays[name]
                    for name in arrays.files
                    if name.startswith(start)
                }
                for start in (OPERATOR_ARRAYS, NETWORK_ARRAYS)
            )
    except (EOFError, zlib.error) as error:
        raise ValueError(f"its estimate is cut short: {error}") from error
    if words["format"] != FORMAT:
        raise ValueError(f"the format of the estimate is {words['format']}")
    groups = [(group, name) for group, names in words["effects"].items() for name in names]
    effects: dict[str, dict[str, Floats]] = {group: {} for group in words["effects"]}
    for (group, name), row in zip(groups, rows, strict=True):
        effects[group][name] = row
    estimate = Estimate(
        efficiencies=Efficiencies(mean, effects, words["level"], TypicalRates(**words["typical"])),
        operators=OperatorFactors(words["groups"], weights),
        networks=_networks(words["classes"], of_networks),
        directions=directions,
        evidence=Evidence(
            keys=Keys(
                **{name: np.array(values, np.str_) for name, values in words["keys"].items()}
            ),
            level=level,
            variance=variance,
            shape=shape,
            networks=networks.astype(np.int64),
            scales=Scales(**words["scales"]),
            covariance=covariance,
        ),
        measured=MeasuredKinds(
            **{name: frozenset(names) for name, names in words["measured"].items()}
        ),
        tracks={
            name: {group: Track(**track) for group, track in tracks.items()}
            for name, tracks in words["tracks"].items()
        },
    )
    if not _fits(estimate, rows):
        raise ValueError("the parts of its estimate do not fit")
    return estimate


def _networks(classes: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> NetworkDeviations:
    return NetworkDeviations(
        classes=classes,
        products=arrays["products"],
        product=arrays["product"].astype(np.int64),
        network=arrays["network"].astype(np.int64),
        shares=arrays["shares"].astype(np.float64),
        weights=arrays["weights"].astype(np.float64),
    )


def _fits(estimate: Estimate, effects: Floats) -> bool:
    """Return whether the parts of an estimate have the shapes and groups of this program."""
    efficiencies, evidence = estimate.efficiencies, estimate.evidence
    width, count = len(KINDS) * len(TERMS), (len(evidence.level),)
    shape = width + estimate.directions.shape[-1]
    measured = (evidence.level, evidence.variance, evidence.networks)
    keys = [getattr(evidence.keys, name) for name in Keys.__slots__]
    scales = np.array(list(asdict(evidence.scales).values()), np.float64)
    return (
        efficiencies.mean.shape == (width,)
        and effects.shape[1:] == (width,)
        and all(array.shape == count for array in (*measured, *keys))
        and bool((evidence.networks > 0).all())
        and estimate.directions.shape == (PRODUCT_KINDS, shape - width)
        and evidence.shape.shape == (*count, shape)
        and evidence.covariance.shape == (shape, shape)
        and bool((np.linalg.eigvalsh(evidence.covariance) > 0).all())
        and bool((evidence.variance > 0).all() and (scales >= 0).all())
        and all(
            np.isfinite(array).all()
            for array in (
                efficiencies.mean,
                effects,
                *measured,
                evidence.shape,
                estimate.directions,
            )
        )
        and estimate.operators.names.keys() == {*OPERATOR_GROUPS}
        and estimate.operators.fits()
        and estimate.networks.fits()
        and efficiencies.effects.keys() <= {*GROUPS}
        and efficiencies.level.keys() == {*LEVELS}
        and all("all" in estimate.tracks[name] for name in CASES)
    )

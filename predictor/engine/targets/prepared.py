"""Estimates, rates and states of the shipped targets, prepared in a file.

To look 600 devices up takes longer than to predict a network on them, and the result is the same at
each start. The file is read where all of these targets are asked about together, as they were when
it was written; the numbers are then those that the look-up would give, to the last bit. Its key
names the estimate, the facts of the devices and the architectures that it was made from: where one
of them is another, the file is passed over.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Basis, Cluster, Configuration, Device, Target
from predictor.cost.rates.facts import is_fp32_measured
from predictor.cost.rates.typical import Rates
from predictor.cost.roofline import PeakRates, RatedTargets
from predictor.devices.architectures import architectures_dir
from predictor.engine.estimate import Estimate
from predictor.engine.operator_factors import Contexts
from predictor.engine.target_estimates import ARRAYS, TargetEstimates
from predictor.engine.targets.states import TargetState, states_of

PREPARED: Final = "targets.npz"
FORMAT: Final = "ctm-targets/5"
# Fewer are looked up in less time than the file takes to be read.
FEWEST: Final = 100
OF_TARGETS: Final = (*ARRAYS, "wide")
"""Arrays of :class:`TargetEstimates` in the file, by the names of their fields."""

_OF_CLUSTER: Final = tuple(field.name for field in fields(Cluster))
_DAMAGED: Final = (OSError, LookupError, TypeError, ValueError, EOFError, zlib.error)
_LOG = logging.getLogger(__name__)

_Arrays = Mapping[str, NDArray[Any]]
_Record = TypeVar("_Record", Rates, PeakRates, Contexts)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTargets:
    """States, estimates and rates of T targets without the user's measurements.

    Attributes:
        states: of the T targets.
        estimates: by the learned engine.
        rated: for the roofline.
    """

    states: Sequence[TargetState]
    estimates: TargetEstimates
    rated: RatedTargets

    @classmethod
    def of(cls, estimate: Estimate, targets: Sequence[Target]) -> PreparedTargets:
        """Look T targets up."""
        return cls(
            states_of(targets, estimate.have_measured(targets)),
            estimate.of(targets),
            RatedTargets.of(targets),
        )


def read_prepared(folder: Path, estimate: str, targets: Sequence[Target]) -> PreparedTargets | None:
    """Return the prepared targets of the file; None where it is of others, or damaged.

    Args:
        folder: of the checkpoint.
        estimate: SHA-256 of the estimate that is in use.
        targets: T targets.
    """
    try:
        # NumPy leaves a file open that is no archive, so it is opened here.
        with (folder / PREPARED).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            # Before any facts are compared: most lists are shorter.
            if len(arrays["ahead"]) != len(targets):
                return None
            words = json.loads(arrays["words"].tobytes())
            if words["key"] != key_of(estimate, targets):
                _LOG.info("%s is of other targets, or of another estimate", PREPARED)
                return None
            return _prepared(targets, words, arrays)
    except FileNotFoundError:
        return None
    except (*_DAMAGED, zipfile.BadZipFile) as error:
        # It saves time and nothing else.
        _LOG.warning("%s is not read: %s", PREPARED, error)
        return None


def _prepared(
    targets: Sequence[Target], words: Mapping[str, Any], arrays: _Arrays
) -> PreparedTargets:
    of_targets = {name: arrays[name] for name in OF_TARGETS}
    problems = dict(words["problems"])
    return PreparedTargets(
        [
            TargetState(Basis(basis), problems.get(place, ""))
            for place, basis in enumerate(words["basis"])
        ],
        TargetEstimates(
            targets=targets,
            rates=_record(Rates, arrays),
            contexts=_record(Contexts, arrays),
            fits={},
            evidence=words["evidence"],
            doubts=words["doubts"],
            class_chips=words["class_chips"],
            **of_targets,
        ),
        RatedTargets(
            arrays["columns"].tolist(), _record(PeakRates, arrays), dict(words["unrated"])
        ),
    )


def _record(kind: type[_Record], arrays: _Arrays) -> _Record:
    return kind(**{field.name: arrays[f"{kind.__name__}.{field.name}"] for field in fields(kind)})


def key_of(estimate: str, targets: Iterable[Target]) -> str:
    """Return a checksum over all that the estimates of targets are computed from.

    Args:
        estimate: SHA-256 of the estimate's file.
        targets: in their order.
    """
    facts = [FORMAT, estimate, _architectures()]
    rows = [(_facts(target.device), _form(target.configuration)) for target in targets]
    return hashlib.sha256(json.dumps([facts, rows]).encode()).hexdigest()


def _facts(device: Device) -> tuple[object, ...]:
    """Return all facts of a device but texts for people and its power modes."""
    return (
        device.id,
        device.name,
        device.vendor,
        device.family,
        device.system,
        device.chip,
        device.architecture,
        device.instruction_sets,
        device.host_architecture,
        is_fp32_measured(device),
        dict(device.metrics),
        [_form(configuration) for configuration in device.configurations],
        [tuple(getattr(cluster, name) for name in _OF_CLUSTER) for cluster in device.clusters],
        {name: (rate.value, rate.source) for name, rate in device.measured.items()},
    )


@lru_cache(maxsize=512)  # the catalogue has two thousand, of some forty kinds
def _form(configuration: Configuration) -> tuple[object, ...]:
    c = configuration
    return c.runtime, c.precision, c.threads, c.batch


@lru_cache(maxsize=1)
def _architectures() -> str:
    """Return a checksum over the shipped tables of architectures."""
    digest = hashlib.sha256()
    for path in sorted(architectures_dir().glob("*.json")):
        digest.update(path.read_bytes())
    return digest.hexdigest()

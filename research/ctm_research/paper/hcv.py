"""Hardware Capability Vectors as the paper's network reads them: standardised logs, and a mask."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ctm_research.network.batch import TargetBatch
from ctm_research.network.scaling import fit_scaling
from predictor.core.errors import InputError
from predictor.core.metrics import METRIC_BY_NAME
from predictor.core.records import Device
from predictor.network.scaling import Scaling

Extra = Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class HcvEncoder:
    """Turns devices into vectors; the statistics are those of the devices it was fitted on.

    The columns are the metrics of the registry, then extra configuration metrics (threads, batch
    and the like) in the order given at fitting. One that no training device has is left out: the
    network could not learn its meaning. A value x enters as log(x), an extra one, which may be
    0, as log(1 + x).

    Attributes:
        scaling: names of the M columns and their statistics.
    """

    scaling: Scaling

    @classmethod
    def fit(
        cls,
        devices: Sequence[Device],
        extras: Sequence[Extra] | None = None,
    ) -> HcvEncoder:
        """Fit on training devices only.

        Args:
            devices: D devices, repeats allowed (one for each target).
            extras: configuration metrics of each, by name; all names of all devices are columns.

        Raises:
            InputError: there is no device, or a value is wrong.
        """
        given = _each(devices, extras)
        extra_names = tuple(dict.fromkeys(name for extra in given for name in extra))
        for name in extra_names:
            if name in METRIC_BY_NAME:
                raise InputError(
                    f"configuration metric {name}",
                    "it has the name of an HCV metric",
                    "give it a name of its own",
                )
        names = (*METRIC_BY_NAME, *extra_names)
        logs = _logs(names, devices, given)
        stated = np.flatnonzero(~np.isnan(logs).all(axis=0))
        return cls(fit_scaling(tuple(names[column] for column in stated), logs[:, stated]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the M columns."""
        return self.scaling.names

    def encode(
        self, devices: Sequence[Device], extras: Sequence[Extra] | None = None
    ) -> TargetBatch:
        """Return the vectors of ``devices``; unknown metrics are masked, extra ones ignored.

        Raises:
            InputError: a value is not finite or negative, or 0 where that cannot be.
        """
        logs = _logs(self.names, devices, _each(devices, extras))
        available = ~np.isnan(logs)
        scaled = self.scaling.apply(np.where(available, logs, self.scaling.mean))
        return TargetBatch(torch.from_numpy(scaled), torch.from_numpy(available))


def _each(devices: Sequence[Device], extras: Sequence[Extra] | None) -> Sequence[Extra]:
    if extras is None:
        return [{}] * len(devices)
    if len(extras) != len(devices):
        raise InputError(
            "configuration metrics",
            f"there are {len(extras)} sets for {len(devices)} devices",
            "give one for each device",
        )
    return extras


def _logs(
    names: Sequence[str], devices: Sequence[Device], extras: Sequence[Extra]
) -> NDArray[np.float64]:
    """Return log values [D, M], NaN where a metric is not known."""
    rows = [
        [_log(name, device, extra) for name in names]
        for device, extra in zip(devices, extras, strict=True)
    ]
    return np.array(rows, np.float64).reshape(len(devices), len(names))


def _log(name: str, device: Device, extra: Extra) -> float:
    registered = name in METRIC_BY_NAME
    value = device.metric(name) if registered else extra.get(name)
    if value is None:
        return math.nan
    if not math.isfinite(value) or value < 0 or (registered and value == 0):
        least = "positive" if registered else "at least 0"
        raise InputError(
            f"device {device.id}",
            f"{name} is {value}, and must be finite and {least}",
            "correct the value, or leave it out where it is not known",
        )
    return math.log(value) if registered else math.log1p(value)

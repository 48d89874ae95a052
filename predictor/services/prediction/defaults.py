"""The configurations that devices run by default: checks of requested names, and counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from predictor.core.prediction import FEW_CHIPS
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.runtimes import is_offered
from predictor.cost.capability import not_supported
from predictor.devices.default_configurations import Deployment, deployment, deployments
from predictor.services.prediction.engines import class_chips


@dataclass(frozen=True, slots=True)
class DefaultsOfKind:
    """Devices of one row of the table that run one runtime and precision by default.

    Attributes:
        deployment: the row.
        configuration: its runtime and precision.
        devices: number of them.
        measured: those of them of which, or of whose chip, measurements in it came with the engine.
        few_chips: those of the others whose class was checked on few chips.
    """

    deployment: Deployment
    configuration: Configuration
    devices: int
    measured: int
    few_chips: int


def check_names(device: Device, runtime: str | None, precision: str | None) -> None:
    """Refuse a runtime or a precision that is none; None is that of the device.

    Raises:
        InputError: it is none; the reason lists what the device runs, the best deployable first.
    """
    if runtime is not None and not is_offered(runtime):
        raise not_supported(device, runtime)
    if precision is not None and precision not in list(Precision):
        raise not_supported(device, precision)


def count_defaults(devices: Iterable[Device]) -> tuple[DefaultsOfKind, ...]:
    """Return how many devices run what by default, in the order of the table, the most first."""
    targets = [Target(device, device.configurations[0]) for device in devices]
    counts: dict[tuple[str, str, Precision], list[int | None]] = {}
    for target, chips in zip(targets, class_chips(targets), strict=True):
        usual = target.configuration
        key = deployment(target.device).title, usual.runtime, usual.precision
        counts.setdefault(key, []).append(chips)
    rows = {row.title: row for row in deployments().values()}
    order = {title: place for place, title in enumerate(rows)}
    return tuple(
        DefaultsOfKind(
            rows[title],
            Configuration(runtime, precision),
            devices=len(chips),
            measured=chips.count(None),
            few_chips=sum(number is not None and number < FEW_CHIPS for number in chips),
        )
        for (title, runtime, precision), chips in sorted(
            counts.items(), key=lambda item: (order[item[0][0]], -len(item[1]), item[0])
        )
    )

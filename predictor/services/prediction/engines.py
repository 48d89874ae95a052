"""The engines by name, and the one that is used where nobody names one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from predictor.core import plugins
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Device, Target
from predictor.core.resources import resources_dir
from predictor.cost.engine import Engine
from predictor.cost.physics import rates_of
from predictor.cost.rates.typical import Rates
from predictor.cost.roofline import RooflineEngine

if TYPE_CHECKING:
    from predictor.engine.closertome import CloserToMeEngine

CLOSERTOME: Final = "closertome"
ROOFLINE: Final = "roofline"
ENGINES: Final = (CLOSERTOME, ROOFLINE)

_LOG = logging.getLogger(__name__)


def open_engine(name: str = "") -> Engine:
    """Return the engine of a name, the usual one where it is empty.

    Raises:
        InputError: there is none of this name, or its checkpoint is damaged.
    """
    match name:
        case "":
            return _usual()
        case "closertome":
            return _learned()
        case "roofline":
            return RooflineEngine()
        case _:
            return _of_plugin(name)


@cache
def _of_plugin(name: str) -> Engine:
    available, problems = plugins.plugins(plugins.ENGINES)
    if name not in available:
        reason = "; ".join(("there is no engine of this name", *problems))
        raise InputError(name, reason, f"choose one of {', '.join((*ENGINES, *available))}")
    try:
        engine: Engine = available[name]()
    except Exception as error:
        problem = plugins.problem_of(plugins.ENGINES, name, error)
        raise InputError(name, problem, "repair the plug-in, or take another engine") from error
    return engine


def checkpoint_folder() -> Path:
    """Return the folder of the learned engine as it ships."""
    return resources_dir() / "checkpoints" / CLOSERTOME


def measured_configurations(device: Device) -> tuple[Configuration, ...]:
    """Return the configurations of a device of which measurements came with the engine."""
    # They ship inside the checkpoint, so none without it.
    if usual_engine_problem():
        return ()
    return tuple(
        configuration
        for configuration in device.configurations
        if _learned().has_signature(Target(device, configuration))
    )


def class_chips(targets: Sequence[Target]) -> Sequence[int | None]:
    """Return on how many chips the class of each target was checked, as ``Prediction`` has it."""
    return [None] * len(targets) if usual_engine_problem() else _learned().class_chips(targets)


def rates_in_use(target: Target) -> Rates:
    """Return the rates that usual predictions on a target divide work by, arrays of one."""
    return rates_of([target]) if usual_engine_problem() else _learned().rates(target)


def network_in_use() -> str:
    """Return the network that usual predictions come from, as ``FilmTuning`` names it.

    Empty where the analytic engine stands in for it.
    """
    return "" if usual_engine_problem() else _learned().network.checksum


@cache
def usual_engine_problem() -> str:
    """Return the reason why the analytic engine stands in for the learned one, empty for none."""
    try:
        _learned()
    except InputError as error:
        return f"The learned engine is not used: {error}"
    return ""


def _usual() -> Engine:
    problem = usual_engine_problem()
    if problem:
        _LOG.warning("%s", problem)
        return RooflineEngine()
    return _learned()


@cache
def _learned() -> CloserToMeEngine:
    # What reads models and predicts nothing does not wait for it.
    from predictor.engine.closertome import CloserToMeEngine  # noqa: PLC0415

    return CloserToMeEngine(checkpoint_folder())

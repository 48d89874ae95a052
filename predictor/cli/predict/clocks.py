"""``ctm predict --clock``, ``--mode``, ``--measured-at``: predictions at other clocks."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.text import printable
from predictor.graph.model import Model
from predictor.services.prediction.predict import KnownTargets

if TYPE_CHECKING:  # most commands ask for no clocks
    from predictor.devices.operating import Clocks
    from predictor.services.prediction.clocks import Clocked, MeasuredAt


@dataclass(frozen=True, slots=True)
class ClockedRow:
    """Predictions of one model at the clocks that were requested.

    Attributes:
        predictions: one a target.
        sentences: of those that have a number.
        entries: for the document, one a target; empty without a number.
    """

    predictions: tuple[Prediction, ...]
    sentences: list[str] = field(default_factory=list)
    entries: list[dict[str, object]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AskedClocks:
    """Clocks that were requested, one a target; none where the usual ones are meant."""

    clocks: tuple[Clocks, ...] = ()
    measured: tuple[MeasuredAt, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.clocks)

    def predicted(
        self,
        options: argparse.Namespace,
        model: Model,
        targets: Sequence[Target],
        predictions: tuple[Prediction, ...],
        measured: KnownTargets,
    ) -> ClockedRow:
        """Return a model's predictions at these clocks.

        Args:
            options: engine, mode and clock.
            model: the model.
            targets: the targets.
            predictions: at the usual clocks, one a target.
            measured: the user's measurements on the targets.
        """
        if not self:
            return ClockedRow(predictions)
        from predictor.devices.operating import named_mode  # noqa: PLC0415
        from predictor.services.prediction.clocks import at_clocks, clock_model  # noqa: PLC0415

        row = ClockedRow(())
        clocked_row: list[Prediction] = []
        for target, prediction, clocks in zip(targets, predictions, self.clocks, strict=True):
            if prediction.latency_ms is None:
                clocked_row.append(prediction)
                row.entries.append({})
                continue
            # Power is stated of a mode as it is.
            of_mode = options.mode and not options.clock
            point = named_mode(target.device, options.mode) if of_mode else None
            followed = clock_model(model, target, options.engine, measured)
            clocked = at_clocks(prediction, followed, target, clocks, point, self.measured)
            clocked_row.append(clocked.prediction)
            row.sentences.append(f"{printable(target.device.name)}, {clocked.sentence}.")
            row.entries.append(_entry(clocked))
        return ClockedRow(tuple(clocked_row), row.sentences, row.entries)


def clocks_of_options(
    options: argparse.Namespace, targets: Sequence[Target], models: int
) -> AskedClocks:
    """Return the clocks of ``--mode``, ``--clock`` and ``--measured-at``.

    Raises:
        InputError: a device has no such mode or clock, or the options do not go together.
    """
    if not (options.mode or options.clock or options.measured_at):
        return AskedClocks()
    from predictor.devices.operating import requested_clocks  # noqa: PLC0415
    from predictor.services.prediction.clocks import measured_at  # noqa: PLC0415

    if options.command == "predict":
        _check_alone(options)
    if options.measured_at and models * len(targets) != 1:
        raise InputError(
            "--measured-at",
            f"a latency is of one model on one device, and {models * len(targets)} pairs were "
            "requested",
            "give one model and one --device",
        )
    clocks = tuple(
        requested_clocks(target.device, options.clock, options.mode) for target in targets
    )
    points = tuple(measured_at(targets[0].device, text) for text in options.measured_at)
    return AskedClocks(clocks, points)


def _check_alone(options: argparse.Namespace) -> None:
    """Refuse what is of the usual clocks only.

    Raises:
        InputError: operators, sensitivity or node data are requested too.
    """
    for name in ("operators", "sensitivity", "energy", "node_data", "trace"):
        if getattr(options, name):
            raise InputError(
                f"--{name.replace('_', '-')}",
                "it is of the device's usual clocks",
                "leave it out, or leave out --clock, --mode and --measured-at",
            )


def add_points(document: dict[str, object], points: Sequence[dict[str, object]]) -> None:
    """Add the operating point of each prediction of a document; nothing for usual clocks."""
    entries: Any = document["predictions"]
    for entry, point in zip(entries, points, strict=False):
        entry["operating_point"] = point or None


def _entry(clocked: Clocked) -> dict[str, object]:
    energy = clocked.energy
    return {
        "mode": clocked.mode or None,
        "source": clocked.source or None,
        "mhz": clocked.clocks.stated,
        "default_mhz": clocked.default.stated,
        "factor": clocked.factor,
        "energy": None if energy is None else asdict(energy),
    }

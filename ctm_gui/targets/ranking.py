"""The order in which a device's configurations are offered, worked out off the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ctm_gui.models.shelf import ModelShelf
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from ctm_gui.tasks.store_client import OwnMeasurements
from predictor.core.errors import CtmError
from predictor.core.records import Configuration, Device, Target

if TYPE_CHECKING:
    from predictor.services.prediction.configurations import RankedConfiguration

    Ranked = Sequence[RankedConfiguration]


class ConfigurationRanking:
    """Ranks the configurations of a device by the latencies of the open models.

    Args:
        worker: the thread that predictions are made on.
        shelf: of the models.
        user: the user's measurements.
    """

    def __init__(self, worker: SerialWorker, shelf: ModelShelf, user: OwnMeasurements) -> None:
        self._worker, self._shelf, self._user = worker, shelf, user

    @staticmethod
    def unpredicted(device: Device, configurations: Iterable[Configuration]) -> Ranked:
        """Return them as they are listed, INT8 behind the others: what is known at once."""
        from predictor.services.prediction.configurations import (
            ranked_configurations,
        )

        return ranked_configurations((), device, configurations)

    def submit(
        self,
        device: Device,
        configurations: Sequence[Configuration],
        on_ranked: Callable[[Ranked], None],
    ) -> Task:
        """Rank them by their predictions; the caller cancels what it no longer waits for."""
        from predictor.services.prediction.configurations import (
            ranked_configurations,
        )

        # A further batch is read separately: all are compared at the batch of the models.
        distinct = [replace(configuration, batch=0) for configuration in configurations]
        distinct = list(dict.fromkeys(distinct))
        models, measurements, signed = (
            self._shelf.models(),
            self._user.measurements,
            self._user.signatures,
        )

        def work(_: TaskContext) -> Ranked:
            signatures = signed.of([Target(device, configuration) for configuration in distinct])
            return ranked_configurations(models, device, distinct, measurements, signatures)

        return self._worker.submit(work, on_result=on_ranked, on_error=_ignore)


def _ignore(_: CtmError) -> None:
    """Leave the order that is known without predictions."""

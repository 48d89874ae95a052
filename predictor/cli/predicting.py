"""The targets, models and store of the commands that predict."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from predictor.cli.catalogue import named_devices
from predictor.cli.console import Console
from predictor.cli.progress import progress_on
from predictor.core.errors import HostError, InputError
from predictor.core.prediction import Prediction
from predictor.core.progress import Progress, no_progress
from predictor.core.records import Precision, Target
from predictor.core.text import printable
from predictor.graph.model import Model
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.inferred import inferred_sentences
from predictor.services.history.user_store import UserStore
from predictor.services.prediction.defaults import check_names
from predictor.services.prediction.hosts import host_sentences
from predictor.services.prediction.targets import resolve_targets
from predictor.services.prediction.threads import threads_sentences

BUDGET_MISSED = 1  # exit code
_MANY = 8  # from so many models on, the progress of reading is shown


def choose_targets(
    options: argparse.Namespace, catalogue: Catalogue, console: Console
) -> tuple[Target, ...]:
    """Return a target for each device that was requested, each device once, in that order.

    A product stands for all its devices. Sentences on stderr say which, where another number of
    threads is used than requested, and what was inferred of a device from its name.

    Raises:
        InputError: a --device names nothing or too much, or the runtime or precision is unknown.
    """
    devices = named_devices(options.device, catalogue, console)
    if options.all:
        devices += catalogue.devices
    if not devices:
        devices += catalogue.cross_section
    # Of the first device: a name that no device has is no target without a number.
    check_names(devices[0], options.runtime, options.precision)
    targets = resolve_targets(
        # A dictionary keeps the order of the first mention of each.
        list({device.id: device for device in devices}.values()),
        runtime=options.runtime,
        precision=Precision(options.precision) if options.precision else None,
        threads=options.threads,
    )
    devices = [target.device for target in targets]
    notes = (*threads_sentences(targets), *host_sentences(targets), *inferred_sentences(devices))
    for sentence in notes:
        console.note(printable(sentence))
    return targets


def read_models(readings: Sequence[Future[Model]], console: Console) -> tuple[list[Model], int]:
    """Wait for the models; return those that could be read, and 0 or the exit code of the rest.

    Those that could not are named on stderr.
    """
    failed: list[InputError] = []
    models = list(models_as_read(readings, console, failed))
    return models, failed[-1].exit_code if failed else 0


def models_as_read(
    readings: Sequence[Future[Model]], console: Console, failed: list[InputError]
) -> Iterator[Model]:
    """Yield the models as they are read; those that cannot be are named on stderr.

    Args:
        readings: one a model.
        console: where the progress of many readings is shown.
        failed: gets the error of each model that could not be read.
    """
    progress = progress_on(console) if len(readings) >= _MANY else no_progress
    for place, reading in enumerate(readings):
        progress(Progress(place, len(readings), "models read"))
        try:
            yield reading.result()
        except InputError as error:
            console.error(f"ctm: {error}")
            failed.append(error)
    progress(Progress(len(readings), max(len(readings), 1), "models read"))


def no_number_error(subject: str, prediction: Prediction, *, use: str = "") -> InputError:
    """Return the error of predictions without any number: exit code 0 would pass in CI.

    Args:
        subject: what has none: a model, or the option that needs one.
        prediction: any of them; its problem is the reason.
        use: what the number was for, such as ``to hold against it``.
    """
    words = "no target has a number"
    return InputError(
        subject,
        f"{words} {use} ({prediction.problem})" if use else f"{words} ({prediction.problem})",
        "choose another device or configuration",
    )


def budget_error(prediction: Prediction) -> InputError:
    """Return the error of a budget without a number to compare it with."""
    return no_number_error("--budget-ms", prediction, use="to hold against it")


class PredictionStore(UserStore):
    """The user's store as a command reports on it."""

    @property
    def not_stored(self) -> dict[str, object]:
        """The part of a JSON document on predictions that the store refuses; empty for none."""
        entries = [error.to_dict() for error in self.refused]
        return {"not_stored": entries} if entries else {}

    def exit_code(self, console: Console, consequence: str) -> int:
        """Return 0, or 3 after naming the store's failure and its ``consequence`` on stderr."""
        for error in self.refused:
            console.error(f"ctm: {error}")
        if self.failure is None:
            return HostError.exit_code if self.refused else 0
        console.error(f"ctm: {consequence}: {self.failure}")
        return HostError.exit_code

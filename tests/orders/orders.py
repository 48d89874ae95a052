"""Known orders: pairs of runs of which an engineer knows the faster one, and what we predict.

The pairs stand in ``known_orders.csv``, written from public knowledge before any was predicted, but
two of the H100. A side reads ``NETWORK on DEVICE``, the device in its default configuration, or
``NETWORK x8 on DEVICE/RUNTIME/PRECISION/tTHREADS``: at batch 8, in that configuration. The column
``fails`` has the reason of the pairs that are not predicted so: the test expects them to fail.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path

import onnx

from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.resources import resources_dir
from predictor.core.units import significant
from predictor.graph.ingest import ingest
from predictor.graph.model import Model
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
from tests.support.networks import detectors, transformers, vision
from tests.support.networks.ingesting import ingest_proto

FILE = Path(__file__).with_name("known_orders.csv")
KINDS = ("across", "generation", "variant")
BUILDERS: dict[str, Callable[[], onnx.ModelProto]] = {
    function.__name__: function
    for function in (
        *(detectors.yolov8n, detectors.yolov8s, detectors.yolov8m),
        *(transformers.bert_base, transformers.vit_b16, transformers.vit_tiny),
        *(vision.efficientnet_b0, vision.mobilenet_v2, vision.vgg16),
        *(vision.resnet8, vision.resnet18, vision.resnet50),
    )
}
SAMPLES = {"distilbert_base": "distilbert-base.onnx"}

_SIDE = re.compile(r"(?P<network>\w+)(?: x(?P<batch>\d+))? on (?P<target>\S+)")


@dataclass(frozen=True, slots=True)
class Side:
    """One run of a pair.

    Attributes:
        network: name of a builder or sample.
        batch: that it runs at.
        device_id: id of a listed device.
        configuration: None for the device's default.
    """

    network: str
    batch: int
    device_id: str
    configuration: Configuration | None

    @classmethod
    def parse(cls, text: str) -> Side:
        """Read a side.

        Raises:
            ValueError: the text is none.
        """
        match = _SIDE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no NETWORK on DEVICE")
        device_id, *parts = match["target"].split("/")
        return cls(match["network"], int(match["batch"] or 1), device_id, _configuration(parts))

    def target(self) -> Target:
        """Return the device in the side's configuration."""
        device = _devices()[self.device_id]
        if self.configuration is None:
            return resolve_targets([device])[0]
        return Target(device, self.configuration)


@cache
def _devices() -> Mapping[str, Device]:
    return load_catalogue().by_id


def _configuration(parts: list[str]) -> Configuration | None:
    if not parts:
        return None
    runtime, precision, *threads = parts
    count = int(threads[0].removeprefix("t")) if threads else 0
    return Configuration(runtime, Precision(precision), count)


@dataclass(frozen=True, slots=True)
class Order:
    """A pair as it is written.

    Attributes:
        kind: one of ``KINDS``.
        faster, slower: sides as text.
        at_least: how many times as long the slower takes, an item of its batch.
        reason: why an engineer bets so.
        fails: why it is not predicted so; empty where it is.
    """

    kind: str
    faster: str
    slower: str
    at_least: float
    reason: str
    fails: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair as it is predicted.

    Attributes:
        order: the pair.
        faster_ms, slower_ms: P50 of an item of the batch; None where a side has no number.
        targets: both targets as text.
        problem: why a side has no number, else empty.
    """

    order: Order
    faster_ms: float | None
    slower_ms: float | None
    targets: tuple[str, str]
    problem: str = ""

    @property
    def ratio(self) -> float | None:
        """The slower over the faster."""
        if self.faster_ms is None or self.slower_ms is None:
            return None
        return self.slower_ms / self.faster_ms

    @property
    def holds(self) -> bool:
        """Whether the order is predicted with its margin."""
        return self.ratio is not None and self.ratio >= self.order.at_least

    @property
    def failure(self) -> str:
        """What is predicted in place of the order; empty where it holds."""
        if self.holds:
            return ""
        if self.ratio is None:
            return f"no number: {self.problem}"
        return f"predicted {significant(self.ratio)} x"


def read_orders(path: Path = FILE) -> list[Order]:
    """Return the pairs of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Order(**{**row, "at_least": float(row["at_least"])}) for row in rows]


def write_marks(outcomes: Iterable[Outcome], path: Path = FILE) -> None:
    """Write the pairs with those marked that are not predicted so, and no others."""
    with path.open("w", encoding="utf-8", newline="") as file:
        names = [field.name for field in fields(Order)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for outcome in outcomes:
            order = replace(outcome.order, fails=outcome.failure)
            writer.writerow({**asdict(order), "at_least": f"{order.at_least:g}"})


@cache
def model_of(network: str, batch: int) -> Model:
    """Return a network at a batch.

    Raises:
        KeyError: there is none of this name.
    """
    if network in SAMPLES:
        return ingest(resources_dir() / "samples" / SAMPLES[network], batch=batch)
    return ingest_proto(BUILDERS[network](), batch=batch)


def outcomes(orders: Iterable[Order]) -> list[Outcome]:
    """Predict both sides of every pair by the usual engine, without a user's measurements."""
    pairs = [(order, Side.parse(order.faster), Side.parse(order.slower)) for order in orders]
    predicted = _predicted([side for _, *sides in pairs for side in sides])
    return [
        Outcome(
            order,
            *(predicted[side].item_ms for side in (faster, slower)),
            (predicted[faster].target, predicted[slower].target),
            "; ".join(filter(None, (predicted[side].problem for side in (faster, slower)))),
        )
        for order, faster, slower in pairs
    ]


@dataclass(frozen=True, slots=True)
class _Run:
    item_ms: float | None
    target: str
    problem: str


def _predicted(sides: Iterable[Side]) -> Mapping[Side, _Run]:
    by_model: dict[tuple[str, int], dict[Side, Target]] = defaultdict(dict)
    for side in sides:
        by_model[side.network, side.batch][side] = side.target()
    runs: dict[Side, _Run] = {}
    for (network, batch), targets in by_model.items():
        predictions = predict([model_of(network, batch)], list(targets.values()))
        for (side, target), prediction in zip(targets.items(), predictions, strict=True):
            latency_ms = prediction.latency_ms
            item_ms = None if latency_ms is None else latency_ms / batch
            runs[side] = _Run(item_ms, str(target.id), prediction.problem)
    return runs

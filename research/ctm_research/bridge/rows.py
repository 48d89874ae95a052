"""The rows of the bridge: which network under which runtime, precision and threads."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctm_research.bridge.runtimes import MODULES
from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError

CHOICE = Path(__file__).with_name("networks.csv")
INT8_RUNTIMES = ("onnxruntime", "openvino", "tflite", "mnn", "ncnn")
SENTINEL = "mobilenet_v3_large"
_COLUMNS = ("network", "family", "set", "file", "module", "more")
_SEED = 15


@dataclass(frozen=True, slots=True)
class Network:
    """A chosen network.

    Attributes:
        name: of the network.
        family: kind of structure that it stands for.
        set: folder of the data folder with its graph.
        file: name of the graph there.
        module: PyTorch's own definition, empty where there is none.
        more: whether it is also run in int8 and with two threads.
    """

    name: str
    family: str
    set: str
    file: str
    module: str
    more: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A run to be timed."""

    network: Network
    runtime: str
    precision: str
    threads: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What tells it from other rows."""
        return self.network.name, self.runtime, self.precision, self.threads

    @property
    def form(self) -> str:
        """Name of the folder with its converted files."""
        return f"{self.runtime}-{self.precision}"


def chosen_networks(path: Path = CHOICE) -> tuple[Network, ...]:
    """Return the networks of the choice.

    Raises:
        InputError: the table is damaged, or names a network twice.
    """
    networks = tuple(
        Network(
            row["network"], row["family"], row["set"], row["file"], row["module"],
            row["more"] == "yes",
        )
        for row in read_rows(path, _COLUMNS)
    )  # fmt: skip
    names = [network.name for network in networks]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(str(path), f"{twice} is there twice", "correct the table")
    return networks


def planned_rows(networks: Sequence[Network]) -> tuple[Row, ...]:
    """Return the rows, FP32 on one thread first, each part in a random order that stays.

    A stopped run has then measured a part of everything, and drift does not follow the families.
    """
    chosen = [n for n in networks if n.more]
    parts = [
        [Row(n, runtime, "fp32", 1) for n in networks for runtime in MODULES],
        [Row(n, runtime, "int8", 1) for n in chosen for runtime in INT8_RUNTIMES]
        + [Row(n, runtime, "fp32", 2) for n in chosen for runtime in MODULES],
    ]
    for part in parts:
        random.Random(_SEED).shuffle(part)  # noqa: S311  # an order, no secret
    return tuple(row for part in parts for row in part)

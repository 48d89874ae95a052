"""NeuSight's networks on a card that this project timed and that no training has seen.

Its tables are those of :mod:`ctm_research.cards`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctm_research.cards import CARD, operators_path, transformers_path
from ctm_research.cards.predicted import predicted_rows
from ctm_research.evaluation.systems.kernel_tables import KernelTables
from ctm_research.evaluation.systems.operator_data import (
    CLASSES,
    FOLDER,
    Card,
    NeuSightData,
    Operators,
    Transformer,
    read_data,
)
from ctm_research.evaluation.systems.registry import PRODUCT, SYSTEMS
from ctm_research.evaluation.systems.run import kept_document
from ctm_research.evaluation.systems.transformers import (
    at_peak,
    card_errors,
    habitat_scale,
)
from ctm_research.evaluation.systems.utilisation import NeuSight
from ctm_research.sources.tables import read_rows
from predictor.core.files import MAX_TEXT_BYTES, read_bytes
from predictor.core.progress import ProgressCallback, no_progress
from predictor.core.records import Device
from predictor.services.devices.catalogue import Catalogue, load_catalogue

Entry = dict[str, Any]
_SEED: Final = 0
_CLASS_OF: Final = {"linear": "linear", "bmm": "bmm", "softmax": "softmax", "ln": "layernorm"}
# Mean error in percent on this card that NeuSight's authors print (ASPLOS 2025).
_PRINTED: Final = 6.1


@dataclass(frozen=True, slots=True, eq=False)
class OwnCard:
    """The card with what was timed on it.

    Attributes:
        name: id of the catalogue.
        card: its peaks.
        timed: operators.
        transformers: networks.
    """

    name: str
    card: Card
    timed: Operators
    transformers: list[Transformer]


def read_own_card(devices: Mapping[str, Device]) -> OwnCard:
    """Read the tables of the card, with the facts of the catalogue.

    Raises:
        InputError: a table is missing or damaged.
    """
    transformers = [
        Transformer(CARD, row["model"], row.positive("latency_ms"))
        for row in read_rows(transformers_path(), ("target", "model", "latency_ms"))
    ]
    return OwnCard(CARD, _peaks(devices[CARD]), _timed(), transformers)


def _peaks(device: Device) -> Card:
    def fact(name: str) -> float:
        value = device.metric(name)
        assert value is not None, name  # noqa: S101  # of a device of the catalogue
        return value

    return Card(
        1e12 * fact("fp32_tflops"),
        1e9 * fact("dram_bw_gbps"),
        fact("core_count"),
        1e9 * fact("dram_gb"),
        1e3 * fact("l2_kb"),
    )


def _timed() -> Operators:
    rows = list(read_rows(operators_path(), ("op", "batch", "rows", "columns", "kernel")))
    kernels = {name: 1 + place for place, name in enumerate(sorted({r["kernel"] for r in rows}))}
    classes = [_CLASS_OF.get(row["op"], "elementwise") for row in rows]
    sizes = [[float(row[name]) for name in ("batch", "rows", "columns", "length")] for row in rows]
    tiles = np.array([[float(row["tile_rows"]), float(row["tile_columns"])] for row in rows])
    return Operators(
        np.array([CLASSES.index(name) for name in classes], np.int64),
        np.array(sizes),
        np.where(tiles > 0, tiles, np.nan),
        np.array([kernels[row["kernel"]] for row in rows], np.int64),
        np.array([row.positive("latency_ms") for row in rows]),
    )


def own_card_entry(
    folder: Path, work: Path, *, may_train: bool, progress: ProgressCallback = no_progress
) -> Entry:
    """Return the errors of the product and of NeuSight's field on the card, by network.

    Args:
        folder: with one folder a source.
        work: folder of what is finished.
        may_train: whether there is time left to train NeuSight's form.
        progress: told of each reading.

    Raises:
        InputError: a table is missing or damaged, or a kept result is.
        HostError: the result cannot be kept.
    """
    catalogue, data = load_catalogue(), read_data(folder)
    own = read_own_card(catalogue.by_id)
    known = replace(data, cards={**data.cards, own.name: own.card}, transformers=own.transformers)
    tables = KernelTables.fit(own.timed)
    systems = {
        f"{SYSTEMS[PRODUCT].label}: as it ships, card in no training": _of_product(
            folder, catalogue, progress
        ),
        "NeuSight's form: trained on five other cards": _of_neusight(
            known, data, own, work, may_train=may_train
        ),
        "PM2Lat's form: card profiled": card_errors(known, own.name, tables.predict),
        "Habitat's scaling: from the other cards": _scaled(known, data, own),
        "Roofline of each operator": card_errors(known, own.name, at_peak(own.card)),
    }
    return {
        "card": own.name,
        "networks": {each.name: each.ms for each in own.transformers},
        "operators": len(own.timed),
        "systems": [
            {"label": label, "errors": errors, "mean": float(np.mean(errors))}
            for label, errors in systems.items()
            if errors
        ],
        "printed": _PRINTED,
    }


def _of_product(folder: Path, catalogue: Catalogue, progress: ProgressCallback) -> list[float]:
    """Return the error of the shipped engine on each network, nothing measured."""
    rows = predicted_rows(transformers_path(), folder / FOLDER / "graphs", catalogue, progress)
    return [100 * abs(each.predicted_ms / each.measured_ms - 1) for each in rows]


def _of_neusight(
    known: NeuSightData, data: NeuSightData, own: OwnCard, work: Path, *, may_train: bool
) -> list[float]:
    """Return the errors of NeuSight's form on the card; nothing where there is no time left."""
    digest = hashlib.sha256(read_bytes(transformers_path(), MAX_TEXT_BYTES)).hexdigest()

    def trained() -> list[float]:
        fitted = NeuSight.fit(data.timed, data.cards, _SEED)
        return card_errors(known, own.name, lambda each: fitted.predict(each, own.card))

    path = work / f"neusight-{own.name}-{digest[:12]}.json"
    return kept_document(path, trained if may_train else None) or []


def _scaled(known: NeuSightData, data: NeuSightData, own: OwnCard) -> list[float]:
    """Scale each network from every card that ran it; the median counts."""
    errors = []
    for run in own.transformers:
        scaled = [
            each.ms * habitat_scale(known, run.name, each.card, own.name)
            for each in data.transformers
            if each.name == run.name
        ]
        errors.append(100 * abs(float(np.median(scaled)) / run.ms - 1))
    return errors

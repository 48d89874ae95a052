"""Streams and pipelines on a box: ``carry``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from predictor.api.models import load as load_model
from predictor.api.predictions import Store
from predictor.api.tables import Table
from predictor.api.targets import catalogue, devices_of
from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.services.generation.probes import DecodeProbe, decode_probes
from predictor.services.generation.records import MeasuredRate
from predictor.services.generation.token_rates import stored_token_rates
from predictor.services.history.stated import measured_of
from predictor.services.history.user_store import UserStore
from predictor.services.loads.answers import Answer
from predictor.services.loads.boxes import box_of_devices, box_of_load, check_mode, named_box
from predictor.services.loads.carry import check_units
from predictor.services.loads.costs import Evidence
from predictor.services.loads.document import load_document
from predictor.services.loads.load_file import load_of_tables, read_load
from predictor.services.loads.models import (
    ModelKey,
    Models,
    StageModel,
    model_paths,
    networks,
    read_models,
)
from predictor.services.loads.placement import targets_of
from predictor.services.loads.records import Box, Load
from predictor.services.loads.sentences import headline
from predictor.services.loads.settings import carry_in_settings
from predictor.services.models.language import read_language_model
from predictor.services.signatures.user_signatures import stored_signatures


class Carried(Table):
    """What a box does with a load, a row a stream.

    Attributes:
        answer: the record.
        document: that of ``ctm load --json``.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.document = load_document(answer)
        streams: Any = self.document["streams"]
        super().__init__([
            {name: value for name, value in stream.items() if name != "stages"}
            for stream in streams
        ])  # fmt: skip

    @property
    def holds(self) -> bool:
        """Whether the load holds with its chance, in the memory and watts of the box."""
        return self.answer.holds

    @property
    def sentence(self) -> str:
        """Whether the load holds, and how large it may be."""
        return headline(self.answer)


def carry(
    load: str | os.PathLike[str] | Mapping[str, Any],
    box: str | None = None,
    *,
    devices: str | Device | Sequence[str | Device] | None = None,
    mode: str = "",
    store: Store = None,
) -> Carried:
    """Simulate what a box carries of a load, as ``ctm load`` does.

    Args:
        load: path of a load file, or its tables as they would stand in it.
        box: id of a box or path of its file, in place of that of the load.
        devices: devices as one box, in its place.
        mode: power mode of the box.
        store: of what you measured before.

    Raises:
        InputError: the load, the box or a model is wrong; with the line of the file.
        HostError: the reader of model files cannot be started.
    """
    path = None if store is None else Path(store)
    stated = load_of_tables(load) if isinstance(load, Mapping) else read_load(Path(load))
    on = _box(stated, box, devices, path)
    if mode:
        on = replace(on, mode=mode)
        check_mode(on, lambda reason: InputError("mode", reason, "name one of them"))
    check_units(stated, on)
    models = read_models(stated, model_paths(stated), _read)
    with closing(UserStore(path)) as user_store:
        signatures = user_store.signatures(targets_of(stated, [on]))
        measured = measured_of(
            user_store, networks(models.values()), (), signatures, "", lambda: catalogue(path)
        )
        evidence = Evidence(
            tuple(measured[0]), signatures, measured[1], *_of_language(models, on, path)
        )
        answer = carry_in_settings(stated, on, models, evidence)
    for failure in (user_store.failure, *user_store.refused):
        if failure is not None:
            warnings.warn(f"the store was not used: {failure}", RuntimeWarning, stacklevel=2)
    return Carried(answer)


def _read(key: ModelKey, path: Path) -> StageModel:
    if key.generates:
        return read_language_model(path)
    return load_model(path, dims=dict(key.dims))


def _of_language(
    models: Models, box: Box, store: Path | None
) -> tuple[tuple[MeasuredRate, ...], tuple[DecodeProbe, ...]]:
    """Return the rates of language models and the probes of the user."""
    if not any(key.generates for key in models):
        return (), ()
    devices = {device.id: device for device in catalogue(store).devices}
    on = [unit.device for unit in box.units.values()]
    rates = stored_token_rates({**devices, **{device.id: device for device in on}}, store)
    return tuple(rates.values()), tuple(decode_probes(stored_signatures(store).measured, on))


def _box(load: Load, box: str | None, devices: Any, store: Path | None) -> Box:
    if box is not None and devices is not None:
        raise InputError("ctm.carry", "it states a box and devices", "leave one of them out")
    if devices is not None:
        return box_of_devices(devices_of(devices, store))
    return box_of_load(load, catalogue(store)) if box is None else named_box(box, catalogue(store))

"""Language models on devices: ``generate``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from predictor.api.models import reader
from predictor.api.predictions import Store
from predictor.api.tables import Table
from predictor.api.targets import catalogue, devices_of
from predictor.core.records import Device
from predictor.services.generation.document import generation_document
from predictor.services.generation.generate import generate as generate_on
from predictor.services.generation.probes import decode_probes
from predictor.services.generation.records import Generation, GenerationRequest, MeasuredRate
from predictor.services.generation.token_rates import stored_token_rates
from predictor.services.models.language import LanguageModel, read_language_model
from predictor.services.signatures.user_signatures import stored_signatures


class Generations(Table):
    """A language model on devices, a row a device.

    Attributes:
        generations: the records, one a row.
    """

    def __init__(self, generations: Sequence[Generation]) -> None:
        self.generations = tuple(generations)
        document: Any = generation_document(generations)
        super().__init__(document["results"])


def generate(
    model: str | os.PathLike[str],
    devices: str | Device | Sequence[str | Device] | None = None,
    *,
    prompt: int | None = None,
    new: int | None = None,
    context: int = 0,
    batch: int = 1,
    weights: str = "",
    kv_precision: str = "",
    runtime: str = "",
    mode: str = "",
    clock: str = "",
    cards: int = 1,
    pipeline: bool = False,
    measured: Mapping[str, float] | None = None,
    store: Store = None,
) -> Generations:
    """Predict time to first token, tokens a second and memory, as ``ctm generate`` does.

    Args:
        model: a ``config.json``, its folder, a GGUF file or a decoder in ONNX.
        devices: alone or in a list; None for a cross-section.
        prompt: tokens of the prompt; None for 512, or half of a shorter context.
        new: tokens after it; None for 128, or a quarter of a shorter context.
        context: tokens in the cache at which tokens a second are given; 0 for the usual depth.
        batch: sequences at once.
        weights: format of the weights; empty for that of the file, else the usual one.
        kv_precision: of the KV cache; empty for that of the file, else fp16.
        runtime: name; empty for the usual one of the device.
        mode: power mode of the devices.
        clock: clocks such as ``gpu=612,mem=1600``.
        cards: that share the model.
        pipeline: whether each card has some of the layers; else they share each layer.
        measured: new tokens a second that you measured in this very run, by device.
        store: of what you measured before.

    Raises:
        InputError: the model or another argument is wrong.
        HostError: the reader of model files cannot be started, or the store fails.
    """
    path = None if store is None else Path(store)
    read = read_language_model(model, reader())
    usual = GenerationRequest().fitted(read.architecture.max_context)
    request = GenerationRequest(
        prompt=prompt or usual.prompt,
        new=new or usual.new,
        context=context,
        batch=batch,
        weights=weights or read.weights,
        kv_precision=kv_precision or read.kv_precision,
        runtime=runtime,
        mode=mode,
        clock=clock,
        cards=cards,
        pipeline=pipeline,
    )
    chosen = devices_of(devices, path)
    rates = rates_of(read, request, chosen, measured or {}, path)
    probes = decode_probes(stored_signatures(path).measured, chosen)
    results = generate_on(read.architecture, chosen, request, rates, probes, read.stored)
    return Generations(results)


def rates_of(
    read: LanguageModel,
    request: GenerationRequest,
    chosen: Sequence[Device],
    measured: Mapping[str, float],
    store: Path | None,
) -> tuple[MeasuredRate, ...]:
    """Return the rates of the store, and those that are stated in their place."""
    by_id = {device.id: device for device in (*catalogue(store).devices, *chosen)}
    rates = dict(stored_token_rates(by_id, store))
    for name, rate in measured.items():
        device = catalogue(store).find(name)
        rates[device.id] = MeasuredRate(device, rate, read.architecture, request, read.stored)
    return tuple(rates.values())

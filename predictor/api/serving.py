"""Many users of a language model: ``serve``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from predictor.api.generation import rates_of
from predictor.api.models import reader
from predictor.api.predictions import Store
from predictor.api.tables import Table
from predictor.api.targets import devices_of
from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.services.generation.probes import decode_probes
from predictor.services.generation.records import GenerationRequest
from predictor.services.models.language import read_language_model
from predictor.services.serving.document import serving_document
from predictor.services.serving.records import Limits, Load, Serving
from predictor.services.serving.serve import Measured
from predictor.services.serving.serve import serve as serve_on
from predictor.services.serving.trace import read_trace
from predictor.services.signatures.user_signatures import stored_signatures


class Servings(Table):
    """A load on a language model, a row a device.

    Attributes:
        servings: the records, one a row.
    """

    def __init__(self, servings: Sequence[Serving]) -> None:
        self.servings = tuple(servings)
        document: Any = serving_document(servings)
        super().__init__(document["results"])


def serve(
    model: str | os.PathLike[str],
    devices: str | Device | Sequence[str | Device] | None = None,
    *,
    rate_per_s: float = 0.0,
    prompt: int | None = None,
    new: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    slo_ttft_ms: float | None = None,
    slo_tpot_ms: float | None = None,
    slo_share: float = 0.9,
    cards: int = 1,
    pipeline: bool = False,
    max_sequences: int = 256,
    chunk: int = 0,
    prefix_hit: float = 0.0,
    price_per_hour: float = 0.0,
    weights: str = "",
    kv_precision: str = "",
    runtime: str = "",
    requests: int = 10_000,
    seed: int = 0,
    store: Store = None,
) -> Servings:
    """Simulate the queue of many users on each device, as ``ctm serve`` does.

    Args:
        model: a ``config.json``, its folder, a GGUF file or a decoder in ONNX.
        devices: alone or in a list; None for a cross-section.
        rate_per_s: requests a second, which arrive at random; 0 for the rate of the trace.
        prompt: tokens of a prompt; None for 512, or half of a shorter context.
        new: tokens of an answer; None for 128, or a quarter of a shorter context.
        trace: CSV file of recorded requests, in place of equal lengths.
        slo_ttft_ms: limit of the first token.
        slo_tpot_ms: limit of a further token, on average over an answer.
        slo_share: of the requests that have to keep both, under 1.
        cards: that share the model and are one server.
        pipeline: whether each card has some of the layers; else they share each layer.
        max_sequences: in a batch.
        chunk: tokens of a step under chunked prefill; 0 for whole prompts.
        prefix_hit: share of a prompt that is in the cache already, under 1.
        price_per_hour: of one card; 0 for none.
        weights: format of the weights; empty for that of the file, else the usual one.
        kv_precision: of the KV cache; empty for that of the file, else fp16.
        runtime: name; empty for the usual one of the device.
        requests: that are simulated.
        seed: of the arrivals.
        store: of what you measured before.

    Raises:
        InputError: the model, the load or another argument is wrong.
        HostError: the reader of model files cannot be started, or the store fails.
    """
    path = None if store is None else Path(store)
    if trace is not None and (prompt or new):
        raise InputError("ctm.serve", "a trace states the lengths", "leave out prompt and new")
    read = read_language_model(model, reader())
    usual = GenerationRequest().fitted(read.architecture.max_context)
    run = GenerationRequest(
        prompt=prompt or usual.prompt,
        new=new or usual.new,
        weights=weights or read.weights,
        kv_precision=kv_precision or read.kv_precision,
        runtime=runtime,
        cards=cards,
        pipeline=pipeline,
    )
    load = Load(
        run=run,
        rate_per_s=rate_per_s,
        trace=() if trace is None else read_trace(Path(trace)),
        limits=Limits(slo_ttft_ms, slo_tpot_ms, slo_share),
        price_per_hour=price_per_hour,
        max_sequences=max_sequences,
        chunk=chunk,
        prefix_hit=prefix_hit,
        requests=requests,
        seed=seed,
    )
    chosen = devices_of(devices, path)
    measured = Measured(
        rates_of(read, run, chosen, {}, path),
        decode_probes(stored_signatures(path).measured, chosen),
    )
    return Servings(serve_on(read.architecture, chosen, load, measured, read.stored))

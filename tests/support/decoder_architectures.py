"""Small decoders with round numbers, and a machine to run them on."""

from __future__ import annotations

import dataclasses

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.devices.catalogue import shipped_devices
from predictor.language.architecture import DecoderArchitecture
from predictor.language.machine import Machine
from predictor.language.rates import Coefficients, Group

TINY = DecoderArchitecture(
    name="tiny",
    family="llama",
    layers=2,
    hidden=256,
    heads=4,
    kv_heads=2,
    head_dim=64,
    feed_forward=512,
    vocabulary=1024,
    max_context=4096,
)
EXPERTS = DecoderArchitecture(
    name="experts",
    family="mixtral",
    layers=2,
    hidden=256,
    heads=4,
    kv_heads=2,
    head_dim=64,
    feed_forward=0,
    vocabulary=1024,
    max_context=4096,
    experts=8,
    experts_per_token=2,
    expert_feed_forward=512,
)
# Matrices of one layer of TINY: queries and output, keys and values, gate, up and down.
LAYER = 2 * 256 * 256 + 2 * 256 * 128 + 3 * 256 * 512
HEAD = 256 * 1024

MACHINE = Machine(
    bandwidth=1e9,
    stated_bandwidth=1e9,
    vector=1e10,
    matrix=1e11,
    stated_matrix=1e11,
    peak=1e12,
    clock=2.0,
    threads=1.0,
    block_rate=2.0,
)
SIMPLE = Coefficients(
    bandwidth=1.0,
    unpack=dict.fromkeys(Group, 0.0),
    cache=1.0,
    head_bytes=0.0,
    head_flops=0.0,
    head_step=0.0,
    step=0.0,
    product=dict.fromkeys(Group, 1.0),
    scaling=dict.fromkeys(Group, 0.0),
    attention=0.0,
    score_bytes=0.0,
    activation=0.0,
    prompt_step=0.0,
)


def gpu(**metrics: float) -> Device:
    """Return an NVIDIA card with these facts."""
    facts = {"dram_bw_gbps": 500.0, "fp32_tflops": 20.0, "fp16_tflops": 80.0, "dram_gb": 12.0}
    return Device(
        id="card",
        name="Card",
        vendor="NVIDIA",
        family=Family.GPU,
        metrics=facts | metrics,
        architecture="ada",
    )


LLAMA = dataclasses.replace(
    TINY,
    name="Llama-3-8B",
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    head_dim=128,
    feed_forward=14_336,
    vocabulary=128_256,
    max_context=8192,
)

CATALOGUE = {device.id: device for device in shipped_devices()}

"""One rate of a device for every engine: their readers hold against each other on the catalogue."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.runtimes import CPUS
from predictor.cost.capability import capability
from predictor.cost.physics import rates_of
from predictor.cost.rates.facts import bandwidth, fp32_macs_per_s, stated_macs_per_s
from predictor.cost.rates.runs import as_run, run_rates
from predictor.devices.catalogue import shipped_devices
from predictor.language.machine import machine_of

DEVICES = shipped_devices()
CARDS = [device for device in DEVICES if device.family is Family.GPU]
STATE_HALVES = [card for card in CARDS if stated_macs_per_s(card, "fp16") is not None]


def halves(device: Device) -> Target:
    return Target(device, Configuration("tensorrt", Precision.FP16))


def test_engines_read_one_rate_of_products_in_halves() -> None:
    capabilities = {}
    for card, run in zip(STATE_HALVES, run_rates(list(map(halves, STATE_HALVES))), strict=True):
        stated = stated_macs_per_s(card, "fp16") or 0.0
        # Kernels compute halves in FP32 where that is faster.
        assert run.matrix == max(stated, run.vector), card.id
        with suppress(InputError):
            assert machine_of(card).stated_matrix >= 2 * stated, card.id
        with suppress(InputError):
            capabilities[card.id] = capability(halves(card)).matrix_macs_per_s == stated
    assert len(capabilities) > 50
    assert all(capabilities.values())


def test_what_software_loses_stands_beside_the_rate() -> None:
    """A tenth of a product in matrix units runs in the lanes, a tenth of it on one core."""
    runs = [halves(device) for device in STATE_HALVES]
    rates = np.array([run.matrix for run in run_rates(runs)])
    lanes = np.array([run.vector for run in run_rates(runs)])

    np.testing.assert_allclose(rates_of(runs).matrix, 1 / (0.1 / lanes + 0.9 / rates), rtol=1e-12)

    processors = [Target(d, Configuration("ncnn")) for d in DEVICES if d.family in CPUS]
    hardware = run_rates([as_run(target) for target in processors])
    shared = [1 / (0.1 / run.unit + 0.9 / run.matrix) for run in hardware]
    np.testing.assert_allclose(rates_of(processors).matrix, shared, rtol=1e-12)


def test_engines_read_one_bandwidth() -> None:
    targets = [Target(device, device.configurations[0]) for device in DEVICES]

    np.testing.assert_array_equal(
        rates_of(targets).bandwidth, [bandwidth(device) for device in DEVICES]
    )
    for target in targets:
        with suppress(InputError):
            assert capability(target).bandwidth_bytes_per_s == bandwidth(target.device)


def test_engines_read_one_fp32_peak() -> None:
    for device in DEVICES:
        peak = fp32_macs_per_s(device)
        if peak is None or math.isnan(bandwidth(device)) or not device.metric("dram_bw_gbps"):
            continue
        assert machine_of(device).vector == 2 * peak, device.id
        if any(each.precision is Precision.FP32 for each in device.configurations):
            target = Target(device, Configuration(device.configurations[0].runtime))
            assert capability(target).vector_macs_per_s in {
                peak,
                stated_macs_per_s(device, "fp32_matrix"),
            }, device.id


def test_processors_reach_no_more_than_their_lanes_at_the_clock_of_all_cores() -> None:
    for device in DEVICES:
        (run,) = run_rates([Target(device, Configuration())])
        if device.family in CPUS and not math.isnan(run.matrix) and not device.clusters:
            alone = run.unit * device.core_count
            assert run.matrix <= alone * (1 + 1e-12), device.id


def test_openvino_leaves_the_slower_cores_idle_where_no_threads_are_set() -> None:
    hybrid = next(device for device in DEVICES if device.id == "core-i7-13700h")
    fast = replace(hybrid, clusters=hybrid.clusters[:1])
    fast_cores = int(hybrid.clusters[0].cores)

    def rate(device: Device, runtime: str, threads: int = 0) -> float:
        (run,) = run_rates([Target(device, Configuration(runtime, threads=threads))])
        return run.matrix

    assert rate(hybrid, "openvino") == rate(fast, "openvino")
    assert rate(hybrid, "openvino") == rate(hybrid, "openvino", fast_cores)
    assert rate(hybrid, "openvino", fast_cores + 1) > rate(hybrid, "openvino")
    assert rate(hybrid, "onnxruntime") > rate(fast, "onnxruntime")

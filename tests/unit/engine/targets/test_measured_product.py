"""A matrix product that was measured on a machine is evidence until a network is."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from predictor.core.metrics import MEASURED_HERE, PRODUCT_SIZE, Family
from predictor.core.records import (
    Basis,
    Configuration,
    Device,
    MeasuredRate,
    Precision,
    SustainedRates,
    Target,
)
from predictor.devices.catalogue import shipped_devices
from predictor.engine.targets.measured_product import measured_products, product_graph
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.networks.product import product_model
from predictor.probing.self_test import with_measured_rates
from predictor.services.prediction.engines import CLOSERTOME, open_engine

RATES = SustainedRates(20.0, 0.1, 0.25, "2026-01-31")
RUN = Configuration("onnxruntime", Precision.FP32, threads=1)


def rates(of_core: float) -> SustainedRates:
    """Return rates at which the cores of the machine multiply."""
    return replace(RATES, product_tflops=of_core, all_cores_tflops=2.5 * of_core)


@pytest.fixture(scope="module")
def machine() -> Device:
    """Return a virtual machine of four cores that hides its boost clock."""
    return Device(
        id="this-machine",
        name="This PC",
        vendor="AMD",
        family=Family.CPU,
        architecture="zen-3",
        instruction_sets=("sse4", "avx", "avx2"),
        configurations=(RUN, replace(RUN, threads=0), replace(RUN, runtime="openvino")),
        metrics={
            "clock_mhz": 2450.0,
            "core_count": 4.0,
            "fp32_au_per_core": 16.0,
            "dram_bw_gbps": 20.0,
        },
    )


def test_the_graph_is_that_of_the_file_that_is_multiplied(tmp_path: Path) -> None:
    path = tmp_path / "product.onnx"
    path.write_bytes(product_model(PRODUCT_SIZE))
    ingested, made = ingest(path).graph, product_graph()

    for field in fields(OperatorGraph):
        if not field.name.endswith("fingerprint"):
            assert np.array_equal(getattr(made, field.name), getattr(ingested, field.name)), field


def test_times_are_those_of_one_core_and_of_all(machine: Device) -> None:
    measured = with_measured_rates(machine, RATES)

    products = measured_products([Target(machine, RUN), Target(measured, RUN)], {})

    # 2 x 1024^3 operations at 0.1 and 0.25 TFLOP/s.
    assert [(p.target.threads, round(p.latency_ms, 2)) for p in products] == [(1, 21.47), (4, 8.59)]
    alone = replace(measured, metrics={**measured.metrics, "core_count": 1.0})
    assert len(list(measured_products([Target(alone, RUN)], {}))) == 1


def test_other_rates_are_no_products(machine: Device) -> None:
    measured = with_measured_rates(machine, RATES)
    former = MeasuredRate(0.4, f"{MEASURED_HERE}, 2026-01-31: FP32 matrix product, sustained")

    for device in (
        machine,
        replace(measured, family=Family.GPU),
        replace(measured, measured={"fp32_tflops": former, "core_fp32_tflops": former}),
    ):
        assert not list(measured_products([Target(device, RUN)], {}))
    assert not list(measured_products([Target(measured, RUN)], {Target(measured, RUN).id: None}))


def test_a_faster_product_makes_networks_faster(machine: Device) -> None:
    graph = product_graph()
    engine = open_engine(CLOSERTOME)
    by_rate = {
        rate: engine.predict(
            [graph],
            [
                Target(with_measured_rates(machine, rates(rate)), run)
                for run in machine.configurations
            ],
            {},
        )
        for rate in (0.06, 0.08, 0.1)
    }
    latency_ms = np.array([table.latency_ms[0] for table in by_rate.values()])

    assert (np.diff(latency_ms, axis=0) < 0).all()
    for place, cores in enumerate((1.0, 2.5)):
        own_ms = [2 * 1024**3 / (rate * cores * 1e9) for rate in by_rate]
        assert latency_ms[:, place] == pytest.approx(own_ms, rel=0.2)
    table = by_rate[0.1]
    assert set(table.basis[0]) == {Basis.ZERO_SHOT}
    for words in table.facts["evidence"][0]:
        assert words.startswith("from the matrix product that was measured on this machine; ")


def test_catalogue_devices_have_none() -> None:
    targets = [Target(device, RUN) for device in shipped_devices()]
    assert len(targets) > 600
    assert not list(measured_products(targets, {}))

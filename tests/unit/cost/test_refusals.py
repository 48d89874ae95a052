"""Microcontrollers hold weights in the flash and live activations in the SRAM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.engine import Engine
from predictor.cost.memory import refusals
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from tests.support.graphs import Op, make_graph
from tests.support.tiny_engine import tiny_engine

BASE = {"clock_mhz": 200.0, "core_count": 1.0}


def board(precision: Precision = Precision.INT8, **memories: float) -> Target:
    run = Configuration("tflite-micro", precision)
    device = Device(
        id="board", name="Board", vendor="", family=Family.MCU, metrics={**BASE, **memories},
        configurations=(run,),
    )  # fmt: skip
    return Target(device, run)


def network(weights: int = 4096, live: int = 8192) -> OperatorGraph:
    """A network of so many bytes in FP32, a quarter of them in INT8."""
    return make_graph([Op(macs=10**6, weights=weights, written=live)], peak_activation_bytes=live)


GRAPH = network()


def test_a_network_that_fills_both_memories_fits() -> None:
    assert not refusals([GRAPH], [board(flash_kb=1, onchip_sram_kb=2)])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            board(flash_kb=0.75, onchip_sram_kb=64),
            "1 KiB of weights for 0.75 KiB of flash, 1 KiB too many",
        ),
        (
            board(flash_kb=64, onchip_sram_kb=0.5),
            "2 KiB of activations for 0.5 KiB of SRAM, 2 KiB too many",
        ),
        (
            board(Precision.FP32, flash_kb=1, onchip_sram_kb=2),
            (
                "4 KiB of weights for 1 KiB of flash, 3 KiB too many and "
                "8 KiB of activations for 2 KiB of SRAM, 6 KiB too many"
            ),
        ),
    ],
)
def test_what_is_too_large_says_by_how_much(target: Target, words: str) -> None:
    assert refusals([GRAPH], [target]) == {(0, 0): f"it does not fit: {words}"}


def test_memory_beside_the_chip_and_memories_that_are_not_stated_refuse_nothing() -> None:
    beside = board(Precision.FP32, flash_kb=1, onchip_sram_kb=2, dram_gb=0.01)
    processor = replace(beside, device=replace(beside.device, family=Family.CPU))

    assert not refusals([GRAPH], [board(Precision.FP32), beside, processor])


@pytest.mark.parametrize("engine", [RooflineEngine(), tiny_engine()], ids=["roofline", "learned"])
def test_no_engine_gives_a_number(engine: Engine) -> None:
    small, large = network(64, 64), network(10**6)
    targets = [board(flash_kb=64, onchip_sram_kb=64), board()]

    table = engine.predict([small, large], targets, {})

    assert table.problems[1, 0].startswith("it does not fit: 245 KiB of weights for 64 KiB")
    assert np.isnan(table.latency_ms[1, 0])
    assert table.fits_memory[1][0] is False
    assert next(iter(engine.explain(large, targets, predicted=table.latency_ms[1]))) is None
    assert "fit" not in table.problems.get((0, 0), "")

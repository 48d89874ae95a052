"""The sentence on cards whose host nobody states."""

from __future__ import annotations

from dataclasses import replace

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.services.prediction.hosts import host_sentences

CARD = Device(id="card", name="Card", vendor="Maker", family=Family.GPU, metrics={})
STATED = replace(CARD, metrics={"host_clock_ghz": 3.0})
CPU = replace(CARD, family=Family.CPU)


def sentences(device: Device, runtime: str) -> list[str]:
    return host_sentences([Target(device, Configuration(runtime))])


def test_an_interpreter_beside_a_card_needs_a_host() -> None:
    (sentence,) = sentences(CARD, "pytorch")

    assert sentence.startswith("PyTorch starts each operator from the host of Card; ")
    assert "a current desktop is taken" in sentence


def test_a_stated_host_a_plan_and_a_processor_need_no_word() -> None:
    assert sentences(STATED, "pytorch") == []
    assert sentences(CARD, "tensorrt") == []
    assert sentences(CPU, "pytorch") == []

"""What the shipped estimate says of where its numbers come from."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from predictor.calibration.efficiencies import groups_of
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.closertome import CloserToMeEngine
from predictor.engine.estimate import Estimate
from predictor.engine.track import tracks_of
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.prediction.engines import checkpoint_folder
from predictor.services.prediction.targets import resolve_targets
from tests.support.graphs import Op, make_graph


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    return read_checkpoint(checkpoint_folder()).estimate


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def words(estimate: Estimate, device: Device, runtime: str, precision: Precision) -> str:
    target = Target(device, Configuration(runtime, precision, 0, 1))
    return estimate.of([target]).evidence[0]


def test_a_device_of_the_catalogue_is_named_as_people_name_it(
    estimate: Estimate, catalogue: Catalogue
) -> None:
    text = words(estimate, catalogue.by_id["coral-m2-accelerator"], "tflite", Precision.INT8)

    assert text.startswith(
        "from Coral USB Accelerator (Edge TPU), which has the same chip or cores"
    )


def test_no_id_of_the_corpus_and_no_wrong_plural_is_left(
    estimate: Estimate, catalogue: Catalogue
) -> None:
    told = estimate.of(resolve_targets(catalogue.devices)).evidence

    assert any("1 thread;" in text for text in told)
    assert not [text for text in told if re.search(r"-cluster-|\b1 (threads|networks|chips)", text)]
    names = {re.sub(r"^from (.*), which has .*", r"\1", text) for text in told if "which" in text}
    assert names <= {device.name for device in catalogue.devices}


def test_a_record_says_what_it_is_of(estimate: Estimate, catalogue: Catalogue) -> None:
    class_of = {"hailo-8": "kind", "gtx1660-super": "precision", "mi300x": "runtime"}
    ends = {
        "precision": "of this kind in this precision:",
        "runtime": "under this runtime:",
        "kind": "under any runtime:",
    }

    for device_id, level in class_of.items():
        (target,) = resolve_targets([catalogue.by_id[device_id]])
        (text,) = estimate.of([target]).evidence
        assert tracks_of(estimate.tracks, groups_of(target))["unseen"][0] == level
        assert re.search(rf"; checked on \d+ chips [a-z ]*{ends[level]} median error", text)


def test_an_unknown_runtime_is_named_in_words(estimate: Estimate, catalogue: Catalogue) -> None:
    text = words(estimate, catalogue.by_id["titan-x"], "pytorch", Precision.FP16)

    assert text.startswith("from this device under an unknown runtime fp32")


def test_without_a_number_there_is_no_evidence(catalogue: Catalogue) -> None:
    engine = CloserToMeEngine(checkpoint_folder())
    bare = replace(catalogue.by_id["cloud-ai-100-dm2e"], id="of-no-facts", metrics={})
    targets = resolve_targets([bare, catalogue.by_id["rpi5"]])

    table = engine.predict([make_graph([Op(macs=64, read=64, written=64)])], targets, {})

    assert (0, 0) in table.problems
    first, second = table.facts["evidence"][0]
    assert first == ""
    assert second

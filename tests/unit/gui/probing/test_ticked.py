"""The ticked targets as the wizard offers them, and a target that is ticked as it was probed."""

from __future__ import annotations

import numpy as np
import pytest

from ctm_gui.probing.choice import Way, configuration_of, ticked_targets
from ctm_gui.probing.grids import ticked_grid
from ctm_gui.targets.choice import TargetSelection
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.engine import TargetMeasurements
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.probing.networks.graphs import pool_graph
from predictor.probing.networks.pool import load_pool
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.signatures.user_signatures import NOTHING_MEASURED, UserSignatures

CATALOGUE = load_catalogue()
HERE = Device(
    id=THIS_MACHINE_ID,
    name="Here",
    vendor="maker",
    family=Family.CPU,
    metrics={"core_count": 2.0},
    configurations=(Configuration("onnxruntime"),),
)
BOARD, CARD = CATALOGUE.find("rpi5"), CATALOGUE.find("rtx3060")


def usual(device: Device, **change: object) -> Target:
    configuration = device.configurations[0]
    values = {"runtime": configuration.runtime, "precision": configuration.precision, **change}
    return Target(device, Configuration(**values))  # type: ignore[arg-type]


def test_this_machine_comes_first_and_what_cannot_be_probed_last() -> None:
    entries = ticked_targets([usual(CARD), usual(BOARD), usual(HERE)], NOTHING_MEASURED)

    assert [entry.way for entry in entries] == [Way.THIS, Way.SSH, Way.IMPORT]
    assert [entry.waits for entry in entries] == [True, True, False]
    reached = ["here", "over SSH, or by a kit", "by an import"]
    assert [entry.reached for entry in entries] == reached
    assert entries[0].words == ""


def test_a_target_is_probed_with_its_threads_and_says_what_differs() -> None:
    (board,) = ticked_targets([usual(BOARD, threads=2)], NOTHING_MEASURED)

    assert board.probed.configuration == Configuration("onnxruntime", threads=2, batch=1)
    assert configuration_of(board) == Configuration("onnxruntime", threads=2)
    assert "It is ticked with ncnn, fp16, 2 threads. Reference networks run with onnxruntime, " in (
        board.words
    )
    (here,) = ticked_targets([usual(HERE)], NOTHING_MEASURED)
    assert here.probed.threads == 2
    assert configuration_of(here).threads == 0  # all cores, as ticked


def test_a_device_without_reference_runs_says_so_and_keeps_its_configuration() -> None:
    (card,) = ticked_targets([usual(CARD)], NOTHING_MEASURED)

    assert card.words.startswith("It cannot be probed from here: ")
    assert configuration_of(card) == Configuration("tensorrt", Precision.FP16)


def test_what_was_measured_is_counted_and_waits_no_more() -> None:
    graph = pool_graph(load_pool()[0].fingerprint)
    assert graph is not None
    measured = TargetMeasurements(
        signature_id="", graphs=(graph,), latency_ms=np.ones(1), noise=np.ones(1)
    )
    as_probed = usual(BOARD, runtime="onnxruntime", precision=Precision.FP32)
    own = UserSignatures({}, {as_probed.id: measured})

    (board,) = ticked_targets([usual(BOARD)], own)

    assert (board.state, board.waits) == ("1 network measured", False)
    (other,) = ticked_targets([usual(BOARD, threads=1)], own)
    assert (other.state, other.waits) == ("not yet", True)


def test_the_table_says_as_what_each_is_probed() -> None:
    entries = ticked_targets([usual(BOARD), usual(CARD)], NOTHING_MEASURED)
    columns = {column.title: column for column in ticked_grid(entries).columns}

    assert [columns["Probed with"].text(row) for row in (0, 1)] == [
        "onnxruntime, fp32, 4 threads",
        "—",
    ]
    assert columns["Ticked with"].text(1) == "tensorrt, fp16"


@pytest.mark.parametrize(
    ("probed", "shown"),
    [
        # All four cores are what the device lists first; two are a configuration of their own.
        (Configuration("ncnn", Precision.FP16, 4, 1), BOARD.configurations[0]),
        (
            Configuration("onnxruntime", Precision.FP32, 2, 1),
            Configuration("onnxruntime", threads=2),
        ),
    ],
)
def test_a_probed_target_is_ticked_as_it_was_measured(
    probed: Configuration, shown: Configuration
) -> None:
    selection = TargetSelection(CATALOGUE, [])

    assert selection.show_probed("rpi5", probed) == shown

    assert selection.selected_ids == ("rpi5",)
    assert selection.selected[0].configurations[0] == shown
    assert selection.configuration_of(BOARD) == shown
    assert shown in selection.choices(BOARD)
    assert set(BOARD.configurations) <= set(selection.choices(BOARD))
    (device,) = selection.selected
    assert Target(device, device.configurations[0]).id == Target(BOARD, probed).id


def test_a_configuration_that_a_device_cannot_run_is_not_taken_up() -> None:
    selection = TargetSelection(CATALOGUE, ["rtx3060"])
    selection.restore([], {"rtx3060": Configuration("tflite", Precision.INT8, 4)}, {})

    assert selection.configuration_of(CARD) == CARD.configurations[0]

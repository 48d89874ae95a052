"""The reality check over a data folder, its document and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm_research.evaluation.bound.check import BoundCheck, check_bound
from ctm_research.evaluation.bound.document import UNEXPLAINED, document
from ctm_research.evaluation.bound.page import page
from ctm_research.evaluation.bound.space_comparison import EMPTY
from predictor.core.errors import InputError
from predictor.core.progress import Progress
from predictor.core.records import Device
from predictor.services.devices.catalogue import load_catalogue
from research.tests.data_folder import write_ncnn, write_neusight, write_timm
from research.tests.search_spaces import write_spaces

IMPOSSIBLE_MS = 1e-6
SLOW_MS = 1e4


@pytest.fixture(scope="module")
def devices() -> dict[str, Device]:
    return dict(load_catalogue().by_id)


def found(check: BoundCheck) -> dict[str, Any]:
    """Return the document as a program reads it."""
    text: dict[str, Any] = json.loads(json.dumps(document(check), allow_nan=False))
    return text


def test_every_row_is_counted_once(tmp_path: Path, devices: dict[str, Device]) -> None:
    write_ncnn(
        tmp_path,
        {"min_ms": SLOW_MS},
        {"min_ms": IMPOSSIBLE_MS},
        {"device_id": "unheard_of"},
        {"powersave": 1},
        {"model": "forgotten"},
    )
    write_timm(tmp_path, {"step_time_ms": SLOW_MS})

    result = found(check_bound(tmp_path, devices))

    ncnn, timm = result["sources"]
    assert (ncnn["source"], ncnn["rows"], ncnn["rows_with_graph"]) == ("ncnn", 5, 4)
    assert (ncnn["bounded"], ncnn["under_bound"], ncnn["under_bound_percent"]) == (2, 1, 50.0)
    assert (timm["rows"], timm["bounded"], timm["under_bound"]) == (1, 1, 0)
    assert result["total"]["under_bound_percent"] == pytest.approx(100 / 3)
    without = [entry["rows"] for entry in result["without_estimate"]]
    assert sum(without) + result["total"]["estimated"] == ncnn["rows"] + timm["rows"]
    assert result["not_in_catalogue"] == [{"source": "ncnn", "device": "unheard_of cpu", "rows": 1}]
    assert [target["target"] for target in result["targets"]] == [
        "rpi5 ncnn fp32",
        "rtx3090 pytorch amp_fp16",
    ]


@pytest.mark.parametrize(("slow_rows", "holds"), [(99, True), (98, False)])
def test_one_percent_may_be_under_the_bound(
    tmp_path: Path, devices: dict[str, Device], slow_rows: int, holds: bool
) -> None:
    write_ncnn(tmp_path, {"min_ms": IMPOSSIBLE_MS}, *[{"min_ms": SLOW_MS}] * slow_rows)

    assert check_bound(tmp_path, devices).holds is holds


def test_an_offender_is_listed_with_its_line_and_reason(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    write_ncnn(
        tmp_path,
        {"min_ms": IMPOSSIBLE_MS},
        {"min_ms": IMPOSSIBLE_MS, "run_id": "s029_r1", "src_line": 2900},
    )

    plain, doubted = found(check_bound(tmp_path, devices))["offenders"]

    assert (plain["table"], plain["line"], plain["network"]) == ("latencies.csv", 2, "resnet50")
    assert (plain["target"], plain["threads"]) == ("rpi5 ncnn fp32", 4)
    assert plain["measured_over_bound"] == pytest.approx(IMPOSSIBLE_MS / plain["bound_ms"])
    assert plain["explanation"] == UNEXPLAINED
    assert doubted["explanation"].startswith("The GPU did not compute")


def test_folders_that_are_not_there_are_named(tmp_path: Path, devices: dict[str, Device]) -> None:
    write_neusight(tmp_path, {})

    result = found(check_bound(tmp_path, devices))

    assert [source["source"] for source in result["sources"]] == ["neusight"]
    assert {"ncnn", "timm", "nas"} <= set(result["absent"])


def test_search_spaces_are_a_source_like_others(tmp_path: Path, devices: dict[str, Device]) -> None:
    write_spaces(tmp_path)
    two = {name: devices[name] for name in ("gtx1080-ti", "rpi4")}

    result = found(check_bound(tmp_path, two))

    (source,) = result["sources"]
    assert (source["source"], source["rows"], source["rows_with_graph"]) == ("nas", 24, 24)
    # FBNet on the GPU; NAS-Bench-201 there and on the board; OFA on both, without an estimate.
    assert (source["bounded"], source["estimated"]) == (2 + 4 + 4, 2 + 4)
    assert sum(entry["rows"] for entry in result["without_estimate"]) == 24 - 6
    assert {d["device"] for d in result["not_in_catalogue"]} == {
        f"essential_ph_1, {space}" for space in ("fbnet", "nasbench201", "ofa")
    }
    assert "rpi4 unknown fp32, batch 1, nasbench201" in [t["target"] for t in result["targets"]]


def test_an_architecture_under_its_bound_is_an_offender(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    latency_ms = np.full((2, 4), SLOW_MS)
    latency_ms[1, 0] = IMPOSSIBLE_MS
    write_spaces(tmp_path, latency_ms=latency_ms)

    (offender,) = found(check_bound(tmp_path, devices))["offenders"]

    assert (offender["table"], offender["line"], offender["batch"]) == ("fbnet.npz", 1, 32)
    assert offender["target"] == "gtx1080-ti unknown fp32, batch 32, fbnet"
    assert offender["measured_over_bound"] < 1e-6 / offender["bound_ms"] * 1.001


def test_empty_networks_are_counted_and_not_compared(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    write_spaces(tmp_path)
    arch = np.array([[0] * 6, [1] * 6], np.int8)
    latency_ms = np.array([[IMPOSSIBLE_MS], [SLOW_MS]])
    np.savez(tmp_path / "nas/nasbench201.npz", devices=["raspi4"], latency_ms=latency_ms, arch=arch)

    result = found(check_bound(tmp_path, devices))

    assert result["offenders"] == []
    assert {"source": "nas", "reason": EMPTY, "rows": 1} in result["without_estimate"]


def test_a_folder_without_any_source_is_refused(tmp_path: Path, devices: dict[str, Device]) -> None:
    with pytest.raises(InputError, match="it holds no folder of a source"):
        check_bound(tmp_path, devices)


def test_progress_tells_tables_and_graphs(tmp_path: Path, devices: dict[str, Device]) -> None:
    write_ncnn(tmp_path, {})
    told: list[Progress] = []

    check_bound(tmp_path, devices, told.append)

    assert told == [Progress(0, 1, "tables of ncnn"), Progress(0, 1, "resnet50")]


def test_the_page_holds_every_table_of_the_document(
    tmp_path: Path, devices: dict[str, Device]
) -> None:
    write_ncnn(tmp_path, {"min_ms": SLOW_MS}, {"min_ms": IMPOSSIBLE_MS}, {"device_id": "bar|bar"})

    text = page(found(check_bound(tmp_path, devices)), "Written on a Tuesday.")

    assert "Written on a Tuesday." in text
    assert "1 of 2 measurements are under their bound: 50 %, **over** the limit." in text
    assert "The largest share of a source is 50 % (ncnn)." in text
    assert "| ncnn | rpi5 ncnn fp32 | 2 | 1 |" in text
    assert f"1. {UNEXPLAINED}" in text
    assert "| ncnn | bar\\|bar cpu | 1 |" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({re.sub(r"\\\|", "", line).count("|") for line in table.splitlines()}) == 1


def test_a_page_without_offenders_says_so(tmp_path: Path, devices: dict[str, Device]) -> None:
    write_ncnn(tmp_path, {"min_ms": SLOW_MS})

    text = page(found(check_bound(tmp_path, devices)), "Origin.")

    assert "0 of 1 measurements are under their bound: 0 %, within the limit." in text
    assert "## Measurements under their bound\n\nNone.\n" in text
    assert text.endswith("## Devices that the catalogue lacks\n\nNone.\n")

"""Further tables of latencies: their columns, defaults of threads, and rows that are left out."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

from ctm_research.corpus.drafts import left_out_reason
from ctm_research.sources import SOURCES, Sample

COLUMNS = (
    *("source", "device", "unit", "runtime", "runtime_version", "provider_or_delegate"),
    *("precision", "threads", "batch", "model", "input_shape", "metric", "value", "host", "note"),
)
ROW = {
    "source": "itlab-vision/dl-benchmark@1:a.xlsx",
    "device": "Intel Core i3-8100",
    "unit": "cpu",
    "runtime": "openvino",
    "precision": "fp32",
    "batch": "8",
    "model": "resnet-50-pytorch",
    "input_shape": "1x3x224x224",
    "metric": "latency_ms",
    "value": "120",
}


def harvest(data: Path, *rows: Mapping[str, str]) -> list[Sample]:
    """Return the samples of rows in one table; the others of the folder are empty."""
    (data / "harvest").mkdir(exist_ok=True)
    for number, name in enumerate(SOURCES["harvest"].files):
        with gzip.open(data / "harvest" / name, "wt", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="")
            writer.writeheader()
            writer.writerows([] if number else [{**ROW, **row} for row in rows])
    return list(SOURCES["harvest"].samples(data))


def test_defaults_of_a_processor_of_one_socket_are_all_of_its_cores(tmp_path: Path) -> None:
    one, server, stated = harvest(
        tmp_path, {}, {"device": "Intel Xeon Gold 6138"}, {"device": "Other", "threads": "4"}
    )

    assert (one.device_id, one.configuration.threads, one.threads_stated) == (
        "core-i3-8100",
        0,
        True,
    )
    assert (server.device_id, server.threads_stated) == ("xeon-gold-6138", False)
    assert (stated.configuration.threads, stated.threads_stated) == (4, True)
    assert (one.batch_factor, one.latency_ms) == (8, 120)


def test_what_is_no_latency_is_no_row(tmp_path: Path) -> None:
    assert not harvest(tmp_path, {"metric": "rtf"}, {"metric": "latency_p95_ms"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"runtime": "nebullvm"}, "several back ends"),
        ({"provider_or_delegate": "torch.compile default"}, "compiled by a mode"),
        ({"provider_or_delegate": "C#, DirectML"}, "a back end that no runtime"),
        ({"note": "mean; ISA limited to FMA3; line 1"}, "switched off"),
        ({"runtime_version": "2018 R5.0.1"}, "a release of 2018"),
        ({"source": "openppl-public/ppl.nn@1:a", "device": "NVIDIA A100"}, "rows of the page"),
        ({"runtime": "mxnet"}, "a framework of 2019"),
        ({"device": "Hygon C86 7185"}, "no public list has its clock"),
    ],
)
def test_rows_that_say_something_else_are_left_out(
    tmp_path: Path, change: Mapping[str, str], words: str
) -> None:
    [sample] = harvest(tmp_path, change)

    assert words in left_out_reason(sample)


def test_posted_figures_have_columns_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "posted").mkdir()
    (tmp_path / "posted" / "latencies.csv").write_text(
        "source,device,unit,runtime,runtime_version,precision,threads,batch,model,input_shape,"
        "metric,latency_ms,note\n"
        "x,MI 8 (SD845),cpu,tflite XNNPACK,1,fp32,4,1,tf_mobilenetv1,1x3x224x224,avg of 100,25,\n"
        "x,Core i3-8100,cpu,onnxruntime,1.14,int8,default,1,vgg16-12,1x3x224x224,latency,47,\n"
        "x,Raspberry Pi 3B (4xA53 1.2 GHz),cpu,ncnn bf16s,,fp32,4,1,squeezenet,,avg of 4,80,\n",
        encoding="utf-8",
    )

    phone, desktop, board = SOURCES["posted"].samples(tmp_path)

    assert (phone.configuration.runtime, phone.configuration.threads) == ("tflite", 4)
    assert (desktop.latency_ms, desktop.configuration.threads, desktop.threads_stated) == (
        47,
        0,
        True,
    )
    assert "stored in BF16" in left_out_reason(board)

"""The power of cards and boards against other loads, on tables written by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ctm_research.evaluation.power import power_check, power_page
from predictor.language.power import OF_MULTIPLYING, OF_READING, OF_WAITING

ROOFLINE = "gpu,device_index,gbs,gflops,power_w\n"
KERNELS = "gpu,set,core_mhz,power_w,dram_active,sm_active,benchmark,kernel,arg,mem_mhz,time_ms\n"
NETWORKS = "file,gpu,app,core,mem,arg,time_ms,power_w\n"
BOARDS = "power_watts.stress,power_watts.geekbench,power_watts.hpl\n"


def write(folder: Path) -> None:
    """Write a card that reads as the shares say, kernels twice as hungry, and two boards."""
    kernels = folder / "kernels"
    for name in ("gpu_benches", "dvfs", "sbc", "llm_serving"):
        (kernels / name).mkdir(parents=True)
    reading, half = 300 * OF_READING, 300 * (OF_READING + OF_MULTIPLYING) / 2
    idle = (OF_READING + OF_WAITING) / 2
    (kernels / "gpu_benches" / "roofline.csv").write_text(
        f"{ROOFLINE}alex_a40,0,600,0.001,{reading}\nalex_a40,0,600,30000,{half}\n"
        f"alex_a40,0,300,0.001,{300 * idle}\n",
        encoding="utf-8",
    )
    with gzip.open(kernels / "dvfs" / "gpu_kernels_v100_rtx8000.csv.gz", "wt") as file:
        file.write(f"{KERNELS}v100,real,1380,{500 * OF_READING},1,1,a,a,,877,4\n")
        file.write(f"v100,real,1380,{500 * idle},0.5,0.5,b,b,,877,2\n")
        file.write("v100,real,1380,500,0,1,c,c,,877,2\n")
        file.write("v100,real,690,250,1,1,c,c,,877,3\nv100,micro,1380,1,1,1,c,c,,877,1\n")
    # An offset of the clock, and a card that is not stated, are of no use.
    (kernels / "dvfs" / "caffe_nets_desktop_gpus.csv").write_text(
        f"{NETWORKS}f,gtx980,caffe,1000,3500,n,10,100\nf,gtx980,caffe,800,3500,n,11,90\n"
        "f,gtx980,caffe,-200,3500,n,9,9\nf,not stated,caffe,800,3500,n,1,1\n",
        encoding="utf-8",
    )
    (kernels / "sbc" / "sbc_reviews.csv").write_text(
        f"{BOARDS}10,10,20\n5,,10\n,1,1\n", encoding="utf-8"
    )
    (kernels / "llm_serving" / "argonne_power.csv").write_text(
        "Framework,Hardware,Model,Batch Size,avg_power\n", encoding="utf-8"
    )
    (kernels / "llm_serving" / "splitwise_perf.csv").write_text(
        "model,hardware,tensor_parallel,prompt_size,batch_size,token_size,average_power_median\n",
        encoding="utf-8",
    )


def test_errors_are_of_the_shares_that_ship(tmp_path: Path) -> None:
    write(tmp_path)
    figures = power_check(tmp_path)
    a40, v100 = figures["cards"]["silicon"]
    assert a40["silicon"] == "ga102"
    assert a40["error"] == pytest.approx(0.0, abs=1e-4)
    assert v100["error"] == pytest.approx(0.5)
    assert v100["over"] == pytest.approx(0.5)
    assert v100["rows"] == 3
    assert figures["cards"]["width"] == pytest.approx(2.0)
    assert figures["boards"] == {"boards": 2, "runs": 3, "median": 2.0, "low": 1.0, "high": 2.0}
    assert "3 runs of Geekbench and HPL on 2 boards" in power_page(figures, "By hand.")


def test_watts_at_lower_clocks_are_over_those_at_the_highest(tmp_path: Path) -> None:
    write(tmp_path)
    figures = power_check(tmp_path)
    assert figures["clocks"] == [
        {"card": "gtx980", "runs": 1, "clock": 0.8, "watts": 0.9, "energy": pytest.approx(0.99)},
        {"card": "v100", "runs": 1, "clock": 0.5, "watts": 0.5, "energy": 0.75},
    ]
    assert "| gtx980 | 1 | 0.80 | 0.90 | 0.99 |" in power_page(figures, "By hand.")

"""What HPL reaches of the rate that prompts on processors count with."""

from __future__ import annotations

from pathlib import Path

from ctm_research.generation.processors import processor_figures
from predictor.devices.catalogue import shipped_devices


def test_hpl_is_held_against_the_rate_of_all_cores(tmp_path: Path) -> None:
    table = tmp_path / "kernels" / "sbc" / "sbc_reviews.csv"
    table.parent.mkdir(parents=True)
    table.write_text("name,hpl_gflops\nRaspberry Pi 5 model B,38.4\nMilk-V Mars,2.06\n")
    devices = {device.id: device for device in shipped_devices()}
    board, *others = processor_figures(tmp_path, devices)
    assert board == {
        "device": "rpi5", "stated": 154, "counted": 154, "hpl": 77, "share_percent": 50,
    }  # fmt: skip
    # Boost clock and lanes beyond 256 bits: both make a large server slower than it states.
    server = next(each for each in others if each["device"] == "xeon-6980p")
    assert server["hpl"] is None
    assert 1.5 < server["stated"] / server["counted"] < 2.5

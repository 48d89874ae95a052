"""HPL on all cores of processors, over the rate that prompts on processors count with.

No source here has prompts on processors. HPL (fp64, all cores) is dense products too: twice its
FLOP/s over ``Machine.matrix`` is the share that ``USUAL_ON_CPUS.product`` is the inverse of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ctm_research.sources.tables import read_rows
from predictor.core.records import Device
from predictor.language.machine import machine_of

# Devices of the catalogue by the boards of kernels/sbc. Those whose HPL ran scalar (RISC-V without
# a BLAS of its vectors) or on a matrix unit (Apple) tell nothing of vectors.
_BOARDS: Final = {
    "Raspberry Pi 5 model B": "rpi5",
    "Raspberry Pi 4 model B": "rpi4",
    "Raspberry Pi 400": "rpi4-1.8ghz",
    "GMKtec NucBox G3 Plus": "intel-n100",
    "Radxa Orion O6": "orion-o6-cpu",
    "Radxa Rock 5 model B": "rk3588-cpu",
    "Pine64 SOQuartz": "rk3566-cpu",
    "Arduino Uno Q": "qrb2210-cpu",
    "Dell Pro Max with GB10": "dgx-spark-cpu",
    "Framework Desktop Mainboard": "ryzen-ai-max-plus-395",
}
# Without HPL here: what counting all cores changes.
_OTHERS: Final = ("core-i7-1165g7", "ryzen-9-7950x", "epyc-9654", "xeon-6980p")


def processor_figures(folder: Path, devices: Mapping[str, Device]) -> list[dict[str, object]]:
    """Return HPL and the stated and the counted FP32 rate of processors, in GFLOP/s.

    Raises:
        InputError: the table is missing or damaged.
    """
    boards = read_rows(folder / "kernels" / "sbc" / "sbc_reviews.csv", ())
    hpl = {
        _BOARDS[row["name"]]: row.positive("hpl_gflops") for row in boards if row["name"] in _BOARDS
    }
    return [_figure(devices[name], hpl.get(name)) for name in (*hpl, *_OTHERS) if name in devices]


def _figure(device: Device, hpl: float | None) -> dict[str, object]:
    machine = machine_of(device)
    return {
        "device": device.id,
        "stated": round(machine.vector / 1e9),
        "counted": round(machine.matrix / 1e9),
        "hpl": None if hpl is None else round(2 * hpl),
        "share_percent": None if hpl is None else round(200e9 * hpl / machine.matrix),
    }

"""Published tables of the search spaces, small and made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

DEVICES = np.array(["1080ti_32", "raspi4", "essential_ph_1", "eyeriss"])


def write_spaces(data: Path, **changes: np.ndarray) -> None:
    """Write three spaces of two architectures; the changes are of FBNet."""
    folder = data / "nas"
    folder.mkdir()
    common = {"devices": DEVICES, "latency_ms": np.full((2, 4), 2.5, np.float32)}
    np.savez(folder / "fbnet.npz", **{**common, "arch": np.zeros((2, 22), np.int8), **changes})
    np.savez(folder / "nasbench201.npz", **common, arch=np.ones((2, 6), np.int8))
    shapes = {"ks": (2, 20), "expand": (2, 20), "depth": (2, 5), "resolution": (2,)}
    smallest = {"ks": 3, "expand": 3, "depth": 2, "resolution": 128}
    codes = {key: np.full(shape, smallest[key], np.int16) for key, shape in shapes.items()}
    np.savez(folder / "ofa.npz", **common, **codes)

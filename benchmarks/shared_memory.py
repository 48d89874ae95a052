"""Holds the rule of memory that units share against published runs of several units at once.

    python -m benchmarks.shared_memory

A unit that runs without pause and waits for the memory for a share m of its time alone slows down
by m x / (1 - x), where all else takes a share x of the bandwidth. What a unit takes falls as it
slows down. Of the networks nothing is known, so m of both units is found from the runs of one GPU
beside one DLA, and those beside two DLAs are predicted from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from predictor.services.loads.simulate import memory_growth

Floats = NDArray[np.float64]

# NVIDIA/TensorRT issue 2745, on an Orin: times beside others over those alone.
BESIDE_ONE = {"gpu": 1.13, "dla": 1.22}
BESIDE_TWO = {"gpu": 1.31, "dla": 1.28}
# NVIDIA's forum, topic 219770, on an Orin: one convolution, GPU and both DLAs.
CONVOLUTION = {"gpu": 405.3 / 229.2, "dla": 132.7 / 113.1}
# BWLOCK++ (arXiv 1712.08738 and ECRTS 2018): GPU kernels beside memory-bound processes.
WORST = {"Tegra K1": 4.0, "Jetson TX2": 3.0}
_ROUNDS = 200


def slowed(waiting: Floats) -> Floats:
    """Return the time of units beside one another over that alone, [..., U].

    Args:
        waiting: share of its time alone in which the traffic of a unit takes the memory, [..., U].
    """
    times = np.ones_like(waiting)
    for _ in range(_ROUNDS):
        shares = waiting / times
        others = shares.sum(axis=-1, keepdims=True) - shares
        times = (times + 1 + waiting * memory_growth(others)) / 2
    return times


def waiting_of(gpu: float, dla: float) -> Floats:
    """Return the shares of a GPU and a DLA that slow them down so, the nearest of a grid, [2]."""
    grid = np.linspace(0.005, 0.995, 199)
    pairs = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    misses = np.abs(np.log(slowed(pairs) / (gpu, dla))).max(axis=1)
    nearest: Floats = pairs[int(np.argmin(misses))]
    return nearest


def main() -> None:
    """Print the published figures and those of the rule."""
    gpu, dla = waiting_of(BESIDE_ONE["gpu"], BESIDE_ONE["dla"]).tolist()
    print(f"of its time alone the GPU waits for the memory for {gpu:.0%}, a DLA for {dla:.0%}")
    one = slowed(np.array([gpu, dla]))
    two = slowed(np.array([gpu, dla, dla]))
    rows = [
        ("GPU beside one DLA (taken)", BESIDE_ONE["gpu"], one[0]),
        ("a DLA beside the GPU (taken)", BESIDE_ONE["dla"], one[1]),
        ("GPU beside two DLAs", BESIDE_TWO["gpu"], two[0]),
        ("a DLA beside GPU and DLA", BESIDE_TWO["dla"], two[1]),
    ]
    for name, published, ruled in rows:
        print(f"{name}: published {published:.2f}, by the rule {ruled:.2f}")
    for name, times in WORST.items():
        share = (times - 1) / times
        print(
            f"{name}: {times:.0f} times is the rule for pure reading where others take {share:.0%}"
        )
    most = slowed(np.array([1.0, 1.0, 1.0]))[0]
    print(
        f"convolution on GPU and two DLAs: published {CONVOLUTION['gpu']:.2f} and "
        f"{CONVOLUTION['dla']:.2f}; three units that wait for the memory alone, {most:.2f}"
    )


if __name__ == "__main__":
    main()

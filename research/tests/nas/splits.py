"""A split of the small search space."""

from __future__ import annotations

from ctm_research.nas.benchmark.splits import Partition, Split, split
from research.tests.nas.small_space import small_space

PARTITION = Partition(
    "N@9", "nasbench201", ("1080ti_1", "raspi4", "fpga"), ("gold_6226", "pixel3"), {}
)


def small_split() -> Split:
    return split(small_space(), PARTITION, tests=20)

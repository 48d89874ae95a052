"""P90 and P99 of runs over their P50, by runtime and kind of device, from MLPerf's logs.

Figures and their errors on chips left out: research/docs/results/tails.md. Of a runtime or a kind
of device with fewer than four chips in the logs nothing is said.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Final

from predictor.core.metrics import Family
from predictor.core.percentiles import Z80
from predictor.core.records import Device, Target
from predictor.core.resources import resources_dir
from predictor.core.run_facts import Spread, Tail

SCHEMA: Final = "ctm-tails/1"
# A kind of device, as MLPerf's submitters state it.
_KINDS: Final[Mapping[Family, str]] = {
    Family.CPU: "cpu",
    Family.MOBILE_CPU: "cpu",
    Family.GPU: "gpu",
    Family.MOBILE_GPU: "gpu",
    Family.NPU: "npu",
    Family.ASIC: "npu",
    Family.FPGA: "fpga",
}


def spread_of(target: Target, batch: int) -> Spread | None:
    """Return how far the slow runs on a target lie over the median; None where nothing shows it.

    The logs are of batch 1 alone.
    """
    if batch != 1:
        return None
    return _spreads().get((target.configuration.runtime, kind_of(target.device)))


def kind_of(device: Device) -> str:
    """Return the kind of a device as submitters to MLPerf state it; empty of any other."""
    return _KINDS.get(device.family, "")


@cache
def _spreads() -> dict[tuple[str, str], Spread]:
    path = resources_dir() / "tails" / "mlperf.json"
    groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
    return {
        (group["runtime"], group["kind"]): Spread(_tail(group["p90"]), _tail(group["p99"]))
        for group in groups
    }


def _tail(figures: Mapping[str, float]) -> Tail:
    """Return the ratio of a normal ln(ln(P / P50))."""
    middle = math.exp(figures["mean"])
    high = math.exp(figures["mean"] + Z80 * figures["deviation"])
    return Tail(math.exp(middle), (high - middle) / Z80)

"""What several runs at once bring over one after the other, by runtime and kind of device.

ln of items in the time of one run is a sum: a start, a share of what the best batch brings by
prediction, and a share of ln(cores) of a processor or a DPU. Figures, and their errors on systems
left out: research/docs/results/throughput.md. Of what is not in the table nothing is said.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Final

from predictor.calibration.tails import kind_of
from predictor.core.metrics import Family
from predictor.core.records import Target
from predictor.core.resources import resources_dir
from predictor.cost.rates.cores import separate_cores

SCHEMA: Final = "ctm-throughput/1"
STEADY: Final = 0.3
"""ln of a gain at which an error is taken for twice that of no gain."""
# Offline runs of phones name the one SDK of both.
_SAME_SDK: Final = {"qnn": "snpe"}
_PROCESSORS: Final = frozenset({Family.CPU, Family.MOBILE_CPU})


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """What several runs at once bring in a class.

    Attributes:
        start: ln of items in the time of one run, where batches and cores bring nothing.
        batches: share of ln of what the best batch brings.
        cores: share of ln(cores) of a processor or a DPU.
        scale: half the 80 % interval of ln(items), over ln of the gain and ``STEADY`` together.
        chips: that it was fitted to.
        error: median, with systems left out; a share.
        of_loads: whether batches of loads were nearer to published ones by it than as predicted.
    """

    start: float
    batches: float
    cores: float
    scale: float
    chips: int
    error: float
    of_loads: bool = False

    def gain(self, batch_gain: float, cores: int) -> float:
        """Return the items in the time of one run, at least 1."""
        logs = self.start + self.batches * math.log(batch_gain) + self.cores * math.log(cores)
        return math.exp(max(logs, 0.0))

    def of_batch(self, batch_gain: float, size: int, cores: int) -> float:
        """Return the items of a batch in the time of one run, from 1 to its size.

        What several runs bring without batches comes with their number: none of it with one.
        """
        steady = (self.start + self.cores * math.log(cores)) * (1 - 1 / size)
        logs = steady + self.batches * math.log(batch_gain)
        return math.exp(min(max(logs, 0.0), math.log(size)))

    def reach80(self, gain: float) -> float:
        """Return half the 80 % interval of ln(gain)."""
        return self.scale * (STEADY + math.log(gain))


def concurrency_of(target: Target) -> Concurrency | None:
    """Return what several runs at once bring on a target; None where nothing shows it."""
    runtime = target.configuration.runtime
    key = _SAME_SDK.get(runtime, runtime), kind_of(target.device)
    rule = _classes().get(key)
    return None if rule is not None and rule.cores and not cores_of(target) else rule


def cores_of(target: Target) -> int | None:
    """Return the cores that run on a processor, None where unknown; of others see the rates."""
    if target.device.family in _PROCESSORS:
        return target.threads or None
    return separate_cores(target.device)


@cache
def _classes() -> dict[tuple[str, str], Concurrency]:
    path = resources_dir() / "throughput" / "published.json"
    return {
        (entry.pop("runtime"), entry.pop("kind")): Concurrency(**entry)
        for entry in json.loads(path.read_text(encoding="utf-8"))["classes"]
    }

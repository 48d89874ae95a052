"""Time of 100 000 simulated items of a stream, by kind of pipeline.

python -m benchmarks.loads
"""

from __future__ import annotations

import time

import numpy as np

from predictor.simulation.arrivals import Poisson
from predictor.simulation.pipelines import Pipeline, StageRuns, pass_through

_ITEMS = 100_000
_PIPELINES = {
    "one stage": [StageRuns(unit=0, service_s=[0.8])],
    "batches of up to 4": [StageRuns(unit=0, service_s=[0.8, 0.9, 1.0, 1.1], delay_s=1.0)],
    "two stages on two units": [
        StageRuns(unit=0, service_s=[0.8]),
        StageRuns(unit=1, service_s=[0.5], after=[0]),
    ],
    "a stage and three crops": [
        StageRuns(unit=0, service_s=[0.3]),
        StageRuns(unit=0, service_s=[0.1], after=[0], per_item=3),
    ],
}


def main() -> None:
    """Print the processor seconds of each pipeline."""
    times = Poisson(1.0).times_s(_ITEMS, np.random.default_rng(0))
    for name, stages in _PIPELINES.items():
        start = time.process_time()
        pass_through([Pipeline(stages, times)], [1, 1])
        print(f"{name}: {time.process_time() - start:.2f} s")


if __name__ == "__main__":
    main()

"""The k reference networks that the paper's signature is made of, chosen before training.

The signature must mean the same on every device, so the references cannot depend on the test
device: they are a plan, chosen from the train devices alone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.interface import Pool, check_budget
from predictor.probing.selection.random import RandomSelector
from predictor.research.nas.view import TrainView

_POOL: Final = 1000


class References(StrEnum):
    """How they are chosen.

    DBSEL: with equal device weights, as for every plan that is made before anything is measured.
    HOMOGENEOUS: those of most equal latency, the paper's example of an unrepresentative choice.
    """

    DBSEL = "dbsel"
    RANDOM = "random"
    HOMOGENEOUS = "homogeneous"


def choose_references(view: TrainView, policy: References, k: int, seed: int) -> NDArray[np.int64]:
    """Return k train architectures, int64 [k], of a random pool of 1000.

    Raises:
        InputError: k is not between 1 and the size of the pool.
    """
    rng = np.random.default_rng(seed)
    place = rng.choice(len(view.rows), min(_POOL, len(view.rows)), replace=False)
    pool = Pool(train_latency_ms=view.latency_ms[place])
    if policy is References.HOMOGENEOUS:
        chosen = most_homogeneous(pool, k)
    else:
        selector = DBSel() if policy is References.DBSEL else RandomSelector()
        chosen = selector.select(pool, k, seed=seed).indices
    return view.rows[place[list(chosen)]]


def most_homogeneous(pool: Pool, k: int) -> tuple[int, ...]:
    """Return the k networks whose mean latencies are closest together; the fastest of equals.

    Each device's latencies count relative to their mean.

    Raises:
        InputError: k is not between 1 and the size of the pool, or it has no latencies.
    """
    check_budget(pool, k)
    latency_ms = pool.needed_latency_ms("of equal latencies")
    mean = (latency_ms / latency_ms.mean(axis=0)).mean(axis=1)
    order = np.argsort(mean, kind="stable")
    width = mean[order[k - 1 :]] - mean[order[: len(order) - k + 1]]
    first = int(np.argmin(width))
    return tuple(order[first : first + k].tolist())

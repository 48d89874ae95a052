"""Random numbers of torch that are those of a seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Seed torch's random numbers inside the block, and restore their state after it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield

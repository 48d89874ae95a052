"""Targets as the published measurements name them, and as deviations are filed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from predictor.core.records import Precision, Target
from predictor.core.runtimes import runtime_of
from predictor.cost.cores import threads_in_use


class Place(NamedTuple):
    """A target as deviations are filed; threads are a count, 0 where that means nothing."""

    device_id: str
    runtime: str
    precision: str
    threads: int


def learned_form(target: Target) -> Target:
    """Return a target as the published measurements name it.

    ncnn stores and computes in FP16 where it can, and its published latencies do not say where it
    did: a float network on ncnn is one and the same configuration here.
    """
    c = target.configuration
    if runtime_of(c.runtime).hides_halves and c.precision is Precision.FP16:
        return Target(target.device, replace(c, precision=Precision.FP32))
    return target


def place_of(target: Target) -> Place:
    """Return what a target's deviation is filed under."""
    c = learned_form(target).configuration
    threads = threads_in_use(target.device, c.threads)
    return Place(target.device.id, c.runtime, str(c.precision), threads)

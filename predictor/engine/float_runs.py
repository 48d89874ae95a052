"""Runs of float networks under a runtime that halves them by itself, such as ncnn.

ncnn stores and computes in FP16 where it can, and its published latencies do not say where it did:
they stand under FP32. A request for FP16 is of these runs. A request for FP32 is of a run with the
option that forbids halves (``use_fp16_arithmetic`` and its relatives off); where the device does
not multiply halves both are one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from predictor.calibration.evidence import Keys
from predictor.core.records import Precision, Target, by_run
from predictor.core.runtimes import runtime_of
from predictor.cost.rates.runs import as_run

_FLOATS: Final = "fp32 without halves"  # a precision in which nothing was published


def published_form(target: Target) -> Target:
    """Return a target as the published measurements name it: float runs under FP32."""
    c = target.configuration
    if runtime_of(c.runtime).hides_halves and c.precision is Precision.FP16:
        return replace(target, configuration=replace(c, precision=Precision.FP32))
    return target


def forbids_halves(target: Target) -> bool:
    """Return whether a run stays in FP32 that would be halved were nothing requested."""
    c = target.configuration
    if not runtime_of(c.runtime).hides_halves or c.precision is not Precision.FP32:
        return False
    # Of a device that lists no FP16 both are requested as FP32.
    has_halves = any(c.precision is Precision.FP16 for c in target.device.configurations)
    return has_halves and as_run(target) is not target


def run_form(target: Target) -> Target:
    """Return a target with the precision that a requested run computes in."""
    return target if forbids_halves(target) else as_run(published_form(target))


def keys_of(targets: Sequence[Target]) -> Keys:
    """Return the keys of requested targets in the evidence."""
    keys = Keys.of([published_form(target) for target in targets])
    floats = np.array(by_run(targets, forbids_halves), np.bool_)
    return replace(keys, precision=np.where(floats, _FLOATS, keys.precision))


def published_keys(keys: Keys) -> Keys:
    """Return keys with the published run in place of one that forbids halves."""
    is_float = keys.precision == _FLOATS
    return replace(keys, precision=np.where(is_float, Precision.FP32.value, keys.precision))

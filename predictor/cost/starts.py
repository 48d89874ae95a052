"""Runs whose starts of operators are known from physics.

A runtime that executes a finished plan starts an operator in some thousand clocks. On one thread
nothing else is in a start: no threads to wake, and no framework between two operators. So what
little the measurements of a class tell of starts moves that number by little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Target, by_run
from predictor.core.runtimes import CPUS

START_FREEDOM: Final = 0.3
"""Part of the effects of a class on starts that such a run has."""

# Operators that move nothing take 2.6 us under ONNX Runtime and 1.1 us under OpenVINO, at the
# least, in the profiles of the bridge (docs/bridge.md), on a core of some 3 GHz.
PLAN_CLOCKS: Final = 8000.0
"""Clocks of a core for the start of an operator."""

# Others have starts of their own on x86: with them errors of ncnn rose from 26 to 34 %, of TFLite
# from 50 to 57 (docs/decisions/0016-physics.md).
_RUNTIMES: Final = frozenset({"onnxruntime", "openvino"})


def have_plain_starts(targets: Sequence[Target]) -> NDArray[np.bool_]:
    """Return which targets run a plan on one thread of a processor, bool [T]."""
    return np.array(by_run(targets, has_plain_starts), np.bool_)


def has_plain_starts(target: Target) -> bool:
    """Return whether a target runs a plan on one thread of a processor."""
    configuration = target.configuration
    return (
        target.device.family in CPUS
        and configuration.threads == 1
        and configuration.runtime in _RUNTIMES
    )

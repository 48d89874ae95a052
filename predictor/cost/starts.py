"""Starts of operators that are known from physics.

A runtime that executes a finished plan starts an operator in some thousand clocks. On one thread
nothing else is in a start: no threads to wake, and no framework between two operators. So what
little the measurements of a class say of starts moves that number by little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from predictor.core.arrays import Bools
from predictor.core.records import Target
from predictor.core.runtimes import CPUS

START_FREEDOM: Final = 0.3
"""Part of the effects of a class on starts that a plan on one thread has."""

# Operators that move nothing take 2.6 us under ONNX Runtime and 1.1 us under OpenVINO, at the
# least, in the profiles of research/docs/bridge.md, on a core of some 3 GHz: 8000 clocks.
START_FACTOR: Final = 4.0
"""Such a start over that of the physics, before any measurement."""

_PLANS: Final = frozenset({"onnxruntime", "openvino"})


def have_plain_starts(targets: Sequence[Target]) -> Bools:
    """Return which targets run a plan on one thread of a processor, bool [T]."""
    return np.array([_has_plain_starts(target) for target in targets], np.bool_)


def _has_plain_starts(target: Target) -> bool:
    configuration = target.configuration
    return (
        configuration.threads == 1
        and configuration.runtime in _PLANS
        and target.device.family in CPUS
    )

"""Small networks of factors of single operators: all factors 1, and random ones."""

from __future__ import annotations

import numpy as np

from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.engine.operator_factors import GROUPS, OperatorFactors
from predictor.graph.operators import OPERATORS
from predictor.network.features import SCALE_FREE_NAMES

HIDDEN = 3
NAMES = {
    "runtime": ["ncnn", "pytorch"],
    "kind": ["arm", "gpu"],
    "class": ["arm x ncnn"],
    "precision": [],
    "order": [],
    "maker": [],
}


def shapes(of_target: int = 2, of_name: int = 2) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights, by name."""
    count = len(SCALE_FREE_NAMES)
    return {
        "mean": (count,),
        "scale": (count,),
        "code": (len(OPERATORS), of_name),
        "kind": (len(KINDS), of_name),
        "first": (HIDDEN, count + 2 * of_name),
        "first.bias": (HIDDEN,),
        "second": (HIDDEN, HIDDEN),
        "second.bias": (HIDDEN,),
        "operator": (HIDDEN, HIDDEN),
        "operator.bias": (HIDDEN,),
        "target": (HIDDEN, of_target),
        "terms": (len(TERMS), HIDDEN),
        "terms.bias": (len(TERMS),),
        **{f"group.{name}": (len(NAMES[name]) + 1, of_target) for name in GROUPS},
    }


def no_factors() -> OperatorFactors:
    """Return a network of which all factors are 1."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes().items()}
    return OperatorFactors(NAMES, {**weights, "scale": weights["scale"] + 1})


def random_factors(seed: int = 0, size: float = 1.0) -> OperatorFactors:
    """Return a network of random weights of about a size."""
    rng = np.random.default_rng(seed)
    weights = {
        name: (size * rng.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes().items()
    }
    return OperatorFactors(NAMES, {**weights, "scale": np.abs(weights["scale"]) + np.float32(0.5)})

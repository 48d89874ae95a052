"""Factors on the terms of single operators, from a small network.

Efficiencies are those of kinds of operators; the network distinguishes operators of one kind: a
convolution of few channels, a product of long sums, a Resize. Operator and target meet as in HODM:
the state of the operator, which reads its scale-free features, and that of the target's runtime,
kind and precision. No rate and no batch is read, so that rates act through the terms alone, and
each factor stays between 1 / bound and bound: a network can mend an estimate, not overturn it.

Reference:
    HODM's dialogue of operators and hardware, CloserToMe Eq. (3) to (6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.efficiencies import by_groups
from predictor.core.arrays import ArrayRecord, Floats, Integers
from predictor.core.records import Target
from predictor.cost.operator_kinds import KINDS
from predictor.cost.physics import TERMS
from predictor.graph.operators import OPERATORS
from predictor.network.features import SCALE_FREE_NAMES

Arrays = Mapping[str, NDArray[np.float32]]

BOUND: Final = 2.0
# Exponent of the factors where nothing of the silicon was measured. What the network learned on
# other silicon is partly of theirs: half of it is worth most on silicon left out in inner folds.
CAUTION: Final = 0.5
GROUPS: Final = ("runtime", "kind", "class", "precision", "order", "maker")
# States of operators in contexts at a time: the temporaries of so many stay in the cache.
_BLOCK_CELLS: Final = 1 << 18
_BLOCK_ROWS: Final = 1 << 14  # operators at a time: their temporaries are many times the result


@dataclass(frozen=True, slots=True, eq=False)
class Contexts(ArrayRecord):
    """C kinds of targets that operators meet.

    Attributes:
        states: float64 [C, H].
        trust: float64 [C], exponent of the factors.
    """

    states: Floats
    trust: Floats


@dataclass(frozen=True, slots=True, eq=False)
class OperatorFactors:
    """The network, with H hidden states and D of a target.

    Attributes:
        names: of the groups that it distinguishes, by the names of ``GROUPS``.
        weights: float32 arrays by name, as :data:`SHAPES` has them.
    """

    names: Mapping[str, Sequence[str]]
    weights: Arrays

    def contexts(self, targets: Sequence[Target], trust: Floats) -> tuple[Integers, Contexts]:
        """Return the number of each target's context, int64 [T], and the contexts.

        Args:
            targets: T targets.
            trust: float64 [T], exponent of the factors.
        """
        places = [
            {name: number for number, name in enumerate(self.names[group], start=1)}
            for group in GROUPS
        ]

        def row(of: Mapping[str, str]) -> list[int]:
            return [
                numbers.get(of[group], 0) for numbers, group in zip(places, GROUPS, strict=True)
            ]

        rows = by_groups(targets, row)
        groups = np.array(rows, np.float64).reshape(-1, len(GROUPS))
        distinct, number = np.unique(np.c_[groups, trust], axis=0, return_inverse=True)
        states = sum(
            self.weights[f"group.{group}"][column]
            for group, column in zip(GROUPS, distinct[:, :-1].T.astype(np.int64), strict=True)
        )
        return number.reshape(-1), Contexts(states @ self.weights["target"].T, distinct[:, -1])

    def states(
        self, features: NDArray[np.float32], code: NDArray[np.integer], kinds: Integers
    ) -> NDArray[np.float32]:
        """Return the states of N operators, [N, H].

        Args:
            features: [N, S], scale-free.
            code: [N], of their types.
            kinds: [N], index into ``KINDS``.
        """
        states = np.empty((len(code), len(self.weights["operator"])), np.float32)
        for rows in _blocks(len(code)):
            states[rows] = self._states(features[rows], code[rows], kinds[rows])
        return states

    def _states(
        self, features: NDArray[np.float32], code: NDArray[np.integer], kinds: Integers
    ) -> Floats:
        w = self.weights
        scaled = (features - w["mean"]) / w["scale"]
        state: Floats = np.concatenate([scaled, w["code"][code], w["kind"][kinds]], axis=1)
        for layer in ("first", "second"):
            state = np.maximum(state @ w[layer].T + w[f"{layer}.bias"], 0.0)
        state = state @ w["operator"].T + w["operator.bias"]
        return np.asarray(state)

    def factors(self, states: NDArray[np.float32], contexts: Contexts) -> Floats:
        """Return the factors of N operators in C contexts on the terms, [C, N, len(TERMS)]."""
        parts = [self._factors(states[rows], contexts) for rows in _blocks(len(states))]
        return np.concatenate(parts, axis=1)

    def _factors(self, states: NDArray[np.float32], contexts: Contexts) -> Floats:
        met = np.maximum(states + contexts.states[:, None], 0.0)
        logs = met @ self.weights["terms"].T + self.weights["terms.bias"]
        limit = np.log(BOUND)
        logs = contexts.trust[:, None, None] * limit * np.tanh(logs / limit)
        factors: Floats = np.exp(logs)
        return factors

    def by_context(self, states: NDArray[np.float32], contexts: Contexts) -> Iterator[Floats]:
        """Yield the factors of N operators in blocks of C contexts, [some, N, len(TERMS)] each.

        They are those of :meth:`factors` to the last bit: all at once would need C x N x H numbers.
        """
        step = max(_BLOCK_CELLS // max(states.size, 1), 1)
        for first in range(0, len(contexts.trust), step):
            yield self.factors(states, contexts.take(slice(first, first + step)))

    def fits(self) -> bool:
        """Return whether all parts have the shapes and the vocabulary of this program."""
        w = self.weights
        if w.keys() != {*_NAMES, *(f"group.{group}" for group in GROUPS)}:
            return False
        if any(w[name].ndim != 2 for name in ("code", "kind", "target")):
            return False
        hidden, wide = w["target"].shape
        read = len(SCALE_FREE_NAMES) + w["code"].shape[1] + w["kind"].shape[1]
        shapes = {
            "mean": (len(SCALE_FREE_NAMES),),
            "scale": (len(SCALE_FREE_NAMES),),
            "code": (len(OPERATORS), w["code"].shape[1]),
            "kind": (len(KINDS), w["kind"].shape[1]),
            "first": (hidden, read),
            "second": (hidden, hidden),
            "operator": (hidden, hidden),
            "terms": (len(TERMS), hidden),
            **{f"{name}.bias": (hidden,) for name in ("first", "second", "operator")},
            "terms.bias": (len(TERMS),),
            **{f"group.{g}": (len(self.names[g]) + 1, wide) for g in GROUPS},
        }
        return (
            all(w[name].shape == shape for name, shape in shapes.items())
            and all(bool(np.isfinite(array).all()) for array in w.values())
            and bool((w["scale"] > 0).all())
        )


_NAMES: Final = (
    *("mean", "scale", "code", "kind", "target"),
    *("first", "first.bias", "second", "second.bias", "operator", "operator.bias"),
    *("terms", "terms.bias"),
)


def _blocks(count: int) -> Iterator[slice]:
    """Yield the places of operators, block by block; one that is empty where there are none."""
    for first in range(0, max(count, 1), _BLOCK_ROWS):
        yield slice(first, first + _BLOCK_ROWS)

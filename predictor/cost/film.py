"""Results of FiLM fine-tuning: gamma and beta for one target, and without each of its samples."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class FilmBiases:
    """The last biases of the two MLPs of FiLM: for one target, gamma and beta themselves.

    Attributes:
        gamma, beta: float32 [d].
    """

    gamma: NDArray[np.float32]
    beta: NDArray[np.float32]

    def to_json(self) -> dict[str, str]:
        """Return plain values."""
        return {"gamma": _text(self.gamma), "beta": _text(self.beta)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FilmBiases:
        """Rebuild from :meth:`to_json`.

        Raises:
            KeyError, TypeError, ValueError: a part is missing or wrong.
        """
        gamma, beta = _array(data["gamma"]), _array(data["beta"])
        if gamma.shape != beta.shape or not np.isfinite([gamma, beta]).all():
            raise ValueError("gamma and beta do not fit")
        return cls(gamma, beta)


@dataclass(frozen=True, slots=True, eq=False)
class FilmTuning:
    """FiLM fine-tuned to the measurements of one target.

    Attributes:
        network: SHA-256 of the file of the network that was fine-tuned; no other takes it.
        biases: fitted to all measurements.
        without: fitted to all but one, by the fingerprint of that one's graph: a graph that was
            measured is predicted by what has not seen it.
    """

    network: str
    biases: FilmBiases
    without: Mapping[str, FilmBiases] = field(default_factory=dict)

    def unseen(self, fingerprint: str) -> FilmTuning:
        """Return the tuning without a graph; itself where that is none of its samples."""
        apart = self.without.get(fingerprint)
        return self if apart is None else FilmTuning(self.network, apart)

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "network": self.network,
            **self.biases.to_json(),
            "without": {key: each.to_json() for key, each in self.without.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FilmTuning:
        """Rebuild from :meth:`to_json`.

        Raises:
            AttributeError, KeyError, TypeError, ValueError: a part is missing or wrong.
        """
        without = {str(key): FilmBiases.from_json(each) for key, each in data["without"].items()}
        return cls(str(data["network"]), FilmBiases.from_json(data), without)


def _text(values: NDArray[np.float32]) -> str:
    return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def _array(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)

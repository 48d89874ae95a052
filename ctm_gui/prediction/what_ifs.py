"""What-ifs: batch, precision and threads that replace the usual ones of all models and targets."""

from __future__ import annotations

from dataclasses import dataclass

from predictor.core.records import Precision


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Choices of the user instead of each device's usual configuration.

    Attributes:
        batch: of every model; None is the model's own.
        precision: of every target; None is the device's usual one.
        threads: of every target; None is the device's usual count.
    """

    batch: int | None = None
    precision: Precision | None = None
    threads: int | None = None

"""What-ifs of a target: another batch, precision or number of threads for as long as one looks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from predictor.core.records import Configuration, Device, Precision
from predictor.core.text import plural
from predictor.presentation.wording import shown
from predictor.services.prediction.targets import resolve_targets

_NAMED = 3  # of the targets with what-ifs


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Choices of the user instead of a target's own; None is the target's own.

    Attributes:
        batch: of each call.
        precision: of the arithmetic; the device may not support it, which its row says.
        threads: of a CPU.
    """

    batch: int | None = None
    precision: Precision | None = None
    threads: int | None = None

    @property
    def words(self) -> str:
        """It in words: ``INT8, batch 8``; empty where nothing is chosen."""
        parts = [
            self.precision.words if self.precision else "",
            plural(self.threads, "thread") if self.threads else "",
            f"batch {self.batch}" if self.batch else "",
        ]
        return ", ".join(filter(None, parts))

    def of(self, device: Device) -> Configuration:
        """Return the first configuration of a device as it is with this what-if."""
        (target,) = resolve_targets([device], precision=self.precision, threads=self.threads)
        configuration = target.configuration
        batch = device.configurations[0].batch if self.batch is None else self.batch
        return replace(configuration, batch=batch)


def sentence(what_ifs: dict[str, WhatIf], names: dict[str, str]) -> str:
    """Return the what-ifs that are set in a sentence; empty for none.

    Args:
        what_ifs: by device id.
        names: of the devices that are compared, by id; what-ifs of others are left out.
    """
    said = [
        f"{shown(names[key])} with {item.words}" for key, item in what_ifs.items() if key in names
    ]
    if len(said) > _NAMED:
        said = [*said[:_NAMED], f"{len(said) - _NAMED} more"]
    return f"What if: {'; '.join(said)}. Reset shows them as they are." if said else ""

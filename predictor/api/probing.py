"""This machine measured: ``probe``."""

from __future__ import annotations

from pathlib import Path

from predictor.api.predictions import Store
from predictor.core.errors import HostError
from predictor.core.progress import ProgressCallback, no_progress
from predictor.services.probing.quick import QuickProbing, Refusal, probe_quickly


def probe(*, store: Store = None, progress: ProgressCallback | None = None) -> QuickProbing:
    """Measure this machine in ten seconds; later predictions of ``"this"`` rest on it.

    Its rates and small reference networks are measured, as ``ctm predict --device this --measure``
    does. Longer probings, boards and kits are those of ``ctm probe``.

    Args:
        store: that keeps what was measured.
        progress: gets the seconds that went by; None for nothing.

    Raises:
        HostError: the machine is busy or on its battery, or the measurement or the store fails.
        InputError: the store is not one, or a newer program's.
    """
    probing = probe_quickly(
        None if store is None else Path(store), progress=progress or no_progress
    )
    if isinstance(probing, Refusal):
        raise HostError("this machine", probing.words, "measure it when it is idle")
    return probing

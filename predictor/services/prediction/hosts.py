"""What is taken of the host of a card that states none, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.metrics import Family
from predictor.core.records import Target
from predictor.core.runtimes import runtime_of
from predictor.cost.rates.hosts import host_clock_ghz
from predictor.presentation.wording import device_names


def host_sentences(targets: Sequence[Target]) -> list[str]:
    """Return a sentence on the cards whose unstated host starts each operator; else none."""
    unstated = [target for target in targets if _has_unstated_host(target)]
    if not unstated:
        return []
    runtime = runtime_of(unstated[0].configuration.runtime).title
    names = device_names(target.device for target in unstated)
    default = "it is not stated, so a current desktop is taken"
    return [f"{runtime} starts each operator from the host of {names}; {default}."]


def _has_unstated_host(target: Target) -> bool:
    runtime = runtime_of(target.configuration.runtime)
    of_card = runtime.interpreted and target.device.family is Family.GPU
    return of_card and host_clock_ghz(target.device) is None

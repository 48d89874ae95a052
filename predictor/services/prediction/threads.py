"""What becomes of a number of threads that a device has no cores for, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from predictor.core.records import Target
from predictor.presentation.wording import device_names


def threads_sentences(targets: Sequence[Target]) -> list[str]:
    """Return what is used where a target cannot have the threads of its configuration.

    Args:
        targets: of one and the same number of threads.

    Returns:
        A sentence on devices with fewer cores, one on devices that run no threads; neither where
        each target has the requested threads, or 0 stands for all cores.
    """
    threaded = [target for target in targets if target.configuration.threads]
    fewer = [target for target in threaded if 0 < target.threads < target.configuration.threads]
    without = [target for target in threaded if not target.device.is_threaded]
    sentences = []
    if fewer:
        sentences.append(
            f"{fewer[0].configuration.threads} threads are more than the cores of "
            f"{_names(fewer)}: {_computing({target.threads for target in fewer})}."
        )
    if without:
        sentences.append(f"A number of threads changes nothing on {_names(without)}.")
    return sentences


def _computing(counts: Collection[int]) -> str:
    if len(counts) > 1:
        return "one a core computes"
    (count,) = counts
    return "1 of them computes" if count == 1 else f"{count} of them compute"


def _names(targets: Sequence[Target]) -> str:
    return device_names(target.device for target in targets)

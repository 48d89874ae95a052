"""What becomes of a number of threads that a device has no cores for, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from predictor.core.records import Target
from predictor.core.text import plural

_LISTED: Final = 2  # devices; more of them are counted


def threads_sentences(targets: Sequence[Target]) -> list[str]:
    """Return what is used where a target cannot have the threads of its configuration.

    Args:
        targets: of one and the same number of threads.

    Returns:
        A sentence on devices with fewer cores, one on devices that run no threads; neither where
        each target has the threads that were asked for, or 0 stands for all cores.
    """
    asked = [each for each in targets if each.configuration.threads]
    fewer = [each for each in asked if 0 < each.threads < each.configuration.threads]
    without = [each for each in asked if not each.device.is_threaded]
    sentences = []
    if fewer:
        sentences.append(
            f"{fewer[0].configuration.threads} threads are more than the cores of "
            f"{_names(fewer)}: {_computing({each.threads for each in fewer})}."
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
    names = list(dict.fromkeys(each.device.name for each in targets))
    return " and ".join(names) if len(names) <= _LISTED else plural(len(names), "device")

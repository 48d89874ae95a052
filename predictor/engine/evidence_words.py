"""Evidence of estimates in words: the measurements behind a target, and how near they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from predictor.calibration.evidence import ALL_CORES, NEARNESS, Deviations, Evidence
from predictor.core.records import Precision
from predictor.core.runtimes import UNKNOWN, runtime_of
from predictor.core.text import plural
from predictor.devices.catalogue import device_name

NOT_MEASURED: Final = "not measured here"  # begins the evidence where nothing is near
_PRODUCT: Final = "from the matrix product that was measured on this machine"
# The corpus measures runs that are bound to some cores of a device as a device of these cores.
_CORES_OF_DEVICE: Final = "-cluster-"


def evidence_words(
    evidence: Evidence, deviations: Deviations, user_networks: Mapping[int, int]
) -> list[str]:
    """Return the measurements that the estimate of each of T targets rests on, in words.

    Args:
        evidence: of measured targets.
        deviations: of the T targets.
        user_networks: number of networks that the user measured, by place of the target; 0 of a
            target of which a matrix product was measured alone.
    """
    words = [
        _whence(evidence, NEARNESS[nearness], source) if nearness else NOT_MEASURED
        for nearness, source in zip(
            deviations.nearness.tolist(), deviations.nearest.tolist(), strict=True
        )
    ]
    for place, networks in user_networks.items():
        words[place] = (
            f"from {plural(networks, 'network')} that you measured" if networks else _PRODUCT
        )
    return words


def _whence(evidence: Evidence, nearness: str, source: int) -> str:
    """Return in words which measured target stands for another, and how near it is."""
    if not evidence.networks[source]:
        return _PRODUCT
    keys, networks = evidence.keys, plural(int(evidence.networks[source]), "network")
    if nearness == "target":
        return f"from {networks} measured on this device"
    device = device_name(str(keys.device[source]).partition(_CORES_OF_DEVICE)[0])
    threads = str(keys.threads[source])
    run = _run_words(str(keys.runtime[source]), str(keys.precision[source]))
    if threads == ALL_CORES:
        run += ", all cores"
    elif threads != "0":
        run += f", {plural(int(threads), 'thread')}"
    if nearness == "device":
        return f"from this device under {run} ({networks})"
    return f"from {device}, which has the same chip or cores ({run}; {networks})"


def _run_words(runtime: str, precision: str) -> str:
    """Return runtime and precision; the runtime alone where floats may have run as halves."""
    is_open = runtime_of(runtime).hides_halves and precision == Precision.FP32
    return runtime_name(runtime) if is_open else f"{runtime_name(runtime)} {precision}"


def runtime_name(runtime: str) -> str:
    """Return the name of a runtime, for people."""
    return "an unknown runtime" if runtime == UNKNOWN else runtime

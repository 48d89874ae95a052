"""Evidence of estimates in words: the measurements behind a target, and how near they are."""

from __future__ import annotations

from typing import Final

from predictor.calibration.evidence import ALL_CORES, NEARNESS, Deviations, Evidence
from predictor.core.runtimes import UNKNOWN
from predictor.core.text import plural
from predictor.devices.catalogue import device_name

NOT_MEASURED: Final = "not measured here"  # begins the evidence where nothing is near
# The corpus measures runs that are bound to some cores of a device as a device of these cores.
_CORES_OF_DEVICE: Final = "-cluster-"


def evidence_words(evidence: Evidence, deviations: Deviations) -> list[str]:
    """Return from where the estimates of targets come."""
    return [
        _whence(evidence, NEARNESS[nearness], source) if nearness else NOT_MEASURED
        for nearness, source in zip(
            deviations.nearness.tolist(), deviations.nearest.tolist(), strict=True
        )
    ]


def _whence(evidence: Evidence, nearness: str, source: int) -> str:
    """Return in words which measured target stands for another, and how near it is."""
    keys, networks = evidence.keys, plural(int(evidence.networks[source]), "network")
    if nearness == "target":
        return f"from {networks} measured on this device"
    device = device_name(str(keys.device[source]).partition(_CORES_OF_DEVICE)[0])
    threads = str(keys.threads[source])
    run = f"{runtime_name(str(keys.runtime[source]))} {keys.precision[source]}"
    if threads == ALL_CORES:
        run += ", all cores"
    elif threads != "0":
        run += f", {plural(int(threads), 'thread')}"
    if nearness == "device":
        return f"from this device under {run} ({networks})"
    return f"from {device}, which has the same chip or cores ({run}; {networks})"


def runtime_name(runtime: str) -> str:
    """Return the name of a runtime, for people."""
    return "an unknown runtime" if runtime == UNKNOWN else runtime


def user_words(graphs: int) -> str:
    """Return that an estimate rests on the user's measurements of some networks."""
    return f"from {plural(graphs, 'network')} that you measured"

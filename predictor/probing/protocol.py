"""A runner's entry of a network, checked and turned into a record.

The numbers are those of the runner; the verdict is computed again from the samples, so that a
results file that was edited, or written by something else, is refused and not believed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from predictor.core.documents import Provenance
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Measurement
from predictor.core.text import shortened
from predictor.presentation.wording import percent
from predictor.probing.operator_times import OperatorTime, checked_operators, triples
from predictor.probing.runner.medians import summary
from predictor.probing.runner.settings import PROTOCOL, Settings

STATISTIC = "median"
_MAX_SAMPLES = 10_000_000
_LONGEST_NS = 10**12
_LONGEST_REASON = 500
# Facts of a block that are kept beside its samples.
_BLOCK_FACTS = (
    "started_unix",
    "load_s",
    "warm_up",
    "median_ns",
    "ended_by",
    "own_cores",
    "others_cores",
    "stolen_cores",
    "contended",
    "temperature_c",
    "clock_mhz",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedNetwork:
    """A network's entry of a results document whose samples and verdict agree.

    Attributes:
        name: of the network.
        fingerprint: of its operator graph.
        sha256: of its file.
        verdict: steady, noisy or inconclusive.
        median_ms: of the agreeing blocks; None where it is inconclusive.
        difference: of the nearest two blocks' medians, as a share.
        agreeing: indices of the blocks that the median is taken from.
        blocks: facts of each block, without its samples.
        samples_ns: samples of each block, in order.
        operators: time of each node with the profiler on, in the order of running; empty where
            nodes were not timed.
        operators_missing: the reason for that; empty where it was not tried.
    """

    name: str
    fingerprint: str
    sha256: str
    verdict: str
    median_ms: float | None
    difference: float | None
    agreeing: tuple[int, ...]
    blocks: tuple[Mapping[str, Any], ...]
    samples_ns: tuple[tuple[int, ...], ...]
    operators: tuple[OperatorTime, ...] = ()
    operators_missing: str = ""

    @property
    def words(self) -> str:
        """The verdict for people: one sentence without a full stop."""
        return _verdict_words(self)

    def facts(self, *, with_samples: bool = False) -> dict[str, Any]:
        """Return verdict and blocks as a JSON object."""
        blocks = [dict(block) for block in self.blocks]
        for block, samples_ns in zip(blocks, self.samples_ns, strict=True):
            block["runs"] = len(samples_ns)
            if with_samples:
                block["samples_ns"] = list(samples_ns)
        return {
            "verdict": self.verdict,
            "words": self.words,
            "difference": self.difference,
            "agreeing": list(self.agreeing),
            "blocks": blocks,
        }


def checked_network(entry: Mapping[str, Any], settings: Settings, source: str) -> CheckedNetwork:
    """Return a network's entry, its verdict computed again from its samples.

    Args:
        entry: of a results document (``ctm-results/1``), from a runner.
        settings: of the protocol that it was measured by.
        source: of the entry, for the error.

    Raises:
        InputError: something is missing, no number, or at odds with the samples.
    """
    try:
        return _checked(entry, settings)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        name = entry.get("name", "?") if isinstance(entry, Mapping) else "?"
        reason = f"no {error} is given" if isinstance(error, KeyError) else str(error)
        words = shortened(f"the entry of {name} is wrong: {reason}", _LONGEST_REASON)
        raise InputError(source, words, "measure again") from error


def _checked(entry: Mapping[str, Any], settings: Settings) -> CheckedNetwork:
    blocks = [_checked_block(block) for block in entry["blocks"]]
    # The protocol takes two blocks, and a third where their medians differ by over 3 %.
    if not 1 <= len(blocks) <= settings.blocks + 1:
        raise ValueError(f"it has {len(blocks)} blocks")
    recomputed = summary(blocks, settings)
    for key in ("verdict", "median_ms"):
        # Exact, floats too: the runner takes the same function of the same whole nanoseconds.
        if entry[key] != recomputed[key]:
            raise ValueError(f"its {key} is {entry[key]}, its samples give {recomputed[key]}")
    return CheckedNetwork(
        name=str(entry["name"]),
        fingerprint=str(entry["fingerprint"]),
        sha256=str(entry["sha256"]),
        verdict=recomputed["verdict"],
        median_ms=recomputed["median_ms"],
        difference=recomputed["difference"],
        agreeing=tuple(recomputed["agreeing"]),
        blocks=tuple({key: block.get(key) for key in _BLOCK_FACTS} for block in blocks),
        samples_ns=tuple(tuple(block["samples_ns"]) for block in blocks),
        operators=checked_operators(entry.get("operators", [])),
        operators_missing=str(entry.get("operators_missing", ""))[:_LONGEST_REASON],
    )


def _checked_block(block: Mapping[str, Any]) -> dict[str, Any]:
    samples = block["samples_ns"]
    if not isinstance(samples, list) or not 0 < len(samples) <= _MAX_SAMPLES:
        raise ValueError("a block has no list of samples")
    # Not isinstance: JSON's true is an int to Python.
    if not all(type(sample) is int and 0 < sample < _LONGEST_NS for sample in samples):
        raise ValueError("a sample is no positive whole number of nanoseconds")
    if block["median_ns"] != sorted(samples)[len(samples) // 2]:
        raise ValueError(f"a block's median is {block['median_ns']}, its samples give another")
    if type(block["contended"]) is not bool:
        raise ValueError("contended is neither true nor false")
    return dict(block)


def _verdict_words(network: CheckedNetwork) -> str:
    """Return the quality of a measurement: one sentence without a full stop."""
    if network.difference is None or network.verdict == "inconclusive":
        difference = (
            ""
            if network.difference is None
            else f", the nearest two by {percent(network.difference)}"
        )
        return f"inconclusive: its {len(network.blocks)} blocks differ{difference}"
    if len(network.agreeing) == 1:
        agreement = "one short block"
    else:
        agreement = f"two blocks agree within {percent(max(network.difference, 0.001))}"
    if network.verdict == "steady":
        return f"steady: {agreement}"
    busy = any(network.blocks[index]["contended"] for index in network.agreeing)
    cause = "other programs were at work" if busy else "single runs vary much"
    return f"noisy: {agreement}, but {cause}"


def measurement_of(
    network: CheckedNetwork,
    device_id: str,
    configuration: Configuration,
    origin: Mapping[str, Any],
) -> Measurement:
    """Return the record of a measured network.

    Args:
        network: with a median.
        device_id: id of the device.
        configuration: threads and batch resolved to counts.
        origin: tool, host and other facts of the run; blocks, verdict and the times of
            operators are added.
    """
    if network.median_ms is None:
        raise ValueError(f"{network.name} is inconclusive: it has no number")
    provenance = {
        **origin,
        "network": network.name,
        "sha256": network.sha256,
        **network.facts(),
        **_operator_facts(network),
    }
    return Measurement(
        id=uuid.uuid4().hex,
        fingerprint=network.fingerprint,
        device_id=device_id,
        configuration=configuration,
        samples_ns=tuple(chain.from_iterable(network.samples_ns)),
        value_ms=network.median_ms,
        statistic=STATISTIC,
        protocol=PROTOCOL,
        provenance=Provenance(provenance),
    )


def _operator_facts(network: CheckedNetwork) -> dict[str, Any]:
    if network.operators:
        return {"operators": triples(network.operators)}
    return {"operators_missing": network.operators_missing} if network.operators_missing else {}

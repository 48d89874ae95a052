"""A plan as the runner's document, and the runner's lines as events."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from predictor.core.files import read_bytes
from predictor.probing.measuring import interface
from predictor.probing.runner.bundle import RUNNER_FILE, runner_bytes
from predictor.probing.runner.settings import PLAN_SCHEMA

PLAN_FILE = "plan.json"
RESULTS_FILE = "results.json"
_LARGEST_NETWORK = 2**30  # bytes; ours have a hundred million at most


def plan_bytes(plan: interface.MeasuringPlan, *, in_place: bool = False) -> bytes:
    """Return the runner's document of a plan.

    Args:
        plan: the plan.
        in_place: name the files where they are on this machine; else as ``carried_files`` does.
    """
    configuration = {
        **asdict(plan.configuration),
        "provider_options": dict(plan.configuration.provider_options),
    }
    document = {
        "schema": PLAN_SCHEMA,
        "id": plan.id,
        "settings": asdict(plan.settings),
        "configuration": configuration,
        "sentinel": None if plan.sentinel is None else _network(plan.sentinel, in_place),
        "networks": [_network(network, in_place) for network in plan.networks],
    }
    return json.dumps(document, indent=1).encode("ascii")


def carried_files(plan: interface.MeasuringPlan) -> Iterator[tuple[str, bytes]]:
    """Yield all that a machine needs to measure the plan: names relative to one folder, contents.

    Raises:
        InputError: a network's file cannot be read.
    """
    yield PLAN_FILE, plan_bytes(plan)
    yield RUNNER_FILE, runner_bytes()
    for network in _files(plan).values():
        yield carried_name(network), read_bytes(network.path, _LARGEST_NETWORK, "plan again")


def carried_name(network: interface.NetworkFile) -> str:
    """Return where a network's file lies beside a carried plan."""
    return f"networks/{network.name}.onnx"


def _files(plan: interface.MeasuringPlan) -> dict[str, interface.NetworkFile]:
    """Return each network once; the sentinel may be one of them."""
    networks = plan.networks if plan.sentinel is None else (*plan.networks, plan.sentinel)
    return {network.name: network for network in networks}


def _network(network: interface.NetworkFile, in_place: bool) -> dict[str, Any]:
    return {
        "name": network.name,
        "file": str(network.path.absolute()) if in_place else carried_name(network),
        "sha256": network.sha256,
        "fingerprint": network.fingerprint,
        "inputs": {name: list(shape) for name, shape in network.inputs.items()},
    }


def event_of(message: Mapping[str, Any]) -> interface.ProbeEvent | None:
    """Return the event of a runner's message, or None where it has none.

    A malformed message has none: it came from another machine.
    """
    payload: Any = message.get("payload")
    try:
        return _EVENTS[payload["event"]](payload)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _samples(payload: Mapping[str, Any]) -> interface.Samples:
    samples_ns = tuple(int(sample) for sample in payload["samples_ns"])
    return interface.Samples(
        str(payload["name"]), int(payload["block"]), samples_ns, _sentinel(payload)
    )


def _measured(payload: Mapping[str, Any]) -> interface.NetworkDone:
    entry = {key: value for key, value in payload.items() if key != "event"}
    return interface.NetworkDone(str(payload["name"]), entry)


def _failed(payload: Mapping[str, Any]) -> interface.NetworkFailed:
    failure = interface.Failure(payload["failure"])
    return interface.NetworkFailed(
        str(payload["name"]), failure, str(payload["reason"]), _sentinel(payload)
    )


def finite(value: Any) -> float:
    """Return a number from another machine; raise ValueError where it is none that is finite."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _sentinel(payload: Mapping[str, Any]) -> bool:
    return payload.get("sentinel") is True


_EVENTS: dict[str, Callable[[Mapping[str, Any]], interface.ProbeEvent]] = {
    "run": lambda p: interface.RunStarted(dict(p["host"])),
    "block": lambda p: interface.BlockStarted(str(p["name"]), int(p["block"]), _sentinel(p)),
    "samples": _samples,
    "measured": _measured,
    "failed": _failed,
    "drift": lambda p: interface.Drift(tuple(map(finite, p["medians_ms"])), finite(p["drift"])),
    "finished": lambda _: interface.RunFinished(),
}

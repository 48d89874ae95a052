"""The interface of runners: a plan of networks in, a stream of events out.

The stand-alone program (``probing/runner``) does the measuring; a runner starts it on
a machine (this one, a board over SSH), hands it a plan and turns its lines into events. Plan, lines
and results document are described in docs/probing.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from predictor.core.progress import CancelToken
from predictor.probing.runner.settings import Settings

CPU_PROVIDER = "CPUExecutionProvider"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFile:
    """One network to be measured.

    Attributes:
        name: unique in the plan; also the stem of its file where files are copied.
        path: of its ONNX file on this machine.
        sha256: of the file, in hex; a runner refuses a file that differs.
        fingerprint: of its operator graph.
        expected_ms: latency that the roofline estimates, for time left; None where not known.
        inputs: shapes by input name, for inputs with open dimensions.
    """

    name: str
    path: Path
    sha256: str
    fingerprint: str
    expected_ms: float | None = None
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfiguration:
    """Execution configuration of the networks.

    Attributes:
        provider: execution provider of onnxruntime.
        provider_options: its options.
        threads: of one operator; 0 for the runtime's own choice.
        affinity: processors that the run is bound to; empty where the system chooses.
        graph_optimisation: disabled, basic, extended or all.
        precision: of the networks, as text of ``core.records.Precision``.
    """

    provider: str = CPU_PROVIDER
    provider_options: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    affinity: tuple[int, ...] = ()
    graph_optimisation: str = "all"
    precision: str = "fp32"


@dataclass(frozen=True, slots=True)
class MeasuringPlan:
    """A runner's plan.

    Attributes:
        id: of the session, UUID hex; results carry it.
        networks: in the order of measuring, names distinct.
        sentinel: measured first, in the middle and last, to see drift; None for none.
        configuration: execution configuration of the networks.
        settings: the measuring protocol's numbers.
    """

    id: str
    networks: tuple[NetworkFile, ...]
    sentinel: NetworkFile | None = None
    configuration: RunConfiguration = field(default_factory=RunConfiguration)
    settings: Settings = field(default_factory=Settings)


class Command(StrEnum):
    """Commands that a runner obeys while it measures."""

    SKIP = "skip"  # leave the network that is being measured
    PAUSE = "pause"  # measure nothing after the block that runs
    CONTINUE = "continue"  # end a pause


class Failure(StrEnum):
    """Failures by the runner's codes."""

    MISSING_OPERATOR = "missing-operator"
    OUT_OF_MEMORY = "out-of-memory"
    TIME_OUT = "time-out"
    FALL_BACK = "fall-back"
    PROVIDER_MISSING = "provider-missing"
    NO_RUNTIME = "no-runtime"  # onnxruntime is there and cannot be imported
    CRASHED = "crashed"
    NO_ANSWER = "no-answer"  # it ended, or printed rubbish, without a result
    BAD_NETWORK = "bad-network"
    CHANGED_FILE = "changed-file"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The runner is at work; ``host`` holds the facts of the machine, as in the results."""

    host: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BlockStarted:
    """A block of a network begins; ``block`` counts from 1.

    The sentinel may be one of the plan's networks, so its events are marked.
    """

    name: str
    block: int
    sentinel: bool = False


@dataclass(frozen=True, slots=True)
class Samples:
    """New samples of the block that runs, in order; in nanoseconds."""

    name: str
    block: int
    samples_ns: tuple[int, ...]
    sentinel: bool = False


@dataclass(frozen=True, slots=True)
class NetworkDone:
    """A network was measured.

    Attributes:
        name: of the network.
        document: its entry of the results document (``ctm-results/1``): verdict, median_ms and
            blocks with all samples. ``protocol.py`` reads and checks it.
    """

    name: str
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NetworkFailed:
    """A network could not be measured, and the others go on."""

    name: str
    failure: Failure
    reason: str
    sentinel: bool = False


@dataclass(frozen=True, slots=True)
class Drift:
    """The sentinel's medians so far, in order, and their largest relative difference."""

    medians_ms: tuple[float, ...]
    drift: float


@dataclass(frozen=True, slots=True)
class RunFinished:
    """All networks were measured or have failed."""


ProbeEvent = RunStarted | BlockStarted | Samples | NetworkDone | NetworkFailed | Drift | RunFinished


class ProbeRunner(Protocol):
    """Measures a plan on one machine."""

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure, and yield events as they come; the last one is ``RunFinished``.

        A network that fails yields ``NetworkFailed`` and costs no other. Closing the iterator
        ends the measuring.

        Args:
            plan: networks, configuration and settings.
            cancel: ends the run within a second.

        Raises:
            InputError: the plan or a file of it is wrong, or the machine cannot be reached as
                described.
            HostError: the machine fails: no Python, no onnxruntime, a full disk, a lost connection
                that does not come back.
            CancelledError: the run was cancelled.
        """

    def send(self, command: Command) -> None:
        """Send a command to the run under way, if there is one. Any thread may call."""

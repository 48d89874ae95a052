"""Records of a load: streams, the stages of their pipelines, the box that they run on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from predictor.core.records import Device, OperatingPoint
from predictor.core.toml_tables import KeyedError, TomlTables
from predictor.cost.rates.facts import link_bandwidth, memory_bandwidth
from predictor.devices.operating import Clocks, clocks_of, default_clocks, power_modes

AUTO: Final = "auto"
"""Name of the unit of a stage that is to be placed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of a pipeline, as the file states it.

    Attributes:
        line: of its table, from 1.
        name: unique in its stream.
        model: file, as written; from the folder of the load file, or a bundled sample.
        unit: name of a unit of the box, or ``AUTO``.
        per_item: runs for an item; of 0.2 every fifth item has one.
        after: names of the stages that it waits for.
        batch: largest batch of runs.
        delay_ms: that a run waits for a full batch; infinite for full batches alone.
        runtime, precision, threads: empty or None for what is usual of the device.
        dims: values of dimensions that the file leaves open, by name.
        prompt_tokens: of a language model's run; 0 for the few that start a speech recogniser.
        new_tokens: that a run of a language model generates; 0 for a network that runs once.
        weights: format of a language model's weights; empty for the usual one of its runtime.
    """

    line: int
    name: str
    model: str
    unit: str
    per_item: float = 1.0
    after: tuple[str, ...] = ()
    batch: int = 1
    delay_ms: float = 0.0
    runtime: str = ""
    precision: str = ""
    threads: int | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    prompt_tokens: int = 0
    new_tokens: int = 0
    weights: str = ""

    @property
    def generates(self) -> bool:
        """Whether its model generates tokens."""
        return self.new_tokens > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Streams alike, with a pipeline.

    Attributes:
        line: of its table, from 1.
        name: unique in the load.
        rate_per_s: items a second of one stream.
        count: of the streams.
        arrival: "periodic", "poisson" or "trace".
        trace_s: recorded times of one stream.
        deadline_ms: from arrival to the last stage's end; None for none.
        share: of the items that have to keep it.
        stages: in an order in which no stage precedes those that it waits for.
    """

    line: int
    name: str
    rate_per_s: float
    count: int = 1
    arrival: str = "periodic"
    trace_s: Sequence[float] = ()
    deadline_ms: float | None = None
    share: float = 0.99
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a box: a device, and how many of it there are."""

    name: str
    device: Device
    count: int = 1

    @property
    def is_shared(self) -> bool:
        """Whether it shares the memory of the box: it has no link to a host."""
        return link_bandwidth(self.device) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Units together.

    Attributes:
        id, name: of the box.
        units: by name, in the order of the file.
        mode: power mode that its devices run in; empty for their usual clocks.
        clock: in MHz in place of those of the mode, by domain (``DOMAINS``).
        power_w: budget in watts; None where none is stated.
        limit_w: budget that a load states, before that of the mode; None likewise.
        memory_gb: stated of the box; None for that of its devices.
        host_cores: stated of the box; None for those of its processor.
        price: of the box, in the user's currency; None where none is stated.
        sources: of the facts of the box, by field.
    """

    id: str
    name: str
    units: Mapping[str, Unit]
    mode: str = ""
    clock: Mapping[str, float] = field(default_factory=dict)
    power_w: float | None = None
    limit_w: float | None = None
    memory_gb: float | None = None
    host_cores: int | None = None
    price: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def memory_bytes(self) -> float | None:
        """Memory that its units share, in bytes; None where it is not known."""
        if self.memory_gb is not None:
            return self.memory_gb * 2**30
        return self._smallest([unit.device.memory_bytes for unit in self.shared])

    @property
    def bandwidth_bytes_per_s(self) -> float | None:
        """Bandwidth of the shared memory at the clock of the mode; None where it is not known."""
        return self._smallest([self._bandwidth(unit) for unit in self.shared])

    def _bandwidth(self, unit: Unit) -> float | None:
        stated, clocks = memory_bandwidth(unit.device), self.clocks(unit)
        usual_mhz = default_clocks(unit.device).mem
        if stated is None or clocks is None or clocks.mem is None or usual_mhz is None:
            return stated
        return stated * clocks.mem / usual_mhz

    @property
    def shared(self) -> list[Unit]:
        """The units that share the memory of the box."""
        return [unit for unit in self.units.values() if unit.is_shared]

    @property
    def cores(self) -> int | None:
        """Cores of the host; None where they are not known."""
        counts = [unit.device.core_count for unit in self.units.values()]
        return self.host_cores or next((count for count in counts if count), None)

    def point(self, unit: Unit) -> OperatingPoint | None:
        """Return the power mode that a unit runs in; None for its usual clocks."""
        wanted = self.mode.casefold()
        modes = power_modes(unit.device)
        return next((point for point in modes if point.name.casefold() == wanted), None)

    def clocks(self, unit: Unit) -> Clocks | None:
        """Return the clocks that a unit runs at; None for its usual ones."""
        point, usual = self.point(unit), default_clocks(unit.device)
        clock: dict[str, Any] = {name: mhz for name, mhz in self.clock.items()
                                 if name in usual.stated}  # fmt: skip
        if point is None and not clock:
            return None
        return replace(usual if point is None else clocks_of(unit.device, point), **clock)

    @staticmethod
    def _smallest(values: Sequence[float | None]) -> float | None:
        stated = [value for value in values if value is not None]
        return min(stated) if stated else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices beside that of the box, in the user's currency; 0 where none is stated.

    Attributes:
        years: that a box is used.
        per_hour: rent of the box.
        per_kwh: of electricity.
    """

    years: float = 3.0
    per_hour: float = 0.0
    per_kwh: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A load file.

    Attributes:
        file: that it was read from, for errors with their line.
        streams: at least one.
        box: its table ``[box]``; empty where the file has none.
        box_line: of the header of that table.
        seed: of the simulation.
        items: that are simulated, of all streams and draws together.
        draws: of the uncertain latencies.
        chance: with which the load has to hold.
        prices: that its cost is of.
    """

    file: TomlTables
    streams: tuple[Stream, ...]
    box: Mapping[str, object] = field(default_factory=dict)
    box_line: int = 1
    seed: int = 0
    items: int = 40_000
    draws: int = 40
    chance: float = 0.9
    prices: Prices = Prices()

    def wrong(self, line: int, key: str, reason: str) -> KeyedError:
        """Return the error of a key, with its line."""
        return self.file.wrong(self.file.line_of(key, line), key, reason)


def is_fixed(stage: Stage) -> bool:
    """Return whether a stage runs full batches alone."""
    return stage.batch > 1 and math.isinf(stage.delay_ms)

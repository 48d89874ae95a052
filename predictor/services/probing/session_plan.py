"""The plan of a probe session as the store keeps it: all that a later run needs to go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from predictor.devices.schema import device_to_object
from predictor.probing.measuring.interface import RunConfiguration
from predictor.probing.planning import PlannedProbe, ProbePlan
from predictor.probing.runner.settings import Settings

_SCHEMA: Final = "ctm-session/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNetwork:
    """A network of a session.

    Attributes:
        name: unique in the session.
        space: search space of its code.
        code: of the network in its search space; its file is built from it.
        fingerprint: of its operator graph.
        expected_ms: its estimate; None where there is none.
        reason: for choosing it, in words.
    """

    name: str
    space: str
    code: tuple[int, ...]
    fingerprint: str
    expected_ms: float | None
    reason: str

    @classmethod
    def of(cls, probe: PlannedProbe) -> PlannedNetwork:
        """Return the entry of a network that was chosen."""
        chosen = probe.network
        return cls(
            name=chosen.name,
            space=chosen.space,
            code=chosen.code,
            fingerprint=chosen.fingerprint,
            expected_ms=probe.expected_ms,
            reason=probe.reason,
        )

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> PlannedNetwork:
        """Read an entry of a stored plan."""
        # JSON has a list where the record has a tuple.
        return cls(**{**entry, "code": tuple(entry["code"])})


@dataclass(frozen=True, slots=True)
class LiveChoice:
    """Facts by which the networks that are still to come are chosen.

    Attributes:
        probes: number of networks measured altogether, at most.
        budget_s: time for the session.
        within: interval at which it ends, as a share; None for never.
        device: of the target, as in a device file.
        sure: number of networks that fit into the time whatever happens, where the others are
            measured while there is time left; None for all. Plans of earlier versions lack it.
    """

    probes: int
    budget_s: float
    within: float | None
    device: Mapping[str, Any]
    sure: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """A plan as it is stored; the fields are in the order of the document.

    Attributes:
        selector: name of the method that chooses the networks.
        seed: of the random choices.
        expected_s: estimated time of measuring.
        budget_s: time for measuring; 0 in plans of earlier versions.
        live: None where all networks were chosen before anything is measured.
        settings: of the protocol, by name; plans of earlier versions lack ``LATER_SETTINGS``.
        configuration: of the runs of networks.
        probes: the networks that were chosen so far.
        sentinel: measured between them.
        kit: ``plan_sha256`` of the plan in a kit; None for a session without one.
    """

    selector: str
    seed: int
    expected_s: float
    budget_s: float
    live: LiveChoice | None
    settings: Mapping[str, Any]
    configuration: RunConfiguration
    probes: tuple[PlannedNetwork, ...]
    sentinel: PlannedNetwork
    kit: Mapping[str, str] | None = None

    @classmethod
    def of(cls, plan: ProbePlan) -> SessionPlan:
        """Return the stored form of a plan that was made now."""
        live, request = None, plan.request
        if plan.to_come:
            # The device as planned for: the user may edit or delete it before the session goes on.
            device = device_to_object(plan.target.device, {})
            count = len(plan.probes) + plan.to_come
            live = LiveChoice(count, request.budget_s, request.within, device, request.sure)
        return cls(
            selector=request.selector,
            seed=request.seed,
            expected_s=plan.expected_s,
            budget_s=request.budget_s,
            live=live,
            settings=asdict(plan.settings),
            configuration=request.configuration,
            probes=tuple(map(PlannedNetwork.of, plan.probes)),
            sentinel=PlannedNetwork.of(plan.sentinel),
        )

    @classmethod
    def parse(cls, text: str) -> SessionPlan:
        """Read a stored plan."""
        document = json.loads(text)
        live, configuration = document.get("live"), document["configuration"]
        return cls(
            selector=document["selector"],
            seed=document["seed"],
            expected_s=document["expected_s"],
            budget_s=document.get("budget_s", 0.0),
            live=LiveChoice(**live) if live else None,
            settings=document["settings"],
            configuration=RunConfiguration(
                **{**configuration, "affinity": tuple(configuration["affinity"])}
            ),
            probes=tuple(map(PlannedNetwork.parse, document["probes"])),
            sentinel=PlannedNetwork.parse(document["sentinel"]),
            kit=document["kit"],
        )

    def require(self, names: Iterable[str]) -> None:
        """Check that networks are in the plan.

        Raises:
            LookupError: one is not.
        """
        if missing := set(names) - {network.name for network in self.probes}:
            raise LookupError(f"no network {min(missing)}")

    def to_json(self) -> str:
        """Return the plan as the store keeps it."""
        return json.dumps({"schema": _SCHEMA, **asdict(self)})

    @property
    def protocol(self) -> Settings:
        """The settings as the runner takes them."""
        return Settings(**self.settings)

    @property
    def to_come(self) -> int:
        """Number of networks that are still to be chosen, at most."""
        return 0 if self.live is None else max(0, self.live.probes - len(self.probes))

    @property
    def in_time(self) -> bool:
        """Whether networks that are to come are measured only while there is time left."""
        return self.live is not None and self.live.sure is not None

    def grown(self, chosen: Iterable[PlannedProbe]) -> SessionPlan:
        """Return the plan with further networks."""
        return replace(self, probes=(*self.probes, *map(PlannedNetwork.of, chosen)))

    def facts(self) -> dict[str, Any]:
        """Return settings, configuration, selector and kit, as facts of a signature have them."""
        document = asdict(self)
        return {key: document[key] for key in ("settings", "configuration", "selector", "kit")}

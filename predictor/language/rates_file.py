"""The shipped coefficients and measured deviations of all backends: one small JSON file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import read_bytes, write_text
from predictor.core.resources import resources_dir
from predictor.devices.strict_json import parse_object
from predictor.language.deviations import Deviations, Observed, Scales
from predictor.language.growth import Growth
from predictor.language.rates import Coefficients, Group, Phase

FORMAT: Final = "ctm-generation-rates/4"
_MAX_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Coefficients and deviations of one backend.

    Attributes:
        title: for people.
        coefficients: of its physics.
        deviations: of measurements from it, by phase.
        used_bytes: most bytes of a device's memory that a measured run took, by device, where
            they are more than devices usually give.
        fuses: whether attention was fused in the runs that it was fitted to.
        fused_devices: ids of devices whose runs had it fused though those of others had not.
        growth: of a time with sequences and cards.
    """

    title: str
    coefficients: Coefficients
    deviations: Mapping[Phase, Deviations]
    used_bytes: Mapping[str, float]
    fuses: bool = False
    fused_devices: frozenset[str] = frozenset()
    growth: Growth = field(default_factory=Growth)

    def fuses_on(self, device_id: str) -> bool:
        """Whether attention is taken as fused on a device, as in its published runs."""
        return self.fuses or device_id in self.fused_devices


def rates_path() -> Path:
    """Return the path of the shipped file."""
    return resources_dir() / "generation" / "rates.json"


@lru_cache(maxsize=1)
def shipped_rates() -> Mapping[str, Backend]:
    """Return the shipped backends by name.

    Raises:
        InputError: the file is missing or damaged.
    """
    return read_rates(rates_path())


def read_rates(path: Path) -> Mapping[str, Backend]:
    """Read and check a file of rates.

    Raises:
        InputError: it cannot be read, or is no such file.
    """
    data = read_bytes(path, _MAX_BYTES, "install CloserToMe again")
    document = parse_object(data, str(path), "file of generation rates", _MAX_BYTES)
    try:
        return _backends(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            str(path), f"is no file of generation rates ({error})", "install CloserToMe again"
        ) from error


def _backends(document: Mapping[str, Any]) -> dict[str, Backend]:
    if document["schema"] != FORMAT:
        raise ValueError(f"its form is {document['schema']!r}, not {FORMAT}")
    return {name: _backend(entry) for name, entry in document["backends"].items()}


def write_rates(path: Path, backends: Mapping[str, Backend], made_by: str) -> None:
    """Write a file of rates."""
    document = {
        "schema": FORMAT,
        "made_by": made_by,
        "backends": {name: _entry(backend) for name, backend in backends.items()},
    }
    text = json.dumps(document, indent=1, allow_nan=False)
    # A measurement a line: six cells of each would fill a page.
    write_text(path, re.sub(r"\n {6}| *\n {5}(?=\])", " ", text) + "\n")


_BY_GROUP: Final = ("unpack", "product", "scaling")


def _backend(entry: Any) -> Backend:
    return Backend(
        title=str(entry["title"]),
        coefficients=_coefficients(entry["coefficients"]),
        deviations={phase: _deviations(entry[phase.value]) for phase in Phase},
        used_bytes={str(device): _positive(value) for device, value in entry["held"].items()},
        fuses=bool(entry["fuses"]),
        fused_devices=frozenset(str(device) for device in entry["fused_devices"]),
        growth=_growth(entry["growth"]),
    )


def _growth(entry: Any) -> Growth:
    numbers = dict(entry)
    silicon = {str(die): _finite(v) for die, v in numbers.pop("of_silicon").items()}
    return Growth(**{name: _positive(v) for name, v in numbers.items()}, of_silicon=silicon)


def _coefficients(entry: Any) -> Coefficients:
    numbers: dict[str, Any] = {
        name: (
            {Group(group): _positive(v) for group, v in value.items()}
            if name in _BY_GROUP
            else _positive(value)
        )
        for name, value in entry.items()
    }
    if any(set(numbers[name]) != set(Group) for name in _BY_GROUP):
        raise ValueError("its coefficients are not complete")
    return Coefficients(**numbers)


def _deviations(entry: Any) -> Deviations:
    numbers = dict(entry["scales"])
    groups = {Group(group): _positive(v) for group, v in numbers.pop("widen_of").items()}
    scales = Scales(**{name: _positive(v) for name, v in numbers.items()}, widen_of=groups)
    observed = tuple(
        Observed(
            device=str(d),
            silicon=str(s),
            architecture=str(a),
            group=Group(g),
            deviation=_finite(v),
            rates=int(n),
        )
        for d, s, a, g, v, n in entry["observed"]
    )
    return Deviations(scales, observed)


def _positive(value: Any) -> float:
    if not _finite(value) >= 0:
        raise ValueError(f"{value} is under 0")
    return float(value)


def _finite(value: Any) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number")
    return float(value)


def _entry(backend: Backend) -> dict[str, object]:
    c = backend.coefficients
    names = Coefficients.__slots__
    return {
        "title": backend.title,
        "coefficients": {
            name: (
                {group.value: _short(v) for group, v in getattr(c, name).items()}
                if name in _BY_GROUP
                else _short(getattr(c, name))
            )
            for name in names
        },
        **{phase.value: _phase_entry(backend.deviations[phase]) for phase in Phase},
        "held": dict(backend.used_bytes),
        "fuses": backend.fuses,
        "fused_devices": sorted(backend.fused_devices),
        "growth": _growth_entry(backend.growth),
    }


def _growth_entry(growth: Growth) -> dict[str, object]:
    numbers = asdict(growth)
    silicon = {die: round(value, 4) for die, value in numbers.pop("of_silicon").items()}
    return {"of_silicon": silicon, **{name: _short(value) for name, value in numbers.items()}}


def _phase_entry(deviations: Deviations) -> dict[str, object]:
    scales = deviations.scales
    return {
        "scales": {
            **{n: _short(getattr(scales, n)) for n in Scales.__slots__ if n != "widen_of"},
            "widen_of": {group.value: _short(v) for group, v in scales.widen_of.items()},
        },
        "observed": [
            [o.device, o.silicon, o.architecture, o.group.value, round(o.deviation, 4), o.rates]
            for o in deviations.observed
        ],
    }


def _short(value: float) -> float:
    return float(f"{value:.5g}")

"""Networks of a data folder that rows wait for and that a package defines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctm_research.sources import present_sources, timm
from predictor.core.errors import InputError

# The rounding of small figures, and what counts of operations count beside products.
_PARAMETERS_APART = 0.01
_MACS_APART = 0.1


@dataclass(frozen=True, slots=True)
class Definition:
    """A network that is missing, and where a package defines it.

    Attributes:
        name: of the graph's file, without its ending.
        module: place of the definition, as ``library:name key=value``.
        inputs: shape of each input.
        rows: number of rows that wait for it.
        parameters: in millions, as the rows state them; none where they do not.
        gmacs: multiply-accumulates of one run, as the rows state them; 0 where they do not.
    """

    name: str
    module: str
    inputs: tuple[tuple[int, ...], ...]
    rows: int
    parameters: tuple[float, ...] = ()
    gmacs: float = 0.0

    def misfit(self, parameters: int, macs: int) -> str:
        """Return why a graph is not the network that was measured, empty where it is."""
        millions = parameters / 1e6
        stated = ", ".join(f"{value:g}" for value in self.parameters)
        if any(_apart(millions, value) > _PARAMETERS_APART for value in self.parameters):
            return f"it has {millions:.2f} million parameters, the rows state {stated}"
        if self.gmacs and _apart(macs / 1e9, self.gmacs) > _MACS_APART:
            return f"it has {macs / 1e9:.2f} GMACs, the rows state {self.gmacs:g}"
        return ""


def _apart(one: float, other: float) -> float:
    # Stated figures are rounded to 0.01.
    return max(0.0, abs(one - other) - 0.01) / other


def planned(data: Path) -> list[Definition]:
    """Return what is missing, most rows first.

    Raises:
        InputError: the folder holds no source, or a table of timm is damaged.
    """
    if timm.SOURCE not in present_sources(data):
        return []
    return sorted(_of_timm(data), key=lambda entry: (-entry.rows, entry.name))


def chosen(definitions: Sequence[Definition], names: Sequence[str]) -> list[Definition]:
    """Return the named ones.

    Raises:
        InputError: no row waits for a name.
    """
    by_name = {definition.name: definition for definition in definitions}
    unknown = next((name for name in names if name not in by_name), None)
    if unknown is not None:
        raise InputError(unknown, "no row waits for this network", "see the list of --list")
    return [by_name[name] for name in names]


def _of_timm(data: Path) -> Iterator[Definition]:
    for (model, size, variant), rows in timm.missing(data).items():
        merged = " reparameterized=1" if variant == "reparam" else ""
        stated = {row.positive("param_count_m") for row in rows if row["param_count_m"]}
        yield Definition(
            timm.file_stem((model, size, variant)),
            f"timm:{model}{merged}",
            ((1, 3, int(size), int(size)),),
            len(rows),
            tuple(sorted(stated)),
            next((row.positive("gmacs_ref") for row in rows if row["gmacs_ref"]), 0.0),
        )

"""What the catalogue knows: devices that state each metric, by family, and how fast it loads."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from statistics import mean

from benchmarks.common import Figure, Table, best_of, parse_arguments, publish
from predictor.core.metrics import METRICS, Family
from predictor.core.records import Device
from predictor.core.units import significant
from predictor.devices.schema import device_from_object, device_to_object
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.products import search_products, shipped_products

LOAD_LIMIT_MS = 30.0
PRODUCTS_LIMIT_MS = 10.0  # of 200
CHECK_LIMIT_MS = 5.0
FORM_DEVICE = "rk3588-cpu"  # clusters, long sources: a full form


def by_family(devices: Sequence[Device]) -> dict[Family, list[Device]]:
    """Return the devices of each family that has any, in the order of Family."""
    families = {family: [d for d in devices if d.family is family] for family in Family}
    return {family: members for family, members in families.items() if members}


def completeness(families: Mapping[Family, Sequence[Device]]) -> Table:
    """Return how many devices of each family state each metric, and the average of metrics."""
    header = ("metric", *(f"{family.value} ({len(m)})" for family, m in families.items()))
    rows = [
        (
            metric.name,
            *(str(sum(metric.name in d.metrics for d in m)) for m in families.values()),
        )
        for metric in METRICS
    ]
    average = (significant(mean(len(d.metrics) for d in m)) for m in families.values())
    return Table(header, [*rows, ("metrics a device, average", *average)])


def timings(repeats: int) -> list[Figure]:
    """Return how long the catalogue takes to load and a whole device to be checked."""
    catalogue = load_catalogue()
    form = device_to_object(catalogue.by_id[FORM_DEVICE])
    return [
        Figure(
            f"load {len(catalogue.devices)} devices",
            best_of(load_catalogue, repeats) * 1e3,
            "ms",
            LOAD_LIMIT_MS,
        ),
        products_timing(repeats),
        Figure(
            "validate one device, as the form does at each keystroke",
            best_of(lambda: device_from_object(form, "form"), repeats) * 1e3,
            "ms",
            CHECK_LIMIT_MS,
        ),
    ]


def products_timing(repeats: int) -> Figure:
    """Return how long the first search of products takes, of a name that is no device's."""
    read = shipped_products.__wrapped__  # without what earlier reads left
    count = len(read())

    def search() -> None:
        search_products("phone", read())

    return Figure(
        f"read {count} products and search them, where no device has the name",
        best_of(search, repeats) * 1e3,
        "ms",
        PRODUCTS_LIMIT_MS * count / 200,
    )


def main() -> int:
    """Print the tables; return 1 when a time exceeds its limit."""
    options = parse_arguments(__doc__, repeats=20)
    families = by_family(load_catalogue().devices)
    figures = timings(options.repeats)
    notes = [
        f"{figure.what}: {significant(figure.value)} ms, limit {significant(figure.limit or 0)} ms."
        for figure in figures
    ]
    known = [
        {"family": family.value, "metric": metric.name, "devices": len(members), "known": count}
        for family, members in families.items()
        for metric in METRICS
        if (count := sum(metric.name in device.metrics for device in members))
    ]
    times = [{"what": f.what, "value": f.value, "unit": f.unit, "limit": f.limit} for f in figures]
    title = "The catalogue: devices that state each metric, by family"
    publish("catalogue", title, completeness(families), [*known, *times], options.output, notes)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The notices of data: where the catalogue's facts and the published measurements come from."""

from __future__ import annotations

import csv
import json
import re
import sys
import tomllib
from collections import Counter
from typing import Any

from contents import PACKAGING, ROOT

# The sources are declared in a checkout, not in the wheel.
sys.path[:0] = [str(ROOT), str(ROOT / "research")]

from ctm_research.sources import SOURCES  # noqa: E402

_ADDRESS = re.compile(r"\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[\w.-]+){0,2}", re.IGNORECASE)
_OWN = "computed or counted by us from other facts"
_NAMED = "documents named in the device files without an address"
_HOSTS_OF_MANY = ("github.com", "gist.github.com", "developer.nvidia.com")


def data_notices() -> str:
    """Return the notices of the catalogue and of the published measurements."""
    catalogue = [
        f"- {name}: {count} fact{'' if count == 1 else 's'}{', ' + stated if stated else ''}"
        for (name, stated), count in sorted(catalogue_sources().items())
    ]
    return "\n".join(
        [
            "Sources of data",
            "",
            "The device catalogue states facts: clocks, units, sizes, rates, and which chip a",
            "product has. Each fact names its source in its file. No text and no table was copied.",
            "The sources, each with how many facts it gave, and with the licence of its own work",
            "where one was found:",
            "",
            *catalogue,
            "",
            "Published measurements that the engines learn from and are compared with. Of these,",
            "medians of measured latencies of whole networks ship in a form of our own",
            "(resources/measured). They are data, not official scores:",
            "",
            *_figures(ships=True),
            "",
            "Of these only what was learned from them, and figures about them, ship:",
            "",
            *_figures(ships=False),
            "",
        ]
    )


def _figures(*, ships: bool) -> list[str]:
    return [
        f"- {source.title}: {source.licence}\n  {source.origin}"
        for source in SOURCES.values()
        if (source.ships is not None) is ships
    ]


def catalogue_sources() -> Counter[tuple[str, str]]:
    """Return how many facts of the catalogue each source gave, by its name and stated licence.

    The facts of architectures, what was measured, the rows of names and the products count too.
    """
    known = _catalogue()
    counts: Counter[tuple[str, str]] = Counter()
    for folder in ("devices", "architectures"):
        for path in sorted((ROOT / "resources" / folder).glob("*.json")):
            content = json.loads(path.read_text(encoding="utf-8"))
            for entry in content.get("architectures", {"": content}).values():
                counts.update(source_of(text, known) for text in _sources(entry))
    for path in sorted((ROOT / "resources" / "names").glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8"))["groups"]:
            counts[source_of(group["source"], known)] += len(group["rows"])
    with (ROOT / "resources" / "products" / "products.csv").open(encoding="utf-8") as file:
        counts.update(source_of(row["source"], known) for row in csv.DictReader(file))
    return counts


def _sources(entry: dict[str, Any]) -> list[str]:
    """Return the source of each fact of a device or architecture."""
    others = [*entry.get("measured", {}).values(), *entry.get("operating_points", [])]
    return [*entry.get("sources", {}).values(), *(other["source"] for other in others)]


def source_of(text: str, known: list[dict[str, Any]]) -> tuple[str, str]:
    """Return name and stated licence of what a metric's source names first."""
    for entry in known:
        if entry["match"] in text:
            return entry["name"], entry["stated"]
    address = _ADDRESS.search(text)
    if address:
        return _origin(address.group()), ""
    return (_OWN if text.startswith(("computed", "as ")) else _NAMED), ""


def _origin(address: str) -> str:
    """Return the site of an address; on a host of many authors also whose it is."""
    host, *folders = address.rstrip(".").split("/")
    host = host.lower().removeprefix("www.")
    return "/".join([host, *folders]) if host in _HOSTS_OF_MANY else host


def _catalogue() -> list[dict[str, Any]]:
    text = (PACKAGING / "sources_of_data.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["catalogue"]
    return entries

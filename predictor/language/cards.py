"""Several cards that share a language model, and the links between them.

Tensor parallel, every card has a part of each layer and they sum their results twice a layer; as a
pipeline, every card has some of the layers. A link is a fact of a device of which two stand in one
system; without one in the table cards meet over their links to the host.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.files import read_bytes
from predictor.core.records import Device
from predictor.core.resources import resources_dir
from predictor.core.text import printable
from predictor.cost.rates.facts import link_bandwidth
from predictor.devices.strict_json import parse_object
from predictor.language.architecture import DecoderArchitecture

MAX_CARDS: Final = 64
_FORMAT: Final = "ctm-links/1"
_MAX_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards of one kind that share a model.

    Attributes:
        count: number of them.
        pipeline: whether each has some of the layers, not a part of each layer.
    """

    count: int = 1
    pipeline: bool = False


ONE_CARD: Final = Cards()


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two cards of a system.

    Attributes:
        name: for people, such as ``NVLink 4``.
        bytes_per_s: in one direction, from one card to all others.
        latency_s: of a message, as the kind of link has it.
        source: where the rate is stated.
    """

    name: str
    bytes_per_s: float
    latency_s: float
    source: str


@lru_cache(maxsize=1)
def shipped_links() -> tuple[Mapping[str, Link], float]:
    """Return the links by device, and the latency in seconds of one over the host.

    Raises:
        InputError: the shipped file is missing or damaged.
    """
    path = resources_dir() / "generation" / "links.json"
    data = read_bytes(path, _MAX_BYTES, "install CloserToMe again")
    document = parse_object(data, str(path), "table of links", _MAX_BYTES)
    try:
        return _links(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            str(path), f"is no table of links ({error})", "install CloserToMe again"
        ) from error


def _links(document: Mapping[str, Any]) -> tuple[Mapping[str, Link], float]:
    if document["schema"] != _FORMAT:
        raise ValueError(f"its form is {document['schema']!r}, not {_FORMAT}")
    links = {
        str(device): _link(entry) for entry in document["links"] for device in entry["devices"]
    }
    return links, float(document["host_latency_us"]) / 1e6


def _link(entry: Any) -> Link:
    return Link(
        str(entry["name"]),
        1e9 * float(entry["gbps"]),
        float(entry["latency_us"]) / 1e6,
        str(entry["source"]),
    )


def link_of(device: Device) -> Link | None:
    """Return the link between two of a device; None where it has none, not to a host either."""
    links, host_latency_s = shipped_links()
    to_host = link_bandwidth(device)
    # A device with another memory has its first id before a colon.
    named = links.get(device.id.partition(":")[0])
    if named is not None or to_host is None:
        return named
    return Link("the link to the host", to_host, host_latency_s, "host_link_gbps of the device")


def check_cards(model: DecoderArchitecture, device: Device, cards: Cards) -> None:
    """Refuse cards that cannot share a model.

    Raises:
        InputError: the device is no card, heads do not divide, or layers are fewer than cards.
    """
    count = cards.count
    if count == 1:
        return
    if link_of(device) is None:
        raise InputError(
            f"--cards {count}",
            f"{printable(device.name)} states no link to others of its kind or to a host",
            "leave it out, or choose a card",
        )
    limit, what = (model.layers, "layers") if cards.pipeline else (model.heads, "heads")
    if not _fits(model, cards, count):
        fitting = [n for n in range(1, MAX_CARDS + 1) if _fits(model, cards, n)]
        raise InputError(
            f"--cards {count}",
            f"the {limit} {what} of {printable(model.name)} do not divide by {count} cards",
            f"choose one of {', '.join(map(str, fitting))}"
            + ("" if cards.pipeline else ", or add --pipeline"),
        )


def sharing_counts(model: DecoderArchitecture, device: Device, *, pipeline: bool) -> Iterator[int]:
    """Yield the numbers of cards, from 2, that can share a model on a kind of device."""
    if link_of(device) is not None:
        cards = Cards(pipeline=pipeline)
        yield from (count for count in range(2, MAX_CARDS + 1) if _fits(model, cards, count))


def _fits(model: DecoderArchitecture, cards: Cards, count: int) -> bool:
    return count <= model.layers if cards.pipeline else _divides(model, count)


def _divides(model: DecoderArchitecture, count: int) -> bool:
    """Whether cards share query heads evenly, and key heads or copies of them."""
    kv = max(model.kv_heads, 1)
    return model.heads % count == 0 and (kv % count == 0 or count % kv == 0)


def cache_copies(model: DecoderArchitecture, cards: Cards) -> float:
    """Return how often cards store a key head: more than once where there are fewer heads."""
    return 1.0 if cards.pipeline else max(cards.count / max(model.kv_heads, 1), 1.0)

"""Records that are open JSON objects: known fields next to those of other programs.

A foreign value that cannot be one of ours counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Final, Self


class Document:
    """A JSON object that is never changed.

    Documents are equal where they are written alike.

    Args:
        content: the object.
        text: as it was written; takes the place of ``content``.
    """

    _SORTED: ClassVar[bool] = False

    def __init__(self, content: Mapping[str, Any] | None = None, text: str | None = None) -> None:
        self._json = json.dumps(content or {}, sort_keys=self._SORTED) if text is None else text

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the document of a text.

        Raises:
            ValueError: it is no JSON object.
        """
        _parsed(text)
        return cls(text=text)

    def to_json(self) -> str:
        """Return the text, the very one that the document was read from."""
        return self._json

    # Not where it is read: the times of a network's operators, which few look at, take longer to
    # parse than all else of its measurement takes to read.
    @cached_property
    def content(self) -> Mapping[str, Any]:
        """All that was noted; nothing where the text is no JSON object."""
        try:
            return _parsed(self._json)
        except ValueError:
            return {}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(self._json)

    # Records that an import keeps beside the user's own get an id from their repr, which held the
    # text before there were documents: another repr would import them twice.
    def __repr__(self) -> str:
        return repr(self._json)

    def _text(self, name: str) -> str:
        value = self.content.get(name)
        return "" if value is None else str(value)

    def _object(self, name: str) -> Mapping[str, Any]:
        value = self.content.get(name)
        return value if isinstance(value, dict) else {}


class Provenance(Document):
    """Origin of a latency: author, time and tool of the measurement."""

    _SORTED = True

    @property
    def network(self) -> str | None:
        """Name of the measured network, empty where a file has none; None where it is not noted."""
        name = self.content.get("network")
        return None if name is None else str(name)

    @property
    def source(self) -> str:
        """Source of the number: local, ssh, kit, import, typed by hand."""
        return self._text("source")

    @property
    def words(self) -> str:
        """The runner's verdict as a sentence; empty where another program measured."""
        return self._text("words")

    @property
    def note(self) -> str:
        """The user's remark."""
        return self._text("note")


class ProbeOutcome(Document):
    """The runner's verdict on a network, and all that it saw where that gave no number."""

    @property
    def verdict(self) -> str:
        """Steady, noisy or inconclusive; empty where it was not measured."""
        return self._text("verdict")

    @property
    def words(self) -> str:
        """The verdict for people."""
        return self._text("words")


class ProbingFacts(Document):
    """Machine, protocol and drift of a session, and the later changes of its signature."""

    @property
    def host(self) -> Mapping[str, Any]:
        """Facts of the machine by name, as the runner stated them."""
        return self._object("host")

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The runner's settings of onnxruntime."""
        return self._object("configuration")

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the measuring protocol."""
        return self._object("settings")

    @property
    def protocol(self) -> str:
        """Name and version of the measuring protocol; empty for imported measurements."""
        return self._text("protocol")

    @property
    def selector(self) -> str:
        """Name of the selector that chose the networks."""
        return self._text("selector")

    @property
    def hardware(self) -> str:
        """Hardware of this machine at its quick probing; empty for any other session."""
        return self._text("hardware")

    @property
    def drift(self) -> float | None:
        """Change of the sentinel's latency during the session as a share; None where unknown."""
        value = self.content.get("drift")
        return float(value) if isinstance(value, int | float) else None

    @property
    def checks(self) -> Mapping[str, Any]:
        """What a probing's checks found, as ``ProbingChecks`` notes it; empty before they ran."""
        return self._object("checks")

    @property
    def used_anyway(self) -> bool:
        """Whether the user lets predictions use it though it failed its checks."""
        return self.content.get("used_anyway") is True

    @property
    def excluded(self) -> dict[str, str]:
        """The user's reason for each measurement that was left out, by its id."""
        return {key: str(reason) for key, reason in self._object("excluded").items()}

    @property
    def excluded_names(self) -> Mapping[str, Any]:
        """Names of the networks that were left out, by the ids of their measurements."""
        return self._object("excluded_names")

    @property
    def included_again(self) -> list[Mapping[str, Any]]:
        """Network, measurement and former reason of each that was taken in again."""
        value = self.content.get("included_again")
        return (
            [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
        )

    def excluded_words(self) -> list[str]:
        """Return the networks that were left out, each with the user's reason."""
        names = self.excluded_names
        return [f"{names.get(key, key[:8])} ({why})" for key, why in self.excluded.items()]

    def included_again_words(self) -> list[str]:
        """Return the networks that are in it again, each with the reason that it was left out."""
        return [
            f"{entry.get('network')} (was left out: {entry.get('reason')})"
            for entry in self.included_again
        ]

    def without(self, name: str) -> ProbingFacts:
        """Return the facts but for one."""
        return ProbingFacts({key: fact for key, fact in self.content.items() if key != name})

    def with_facts(self, **facts: object) -> ProbingFacts:
        """Return the facts with some added; an added one replaces that of its name."""
        return ProbingFacts({**self.content, **facts})


class PredictionSettings(Document):
    """Settings of a prediction beyond its own fields."""

    @property
    def program(self) -> str:
        """Version of the program."""
        return self._text("program")

    @property
    def dimensions(self) -> Mapping[str, Any]:
        """Values of the model's dynamic dimensions, by name."""
        return self._object("dimensions")


def _parsed(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except RecursionError as error:
        # A foreign text may nest deeper than the parser's recursion goes.
        raise ValueError("it is nested too deeply") from error
    if isinstance(content, dict):
        return content
    raise ValueError("it is no JSON object")


NO_OUTCOME: Final = ProbeOutcome()
NO_FACTS: Final = ProbingFacts()
NO_SETTINGS: Final = PredictionSettings()

"""The fields of the records that are kept and passed on: one table for store, files and documents.

A new field of a known kind is a row here, an attribute of the record and a migration of the store;
each reader and writer has one rule for each kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from predictor.core.documents import Document, PredictionSettings, ProbingFacts, Provenance


class Kind(Enum):
    """Kind of a field's value."""

    IDENTITY = auto()  # 32 hex digits
    IDENTITIES = auto()
    DIGEST = auto()  # SHA-256, 64 hex digits
    DEVICE = auto()  # a device's id
    CONFIGURATION = auto()
    NAME = auto()
    REMARK = auto()  # words for people, empty where nothing is to be said
    NOTE = auto()  # the user's own words
    TAGS = auto()
    NAMES = auto()
    BASIS = auto()
    LATENCY = auto()  # ms
    SAMPLES = auto()  # ns
    TIME = auto()  # ns since 1970
    FLAG = auto()
    DOCUMENT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a record.

    Attributes:
        name: of the record's attribute.
        kind: of its value.
        optional: whether it may be None.
        required: whether a name must not be empty, or a latency must be over 0.
        later: whether files of earlier programs lack it; it is ``absent`` there.
        key: in project files and JSON documents.
        column: in the store.
        place: in the document of ``ctm predict``, from 1; 0 where it is not in it.
        document: class of a DOCUMENT.
        part: attribute of the record that holds the record with this field; empty for itself.
    """

    name: str
    kind: Kind
    optional: bool = False
    required: bool = False
    later: bool = False
    key: str = ""
    column: str = ""
    place: int = 0
    document: type[Document] = Document
    part: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key or self.name)
        object.__setattr__(self, "column", self.column or self.name)

    @property
    def absent(self) -> object:
        """Its value in files of earlier programs."""
        return None if self.optional else _ABSENT[self.kind]

    def of(self, record: object) -> object:
        """Return the field's value in a record."""
        return getattr(getattr(record, self.part) if self.part else record, self.name)


_ABSENT: Final[dict[Kind, object]] = {Kind.FLAG: False, Kind.REMARK: "", Kind.NAMES: []}

_TARGET: Final = (
    Field(name="device_id", kind=Kind.DEVICE, key="device", place=2),
    Field(name="configuration", kind=Kind.CONFIGURATION, place=3),
)
_CREATED: Final = Field(name="created_ns", kind=Kind.TIME)

PREDICTION: Final[tuple[Field, ...]] = (
    Field(name="model", kind=Kind.NAME, place=1),
    Field(name="fingerprint", kind=Kind.DIGEST, place=18),
    *_TARGET,
    Field(name="engine", kind=Kind.NAME, required=True, place=15),
    Field(name="basis", kind=Kind.BASIS, optional=True, place=11),
    Field(name="latency_ms", kind=Kind.LATENCY, optional=True, place=4),
    Field(name="low80_ms", kind=Kind.LATENCY, optional=True, place=5),
    Field(name="high80_ms", kind=Kind.LATENCY, optional=True, place=6),
    Field(name="low95_ms", kind=Kind.LATENCY, optional=True, place=7),
    Field(name="high95_ms", kind=Kind.LATENCY, optional=True, place=8),
    Field(name="bound_ms", kind=Kind.LATENCY, optional=True, place=14),
    Field(name="predicted_ms", kind=Kind.LATENCY, optional=True, place=12),
    Field(name="fits_memory", kind=Kind.FLAG, optional=True, place=20),
    Field(name="problem", kind=Kind.REMARK, place=21),
    Field(name="out_of_distribution", kind=Kind.REMARK, place=19),
    Field(name="signature", kind=Kind.IDENTITY, optional=True, column="signature_id", place=16),
    Field(name="flagged_operators", kind=Kind.NAMES, place=22),
    Field(name="provenance", kind=Kind.REMARK, place=13),
    Field(name="fine_tuned", kind=Kind.FLAG, later=True),
    Field(name="by_operators", kind=Kind.FLAG, later=True),
    Field(name="evidence", kind=Kind.REMARK, later=True, place=23),
    Field(name="unstable", kind=Kind.REMARK, later=True, place=24),
)
# How a number was adapted is one word; tails follow from the target.
PREDICTION_DOCUMENT: Final[tuple[Field, ...]] = tuple(
    sorted(
        (
            *(field for field in PREDICTION if field.place),
            Field(name="p90_ms", kind=Kind.LATENCY, optional=True, place=9),
            Field(name="p99_ms", kind=Kind.LATENCY, optional=True, place=10),
            Field(name="adaptation", kind=Kind.NAME, optional=True, place=17),
        ),
        key=lambda field: field.place,
    )
)
MEASUREMENT: Final[tuple[Field, ...]] = (
    Field(name="id", kind=Kind.IDENTITY),
    Field(name="fingerprint", kind=Kind.DIGEST),
    *_TARGET,
    Field(name="samples_ns", kind=Kind.SAMPLES),
    Field(name="value_ms", kind=Kind.LATENCY, required=True),
    Field(name="statistic", kind=Kind.NAME, required=True),
    Field(name="protocol", kind=Kind.NAME),
    Field(name="provenance", kind=Kind.DOCUMENT, document=Provenance),
)
SIGNATURE: Final[tuple[Field, ...]] = (
    Field(name="id", kind=Kind.IDENTITY),
    *_TARGET,
    Field(name="measurement_ids", kind=Kind.IDENTITIES, key="measurements"),
    Field(name="active", kind=Kind.FLAG),
)


def _part(part: str, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(replace(field, part=part) for field in fields)


STORED_PREDICTION: Final = (
    Field(name="id", kind=Kind.IDENTITY),
    _CREATED,
    *_part("prediction", PREDICTION),
    Field(name="settings", kind=Kind.DOCUMENT, document=PredictionSettings),
    Field(name="settings_hash", kind=Kind.DIGEST),
    Field(name="tags", kind=Kind.TAGS),
    Field(name="note", kind=Kind.NOTE),
)
STORED_MEASUREMENT: Final = (
    *_part("measurement", MEASUREMENT),
    _CREATED,
    Field(name="prediction_id", kind=Kind.IDENTITY, optional=True, key="prediction"),
)
STORED_SIGNATURE: Final = (
    *_part("signature", SIGNATURE),
    _CREATED,
    Field(name="facts", kind=Kind.DOCUMENT, document=ProbingFacts),
    Field(name="deleted", kind=Kind.FLAG),
)

"""The last tokens a second that the user measured on each device, stored across sessions.

The store has model and run as numbers, without the time by physics: a rate calibrates a later
version of the program too.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from predictor.core.documents import Document
from predictor.core.records import Device
from predictor.language.architecture import DecoderArchitecture
from predictor.language.encoder import Encoder
from predictor.language.fields import MAX_COUNTS
from predictor.language.modules import Matrix, Module
from predictor.language.weights import has_format
from predictor.services.generation.choices import KV_PRECISIONS, RUNTIME_NAMES
from predictor.services.generation.plans import can_run
from predictor.services.generation.records import GenerationRequest, MeasuredRate
from predictor.store import token_rates as records
from predictor.store.database import Database, has_store, open_database
from predictor.store.token_rates import TokenRate

_Type = TypeVar("_Type")
_Counts = TypeVar("_Counts", DecoderArchitecture, Encoder, Module, GenerationRequest)

# Counts that nothing has none of; the others may be 0.
_POSITIVE: Final = frozenset(
    {"layers", "hidden", "heads", "kv_heads", "head_dim", "vocabulary", "max_context"}
    | {"mel_bins", "frames", "prompt", "batch"}
)
_TYPES: Final = {"int": int, "bool": bool, "str": str}


class TokenRates:
    """The user's tokens a second in an open store.

    Args:
        database: opened on this thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self, devices: Mapping[str, Device]) -> dict[str, MeasuredRate]:
        """Return the rates by device; one whose device is gone, or cannot run it now, is left out.

        Args:
            devices: by id.
        """
        rates = {}
        for stored in records.load_all(self._database):
            device = devices.get(stored.device_id)
            try:
                model, request = run_of(stored.run)
            except ValueError:
                continue  # of a later version of the program
            if device is not None and can_run(device, request):
                rates[device.id] = MeasuredRate(device, stored.tokens_per_s, model, request)
        return rates

    def keep(self, rate: MeasuredRate) -> None:
        """Store a rate in place of an earlier one of its device.

        Raises:
            HostError: the store cannot be written.
        """
        run = Document({"model": asdict(rate.model), "run": asdict(rate.request)})
        records.put(self._database, TokenRate(rate.device.id, rate.tokens_per_s, run))

    def forget(self, device_id: str) -> None:
        """Forget the rate of a device.

        Raises:
            HostError: the store cannot be written.
        """
        records.remove(self._database, device_id)


def stored_token_rates(
    devices: Mapping[str, Device], path: Path | None = None
) -> dict[str, MeasuredRate]:
    """Read the user's tokens a second by device from a store; one is not made for it.

    Args:
        devices: by id.
        path: of the store; None for that of CTM_STORE, else the one in the user's folder.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the store cannot be read.
    """
    if not has_store(path):
        return {}
    with closing(open_database(path)) as database:
        return TokenRates(database).all(devices)


def run_of(run: Document) -> tuple[DecoderArchitecture, GenerationRequest]:
    """Return the model and the run of a stored rate.

    Raises:
        ValueError: it is none that this version writes.
    """
    request = request_of(run)
    content = _object(run.content, "model")
    has_encoder = content.get("encoder") is not None
    encoder = _counts(Encoder, _object(content, "encoder")) if has_encoder else None
    entries = _typed(content.get("modules", []), list, "its modules are no list")
    modules = tuple(_module(entry) for entry in entries)
    model = _counts(DecoderArchitecture, content, encoder=encoder, modules=modules)
    attended = max(model.windowed_layers, model.shared_cache_layers)
    of_a_kind = (model.dense_layers, model.attention_free_layers + attended)
    if max(*of_a_kind, *(module.layers for module in modules)) > model.layers:
        raise ValueError("it has more layers of a kind than layers")
    if model.experts_per_token > model.experts:
        raise ValueError("a token passes more experts than there are")
    return model, request


def _module(content: object) -> Module:
    """Return a module of a stored model."""
    values = _typed(content, dict, "a module of it is no object")
    form = "its matrices are missing or of another form"
    rows = _typed(values.get("matrices"), list, form)
    if not all(_is_matrix(row) for row in rows):
        raise ValueError(form)
    return _counts(Module, values, matrices=tuple(Matrix(*row) for row in rows))


def _is_matrix(row: object) -> bool:
    """Whether a row is a name, two counts and a switch."""
    if not isinstance(row, list) or [type(entry) for entry in row] != [str, int, int, bool]:
        return False
    return all(0 < size <= MAX_COUNTS["context"] for size in row[1:3])


def request_of(document: Document) -> GenerationRequest:
    """Return the run that a document holds under ``run``, the fields of a ``GenerationRequest``.

    Raises:
        ValueError: it is none that this version writes.
    """
    request = _counts(GenerationRequest, _object(document.content, "run"))
    if (
        request.runtime not in ("", *RUNTIME_NAMES)
        or (request.weights and not has_format(request.weights))
        or request.kv_precision not in KV_PRECISIONS
    ):
        raise ValueError("its runtime or a format is not known")
    return request


def _object(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return _typed(content.get(name), dict, f"it has no {name}")


def _typed(value: object, kind: type[_Type], reason: str) -> _Type:
    """Return a value of a stored record that is of a type; the reason is that of the error."""
    if not isinstance(value, kind):
        raise ValueError(reason)  # noqa: TRY004 - of a file, not of a call
    return value


def _counts(kind: type[_Counts], content: Mapping[str, Any], **parts: object) -> _Counts:
    """Return a record of plain fields, each of its type and its counts within bounds."""
    values: dict[str, Any] = dict(parts)
    for field in fields(kind):
        if field.name in parts:
            continue
        value = content.get(field.name, field.default)
        if value is MISSING or type(value) is not _TYPES[str(field.type)]:
            raise ValueError(f"its {field.name} is missing or of another type")
        if type(value) is int:
            minimum = 1 if field.name in _POSITIVE else 0
            if not minimum <= value <= MAX_COUNTS.get(field.name, MAX_COUNTS["context"]):
                raise ValueError(f"its {field.name} is out of range")
        values[field.name] = value
    return kind(**values)

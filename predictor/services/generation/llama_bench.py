"""Tokens a second that ``llama-bench`` measured, with the run that they are of.

Written by ``tools/llama-bench`` of llama.cpp: an array of tests (``-o json``), of which those with
``n_gen`` and without ``n_prompt`` generate; or the table that it prints, where those are called
``tg128``, or ``tg128 @ d4096`` behind a cache of 4096 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from predictor.core.files import read_bytes
from predictor.language.architecture import DecoderArchitecture
from predictor.language.weights import KV_BITS, has_format
from predictor.presentation.wording import number
from predictor.probing.importers.source import MAX_BYTES, Source
from predictor.services.generation.records import GenerationRequest

# "llama 8B Q4_K - Medium", "llama 7B mostly Q8_0", "gpt-oss 20B MXFP4 MoE".
_TYPE: Final = re.compile(
    r"\b(?P<kind>B?F16|F32|MXFP4|(?:I|T)?Q\d_\w+)(?: - (?P<size>Small|Medium|Large))?"
)
MAX_TOKENS_PER_S: Final = 1e7
_SAME_MODEL: Final = 0.05  # relative difference of parameters
_ACTION: Final = "give the file that llama-bench -o json wrote for this model"
SUFFIXES: Final = (".json", ".md", ".txt", ".log")
"""Of files that ``read_bench_rate`` reads."""
_COLUMNS: Final = ("model", "params", "test", "t/s")
_TEST: Final = re.compile(r"tg(?P<new>\d{1,9})(?: @ d(?P<depth>\d{1,9}))?")
_SCALES: Final = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


class BenchRate(NamedTuple):
    """Tokens a second of one sequence, and the run."""

    tokens_per_s: float
    request: GenerationRequest


def read_bench_rate(
    path: Path, model: DecoderArchitecture, request: GenerationRequest
) -> BenchRate:
    """Return the rate of the test whose cache is the nearest to that of a run.

    Args:
        path: of the file.
        model: that was measured.
        request: the run; prompt, new tokens, weights and cache are those of the test.

    Raises:
        InputError: the file is no such array, has no test that generates, or is of another model.
    """
    source = Source.from_bytes(path.name, read_bytes(path, MAX_BYTES, "choose a file that exists"))
    tests = [
        _rate(source, entry.place, entry.test, model, request) for entry in _generating(source)
    ]
    if not tests:
        raise source.error("no test of it generates tokens", "run llama-bench with -n 128")
    return min(tests, key=lambda test: abs(test.request.depth - request.depth))


class _Entry(NamedTuple):
    place: str
    test: Mapping[str, object]


def _generating(source: Source) -> Sequence[_Entry]:
    if not source.looks_like_json:
        return list(_rows(source))
    entries = []
    for entry in source.elements():
        place = f"line {entry.line}"
        test = source.table(place, entry.value, "the test")
        if "n_gen" not in test or "avg_ts" not in test:
            raise source.error_at(place, "it has no n_gen or no avg_ts", _ACTION)
        if test["n_gen"] and not test.get("n_prompt"):
            entries.append(_Entry(place, test))
    return entries


def _rows(source: Source) -> Iterator[_Entry]:
    """Yield the tests of a printed table that generate, as ``-o json`` writes them."""
    titles: Sequence[str] = ()
    for line_number, line in source.lines():
        place = f"line {line_number}"
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if set(_COLUMNS) <= set(cells):
            titles = cells
        elif titles and len(cells) == len(titles):
            row = dict(zip(titles, cells, strict=True))
            test = _TEST.fullmatch(row["test"])
            if test is not None:
                yield _Entry(place, _test(source, place, row, test))
    if not titles:
        raise source.error("it is no output of llama-bench", _ACTION)


def _test(
    source: Source, place: str, row: Mapping[str, str], test: re.Match[str]
) -> Mapping[str, object]:
    count, _, scale = row["params"].partition(" ")
    parameters = source.quantity(place, count, "params") * _SCALES.get(scale, 1.0)
    return {
        "model_type": row["model"],
        "model_n_params": parameters,
        "n_gen": test["new"],
        "n_depth": test["depth"] or 0,
        "avg_ts": row["t/s"].partition("\u00b1")[0].strip(),
        "type_k": row.get("type_k", "f16"),
    }


def _rate(
    source: Source,
    place: str,
    test: Mapping[str, object],
    model: DecoderArchitecture,
    request: GenerationRequest,
) -> BenchRate:
    parameters = source.quantity(place, test.get("model_n_params"), "model_n_params")
    if abs(parameters / model.parameters() - 1) > _SAME_MODEL:
        measured, size = number(parameters / 1e9), number(model.parameters() / 1e9)
        reason = f"it is of a model of {measured} B parameters, and {model.name} has {size} B"
        raise source.error_at(place, reason, _ACTION)
    depth = int(source.quantity(place, test.get("n_depth", 0), "n_depth"))
    new = source.count(place, test["n_gen"], "n_gen")
    cache = {"f16": "fp16", "f32": "fp32"}.get(str(test.get("type_k")), str(test.get("type_k")))
    tokens_per_s = source.quantity(place, test["avg_ts"], "avg_ts")
    if not 0 < tokens_per_s < MAX_TOKENS_PER_S:
        raise source.error_at(place, f"avg_ts is {tokens_per_s:g} tokens a second", _ACTION)
    return BenchRate(
        tokens_per_s,
        replace(
            request,
            prompt=max(depth, 1),
            new=new,
            context=0,
            batch=1,
            weights=_weights(source, place, test),
            kv_precision=cache if cache in KV_BITS else request.kv_precision,
        ),
    )


def _weights(source: Source, place: str, test: Mapping[str, object]) -> str:
    """Return the name of the format of the weights."""
    stated = _TYPE.search(str(test.get("model_type", "")))
    name = "" if stated is None else stated["kind"].lower()
    if stated is not None and stated["size"]:
        name += f"_{stated['size'][0].lower()}"
    if not has_format(name):
        reason = f"the format of the weights is not known: {test.get('model_type')!r}"
        raise source.error_at(place, reason, "give the tokens a second as a number")
    return name

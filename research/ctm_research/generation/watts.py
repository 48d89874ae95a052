"""The power of cards under language models, and the fit of what each part of a run takes of it.

Average power over the stated one is a sum of shares: of the time that reads, that multiplies and
that waits. Published are A100 and H100 of Argonne, and A100 and H100 of Splitwise at 2 to 8 cards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ctm_research.generation.least_squares import Floats, not_negative
from ctm_research.generation.models import MODELS
from ctm_research.generation.served import SERVED_MODELS
from ctm_research.sources.tables import read_rows
from predictor.core.records import Device
from predictor.cost.rates.power import rated_watts
from predictor.language.deviations import silicon_of
from predictor.language.power import READING, WAITING
from predictor.services.generation.generate import generate
from predictor.services.generation.records import GenerationRequest

_ARGONNE: Final = {"Nvidia A100 GPU": "a100-sxm4-40gb", "Nvidia H100 GPU": "h100-sxm"}
_FRAMEWORKS: Final = {"vLLM": "vllm", "TensorRT-LLM": "tensorrt-llm"}
_SPLITWISE: Final = {
    "a100-80gb": "a100-sxm4-80gb",
    "h100-80gb": "h100-sxm",
    "h100-80gb-pcap": "h100-sxm",
}
_LEAST_POWER: Final = 0.2  # of the stated power: what is under it was not read
_PARTS: Final = ("reading", "multiplying", "waiting")


@dataclass(frozen=True, slots=True)
class Powered:
    """A published average power.

    Attributes:
        silicon: of the device.
        shares: of the parts of the time, [3].
        power: over the stated one.
    """

    silicon: str
    shares: Floats
    power: float


def watt_figures(folder: Path, devices: Mapping[str, Device]) -> list[dict[str, object]]:
    """Return the shares of the stated power by what is left out, with their errors in percent.

    Args:
        folder: of the data.
        devices: the catalogue by id.

    Raises:
        InputError: a table is missing or damaged.
    """
    rows = powered_rows(folder, devices)
    figures = [_figure("nothing", rows, rows)]
    for silicon in sorted({row.silicon for row in rows}):
        rest = [row for row in rows if row.silicon != silicon]
        figures.append(_figure(silicon, rest, [row for row in rows if row.silicon == silicon]))
    return figures


def powered_rows(folder: Path, devices: Mapping[str, Device]) -> list[Powered]:
    """Return the published averages of language models.

    Raises:
        InputError: a table is missing or damaged.
    """
    return [*_argonne(folder, devices), *_splitwise(folder, devices)]


def _figure(left_out: str, fitted: list[Powered], judged: list[Powered]) -> dict[str, object]:
    weights = _fit(fitted)
    errors = np.abs([row.shares @ weights / row.power - 1 for row in judged])
    shares = {f"{name}, %": round(100 * w) for name, w in zip(_PARTS, weights, strict=True)}
    return {
        "left out": left_out,
        "rows": len(judged),
        **shares,
        "median error, %": round(100 * float(np.median(errors)), 1),
        "four in five, %": round(100 * float(np.quantile(errors, 0.8)), 1),
    }


def _fit(rows: list[Powered]) -> Floats:
    columns = np.array([row.shares / row.power for row in rows])
    return not_negative(columns, np.ones(len(rows)))


def _argonne(folder: Path, devices: Mapping[str, Device]) -> Iterator[Powered]:
    for row in read_rows(folder / "kernels" / "llm_serving" / "argonne_power.csv", ()):
        runtime, model = _FRAMEWORKS.get(row["Framework"]), row["Model"].split("/")[-1]
        device = devices[_ARGONNE[row["Hardware"]]]
        stated = rated_watts(device)
        if runtime is None or stated is None:
            continue
        run = GenerationRequest(
            prompt=1024, new=1024, batch=row.count("Batch Size"), runtime=runtime
        )
        watts = row.positive("avg_power") / 1000
        yield from _powered(SERVED_MODELS[model], device, run, watts / stated)


def _splitwise(folder: Path, devices: Mapping[str, Device]) -> Iterator[Powered]:
    """Yield its rows of Llama 2 70B whose power was read."""
    for row in read_rows(folder / "kernels" / "llm_serving" / "splitwise_perf.csv", ()):
        power = float(row["average_power_median"])
        if power <= _LEAST_POWER or row["model"] != "llama2-70b":
            continue
        run = GenerationRequest(
            prompt=row.count("prompt_size"),
            new=row.count("token_size"),
            batch=row.count("batch_size"),
            runtime="vllm",
            cards=row.count("tensor_parallel"),
        )
        yield from _powered("Llama-2-70B", devices[_SPLITWISE[row["hardware"]]], run, power)


def _powered(model: str, device: Device, run: GenerationRequest, power: float) -> Iterator[Powered]:
    (result,) = generate(MODELS[model], [device], run)
    if result.end_to_end is not None:
        shares = result.end_to_end.shares
        reading, waiting = (
            sum(share for part, share in shares.items() if part in parts)
            for parts in (READING, WAITING)
        )
        parts = np.array([reading, max(1 - reading - waiting, 0.0), waiting])
        yield Powered(silicon_of(device), parts, power)

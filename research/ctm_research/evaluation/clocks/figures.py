"""Figures of latency at other clocks, each network left out of the choice of constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.graph_files import GraphReader
from ctm_research.evaluation.clocks.data import Sweeps, Swept
from ctm_research.evaluation.clocks.forms import (
    FORMS,
    SHIPPED,
    Choice,
    Constants,
    curve,
    one_point_error,
    shipped_model,
    three_point_error,
)
from ctm_research.sources.tables import read_rows
from predictor.core.records import Device
from predictor.cost.clocks import CPU, GPU, Overlap

Floats = NDArray[np.float64]

# Of a run that its host bounds nothing is to be learned of the GPU, and clocks of one processor
# that are stated and cannot have been held would choose the constants of the others.
_SHOWN_ONLY: Final = ("resnet152", "Intel Core i7-7567U NUC, PyTorch")
_TRIPLES: Final = 200
GOALS: Final = {"one": 5.0, "three": 3.0}


def clock_figures(data: Path, devices: Mapping[str, Device]) -> dict[str, Any]:
    """Return the figures as plain values.

    Args:
        data: folder with ``kernels/dvfs`` and the sets of graphs.
        devices: of the catalogue, by id.

    Raises:
        InputError: a table or a graph is missing or damaged.
    """
    with GraphReader() as reader:
        sweeps = Sweeps(data, devices, reader)
        tx2, cards, modes, boards = (
            list(each()) for each in (sweeps.tx2, sweeps.cards, sweeps.modes, sweeps.boards)
        )
    gpus = {"tx2": tx2, "cards": cards, "modes": modes}
    on_gpus, on_cpus = _compared(gpus), _compared({"boards": boards})
    shipped = FORMS[SHIPPED]
    choice, of_cpus = Choice(shipped, _judged(gpus)), Choice(shipped, _judged({"boards": boards}))
    rows = [_row(each, gpus, choice) for each in (*tx2, *cards, *modes)]
    return {
        "goals_percent": GOALS,
        "constants": {"gpu": _constants(GPU), "cpu": _constants(CPU)},
        "chosen": {"gpu": choice.without(""), "cpu": of_cpus.without("")},
        "forms": {name: {**on_gpus[name], "boards": on_cpus[name]["boards"]} for name in on_gpus},
        "networks": [*rows, *(_row(each, {"boards": boards}, of_cpus) for each in boards)],
        "three_points": [_three(each, choice) for each in tx2],
        "power_over_limit": _drawn(data),
    }


def _constants(overlap: Overlap) -> Constants:
    return overlap.on_chip, overlap.off_chip, overlap.sharpness


def _judged(groups: Mapping[str, Sequence[Swept]]) -> dict[str, list[Swept]]:
    return {
        name: [each for each in group if not {each.network, each.setting} & set(_SHOWN_ONLY)]
        for name, group in groups.items()
    }


def _compared(groups: Mapping[str, Sequence[Swept]]) -> dict[str, dict[str, float]]:
    """Return the mean error in % of each form on each group, the network left out."""
    judged = _judged(groups)
    figures: dict[str, dict[str, float]] = {}
    for name, form in FORMS.items():
        choice = Choice(form, judged)
        figures[name] = {
            group: _mean(
                one_point_error(curve(form, choice.without(e.network), e), e, everywhere=False)
                for e in networks
            )
            for group, networks in judged.items()
        }
    return figures


def _row(swept: Swept, groups: Mapping[str, Sequence[Swept]], choice: Choice) -> dict[str, Any]:
    """Return errors in % of one network from one measured point."""
    constants = choice.without(swept.network)
    curved = curve(FORMS[SHIPPED], constants, swept)
    others = [
        each
        for group in groups.values()
        for each in group
        if each.setting == swept.setting
        and each.network != swept.network
        and each.variant == swept.variant
        and len(each.latency_ms) == len(swept.latency_ms)
        and np.allclose(each.own, swept.own)
        and np.allclose(each.points.memory, swept.points.memory)
    ]
    curves: dict[str, Floats | None] = {
        "model": curved,
        "copied": np.exp(np.mean([np.log(e.latency_ms) for e in others], 0)) if others else None,
        "inverse": swept.points.unit,
        "fixed": np.ones_like(swept.latency_ms),
    }
    return {
        "setting": swept.setting,
        "network": swept.network,
        "precision": swept.variant,
        "points": len(swept.latency_ms),
        "constants": constants,
        "deviation": _deviation(curved, swept),
        "any_point_percent": 100 * one_point_error(curved, swept, everywhere=True),
        "one_point_percent": {
            name: None if each is None else 100 * one_point_error(each, swept, everywhere=False)
            for name, each in curves.items()
        },
    }


def _deviation(curved: Floats, swept: Swept) -> float:
    """Return the root mean square of ln(predicted / measured) for each unit of ln(slower)."""
    ratio = curved / swept.latency_ms
    apart = np.log(ratio / ratio[swept.reference])
    slower = np.log(curved / curved[swept.reference])
    return float(np.sqrt((apart**2).sum() / (slower**2).sum()))


def _three(swept: Swept, choice: Choice) -> dict[str, Any]:
    """Return errors in % from three points: drawn, and the corners of the plane of clocks."""
    model = shipped_model(swept, choice.without(swept.network))
    count = len(swept.latency_ms)
    generator = np.random.default_rng(0)
    drawn = np.array([generator.choice(count, 3, replace=False) for _ in range(_TRIPLES)])
    unit, memory = swept.points.unit, swept.points.memory
    corners = np.array([_corner(unit, memory), _corner(-unit, memory), _corner(unit, -memory)])
    return {
        "network": swept.network,
        "precision": swept.variant,
        "drawn_percent": 100 * three_point_error(model, swept, drawn),
        "corners_percent": 100 * three_point_error(model, swept, corners[None]),
    }


def _corner(unit: Floats, memory: Floats) -> int:
    return int(np.lexsort((memory, unit))[0])


def _drawn(data: Path) -> dict[str, Any]:
    """Return the power of runs over the limit of their mode: median and 10 and 90 %."""
    folder = data / "kernels/dvfs"
    shares = [
        float(row["p_sum_mw"]) / 1e3 / float(row["power_budget_w"])
        for row in read_rows(
            folder / "jetson_xavier_power_modes_yolov3.csv", ("power_budget_w", "p_sum_mw")
        )
        if row["power_budget_w"] != "n/a"
    ]
    shares += [
        float(row["power_w"]) / float(row["power_mode"].rstrip("W"))
        for row in read_rows(
            folder / "jetson_orin_power_modes_scales.csv", ("power_mode", "power_w")
        )
        if row["power_mode"].endswith("W")
    ]
    low, middle, high = np.quantile(shares, [0.1, 0.5, 0.9]).tolist()
    return {"modes": len(shares), "low": low, "median": middle, "high": high}


def _mean(errors: Any) -> float:
    return 100 * float(np.mean(list(errors)))


def clock_page(figures: Mapping[str, Any], origin: str) -> str:
    """Return the page of :func:`clock_figures`."""
    lines = [
        "# Latency at other clocks",
        "",
        "Mean error in % over the points that were not measured, after one measured point: that",
        "nearest to the device's default clocks. Constants are chosen on the other networks of all",
        "settings; the precision of the source is not stated, so both are judged. *copied* is the",
        "curve of the other networks of the setting, *1/f* the device's own clock, *fixed* no",
        "change. *any* is the mean over each point as the measured one.",
        "",
        origin,
        "",
        "| setting | network | precision | points | model | any | copied | 1/f | fixed |",
        "| --- | --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for row in figures["networks"]:
        one = row["one_point_percent"]
        errors = [one["model"], row["any_point_percent"]]
        errors += [one[name] for name in ("copied", "inverse", "fixed")]
        texts = " | ".join(map(_figure, errors))
        lines.append(
            f"| {row['setting']} | {row['network']} | {row['precision']} | {row['points']} "
            f"| {texts} |"
        )
    lines += [
        "",
        "Not judged, and in no choice: resnet152 on AGX Orin, whose time follows the clock of the",
        "CPU in all four modes (default governors, the host launches), and the NUC, whose times",
        "at 400 MHz cannot be of this clock (2.6 to 8 times those at 4 GHz).",
        "",
        "## From three points",
        "",
        "TX2, constants as above; three points drawn, and the three corners: fastest, slowest GPU,",
        "slowest memory.",
        "",
        "| network | precision | drawn | corners |",
        "| --- | --- | --: | --: |",
        *(
            f"| {row['network']} | {row['precision']} | {_figure(row['drawn_percent'])} "
            f"| {_figure(row['corners_percent'])} |"
            for row in figures["three_points"]
        ),
        "",
        "## Forms",
        "",
        "Mean error in % from one point, constants chosen anew for each form without the network.",
        "",
        "| form | TX2 | desktop cards | power modes | Raspberry Pis |",
        "| --- | --: | --: | --: | --: |",
        *(
            f"| {name} | "
            + " | ".join(_figure(row[group]) for group in ("tx2", "cards", "modes", "boards"))
            + " |"
            for name, row in figures["forms"].items()
        ),
        "",
        "## Power",
        "",
        _power_words(figures["power_over_limit"]),
    ]
    return "\n".join(lines) + "\n"


def _power_words(drawn: Mapping[str, Any]) -> str:
    return (
        f"Runs drew {drawn['median']:.2f} of the limit of their mode in the median of "
        f"{drawn['modes']} runs in modes with a limit (10 to 90 %: {drawn['low']:.2f} to "
        f"{drawn['high']:.2f})."
    )


def misses(figures: Mapping[str, Any]) -> list[str]:
    """Return the goals that the grid of the TX2 misses, in words."""
    of_tx2 = [row for row in figures["networks"] if row["setting"].startswith("Jetson TX2")]
    means: dict[str, Callable[[], float]] = {
        "one": lambda: float(np.mean([row["one_point_percent"]["model"] for row in of_tx2])),
        "three": lambda: float(np.mean([r["drawn_percent"] for r in figures["three_points"]])),
    }
    return [
        f"from {name}: {mean():.1f} %, over {GOALS[name]} %"
        for name, mean in means.items()
        if mean() > GOALS[name]
    ]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"

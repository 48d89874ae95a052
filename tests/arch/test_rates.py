"""Each rate of a device is read from its facts in one function, and derived in one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Functions that read each fact of a rate; more than one is written with its reason.
READERS = {
    "clock_mhz": {"base_clock_mhz", "highest_clock_mhz"},  # each stands in for the other
    "boost_clock_mhz": {
        "base_clock_mhz",
        "highest_clock_mhz",
        "clocks_of",  # whether it is stated at all
    },
    "fp32_au_per_core": {"stated_lanes"},
    "matrix_units": {"has_matrix_units"},
    "dram_bw_gbps": {"memory_bandwidth"},
    "host_clock_ghz": {"host_clock_ghz"},
    "host_link_gbps": {"link_bandwidth"},
    "onchip_sram_kb": {"chip_bytes", "bare_memories"},  # of accelerators and microcontrollers
    "flash_kb": {"bare_memories"},
    "l1_kb_per_core": {"core_cache_bytes"},
    "l2_kb": {"core_cache_bytes"},
    "tdp_w": {"rated_watts"},
    "process_nm": {"sustained_fp32_macs_per_s"},
}
RATES = {"fp32_tflops", "fp32_matrix_tflops", "tf32_tflops", "fp16_tflops", "bf16_tflops"}
RATES |= {"int8_tops"}
# Outside the rates: what they stand on, and what shows facts or holds them against each other.
READ_ELSEWHERE = {
    "predictor/devices/peaks.py",
    "predictor/devices/configurations.py",
    "predictor/devices/consistency.py",
    "predictor/devices/default_configurations.py",  # whether a card multiplies halves faster
    "ctm_gui/prediction/explanation.py",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules of the product that read metrics, with their syntax trees."""
    for package in ("predictor", "ctm_gui"):
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if ".metric(" in source:  # to parse all modules takes seconds
                yield path.relative_to(ROOT).as_posix(), ast.parse(source)


def reads(tree: ast.AST) -> set[str]:
    """Return the metrics that a piece of code reads by name from a device."""
    return {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "metric"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Constant)
    }


def test_facts_of_rates_are_read_by_the_rates_alone() -> None:
    rated = READERS.keys() | RATES
    found = {name for name, tree in modules() if reads(tree) & rated}

    assert {name for name in found if "cost/rates/" not in name} == READ_ELSEWHERE


def test_each_fact_of_a_rate_has_one_function() -> None:
    readers: dict[str, set[str]] = {}
    for name, tree in modules():
        if name == "predictor/devices/peaks.py" or name.startswith("predictor/cost/rates/"):
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    for metric in reads(node):
                        readers.setdefault(metric, set()).add(node.name)

    assert {metric: readers.get(metric) for metric in READERS} == READERS
    assert readers.keys() - READERS.keys() <= {"core_count"}


def test_stated_rates_are_looked_up_in_one_function() -> None:
    """By the table of number formats, never by the name of a metric."""
    lookups = [
        (name, node.name)
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "metric"
            and any(isinstance(n, ast.Name) and n.id == "RATE_METRIC" for n in ast.walk(call))
            for call in ast.walk(node)
        )
    ]

    assert lookups == [
        ("predictor/cost/rates/facts.py", "stated_macs_per_s"),
        ("predictor/devices/configurations.py", "_shows"),  # whether there is one
    ]

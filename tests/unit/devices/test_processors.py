"""Designs of cores from what a system states of its processor."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.instruction_sets import INSTRUCTION_SETS
from predictor.core.resources import resources_dir
from predictor.devices.architectures import architectures
from predictor.devices.processors import (
    PARTIAL,
    SCHEMA,
    design_of,
    instruction_sets_of,
    may_have_small_cores,
    small_core_clock_mhz,
)
from tests.unit.devices.processor_texts import AVX2, AVX512, KNOWN, UNKNOWN, intel

TABLE = json.loads((resources_dir() / "processors" / "processors.json").read_text("utf-8"))
X86_ROWS = [
    (vendor, family, row)
    for vendor, families in TABLE["x86"].items()
    for family, rows in families.items()
    for row in rows
]


@pytest.mark.parametrize(("fields", "architecture", "sets", "lanes"), KNOWN.values(), ids=KNOWN)
def test_a_model_of_the_table_has_its_design(
    fields: dict[str, str], architecture: str, sets: str, lanes: float
):
    design = design_of(fields)
    assert design.architecture == architecture
    assert design.title == architectures()[architecture].title
    assert design.instruction_sets == tuple(sets.split())
    assert design.lanes == lanes
    assert design.is_certain


@pytest.mark.parametrize(("fields", "sets", "lanes"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_model_has_what_its_instruction_sets_imply(
    fields: dict[str, str], sets: str, lanes: float | None
):
    design = design_of(fields)
    assert design.architecture == ""
    assert design.instruction_sets == tuple(sets.split())
    assert design.lanes == lanes
    assert not design.is_certain
    assert design.source.startswith("at least: ") == (lanes is not None)


def test_the_small_cores_of_a_processor_with_two_kinds_have_a_design_of_their_own():
    alder_lake = intel(151, f"{AVX2} avx_vnni")
    assert may_have_small_cores(alder_lake)
    assert design_of(alder_lake).lanes == 16
    small = design_of(alder_lake, small=True)
    assert (small.architecture, small.lanes) == ("gracemont", 8)
    assert not may_have_small_cores(intel(60, AVX2))


def test_where_a_system_tells_of_few_sets_the_architecture_tells_of_the_others():
    partial = {**intel(154, AVX2), "features": PARTIAL}
    assert design_of(partial).instruction_sets == ("sse4", "avx", "avx2", "avx-vnni")
    # AVX-512 is turned off, and VNNI with it.
    ice_lake = {**intel(106, AVX2), "features": PARTIAL}
    assert design_of(ice_lake).instruction_sets == ("sse4", "avx", "avx2")
    on = {**intel(106, AVX512), "features": PARTIAL}
    assert "avx512-vnni" in design_of(on).instruction_sets


def test_the_clock_of_small_cores_is_stated_for_macs_only():
    assert small_core_clock_mhz({"cpufamily": "0x1b588bb3"}) == 2064
    assert small_core_clock_mhz({"cpufamily": "0x00000000"}) is None
    assert small_core_clock_mhz(intel(151, AVX2)) is None


def test_the_table_names_architectures_that_ship_and_each_model_once():
    assert TABLE["schema"] == SCHEMA
    names = {row[key] for _, _, row in X86_ROWS for key in ("core", "small") if key in row}
    names |= {name for parts in TABLE["arm"].values() for name in parts.values()}
    names |= {
        row[key] for row in TABLE["apple"].values() for key in ("core", "small") if key in row
    }
    assert names <= architectures().keys()
    models: dict[tuple[str, str], list[int]] = {}
    for vendor, family, row in X86_ROWS:
        for text in row["models"]:
            first, _, last = text.partition("-")
            more = range(int(first, 16), int(last or first, 16) + 1)
            models.setdefault((vendor, family), []).extend(more)
    for numbers in models.values():
        assert len(numbers) == len(set(numbers))


def test_every_row_of_the_table_is_an_isa_of_its_kind():
    rows = architectures()
    assert all(rows[row["core"]].isa == "x86" for _, _, row in X86_ROWS)
    names = [name for parts in TABLE["arm"].values() for name in parts.values()]
    assert all(rows[name].isa == "arm" for name in names)


WORDS = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=30)
NAMES = st.sampled_from(
    ["vendor_id", "cpu family", "model", "flags", "Features", "isa", "CPU implementer", "CPU part"]
)


@given(st.dictionaries(NAMES, st.one_of(WORDS, st.sampled_from(["GenuineIntel", "6", "0x41"]))))
def test_any_text_has_a_design(fields: dict[str, str]):
    design = design_of(fields)
    assert set(design.instruction_sets) <= INSTRUCTION_SETS.keys()
    assert design.lanes is None or 0 < design.lanes <= 32


@given(st.permutations(AVX512.split()), st.integers(0, len(AVX512.split())))
def test_more_flags_never_take_an_instruction_set_away(flags: list[str], kept: int):
    few = instruction_sets_of({"flags": " ".join(flags[:kept])})
    assert set(few) <= set(instruction_sets_of({"flags": " ".join(flags)}))

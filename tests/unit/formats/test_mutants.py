"""Damaged model files of other formats are read, or refused in one sentence."""

from __future__ import annotations

import faulthandler
import random
import tracemalloc

import pytest

from tests.fuzz.formats import bases, feed, mutate, packed

_RUNS = 150
_SECONDS = 120


def mutant(seed: int) -> bytes:
    return mutate(random.Random(seed))  # noqa: S311 - no secret


def test_the_models_that_are_changed_are_sound() -> None:
    refused = {name for name, files in bases() if not feed(packed(files))}

    assert refused <= {"branches.pt2"}  # control flow, which is refused in a sentence


def test_the_same_seed_gives_the_same_file() -> None:
    assert mutant(5) == mutant(5)


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_in_one_sentence() -> None:
    """In this process, as the worker reads them; a hang ends it with a traceback."""
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    try:
        were_read = [feed(mutant(number)) for number in range(_RUNS)]
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert any(were_read)
    assert not all(were_read)


def test_a_part_with_any_number_of_bounds_is_read_at_once() -> None:
    """Bounds of a computed part whose tensor states two thousand million took a gigabyte."""
    rng = random.Random("*.tflite 1 9772")  # noqa: S311 - no secret
    damaged = mutate(rng, "tflite")
    tracemalloc.start()
    try:
        feed(damaged)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 20 * 2**20

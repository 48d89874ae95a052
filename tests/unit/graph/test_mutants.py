"""Damaged model files are read, or refused in one sentence; no other exception, no great memory."""

import faulthandler
import random
import sys

import pytest

from tests.fuzz.onnx_mutator import feed, mutate, rich_models

pytestmark = pytest.mark.slow

_EACH, _RUNS = 50, 8
_MOST_MIB = 400
_SECONDS = 60


def peak_mib():
    resource = pytest.importorskip("resource")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def mutant(seed):
    return mutate(random.Random(seed))  # noqa: S311 - no secret


def test_the_models_that_are_changed_are_sound():
    assert all(feed(data) for data in rich_models())


def test_the_same_seed_gives_the_same_file():
    assert mutant(5) == mutant(5)
    assert len({mutant(seed) for seed in range(20)}) == 20


@pytest.mark.parametrize("run", range(_RUNS))
def test_damaged_files_are_read_or_refused_in_one_sentence(run):
    """In this process, as the worker reads them; a hang ends it with a traceback."""
    before = peak_mib()
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    try:
        were_read = [feed(mutant(run * _EACH + number)) for number in range(_EACH)]
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert any(were_read)
    assert not all(were_read)
    assert peak_mib() - before < _MOST_MIB

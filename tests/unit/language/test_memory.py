"""Memory of models against what programs logged, and what fits into devices."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.language.architecture import DecoderArchitecture
from predictor.language.config import architecture_of
from predictor.language.memory import (
    longest_context,
    memory_of,
    usable_memory,
    working_bytes,
)
from predictor.language.weights import FORMATS
from tests.support.public_models import CONFIGS

MIB, GIB = 2**20, 2**30
NAMES = sorted(CONFIGS)


def model(name: str) -> DecoderArchitecture:
    return architecture_of(CONFIGS[name][0], name)


def device(family: Family, dram_gb: float, vendor: str = "", **metrics: float) -> Device:
    return Device(
        id="d", name="d", vendor=vendor, family=family, metrics={"dram_gb": dram_gb, **metrics}
    )


@pytest.mark.parametrize(
    ("name", "logged"),
    [("Llama-3-8B", 258.5), ("Llama-2-7b", 70.5), ("Qwen3-30B-A3B", 304.75)],
)
def test_the_buffers_are_those_that_llama_cpp_logs(name: str, logged: float) -> None:
    assert working_bytes(model(name), 4096) / MIB == pytest.approx(logged, rel=0.02)


@pytest.mark.parametrize(
    ("name", "context", "bits", "logged"),
    [
        # llama_kv_cache_init: KV self size, in MiB.
        ("Llama-2-7b", 4096, 16, 2048),
        ("Llama-3-8B", 2048, 16, 256),
        ("Qwen3-30B-A3B", 32768, 16, 3072),
    ],
)
def test_the_cache_is_what_llama_cpp_logs(
    name: str, context: int, bits: float, logged: float
) -> None:
    memory = memory_of(model(name), FORMATS["q4_0"], context, kv_bits=bits)
    assert memory.cache / MIB == logged


def test_a_windowed_layer_keeps_its_window() -> None:
    gemma = model("gemma-3-1b")
    # 22 windowed layers of 512 tokens, 4 that keep all, 256 elements twice.
    assert gemma.kv_elements(8192) == 2 * 256 * (22 * 512 + 4 * 8192)


@pytest.mark.parametrize(
    ("tested", "share"),
    [
        (device(Family.GPU, 24, "NVIDIA", host_link_gbps=31.5), 0.9),
        (device(Family.GPU, 16, "Apple"), 2 / 3),
        (device(Family.GPU, 64, "Apple"), 3 / 4),
        (device(Family.GPU, 64, "NVIDIA"), 3 / 4),
        (device(Family.CPU, 16, "Apple"), 3 / 4),
        (device(Family.NPU, 24, "Qualcomm"), 3 / 4),
    ],
)
def test_a_device_keeps_some_of_its_memory(tested: Device, share: float) -> None:
    usable = usable_memory(tested)
    assert usable is not None
    assert usable.bytes == pytest.approx(share * tested.metrics["dram_gb"] * GIB)
    assert f"{100 * share:.0f} % of the" in usable.assumption


def test_metals_share_is_what_it_logs() -> None:
    # recommendedMaxWorkingSetSize of an M1 with 16 GB and of an M2 Max with 96 GB, in MB.
    for gigabytes, logged in ((16, 11453.25), (96, 77309.41)):
        usable = usable_memory(device(Family.GPU, gigabytes, "Apple"))
        assert usable is not None
        assert usable.bytes / 1e6 == pytest.approx(logged, rel=1e-4)


def test_a_published_run_shows_that_more_fits() -> None:
    card = device(Family.GPU, 16, "NVIDIA", host_link_gbps=31.5)
    usable = usable_memory(card, 15 * GIB)
    assert usable == (15 * GIB, "a published run took 15 of its 16 GiB")
    assert usable_memory(card, 14 * GIB) == usable_memory(card)
    # A card of the user with less memory gives no more than it has.
    smaller = usable_memory(device(Family.GPU, 12, "NVIDIA", host_link_gbps=31.5), 15 * GIB)
    assert smaller is not None
    assert smaller.bytes == 12 * GIB


def test_a_card_leaves_the_table_of_tokens_to_the_host() -> None:
    # llama.cpp, Llama 3 8B in Q4_K_M: CPU buffer 281.81 MiB.
    llama, form = model("Llama-3-8B"), FORMATS["q4_k_m"]
    whole, card = (memory_of(llama, form, 512, table_on_host=host) for host in (False, True))
    assert (whole.weights - card.weights) / MIB == pytest.approx(281.81, rel=1e-4)
    tied = model("gemma-3-1b")
    assert memory_of(tied, form, 512, table_on_host=True) == memory_of(tied, form, 512)


def test_memory_that_is_not_known_is_not_made_up() -> None:
    assert usable_memory(Device(id="d", name="d", vendor="", family=Family.GPU, metrics={})) is None


def test_a_model_that_does_not_fit_has_no_context() -> None:
    large, form = model("Llama-3-70B"), FORMATS["f16"]
    assert longest_context(large, form, 24e9) == 0
    assert longest_context(large, FORMATS["q4_k_m"], 1e12) == large.max_context


@given(
    st.sampled_from(NAMES),
    st.sampled_from(sorted(FORMATS)),
    st.floats(1e8, 1e11),
    st.integers(1, 8),
    st.sampled_from([16, 8.5, 4.5]),
)
def test_the_longest_context_fits_and_one_more_does_not(
    name: str, form: str, usable: float, batch: int, bits: float
) -> None:
    decoder, weights = model(name), FORMATS[form]
    longest = longest_context(decoder, weights, usable, batch, bits)
    if longest:
        assert memory_of(decoder, weights, longest, batch, bits).total <= usable
    if longest < decoder.max_context:
        assert memory_of(decoder, weights, longest + 1, batch, bits).total > usable


def test_a_context_of_a_billion_tokens_takes_no_time() -> None:
    wide = architecture_of({**CONFIGS["Llama-3-8B"][0], "max_position_embeddings": 2**30}, "x")
    started = time.thread_time()
    assert longest_context(wide, FORMATS["f16"], 1e15) == 2**30
    assert time.thread_time() - started < 1

"""Which language models are open, and in which run."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.language.state import LanguageState, common
from predictor.services.generation.records import GenerationRequest
from predictor.services.models.language import LanguageModel
from tests.support.decoder_architectures import TINY


def model(path: str, name: str = "tiny", max_context: int = 4096) -> LanguageModel:
    return LanguageModel(path, replace(TINY, name=name, max_context=max_context))


def test_the_run_is_of_all_models_and_formats_of_one() -> None:
    state = LanguageState().opened(model("/a/config.json", "a")).opened(model("/b.gguf", "b"))
    first, second = state.entries
    asked = replace(state.request(first), prompt=64, weights="q8_0", kv_precision="int8")
    after = state.with_run(first.path, asked)

    assert after.request(after.entries[0]) == asked
    assert after.request(after.entries[1]) == replace(state.request(second), prompt=64)
    assert after.run == common(asked) == replace(asked, weights="", kv_precision="fp16")


def test_a_context_that_does_not_hold_the_run_shortens_that_of_all() -> None:
    state = LanguageState(run=GenerationRequest(prompt=2048, new=128))
    state = state.opened(model("/a", max_context=8192))
    assert state.run.prompt == 2048
    assert state.opened(model("/b", max_context=1024)).run.longest <= 1024


def test_a_model_that_is_opened_again_keeps_its_place() -> None:
    state = LanguageState().opened(model("/a")).opened(model("/b"))
    again = state.opened(model("/a", "new"))
    assert [entry.model.architecture.name for entry in again.entries] == ["new", "tiny"]


def test_models_of_one_name_are_told_apart() -> None:
    state = LanguageState()
    for path in ("/v1/llama/config.json", "/v2/llama/config.json", "/v1/llama.gguf", "/other"):
        state = state.opened(model(path, "other" if path == "/other" else "llama"))
    assert list(state.labels.values()) == [
        "llama (config.json)", "llama (2)", "llama (llama.gguf)", "other"
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=12))
def test_entries_are_distinct_and_in_the_order_of_opening(steps: list[tuple[str, bool]]) -> None:
    state, paths = LanguageState(), []
    for path, is_opened in steps:
        if is_opened:
            state = state.opened(model(path))
            paths += [] if path in paths else [path]
        else:
            state = state.closed([path])
            paths = [each for each in paths if each != path]
    assert [entry.path for entry in state.entries] == paths
    assert len(set(state.labels.values())) == len(paths)

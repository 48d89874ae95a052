"""Tokens a second that the user measured, kept in the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.core.documents import Document
from predictor.language.encoder import Encoder
from predictor.language.modules import latent_attention
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.generation.records import GenerationRequest, MeasuredRate
from predictor.services.generation.token_rates import run_of, stored_token_rates
from predictor.services.history.history import History
from predictor.store import token_rates
from predictor.store.database import open_database
from tests.support.decoder_architectures import EXPERTS, TINY

DEVICES = load_catalogue().by_id
RUN = GenerationRequest(prompt=64, weights="q8_0", runtime="llama.cpp")
RATE = MeasuredRate(DEVICES["rpi5"], 2.5, TINY, RUN)


def test_the_last_rate_of_a_device_comes_back_equal(history: History, path: Path) -> None:
    encoded = replace(EXPERTS, encoder=Encoder(2, 4, 64, 80, 1500))
    other = MeasuredRate(DEVICES["rtx3060"], 50.25, encoded, RUN)
    history.token_rates.keep(RATE)
    history.token_rates.keep(other)
    history.token_rates.keep(replace(RATE, tokens_per_s=3.5))
    kept = {"rpi5": replace(RATE, tokens_per_s=3.5), "rtx3060": other}
    assert history.token_rates.all(DEVICES) == kept
    assert stored_token_rates(DEVICES, path) == kept
    history.token_rates.forget("rpi5")
    assert history.token_rates.all(DEVICES) == {"rtx3060": other}


def test_a_model_with_a_state_comes_back_equal_and_one_of_before_too(history: History) -> None:
    state = latent_attention(
        2, 256, 4, query_rank=0, rank=32, plain_dim=16, rotary_dim=8, value_dim=16
    )
    latent = replace(RATE, model=replace(TINY, attention_free_layers=2, modules=(state,)))
    history.token_rates.keep(latent)
    (stored,) = token_rates.load_all(history.database)
    assert run_of(stored.run) == (latent.model, RUN)
    content = json.loads(stored.run.to_json())
    for field in ("modules", "attention_free_layers", "query_gate", "embedding_norm"):
        del content["model"][field]
    assert run_of(Document(content)) == (TINY, RUN)


def test_no_store_is_made_to_look_for_rates(path: Path) -> None:
    assert stored_token_rates(DEVICES, path) == {}
    assert not path.exists()


def test_rates_of_devices_that_are_gone_or_cannot_run_it_are_left_out(history: History) -> None:
    history.token_rates.keep(RATE)
    unknown = replace(RATE.device, metrics={})  # as the user may have edited it since
    assert history.token_rates.all({}) == {}
    assert history.token_rates.all({"rpi5": unknown}) == {}


def test_a_rate_of_another_version_is_left_out(path: Path) -> None:
    database = open_database(path)
    token_rates.put(database, token_rates.TokenRate("rpi5", 2.0, Document({"model": {}})))
    database.close()
    assert stored_token_rates(DEVICES, path) == {}


def _set(*keys: str, value: object) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("model", value=3), "no model"),
        (_set("run", value=None), "no run"),
        (_set("model", "layers", value=0), "layers is out of range"),
        (_set("model", "layers", value=10**9), "layers is out of range"),
        (_set("model", "hidden", value="4096"), "hidden is missing or of another type"),
        (_set("model", "heads", value=True), "heads is missing or of another type"),
        (_set("model", "encoder", value=7), "no encoder"),
        (_set("model", "windowed_layers", value=99), "more layers of a kind"),
        (_set("model", "attention_free_layers", value=3), "more layers of a kind"),
        (_set("model", "modules", value=3), "modules are no list"),
        (_set("model", "modules", value=[3]), "a module of it is no object"),
        (_set("model", "modules", value=[{"layers": 1}]), "matrices are missing"),
        (_set("model", "modules", value=[{"matrices": [["q", 1, "2", False]]}]), "another form"),
        (_set("model", "modules", value=[{"matrices": [["q", 1, 0, False]]}]), "another form"),
        (_set("model", "modules", value=[{"layers": 9, "matrices": []}]), "more layers of a kind"),
        (_set("model", "experts_per_token", value=2), "more experts than there are"),
        (_set("run", "prompt", value=-1), "prompt is out of range"),
        (_set("run", "runtime", value="ollama"), "not known"),
        (_set("run", "weights", value="q9"), "not known"),
    ],
)
def test_a_run_of_a_stranger_is_checked(
    history: History, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    history.token_rates.keep(RATE)
    (stored,) = token_rates.load_all(history.database)
    assert run_of(stored.run) == (TINY, RUN)
    content = json.loads(stored.run.to_json())
    change(content)
    with pytest.raises(ValueError, match=words):
        run_of(Document(content))

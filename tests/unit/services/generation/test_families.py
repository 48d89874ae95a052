"""A public model of every family, read from its configuration and predicted."""

import pytest

from predictor.language.config import architecture_of
from predictor.services.generation.generate import generate
from predictor.services.generation.records import GenerationRequest
from tests.support.decoder_architectures import CATALOGUE
from tests.support.public_models import CONFIGS

ONE_EACH = {values["model_type"]: name for name, (values, _) in reversed(CONFIGS.items())}
DEVICES = [CATALOGUE[name] for name in ("rtx4090", "rpi5")]


@pytest.mark.slow
@pytest.mark.parametrize("family", ONE_EACH)
def test_a_family_is_predicted_at_short_and_long_contexts(family: str) -> None:
    model = architecture_of(CONFIGS[ONE_EACH[family]][0], family)
    request = GenerationRequest().fitted(model.max_context)
    longer = GenerationRequest(prompt=1500).fitted(model.max_context)
    runs = zip(generate(model, DEVICES, request), generate(model, DEVICES, longer), strict=True)
    for short, long in runs:
        assert None not in (short.token, short.first_token, long.token, long.first_token)
        assert short.token.bound <= short.token.median <= long.token.median
        assert short.first_token.median <= long.first_token.median
        assert short.memory.total <= long.memory.total
        # All of the weights that a token passes are read once.
        assert short.token.bound > 1e3 * 0.25 * model.active_parameters() / 4e12

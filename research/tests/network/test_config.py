"""The configuration of a network refuses what no network can be made of."""

from __future__ import annotations

import pytest

from predictor.core.errors import InputError
from research.tests.network.samples import paper_config


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"width": 0}, "width is 0, outside 1 to 4096"),
        ({"log_std": 0.0}, "log_std is 0.0"),
        ({"log_mean": float("nan")}, "log_mean is nan"),
        ({"signature_size": -1}, "signature_size is -1"),
        ({"metrics": ()}, "HCV needs at least one metric"),
    ],
)
def test_wrong_choices_are_refused(choices: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        paper_config(**choices)
    assert message in str(caught.value)


def test_a_network_with_identifiers_needs_no_metrics() -> None:
    assert paper_config(metrics=(), devices=4).devices == 4

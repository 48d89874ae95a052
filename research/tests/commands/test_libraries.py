"""Commands that need a library, where it is absent."""

from __future__ import annotations

import pytest

from ctm_research.commands.libraries import libraries_needed
from predictor.core.errors import HostError


def test_without_torch_the_requirements_are_named() -> None:
    with pytest.raises(HostError) as raised, libraries_needed("training"):
        raise ModuleNotFoundError(name="torch")

    assert str(raised.value) == "training: torch is not installed; install closertome[train]."

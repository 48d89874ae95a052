"""The format of the weights in the files of a language model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from predictor.core.errors import InputError
from predictor.language.architecture import DecoderArchitecture
from predictor.language.weights import WeightFormat, weight_format

HUB_RUNTIMES: Final = frozenset({"vllm", "tensorrt-llm"})
"""Runtimes that load the weights of the hub as they are; the others convert them."""


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """The format of the weights in a model's files.

    Attributes:
        form: the format; an error where the files state one that cannot be read.
        runtimes: names of those that take it as it is; None for all.
    """

    form: WeightFormat | InputError
    runtimes: frozenset[str] | None = None

    def form_for(self, runtime: str) -> WeightFormat | None:
        """Return the format under a runtime, None where it brings its own.

        Raises:
            InputError: the files state one that cannot be read.
        """
        if self.runtimes is not None and runtime not in self.runtimes:
            return None
        if isinstance(self.form, InputError):
            raise self.form
        return self.form


class DescribedModel(NamedTuple):
    """A language model as its files describe it.

    Attributes:
        architecture: of the decoder.
        stored: format of its weights; None where no file states one.
    """

    architecture: DecoderArchitecture
    stored: StoredWeights | None = None


_CLOSE: Final = 0.1  # share by which a file's bytes may differ from those of its format
_CONTRADICTORY: Final = 1.5


def with_file_bytes(described: DescribedModel, file_bytes: int, subject: str) -> DescribedModel:
    """Return a model with the bytes that its weight files have.

    They hold where they are close to those of the format: files may have more than the decoder, and
    runtimes load float32 as 16 bits.

    Args:
        described: the model.
        file_bytes: of its weight files.
        subject: path in the error of quantised weights that are of another size.
    """
    model, stored = described
    form = stored.form if stored else weight_format("fp16")
    if isinstance(form, InputError):
        return described
    ratio = file_bytes / form.model_bytes(model)
    if stored and max(ratio, 1 / ratio) > _CONTRADICTORY:
        reason = (
            f"its quantisation makes {form.model_bytes(model) / 1e9:.3g} GB of its weights, and "
            f"its index states {file_bytes / 1e9:.3g} GB"
        )
        error = InputError(subject, reason, "name the format with --weights")
        return DescribedModel(model, StoredWeights(error, HUB_RUNTIMES))
    if abs(ratio - 1) > _CLOSE:
        return described
    return DescribedModel(model, StoredWeights(replace(form, file_bytes=file_bytes), HUB_RUNTIMES))

"""Weight matrices of a decoder, and the rows that a pass multiplies them with."""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, NamedTuple

TABLE: Final = "token_embd"  # name of the embedding table


class Kind(Enum):
    """The role of a weight matrix."""

    EMBEDDING = "embedding"
    POSITIONS = "positions"
    PROJECTION = "projection of the embedding"
    QKV = "qkv"
    OUTPUT = "output"
    UP = "up"
    DOWN = "down"
    ROUTER = "router"
    EXPERT_UP = "expert up"
    EXPERT_DOWN = "expert down"
    CONVOLUTION = "convolution"
    HEAD = "head"


class Rows(Enum):
    """Rows that a product multiplies its matrix with."""

    TOKENS = "every token"
    LAST = "the last token of each sequence, whose successor is sought"
    FRAMES = "every frame of the encoder, once"
    MEL_FRAMES = "every frame of the spectrogram, of which the encoder halves the number"
    LOOKED_UP = "none: a row a token is read"


class Product(NamedTuple):
    """A weight matrix of shape [inner, columns] in each of some layers.

    Attributes:
        name: of the tensor in llama.cpp.
        kind: its role.
        layers: number of layers that have it.
        inner: K of the product; rows of a table.
        columns: N of the product.
        copies: matrices a layer, more than one for experts.
        active: of the copies, those that one token passes.
        bias: whether a vector of ``columns`` is added.
        rows: what it is multiplied with.
        stored: False where its weights are those of another product (a tied head).
    """

    name: str
    kind: Kind
    layers: int
    inner: int
    columns: int
    copies: int = 1
    active: int = 1
    bias: bool = False
    rows: Rows = Rows.TOKENS
    stored: bool = True

    @property
    def weights(self) -> int:
        """Elements of the matrices in all layers, 0 where they are another product's."""
        return self.layers * self.copies * self.inner * self.columns if self.stored else 0

    @property
    def biases(self) -> int:
        """Elements of the added vectors in all layers."""
        return self.layers * self.copies * self.columns if self.bias else 0

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one row through all layers."""
        if self.rows is Rows.LOOKED_UP:
            return 0
        return self.layers * self.active * self.inner * self.columns

    def touched(self, tokens: float) -> float:
        """Return the expected number of copies a layer that ``tokens`` tokens read.

        Each token picks ``active`` of ``copies`` experts; they are taken as independent and
        uniform, which balanced training aims at.
        """
        return self.copies * (1 - math.pow(1 - self.active / self.copies, tokens))

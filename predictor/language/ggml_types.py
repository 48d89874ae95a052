"""Types of tensors in GGUF files: blocks of some weights that share their scales.

References:
    ggml, ``ggml.h`` (``ggml_type``) for the numbers, ``ggml-common.h`` for the layout of blocks.
    llama.cpp, ``llama.h`` (``llama_ftype``), for the numbers of formats of whole files.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class GgmlType(NamedTuple):
    """A type of a tensor.

    Attributes:
        name: in small letters.
        elements: weights of a block.
        bytes: of a block.
    """

    name: str
    elements: int
    bytes: int

    @property
    def bits(self) -> float:
        """Bits of one weight."""
        return 8 * self.bytes / self.elements


GGML_TYPES: Final = {
    0: GgmlType("f32", 1, 4),
    1: GgmlType("f16", 1, 2),
    2: GgmlType("q4_0", 32, 18),
    3: GgmlType("q4_1", 32, 20),
    6: GgmlType("q5_0", 32, 22),
    7: GgmlType("q5_1", 32, 24),
    8: GgmlType("q8_0", 32, 34),
    10: GgmlType("q2_k", 256, 84),
    11: GgmlType("q3_k", 256, 110),
    12: GgmlType("q4_k", 256, 144),
    13: GgmlType("q5_k", 256, 176),
    14: GgmlType("q6_k", 256, 210),
    16: GgmlType("iq2_xxs", 256, 66),
    17: GgmlType("iq2_xs", 256, 74),
    18: GgmlType("iq3_xxs", 256, 98),
    19: GgmlType("iq1_s", 256, 50),
    20: GgmlType("iq4_nl", 32, 18),
    21: GgmlType("iq3_s", 256, 110),
    22: GgmlType("iq2_s", 256, 82),
    23: GgmlType("iq4_xs", 256, 136),
    24: GgmlType("i8", 1, 1),
    25: GgmlType("i16", 1, 2),
    26: GgmlType("i32", 1, 4),
    27: GgmlType("i64", 1, 8),
    28: GgmlType("f64", 1, 8),
    29: GgmlType("iq1_m", 256, 56),
    30: GgmlType("bf16", 1, 2),
    34: GgmlType("tq1_0", 256, 54),
    35: GgmlType("tq2_0", 256, 66),
    39: GgmlType("mxfp4", 32, 17),
    40: GgmlType("nvfp4", 64, 36),
    41: GgmlType("q1_0", 128, 18),
}
"""Types by their number in a file."""

FILE_TYPES: Final = {
    0: "fp32",
    1: "f16",
    2: "q4_0",
    3: "q4_1",
    7: "q8_0",
    8: "q5_0",
    9: "q5_1",
    10: "q2_k",
    11: "q3_k_s",
    12: "q3_k_m",
    13: "q3_k_l",
    14: "q4_k_s",
    15: "q4_k_m",
    16: "q5_k_s",
    17: "q5_k_m",
    18: "q6_k",
    32: "bf16",
    38: "mxfp4",
}
"""Formats of whole files by their number that are formats of :mod:`weights` too."""

"""Why known measurements are under their physical bound, as far as the data say."""

from __future__ import annotations

from predictor.training.sources import Sample

UNEXPLAINED = "Not explained: the bound, a fact of the device or the measurement is wrong."

# By source and device. An explanation cites what it rests on; it does not move the bound.
_EXPLANATIONS: dict[tuple[str, str], str] = {
    ("neusight", "mi100"): (
        "The matrix units of this card multiply FP32 numbers too, at 46.1 TFLOP/s (column "
        "fp32_matmul_gflops of the source's gpus.csv, and AMD's datasheet). No metric of the "
        "catalogue holds this rate: fp32_tflops is the vector rate, 23.1 TFLOP/s. With it the "
        "bound would be half as long and the measurement above it."
    ),
}


def explanation(sample: Sample) -> str:
    """Return why ``sample`` may be under its bound, in whole sentences."""
    if sample.doubt:
        return f"{sample.doubt[0].upper()}{sample.doubt[1:]}."
    return _EXPLANATIONS.get((sample.source, sample.device_id), UNEXPLAINED)

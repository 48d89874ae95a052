"""The page of ``ctm evaluate generation``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ctm_research.generation.judge import METHODS
from predictor.presentation.wording import NOTHING, number

_INTRODUCTION: Final = """\
Published rates of language models against the engine of `ctm generate`
([language models](../../../docs/language-models.md)). Silicon is left out one at a time:
coefficients, scales and widths of intervals are fitted to the rest. An error is that of tokens a
second; a figure is the median over devices and formats of the median over their rates. Goals are
of llama.cpp on single devices; MXFP4 counts as Q4, bfloat16 as F16.

*One constant* is the median share of the roofline by backend, phase and format. *Residual
regression* corrects the roofline by a ridge regression on sizes of model, input and device, as
Roofline-LLM does. *Physics alone* is the engine without what measurements of the same architecture
say. Which terms physics has was decided while looking at these figures; all numbers in them are
fitted without the silicon they are judged on."""

_SHOWN: Final = """\
Shown without goals: serving frameworks with one sequence, phones' NPUs, and what stands on fewer
than four kinds of silicon. CDNA cards under llama.cpp are several times slower than their memory
allows; left out, nothing tells so. The translation models of HAT run under PyTorch, which is no
runtime of language models here, and are not used."""

_CONTEXTS: Final = """\
Single rates of llama.cpp by the tokens in the cache, up to the context named: in the middle of an
answer, at the end of a prompt. Heads are shared where several query heads read one key head."""

_HEADS: Final = """\
Without flash attention the query heads of a token have work besides the bytes of the cache, and
hide it behind those as the root of two squares. One work at a time, coefficients alone, silicon
left out; the error is that of the growth from the shortest to the longest context of a model on a
device. Beside it how many kinds of silicon it is chosen by: the rest chooses it by leaving out its
own, where long contexts remain on two kinds. On CUDA a thread block a score ships, on Metal the
bytes of each head; on processors, where no long context was published, arithmetic."""

_PRODUCTS: Final = """\
FP16 products of whole models with 1 to 4096 rows (vidur), one share of bandwidth and one of
arithmetic a card; median error by the way that the two are joined."""

_SUSTAINED: Final = """\
Rates of matrix units are stated at a clock that the power of large cards does not sustain: 0.4
TFLOP/s a watt of an RTX 3090, 1.2 of an RTX 6000 Ada, 2.2 of an H100 PCIe. An operation is taken to
cost so many picojoules; where the card has less power than that takes, the rate falls as the power
to 0.7, as that of its FP32 lanes; 0 takes it as stated. Prompts by coefficients alone, on silicon
left out. 1.6 ships: all 13 training parts of CUDA choose it for themselves by their median error
(10 of them 1.4 by the mean)."""

_PROCESSORS: Final = """\
Prompts on processors were published for one server, which is shown and not learned from, so they
are physics: half of the FP32 rate that all cores have at once. HPL on all cores, in FP32 by twice
its rate, is held against that rate: its median share is what is taken. Counted is the geometric
mean of base and boost clock, and half of the lanes beyond 256 bits (ggml's kernels of 512 bits
multiply 1.5 times as fast as those of 256, on one core of a Xeon). Before, the stated
rate counted."""

_BATCHES: Final = """\
Whole batches of Argonne's tables, prompts and answers of equal length, end to end, in 16 bits. The
times of one model, or of one die, are left out at a time; the level of a device by its single
sequences stays known. Rows that fit are those whose caches all cards hold together; where they do
not, a server lets the rest wait, which this table does not model."""

_SEVERAL: Final = """\
llama-bench on two to six cards, each with some of the layers, against one formula: a token passes
the cards one after the other, at a hand-over of so many latencies of the link; the passes of a
prompt, 512 tokens each, follow each other, three quarters of them at once. Both are fitted without
the model, or the die, that is judged; the level of a device is that of one card. Prompts of 70 B
overlap less than those of 8 B, in Q4 on some cards not at all, which no table explains."""

_WATTS: Final = """\
Average power of A100 and H100 under vLLM and TensorRT-LLM (Argonne) and of Llama 2 70B on 2 to 8
cards (Splitwise), as shares of the stated power of the time that reads, multiplies and waits. The
shares fitted to all rows are those of `ctm generate`; under them those without one die, judged by
it."""

_HEADER: Final = (
    "phase", "weights", "backend", "silicon", "devices", "rates",
    *(f"{name}, %" for name in METHODS), "80 % covers, %", "goal, %",
)  # fmt: skip
_CONTEXT_HEADER: Final = (
    "phase", "heads", "up to tokens", "devices", "rates",
    "median error, %", "nine in ten, %", "worst, %", "80 % covers, %",
)  # fmt: skip


def page(document: Mapping[str, Any], origin: str) -> str:
    """Return the Markdown page of a document.

    Args:
        document: the figures.
        origin: one sentence: which command wrote it, when and where.
    """
    figures: Sequence[Mapping[str, Any]] = document["figures"]
    parts = [
        "# Language models on devices left out",
        origin,
        _INTRODUCTION,
        "## llama.cpp, all backends",
        _figures([f for f in figures if f["backend"] == "all"]),
        "## By backend and format",
        _figures([f for f in figures if f["backend"] != "all"]),
        _SHOWN,
        "## By context",
        _CONTEXTS,
        _table(_CONTEXT_HEADER, _rows(document["contexts"])),
        "## Work of query heads",
        _HEADS,
        _table(
            ("backend", "work", "models", "median error, %", "worst, %", "chosen by"),
            _rows(document["heads"]),
        ),
        "## Bound",
        f"{document['under_bound']} of {document['rates']} rates are faster than their bound.",
        "## Products by rows",
        _PRODUCTS,
        _table(
            ("card", "products", *document["products"][0]["median_error_percent"]),
            [
                (f["card"], f["products"], *f["median_error_percent"].values())
                for f in document["products"]
            ],
        ),
        "## The rate of products",
        _SUSTAINED,
        _table(
            ("backend", "pJ", "devices", "median error, %", "mean error, %"),
            _rows(document["sustained"]),
        ),
        "## Batches and several cards",
        _BATCHES,
        _table(
            (
                "backend",
                "left out",
                "cards",
                "sequences",
                "fits",
                "rows",
                "median error, %",
                "80 % covers, %",
            ),
            _rows(document["batches"]),
        ),
        "## Cards of llama.cpp",
        _SEVERAL,
        _table(
            ("left out", "phase", "model", "rows", "median error, %"), _rows(document["several"])
        ),
        "## Watts",
        _WATTS,
        _table(tuple(document["watts"][0]), _rows(document["watts"])),
        "## Prompts on processors",
        _PROCESSORS,
        _table(
            ("device", "stated GFLOP/s", "counted GFLOP/s", "HPL x 2", "HPL of it, %"),
            _rows(document["processors"]),
        ),
        "## Rates that are not used",
        _table(("reason", "rows"), list(document["unused"].items())),
    ]
    return "\n\n".join(parts) + "\n"


def _figures(figures: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            f["phase"],
            f["weights"],
            f["backend"],
            f["silicon"],
            f["devices"],
            f["rates"],
            *(number(value) for value in f["median_error_percent"].values()),
            number(f["coverage80_percent"]),
            number(f["goal_percent"]),
        )
        for f in figures
    ]
    return _table(_HEADER, rows)


def _rows(figures: Sequence[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    return [tuple(figure.values()) for figure in figures]


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(cell: object) -> str:
    return NOTHING if cell is None else str(cell)

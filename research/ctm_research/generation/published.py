"""Published prompt and generation rates of language models, in one form.

Reads the tables of ``kernels/llm_rates``, ``kernels/llm_serving`` and ``aihub`` of a data folder.
A row that is not used is counted with its reason.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ctm_research.generation.models import MODELS
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Device
from predictor.core.runtimes import CPUS
from predictor.language.architecture import DecoderArchitecture
from predictor.language.rates import Phase
from predictor.language.weights import WeightFormat, weight_format

FUSING: Final = frozenset(
    {"vulkan", "rocm", "genie", "mlc", "vllm", "tensorrt-llm", "onnxruntime-genai-gpu"}
)
"""Backends whose published runs of long contexts have attention fused, or that always fuse it."""

_ALIASES: Final = Path(__file__).with_name("devices.csv")
# Rates of servers that engineers published one by one, with their source.
_SERVERS: Final = Path(__file__).with_name("servers.csv")


@dataclass(frozen=True, slots=True)
class Rate:
    """One published rate.

    Attributes:
        device: of the catalogue, or with another number of cores or memory.
        backend: name in the file of rates.
        model: decoder.
        form: format of its weights.
        phase: prompt or generation.
        tokens: of the prompt, or generated.
        depth: tokens in the cache before.
        micro_batch: most tokens of a prompt in one pass; 0 for all.
        seconds: for all of them.
        source: folder or table.
        counts: whether it counts for the goals.
        prompt: tokens of a prompt that ``seconds`` of generation contain too.
        fused: whether attention was fused (flash attention).
    """

    device: Device
    backend: str
    model: DecoderArchitecture
    form: WeightFormat
    phase: Phase
    tokens: int
    depth: int
    micro_batch: int
    seconds: float
    source: str
    counts: bool = True
    prompt: int = 0
    fused: bool = False

    @property
    def tokens_per_s(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


@dataclass(frozen=True, slots=True)
class Published:
    """The rates, and the number of rows that are not used by reason."""

    rates: tuple[Rate, ...]
    unused: Mapping[str, int]


class _UnusedError(Exception):
    """Raised with the reason why a row is not used."""


def read_published(folder: Path, devices: Mapping[str, Device]) -> Published:
    """Read the rates of a data folder.

    Args:
        folder: with one folder a source.
        devices: the catalogue by id.

    Raises:
        InputError: a table is missing or damaged.
    """
    reader = _Reader(folder, devices)
    rates = [*_without_rising(list(reader.rates()), reader.unused)]
    return Published(tuple(rates), dict(reader.unused.most_common()))


class DeviceNames:
    """Devices of the catalogue by their names in tables.

    Args:
        devices: the catalogue by id.
    """

    def __init__(self, devices: Mapping[str, Device]) -> None:
        self._devices = devices
        with _ALIASES.open(encoding="utf-8", newline="") as file:
            self._aliases = {row["name"]: row for row in csv.DictReader(file)}

    def __contains__(self, name: str) -> bool:
        return name in self._aliases

    def device(self, name: str, cores: str = "", bandwidth: str = "") -> Device | None:
        """Return a device of the catalogue, its rates scaled to a number of cores."""
        alias = self._aliases.get(name)
        if alias is None or alias["device"] not in self._devices:
            return None
        device = self._devices[alias["device"]]
        cores, bandwidth = cores or alias["cores"], bandwidth or alias["bandwidth_gbps"]
        metrics = dict(device.metrics)
        usual = metrics.get("core_count")
        if cores and usual and float(cores) != usual:
            for metric in ("fp32_tflops", "fp16_tflops", "int8_tops", "core_count"):
                if metric in metrics:
                    metrics[metric] *= float(cores) / usual
        stated = metrics.get("dram_bw_gbps")
        # Within 3 % it is another rounding of the same memory.
        if bandwidth and (not stated or abs(float(bandwidth) / stated - 1) > 0.03):
            metrics["dram_bw_gbps"] = float(bandwidth)
        if metrics == dict(device.metrics):
            return device
        measured = {} if metrics["dram_bw_gbps"] != stated else device.measured
        label = f"{device.id}:{metrics.get('core_count', 0):g}:{metrics['dram_bw_gbps']:g}"
        return replace(device, id=label, metrics=metrics, measured=measured)


class _Reader:
    """Reads each table; counts what it does not use."""

    def __init__(self, folder: Path, devices: Mapping[str, Device]) -> None:
        self.folder = folder
        self.unused: Counter[str] = Counter()
        self._names = DeviceNames(devices)

    def rates(self) -> Iterator[Rate]:
        """Yield the rates of all tables."""
        llm = self.folder / "kernels" / "llm_rates"
        for path, read in (
            (llm / "xiongjie_llama_bench.csv", self._llama_bench),
            (llm / "llama_cpp_scoreboards_secondary.csv", self._scoreboard),
            (llm / "dgx_spark_llama_bench.csv", self._dgx_spark),
            (llm / "strix_halo_llama_bench.csv", self._strix_halo),
            (llm / "geerling_ai_benchmarks.csv", self._geerling),
            (llm / "mlc_llm_perf_bench.csv", self._mlc),
            (
                self.folder / "kernels" / "llm_serving" / "argonne_llm_inference_bench.csv.gz",
                self._argonne,
            ),
            (self.folder / "aihub" / "llm_rates.csv", self._aihub),
            (_SERVERS, self._server),
        ):
            for row in read_rows(path, ()):
                try:
                    yield from read(row)
                except _UnusedError as reason:
                    self.unused[f"{path.stem}: {reason}"] += 1

    def _device(self, name: str, cores: str = "", bandwidth: str = "") -> Device:
        device = self._names.device(name, cores, bandwidth)
        if device is None:
            raise _UnusedError("a device whose facts are not in the catalogue")
        return device

    def _llama_bench(self, row: Row) -> Iterator[Rate]:
        name = row["gpu"]
        if "walkthrough" in name:
            raise _UnusedError("a demonstration on a card that is not named")
        if re.search(r"_\d_v3$", name):
            raise _UnusedError("several cards")
        if name == "M1_8GB":
            raise _UnusedError("does not fit in the memory")
        test = re.fullmatch(r"(pp|tg) ?(\d+)", row["test"])
        if test is None:
            raise _UnusedError("prompt and generation together")
        model = MODELS["Llama-3-70B" if "70B" in row["model"] else "Llama-3-8B"]
        form = "f16" if "F16" in row["model"] else "q4_k_m"
        device = self._device(name.removesuffix("_v3"))
        yield _llama_cpp(device, row["backend"], model, form, test, row.positive("tokens_per_s"))

    def _scoreboard(self, row: Row) -> Iterator[Rate]:
        device = self._device(row["device"], row["gpu_cores"], row["stated_bw_gbs"])
        form = row["model"].split()[-1]
        test = re.fullmatch(r"(pp|tg)(\d+)", row["test"])
        model = MODELS["Llama-2-7B"]
        yield _llama_cpp(device, row["backend"], model, form, test, row.positive("tokens_per_s"))

    def _dgx_spark(self, row: Row) -> Iterator[Rate]:
        model, form = _model_and_form(row["model"])
        test = re.fullmatch(r"(pp|tg)(\d+)", row["test"])
        device, rate = self._device(row["device"]), row.positive("tokens_per_s")
        one = _llama_cpp(device, row["backend"], model, form, test, rate)
        fused = row["flash_attn"] == "1"
        yield replace(one, depth=int(row["context_depth"]), micro_batch=2048, fused=fused)

    def _strix_halo(self, row: Row) -> Iterator[Rate]:
        toolbox = row["file"].split("__")[1]
        if toolbox not in {"rocm-7_2_3", "vulkan_radv"}:
            raise _UnusedError("an older or another build beside the newest")
        model, form = _model_and_form(row["model"])
        if form == "bf16" and row["backend"] == "Vulkan":
            raise _UnusedError("bfloat16, which Vulkan emulates, stands for no float16")
        test = re.fullmatch(r"(pp|tg)(\d+)(?: @ d(\d+))?", row["test"])
        rate = row.positive("tokens_per_s")
        one = _llama_cpp(self._device(row["device"]), row["backend"], model, form, test, rate)
        depth = int(test[3] or 0) if test else 0
        size = 2048 if depth else 512
        yield replace(one, depth=depth, micro_batch=size)

    def _geerling(self, row: Row) -> Iterator[Rate]:
        is_cpu = row["unit"] == "CPU"
        both = f"{row['system']} CPU"  # systems that were measured on their GPU too
        device = self._device(both if is_cpu and both in self._names else row["system"])
        model, form = _model_and_form(row["model"])
        if is_cpu is not (device.family in CPUS):
            raise _UnusedError("a device whose facts are not in the catalogue")
        backend = "CPU" if is_cpu else _OLLAMA.get(device.vendor, "CUDA")
        # ollama answers a short question: some 300 tokens.
        test = re.fullmatch(r"(tg)(\d+)", "tg256")
        yield _llama_cpp(device, backend, model, form, test, row.positive("eval_tokens_per_s"))

    def _mlc(self, row: Row) -> Iterator[Rate]:
        if "Single" not in row["section"]:
            raise _UnusedError("several cards")
        if row["engine"] != "MLC LLM":
            raise _UnusedError("an engine of 2023 beside MLC")
        test = re.fullmatch(r"(tg)(\d+)", "tg256")
        rate = row.positive("tokens_per_s")
        device = self._device(row["gpu"])
        one = _llama_cpp(device, "mlc", MODELS[row["model"].replace("Llama2", "Llama-2")],
                         "q4f16", test, rate)  # fmt: skip
        yield replace(one, counts=False)

    def _argonne(self, row: Row) -> Iterator[Rate]:
        if row["batch"] != "1" or row["n"] != "1":
            raise _UnusedError("several sequences or cards")
        backend = _SERVING.get(row["framework"])
        if backend is None:
            raise _UnusedError("a framework that is not modelled")
        model = MODELS.get(_SERVED.get(row["model"].split("/")[-1], ""))
        if model is None:
            raise _UnusedError("a model whose configuration is not here")
        device = self._device(row["hardware"])
        tokens = int(row["input_output_length"])
        if row.positive("latency_s") / tokens < _LEAST_S_A_TOKEN:
            raise _UnusedError("faster than the memory: a slip of the source")
        seconds, form = row.positive("latency_s"), weight_format("f16")
        if backend == "llama.cpp":
            # Its prompts were passed token by token: on an A100, prompt and answer together are
            # 53 tokens a second where llama-bench generates 55; the answer alone would be 27.
            backend = "rocm" if device.vendor == "AMD" else "cuda"
            prompt, tokens = 0, 2 * tokens
        else:
            backend, prompt = serving_backend(backend, device), tokens
        yield Rate(
            device, backend, model, form, Phase.DECODE, tokens, prompt, 0, seconds, "argonne",
            counts=False, prompt=prompt, fused=backend in FUSING and prompt > 0,
        )  # fmt: skip

    def _aihub(self, row: Row) -> Iterator[Rate]:
        model = MODELS.get(_GENIE.get(row["model_id"], ""))
        if model is None:
            raise _UnusedError("a model whose configuration is not here")
        if row["precision"] != "w4a16":
            raise _UnusedError("another precision")
        device, form = self._device(row["device"]), weight_format("int4-128")
        shared = (device, "genie", model, form)
        yield Rate(*shared, Phase.DECODE, 128, 128, 128, 128 / row.positive("tokens_per_second"),
                   "aihub", counts=False, fused=True)  # fmt: skip
        if row["context_length"] == "4096":
            yield Rate(*shared, Phase.PREFILL, 128, 0, 128, row.positive("ttft_min_ms") / 1000,
                       "aihub", counts=False, fused=True)  # fmt: skip

    def _server(self, row: Row) -> Iterator[Rate]:
        device, rate = self._device(row["device"]), row.positive("tokens_per_s")
        test = re.fullmatch(r"(pp|tg)(\d+)", row["test"])
        one = _llama_cpp(device, "CPU", MODELS[row["model"]], row["form"], test, rate)
        # Prompts of one processor do not stand for those of all.
        yield replace(one, counts=one.phase is Phase.DECODE)


def serving_backend(name: str, device: Device) -> str:
    """Return the backend of a server on a device: vLLM has kernels of its own for AMD."""
    return f"{name}-rocm" if device.vendor == "AMD" and name == "vllm" else name


_OLLAMA: Final = {"AMD": "ROCm", "Apple": "Metal"}
_SERVING: Final = {"vLLM": "vllm", "TensorRT-LLM": "tensorrt-llm", "llama.cpp": "llama.cpp"}
_SERVED: Final = {
    "Mistral-7B-v0.1": "Mistral-7B",
    "Llama-2-7b-hf": "Llama-2-7B",
    "Meta-Llama-3-8B": "Llama-3-8B",
    "Qwen2-7B": "Qwen2-7B",
    "Mixtral-8x7B-v0.1": "Mixtral-8x7B",
    "Meta-Llama-3-70B": "Llama-3-70B",
}
_GENIE: Final = {
    "llama_v2_7b_chat": "Llama-2-7B",
    "llama_v3_8b_instruct": "Llama-3-8B",
    "llama_v3_1_8b_instruct": "Llama-3-8B",
    "llama_v3_2_3b_instruct": "Llama-3.2-3B",
    "llama_v3_2_1b_instruct": "Llama-3.2-1B",
    "mistral_7b_instruct_v0_3": "Mistral-7B",
    "qwen2_7b_instruct": "Qwen2-7B",
}
_LEAST_S_A_TOKEN: Final = 0.0005
_NAMES: Final = (
    ("qwen2 7B", "Qwen2-7B"),
    ("DeepSeek R1 14b", "Qwen2.5-14B"),
    ("Llama 3.2:3b", "Llama-3.2-3B"),
    ("Llama 3.1:70b", "Llama-3-70B"),
    ("Llama 3.1:405b", "Llama-3.1-405B"),
    ("gemma3 4B", "Gemma-3-4B"),
    ("gpt-oss 20", "gpt-oss-20B"),
    ("gpt-oss 120", "gpt-oss-120B"),
    ("qwen3moe 30B", "Qwen3-30B-A3B"),
    ("mistral3 14B", "Ministral-3-14B"),
    ("llama 7B", "Llama-2-7B"),
)
_FORMS: Final = (("Q8_0", "q8_0"), ("Q4_0", "q4_0"), ("MXFP4", "mxfp4"), ("BF16", "bf16"))


def _model_and_form(name: str) -> tuple[DecoderArchitecture, str]:
    """Return the model and format that a table names; ollama's usual ones without a format."""
    model = next((to for start, to in _NAMES if name.startswith(start)), None)
    if model is None:
        raise _UnusedError("a model whose configuration is not here")
    usual = "mxfp4" if model.startswith("gpt-oss") else "q4_k_m"
    return MODELS[model], next((form for text, form in _FORMS if text in name), usual)


def _llama_cpp(
    device: Device,
    backend: str,
    model: DecoderArchitecture,
    form: str,
    test: re.Match[str] | None,
    rate: float,
) -> Rate:
    if test is None:
        raise _UnusedError("a test that is neither prompt nor generation")
    phase = Phase.PREFILL if test[1] == "pp" else Phase.DECODE
    tokens = int(test[2])
    return Rate(
        device, backend.lower(), model, weight_format(form), phase, tokens, 0, 512, tokens / rate,
        "llama.cpp", fused=backend.lower() in FUSING,
    )  # fmt: skip


_MOST_GROWTH: Final = 1.15


def _without_rising(rates: list[Rate], unused: Counter[str]) -> Iterator[Rate]:
    """Yield all but prompts whose rate grows with their length by more than 15 %.

    A longer prompt has more attention a token; where the rate grows none the less, the card was
    still loading or waking up (A100 SXM and L40S in F16, A40 with 70 B).
    """
    runs: dict[tuple[str, str, str, str], dict[int, float]] = {}
    for rate in rates:
        if rate.phase is Phase.PREFILL and not rate.depth:
            runs.setdefault(_run(rate), {})[rate.tokens] = rate.tokens_per_s
    rising = {
        run
        for run, of_length in runs.items()
        if of_length[max(of_length)] > _MOST_GROWTH * of_length[min(of_length)]
    }
    for rate in rates:
        if rate.phase is Phase.PREFILL and _run(rate) in rising:
            unused["prompt rates that grow with the prompt by more than 15 %"] += 1
        else:
            yield rate


def _run(rate: Rate) -> tuple[str, str, str, str]:
    return rate.device.id, rate.backend, rate.model.name, rate.form.name

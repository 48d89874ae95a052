"""A source is declared once, and everything else reads the declaration."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ctm_research import sources
from ctm_research.corpus.drafts import Sizes, collect
from ctm_research.published.collect import PUBLISHERS
from ctm_research.sources import (
    SOURCES,
    GraphFile,
    Sample,
    Source,
    Statistic,
    nas,
    ncnn,
    timm,
)
from ctm_research.training import loop
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration
from research.tests.data_folder import write_table

ROOT = Path(__file__).parents[3]


def test_each_module_of_the_package_is_a_source_or_a_helper() -> None:
    modules = {path.stem for path in Path(sources.__file__).parent.glob("*.py")}

    helpers = {"aliases", "built", "graphs", "published_rules", "samples", "source", "stated"}
    helpers |= {"tables"}

    alone = {name for name, source in SOURCES.items() if not source.folder}
    assert modules == {*alone, *helpers, "__init__", "published", "harvest"}
    assert [source.rank for source in SOURCES.values()] == list(range(1, len(SOURCES) + 1))


def test_listing_the_sources_loads_neither_torch_nor_onnx() -> None:
    check = "import sys, ctm_research.sources; sys.exit(bool({'onnx', 'torch'} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


def test_a_source_says_where_it_is_from() -> None:
    assert ncnn.SOURCE.publisher == "Tencent/ncnn, benchmark/README.md (BSD-3-Clause)"
    assert ncnn.SOURCE.origin == (
        "github.com/Tencent/ncnn, commit a4d2ea1d, benchmark/README.md; (c) 2017 Tencent"
    )
    assert SOURCES["xilinx_dpu"].origin.endswith("Model-Zoo, commits 38e23d8c and 7f3456b2")
    assert SOURCES["hailo"].origin == "github.com/hailo-ai/hailo_model_zoo"
    assert SOURCES["neusight"].publisher == "sitar-lab/NeuSight (MIT)"


def test_frame_rates_are_no_part_of_the_training_and_do_not_ship() -> None:
    assert not SOURCES["hailo"].shares
    assert not PUBLISHERS.keys() & {"hailo", "rknn"}
    assert sum(share.weight for share in loop.SHARES.values()) == pytest.approx(1.0)


def test_architectures_are_known_by_one_name(tmp_path: Path) -> None:
    modules = ("resnet", "resnetv2", "vision_transformer", "deit")
    write_table(
        tmp_path / "timm/graphs.csv", *({"file": module, "family": module} for module in modules)
    )
    of_ncnn, of_timm = ncnn.families(tmp_path), timm.families(tmp_path)

    def of_module(name: str) -> str:
        return of_timm[GraphFile(tmp_path / "timm/graphs.zip", f"graphs/{name}")]

    assert of_ncnn[ncnn.graph_file(tmp_path, "resnet50")] == of_module("resnetv2") == "resnet"
    assert of_ncnn[ncnn.graph_file(tmp_path, "vision_transformer")] == of_module("deit")
    assert of_ncnn[ncnn.graph_file(tmp_path, "mobilenet_ssd")] == nas.FAMILIES["fbnet"]


def test_a_device_that_the_catalogue_lacks_is_of_the_kind_that_its_source_says() -> None:
    assert ncnn.SOURCE.unlisted_family("ncnn-vulkan") is Family.MOBILE_GPU
    assert SOURCES["aihub"].unlisted_family("tflite") is Family.NPU
    assert timm.SOURCE.unlisted_family("pytorch") is Family.CPU


def declared(data: Path, families: dict[GraphFile, str]) -> Source:
    """Return a source that no module of the package has, with a graph of its own."""
    graph = GraphFile(data / "bench" / "net.onnx")
    sample = Sample(
        *("bench", "latencies.csv", 2, "net", graph, 1, "some board", ""),
        *(Configuration("tflite", batch=1), 5.0, Statistic.MEDIAN, "someone/bench"),
    )
    return Source(
        name="bench",
        rank=99,
        title="Bench",
        repository="someone/bench",
        licence="MIT",
        files=("latencies.csv",),
        row="a median",
        samples=lambda _: iter([sample]),
        families=lambda _: families,
        unlisted={"": Family.MOBILE_CPU},
    )


@pytest.mark.parametrize("known", [True, False])
def test_its_rows_are_in_the_corpus_where_its_graphs_have_a_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    (tmp_path / "bench").mkdir()
    graph = GraphFile(tmp_path / "bench" / "net.onnx")
    source = declared(tmp_path, {graph: "resnet"} if known else {})
    for module in ("ctm_research.sources", "ctm_research.corpus.drafts"):
        monkeypatch.setattr(f"{module}.SOURCES", {**SOURCES, "bench": source})

    if not known:
        with pytest.raises(InputError, match="family of architectures of net is not known"):
            collect(tmp_path, Sizes())
        return
    [row] = collect(tmp_path, Sizes()).rows
    assert (row.source, row.family, row.target.family) == ("bench", "resnet", Family.MOBILE_CPU)


def test_the_page_of_the_corpus_lists_them() -> None:
    page = (ROOT / "research" / "docs" / "corpus.md").read_text(encoding="utf-8")
    table = page.partition("| folder | published at |")[2].partition("\n\n")[0]

    assert table.splitlines()[2:] == [
        f"| `{s.name}` | {s.repository} ({s.licence}) | "
        f"{', '.join(f'`{file}`' for file in s.files)} | {s.row} | "
        f"{'medians' if s.ships is not None else 'what was learned' if s.shares else 'no'} |"
        for s in SOURCES.values()
    ]

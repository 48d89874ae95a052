"""ncnn's published benchmark: small image networks on phones, boards, processors and GPUs.

Source: ``Tencent/ncnn``, benchmark/README.md. One image a run. The fastest of each run's
repetitions is taken: the mean is noisy in some runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Share, Source
from predictor.research.sources.tables import Row, read_rows

NAME = "ncnn"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("device_id", "backend", "num_threads", "powersave", "model", "min_ms", "run_id"),
    *("variant", "readme_date", "flags", "src_line"),
)
_NETWORK_COLUMNS = ("model", "precision", "graph")

# Catalogue ids by device and backend; a device that is not here is not in the catalogue.
DEVICES: dict[tuple[str, str], str] = {
    ("amlogic_s805", "cpu"): "amlogic-s805",
    ("arduino_uno_q_qrb2210", "cpu"): "qrb2210-cpu",
    ("atom_x5_z8350", "cpu"): "atom-x5-z8350",
    ("atom_x5_z8350", "vulkan"): "hd-graphics-z8350",
    ("avaota_t527", "cpu"): "avaota-a1-cpu",
    ("aws_c5_4xlarge", "cpu"): "xeon-platinum-8124m",
    ("axera_ax620a", "cpu"): "ax620a-cpu",
    ("axera_ax630c", "cpu"): "ax630c-cpu",
    ("azure_d64as_v7", "cpu"): "epyc-9v45",
    ("azure_d64ps_v6", "cpu"): "azure-cobalt-100",
    ("azure_d64s_v6", "cpu"): "azure-d64s-v6",
    ("bananapi_m2zero_h2plus", "cpu"): "allwinner-h2-plus",
    ("beaglev_ahead_th1520", "vulkan"): "th1520-gpu",
    ("celeron_m420", "cpu"): "celeron-m-420",
    ("celeron_n5105", "cpu"): "celeron-n5105",
    ("celeron_n5105", "vulkan"): "uhd-24eu-n5105",
    ("cvitek_sg2000", "cpu"): "sg2000-cpu",
    ("dimensity9300_mt6989", "cpu"): "dimensity-9300",
    ("dimensity9300_mt6989", "vulkan"): "dimensity-9300-mali",
    ("eaidk310_rk3228h", "cpu"): "rk3228h-cpu",
    ("hi3519v101", "cpu"): "hi3519v101",
    ("hyperv_gtx1050ti", "vulkan"): "gtx1050-ti",
    ("hyperv_i7_11800h", "cpu"): "core-i7-11800h",
    ("hyperv_i7_7700k", "cpu"): "core-i7-7700k",
    ("hyperv_rtx3070_laptop", "vulkan"): "rtx3070-laptop",
    ("hyperv_uhd_i7_11800h", "vulkan"): "uhd-xe-i7-11800h",
    ("imx7d", "cpu"): "imx7d",
    ("ingenic_t40xp", "cpu"): "ingenic-t40xp",
    ("iphone5s_a7", "cpu"): "iphone-5s-cpu",
    ("iphone5s_a7", "vulkan"): "iphone-5s-gpu",
    ("jetson_agx_orin", "cpu"): "jetson-agx-orin-cpu",
    ("jetson_agx_orin", "vulkan"): "jetson-agx-orin-gpu",
    ("jetson_agx_xavier", "cpu"): "jetson-agx-xavier-cpu",
    ("jetson_agx_xavier", "vulkan"): "jetson-agx-xavier-gpu",
    ("jetson_nano", "cpu"): "jetson-nano-cpu",
    ("jetson_nano", "vulkan"): "jetson-nano-gpu",
    ("jetson_orin_nano", "cpu"): "jetson-orin-nano-cpu",
    ("jetson_orin_nano", "vulkan"): "jetson-orin-nano-gpu",
    ("khadas_vim3_a311d", "cpu"): "khadas-vim3-cpu",
    ("khadas_vim3_a311d", "vulkan"): "khadas-vim3-mali",
    ("kirin970", "cpu"): "mate-10-pro-cpu",
    ("kirin970", "vulkan"): "mate-10-pro-mali",
    ("kunpeng920_2251k", "cpu"): "kunpeng-920-2251k",
    ("kunpeng920_3211k", "cpu"): "kunpeng-920-3211k",
    ("kunpeng920_7260", "cpu"): "kunpeng-920-7260",
    ("loongson_2k1000", "cpu"): "loongson-2k1000",
    ("loongson_2k2000", "cpu"): "loongson-2k2000",
    ("loongson_3a3000", "cpu"): "loongson-3a3000",
    ("loongson_3a4000", "cpu"): "loongson-3a4000",
    ("loongson_3a5000", "cpu"): "loongson-3a5000",
    ("loongson_3a6000", "cpu"): "loongson-3a6000",
    ("macbookair13_m3", "cpu"): "apple-m3-cpu",
    ("macbookair13_m3", "vulkan"): "macbook-air-13-m3-gpu",
    ("macbookpro13_m1", "cpu"): "apple-m1-cpu",
    ("macbookpro13_m1", "vulkan"): "apple-m1-gpu",
    ("macbookpro15_2019", "cpu"): "core-i7-9750h",
    ("macbookpro15_2019_radeon555x", "vulkan"): "radeon-pro-555x",
    ("macbookpro15_2019_uhd630", "vulkan"): "uhd-630-i7-9750h",
    ("musepipro_spacemit_m1", "cpu"): "spacemit-m1-cpu",
    ("musepipro_spacemit_m1", "vulkan"): "spacemit-m1-gpu",
    ("myir_remipi_rzg2l", "cpu"): "rzg2l-cpu",
    ("nanopi_r2s_rk3328", "cpu"): "rk3328-cpu",
    ("orangepi4lts_rk3399", "cpu"): "rk3399-cpu",
    ("orangepi5_rk3588s", "cpu"): "rk3588-cpu",
    ("orangepi5plus_rk3588", "cpu"): "rk3588-cpu",
    ("orangepi_zero2_h616", "cpu"): "orange-pi-zero-2",
    ("orangepicm4_rk3566", "cpu"): "rk3566-cpu",
    ("phytium_ft2000_4", "cpu"): "phytium-ft2000-4",
    ("phytium_ft2000plus_64", "cpu"): "phytium-ft2000-plus-64",
    ("phytiumpi_e2000", "cpu"): "phytium-e2000q",
    ("quadro_rtx8000", "vulkan"): "quadro-rtx-8000",
    ("radeon_rx6900xt", "vulkan"): "rx6900-xt",
    ("radxa_orion_o6", "cpu"): "orion-o6-cpu",
    ("radxa_orion_o6", "vulkan"): "orion-o6-mali",
    ("radxa_zero3w", "cpu"): "radxa-zero-3w-cpu",
    ("rdk_x3", "cpu"): "rdk-x3-cpu",
    ("rk3288", "cpu"): "rk3288-cpu",
    ("rk3288", "vulkan"): "rk3288-mali",
    ("rk3399", "cpu"): "rk3399-cpu",
    ("rk3399", "vulkan"): "rk3399-mali",
    ("rk3588", "cpu"): "rk3588-cpu",
    ("rk3588", "vulkan"): "rk3588-mali",
    ("rock3a_rk3568", "cpu"): "rk3568-cpu",
    ("rock5b_rk3588", "cpu"): "rk3588-cpu",
    ("rpi3bplus_bcm2837b0", "cpu"): "rpi3b-plus",
    ("rpi5_bcm2712", "cpu"): "rpi5",
    ("rpi5_bcm2712", "vulkan"): "rpi5-videocore",
    ("rpi5_bcm2712_oc", "cpu"): "rpi5-overclocked",
    ("rpi5_bcm2712_oc", "vulkan"): "rpi5-overclocked-videocore",
    ("rpi_zero2w_bcm2710a1", "cpu"): "rpi-zero-2-w",
    ("rtx2060_notebook", "vulkan"): "rtx2060-mobile",
    ("rtx2080_desktop", "vulkan"): "rtx2080",
    ("rtx3090", "vulkan"): "rtx3090",
    ("rtxa3000_notebook", "vulkan"): "rtx-a3000-laptop",
    ("ryzen9_5950x", "cpu"): "ryzen-9-5950x",
    ("ryzen_5700g", "cpu"): "ryzen-7-5700g",
    ("ryzen_v1605b", "cpu"): "ryzen-embedded-v1605b",
    ("ryzen_v1605b", "vulkan"): "ryzen-embedded-v1605b-vega8",
    ("sd410_msm8916", "cpu"): "snapdragon-410",
    ("sd660_sdm660", "cpu"): "snapdragon-660",
    ("sd660_sdm660", "vulkan"): "snapdragon-660-gpu",
    ("sd675_msm6150", "cpu"): "snapdragon-675",
    ("sd765g_sdm765g", "cpu"): "snapdragon-765g",
    ("sd765g_sdm765g", "vulkan"): "snapdragon-765g-gpu",
    ("sd810_msm8994", "cpu"): "snapdragon-810",
    ("sd810_msm8994", "vulkan"): "snapdragon-810-gpu",
    ("sd821_msm8996pro", "cpu"): "snapdragon-821",
    ("sd835_msm8998", "cpu"): "snapdragon-835",
    ("sd835_msm8998", "vulkan"): "snapdragon-835-gpu",
    ("sd855plus_sm8150ac", "vulkan"): "snapdragon-855-plus-gpu",
    ("sd888", "cpu"): "snapdragon-888",
    ("sd888", "vulkan"): "snapdragon-888-gpu",
    ("sdxelite_x1e78100", "cpu"): "snapdragon-x-elite-x1e-78-100",
    ("sdxelite_x1e78100", "vulkan"): "snapdragon-x-elite-x1e-78-100-gpu",
    ("station_m2_rk3566", "cpu"): "rk3566-cpu",
    ("station_m2_rk3566", "vulkan"): "rk3566-mali",
    ("station_m3_rk3588s", "cpu"): "rk3588-cpu",
    ("station_m3_rk3588s", "vulkan"): "rk3588-mali",
    ("station_p2_rk3568", "cpu"): "rk3568-cpu",
    ("sunway_sw421", "cpu"): "sunway-sw421",
    ("sunway_sw831", "cpu"): "sunway-sw831",
    ("th1520_anolis", "cpu"): "th1520-cpu",
    ("threadripper_3970x", "cpu"): "threadripper-3970x",
    ("visionfive2_jh7110", "cpu"): "visionfive-2-cpu",
    ("visionfive2_jh7110", "vulkan"): "visionfive-2-gpu",
    ("xeonphi_3120a", "cpu"): "xeon-phi-3120a",
    ("z7lite_xc7z020", "cpu"): "xc7z020-cpu",
}

_RUNTIMES = {"cpu": "ncnn", "vulkan": "ncnn-vulkan"}
_LITTLE_CORES = "1"  # of the column powersave
# Runs in which the GPU stopped computing, by the line of the README from which on it shows.
_STOPPED = {"s029_r1": 2897}


# Family of architectures by name of the graph's file, as timm's modules. MobileNet 1 and 2, MnasNet
# and ProxylessNAS are in timm's module of EfficientNet.
_FAMILIES = {
    "FastestDet": "shufflenet",
    "alexnet": "alexnet",
    "blazeface": "blazeface",
    "efficientnet_b0": "efficientnet",
    "efficientnetv2_b0": "efficientnet",
    "googlenet": "googlenet",
    "mnasnet": "efficientnet",
    "mobilenet": "efficientnet",
    "mobilenet_ssd": "efficientnet",
    "mobilenet_v2": "efficientnet",
    "mobilenet_v3": "mobilenetv3",
    "mobilenet_yolo": "efficientnet",
    "mobilenetv2_yolov3": "efficientnet",
    "nanodet_m": "shufflenet",
    "proxylessnasnet": "efficientnet",
    "regnety_400m": "regnet",
    "resnet18": "resnet",
    "resnet50": "resnet",
    "shufflenet": "shufflenet",
    "shufflenet_v2": "shufflenet",
    "squeezenet": "squeezenet",
    "squeezenet_ssd": "squeezenet",
    "vgg16": "vgg",
    "vision_transformer": "vision_transformer",
    "yolo-fastest-1.1": "yolo-fastest",
    "yolo-fastestv2": "shufflenet",
    "yolov4-tiny": "yolov4-tiny",
}


def families(data: Path) -> Mapping[GraphFile, str]:
    """Return the family of architectures of each graph that the folder may hold."""
    return {graph_file(data, stem): family for stem, family in _FAMILIES.items()}


def graph_file(data: Path, stem: str) -> GraphFile:
    """Return where the graph of a name is."""
    return GraphFile(data / NAME / "graphs" / f"{stem}.onnx")


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: a table is missing or damaged.
    """
    folder = data / NAME
    networks = {row["model"]: row for row in read_rows(folder / "models.csv", _NETWORK_COLUMNS)}
    for row in read_rows(folder / _TABLE, _COLUMNS):
        if row["model"] not in networks:
            row.refuse("model", "a network of models.csv")
        if row["backend"] not in _RUNTIMES:
            row.refuse("backend", "cpu or vulkan")
        yield _sample(row, networks[row["model"]], folder)


def _sample(row: Row, network: Row, folder: Path) -> Sample:
    on_cpu = row["backend"] == "cpu"
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=GraphFile(folder / network["graph"]) if network["graph"] else None,
        batch_factor=1,
        device=f"{row['device_id']} {row['backend']}",
        device_id=DEVICES.get((row["device_id"], row["backend"]), ""),
        configuration=Configuration(
            runtime=_RUNTIMES[row["backend"]],
            # Float networks run in half precision where the device can; the source does not say
            # where. The physical bound of these runtimes allows for it.
            precision=Precision.INT8 if network["precision"] == "int8" else Precision.FP32,
            threads=row.count("num_threads") if on_cpu else 0,
            batch=1,
        ),
        latency_ms=row.positive("min_ms"),
        statistic=Statistic.MINIMUM,
        provenance=f"Tencent/ncnn, benchmark/README.md of {row['readme_date']}, "
        f"line {row['src_line']}, run {row['run_id']}",
        flags=tuple(filter(None, [*row["flags"].split(";"), row["variant"]])),
        excluded=_exclusion(row),
        doubt=_doubt(row),
    )


def _exclusion(row: Row) -> str:
    if "int8_on_cpu" in row["flags"]:
        return "int8 network of a Vulkan run: the processor did the work"
    if row["powersave"] == _LITTLE_CORES:
        return "run on the little cores only, which a configuration cannot say"
    return ""


def _doubt(row: Row) -> str:
    stopped = _STOPPED.get(row["run_id"])
    if stopped is None or row.count("src_line") < stopped:
        return ""
    return (
        "the GPU did not compute: in this run the times fall at once from 10.6 ms, for "
        "proxylessnasnet, to 2.15 ms, for efficientnet_b0 with more MACs, and stay there; the "
        "vision transformer, 31 times the MACs of squeezenet, takes 0.32 ms and squeezenet before "
        "it 7.83 ms; the int8 networks between them, which the processor ran, show nothing of it"
    )


SOURCE = Source(
    name=NAME,
    rank=1,
    title="ncnn benchmark",
    repository="Tencent/ncnn",
    commits=("a4d2ea1d",),
    licence="BSD-3-Clause",
    notice=", benchmark/README.md; (c) 2017 Tencent",
    files=(_TABLE, "models.csv", "graphs/*.onnx"),
    row="the fastest of a run's repetitions, batch 1",
    ships="benchmark/README.md",
    samples=samples,
    families=families,
    shares={NAME: Share(0.30, 12, 16)},
    names=(DEVICES, _FAMILIES),
    spreads=(("min_ms", "avg_ms"),),
    unlisted={"ncnn": Family.MOBILE_CPU, "ncnn-vulkan": Family.MOBILE_GPU},
)

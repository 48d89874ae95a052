"""Silicon from the catalogue, held against groups that were once listed by hand."""

from __future__ import annotations

import pytest

from ctm_research.corpus.silicon import one_cluster, silicon_key
from predictor.core.errors import InputError
from predictor.devices.catalogue import load_device_files
from research.tests.corpus.small_corpus import catalogue

# Devices that a person judged to be of one silicon, by its name then.
GROUPS = {
    # Processors of phones and boards, by their fastest cores.
    "cortex-a7": "allwinner-h2-plus ax620a-cpu imx7d",
    "cortex-a17": "hi3519v101 rk3288-cpu",
    "cortex-a53": "ax630c-cpu coral-dev-board-cpu orange-pi-zero-2 qrb2210-cpu rdk-x3-cpu "
    "rk3228h-cpu rk3328-cpu rpi-zero-2-w rpi3b rpi3b-plus snapdragon-410",
    "cortex-a55": "avaota-a1-cpu radxa-zero-3w-cpu rk3566-cpu rk3568-cpu rzg2l-cpu",
    "cortex-a57": "jetson-nano-cpu snapdragon-810",
    "cortex-a72": "rk3399-cpu rpi4",
    "cortex-a73": "essential-ph-1 hikey960-cpu khadas-vim3-cpu mate-10-pro-cpu pixel-2 "
    "samsung-a50 snapdragon-660 snapdragon-835",
    "cortex-a75": "pixel-3 snapdragon-845",
    "cortex-a76": "rk3588-cpu rpi5 rpi5-overclocked snapdragon-675 snapdragon-765g "
    "snapdragon-855 snapdragon-855-plus",
    "cortex-a78": "jetson-agx-orin-cpu jetson-orin-nano-cpu jetson-orin-nx-16gb-cpu",
    "cortex-x4": "dimensity-9300 snapdragon-8-gen-3",
    "cortex-a720": "orion-o6-cpu",
    # The S7 was sold with two chips; one of them is the 821's.
    "kryo-2016": "samsung-s7 snapdragon-821",
    "carmel": "jetson-agx-xavier-cpu",
    # Other processors.
    "apple-m1-cpu": "apple-m1-cpu",
    "haswell": "xeon-e5-1650-v3 xeon-e5-2650-v3",
    "skylake-client": "core-i7-7700k core-i7-9750h",
    "skylake-server": "core-i9-10940x xeon-gold-6226 xeon-gold-6240 xeon-gold-6248 "
    "xeon-gold-6248-x2 xeon-platinum-8124m xeon-platinum-8255c-x4 xeon-platinum-8276 "
    "xeon-platinum-8276-x2 xeon-platinum-8280 xeon-platinum-9282 xeon-platinum-9282-x2 "
    "xeon-silver-4114 xeon-silver-4210r",
    "sunny-cove": "core-i3-1005g1 core-i7-1165g7 core-i7-11800h xeon-platinum-8380",
    "golden-cove": "azure-d64s-v6 core-i9-12900k core-i9-13900k xeon-platinum-8480-plus",
    "zen2": "epyc-7742 threadripper-3970x",
    "zen3": "epyc-7763 ryzen-7-5700g ryzen-9-5950x",
    "zen4": "epyc-9654 ryzen-7-8845hs ryzen-9-7950x",
    "zen5": "epyc-9v45 ryzen-7-9700x ryzen-9-9950x",
    "neoverse-n1": "ampere-altra-q80-30 graviton2",
    "taishan-v110": "kunpeng-920-2251k kunpeng-920-3211k kunpeng-920-7260",
    "ftc66x": "phytium-e2000q phytium-ft2000-4 phytium-ft2000-plus-64",
    "sw64": "sunway-sw421 sunway-sw831",
    "spacemit-x60": "spacemit-k1-cpu spacemit-m1-cpu",
    # GPUs, by die. A10G and A10 are cut from the one of RTX 3090.
    "gm20b": "jetson-nano-gpu",
    "gp102": "gtx1080-ti tesla-p40 titan-x titan-x-pascal titan-xp",
    "gp104": "gtx1080 tesla-p4",
    "gv100": "tesla-v100 tesla-v100-pcie-16gb tesla-v100-pcie-32gb tesla-v100-sxm2-16gb "
    "tesla-v100-sxm2-32gb",
    "gv11b": "jetson-agx-xavier-gpu jetson-xavier-nx-gpu",
    "tu102": "quadro-rtx-8000 rtx2080-ti titan-rtx",
    "tu104": "rtx2080 tesla-t4",
    "tu106": "rtx2060 rtx2060-mobile rtx2070",
    "ga100": "a100-pcie-40gb a100-pcie-80gb a100-sxm4-40gb a100-sxm4-80gb a30",
    "ga102": "a10 a10g a40 rtx-a6000 rtx3080 rtx3080-ti rtx3090 rtx3090-ti",
    "ga104": "rtx-a3000-laptop rtx-a4000 rtx3060-ti rtx3070 rtx3070-laptop",
    "ga10b": "jetson-agx-orin-32gb-gpu jetson-agx-orin-gpu jetson-orin-nano-4gb-gpu "
    "jetson-orin-nano-gpu jetson-orin-nano-super-gpu jetson-orin-nx-16gb-gpu "
    "jetson-orin-nx-8gb-gpu",
    "ad102": "l40 l40s rtx4090 rtx6000-ada",
    "ad103": "rtx4080 rtx4090-laptop",
    "ad104": "l4 rtx4070 rtx4070-ti",
    "ad107": "rtx4060",
    "gb202": "rtx-pro-6000 rtx-pro-6000-max-q rtx5090",
    "gb203": "rtx5070-ti rtx5080",
    "gb206": "rtx5060 rtx5060-ti",
    "gh100": "h100-nvl h100-pcie h100-sxm h200-sxm",
    "cdna2": "mi210 mi250 mi250x",
    "cdna3": "mi300x mi325x",
    "apple-m1-gpu": "apple-m1-gpu apple-m1-max-gpu apple-m1-pro-gpu apple-m1-ultra-gpu",
    "apple-m3-gpu": "apple-m3-gpu macbook-air-13-m3-gpu",
    "xe-lp": "iris-xe-i7-1165g7 uhd-xe-i7-11800h",
    "adreno-500": "snapdragon-660-gpu snapdragon-835-gpu",
    "adreno-600": "snapdragon-765g-gpu snapdragon-855-plus-gpu snapdragon-888-gpu",
    "powervr-b-series": "spacemit-m1-gpu th1520-gpu visionfive-2-gpu",
    "rpi5-videocore": "rpi5-overclocked-videocore rpi5-videocore",
    "mali-g52": "khadas-vim3-mali rk3566-mali",
    "mali-g720": "dimensity-9300-mali orion-o6-mali",
    # Accelerators.
    "edge-tpu": "coral-dev-board-edgetpu coral-m2-accelerator coral-usb-accelerator",
    "hailo-8": "hailo-8 hailo-8l",
    "hailo-10": "hailo-10h hailo-15h hailo-15l",
    "hexagon-iq": "iq-8275-npu iq-9075-npu sa8775p-npu",
    "rockchip-rv11": "rv1109-npu rv1126-npu",
    "dpu-zynq": "ultra96-dpu zcu102-dpu zcu104-dpu",
    "dpu-alveo-v1": "alveo-u200-dpu alveo-u250-dpu",
}

# Groups that the catalogue divides.
DIVIDED = {
    "golden-cove": "server cores have twice the FMA lanes, and AMX, as between Skylake's two",
    "sunny-cove": "server cores have twice the FMA lanes",
    "hailo-10": "chips of their own, of one design",
    "hexagon-iq": "of two versions of Hexagon",
    "rockchip-rv11": "the silicon of an NPU is its chip, and they are sold as two",
    "dpu-zynq": "sizes of the engine are architectures of their own",
    "gp102": "titan-x stands for boards of two dies, and states neither",
    "kryo-2016": "samsung-s7 stands for two chips, and states neither",
}


def test_devices_of_one_silicon_stay_together() -> None:
    devices = catalogue()
    parts = {
        key: {silicon_key(device) for device in members.split()} for key, members in GROUPS.items()
    }

    assert [d for members in GROUPS.values() for d in members.split() if d not in devices] == []
    assert {key for key, part in parts.items() if len(part) > 1} == DIVIDED.keys()


def test_groups_of_other_silicon_stay_apart() -> None:
    keys = [
        {silicon_key(device) for device in members.split()}
        for name, members in GROUPS.items()
        if name not in DIVIDED
    ]

    joined = sorted(key for part in keys for key in part)
    assert len(joined) == len(set(joined))


def test_a_device_that_the_catalogue_lacks_is_silicon_of_its_own() -> None:
    assert silicon_key("a-device-of-the-user") == "a-device-of-the-user"


def test_slower_cores_are_a_device_of_their_own() -> None:
    device = {e.device.id: e.device for e in load_device_files()}["snapdragon-855"]

    fastest, middle, slow = (one_cluster(device, n) for n in range(3))

    assert fastest is device
    assert (middle.core_count, slow.core_count) == (3, 4)
    assert middle.metric("clock_mhz") == device.clusters[1].clock_mhz
    rates = [one_cluster(device, n).metrics["fp32_tflops"] for n in (1, 2)]
    assert sum(rates) < device.metrics["fp32_tflops"]
    assert rates[0] == pytest.approx(rates[1] * 3 * 2420 * 8 / (4 * 1800 * 4))
    assert [silicon_key("snapdragon-855", n) for n in range(3)] == [
        *("cortex-a76", "cortex-a76", "cortex-a55"),
    ]


def test_a_kind_of_cores_that_a_device_lacks_is_refused() -> None:
    device = {e.device.id: e.device for e in load_device_files()}["rpi5"]

    with pytest.raises(InputError, match="it has 1 kinds of cores, a source ran on kind 1"):
        one_cluster(device, 1)

"""Processors as Windows and macOS describe them."""

from __future__ import annotations

# HKEY_LOCAL_MACHINE\HARDWARE\DESCRIPTION\System\CentralProcessor\0
KABY_LAKE = {
    "Identifier": "Intel64 Family 6 Model 158 Stepping 9",
    "ProcessorNameString": "Intel(R) Core(TM) i7-7700K CPU @ 4.20GHz",
    "VendorIdentifier": "GenuineIntel",
    "~MHz": 4200,
}

M1 = """\
hw.ncpu: 8
hw.physicalcpu: 8
hw.cpufamily: 458787763
hw.nperflevels: 2
hw.perflevel0.physicalcpu: 4
hw.perflevel0.l1dcachesize: 131072
hw.perflevel0.l2cachesize: 12582912
hw.perflevel1.physicalcpu: 4
hw.perflevel1.l1dcachesize: 65536
hw.perflevel1.l2cachesize: 4194304
hw.optional.AdvSIMD: 1
hw.optional.arm.FEAT_FP16: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_I8MM: 0
hw.optional.arm.FEAT_BF16: 0
machdep.cpu.brand_string: Apple M1
"""

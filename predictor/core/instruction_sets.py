"""Instruction sets that a processor may have, and those that libraries of kernels are written for.

Device files, architectures and runtimes name them by the ids of this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """An instruction set with arithmetic of its own.

    Attributes:
        name: id of it.
        title: name for people.
        isa: family of processors that it is of, as the table of architectures names them; empty
            where it is of none.
        vector_bits: width of its registers; None where each processor has its own.
        fused: whether it multiplies and adds in one instruction.
        fp16, bf16, int8: rate of products over that of its FP32 vectors, as far as the number of
            its instructions says; None where it has none of its own.
        matrix: whether it drives a matrix unit.
    """

    name: str
    title: str
    isa: str
    vector_bits: int | None
    fused: bool = True
    fp16: float | None = None
    bf16: float | None = None
    int8: float | None = None
    matrix: bool = False


# Three instructions multiply and add as many bytes as a register holds (pmaddubsw, pmaddwd, paddd;
# smull, smlal, sadalp), which is 4 times the FP32 numbers that it holds: 4 / 3 of a fused FP32
# instruction, 8 / 3 of a multiplication and an addition apart.
_BYTES_IN_THREE: Final = 4 / 3

# By family of processors, each from the oldest on. Sources: Intel 64 and IA-32 Architectures
# Software Developer's Manual and Optimization Reference Manual (AMX: 1024 INT8 or 512 BF16
# multiply-adds a cycle beside 32 FP32 ones); Arm Architecture Reference Manual (A-profile); RISC-V
# "V" Vector Extension 1.0; LoongArch Reference Manual; MIPS SIMD Architecture Module.
_ROWS: Final = (
    InstructionSet("sse4", "SSE4.1", "x86", 128, fused=False, int8=2 * _BYTES_IN_THREE),
    # Its integers have 128 bits.
    InstructionSet("avx", "AVX", "x86", 256, fused=False, int8=_BYTES_IN_THREE),
    InstructionSet("avx2", "AVX2 and FMA", "x86", 256, int8=_BYTES_IN_THREE),
    InstructionSet("avx512", "AVX-512 (F, CD, BW, DQ, VL)", "x86", 512, int8=_BYTES_IN_THREE),
    InstructionSet("avx-vnni", "AVX-VNNI", "x86", 256, int8=4),
    InstructionSet("avx512-vnni", "AVX-512 VNNI", "x86", 512, int8=4),
    InstructionSet("avx512-bf16", "AVX-512 BF16", "x86", 512, bf16=2),
    InstructionSet("avx512-fp16", "AVX-512 FP16", "x86", 512, fp16=2),
    InstructionSet("amx-int8", "AMX INT8", "x86", 512, int8=32, matrix=True),
    InstructionSet("amx-bf16", "AMX BF16", "x86", 512, bf16=16, matrix=True),
    InstructionSet("neon", "Neon (Advanced SIMD)", "arm", 128, int8=_BYTES_IN_THREE),
    InstructionSet("fp16", "Neon with half arithmetic (Armv8.2)", "arm", 128, fp16=2),
    InstructionSet("dotprod", "Neon with dot products (SDOT)", "arm", 128, int8=4),
    InstructionSet("i8mm", "Neon with INT8 matrix products (SMMLA)", "arm", 128, int8=8),
    InstructionSet("bf16", "Neon with BF16 matrix products (BFMMLA)", "arm", 128, bf16=4),
    InstructionSet("sve", "SVE", "arm", None, fp16=2, int8=4),
    InstructionSet("sve2", "SVE2", "arm", None, fp16=2, int8=4),
    # Outer products in tiles; their rate is a fact of each design.
    InstructionSet("sme", "SME", "arm", None, matrix=True),
    InstructionSet("rvv", "RISC-V V", "riscv", None),
    InstructionSet("lsx", "LoongArch LSX", "loongarch", 128),
    InstructionSet("lasx", "LoongArch LASX", "loongarch", 256),
    InstructionSet("msa", "MIPS MSA", "mips", 128),
    InstructionSet("none", "no vectors", "", 32),
)

INSTRUCTION_SETS: Final[Mapping[str, InstructionSet]] = MappingProxyType(
    {row.name: row for row in _ROWS}
)

# Libraries of kernels, and the sets that their usual builds are written for; other processors run
# their plain C++. Each from the library's own source or documentation.
_AVX2: Final = frozenset({"sse4", "avx", "avx2"})
_VNNI: Final = _AVX2 | {"avx512", "avx-vnni", "avx512-vnni"}
_DOTPROD: Final = frozenset({"neon", "fp16", "dotprod"})
_ARMV8_6: Final = _DOTPROD | {"i8mm", "bf16"}
_LOONGARCH: Final = frozenset({"lsx", "lasx"})

# onnxruntime/core/mlas/lib/platform.cpp, cmake/onnxruntime_mlas.cmake. Vectors of RISC-V and SME
# only in builds that ask for them (MLAS_USE_RVV, USE_KLEIDIAI); SVE for activations, not products.
MLAS: Final = _VNNI | {"amx-int8"} | _ARMV8_6 | _LOONGARCH
# Tencent/ncnn, CMakeLists.txt (NCNN_AVX ... NCNN_RVV). Its SVE units keep the registers of Neon.
# sw_64, PowerPC, s390x and Xtensa have no kernels there.
NCNN: Final = _VNNI | {"avx512-bf16", "avx512-fp16"} | _ARMV8_6 | _LOONGARCH | {"rvv", "msa"}
# ARM-software/ComputeLibrary, filedefs.json and src/core/NEON/kernels/arm_gemm.
ARM_COMPUTE: Final = _ARMV8_6 | {"sve", "sve2", "sme"}
# oneDNN, "CPU dispatcher control" (ONEDNN_MAX_CPU_ISA). On Arm it and the CPU plugin of OpenVINO
# call the Compute Library (ONEDNN_AARCH64_USE_ACL; docs.openvino.ai, "Arm CPU device").
ONEDNN: Final = _VNNI | {"avx512-bf16", "avx512-fp16", "amx-int8", "amx-bf16"} | ARM_COMPUTE
# google/XNNPACK, README ("x86 and x86-64, up to AVX512") and src/configs/gemm-config.c. Vectors of
# RISC-V and SME only in builds that ask for them.
XNNPACK: Final = _VNNI | {"avx512-fp16"} | _DOTPROD | {"i8mm"}
# XNNPACK for floats, and QNNPACK for bytes, which has SSE2 and Neon only (pytorch/QNNPACK, README).
PYTORCH_MOBILE: Final = _AVX2 | {"avx512", "neon"}
# opencv/opencv, modules/dnn/CMakeLists.txt and layers/cpu_kernels; sse4, lsx and msa through its
# universal intrinsics.
OPENCV_DNN: Final = _AVX2 | {"avx512", "neon", "fp16", "rvv", "msa"} | _LOONGARCH
# alibaba/MNN, source/backend/cpu/x86_x64/CMakeLists.txt, source/backend/arm82. Vectors of RISC-V
# (MNN_USE_RVV) and SME2 (kleidiAI) only in builds that ask for them.
MNN: Final = _AVX2 | {"avx512", "avx512-vnni"} | _DOTPROD | {"i8mm"}
# PaddlePaddle/Paddle-Lite, lite/backends/x86/CMakeLists.txt (AVX2 at most), lite/backends/arm/math
# with its folders fp16 and dotprod.
PADDLE_LITE: Final = _AVX2 | _DOTPROD
# pypi.org/project/deepsparse, "hardware support": AVX2, AVX-512 and VNNI; later releases add Arm.
DEEPSPARSE: Final = _AVX2 | {"avx512", "avx512-vnni"} | _DOTPROD

// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products of a warp by tensor cores (sm_80 and later), and the loads of their fragments.
// Registers hold two 16-bit numbers each, the lower column or row in the lower half. With g = lane
// / 4 and t = lane % 4, of a product of 16 x K and K x 8 numbers a lane holds
//   A, register i: row g + 8 (i % 2), columns 2 t + 8 (i / 2) + {0, 1}
//   B, register i: rows 2 t + 8 i + {0, 1}, column g
//   C and D, float i: row g + 8 (i / 2), column 2 t + i % 2.
#pragma once

#include <cstdint>

#include "model/kernels/platform.cuh"

#if !defined(__CUDACC__)
#include "model/kernels/host_mma.h"
#endif

namespace relascope::core::kernels {

/// 16-bit formats: bfloat16 and IEEE half precision.
struct BFloat16 {};
struct Float16 {};

#if defined(__CUDACC__)

/// Two numbers, rounded to nearest even, as one register.
__device__ inline std::uint32_t packed(BFloat16, float low, float high) {
    std::uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}
__device__ inline std::uint32_t packed(Float16, float low, float high) {
    std::uint32_t bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

/// The numbers of a register.
struct Unpacked {
    float low, high;
};
__device__ inline Unpacked unpacked(BFloat16, std::uint32_t bits) {
    return {__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u)};
}
__device__ inline Unpacked unpacked(Float16, std::uint32_t bits) {
    Unpacked to;
    asm("{.reg .f16 low, high;\n"
        "mov.b32 {low, high}, %2;\n"
        "cvt.f32.f16 %0, low;\n"
        "cvt.f32.f16 %1, high;}"
        : "=f"(to.low), "=f"(to.high)
        : "r"(bits));
    return to;
}

#define RELASCOPE_MMA16(Format, name)                                                     \
    __device__ inline void mma16(Format, float(&d)[4], const std::uint32_t(&a)[4],        \
                                 const std::uint32_t(&b)[2]) {                            \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name               \
                     ".f32 "                                                              \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                     \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    }
#define RELASCOPE_MMA8(Format, name)                                              \
    __device__ inline void mma8(Format, float(&d)[4], const std::uint32_t(&a)[2], \
                                std::uint32_t b) {                                \
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." name "." name        \
                     ".f32 "                                                      \
                     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"        \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])             \
                     : "r"(a[0]), "r"(a[1]), "r"(b));                             \
    }
/// d += a b for a [16, 16] and b [16, 8].
RELASCOPE_MMA16(BFloat16, "bf16")
RELASCOPE_MMA16(Float16, "f16")
/// d += a b for a [16, 8] and b [8, 8].
RELASCOPE_MMA8(BFloat16, "bf16")
RELASCOPE_MMA8(Float16, "f16")
#undef RELASCOPE_MMA16
#undef RELASCOPE_MMA8

#define RELASCOPE_LDMATRIX(name, modifier)                                                  \
    __device__ inline void name(std::uint32_t(&to)[4], const void* row) {                   \
        const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));          \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" modifier                               \
                     ".shared.b16 {%0, %1, %2, %3}, [%4];"                                  \
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])                   \
                     : "r"(at)                                                              \
                     : "memory");                                                           \
    }                                                                                       \
    __device__ inline void name(std::uint32_t(&to)[2], const void* row) {                   \
        const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));          \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" modifier ".shared.b16 {%0, %1}, [%2];" \
                     : "=r"(to[0]), "=r"(to[1])                                             \
                     : "r"(at)                                                              \
                     : "memory");                                                           \
    }
/// Four (two) matrices [8, 8] of 16-bit numbers in shared memory. Lane 8 i + r gives the address of
/// row r of matrix i, a multiple of 16 bytes; of matrix i each lane gets row g, columns 2 t and
/// 2 t + 1. With two matrices the addresses of lanes 16 to 31 do not count, but must be valid.
RELASCOPE_LDMATRIX(loadMatrix, "")
/// Loads the transposed matrix: each lane gets rows 2 t and 2 t + 1, column g instead.
RELASCOPE_LDMATRIX(loadMatrixTransposed, ".trans")
#undef RELASCOPE_LDMATRIX

#else

inline std::uint32_t packed(BFloat16, float low, float high) {
    return hostBFloat16(low) | std::uint32_t{hostBFloat16(high)} << 16;
}
inline std::uint32_t packed(Float16, float low, float high) {
    return hostFloat16(low) | std::uint32_t{hostFloat16(high)} << 16;
}
struct Unpacked {
    float low, high;
};
inline Unpacked unpacked(BFloat16, std::uint32_t bits) {
    return {hostFromBFloat16(static_cast<std::uint16_t>(bits)),
            hostFromBFloat16(static_cast<std::uint16_t>(bits >> 16))};
}
inline Unpacked unpacked(Float16, std::uint32_t bits) {
    return {hostFromFloat16(static_cast<std::uint16_t>(bits)),
            hostFromFloat16(static_cast<std::uint16_t>(bits >> 16))};
}
inline void mma16(BFloat16, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  Where where = Where::current()) {
    hostMma(16, &hostFromBFloat16, d, a, b, where);
}
inline void mma16(Float16, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  Where where = Where::current()) {
    hostMma(16, &hostFromFloat16, d, a, b, where);
}
inline void mma8(BFloat16, float (&d)[4], const std::uint32_t (&a)[2], std::uint32_t b,
                 Where where = Where::current()) {
    hostMma(8, &hostFromBFloat16, d, a, &b, where);
}
inline void mma8(Float16, float (&d)[4], const std::uint32_t (&a)[2], std::uint32_t b,
                 Where where = Where::current()) {
    hostMma(8, &hostFromFloat16, d, a, &b, where);
}
template <std::size_t Count>
void loadMatrix(std::uint32_t (&to)[Count], const void* row, Where where = Where::current()) {
    hostLoadMatrix(static_cast<int>(Count), false, to, row, where);
}
template <std::size_t Count>
void loadMatrixTransposed(std::uint32_t (&to)[Count], const void* row,
                          Where where = Where::current()) {
    hostLoadMatrix(static_cast<int>(Count), true, to, row, where);
}

#endif

}  // namespace relascope::core::kernels

// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/kernels/host_mma.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace relascope::core::kernels {
namespace {

constexpr unsigned kAll = 0xffffffffu;

struct Fragments {
    const std::uint32_t *a, *b;
    const float* c;
};

std::uint16_t halfOf(std::uint32_t word, int which) {
    return static_cast<std::uint16_t>(word >> (16 * which));
}

// The numbers of A [16, depth] and B [depth, 8] that a lane holds go to their places, and the
// products D [16, 8] back.
void multiply(int depth, float (*number)(std::uint16_t), const HostLane* lanes) {
    double a[16][16], b[16][8];
    for (int lane = 0; lane < warpSize; ++lane) {
        const auto& own = *static_cast<const Fragments*>(lanes[lane].in);
        const int g = lane / 4, t = lane % 4;
        for (int e = 0; e < 2; ++e) {
            for (int i = 0; i < depth / 4; ++i)
                a[g + 8 * (i % 2)][2 * t + 8 * (i / 2) + e] = number(halfOf(own.a[i], e));
            for (int i = 0; i < depth / 8; ++i)
                b[2 * t + 8 * i + e][g] = number(halfOf(own.b[i], e));
        }
    }
    for (int lane = 0; lane < warpSize; ++lane) {
        const auto& own = *static_cast<const Fragments*>(lanes[lane].in);
        for (int i = 0; i < 4; ++i) {
            const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            double sum = own.c[i];
            for (int k = 0; k < depth; ++k) sum += a[row][k] * b[k][column];
            static_cast<float*>(lanes[lane].out)[i] = static_cast<float>(sum);
        }
    }
}

float widenedFloat16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size = exponent == 0 ? std::ldexp(float(fraction), -24)
                               : std::ldexp(float(fraction + 1024), exponent - 25);
    if (exponent == 31) size = fraction ? NAN : INFINITY;
    return bits & 0x8000u ? -size : size;
}

}  // namespace

std::uint16_t hostBFloat16(float x) {
    const unsigned bits = __float_as_uint(x);
    if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float hostFromBFloat16(std::uint16_t bits) {
    return __uint_as_float(std::uint32_t{bits} << 16);
}

std::uint16_t hostFloat16(float x) {
    const auto sign = static_cast<std::uint16_t>(__float_as_uint(x) >> 16 & 0x8000u);
    if (std::isnan(x)) return sign | 0x7e00u;
    const float size = std::fabs(x);
    if (size >= 65520.0f) return sign | 0x7c00u;  // rounds to infinity
    // The distance of neighbours: 2^-24 below 2^-14, else 2^-10 of the power of two.
    const int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
    const float steps = std::nearbyint(std::ldexp(size, 10 - exponent));
    const int number = static_cast<int>(steps);  // 1024 to 2048 for normal numbers
    return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + number));
}

float hostFromFloat16(std::uint16_t bits) {
    // A product reads hundreds of numbers.
    static const auto all = [] {
        std::vector<float> numbers;
        for (unsigned i = 0; i < 0x10000u; ++i)
            numbers.push_back(widenedFloat16(static_cast<std::uint16_t>(i)));
        return numbers;
    }();
    return all[bits];
}

void hostMma(int depth, float (*number)(std::uint16_t), float* d, const std::uint32_t* a,
             const std::uint32_t* b, const Where& where) {
    const float c[4] = {d[0], d[1], d[2], d[3]};
    const Fragments own{a, b, c};
    hostWarpOperation(
        kAll, {&own, d}, [=](const HostLane* lanes) { multiply(depth, number, lanes); }, where);
}

void hostLoadMatrix(int count, bool transposed, std::uint32_t* to, const void* row,
                    const Where& where) {
    const auto* shared = static_cast<const unsigned char*>(hostSharedMemory());
    const auto offset = static_cast<const unsigned char*>(row) - shared;
    if (offset % 16 != 0) hostMisuse("ldmatrix of a row that is not on 16 bytes", where);
    if (offset < 0 || offset + 16 > static_cast<std::ptrdiff_t>(hostSharedBytes()))
        hostMisuse("ldmatrix of a row outside the shared memory", where);
    const auto run = [=](const HostLane* lanes) {
        const auto element = [&](int matrix, int r, int c) {
            std::uint16_t bits;
            const auto* from = static_cast<const unsigned char*>(lanes[8 * matrix + r].in);
            std::memcpy(&bits, from + 2 * c, sizeof bits);
            return std::uint32_t{bits};
        };
        for (int lane = 0; lane < warpSize; ++lane) {
            const int g = lane / 4, t = lane % 4;
            for (int i = 0; i < count; ++i)
                static_cast<std::uint32_t*>(lanes[lane].out)[i] =
                    transposed ? element(i, 2 * t, g) | element(i, 2 * t + 1, g) << 16
                               : element(i, g, 2 * t) | element(i, g, 2 * t + 1) << 16;
        }
    };
    hostWarpOperation(kAll, {row, to}, run, where);
}

}  // namespace relascope::core::kernels

// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU's stand-in for tensor cores: fragments as the PTX manual (ISA 8, "Matrix fragments for
// mma") lists them element by element, products against a plain one, and 16-bit formats.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "kernels/reference.h"
#include "kernels/run_rel.h"
#include "kernels/tolerances.h"
#include "model/kernels/mma.cuh"

namespace relascope::core::kernels {
namespace {

/// A row-major matrix of numbers that both formats hold exactly.
struct Matrix {
    Matrix(int rows, int columns, std::uint64_t seed) : columns(columns) {
        for (const double value : randomTensor(1, 1, rows, columns, seed).values)
            values.push_back(std::round(static_cast<float>(value) * 100.0f) / 64.0f);
    }
    float at(int row, int column) const { return values[row * columns + column]; }
    int columns;
    std::vector<float> values;
};

int group() {
    return static_cast<int>(threadIdx.x) / 4;
}
int inGroup() {
    return static_cast<int>(threadIdx.x) % 4;
}

/// d [16, 8] += a [16, 16] b [16, 8], fragments as in the tables of the manual.
template <class Format>
__global__ void multiply16(const Matrix& a, const Matrix& b, float* d) {
    float x[8], y[4], sums[4];
    for (int i = 0; i < 8; ++i) {
        const int row = (i < 2 || (i >= 4 && i < 6)) ? group() : group() + 8;
        const int column = i < 4 ? inGroup() * 2 + (i & 1) : inGroup() * 2 + (i & 1) + 8;
        x[i] = a.at(row, column);
    }
    for (int i = 0; i < 4; ++i)
        y[i] = b.at(i < 2 ? inGroup() * 2 + (i & 1) : inGroup() * 2 + (i & 1) + 8, group());
    for (int i = 0; i < 4; ++i)
        sums[i] = d[(i < 2 ? group() : group() + 8) * 8 + inGroup() * 2 + (i & 1)];
    const std::uint32_t p[4] = {packed(Format{}, x[0], x[1]), packed(Format{}, x[2], x[3]),
                                packed(Format{}, x[4], x[5]), packed(Format{}, x[6], x[7])};
    const std::uint32_t q[2] = {packed(Format{}, y[0], y[1]), packed(Format{}, y[2], y[3])};
    mma16(Format{}, sums, p, q);
    for (int i = 0; i < 4; ++i)
        d[(i < 2 ? group() : group() + 8) * 8 + inGroup() * 2 + (i & 1)] = sums[i];
}

/// The same for a [16, 8] and b [8, 8].
template <class Format>
__global__ void multiply8(const Matrix& a, const Matrix& b, float* d) {
    float x[4], sums[4];
    for (int i = 0; i < 4; ++i) x[i] = a.at(i < 2 ? group() : group() + 8, inGroup() * 2 + (i & 1));
    for (int i = 0; i < 4; ++i)
        sums[i] = d[(i < 2 ? group() : group() + 8) * 8 + inGroup() * 2 + (i & 1)];
    const std::uint32_t p[2] = {packed(Format{}, x[0], x[1]), packed(Format{}, x[2], x[3])};
    mma8(Format{}, sums, p,
         packed(Format{}, b.at(inGroup() * 2, group()), b.at(inGroup() * 2 + 1, group())));
    for (int i = 0; i < 4; ++i)
        d[(i < 2 ? group() : group() + 8) * 8 + inGroup() * 2 + (i & 1)] = sums[i];
}

template <class Kernel>
void expectProduct(Kernel kernel, int depth) {
    for (const auto order : {HostOrder::Forward, HostOrder::Backward, HostOrder::Shuffled}) {
        const HostDeviceScope scope;
        hostDevice().order = order;
        const Matrix a(16, depth, 1), b(depth, 8, 2), c(16, 8, 3);
        auto d = c.values;
        LAUNCH(kernel, 1, 32, 0, nullptr, a, b, d.data());
        for (int row = 0; row < 16; ++row)
            for (int column = 0; column < 8; ++column) {
                double expected = c.at(row, column);
                for (int k = 0; k < depth; ++k) expected += a.at(row, k) * b.at(k, column);
                EXPECT_NEAR(d[row * 8 + column], expected, kMmaTolerance * depth);
            }
    }
}

TEST(Mma, MultipliesFragmentsOfTheManual) {
    expectProduct(multiply16<BFloat16>, 16);
    expectProduct(multiply16<Float16>, 16);
    expectProduct(multiply8<BFloat16>, 8);
    expectProduct(multiply8<Float16>, 8);
}

/// a [16, 16] and b [16, 8], row-major in shared memory with padded rows, by ldmatrix.
__global__ void multiplyLoaded(const Matrix& a, const Matrix& b, float* d, int shift) {
    DYNAMIC_SHARED(std::uint16_t, shared);
    constexpr int widthA = 24, widthB = 16;
    std::uint16_t* const sharedB = shared + 16 * widthA;
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        shared[i / 16 * widthA + i % 16] = hostBFloat16(a.at(i / 16, i % 16));
    for (int i = lane; i < 128; i += 32)
        sharedB[i / 8 * widthB + i % 8] = hostBFloat16(b.at(i / 8, i % 8));
    __syncwarp();
    std::uint32_t p[4], q[2];
    // Matrices 0 and 1 are the upper and the lower rows of the first columns, then the others.
    loadMatrix(p, shared + lane % 16 * widthA + lane / 16 * 8 + shift);
    loadMatrixTransposed(q, sharedB + lane % 16 * widthB);
    float sums[4] = {};
    mma16(BFloat16{}, sums, p, q);
    for (int i = 0; i < 4; ++i) d[(group() + i / 2 * 8) * 8 + inGroup() * 2 + i % 2] = sums[i];
}

TEST(Mma, LoadsFragmentsFromSharedMemory) {
    const Matrix a(16, 16, 5), b(16, 8, 6);
    std::vector<float> d(128, NAN);
    constexpr std::size_t bytes = 2 * (16 * 24 + 16 * 16);
    LAUNCH(multiplyLoaded, 1, 32, bytes, nullptr, a, b, d.data(), 0);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
            double expected = 0;
            for (int k = 0; k < 16; ++k) expected += a.at(row, k) * b.at(k, column);
            EXPECT_NEAR(d[row * 8 + column], expected, kMmaTolerance * 16);
        }
    const auto misuse = [&](int shift) -> std::string {
        try {
            LAUNCH(multiplyLoaded, 1, 32, bytes, nullptr, a, b, d.data(), shift);
        } catch (const HostMisuse& found) {
            return found.what();
        }
        return "";
    };
    EXPECT_NE(misuse(1).find("not on 16 bytes"), std::string::npos);
    EXPECT_NE(misuse(400).find("outside the shared memory"), std::string::npos);
}

/// Where each lane's registers come from: 8 (10) in the tens, row, column of a matrix.
__global__ void loadPlaces(std::uint32_t* to, bool transposed) {
    DYNAMIC_SHARED(std::uint16_t, shared);
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        shared[i] = static_cast<std::uint16_t>(i / 64 * 100 + i / 8 % 8 * 10 + i % 8);
    __syncwarp();
    std::uint32_t four[4];
    if (transposed)
        loadMatrixTransposed(four, shared + 8 * lane);
    else
        loadMatrix(four, shared + 8 * lane);
    for (int i = 0; i < 4; ++i) to[4 * lane + i] = four[i];
}

TEST(Mma, LoadsRowsAndColumnsOfMatrices) {
    std::vector<std::uint32_t> to(128);
    LAUNCH(loadPlaces, 1, 32, 512, nullptr, to.data(), false);
    EXPECT_EQ(to[4 * 13 + 2], 232u | 233u << 16);  // matrix 2, row 13 / 4, columns 2 and 3
    EXPECT_EQ(to[4 * 31 + 0], 76u | 77u << 16);
    LAUNCH(loadPlaces, 1, 32, 512, nullptr, to.data(), true);
    EXPECT_EQ(to[4 * 13 + 2], 223u | 233u << 16);  // rows 2 and 3, column 3
    EXPECT_EQ(to[4 * 31 + 1], 167u | 177u << 16);
}

TEST(Mma, RoundsToBFloat16) {
    EXPECT_EQ(hostBFloat16(1.0f), 0x3f80);
    EXPECT_EQ(hostBFloat16(-2.5f), 0xc020);
    EXPECT_EQ(hostBFloat16(1.00390625f), 0x3f80);  // half way: to even
    EXPECT_EQ(hostBFloat16(1.01171875f), 0x3f82);  // half way: to even
    EXPECT_EQ(hostBFloat16(1.00390637f), 0x3f81);  // just above
    EXPECT_EQ(hostBFloat16(3.4e38f), 0x7f80);      // infinity
    EXPECT_TRUE(std::isnan(hostFromBFloat16(hostBFloat16(NAN))));
}

TEST(Mma, RoundsToFloat16) {
    const std::pair<float, int> known[] = {
        {1.0f, 0x3c00},       {-2.0f, 0xc000},           {65504.0f, 0x7bff},    {65519.0f, 0x7bff},
        {65520.0f, 0x7c00},   {0x1p-14f, 0x0400},        {0x1p-24f, 0x0001},    {0x1p-25f, 0x0000},
        {0x1.8p-24f, 0x0002}, {1.0f + 0x1p-11f, 0x3c00}, {0.33325195f, 0x3555}, {-0.0f, 0x8000}};
    for (const auto& [number, bits] : known) EXPECT_EQ(hostFloat16(number), bits) << number;
    for (unsigned bits = 0; bits < 0x10000u; ++bits) {
        const float number = hostFromFloat16(static_cast<std::uint16_t>(bits));
        if (std::isnan(number)) continue;
        ASSERT_EQ(hostFloat16(number), bits);
    }
    EXPECT_TRUE(std::isnan(hostFromFloat16(hostFloat16(NAN))));
}

}  // namespace
}  // namespace relascope::core::kernels

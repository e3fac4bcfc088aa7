// SPDX-License-Identifier: GPL-3.0-or-later
#include "files/crc32.h"
#include "support/rooms.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

namespace relascope {
namespace {

TEST(Crc32, IsZlibsAtEveryLengthAndPlace) {
    EXPECT_EQ(crc32Of(0, "123456789", 9), 0xcbf43926u) << "the standard's check value";
    std::vector<unsigned char> bytes(1100);
    std::uint32_t state = 1;
    for (auto& byte : bytes)
        byte = static_cast<unsigned char>((state = state * 1664525 + 1013904223) >> 24);
    for (std::size_t length = 0; length <= 1030; ++length)
        for (const std::size_t start : {0u, 1u, 13u})
            for (const std::uint32_t before : {0u, 1u, 0xdeadbeefu})
                ASSERT_EQ(crc32Of(before, bytes.data() + start, length),
                          ::crc32_z(before, bytes.data() + start, length))
                    << length << " from " << start;
}

}  // namespace
}  // namespace relascope

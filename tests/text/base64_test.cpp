// SPDX-License-Identifier: GPL-3.0-or-later
// Base64: the examples of RFC 4648, section 10, and every length back and forth.
#include "text/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace relascope {
namespace {

TEST(Base64, IsThatOfTheStandard) {
    for (const auto& [bytes, text] :
         {std::pair{"", ""}, std::pair{"f", "Zg=="}, std::pair{"fo", "Zm8="},
          std::pair{"foo", "Zm9v"}, std::pair{"foob", "Zm9vYg=="}, std::pair{"fooba", "Zm9vYmE="},
          std::pair{"foobar", "Zm9vYmFy"}}) {
        EXPECT_EQ(core::toBase64(bytes), text);
        EXPECT_EQ(core::fromBase64(text), bytes);
    }
    std::string bytes;
    for (int k = 0; k < 300; ++k) {
        EXPECT_EQ(core::fromBase64(core::toBase64(bytes)), bytes) << k;
        bytes += static_cast<char>(k * 37);
    }
}

}  // namespace
}  // namespace relascope

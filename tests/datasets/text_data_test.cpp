// SPDX-License-Identifier: GPL-3.0-or-later
// Text through the door that training and evaluation use.
#include <gtest/gtest.h>

#include <cstdlib>

#include "datasets/registry.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

TEST(Registry, OpensText) {
    testing_support::TemporaryFolder folder("registry-text");
    std::filesystem::create_directories(folder.path());
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    testing_support::writeBytes(folder / "t.txt", "To be or not to be, that is the question.");
    DataOptions o;
    o.kind = "text";
    o.path = folder / "t.txt";
    o.context = 4, o.train_size = 3, o.validation_fraction = 0.3;
    const auto splits = openData(o);
    EXPECT_EQ(splits.train->size(), 3);
    EXPECT_EQ(splits.find("validation"), splits.validation);
    EXPECT_EQ(splits.train->info().task, "text");
    ASSERT_NE(splits.tokenizer, nullptr);
    EXPECT_THROW(asImages(splits.train), OptionError);
    o.tokenizer.clear();
    EXPECT_THROW(openData(o), OptionError);
    ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace relascope

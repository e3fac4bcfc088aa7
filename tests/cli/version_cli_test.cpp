// SPDX-License-Identifier: GPL-3.0-or-later
// What --version says.
#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "support/rooms.h"

namespace relascope {
namespace {

TEST(VersionCli, SaysWhatTheProgramIsMadeOf) {
    const auto o = runCli("--version");
    EXPECT_EQ(o.code, 0);
    std::istringstream lines(o.out);
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    ASSERT_EQ(all.size(), 5u) << "without Qt\n" << o.out;
    const char* const begins[] = {"relascope ", "commit ", "LibTorch ", "compiler ", "build "};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].rfind(begins[i], 0), 0u);
    const auto facts = json(runCli("--version --json"));
    EXPECT_EQ(all[0], "relascope " + facts["version"].get<std::string>());
    EXPECT_EQ(all[1].rfind("commit " + facts["commit"].get<std::string>(), 0), 0u);
    EXPECT_EQ(all[2], "LibTorch " + facts["libtorch"].get<std::string>());
    EXPECT_TRUE(facts["modified"].is_boolean());
    EXPECT_FALSE(facts.contains("qt"));
    EXPECT_EQ(runCli("--threads 1 --version").out, o.out);
    expectRefused("--version --jsn", 2, "'--jsn' is not --json");
}

}  // namespace
}  // namespace relascope

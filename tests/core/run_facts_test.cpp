// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/run_folder.h"

#include <gtest/gtest.h>

#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"
#include "types/error.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;
using testing_support::tinyOptions;

TEST(RunFacts, AreThoseOfRunJson) {
    TemporaryFolder home("run-facts");
    auto folder = RunFolder::create(home / "run", tinyOptions());
    folder.setFact("threads", "2");
    folder.saveInfo();
    EXPECT_EQ(processesText(readRunFacts(home / "run")), "") << "one process";
    folder.setFact("ranks", "2");
    folder.setFact("rank_devices", "cuda:0, cuda:1");
    folder.saveInfo();
    EXPECT_EQ(readRunFacts(home / "run").front(),
              (std::pair<std::string, std::string>{"threads", "2"}));
    EXPECT_EQ(processesText(readRunFacts(home / "run")), "2 ranks: cuda:0, cuda:1");
    folder.setFact("machines", "node7, node8");
    folder.saveInfo();
    EXPECT_EQ(processesText(readRunFacts(home / "run")), "2 ranks: cuda:0, cuda:1 on node7, node8");
    folder.setFact("ranks", "1");
    folder.saveInfo();
    EXPECT_EQ(processesText(readRunFacts(home / "run")), "");
    EXPECT_THROW(readRunFacts(home / "nothing"), FileError);
}

}  // namespace
}  // namespace relascope

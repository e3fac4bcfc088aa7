// Every vision model against the numbers of the published implementation.
#include <gtest/gtest.h>

#include <filesystem>

#include "checkpoint/verify.h"

namespace relascope {
namespace {

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, EveryStoredTensorAgrees) {
    const auto report = verifyFolder(std::string(RELASCOPE_FIXTURES) + "/golden/" + GetParam());
    EXPECT_TRUE(report.ok);
    EXPECT_GT(report.lines.size(), 30u);
    for (const auto& line : report.lines)
        EXPECT_TRUE(line.ok) << line.name << " abs " << line.absolute << " rel " << line.relative
                             << " " << line.note;
}

INSTANTIATE_TEST_SUITE_P(Vision, Golden,
                         testing::Values("vidat_cifar_position_relative_gqa_cls",
                                         "vidat_relational_games_mixed",
                                         "vidat_relational_games_relational_only",
                                         "vit_relational_games"));

}  // namespace
}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
// Every model against the numbers of the published implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "analysis/verify/verify.h"
#include "support/golden_cases.h"
#include "support/rooms.h"

namespace relascope {
namespace {

const std::string kGolden = std::string(RELASCOPE_FIXTURES) + "/golden/";

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, EveryStoredTensorAgrees) {
    const auto report = verifyFolder(kGolden + GetParam());
    EXPECT_TRUE(report.ok);
    EXPECT_GT(report.lines.size(), 12u);
    for (const auto& line : report.lines)
        EXPECT_TRUE(line.ok) << line.name << " abs " << line.absolute << " rel " << line.relative
                             << " " << line.note;
}

INSTANTIATE_TEST_SUITE_P(Published, Golden, testing::ValuesIn(testing_support::goldenCases()),
                         [](const auto& info) {
                             auto name = info.param;
                             std::replace(name.begin(), name.end(), '/', '_');
                             return name;
                         });

class GoldenWhy : public testing::TestWithParam<std::string> {};

TEST_P(GoldenWhy, EveryStoredTensorAgrees) {
    const auto report =
        verifyFolder(kGolden + GetParam(), "cpu", testing_support::whyModels(GetParam()));
    EXPECT_TRUE(report.ok);
    EXPECT_GE(report.lines.size(), 5u);
    for (const auto& line : report.lines)
        EXPECT_TRUE(line.ok) << line.name << " abs " << line.absolute << " rel " << line.relative
                             << " " << line.note;
}

INSTANTIATE_TEST_SUITE_P(Origins, GoldenWhy, testing::ValuesIn(testing_support::whyCases()),
                         [](const auto& info) {
                             auto name = info.param;
                             for (auto& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

TEST(GoldenCases, AreAllThere) {
    EXPECT_EQ(testing_support::goldenCases().size(), 81u);
    EXPECT_EQ(testing_support::whyCases().size(), 21u);
}

}  // namespace
}  // namespace relascope

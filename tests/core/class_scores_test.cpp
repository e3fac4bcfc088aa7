// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/class_scores.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>

namespace relascope::core {
namespace {

double furthest(const torch::Tensor& a, const torch::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

TEST(ClassScores, AreThoseOfThePlainFormsInDoublePrecision) {
    torch::manual_seed(5);
    for (const auto type : {torch::kFloat, torch::kDouble})
        for (const std::int64_t classes : {1, 2, 7, 8, 9, 15, 16, 17, 31, 100, 50257})
            for (const double scale : {1e-3, 4.0, 300.0}) {
                SCOPED_TRACE(::testing::Message() << classes << " classes, scale " << scale);
                const auto a = torch::randn({2, 3, classes}, type) * scale,
                           b = a + torch::randn({2, 3, classes}, type) * (0.1 * scale);
                const auto compared = compareClasses(a, b);
                const auto x = a.to(torch::kDouble), y = b.to(torch::kDouble);
                const auto p = torch::log_softmax(x, -1), q = torch::log_softmax(y, -1);
                const double bound = 1e-13 * std::max(1.0, scale);
                EXPECT_LT(furthest(compared.first.normalizer, x.logsumexp(-1)), bound);
                EXPECT_LT(furthest(compared.second.normalizer, y.logsumexp(-1)), bound);
                EXPECT_TRUE(compared.first.best.equal(a.argmax(-1)));
                EXPECT_LT(furthest(compared.divergence, (p.exp() * (p - q)).sum(-1)), 10.0 * bound);
                EXPECT_TRUE(compared.largest.equal((x - y).abs().amax(-1)));
                const auto last = torch::full({2, 3}, classes - 1, torch::kLong);
                EXPECT_LT(
                    furthest(compared.first.logProbability(a, last), p.select(2, classes - 1)),
                    bound);
                // Of a part of a larger vocabulary, whose rows are not next to each other.
                const auto wide = torch::cat({a, a + 1000.0}, -1).narrow(-1, 0, classes);
                EXPECT_TRUE(classSums(wide).normalizer.equal(compared.first.normalizer));
                EXPECT_EQ(compareClasses(a, wide).divergence.abs().max().item<double>(), 0.0);
            }
}

TEST(ClassScores, OfEqualScoresTheFirstIsTheBest) {
    auto scores = torch::zeros({1, 40});
    EXPECT_EQ(classSums(scores).best.item<std::int64_t>(), 0);
    for (const std::int64_t at : {39, 23, 17, 3}) {
        scores[0][at] = 2.0;
        EXPECT_EQ(classSums(scores).best.item<std::int64_t>(), at);
    }
}

TEST(ClassScores, ExcludedClassesHaveNoProbabilityAndWhatIsNoNumberStaysNone) {
    auto scores = torch::zeros({2, 20});
    scores.narrow(1, 4, 16).fill_(-std::numeric_limits<float>::infinity());
    scores[1][2] = std::numeric_limits<float>::quiet_NaN();
    const auto sums = classSums(scores);
    EXPECT_NEAR(sums.normalizer[0].item<double>(), std::log(4.0), 1e-15);
    EXPECT_TRUE(std::isnan(sums.normalizer[1].item<double>()));
    const auto compared = compareClasses(torch::zeros({2, 20}), scores);
    EXPECT_TRUE(std::isinf(compared.divergence[0].item<double>()));
    EXPECT_TRUE(std::isinf(compared.largest[0].item<double>()));
    EXPECT_TRUE(std::isnan(compared.divergence[1].item<double>()));
    EXPECT_TRUE(compared.largest.narrow(0, 1, 1).isfinite().logical_not().all().item<bool>());
}

}  // namespace
}  // namespace relascope::core

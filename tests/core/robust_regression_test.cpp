// SPDX-License-Identifier: GPL-3.0-or-later
// Least absolute deviations: the best there is, and recovery where theory promises it.
#include "model/robust_regression/robust_regression.h"

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>

#include "run/captures.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "train/train.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

struct Trials {
    torch::Tensor symbols, observed, mixed;  // [b, d, m], [b, d], [b, m]
};

// As SymbolRecovery draws them, `nonzero` 0 for dense relations.
Trials draw(std::int64_t trials, std::int64_t d, std::int64_t m, double fraction,
            std::int64_t nonzero = 0) {
    torch::manual_seed(11);
    const auto like = torch::dtype(torch::kDouble);
    Trials t;
    t.symbols = torch::randn({trials, d, m}, like) / std::sqrt(static_cast<double>(d));
    auto r = -torch::rand({trials, m}, like).log();
    if (nonzero > 0) {
        const auto order =
            torch::rand({trials, m}, like).argsort(std::int64_t{1}).argsort(std::int64_t{1});
        r = r * order.lt(nonzero);
    }
    t.mixed = r / r.sum(1, true);
    const auto off = torch::rand({trials, d}, like).lt(fraction);
    t.observed = torch::matmul(t.symbols, t.mixed.unsqueeze(-1)).squeeze(-1) +
                 10.0 * off * torch::randn({trials, d}, like);
    return t;
}

torch::Tensor objective(const torch::Tensor& symbols, const torch::Tensor& observed,
                        const torch::Tensor& u, double lambda) {
    return (observed - torch::matmul(symbols, u.unsqueeze(-1)).squeeze(-1)).abs().sum(-1) +
           lambda * u.abs().sum(-1);
}

double recovered(const Trials& t, double lambda = 0.0) {
    const auto u = leastAbsoluteDeviations(t.symbols, t.observed, lambda);
    return (u - t.mixed).abs().amax(1).lt(1e-3).to(torch::kDouble).mean().item<double>();
}

// The least of all corners: a best u meets m of the equations K u = b exactly, K being S with the
// penalty's rows below.
double leastOfAllCorners(const torch::Tensor& symbols, const torch::Tensor& observed,
                         double lambda) {
    const auto m = symbols.size(1);
    auto k = symbols, b = observed;
    if (lambda > 0) {
        k = torch::cat({k, torch::eye(m, symbols.options())});
        b = torch::cat({b, torch::zeros({m}, b.options())});
    }
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::int64_t> rows;
    const std::function<void(std::int64_t)> choose = [&](std::int64_t from) {
        if (static_cast<std::int64_t>(rows.size()) == m) {
            const auto at = torch::tensor(rows);
            const auto corner = k.index_select(0, at);
            if (std::abs(at::linalg_det(corner).item<double>()) < 1e-9) return;
            const auto u = at::linalg_solve(corner, b.index_select(0, at));
            least = std::min(least, objective(symbols, observed, u, lambda).item<double>());
            return;
        }
        for (std::int64_t i = from; i < k.size(0); ++i) {
            rows.push_back(i);
            choose(i + 1);
            rows.pop_back();
        }
    };
    choose(0);
    return least;
}

TEST(RobustRegression, IsNoWorseThanEveryCorner) {
    for (const auto& [d, m, lambda] :
         {std::tuple{8, 3, 0.0}, {7, 1, 0.0}, {6, 3, 0.3}, {3, 4, 0.5}, {5, 3, 2.0}}) {
        const auto t = draw(20, d, m, 0.4);
        const auto u = leastAbsoluteDeviations(t.symbols, t.observed, lambda);
        const auto reached = objective(t.symbols, t.observed, u, lambda);
        for (std::int64_t i = 0; i < 20; ++i)
            EXPECT_NEAR(reached[i].item<double>(),
                        leastOfAllCorners(t.symbols[i], t.observed[i], lambda), 1e-6)
                << d << " " << m << " " << lambda << " " << i;
    }
}

// Signs of the residuals, and numbers within -1 .. 1 where these vanish, under which S^T v = 0: the
// condition of a minimum, in the size that is plotted.
TEST(RobustRegression, MeetsTheConditionOfAMinimum) {
    const auto t = draw(20, 40, 10, 0.3);
    const auto u = leastAbsoluteDeviations(t.symbols, t.observed, 0.0);
    for (std::int64_t i = 0; i < 20; ++i) {
        const auto s = t.symbols[i];
        const auto residual = t.observed[i] - torch::mv(s, u[i]);
        const auto zero = residual.abs().lt(1e-6);
        const auto pull = torch::mv(s.t(), residual.sign() * zero.logical_not());
        // The rows that vanish have to hold it.
        const auto held = s.index({zero}).t();  // [m, zeros]
        const auto v = torch::mv(at::linalg_pinv(held), -pull);
        EXPECT_LT((torch::mv(held, v) + pull).abs().max().item<double>(), 1e-6) << i;
        if (zero.sum().item<std::int64_t>() == 10) {
            EXPECT_LE(v.abs().max().item<double>(), 1.0 + 1e-6) << i;
        }
    }
}

TEST(RobustRegression, RecoversExactlyWhereFewEnoughAreOff) {
    const auto clean = draw(50, 100, 10, 0.1);  // sqrt(m/d)/(1 - eps) = 0.35
    const auto u = leastAbsoluteDeviations(clean.symbols, clean.observed, 0.0);
    EXPECT_LT((u - clean.mixed).abs().max().item<double>(), 1e-6);
    EXPECT_LT(recovered(draw(50, 20, 10, 0.6)), 0.2);  // 1.77
    EXPECT_GT(recovered(draw(50, 40, 10, 0.1)), 0.95);
    EXPECT_LT(recovered(draw(50, 40, 10, 0.7)), recovered(draw(50, 200, 10, 0.7)));
    // Fewer numbers than symbols: the penalty finds what is sparse, and cannot work without.
    const auto sparse = draw(6, 60, 100, 0.05, 3);
    EXPECT_EQ(recovered(sparse, 1.0), 1.0);
    EXPECT_EQ(recovered(sparse, 0.0), 0.0);
    EXPECT_EQ(recovered(draw(6, 20, 100, 0.4, 3), 1.0), 0.0);
}

TEST(RobustRegression, SolvesEachExampleForItself) {
    const auto t = draw(70, 30, 10, 0.2);  // more than are solved at once
    const auto together = leastAbsoluteDeviations(t.symbols, t.observed, 0.0);
    ASSERT_EQ(together.sizes(), (std::vector<std::int64_t>{70, 10}));
    for (const std::int64_t i : {0, 63, 64, 69})
        EXPECT_LT((leastAbsoluteDeviations(t.symbols.slice(0, i, i + 1),
                                           t.observed.slice(0, i, i + 1), 0.0)[0] -
                   together[i])
                      .abs()
                      .max()
                      .item<double>(),
                  1e-6);
}

// The same as a data set.
class Mixtures : public ObjectDataset {
public:
    explicit Mixtures(std::int64_t size) : m_trials(draw(size, 40, 10, 0.1)) {
        m_info.name = "mixtures";
        m_info.task = "dense";
        m_info.exactTargets = true;
        m_info.size = size;
        m_info.channels = 0;
        m_info.targets = TargetKind::Regression;
    }
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return {11, 40, 10}; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        const auto all =
            torch::cat({m_trials.symbols[index].t(), m_trials.observed[index].unsqueeze(0)})
                .to(torch::kFloat)
                .contiguous();
        const auto mixed = m_trials.mixed[index].to(torch::kFloat).contiguous();
        std::copy_n(all.const_data_ptr<float>(), objects.size(), objects.begin());
        std::copy_n(mixed.const_data_ptr<float>(), targets.size(), targets.begin());
    }
    ProbeSample sample(std::int64_t index) const override {
        ProbeSample s;
        s.source.width = 40;
        s.source.vectors.resize(440);
        std::vector<float> targets(10);
        read(index, s.source.vectors, targets);
        return s;
    }

private:
    Trials m_trials;
    DatasetInfo m_info;
};

TEST(RobustRegression, IsMeasuredInsteadOfTrained) {
    TemporaryFolder home("recovery");
    const std::string path = home / "run";
    auto options = presetOptions("symbol-recovery");
    options.train.device = "cpu";
    DataSplits data;
    data.train = std::make_shared<Mixtures>(1);
    data.validation = std::make_shared<Mixtures>(20);
    data.tests.emplace_back("test", std::make_shared<Mixtures>(50));
    std::vector<TrainEvent> events;
    const auto run = [&](RunFolder folder) {
        Control control;
        return train(folder, data, control,
                     [&](TrainEvent event) { events.push_back(std::move(event)); }, {});
    };
    const auto result = run(RunFolder::create(path, options));
    ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
    EXPECT_EQ(result.info.totalSteps, 0);
    EXPECT_EQ(result.info.metric, "recovered");
    EXPECT_GT(result.lastValidation.value("recovered"), 0.9);
    const auto info = readRunInfo(path);
    ASSERT_EQ(info.results.size(), 1u);
    EXPECT_EQ(info.results[0].examples, 50);
    EXPECT_GT(info.results[0].value("recovered"), 0.95);
    EXPECT_LT(info.results[0].value("mean_error"), 1e-2);
    EXPECT_GT(info.bestMetric, 0.9);
    // The inspector shows the column's relation to every symbol, and none to itself.
    const auto probe = loadCapture(path + "/captures", 0, 0);
    const auto* map = probe.find(MapKind::Relation, 0, 0);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->rows, 1);
    ASSERT_EQ(map->columns, 11);
    double sum = 0;
    for (int j = 0; j < 10; ++j) sum += map->at(0, j);
    EXPECT_NEAR(sum, 1.0, 1e-4);
    EXPECT_EQ(map->at(0, 10), 0.0F);
    EXPECT_TRUE(probe.probabilities.empty());
    // A finished run that is resumed is done at once.
    EXPECT_EQ(run(RunFolder::open(path)).info.state, RunState::Done);
}

}  // namespace
}  // namespace relascope

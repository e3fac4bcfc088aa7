// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers to predict of objects: distributions, the choice, the mixture, and what is told of them.
#include "datasets/generators/number_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "datasets/registry.h"
#include "support/rooms.h"

namespace relascope {
namespace {

DataOptions options(const char* kind, const char* task) {
    DataOptions o;
    o.kind = kind, o.task = task;
    o.train_size = 4000, o.validation_size = 50, o.test_size = 60;
    o.objects = 8, o.dim = 4;
    return o;
}

struct Example {
    std::vector<float> objects, targets;
    std::span<const float> object(std::size_t i, std::size_t width) const {
        return std::span(objects).subspan(i * width, width);
    }
};

Example exampleOf(const DatasetPtr& data, std::int64_t index) {
    const auto& sets = dynamic_cast<const ObjectDataset&>(*data);
    const auto shape = sets.shape();
    Example e{std::vector<float>(static_cast<std::size_t>(shape.objects * shape.width)),
              std::vector<float>(static_cast<std::size_t>(shape.targets))};
    sets.read(index, e.objects, e.targets);
    return e;
}

double dot(std::span<const float> x, std::span<const float> y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return sum;
}

TEST(NumberSets, AreFunctionsOfSeedPartAndNumber) {
    for (const auto& [kind, task] : {std::pair{"select-relate", "select-relate"},
                                     {"inner-products", "gaussian-kernel"},
                                     {"inner-products", "order-relation"},
                                     {"symbol-recovery", "dense"},
                                     {"symbol-recovery", "sparse"}}) {
        auto o = options(kind, task);
        const auto one = openData(o), again = openData(o);
        o.seed = 1;
        const auto other = openData(o);
        EXPECT_EQ(one.names(), (std::vector<std::string>{"train", "validation", "test"}));
        EXPECT_EQ(one.train->size(), 4000);
        EXPECT_EQ(one.validation->size(), 50);
        EXPECT_EQ(one.tests[0].second->size(), 60);
        const auto& info = one.train->info();
        EXPECT_EQ(info.targets, TargetKind::Regression);
        EXPECT_TRUE(info.classNames.empty());
        EXPECT_EQ(info.task, task);
        const auto first = exampleOf(one.train, 7);
        (void)exampleOf(again.train, 3);  // what was read before changes nothing
        const auto same = exampleOf(again.train, 7);
        EXPECT_EQ(first.objects, same.objects);
        EXPECT_EQ(first.targets, same.targets);
        EXPECT_NE(first.objects, exampleOf(one.train, 8).objects);
        EXPECT_NE(first.objects, exampleOf(one.validation, 7).objects);
        EXPECT_NE(first.objects, exampleOf(one.tests[0].second, 7).objects);
        EXPECT_NE(first.objects, exampleOf(other.train, 7).objects);
        EXPECT_THROW(exampleOf(one.train, 4000), std::out_of_range);
        EXPECT_THROW(exampleOf(one.train, -1), std::out_of_range);
        const auto sample = one.train->sample(7);
        EXPECT_EQ(sample.source.vectors, first.objects);
        EXPECT_EQ(sample.origin, "train 7");
        EXPECT_EQ(sample.source.labels.size(), static_cast<std::size_t>(sample.source.size()));
        EXPECT_EQ(sample.label, -1);
    }
}

TEST(NumberSets, PointsFillTheUnitBallEvenly) {
    const auto data = openData(options("select-relate", "select-relate")).train;
    EXPECT_EQ(dynamic_cast<const ObjectDataset&>(*data).shape(), (ObjectDataset::Shape{9, 4, 2}));
    double sum[4] = {}, square[4] = {}, inner = 0;
    int count = 0, halfway = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
        const auto e = exampleOf(data, i);
        for (std::size_t k = 0; k < 9; ++k, ++count) {
            const auto p = e.object(k, 4);
            const double norm = std::sqrt(dot(p, p));
            ASSERT_LE(norm, 1.0 + 1e-6);
            halfway += norm < 0.5;
            for (std::size_t j = 0; j < 4; ++j) {
                const auto x = static_cast<double>(p[j]);
                sum[j] += x, square[j] += x * x;
            }
        }
        inner += dot(e.object(0, 4), e.object(5, 4));
    }
    for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(sum[j] / count, 0.0, 0.02);
        EXPECT_NEAR(square[j] / count, 1.0 / 6.0, 0.01);  // 1/(dim + 2)
    }
    EXPECT_NEAR(halfway / static_cast<double>(count), 1.0 / 16.0, 0.01);  // (1/2)^dim
    EXPECT_NEAR(inner / 1000, 0.0, 0.05);
}

TEST(SelectRelate, AnswersWithTheRelationToTheBest) {
    const NumberSplit split{5, 0, 500, "train"};
    using Asked = SelectRelate::Asked;
    const SelectRelate both(split, "select-relate", Asked::Both, 8, 4),
        kernel(split, "select-kernel", Asked::Kernel, 8, 4),
        wave(split, "select-wave", Asked::Wave, 8, 4);
    std::vector<int> times(8);
    double kernels = 0, waves = 0;
    for (std::int64_t i = 0; i < 500; ++i) {
        Example e{std::vector<float>(36), std::vector<float>(2)};
        both.read(i, e.objects, e.targets);
        const auto best = static_cast<std::size_t>(both.chosen(e.objects));
        ++times.at(best);
        // <A x, B y> is linear in either argument, and none of the others is above the chosen.
        const auto preference = both.preference(e.object(0, 4));
        std::vector<double> values;
        for (std::size_t k = 1; k < 9; ++k) {
            double value = 0;
            for (std::size_t j = 0; j < 4; ++j)
                value += preference[j] * static_cast<double>(e.object(k, 4)[j]);
            values.push_back(value);
        }
        ASSERT_EQ(std::ranges::max_element(values) - values.begin(),
                  static_cast<std::ptrdiff_t>(best));
        const auto x = e.object(0, 4), y = e.object(best + 1, 4);
        double distance = 0;
        for (std::size_t j = 0; j < 4; ++j)
            distance += std::pow(static_cast<double>(x[j]) - static_cast<double>(y[j]), 2);
        ASSERT_NEAR(static_cast<double>(e.targets[0]), std::exp(-distance), 1e-6);
        ASSERT_NEAR(static_cast<double>(e.targets[1]), both.relate(x, y)[1], 1e-6);
        ASSERT_LE(std::abs(e.targets[1]), 1.0F);
        kernels += static_cast<double>(e.targets[0]);
        waves += static_cast<double>(e.targets[1] * e.targets[1]);
        float single = 0;
        kernel.read(i, e.objects, {&single, 1});
        ASSERT_EQ(single, e.targets[0]);
        wave.read(i, e.objects, {&single, 1});
        ASSERT_EQ(single, e.targets[1]);
        const auto words = both.sample(i).source.labels;
        ASSERT_EQ(words[0], "x");
        for (std::size_t k = 1; k < 9; ++k)
            ASSERT_EQ(words[k].starts_with("\u2713"), k == best + 1) << words[k];
    }
    EXPECT_GT(*std::ranges::min_element(times), 30);  // of 62.5
    EXPECT_NEAR(kernels / 500, 0.3, 0.15);
    EXPECT_GT(waves / 500, 0.2);
    // The wave is a sum of two products: sin p cos q - cos p sin q, so R(x, -y) turns q around.
    const std::vector<float> zero(4, 0.0F), point = {0.3F, -0.2F, 0.5F, 0.1F},
                                            turned = {-0.3F, 0.2F, -0.5F, -0.1F};
    EXPECT_NEAR(both.relate(zero, point)[1], -both.relate(zero, turned)[1], 1e-12);
    EXPECT_NEAR(both.relate(zero, zero)[1], 0.0, 1e-12);
    EXPECT_NEAR(both.relate(point, point)[0], 1.0, 1e-12);
}

TEST(InnerProducts, AreAKernelAndAnOrder) {
    const NumberSplit split{2, 0, 2000, "train"};
    using Relation = InnerProducts::Relation;
    const InnerProducts kernel(split, "gaussian-kernel", Relation::Kernel, 3),
        order(split, "order-relation", Relation::Order, 3);
    int before = 0;
    for (std::int64_t i = 0; i < 2000; ++i) {
        std::vector<float> objects(6), same(6);
        float r = 0, sign = 0;
        kernel.read(i, objects, {&r, 1});
        order.read(i, same, {&sign, 1});
        ASSERT_EQ(objects, same);
        const auto x = std::span<const float>(objects).first(3),
                   y = std::span<const float>(objects).subspan(3);
        double distance = 0;
        for (std::size_t j = 0; j < 3; ++j)
            distance += std::pow(static_cast<double>(x[j]) - static_cast<double>(y[j]), 2);
        ASSERT_NEAR(static_cast<double>(r), std::exp(-2 * distance), 1e-6);
        ASSERT_EQ(kernel.relate(x, y), kernel.relate(y, x));
        ASSERT_EQ(std::abs(sign), 1.0F);
        ASSERT_EQ(order.relate(x, y), -order.relate(y, x));
        before += sign > 0;
    }
    EXPECT_NEAR(before / 2000.0, 0.5, 0.05);
    // Transitive: x before y and y before z is x before z.
    for (std::int64_t i = 0; i < 300; ++i) {
        std::vector<float> a(6), b(6);
        float unused = 0;
        order.read(i, a, {&unused, 1});
        order.read(i + 300, b, {&unused, 1});
        const auto x = std::span<const float>(a).first(3), y = std::span<const float>(a).subspan(3),
                   z = std::span<const float>(b).first(3);
        if (order.relate(x, y) > 0 && order.relate(y, z) > 0) {
            ASSERT_GT(order.relate(x, z), 0);
        }
    }
}

// The numbers of a - S r, and how many are off.
std::vector<double> errors(const Example& e, std::size_t m, std::size_t d) {
    std::vector<double> all;
    for (std::size_t k = 0; k < d; ++k) {
        double value = 0;
        for (std::size_t i = 0; i < m; ++i)
            value += static_cast<double>(e.targets[i]) * static_cast<double>(e.objects[i * d + k]);
        all.push_back(static_cast<double>(e.objects[m * d + k]) - value);
    }
    return all;
}

TEST(SymbolRecovery, MixesSymbolsAndPutsAShareOff) {
    auto o = options("symbol-recovery", "dense");
    o.objects = 10, o.dim = 50, o.adversarial = 0.2;
    const auto data = openData(o).train;
    EXPECT_EQ(dynamic_cast<const ObjectDataset&>(*data).shape(),
              (ObjectDataset::Shape{11, 50, 10}));
    double square = 0, sum = 0, off = 0, noise = 0, moment = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
        const auto e = exampleOf(data, i);
        for (std::size_t k = 0; k < 500; ++k) {
            const auto s = static_cast<double>(e.objects[k]);
            sum += s, square += s * s;
        }
        double total = 0;
        for (const float r : e.targets) {
            ASSERT_GE(r, 0.0F);
            total += static_cast<double>(r);
            moment += static_cast<double>(r * r);
        }
        ASSERT_NEAR(total, 1.0, 1e-6);
        for (const double error : errors(e, 10, 50))
            if (std::abs(error) > 1e-5) off += 1, noise += error * error;
    }
    EXPECT_NEAR(sum / 200000, 0.0, 0.002);
    EXPECT_NEAR(square / 200000, 1.0 / 50.0, 0.0005);
    EXPECT_NEAR(off / 20000, 0.2, 0.01);
    EXPECT_NEAR(noise / off, 100.0, 6.0);
    EXPECT_NEAR(moment / 4000, 2.0 / (10 * 11), 0.001);  // of the even simplex
    for (const double fraction : {0.0, 1.0}) {
        o.adversarial = fraction;
        for (const double error : errors(exampleOf(openData(o).train, 0), 10, 50)) {
            if (fraction == 0.0) {
                ASSERT_NEAR(error, 0.0, 1e-6);
            } else {
                ASSERT_NE(error, 0.0);
            }
        }
    }
    // More noise leaves symbols, mixture and the numbers that were off before.
    o.adversarial = 0.2;
    const auto less = exampleOf(openData(o).train, 3);
    o.adversarial = 0.4;
    const auto more = exampleOf(openData(o).train, 3);
    EXPECT_EQ(less.targets, more.targets);
    for (std::size_t k = 0; k < 500; ++k) ASSERT_EQ(less.objects[k], more.objects[k]);
    const auto few = errors(less, 10, 50), many = errors(more, 10, 50);
    for (std::size_t k = 0; k < 50; ++k)
        if (std::abs(few[k]) > 1e-5) {
            EXPECT_EQ(few[k], many[k]);
        }
}

TEST(SymbolRecovery, SparseOnesAreOfFewSymbolsDrawnEvenly) {
    auto o = options("symbol-recovery", "sparse");
    o.objects = 40, o.dim = 20, o.nonzero = 5, o.adversarial = 0.05;
    const auto data = openData(o).train;
    std::vector<int> times(40);
    for (std::int64_t i = 0; i < 2000; ++i) {
        const auto e = exampleOf(data, i);
        int used = 0;
        double total = 0;
        for (std::size_t k = 0; k < 40; ++k) {
            used += e.targets[k] > 0.0F;
            times[k] += e.targets[k] > 0.0F;
            total += static_cast<double>(e.targets[k]);
        }
        ASSERT_EQ(used, 5);
        ASSERT_NEAR(total, 1.0, 1e-6);
    }
    EXPECT_GT(*std::ranges::min_element(times), 190);  // of 250
    EXPECT_LT(*std::ranges::max_element(times), 310);
    const auto words = data->sample(0).source.labels;
    EXPECT_EQ(words[0].find("symbol 1: "), 0u);
    EXPECT_NE(words[40].find(" of 20 are outliers"), std::string::npos) << words[40];
}

TEST(NumberSets, RefuseWhatCannotBe) {
    const auto fieldOf = [](const DataOptions& o) {
        try {
            openData(o);
        } catch (const OptionError& error) {
            return error.field();
        }
        return std::string();
    };
    auto o = options("select-relate", "select-relate");
    EXPECT_EQ(fieldOf(o), "");
    o.train_size = 0;
    EXPECT_EQ(fieldOf(o), "data.train_size") << "there is no end to them";
    o = options("select-relate", "dense");
    EXPECT_EQ(fieldOf(o), "data.task");
    o = options("select-relate", "select-wave");
    o.objects = 1;
    EXPECT_EQ(fieldOf(o), "data.objects");
    o.objects = 8, o.dim = 0;
    EXPECT_EQ(fieldOf(o), "data.dim");
    o.dim = 100000;
    EXPECT_EQ(fieldOf(o), "data.dim");
    o = options("symbol-recovery", "sparse");
    o.nonzero = 9;
    EXPECT_EQ(fieldOf(o), "data.nonzero");
}

}  // namespace
}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
// Heads on features against numbers of numpy, on labels that mean nothing, and in damaged files.
#include "readout/feature_heads.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "checkpoint/tensor_io.h"
#include "data/batches.h"
#include "evaluate/pair_scores.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

using core::FeatureHead;
using core::LabelledFeatures;
using testing_support::TemporaryFolder;

/// sin(1.3 (i + after) + 0.7 j^2 + i mod 3)
torch::Tensor waves(std::int64_t rows, std::int64_t columns, double after = 0.0) {
    auto x = torch::empty({rows, columns}, torch::kDouble);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            x[i][j] = std::sin(1.3 * (static_cast<double>(i) + after) +
                               0.7 * static_cast<double>(j * j) + static_cast<double>(i % 3));
    return x;
}

LabelledFeatures nine(std::int64_t width) {
    return {waves(9, width), {0, 1, 2, 0, 1, 2, 0, 1, 2}, {"a", "b", "c"}};
}

void expectScores(const FeatureHead& head, std::int64_t width, const std::vector<double>& wanted) {
    const auto scores = head.scores(waves(2, width, 0.5));
    ASSERT_EQ(scores.sizes(), (std::vector<std::int64_t>{2, 3}));
    for (std::int64_t k = 0; k < 6; ++k)
        EXPECT_NEAR(scores.flatten()[k].item<double>(), wanted[static_cast<std::size_t>(k)], 1e-9)
            << k;
}

// Of features that are fewer than the examples, and more.
TEST(FeatureHeads, ScoresAreThoseOfNumpy) {
    expectScores(nearestMeanHead(nine(4)), 4,
                 {0.683741970132, 0.265334904607, -0.032170969349, -0.792936992409, -0.985439750772,
                  -0.991578381286});
    expectScores(ridgeHead(nine(4)), 4,
                 {0.388857019876, 0.306730301795, 0.304412678329, 0.321943193682, 0.371645796686,
                  0.306411009633});
    expectScores(ridgeHead(nine(4), 0.01), 4,
                 {0.424918907773, 0.260601161530, 0.314479930697, 0.291661762316, 0.434595347968,
                  0.273742889716});
    expectScores(nearestMeanHead(nine(20)), 20,
                 {0.982269438431, -0.433921495582, 0.192857691322, -0.728295297038, 0.984128962666,
                  -0.907641084594});
    expectScores(ridgeHead(nine(20)), 20,
                 {0.418121971493, 0.267146953093, 0.314731075414, 0.295381436759, 0.424325097635,
                  0.280293465606});
    expectScores(ridgeHead(nine(20), 0.01), 20,
                 {0.425650989066, 0.259424540171, 0.314924470763, 0.290853070963, 0.436174998649,
                  0.272971930388});
    // A feature that is the same everywhere says nothing.
    auto even = nine(4);
    even.features.select(1, 2).fill_(3.0);
    auto queries = waves(2, 4, 0.5);
    queries.select(1, 2).fill_(3.0);
    const auto scores = ridgeHead(even).scores(queries);
    EXPECT_NEAR(scores[0][0].item<double>(), 0.388939157211, 1e-9);
    EXPECT_NEAR(scores[1][2].item<double>(), 0.318549568890, 1e-9);
}

TEST(FeatureHeads, SayWhatTheyWereFittedOn) {
    auto fitting = nine(4);
    fitting.labels = {0, 1, 2, 0, 1, 2, 0, 0, 0};
    const auto head = nearestMeanHead(fitting);
    EXPECT_EQ(head.counts, (std::vector<std::int64_t>{5, 2, 2}));
    EXPECT_EQ(head.examples(), 9);
    EXPECT_EQ(head.width(), 4);
    EXPECT_EQ(ridgeHead(fitting).width(), 4);
    // Autograd goes through.
    auto x = waves(2, 4).to(torch::kFloat).requires_grad_();
    for (const auto& one : {head, ridgeHead(fitting)}) {
        x.mutable_grad() = torch::Tensor();
        one.scores(x).select(1, 0).sum().backward();
        EXPECT_GT(x.grad().abs().sum().item<double>(), 0.0);
    }
}

void expectRefused(const std::function<void()>& act, const std::string& said) {
    try {
        act();
        ADD_FAILURE() << "accepted; wanted " << said;
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
}

TEST(FeatureHeads, RefuseWhatCannotBeFitted) {
    const auto with = [](const std::function<void(LabelledFeatures&)>& change) {
        auto fitting = nine(4);
        change(fitting);
        return [fitting] { nearestMeanHead(fitting); };
    };
    expectRefused(with([](auto& f) { f.labels.pop_back(); }), "8 labels");
    expectRefused(with([](auto& f) { f.labels[3] = 3; }), "label 3");
    expectRefused(with([](auto& f) { f.labels[3] = -1; }), "label -1");
    expectRefused(with([](auto& f) { f.classes.push_back("none"); }), "'none' has no example");
    expectRefused(with([](auto& f) { f.classes = {"a"}; }), "1 class;");
    expectRefused(with([](auto& f) { f.features[5][1] = NAN; }), "example 5");
    expectRefused(with([](auto& f) { f.features = f.features.to(torch::kLong); }), "9 x 4");
    expectRefused([] { ridgeHead(nine(4), 0.0); }, "ridge");
    expectRefused([] { ridgeHead(nine(4), NAN); }, "ridge");
    expectRefused([] { nearestMeanHead(nine(4)).scores(waves(2, 5)); }, "width 4");
    auto few = nine(4);
    few.features = few.features.slice(0, 0, 3), few.labels.resize(3);
    expectRefused([&] { core::chosenRidge(few, 0); }, "fifth of 3");
}

TEST(FeatureHeads, DividesEachClass) {
    std::vector<std::int64_t> labels;
    for (int i = 0; i < 47; ++i) labels.push_back(i < 40 ? 0 : i < 45 ? 1 : 2);
    const std::vector<std::string> classes = {"many", "five", "two"};
    const auto split = core::headSplit(labels, classes, 3);
    EXPECT_EQ(split.fitting.size() + split.measured.size(), 47u);
    std::vector<int> measured(3), seen(47);
    for (const auto i : split.measured) {
        ++measured[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])];
        ++seen[static_cast<std::size_t>(i)];
    }
    for (const auto i : split.fitting) ++seen[static_cast<std::size_t>(i)];
    EXPECT_EQ(measured, (std::vector<int>{13, 1, 1}));
    EXPECT_EQ(seen, std::vector<int>(47, 1)) << "no example in both";
    EXPECT_EQ(core::headSplit(labels, classes, 3).measured, split.measured);
    EXPECT_NE(core::headSplit(labels, classes, 4).measured, split.measured);
    labels.pop_back();
    expectRefused([&] { core::headSplit(labels, classes, 3); }, "'two' has one example");
}

/// Pictures of 12 x 12 pixels, 40 of each class: stripes of three directions under noise, as 24
/// features of a fixed layer that was never trained.
LabelledFeatures pictures() {
    constexpr int side = 12, each = 40;
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    LabelledFeatures all{{}, {}, {"across", "down", "slanted"}};
    auto pixels = torch::empty({3 * each, side * side}, torch::kDouble),
         layer = torch::empty({side * side, 24}, torch::kDouble);
    for (auto* tensor : {&pixels, &layer})
        for (std::int64_t i = 0; i < tensor->numel(); ++i)
            tensor->data_ptr<double>()[i] = normal(random);
    for (int i = 0; i < 3 * each; ++i) {
        const int label = i / each;
        all.labels.push_back(label);
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                const int along = label == 0 ? y : label == 1 ? x : x + y;
                pixels[i][y * side + x] += along % 4 < 2 ? 1.0 : -1.0;
            }
    }
    all.features = torch::tanh(torch::mm(pixels, layer) / side);
    return all;
}

LabelledFeatures rowsOf(const LabelledFeatures& all, const std::vector<std::int64_t>& rows) {
    LabelledFeatures part{
        all.features.index_select(0, torch::tensor(rows, torch::kLong)), {}, all.classes};
    for (const auto row : rows) part.labels.push_back(all.labels[static_cast<std::size_t>(row)]);
    return part;
}

struct Measured {
    double right = 0.0, all = 0.0;
    bool chance() const {
        const auto [low, high] = core::proportionInterval(right, all);
        return low <= 1.0 / 3.0 && 1.0 / 3.0 <= high;
    }
};
using Fit = std::function<FeatureHead(const LabelledFeatures&)>;

Measured measured(const LabelledFeatures& all, std::uint64_t seed, const Fit& fit) {
    const auto split = core::headSplit(all.labels, all.classes, seed);
    const auto asked = rowsOf(all, split.measured);
    const auto given = fit(rowsOf(all, split.fitting)).scores(asked.features).argmax(1);
    return {given.eq(torch::tensor(asked.labels, torch::kLong)).sum().item<double>(),
            static_cast<double>(asked.labels.size())};
}

TEST(FeatureHeads, LabelsWithoutMeaningGiveChance) {
    const auto all = pictures();
    const Fit fits[] = {
        [](const LabelledFeatures& f) { return core::nearestMeanHead(f); },
        [](const LabelledFeatures& f) { return core::ridgeHead(f, core::chosenRidge(f, 5)); }};
    for (const auto& fit : fits) {
        EXPECT_GE(measured(all, 1, fit).right, 30.0) << "of 39";
        int chance = 0;
        for (std::int64_t run = 0; run < 50; ++run) {
            auto shuffled = all;
            const auto order = core::shuffledOrder(120, 2, run);
            for (std::size_t i = 0; i < 120; ++i)
                shuffled.labels[i] = all.labels[static_cast<std::size_t>(order[i])];
            chance += measured(shuffled, static_cast<std::uint64_t>(run), fit).chance() ? 1 : 0;
        }
        EXPECT_GE(chance, 45);
    }
}

// Many features that say nothing need a large penalty, two that say all a small one.
TEST(FeatureHeads, ThePenaltyIsChosenOnAFifth) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    LabelledFeatures noisy{torch::empty({60, 50}, torch::kDouble), {}, {"a", "b"}}, plain = noisy;
    for (std::int64_t i = 0; i < noisy.features.numel(); ++i)
        noisy.features.data_ptr<double>()[i] = normal(random);
    plain.features = torch::zeros({60, 2}, torch::kDouble);
    for (std::int64_t i = 0; i < 60; ++i) {
        noisy.labels.push_back(i % 2), plain.labels.push_back(i % 2);
        noisy.features[i][0] += i % 2 ? 1.0 : -1.0;
        plain.features[i][0] = i % 2 ? 1.0 : -1.0;
    }
    EXPECT_GE(core::chosenRidge(noisy, 0), 1.0);
    EXPECT_EQ(core::chosenRidge(plain, 0), 0.01);
}

TEST(FeatureHeads, NearestExamplesAreByCosine) {
    const auto features =
        torch::tensor({{1.0, 0.0}, {0.0, 2.0}, {5.0, 5.0}, {1.0, 0.0}, {-1.0, 0.0}});
    const auto near = core::nearestExamples(features, torch::tensor({{3.0, 0.0}, {0.0, 0.1}}), 3);
    EXPECT_TRUE(near.indices.equal(torch::tensor({{0, 3, 2}, {1, 2, 0}}, torch::kLong)));
    EXPECT_NEAR(near.cosines[0][2].item<double>(), std::sqrt(0.5), 1e-12);
    EXPECT_EQ(core::nearestExamples(features, features, 99).indices.size(1), 5);
    EXPECT_EQ(core::nearestExamples(features, features.slice(0, 0, 0), 2).indices.size(0), 0);
    const auto many = torch::randn({700, 3});  // in several blocks
    EXPECT_TRUE(core::nearestExamples(many, many, 1).indices.flatten().equal(torch::arange(700)));
}

class HeadFiles : public ::testing::Test {
protected:
    HeadFiles() { core::makeDirectories(m_folder.path()); }
    using Metadata = std::map<std::string, std::string>;
    using Tensors = std::map<std::string, torch::Tensor>;
    void expectRefused(const std::function<void(Metadata&, Tensors&)>& change,
                       const std::string& said) const {
        Metadata metadata = {{"format", "relascope head 1"},
                             {"kind", "ridge"},
                             {"classes", R"(["a", "b"])"},
                             {"counts", "[2, 3]"},
                             {"ridge", "1.0"}};
        Tensors tensors = {{"weights", torch::ones({3, 2}, torch::kDouble)},
                           {"mean", torch::ones({3}, torch::kDouble)},
                           {"deviation", torch::ones({3}, torch::kDouble)},
                           {"offset", torch::ones({2}, torch::kDouble)}};
        change(metadata, tensors);
        core::saveTensors(m_path, {tensors.begin(), tensors.end()}, metadata);
        if (said.empty()) {
            EXPECT_EQ(core::readHead(m_path).examples(), 5);
            return;
        }
        relascope::expectRefused([&] { core::readHead(m_path); }, said);
    }

    TemporaryFolder m_folder{"heads"};
    std::string m_path = m_folder / "head.safetensors";
};

TEST_F(HeadFiles, AreReadBack) {
    auto fitting = nine(20);
    fitting.classes = {"a \"b\"", "ü", "c"};
    for (auto head : {nearestMeanHead(fitting), core::ridgeHead(fitting, 0.1)}) {
        head.model = "sha256:1", head.data = "2";
        writeHead(head, m_path);
        const auto back = core::readHead(m_path);
        EXPECT_EQ(back.kind, head.kind);
        EXPECT_EQ(back.classes, head.classes);
        EXPECT_EQ(back.counts, head.counts);
        EXPECT_EQ(back.model, head.model);
        EXPECT_EQ(back.data, head.data);
        EXPECT_EQ(back.ridge, head.ridge);
        EXPECT_TRUE(back.scores(waves(5, 20)).equal(head.scores(waves(5, 20))));
    }
}

TEST_F(HeadFiles, HostileOnesAreRefused) {
    expectRefused([](auto&, auto&) {}, "");
    expectRefused([](auto& m, auto&) { m.erase("format"); }, "is not a head of this program");
    expectRefused([](auto& m, auto&) { m["kind"] = "forest"; }, "'forest'");
    expectRefused([](auto& m, auto&) { m["kind"] = "nearest-mean"; }, "'means'");
    for (const char* classes : {"", "[1, 2]", R"({"a": 1})", R"(["a", "a"])", R"(["a", ""])"})
        expectRefused([&](auto& m, auto&) { m["classes"] = classes; }, "classes");
    expectRefused([](auto& m, auto&) { m["classes"] = std::string(100000, '['); }, "classes");
    expectRefused([](auto& m, auto&) { m["classes"] = R"(["a"])"; }, "1 class");
    for (const char* counts : {"", "[1]", "[1, 0]", "[1, 1e99]", "[1, 2.5]", "[1, -2]"})
        expectRefused([&](auto& m, auto&) { m["counts"] = counts; }, "counts");
    expectRefused([](auto& m, auto&) { m["counts"] = std::string(100000, '['); }, "counts");
    for (const char* ridge : {"", "0", "-1", "NaN", "1e999", "\"1\""})
        expectRefused([&](auto& m, auto&) { m["ridge"] = ridge; }, "ridge");
    for (const char* name : {"weights", "mean", "deviation", "offset"}) {
        expectRefused([&](auto&, auto& t) { t.erase(name); }, name);
        expectRefused([&](auto&, auto& t) { t[name] = t[name].to(torch::kFloat); }, name);
        expectRefused([&](auto&, auto& t) { t[name] = t[name].unsqueeze(0); }, name);
        expectRefused([&](auto&, auto& t) { t[name] = t[name].slice(0, 0, 0).clone(); }, name);
        expectRefused([&](auto&, auto& t) { t[name].fill_(INFINITY); }, "not finite");
    }
    expectRefused([](auto&, auto& t) { t["deviation"].fill_(0.0); }, "deviation");
    expectRefused([](auto&, auto& t) { t["mean"] = torch::ones({4}, torch::kDouble); }, "mean");
    // A file that was cut.
    writeHead(nearestMeanHead(nine(4)), m_path);
    std::filesystem::resize_file(m_path, std::filesystem::file_size(m_path) - 8);
    EXPECT_THROW(core::readHead(m_path), FileError);
    std::ofstream(m_path, std::ios::trunc) << "no head";
    EXPECT_THROW(core::readHead(m_path), FileError);
    EXPECT_THROW(core::readHead(m_folder / "none"), FileError);
}

}  // namespace
}  // namespace relascope

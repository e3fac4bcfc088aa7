// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of any checkpoint into a real model: what fits, what does not, and what goes wrong on the
// way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include <torch/types.h>
#include <torch/utils.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using namespace testing_support;
using Named = std::vector<std::pair<std::string, torch::Tensor>>;

class LoadWeights : public testing::Test {
protected:
    LoadWeights() : home("load"), model(makeModel(options())), other(makeModel(options())) {
        std::filesystem::create_directories(home.path());
    }
    static ModelOptions options() { return tinyOptions().model; }

    // The model's tensors once, under the names that `rename` gives them.
    Named tensors(const std::function<std::string(const std::string&)>& rename = {}) {
        Named all;
        for (const auto& entry : stateOf(*model))
            if (entry.aliasOf.empty())
                all.emplace_back(rename ? rename(entry.name) : entry.name,
                                 entry.tensor.detach().clone());
        return all;
    }
    std::string save(const Named& tensors) {
        const std::string path = home / "x.safetensors";
        saveTensors(path, tensors);
        return path;
    }
    void expectLoaded(double tolerance = 0.0) {
        const auto a = stateOf(*model), b = stateOf(*other);
        for (std::size_t i = 0; i < a.size(); ++i)
            EXPECT_TRUE(torch::allclose(a[i].tensor, b[i].tensor, tolerance, tolerance))
                << a[i].name;
    }
    void expectRefused(const std::string& path, const std::vector<std::string>& message) {
        const auto before = tensorsOf(*other);
        try {
            loadWeights(*other, path);
            FAIL() << "accepted";
        } catch (const FileError& error) {
            for (const auto& word : message)
                EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
        const auto after = tensorsOf(*other);
        for (std::size_t i = 0; i < before.size(); ++i)
            EXPECT_TRUE(torch::equal(before[i], after[i])) << "nothing was replaced";
    }
    static std::vector<torch::Tensor> tensorsOf(ModelImpl& model) {
        std::vector<torch::Tensor> all;
        for (const auto& entry : stateOf(model)) all.push_back(entry.tensor.detach().clone());
        return all;
    }

    TemporaryFolder home;
    ModelPtr model, other;
};

TEST_F(LoadWeights, TakesEveryForm) {
    const auto path = save(tensors());
    EXPECT_TRUE(loadWeights(*other, path).text().empty());
    expectLoaded();
    for (const char* form : {"/x.pt", "/folder"}) {
        other = makeModel(options());
        std::filesystem::create_directories(home / "in");
        saveWeights(*model, home / "in/model.safetensors");
        writeTextFile(home / "in/config.json", "{}");
        convertCheckpoint(home / "in", home.path() + form);
        EXPECT_TRUE(loadWeights(*other, home.path() + form).text().empty());
        expectLoaded();
    }
}

TEST_F(LoadWeights, TakesPrefixes) {
    for (const char* prefix : {"_orig_mod.", "model.", "model._orig_mod."}) {
        other = makeModel(options());
        loadWeights(*other, save(tensors([&](auto& name) { return prefix + name; })));
        expectLoaded();
    }
}

TEST_F(LoadWeights, TakesTiedTensorsUnderAnyName) {
    std::map<std::string, std::string> alias;  // of the parameter
    for (const auto& entry : stateOf(*model))
        if (!entry.aliasOf.empty()) alias[entry.aliasOf] = entry.name;
    ASSERT_FALSE(alias.empty()) << "this model ties something";
    const auto second = [&](const std::string& name) {
        return alias.count(name) ? alias[name] : name;
    };
    EXPECT_TRUE(loadWeights(*other, save(tensors(second))).text().empty());
    expectLoaded();
    other = makeModel(options());
    auto both = tensors();
    for (const auto& [own, name] : alias)
        for (const auto& [key, tensor] : tensors())
            if (key == own) both.emplace_back(name, tensor);
    EXPECT_TRUE(loadWeights(*other, save(both)).text().empty());
    expectLoaded();
    // Neither name is missing all the same.
    auto neither = tensors();
    const auto own = alias.begin()->first;
    std::erase_if(neither, [&](const auto& t) { return t.first == own; });
    expectRefused(save(neither), {"missing: " + own});
}

TEST_F(LoadWeights, ListsEverythingThatDiffers) {
    auto all = tensors();
    const auto missing = all.back().first, shape = all[0].first, type = all[1].first;
    all.pop_back();
    all[0].second = torch::zeros({3});
    all[1].second = torch::zeros(all[1].second.sizes(), torch::kLong);
    all.emplace_back("stranger", torch::zeros({2}));
    expectRefused(save(all), {"missing: " + missing, "unexpected: stranger",
                              "wrong shape: " + shape + " [3]", "wrong type: " + type + " I64"});
}

TEST_F(LoadWeights, ConvertsFloatingPoint) {
    for (const auto type : {torch::kDouble, torch::kHalf, torch::kBFloat16}) {
        auto all = tensors();
        for (auto& [name, tensor] : all)
            if (tensor.is_floating_point()) tensor = tensor.to(type);
        other = makeModel(options());
        loadWeights(*other, save(all));
        for (const auto& entry : stateOf(*other))
            EXPECT_FALSE(entry.tensor.scalar_type() == type) << "the model keeps its type";
        expectLoaded(type == torch::kBFloat16 ? 1e-2 : type == torch::kHalf ? 2e-3 : 0.0);
    }
}

TEST_F(LoadWeights, NamesWeightsThatAreNotFinite) {
    for (const auto type : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16})
        for (const double value : {double(NAN), double(INFINITY), -double(INFINITY)}) {
            auto all = tensors();
            // In the last place of one, the first of another.
            all[0].second = all[0].second.to(type);
            all[0].second.view({-1})[-1] = value;
            all[1].second = all[1].second.to(type);
            all[1].second.view({-1})[0] = value;
            const auto report = loadWeights(*other, save(all));
            EXPECT_EQ(report.nonFinite, (std::vector<std::string>{all[0].first, all[1].first}));
            EXPECT_TRUE(report.loads()) << "a warning only";
        }
}

// Tensors of more than a piece: a vocabulary that costs 12 MB.
ModelOptions wide() {
    ModelOptions o = tinyOptions().model;
    o.set("dff", 200'000);
    return o;
}

TEST_F(LoadWeights, ReportsProgressAndStopsBetweenPieces) {
    auto large = makeModel(wide()), target = makeModel(wide());
    saveWeights(*large, home / "large.safetensors");
    const auto source = CheckpointSource::open(home / "large.safetensors");
    ASSERT_GT(source->bytes(), 3 * kReadPiece);
    std::vector<double> fractions;
    loadWeights(*target, *source, {},
                [&](double fraction) { return fractions.push_back(fraction), true; });
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_DOUBLE_EQ(fractions.back(), 1.0);
    EXPECT_GT(fractions.size(), source->tensors().size()) << "large tensors move it within";
    for (std::size_t i = 0; i < target->parameters().size(); ++i)
        EXPECT_TRUE(torch::equal(target->parameters()[i], large->parameters()[i]));

    int calls = 0;
    EXPECT_THROW(loadWeights(*target, *source, {}, [&](double) { return ++calls < 2; }), Cancelled);
    EXPECT_EQ(calls, 2) << "no piece is read after the answer";
    std::stop_source stop;
    EXPECT_THROW(loadWeights(*target, *source, stop.get_token(),
                             [&](double) { return stop.request_stop(), true; }),
                 Cancelled);
}

TEST_F(LoadWeights, ConvertsLargeTensorsPieceByPiece) {
    auto large = makeModel(wide()), target = makeModel(wide());
    Named all;
    for (const auto& entry : stateOf(*large))
        if (entry.aliasOf.empty()) all.emplace_back(entry.name, entry.tensor.to(torch::kDouble));
    saveTensors(home / "double.safetensors", all);
    loadWeights(*target, home / "double.safetensors");
    for (std::size_t i = 0; i < target->parameters().size(); ++i)
        EXPECT_TRUE(torch::equal(target->parameters()[i], large->parameters()[i]));
}

TEST_F(LoadWeights, SurvivesItsFile) {
    auto large = makeModel(wide());
    const std::string path = home / "large.safetensors";
    // While it loads, another process cuts the file, writes into it, or puts another in its place.
    const std::vector<std::pair<const char*, std::function<void()>>> deeds = {
        {"truncated", [&] { ASSERT_EQ(::truncate(path.c_str(), 0), 0); }},
        {"was changed", [&] { ASSERT_EQ(::truncate(path.c_str(), 40'000'000), 0); }},
        {"was replaced", [&] { saveWeights(*large, path); }}};
    for (const auto& [message, deed] : deeds) {
        saveWeights(*large, path);
        auto fresh = makeModel(wide());
        const auto source = CheckpointSource::open(path);
        bool done = false;
        try {
            loadWeights(*fresh, *source, {}, [&](double) {
                if (!std::exchange(done, true)) deed();
                return true;
            });
            FAIL() << message;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
    }
    // A caller that loads into a fresh model and swaps afterwards still has the one in use.
    expectRefused(path, {"does not fit the model"});
}

TEST_F(LoadWeights, FillsParametersThatAreLaidOutOtherwise) {
    // As after a transposition in place.
    const torch::NoGradGuard noGrad;
    for (auto& parameter : other->parameters())
        if (parameter.dim() == 2)
            parameter.set_data(torch::zeros({parameter.size(1), parameter.size(0)}).t());
    loadWeights(*other, save(tensors()));
    expectLoaded();
}

TEST(Weights, LoadAllOrNothingAndReportEverything) {
    TemporaryFolder home("weights");
    std::filesystem::create_directories(home.path());
    ModelOptions m = tinyOptions().model;
    auto model = makeModel(m);
    saveWeights(*model, home / "good.safetensors");
    auto other = makeModel(m);
    EXPECT_TRUE(loadWeights(*other, home / "good.safetensors").text().empty());
    for (std::size_t i = 0; i < model->parameters().size(); ++i)
        EXPECT_TRUE(torch::equal(model->parameters()[i], other->parameters()[i]));

    std::vector<std::pair<std::string, torch::Tensor>> tensors;
    for (const auto& entry : stateOf(*model))
        if (entry.aliasOf.empty() && entry.name != "final_out.bias")
            tensors.emplace_back(entry.name, entry.tensor);
    tensors[0].second = torch::zeros({3});
    tensors.emplace_back("stranger", torch::zeros({2}));
    saveTensors(home / "bad.safetensors", tensors);
    const auto before = other->parameters()[1].detach().clone();
    try {
        loadWeights(*other, home / "bad.safetensors");
        FAIL();
    } catch (const FileError& error) {
        for (const char* words :
             {"missing: final_out.bias", "unexpected: stranger", "wrong shape: ", "[3]"})
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
    EXPECT_TRUE(torch::equal(before, other->parameters()[1])) << "nothing was replaced";

    // A tied tensor may be stored under its second name, and numbers that are not finite are named.
    tensors.clear();
    for (const auto& entry : stateOf(*model)) {
        if (entry.name.find("wq_rel") != std::string::npos) continue;
        tensors.emplace_back(entry.name, entry.name == "final_out.bias"
                                             ? torch::full_like(entry.tensor, NAN)
                                             : entry.tensor);
    }
    saveTensors(home / "alias.safetensors", tensors);
    EXPECT_EQ(loadWeights(*other, home / "alias.safetensors").text(), "not finite: final_out.bias");
}

}  // namespace
}  // namespace relascope

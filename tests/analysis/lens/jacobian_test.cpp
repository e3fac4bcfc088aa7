// SPDX-License-Identifier: GPL-3.0-or-later
// The Jacobian lens: where it is known exactly, by differences, and its files.
#include "analysis/lens/jacobian.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/lens/lens.h"
#include "analysis/open_model.h"
#include "checkpoint/tensor_io.h"
#include "interventions/editor.h"
#include "model/architecture.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "support/zoo.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;
const std::string kFixtures = RELASCOPE_FIXTURES;

ModelOptions languageModel() {
    for (const auto& [name, options] : smallModels())
        if (options.architecture() == "TransformerLM") return options;
    return {};
}

ModelPtr drawnModel(const ModelOptions& options) {
    torch::manual_seed(5);
    auto model = makeModel(options);
    const torch::NoGradGuard noGrad;
    for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter), 0.3);
    model->eval();
    return model;
}

torch::Tensor parameterOf(ModelImpl& model, const std::string& name) {
    const auto all = model.named_parameters();
    const auto* found = all.find(name);
    EXPECT_NE(found, nullptr) << name;
    return found ? found->to(torch::kDouble) : torch::Tensor();
}

// Without norms and non-linearities, and with queries of zero, every layer is linear: attention
// takes the mean of the places before, whose weights add up to one for each place that reads. The
// mean over the places that are read is then (1 + F) (1 + O V) for each layer.
TEST(JacobianLens, IsExactForALinearModelOfTwoLayers) {
    auto options = languageModel();
    put(options, "norm_type", std::string("none"));
    put(options, "activation", std::string("identity"));
    auto model = drawnModel(options);
    {
        const torch::NoGradGuard noGrad;
        for (auto& each : model->named_parameters())
            if (each.key().find(".wq.") != std::string::npos) each.value().zero_();
    }
    const auto width = options.get<StreamOptions>().d_model;
    const auto one = torch::eye(width, torch::TensorOptions(torch::kDouble));
    std::vector<torch::Tensor> layers;
    for (const std::string block : {"layers.blocks.0.", "layers.blocks.1."}) {
        const auto weight = [&](const std::string& name) {
            return parameterOf(*model, block + name + ".weight");
        };
        const auto attended = torch::matmul(weight("self_attn.wo"), weight("self_attn.wv"));
        const auto fed = torch::matmul(weight("ff_block.linear2"), weight("ff_block.linear1"));
        layers.push_back(torch::matmul(one + fed, one + attended));
    }
    const auto stream = answerStream(*model, options);
    JacobianSums sums(*model, stream, {.skipped = 0, .together = 10});
    for (int text = 0; text < 3; ++text) sums.add(smallBatch(options, 1).x);
    const auto lens = sums.mean();
    EXPECT_EQ(lens.texts, 3);
    ASSERT_EQ(lens.matrices.size(), 2u);
    const auto both = torch::matmul(layers[1], layers[0]);
    EXPECT_TRUE(torch::allclose(lens.matrices.at(0).to(torch::kDouble), both, 1e-4, 1e-5))
        << (lens.matrices.at(0) - both).abs().max();
    EXPECT_TRUE(torch::allclose(lens.matrices.at(1).to(torch::kDouble), layers[1], 1e-4, 1e-5));
}

// Moves a stream by the same vector at some places, and sums the last one over them.
class MovedStream : public Hooks {
public:
    MovedStream(std::string point, std::string last, torch::Tensor by, std::int64_t first)
        : m_point(std::move(point)), m_last(std::move(last)), m_by(std::move(by)), m_first(first) {}
    bool takes(std::string_view prefix) const override {
        return m_point.starts_with(prefix) || m_last.starts_with(prefix);
    }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        if (point.name == m_last) sum = value[0].slice(0, m_first).to(torch::kDouble).sum(0);
        if (point.name != m_point) return value;
        auto moved = value.clone();
        moved.slice(1, m_first).add_(m_by.to(value.scalar_type()));
        return moved;
    }
    torch::Tensor sum;

private:
    std::string m_point, m_last;
    torch::Tensor m_by;
    std::int64_t m_first;
};

TEST(JacobianLens, IsTheDifferenceQuotientOfGpt2) {
    core::OpenedModel opened(kFixtures + "/golden/public/gpt2_tied", "", "cpu");
    auto sample = opened.randomInput(3);
    opened.withInput(sample, {}, [&](ModelImpl& model, const ModelInput& input) {
        model.to(torch::kDouble);
        const auto stream = answerStream(model, opened.options());
        JacobianFit how;
        how.together = 5 * input.x.size(1);  // the last pass has fewer directions
        JacobianSums sums(model, stream, how);
        sums.add(input.x);
        const auto lens = sums.mean();
        const auto n = std::min(input.x.size(1), how.tokens), first = std::min(how.skipped, n / 4);
        ASSERT_EQ(lens.matrices.size() + 1, stream.points.size());
        const torch::NoGradGuard noGrad;
        torch::manual_seed(1);
        for (std::size_t row = 0; row + 1 < stream.points.size(); ++row) {
            const auto width = lens.matrices.at(row).size(0);
            const auto v = torch::randn({width}, torch::TensorOptions(torch::kDouble));
            constexpr double step = 1e-5;
            std::vector<torch::Tensor> ends;
            for (const double by : {step, -step}) {
                MovedStream moved(stream.points[row], stream.points.back(), v * by, first);
                const HookScope scope(&moved);
                model.forward(input.x.slice(1, 0, n));
                ends.push_back(moved.sum);
            }
            const auto quotient = (ends[0] - ends[1]) / (2 * step * static_cast<double>(n - first));
            const auto given = torch::matmul(lens.matrices.at(row).to(torch::kDouble), v);
            EXPECT_LT(((given - quotient).norm() / quotient.norm()).item<double>(), 1e-5) << row;
        }
        model.to(torch::kFloat);
    });
}

TEST(JacobianLens, OfOneIsTheLogitLensToTheBit) {
    for (const auto& [name, options] : smallModels()) {
        const auto& architecture = options.architecture();
        if (architecture != "TransformerLM" && architecture != "DualAttnTransformerLM" &&
            architecture != "HadamardTransformerLM" && architecture != "VisionTransformer")
            continue;
        SCOPED_TRACE(name);
        auto model = drawnModel(options);
        const auto input = smallBatch(options, 1);
        const auto stream = answerStream(*model, options);
        PointReader reader({stream.points.back()});
        readPass(*model, input, reader);
        const auto width = reader.tensors().at(stream.points.back()).size(-1);
        core::JacobianLens lens;
        for (std::size_t row = 0; row + 1 < stream.points.size(); ++row)
            lens.matrices[row] = torch::eye(width);
        const auto plain = logitLens(*model, options, input);
        const auto both = logitLens(*model, options, input, {}, &lens);
        ASSERT_EQ(both.rows.size(), 2 * plain.rows.size() - 1);
        for (std::size_t row = 0; row < plain.rows.size(); ++row)
            for (std::size_t c = 0; c < plain.columns(); ++c) {
                const auto& own = plain.cell(row, c);
                EXPECT_EQ(both.cell(2 * row, c).entropy, own.entropy);
                if (row + 1 == plain.rows.size()) continue;
                EXPECT_EQ(both.rows[2 * row + 1], both.rows[2 * row] + " J");
                const auto& through = both.cell(2 * row + 1, c);
                EXPECT_EQ(through.entropy, own.entropy);
                EXPECT_EQ(through.probability, own.probability);
                for (std::size_t k = 0; k < own.top.size(); ++k) {
                    EXPECT_EQ(through.top[k].id, own.top[k].id);
                    EXPECT_EQ(through.top[k].logit, own.top[k].logit);
                }
            }
    }
}

// What stands behind the last stream does not matter, and every text model has a lens.
TEST(JacobianLens, IsFittedOnEveryFormOfTextModel) {
    int seen = 0;
    for (const auto& [name, options] : smallModels()) {
        if (!options.find<TokenInput>()) continue;
        SCOPED_TRACE(name);
        auto model = drawnModel(options);
        std::vector<bool> trained;
        for (const auto& parameter : model->parameters())
            trained.push_back(parameter.requires_grad());
        const auto stream = answerStream(*model, options);
        JacobianSums sums(*model, stream);
        sums.add(smallBatch(options, 1).x);
        const auto lens = sums.mean();
        EXPECT_EQ(lens.matrices.size() + 1, stream.points.size());
        for (const auto& [row, matrix] : lens.matrices)
            EXPECT_TRUE(matrix.isfinite().all().item<bool>() &&
                        matrix.abs().max().item<double>() > 0)
                << row;
        std::size_t at = 0;
        for (const auto& parameter : model->parameters()) {
            EXPECT_FALSE(parameter.grad().defined());
            EXPECT_EQ(parameter.requires_grad(), trained[at++]);
        }
        ++seen;
    }
    EXPECT_GE(seen, 10);
}

TEST(JacobianLens, IsCancelledBetweenPasses) {
    const auto options = languageModel();
    auto model = drawnModel(options);
    const auto stream = answerStream(*model, options);
    JacobianSums sums(*model, stream, {.together = 1});
    std::vector<double> fractions;
    EXPECT_THROW(sums.add(smallBatch(options, 1).x, {},
                          [&](double fraction) {
                              fractions.push_back(fraction);
                              return fractions.size() < 3;
                          }),
                 Cancelled);
    ASSERT_EQ(fractions.size(), 3u);
    EXPECT_LT(fractions[1], fractions[2]);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(sums.add(smallBatch(options, 1).x, stop.get_token()), Cancelled);
    EXPECT_EQ(sums.texts(), 0);
}

// The file is the one that the authors' program writes, of two layers (torch.save of {"J": {0:
// half, 1: half}, "n_prompts": 3, "source_layers": [0, 1], "d_model": 4}).
TEST(JacobianFile, OfThePublishedFormIsRead) {
    const auto lens = readJacobians(kFixtures + "/jacobian/published.pt", {3, 4});
    ASSERT_EQ(lens.matrices.size(), 2u);
    EXPECT_EQ(lens.matrices.at(1)[0][1].item<float>(), 0.035980224609375F);
    EXPECT_EQ(lens.matrices.at(2)[0][3].item<float>(), -0.1651611328125F);
}

TEST(JacobianFile, KeepsWhatWasFitted) {
    const TemporaryFolder folder("jacobian");
    core::JacobianLens lens;
    lens.texts = 7, lens.tokens = 64, lens.weights = 4000000000U;
    lens.matrices[0] = torch::randn({3, 3});
    lens.matrices[2] = torch::randn({3, 3});
    const auto path = folder / "lens.safetensors";
    writeJacobians(lens, path);
    const auto read = readJacobians(path, {2, 3});
    EXPECT_EQ(read.texts, 7);
    EXPECT_EQ(read.weights, 4000000000U);
    ASSERT_EQ(read.matrices.size(), 2u);
    EXPECT_TRUE(read.matrices.at(2).equal(lens.matrices[2]));
    writeJacobians(lens, path);  // once more
}

template <class Action>
std::string fileRefusal(Action&& action) {
    try {
        action();
    } catch (const FileError& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(JacobianFile, SaysWhatIsWrong) {
    const TemporaryFolder folder("jacobian-wrong");
    std::filesystem::create_directories(folder.path());
    const auto path = folder / "lens.safetensors";
    const auto says = [&](const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                          const std::string& expected) {
        saveTensors(path, tensors);
        const auto said = fileRefusal([&] { readJacobians(path, {2, 3}); });
        EXPECT_NE(said.find(expected), std::string::npos) << said;
        EXPECT_NE(said.find(path), std::string::npos) << said;
    };
    const auto one = torch::eye(3);
    says(
        {{"layers.0", torch::zeros({3, 4})}},
        "tensor 'layers.0' is [3, 4]; a Jacobian lens of this model has layers.0 to layers.1, each "
        "[3, 3]");
    says({{"layers.0", one}, {"layers.2", one}},
         "tensor 'layers.2' is of a layer that the model does not have: it has 2");
    says({{"J.0", one}, {"layers.0", one}}, "names a layer for the second time");
    says({{"layers.1", one.to(torch::kLong)}}, "tensor 'layers.1' is I64");
    says({{"layers.1", one / 0.0}}, "tensor 'layers.1' has numbers that are not finite");
    says({{"a.weight", one}, {"b", one}},
         "holds no Jacobian lens: its tensors are 'a.weight', 'b'; one of this model has layers.0");
    std::vector<std::pair<std::string, torch::Tensor>> many;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) many.emplace_back(name, one);
    says(many, "its tensors are 'a', 'b', 'c', 'd', 'e', 'f', ...; one");
    const auto kept = fileRefusal([&] { writeJacobians({}, path); });
    EXPECT_NE(kept.find("exists and is no Jacobian lens"), std::string::npos) << kept;
    EXPECT_NE(fileRefusal([&] {
                  readJacobians(folder / "none.safetensors", {2, 3});
              }).find("none"),
              std::string::npos);
}

}  // namespace
}  // namespace relascope

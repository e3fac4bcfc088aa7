// SPDX-License-Identifier: GPL-3.0-or-later
// Dictionary: what is said by factors is what the whole table says, the table of tokens is what
// models compute, and so are pixels x pixels of patches.
#include "analysis/analysis.h"
#include "analysis/dictionary/dictionary.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "analysis/open_model.h"
#include "analysis/parts/weight_scores.h"
#include "analysis/run_analysis.h"
#include "analysis/verify/verify_why.h"
#include "interventions/editor.h"
#include "interventions/projection.h"
#include "model/abstractor/abstractor_options.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

core::ScoreFactors drawnFactors(std::int64_t rows, std::int64_t width) {
    torch::manual_seed(5);
    core::ScoreFactors factors;
    factors.q = torch::randn({rows, width}, torch::kDouble) + 0.5;
    factors.k = torch::randn({rows, width}, torch::kDouble) * 2.0 - 0.3;
    factors.scale = 0.7;
    return factors;
}

torch::Tensor evenWeights(std::int64_t rows) {
    return torch::full({rows}, 1.0 / static_cast<double>(rows), torch::kDouble);
}

TEST(ScoreFactors, SayWhatTheWholeTableSays) {
    const auto factors = drawnFactors(300, 6);
    auto p = torch::rand({300}, torch::kDouble);
    p.slice(0, 7, 12).zero_();
    p = p / p.sum();
    const auto table = factors.scale * torch::matmul(factors.q, factors.k.t());
    const auto w = p.unsqueeze(1) * p;
    const double mean = (w * table).sum().item<double>();
    const auto rows = torch::matmul(table, p).unsqueeze(1), columns = torch::matmul(p, table);
    const auto pair = table - rows - columns + mean;
    const double all = (w * (table - mean).square()).sum().item<double>();
    const auto c = core::componentsOf(factors, p);
    EXPECT_NEAR(c.deviation, std::sqrt(all), 1e-10);
    EXPECT_NEAR(c.receiverShare,
                (p.unsqueeze(1) * (rows - mean).square()).sum().item<double>() / all, 1e-10);
    EXPECT_NEAR(c.pairShare, (w * pair.square()).sum().item<double>() / all, 1e-10);
    EXPECT_NEAR(c.receiverShare + c.senderShare + c.pairShare, 1.0, 1e-12);
    const auto symmetric = (pair + pair.t()) / 2;
    EXPECT_NEAR(c.symmetric,
                ((w * symmetric.square()).sum() / (w * pair.square()).sum()).item<double>(), 1e-10);
    // The components are the pair part, wherever a token occurs.
    ASSERT_EQ(c.values.size(0), 6);
    const auto again = torch::matmul(c.receiver * c.values, c.sender.t());
    const auto seen = p.gt(0).to(torch::kDouble);
    EXPECT_LT(((again - pair) * seen * seen.unsqueeze(1)).abs().max().item<double>(), 1e-10);
    for (const auto& x : {c.receiver, c.sender}) {
        EXPECT_LT(torch::matmul(p, x).abs().max().item<double>(), 1e-12);
        const auto moments = torch::matmul((x * p.unsqueeze(1)).t(), x);
        EXPECT_LT((moments - torch::eye(6, torch::kDouble)).abs().max().item<double>(), 1e-10);
    }
    const auto preferred = core::selfPreference(factors, p);
    const auto own = table.diagonal().unsqueeze(1);
    const auto wins = own.gt(table).to(torch::kDouble) + 0.5 * own.eq(table).to(torch::kDouble);
    const auto others = w * (1.0 - torch::eye(300, torch::kDouble));
    EXPECT_NEAR(preferred.value, ((others * wins).sum() / others.sum()).item<double>(), 1e-12);
    EXPECT_EQ(preferred.drawn, 0);
}

TEST(ScoreFactors, FindTheExtremesOfATableThatIsNotMade) {
    for (const std::int64_t width : {1, 3, 16}) {
        const auto factors = drawnFactors(2500, width);
        const auto table = (factors.scale * torch::matmul(factors.q, factors.k.t())).flatten();
        const auto found = core::extremePairs(factors, 25);
        ASSERT_EQ(found.highest.size(), 25U);
        ASSERT_EQ(found.lowest.size(), 25U);
        EXPECT_LT(found.looked, found.tiles) << "lengths rule tiles out";
        for (const bool highest : {true, false}) {
            const auto [values, at] = table.topk(25, 0, highest);
            const auto& ours = highest ? found.highest : found.lowest;
            for (std::int64_t k = 0; k < 25; ++k) {
                const auto& pair = ours[static_cast<std::size_t>(k)];
                EXPECT_NEAR(pair.score, values[k].item<double>(), 1e-12);
                EXPECT_EQ(pair.receiver * 2500 + pair.sender, at[k].item<std::int64_t>());
            }
        }
    }
    // All pairs of a small table, and ties.
    core::ScoreFactors same{torch::ones({3, 1}, torch::kDouble),
                            torch::ones({3, 1}, torch::kDouble)};
    EXPECT_EQ(core::extremePairs(same, 50).highest.size(), 9U);
    // Rows that are drawn say the same as all of them, within their error.
    const auto many = drawnFactors(5000, 4);
    const auto drawn = core::selfPreference(many, evenWeights(5000));
    EXPECT_EQ(drawn.drawn, 2048);
    const auto table = torch::matmul(many.q, many.k.t());
    const double whole =
        table.diagonal().unsqueeze(1).gt(table).to(torch::kDouble).sum().item<double>() /
        (5000.0 * 4999.0);
    EXPECT_NEAR(drawn.value, whole, 4.0 * drawn.error);
}

TEST(ScoreFactors, CovarianceAndRowMeansAreThoseOfTheWholeTable) {
    const auto one = drawnFactors(80, 5);
    auto other = drawnFactors(80, 5);
    other.q = other.q + torch::randn({80, 5}, torch::kDouble), other.scale = -0.4;
    auto p = torch::rand({80}, torch::kDouble);
    p = p / p.sum();
    const auto table = [](const core::ScoreFactors& f) {
        return f.scale * torch::matmul(f.q, f.k.t());
    };
    const auto w = p.unsqueeze(1) * p;
    const auto centred = [&](const core::ScoreFactors& f) {
        return table(f) - (w * table(f)).sum();
    };
    EXPECT_NEAR(core::scoreCovariance(one, other, p),
                (w * centred(one) * centred(other)).sum().item<double>(), 1e-10);
    EXPECT_NEAR(core::scoreCovariance(one, one, p),
                std::pow(core::componentsOf(one, p).deviation, 2), 1e-9);
    // A softmax does not see the mean of a row, in which columns count as often as they occur.
    const auto rows = table(one) - torch::matmul(table(one), p).unsqueeze(1);
    EXPECT_LT((table(core::lessRowMeans(one, p)) - rows).abs().max().item<double>(), 1e-12);
}

TEST(ScoreFactors, OfATableThatComparesNothing) {
    auto factors = drawnFactors(40, 3);
    factors.q = factors.q.slice(0, 0, 1).expand({40, 3}).contiguous();
    EXPECT_TRUE(core::componentsOf(factors, evenWeights(40)).oneSided);
    EXPECT_FALSE(core::componentsOf(factors, evenWeights(40)).constant);
    EXPECT_NEAR(core::componentsOf(factors, evenWeights(40)).senderShare, 1.0, 1e-9);
    factors.k = factors.k.slice(0, 0, 1).expand({40, 3}).contiguous();
    EXPECT_TRUE(core::componentsOf(factors, evenWeights(40)).constant);
    // A map that takes the same of both sides along one direction.
    factors = drawnFactors(40, 1), factors.k = factors.q;
    const auto one = core::componentsOf(factors, evenWeights(40));
    EXPECT_EQ(one.values.size(0), 1);
    EXPECT_NEAR(one.symmetric, 1.0, 1e-12);
}

ModelPtr drawnForTables(const ModelOptions& options) {
    torch::manual_seed(13);
    auto model = makeModel(options);
    {
        const torch::NoGradGuard noGrad;
        for (auto& parameter : model->parameters())
            parameter.add_(torch::randn_like(parameter), 0.3);
    }
    model->eval();
    return model;
}

std::map<std::string, torch::Tensor> pointsForTables(ModelImpl& model, const ModelInput& input) {
    const torch::NoGradGuard noGrad;
    core::PointReader reader;
    const core::HookScope scope(&reader);
    model.forward(input);
    return reader.take();
}

struct CheckedMaps {
    int tables = 0, forms = 0;
    int whole = 0;  ///< tables that were held against every pair of a text
};

// Holds the scores of a layer against those that a pass records; in later layers of a model whose
// earlier layers add nothing.
void checkLayer(ModelImpl& model, const ModelOptions& options, const ModelInput& input, int layer,
                CheckedMaps& checked) {
    std::unique_ptr<core::ModelStreams> streams;
    try {
        streams = std::make_unique<core::ModelStreams>(model, options);
    } catch (const OptionError&) {
        return;
    }
    const auto points = pointsForTables(model, input);
    for (const char* kind : {"relation", "attention-ra", "attention-sa"})
        for (int index = 0; index < 2; ++index) {
            SCOPED_TRACE(std::string(kind) + " " + std::to_string(index));
            std::unique_ptr<core::ScoreParts> parts;
            try {
                parts = std::make_unique<core::ScoreParts>(
                    *streams, core::scoreMap(*streams, "", layer, kind, index));
                (void)parts->projection(core::ScoreSide::I);
            } catch (const OptionError&) {
                continue;  // there is no such map
            }
            const auto at = parts->scorePoint();
            const auto& recorded = points.at(at.name);
            const torch::Tensor map =
                (at.byRelation ? recorded.select(3, index) : recorded.select(1, index))
                    .to(torch::kDouble);  // [b, i, j]
            const torch::Tensor open = map.isfinite();
            const double tolerance = 3e-5 * (1.0 + map.index({open}).abs().max().item<double>());
            if (options.input() == InputKind::Tokens) {
                const auto n = map.size(1);
                const std::vector<std::pair<std::int64_t, std::int64_t>> cells = {
                    {n - 1, 0}, {n - 1, n - 2}, {1, 1}, {2, 1}};
                for (const auto& [i, j] : cells) {
                    const auto factors = core::tokenFactors(*parts, core::TokenPlaces{i, j, i - j});
                    for (std::int64_t b = 0; b < map.size(0); ++b) {
                        if (!open[b][i][j].item<bool>()) continue;
                        const auto t = input.x[b][i].item<std::int64_t>(),
                                   u = input.x[b][j].item<std::int64_t>();
                        const double ours =
                            factors.scale * (factors.q[t] * factors.k[u]).sum().item<double>();
                        EXPECT_NEAR(ours, map[b][i][j].item<double>(), tolerance);
                    }
                }
                ++checked.tables;
                // Where places make no difference the table has every pair of the text.
                const auto plain = core::tokenFactors(*parts, {}),
                           placed = core::tokenFactors(*parts, core::TokenPlaces{2, 0, 2});
                if (!torch::equal(plain.q, placed.q) || !torch::equal(plain.k, placed.k)) continue;
                for (std::int64_t b = 0; b < map.size(0); ++b) {
                    const auto own =
                        plain.scale * torch::matmul(plain.q.index_select(0, input.x[b]),
                                                    plain.k.index_select(0, input.x[b]).t());
                    const auto off = (own - map[b]).index({open[b]});
                    EXPECT_LT(off.abs().max().item<double>(), tolerance);
                }
                ++checked.whole;
            } else if (options.input() != InputKind::Pairs) {
                try {
                    const core::LinearScores scores(*parts);
                    const auto objects = scores.read(input);
                    const auto n = objects.gain.size(1), first = map.size(1) - n;
                    const auto own = map.slice(1, first).slice(2, first);
                    const auto off = (scores.scores(objects) - own).index({own.isfinite()});
                    EXPECT_LT(off.abs().max().item<double>(), tolerance);
                    const auto& x = objects.numbers;
                    const auto pixels = torch::einsum("eip,pq,ejq->eij", {x, scores.form(), x});
                    EXPECT_LT((scores.pixels(objects) - pixels).abs().max().item<double>(),
                              1e-9 * (1.0 + pixels.abs().max().item<double>()));
                    ++checked.forms;
                } catch (const OptionError& error) {
                    EXPECT_FALSE(error.message().empty());
                }
            }
        }
}

// Layers before add nothing: their last projections are 0.
void silence(ModelImpl& model) {
    const torch::NoGradGuard noGrad;
    for (auto& parameter : model.named_parameters()) {
        const auto& key = parameter.key();
        for (const char* last : {"wo.weight", "wo.bias", "wo_sa.weight", "wo_ra.weight",
                                 "wo_rel.weight", "linear2.weight", "linear2.bias", "wr"})
            if (key.ends_with(last)) parameter.value().zero_();
    }
}

TEST(WeightScores, AreWhatModelsCompute) {
    CheckedMaps first, later;
    for (const auto& [name, base] : smallModels())
        for (const std::string form : {"", "pre-norm", "rmsnorm, biases", "post-norm", "no norm"}) {
            auto options = base;
            const auto set = [&](const std::string& field, const auto& value) {
                for (const std::string stack : {"", "decoder."})
                    if (options.has(stack + field)) put(options, stack + field, value);
            };
            if (!form.empty() && !options.has("norm_first")) continue;
            if (form == "pre-norm") set("norm_first", true);
            if (form == "post-norm") set("norm_first", false);
            if (form == "rmsnorm, biases")
                set("norm_type", "rmsnorm"), set("bias", true), set("norm_first", true),
                    set("sa_add_bias_kv", true), set("ra_add_bias_kv", true);
            if (form == "no norm") set("norm_type", "none"), set("norm_first", false);
            SCOPED_TRACE(name + " " + form);
            const auto model = drawnForTables(options);
            const auto input = smallBatch(options, 2);
            checkLayer(*model, options, input, 0, first);
            silence(*model);
            SCOPED_TRACE("layer 2");
            if (options.info().layers(options).size() > 1 && !options.find<AbstractorOptions>())
                checkLayer(*model, options, input, 1, later);
        }
    EXPECT_GE(first.tables, 60);
    EXPECT_GE(first.forms, 30);
    EXPECT_GE(later.tables, 60);
    EXPECT_GE(first.whole, 30);
    RecordProperty("whole", first.whole);
    RecordProperty("tables", first.tables);
    RecordProperty("forms", first.forms);
    RecordProperty("later", later.tables + later.forms);
}

// A relation of the stream before the first layer, with a mean of each place, and b.
TEST(WeightScores, OfAFittedRelationAreItsMap) {
    int tables = 0, forms = 0;
    for (const auto& [name, options] : smallModels()) {
        if (options.input() == InputKind::Pairs) continue;
        SCOPED_TRACE(name);
        const auto model = drawnForTables(options);
        const auto input = smallBatch(options, 2);
        std::unique_ptr<core::ModelStreams> streams;
        try {
            streams = std::make_unique<core::ModelStreams>(*model, options);
        } catch (const OptionError&) {
            continue;
        }
        RelationFile relation;
        const auto points = pointsForTables(*model, input);
        const auto& stack = streams->stacks().front();
        if (stack.blocks.empty()) continue;
        relation.point = stack.blocks.front().hook + ".hook_resid_pre";
        if (!points.contains(relation.point)) continue;
        const auto stream = points.at(relation.point).to(torch::kDouble);  // [b, n, d]
        const auto drawn = [&](std::int64_t rows) {
            const auto values = torch::randn({rows, stream.size(2)}).contiguous();
            const auto* first = values.const_data_ptr<float>();
            return std::vector<float>(first, first + values.numel());
        };
        relation.rank = 2, relation.width = stream.size(2);
        if (const auto* images = options.find<ImageInput>())
            relation.firstTokens = stream.size(1) - images->patches();
        const auto n = stream.size(1) - relation.firstTokens;
        relation.places = n;
        relation.a = drawn(2), relation.b = drawn(2), relation.mean = drawn(n);
        relation.bias = 0.7F;
        std::unique_ptr<core::ScoreParts> parts;
        try {
            parts = std::make_unique<core::ScoreParts>(*streams, relation, "same");
        } catch (const OptionError&) {
            continue;
        }
        const auto map =
            core::streamRelationOf(relation).map(stream.slice(1, relation.firstTokens));
        const double tolerance = 3e-5 * (1.0 + map.abs().max().item<double>());
        if (options.input() == InputKind::Tokens) {
            for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{n - 1, 0}, {1, 2}}) {
                const auto factors = core::tokenFactors(*parts, core::TokenPlaces{i, j, i - j});
                const auto t = input.x[0][i].item<std::int64_t>(),
                           u = input.x[0][j].item<std::int64_t>();
                EXPECT_NEAR(factors.scale * (factors.q[t] * factors.k[u]).sum().item<double>(),
                            map[0][i][j].item<double>(), tolerance);
            }
            ++tables;
            continue;
        }
        try {
            const core::LinearScores scores(*parts);
            const auto off = scores.scores(scores.read(input)) - map;
            EXPECT_LT(off.abs().max().item<double>(), tolerance);
            ++forms;
        } catch (const OptionError& error) {
            EXPECT_NE(error.field(), "relation") << error.message();
        }
    }
    EXPECT_GE(tables, 3);
    EXPECT_GE(forms, 3);
    RecordProperty("tables", tables);
    RecordProperty("forms", forms);
}

// nanochat mixes the embedding in before each block, so that the stream behind a block is not the
// one whose parts are known.
TEST(WeightScores, OfAFittedRelationOfAStreamBeforeMixingAreRefused) {
    int models = 0;
    for (const auto& [name, options] : smallModels()) {
        if (options.input() != InputKind::Tokens) continue;
        const auto model = drawnForTables(options);
        const core::ModelStreams streams(*model, options);
        if (streams.mixing().empty()) continue;
        ++models;
        const auto& blocks = streams.stacks().front().blocks;
        RelationFile relation;
        relation.rank = relation.places = 1;
        relation.width = static_cast<std::int64_t>(options.number("d_model"));
        relation.a.assign(static_cast<std::size_t>(relation.width), 1.0F);
        relation.b = relation.mean = relation.a;
        for (const bool last : {false, true}) {
            relation.point = (last ? blocks.back() : blocks.front()).hook + ".hook_resid_post";
            if (last)
                EXPECT_NO_THROW(core::ScoreParts(streams, relation, "same"));
            else
                EXPECT_THROW(core::ScoreParts(streams, relation, "same"), OptionError);
        }
    }
    EXPECT_GE(models, 1);
}

TEST(WeightScores, AreWhatPublicModelsCompute) {
    CheckedMaps checked;
    const std::string golden = std::string(RELASCOPE_FIXTURES) + "/golden/";
    for (const auto& folder : {golden, golden + "public/"})
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (!std::filesystem::exists(entry.path() / "config.json")) continue;
            SCOPED_TRACE(entry.path().string());
            core::OpenedModel model(entry.path().string(), "", "cpu");
            model.withInput(model.randomInput(3), {}, [&](ModelImpl& m, const ModelInput& input) {
                checkLayer(m, model.options(), input, 0, checked);
            });
        }
    EXPECT_GE(checked.tables, 60);
    EXPECT_GE(checked.forms, 10);
    RecordProperty("tables", checked.tables);
    RecordProperty("forms", checked.forms);
}

// Without biases and positions there is nothing but numbers x numbers: the gains and the filters
// are then what the model computes.
TEST(WeightScores, WithoutBiasesAreNumbersTimesNumbers) {
    int maps = 0;
    for (const auto& [name, options] : smallModels()) {
        if (options.input() != InputKind::Images && options.input() != InputKind::Objects) continue;
        SCOPED_TRACE(name);
        const auto model = drawnForTables(options);
        {
            const torch::NoGradGuard noGrad;
            for (auto& parameter : model->named_parameters())
                if (parameter.key().ends_with("bias") ||
                    parameter.key().find("pos_embedding") != std::string::npos)
                    parameter.value().zero_();
        }
        const auto input = smallBatch(options, 3);
        for (const char* kind : {"relation", "attention-sa", "attention-ra"}) try {
                const core::ModelStreams streams(*model, options);
                const core::ScoreParts parts(streams, core::scoreMap(streams, "", 0, kind, 0));
                const core::LinearScores scores(parts);
                const auto objects = scores.read(input);
                const auto whole = scores.scores(objects);
                // Abstractors have positions without weights.
                if (options.find<AbstractorOptions>()) continue;
                EXPECT_LT((scores.pixels(objects) - whole).abs().max().item<double>(),
                          1e-5 * (1.0 + whole.abs().max().item<double>()));
                ++maps;
            } catch (const OptionError& error) {
                EXPECT_FALSE(error.message().empty());
            }
    }
    EXPECT_GE(maps, 10);
}

TEST(DictionaryGolden, AreVerified) {
    const std::string golden = std::string(RELASCOPE_FIXTURES) + "/golden/";
    for (const char* name : {"dictionary_gpt2", "dictionary_lm", "dictionary_vidat"}) {
        SCOPED_TRACE(name);
        const auto report = core::verifyWhy(golden + "why/" + name, "cpu", golden);
        EXPECT_TRUE(report.ok);
        EXPECT_GE(report.lines.size(), 16U);
        for (const auto& line : report.lines)
            EXPECT_TRUE(line.ok) << line.name << " " << line.absolute << " " << line.note;
    }
}

std::string dictionaryRefusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing";
}

ModelOptions smallTextModel() {
    for (const auto& [name, options] : smallModels())
        if (options.find<TokenInput>() && options.has("n_relations")) return options;
    throw Error("no model of text");
}

TEST(DictionaryOfWeights, SaysInOneSentenceWhatItCannotSay) {
    core::OpenedModel model(smallTextModel(), 3, "cpu");
    core::AnalysisSubject subject;
    subject.model = &model, subject.device = "cpu";
    const auto run = [&](core::OptionValues values) {
        return core::runnerOf(core::analysisNamed("qk-components")).run(subject, values, {});
    };
    const auto answer = run({{"token", std::string("id:1")}, {"top", std::int64_t{5}}});
    EXPECT_EQ(answer.table("extremes").rows(), 10U);
    EXPECT_EQ(answer.table("partners").rows(), 20U);
    const auto& shares = answer.table("components").numbers("share");
    EXPECT_GT(shares.at(0), 0.0);
    EXPECT_NEAR(answer.number("receivers") + answer.number("senders") + answer.number("pairs"), 1.0,
                1e-9);
    EXPECT_NE(dictionaryRefusal([&] {
                  run({{"token", std::string("id:99999")}});
              }).find("token"),
              std::string::npos);
    EXPECT_NE(dictionaryRefusal([&] {
                  run({{"at", std::string("3;4")}});
              }).find("is not two positions"),
              std::string::npos);
    EXPECT_NE(dictionaryRefusal([&] {
                  run({{"at", std::string("100000,4")}});
              }).find("out of range"),
              std::string::npos);
    EXPECT_NE(dictionaryRefusal([&] {
                  run({{"attribute", std::string("same object")}});
              }).find("patches"),
              std::string::npos);
    // Weights that are not finite, and a map that is the same for all tokens.
    model.withInput(model.randomInput(1), {}, [](ModelImpl& m, const core::ModelInput&) {
        const torch::NoGradGuard noGrad;
        for (auto& parameter : m.named_parameters())
            if (parameter.key().find("wq_rel") != std::string::npos)
                parameter.value().flatten()[0].fill_(std::nan(""));
    });
    EXPECT_NE(dictionaryRefusal([&] { run({}); }).find("NaN or infinity"), std::string::npos);
    model.withInput(model.randomInput(1), {}, [](ModelImpl& m, const core::ModelInput&) {
        const torch::NoGradGuard noGrad;
        for (auto& parameter : m.named_parameters())
            if (parameter.key().find("wq_rel") != std::string::npos) parameter.value().zero_();
    });
    EXPECT_NE(dictionaryRefusal([&] { run({}); }).find("compares nothing"), std::string::npos);
    auto one = smallTextModel();
    one.set("vocab_size", std::int64_t{1});
    core::OpenedModel single(one, 3, "cpu");
    subject.model = &single;
    EXPECT_NE(dictionaryRefusal([&] { run({}); }).find("no pair to compare"), std::string::npos);
}

}  // namespace
}  // namespace relascope

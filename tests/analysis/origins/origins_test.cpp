// SPDX-License-Identifier: GPL-3.0-or-later
// Origins: the terms of every score of every model add up to it, parts are what the stream has of
// them, and the tokens of a part add up to the part.
#include "analysis/origins/origins.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/parts/score_parts.h"
#include "interventions/editor.h"
#include "model/abstractor/abstractor_options.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

ModelPtr drawnForOrigins(const ModelOptions& options, torch::ScalarType type = torch::kDouble) {
    torch::manual_seed(11);
    auto model = makeModel(options);
    {
        const torch::NoGradGuard noGrad;
        for (auto& parameter : model->parameters())
            parameter.add_(torch::randn_like(parameter), 0.3);
    }
    model->to(type);
    model->eval();
    return model;
}

ModelOptions zooModel(const std::string& name) {
    for (const auto& [known, options] : smallModels())
        if (known == name) return options;
    throw Error("no model " + name);
}

std::map<std::string, torch::Tensor> allPoints(ModelImpl& model, const ModelInput& input) {
    const torch::NoGradGuard noGrad;
    PointReader reader;
    const HookScope scope(&reader);
    model.forward(input);
    return reader.take();
}

/// The scores at a hook point, with the map that they are.
struct ScorePoint {
    std::string stack, kind, point;
    int layer = 0;
    bool byRelation = false;  ///< [b, i, j, relation], not [b, head, i, j]
};

std::vector<ScorePoint> scorePoints(const std::map<std::string, torch::Tensor>& points,
                                    const ModelOptions& options) {
    std::vector<ScorePoint> all;
    for (const auto& [name, tensor] : points) {
        std::vector<std::string> words;
        std::istringstream text(name);
        for (std::string word; std::getline(text, word, '.');) words.push_back(word);
        const auto& last = words.back();
        const bool hadamard = options.find<NanochatOptions>() && last == "hook_r";
        const bool relation = last == "hook_rel_scores" || hadamard;
        if (words.size() < 2 || (!relation && last != "hook_attn_scores")) continue;
        const auto& module = words[words.size() - 2];
        if (module == "sym" || words.size() < 3) {
            if (name == "relation.hook_rel_scores")
                all.push_back({"objects", "relation", name, 0, true});
            continue;
        }
        ScorePoint one{words[0], {}, name, 0, relation};
        one.layer = std::stoi(words[words.size() - 3]);
        if (words.size() == 5)  // a further Abstractor of a chain
            one.layer += std::stoi(words[1]) * static_cast<int>(options.number("n_layers_abs"));
        one.kind = relation                             ? "relation"
                   : module == "cross_attn"             ? "cross"
                   : module == "rel" || module == "rca" ? "attention-ra"
                                                        : "attention-sa";
        if (module == "self_attn") one.kind = "attention-sa";
        all.push_back(one);
    }
    return all;
}

double largestOf(const torch::Tensor& terms) {
    return terms.abs().sum().item<double>();
}

class OriginSums : public testing::TestWithParam<torch::ScalarType> {};

TEST_P(OriginSums, AreTheScoresOfEveryMapOfTheZoo) {
    int maps = 0, models = 0;
    std::vector<std::string> refused;
    double worst = 0.0;
    for (const auto& [name, base] : smallModels())
        for (const std::string form : {"", "pre-norm", "rmsnorm, biases", "no norm"}) {
            auto options = base;
            const auto set = [&](const std::string& field, const auto& value) {
                for (const std::string stack : {"", "decoder."})
                    if (options.has(stack + field)) put(options, stack + field, value);
            };
            const bool abstracts = options.find<AbstractorOptions>() != nullptr;
            if (!form.empty() && !options.has("norm_first") && !abstracts) continue;
            if (form == "pre-norm") set("norm_first", true), set("abs_norm_first", true);
            if (form == "rmsnorm, biases") {
                set("norm_type", "rmsnorm"), set("bias", true), set("norm_first", false);
                set("sa_add_bias_out", true), set("ra_add_bias_out", true);
                set("sa_add_bias_kv", true), set("ra_add_bias_kv", true);
            }
            if (form == "no norm") set("norm_type", "none"), set("norm_first", false);
            SCOPED_TRACE(name + " " + form);
            auto model = drawnForOrigins(options, GetParam());
            const auto input = smallBatch(options, 1, GetParam());
            std::unique_ptr<ModelStreams> streams;
            try {
                streams = std::make_unique<ModelStreams>(*model, options);
            } catch (const OptionError& error) {
                EXPECT_EQ(error.field(), "model");
                refused.push_back(options.architecture());
                continue;
            }
            ++models;
            const auto points = allPoints(*model, input);
            const auto scores = scorePoints(points, options);
            EXPECT_FALSE(scores.empty());
            for (const auto& at : scores) {
                const auto tensor = points.at(at.point).to(torch::kDouble)[0];
                const auto indices = at.byRelation ? tensor.size(2) : tensor.size(0);
                for (int index = 0; index < indices; ++index) {
                    SCOPED_TRACE(at.point + " " + std::to_string(index));
                    std::unique_ptr<ScoreParts> parts;
                    try {
                        parts = std::make_unique<ScoreParts>(
                            *streams, scoreMap(*streams, at.stack, at.layer, at.kind, index));
                    } catch (const OptionError& error) {
                        EXPECT_NE(error.message().find("rescales each query"), std::string::npos)
                            << error.what();
                        continue;
                    }
                    ++maps;
                    const auto map = at.byRelation ? tensor.select(2, index) : tensor[index];
                    const auto closed = parts->closed(input);
                    const auto n = map.size(0), m = map.size(1);
                    for (const auto& [i, j] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                             {n - 1, 0}, {n / 2, std::min(n / 2, m - 1)}, {0, m - 1}}) {
                        if (closed.defined() && closed[0][i][j].item<bool>()) continue;
                        ScoreCell cell;
                        cell.i = i, cell.j = j;
                        const auto terms = scoreTerms(*parts, *model, input, cell, false);
                        const auto all = terms.terms();
                        const double tolerance =
                            (GetParam() == torch::kDouble ? 1e-6 : 1e-5) * largestOf(all) + 1e-9;
                        const double value = map[i][j].item<double>();
                        EXPECT_NEAR(terms.value, value, tolerance);
                        EXPECT_NEAR(all.sum().item<double>(), value, tolerance);
                        worst = std::max(
                            worst, std::abs(all.sum().item<double>() - value) / largestOf(all));
                        if (i != n - 1) continue;
                        cell.against = ScoreCell::Against::Row;
                        auto row = map[i];
                        if (closed.defined()) row = row.index({closed[0][i].logical_not()});
                        const auto lifted = scoreTerms(*parts, *model, input, cell, false);
                        EXPECT_NEAR(lifted.terms().sum().item<double>(),
                                    value - row.mean().item<double>(),
                                    tolerance + 1e-5 * largestOf(lifted.terms()));
                    }
                }
            }
        }
    EXPECT_GE(models, 60);
    EXPECT_GE(maps, 400);
    const std::set<std::string> kinds(refused.begin(), refused.end());
    EXPECT_GE(kinds.size(), 8U);
    RecordProperty("maps", maps);
    RecordProperty("largest_rest", std::to_string(worst));
}

INSTANTIATE_TEST_SUITE_P(Types, OriginSums, testing::Values(torch::kFloat, torch::kDouble),
                         [](const auto& info) {
                             return info.param == torch::kFloat ? "float32" : "float64";
                         });

// A pass in which one tensor is changed.
class Changed : public Hooks {
public:
    using Change = std::function<torch::Tensor(const torch::Tensor&)>;
    Changed(std::string point, Change change)
        : m_point(std::move(point)), m_change(std::move(change)) {}
    bool takes(std::string_view prefix) const override { return m_point.starts_with(prefix); }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        return point.name == m_point ? m_change(value.clone()) : value;
    }

private:
    std::string m_point;
    Change m_change;
};

torch::Tensor streamOf(ModelImpl& model, const ModelInput& input, const std::string& point,
                       Hooks* changed) {
    const torch::NoGradGuard noGrad;
    PointReader reader({point});
    const HookScope below(changed);
    const InterventionScope scope(&reader);
    model.forward(input);
    return reader.tensors().at(point);
}

// The rows of the parts of the first layer are what the stream loses with each of them.
TEST(Origins, RowsOfPartsAreWhatZeroTakesOutOfTheStream) {
    int heads = 0;
    for (const std::string name : {"DualAttnTransformerLM plain", "DualAttnTransformerLM rca",
                                   "DualAttnTransformerLM disrca", "DualAttnTransformerLM grouped",
                                   "TransformerLM plain", "HadamardTransformerLM plain"}) {
        SCOPED_TRACE(name);
        const auto options = zooModel(name);
        auto model = drawnForOrigins(options);
        const auto input = smallBatch(options, 1, torch::kDouble);
        const ModelStreams streams(*model, options);
        const StreamPlace place{0, 1, 0};
        const auto after = std::string("blocks.1.hook_resid_pre");
        // Of a model that mixes its stream, what enters the mix.
        const auto whole = streamOf(*model, input, after, nullptr);
        PointReader reader(streams.points(place));
        {
            const torch::NoGradGuard noGrad;
            const HookScope scope(&reader);
            model->forward(input);
        }
        StreamRows rows{reader.tensors(), torch::arange(whole.size(1)), {}};
        const torch::NoGradGuard noGrad;
        StreamWalk walk(streams, rows, "blocks", {});
        walk.follow(place, torch::eye(whole.size(2), torch::kDouble));
        auto sum = torch::zeros_like(whole);
        for (const auto& chunk : walk.take())
            for (std::size_t k = 0; k < chunk.parts.size(); ++k) {
                const auto& part = chunk.parts[k];
                const auto row = chunk.values.select(2, static_cast<std::int64_t>(k));
                sum += row;
                std::string point;
                Changed::Change zero;
                const auto head = [&part](int axis, int width = 0) {
                    return [&part, axis, width](torch::Tensor x) {
                        auto one = x.select(axis, part.head);
                        if (part.kind == PartKind::Relation)
                            one.select(-1, width > 0 ? part.relation % width : part.relation)
                                .zero_();
                        else
                            one.zero_();
                        return x;
                    };
                };
                const bool hadamard = options.find<NanochatOptions>() != nullptr;
                if (part.kind == PartKind::SensoryHead)
                    point = "blocks.0.attn.hook_z", zero = head(2);
                if (part.kind == PartKind::RelationalHead)
                    point = "blocks.0.rel.hook_z", zero = head(2);
                if (part.kind == PartKind::Symbols)
                    point = "blocks.0.rel.hook_z_sym", zero = head(2);
                if (part.kind == PartKind::Relation) {
                    const auto width = hadamard ? options.get<NanochatOptions>().headDim() : 0;
                    point = hadamard ? "blocks.0.rel.hook_z" : "blocks.0.rel.hook_attended_r";
                    zero = head(2, static_cast<int>(width));
                }
                if (point.empty()) continue;
                ++heads;
                // The feed-forward of the layer reads the part, too: it stays as it was.
                Changed without(point, zero);
                const auto fed = reader.tensors().at("blocks.0.hook_mlp_out");
                Changed held("blocks.0.hook_mlp_out", [&](const torch::Tensor&) { return fed; });
                HookChain both(&without, &held);
                const auto less = streamOf(*model, input, after, &both);
                EXPECT_LT((whole - less - row).abs().max().item<double>(), 1e-10) << part.text();
            }
        EXPECT_LT((sum - whole).abs().max().item<double>(), 1e-6);
    }
    EXPECT_GE(heads, 30);
}

TEST(Origins, TokensOfAPartAddUpToItsTerms) {
    int parts = 0;
    for (const std::string name :
         {"DualAttnTransformerLM plain", "DualAttnTransformerLM rca",
          "DualAttnTransformerLM disrca", "DualAttnTransformerLM grouped",
          "DualAttnTransformerLM relative, post-norm, shared", "HadamardTransformerLM plain",
          "HadamardTransformerLM grouped, half windows", "Seq2SeqDualAttnTransformer plain",
          "Seq2SeqAbstractor (b) in-turn", "Seq2SeqAbstractor symbols position_relative",
          "Seq2SeqAbstractor ablation"}) {
        SCOPED_TRACE(name);
        const auto options = zooModel(name);
        auto model = drawnForOrigins(options);
        const auto input = smallBatch(options, 1, torch::kDouble);
        const ModelStreams streams(*model, options);
        const bool pairs = options.find<PairInput>() != nullptr;
        // Relational cross-attention has no relations apart from its attention.
        const bool rca = name == "DualAttnTransformerLM rca";
        const ScoreParts map(
            streams, pairs ? scoreMap(streams, "decoder", 0, "cross", 0)
                           : scoreMap(streams, "blocks", 1, rca ? "attention-ra" : "relation", 0));
        for (const auto against :
             {ScoreCell::Against::None, ScoreCell::Against::Row, ScoreCell::Against::Cell}) {
            ScoreCell cell;
            cell.i = 2, cell.j = 1, cell.against = against, cell.otherI = 1;
            const auto whole = scoreTerms(map, *model, input, cell, false);
            const auto all = whole.terms();
            for (const bool ofI : {true, false}) {
                const auto& side = ofI ? whole.i : whole.j;
                for (std::size_t p = 0; p < side.parts.size(); ++p) {
                    const auto& part = side.parts[p];
                    if (part.head < 0) continue;
                    SCOPED_TRACE(part.text());
                    const auto split = scoreTerms(map, *model, input, cell, false, &part);
                    const auto tokens = ofI ? split.tokensOfI() : split.tokensOfJ();
                    if (!ofI && against != ScoreCell::Against::None) {
                        EXPECT_FALSE(tokens.defined());
                        continue;
                    }
                    ASSERT_TRUE(tokens.defined());
                    const auto row = ofI ? all[static_cast<std::int64_t>(p)]
                                         : all.select(1, static_cast<std::int64_t>(p));
                    EXPECT_LT((tokens.sum(0) - row).abs().max().item<double>(),
                              1e-6 * (1.0 + largestOf(all)));
                    ++parts;
                }
            }
        }
    }
    EXPECT_GE(parts, 100);
}

TEST(Origins, OfASymmetricRelationAreTheSameFromBothSides) {
    const auto options = zooModel("DualAttnTransformerLM relative, post-norm, shared");
    auto model = drawnForOrigins(options);
    const auto input = smallBatch(options, 1, torch::kDouble);
    const ModelStreams streams(*model, options);
    const ScoreParts map(streams, scoreMap(streams, "blocks", 1, "relation", 1));
    auto names = map.points(ScoreSide::I);
    for (const auto& name : map.points(ScoreSide::J)) names.push_back(name);
    PointReader reader(names);
    const torch::NoGradGuard noGrad;
    {
        const HookScope scope(&reader);
        model->forward(input);
    }
    // The relation is computed for later tokens, too.
    const auto objects = torch::tensor(std::vector<std::int64_t>{1, 3});
    PointTensors some;
    for (const auto& [name, tensor] : reader.tensors())
        some[name] = tensor.index_select(1, objects);
    const auto i = map.parts(ScoreSide::I, some, objects, input, false);
    const auto j = map.parts(ScoreSide::J, some, objects, input, false);
    const auto u = i.values[0], v = j.values[0];
    const auto forth = torch::matmul(u[0], v[1].t()), back = torch::matmul(u[1], v[0].t());
    EXPECT_LT((forth - back.t()).abs().max().item<double>(), 1e-10);
}

TEST(Origins, EditsBetweenPartsAreAPart) {
    const auto options = zooModel("DualAttnTransformerLM plain");
    auto model = drawnForOrigins(options);
    const auto input = smallBatch(options, 1, torch::kDouble);
    OriginOptions what;
    what.layer = 2, what.source = 3, what.to = 1, what.grain = "all";
    const auto plain = originsOf(*model, options, input, what, false);
    const auto has = [](const Answer& origins) {
        const auto& kinds = origins.table("parts_i").texts("kind");
        return std::count(kinds.begin(), kinds.end(), partKindName(PartKind::Edits)) > 0;
    };
    EXPECT_FALSE(has(plain));
    const auto with = [&](const std::string& point, const Changed::Change& change) {
        Changed changed(point, change);
        const HookScope scope(&changed);
        return originsOf(*model, options, input, what, true);
    };
    const auto added = with("blocks.0.hook_resid_mid", [](torch::Tensor x) {
        x.select(2, 0).add_(0.5);
        return x;
    });
    EXPECT_TRUE(has(added));
    EXPECT_NEAR(added.number("sum"), added.number("value"),
                1e-9 * (1.0 + std::abs(added.number("value"))));
    EXPECT_EQ(added.table("parts_i").texts("part").back(), "edits");
    // A head that is gone is a part of nothing, and no edit between the parts.
    const auto gone = with("blocks.0.attn.hook_z", [](torch::Tensor x) {
        x.select(2, 0).zero_();
        return x;
    });
    EXPECT_FALSE(has(gone));
    EXPECT_EQ(gone.table("parts_i").texts("part")[1], "layer 1 sensory head 1");
    EXPECT_NEAR(gone.table("parts_i").numbers("value")[1], 0.0, 1e-12);
    // A cell that is set has the origins that it had.
    for (const std::string point : {"blocks.1.rel.hook_rel_scores", "blocks.1.rel.hook_r"}) {
        const auto set = with(point, [](torch::Tensor x) {
            x.select(1, 3).select(1, 1).fill_(7.0);
            return x;
        });
        EXPECT_NEAR(set.number("value"), plain.number("value"), 1e-12);
        const auto &ours = set.table("parts_i").numbers("value"),
                   &before = plain.table("parts_i").numbers("value");
        ASSERT_EQ(ours.size(), before.size());
        for (std::size_t k = 0; k < ours.size(); ++k) EXPECT_NEAR(ours[k], before[k], 1e-12);
    }
}

TEST(Origins, GrainsAddUpAndPairsAreSorted) {
    const auto options = zooModel("DualAttnTransformerLM plain");
    auto model = drawnForOrigins(options);
    const auto input = smallBatch(options, 1, torch::kDouble);
    OriginOptions what;
    what.layer = 2, what.source = 4, what.to = 2, what.kind = "attention-ra", what.top = 5;
    for (const std::string grain : {"layers", "heads", "all"}) {
        what.grain = grain;
        const auto origins = originsOf(*model, options, input, what, false);
        EXPECT_EQ(origins.text("against"), "row");
        double sum = 0.0;
        for (const double value : origins.table("matrix").numbers("value")) sum += value;
        EXPECT_NEAR(sum, origins.number("value"), 1e-7 * (1.0 + std::abs(sum)));
        const auto& pairs = origins.table("pairs").numbers("value");
        EXPECT_LE(pairs.size(), 10U);
        EXPECT_TRUE(std::is_sorted(
            pairs.begin(),
            std::find_if(pairs.begin(), pairs.end(), [](double value) { return value < 0; }),
            std::greater<>()));
        EXPECT_GE(origins.number("cancellation"), 1.0 - 1e-9);
        if (grain == "layers") {
            EXPECT_EQ(origins.table("matrix").texts("i").front(), "input");
        }
    }
    what.tokens = "layer 1 relational head 2";
    const auto tokens = originsOf(*model, options, input, what, false);
    EXPECT_EQ(tokens.table("tokens_i").rows(), 5U);
    EXPECT_EQ(tokens.find("tokens_j"), nullptr) << "a row has no one column";
    double part = 0.0, sum = 0.0;
    const auto& parts = tokens.table("parts_i");
    for (std::size_t k = 0; k < parts.rows(); ++k)
        if (parts.texts("part")[k].starts_with(what.tokens)) part += parts.numbers("value")[k];
    for (const double value : tokens.table("tokens_i").numbers("value")) sum += value;
    EXPECT_NEAR(sum, part, 1e-6 * (1.0 + std::abs(part)));
}

std::string refusalOf(const std::string& name, const std::function<void(OriginOptions&)>& change) {
    const auto options = zooModel(name);
    auto model = drawnForOrigins(options);
    OriginOptions what;
    what.source = 1, what.to = 0;
    change(what);
    try {
        originsOf(*model, options, smallBatch(options, 1, torch::kDouble), what, false);
    } catch (const OptionError& error) {
        return error.field() + ": " + error.message();
    }
    return "";
}

TEST(Origins, AreRefusedWithTheReason) {
    const auto says = [](const std::string& refusal, const std::string& text) {
        EXPECT_NE(refusal.find(text), std::string::npos) << refusal;
    };
    const auto plain = [](OriginOptions&) {};
    says(refusalOf("CoRelNet plain", plain), "model: CoRelNet compares one vector");
    for (const std::string name :
         {"PrediNet plain", "RelationNetwork plain", "ESBN plain", "ObjectMLP plain",
          "RelationalHead two relations", "RobustRegression dense"})
        says(refusalOf(name, plain), "has no inner product of a stream of parts");
    says(
        refusalOf("HadamardTransformerLM plain", [](OriginOptions& o) { o.kind = "attention-sa"; }),
        "rescales each query after the projection");
    const std::string lm = "DualAttnTransformerLM plain";
    says(refusalOf(lm, [](OriginOptions& o) { o.source = 1, o.to = 3; }),
         "to: token 3 lies behind the mask of token 1");
    says(refusalOf(lm, [](OriginOptions& o) { o.source = 9; }), "source: 9 is out of range");
    says(refusalOf(lm, [](OriginOptions& o) { o.layer = 3; }), "layer: 3 is out of range");
    says(refusalOf(lm, [](OriginOptions& o) { o.index = 40; }), "index: 40 is out of range");
    says(refusalOf(lm, [](OriginOptions& o) { o.kind = "cross"; }), "kind: ");
    says(refusalOf(lm, [](OriginOptions& o) { o.stack = "encodr"; }), "stack: ");
    says(refusalOf(lm, [](OriginOptions& o) { o.against = "2;9"; }), "against: '2;9' is not none");
    says(refusalOf(lm, [](OriginOptions& o) { o.against = "2,99"; }),
         "against: 99 is out of range");
    says(refusalOf(lm, [](OriginOptions& o) { o.tokens = "layer 1 feed-forward"; }), "tokens_of: ");
    says(refusalOf(lm, [](OriginOptions& o) { o.tokens = "layer 1 sensory head 1"; }),
         "is no part of the streams");
}

// Weights that are not finite have no parts.
TEST(Origins, OfWeightsThatAreNotFiniteAreAnError) {
    const auto options = zooModel("DualAttnTransformerLM plain");
    auto model = drawnForOrigins(options);
    {
        const torch::NoGradGuard noGrad;
        for (auto& item : model->named_parameters())
            if (item.key() == "layers.blocks.0.dual_attn.relational_attention.wq_rel.weight")
                item.value().fill_(NAN);
    }
    OriginOptions what;
    what.source = 1, what.to = 0;
    try {
        originsOf(*model, options, smallBatch(options, 1, torch::kDouble), what, false);
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("not finite"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace relascope

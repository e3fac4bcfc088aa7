// SPDX-License-Identifier: GPL-3.0-or-later
// Edits on every kind of model: what must change nothing, what must equal a change of weights, and
// what must not reach earlier outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

#include "interventions/check_edits.h"

#include <torch/utils.h>

#include "interventions/edit_json.h"
#include "interventions/edit_values.h"
#include "interventions/edited_run.h"
#include "model/architecture.h"
#include "model/attention/relational_attention.h"
#include "model/decode/generate.h"
#include "model/model.h"
#include "support/edits.h"
#include "support/rooms.h"
#include "support/zoo.h"
#include "types/error.h"

namespace relascope {
namespace {

using testing_support::listOf;
struct Subject {
    ModelOptions options;
    ModelPtr model;
    ModelInput input{torch::Tensor()};
    std::vector<PointInfo> points;
};

Subject subjectOf(const std::pair<std::string, ModelOptions>& entry) {
    torch::manual_seed(3);
    Subject s{entry.second, makeModel(entry.second), smallBatch(entry.second, 3), {}};
    s.model->eval();
    s.points = pointsOf(*s.model, s.input);
    return s;
}

/// The first model with both kinds of heads for such inputs.
Subject dualSubject(InputKind kind) {
    for (const auto& entry : smallModels())
        if (entry.second.input() == kind && entry.second.info().dual) return subjectOf(entry);
    throw std::logic_error("the zoo has no such model");
}

class EveryModel : public testing::TestWithParam<std::pair<std::string, ModelOptions>> {
protected:
    torch::NoGradGuard noGrad;
};

torch::Tensor edited(Subject& s, const EditList& list, const ModelInput* other = nullptr) {
    checkEdits(list, s.points, EditUse::Inspect);
    Editor editor(list);
    EditInputs inputs;
    if (other) inputs.named.emplace("B", *other);
    inputs.shifted = [&](std::int64_t shift) {
        auto next = s.input;
        next.x = next.x.roll({-shift}, {0});
        if (next.target.defined()) next.target = next.target.roll({-shift}, {0});
        return next;
    };
    takeValues(editor, *s.model, s.input, inputs);
    return forwardEdited(*s.model, s.input, editor);
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

TEST_P(EveryModel, EmptyAndDisabledListsChangeNoBit) {
    auto s = subjectOf(GetParam());
    const auto plain = s.model->forward(s.input);
    EXPECT_TRUE(torch::equal(edited(s, {}), plain));
    EditList disabled;
    for (const auto& point : s.points) {
        Edit edit;
        edit.point = point.name;
        edit.enabled = false;
        disabled.edits.push_back(edit);
    }
    EXPECT_TRUE(torch::equal(edited(s, disabled), plain));
}

// At every point: scale 1, its own clean values, and those of the same input as a second one.
TEST_P(EveryModel, NeutralEditsOfEveryPointChangeNothing) {
    auto s = subjectOf(GetParam());
    const auto plain = s.model->forward(s.input);
    for (const auto& point : s.points)
        for (const auto op : {EditOp::Scale, EditOp::Clean, EditOp::Patch}) {
            if (op == EditOp::Patch && point.dimension("batch") < 0) continue;
            Edit edit;
            edit.point = point.name;
            edit.op = op;
            edit.input = op == EditOp::Patch ? "B" : "";
            auto list = listOf({edit});
            EXPECT_LT(difference(edited(s, list, &s.input), plain), 1e-5)
                << point.name << " " << editOpName(op);
        }
}

// Every point reaches the outputs: what no edit can change would be a name without a tensor.
TEST_P(EveryModel, EveryPointChangesTheOutputs) {
    auto s = subjectOf(GetParam());
    const auto plain = s.model->forward(s.input);
    for (const auto& point : s.points) {
        Edit edit;
        edit.point = point.name;
        edit.op = EditOp::Add;
        edit.values.numbers = {1.5};
        for (std::size_t d = 0; d < point.axes.size(); ++d) {
            const auto last = point.shape[d] - 1;
            if (point.axes[d] == "i") edit.selection["i"] = {{last}, {}, {}};
            // A cell that a window leaves open.
            if (point.axes[d] == "j")
                edit.selection["j"] = {
                    {point.causal ? std::max<std::int64_t>(0, last - 1) : 0}, {}, {}};
            if (point.axes[d] == "dim") edit.selection["dim"] = {{0}, {}, {}};
            // Two objects are compared: the same added to both is no difference.
            if (point.axes[d] == "slot") edit.selection["slot"] = {{0}, {}, {}};
            // The same vector added to all keys of a softmax changes nothing.
            if (point.axes[d] == "position" && last > 0)
                edit.selection["position"] = {
                    last > 1 ? std::vector<std::int64_t>{0, last} : std::vector<std::int64_t>{0},
                    {},
                    {}};
        }
        // Some models read a single cell of their relations.
        auto list = listOf({edit});
        if (point.dimension("i") >= 0 && !point.causal) {
            list.edits.push_back(edit);
            for (auto& [axis, place] : list.edits[1].selection)
                place.places[0] =
                    axis == "j" ? point.shape[static_cast<std::size_t>(point.dimension("j"))] - 1
                                : 0;
        }
        // The symbols of layers without relational heads, which nothing reads.
        // Symbols that are added to messages: the first stream is zero, and so are its values.
        const bool unread = point.name.find(".sym.") != std::string::npos ||
                            (GetParam().first.find("position_relative") != std::string::npos &&
                             point.name.rfind("abstractor.0.attn.", 0) == 0);
        EXPECT_TRUE(unread || !torch::equal(edited(s, list), plain)) << point.name;
    }
}

// In a causal model an edit at position p changes no output before p.
TEST_P(EveryModel, EditsReachNoEarlierPositionOfCausalModels) {
    auto s = subjectOf(GetParam());
    const auto plain = s.model->forward(s.input);
    if (plain.dim() != 3) return;
    const bool pairs = s.options.input() == InputKind::Pairs;
    for (const auto& point : s.points) {
        const bool decoder = !pairs || point.name.rfind("decoder.", 0) == 0;
        const bool keys = pairs && (point.name.find("cross_attn.hook_k") != std::string::npos ||
                                    point.name.find("cross_attn.hook_v") != std::string::npos);
        const auto* axis = point.dimension("position") >= 0 ? "position"
                           : point.dimension("i") >= 0      ? "i"
                                                            : nullptr;
        if (!decoder || keys || !axis || point.dimension("batch") < 0) continue;
        const std::int64_t p = plain.size(1) / 2;
        Edit edit;
        edit.point = point.name;
        edit.op = EditOp::Add;
        edit.values.numbers = {0.7};
        edit.selection[axis] = {{p}, {}, {}};
        const auto result = edited(s, listOf({edit}));
        const bool symbolRows = point.name.find("hook_rel_scores") != std::string::npos;
        // A softmax of relations over all objects reads later ones by design.
        if (symbolRows) continue;
        EXPECT_LT(difference(result.slice(1, 0, p), plain.slice(1, 0, p)), 1e-5) << point.name;
    }
}

// The whole stream of another input gives the other input's outputs.
TEST_P(EveryModel, TheWholeStreamOfAnotherInputGivesItsOutputs) {
    auto s = subjectOf(GetParam());
    const ModelInput other = smallBatch(s.options, 3);
    const auto wanted = s.model->forward(other);
    std::string last;
    for (const auto& point : s.points)
        if (point.name.ends_with("hook_resid_post") && point.name.rfind("encoder.", 0) != 0)
            last = point.name;
    // Of an Abstractor's set of objects relations join the stream in every layer; the last decides.
    if (last.empty()) return;
    Edit edit;
    edit.point = last;
    edit.op = EditOp::Patch;
    edit.input = "B";
    EXPECT_LT(difference(edited(s, listOf({edit}), &other), wanted), 1e-5) << last;
}

// Relation l set to zero is W_r without its column l; folded and explicit forms agree.
TEST_P(EveryModel, ARelationOutIsAColumnOfItsWeightsOut) {
    auto s = subjectOf(GetParam());
    for (const auto& item : s.model->named_modules("", false)) {
        auto* heads = item.value()->as<RelationalAttentionImpl>();
        if (!heads || heads->hook.empty()) continue;
        const auto at = heads->hook + ".hook_r";
        const bool met = std::any_of(s.points.begin(), s.points.end(),
                                     [&](const auto& point) { return point.name == at; });
        if (!met) continue;
        Edit whole;
        whole.point = at;
        whole.selection["relation"] = {{0}, {}, {}};
        auto explicitly = whole;
        explicitly.selection["i"] = {{}, 0, {}};  // all rows by name, which cannot be folded
        const auto folded = edited(s, listOf({whole})), cells = edited(s, listOf({explicitly}));
        const auto before = heads->wr.clone();
        heads->wr.select(2, 0).zero_();
        const auto wanted = s.model->forward(s.input);
        heads->wr.copy_(before);
        EXPECT_LT(difference(folded, wanted), 2e-5) << at;
        EXPECT_LT(difference(cells, wanted), 2e-5) << at;
    }
}

// Blocks before the first edited point need not run again.
TEST_P(EveryModel, KeptStreamsGiveTheSameOutputs) {
    auto s = subjectOf(GetParam());
    std::vector<std::string> names;
    for (const auto& point : s.points)
        if (point.name.ends_with(".hook_resid_post")) names.push_back(point.name);
    if (names.empty()) return;
    PointReader reader(names);
    {
        const HookScope scope(&reader);
        s.model->forward(s.input);
    }
    std::map<std::string, torch::Tensor> streams;
    for (const auto& [name, tensor] : reader.tensors())
        streams[name.substr(0, name.rfind('.'))] = tensor;
    for (const auto& point : s.points) {
        Edit edit;
        edit.point = point.name;
        edit.op = EditOp::Scale;
        edit.factor = 0.5;
        const auto list = listOf({edit});
        Editor editor(list);
        editor.keepStreams(streams, s.points);
        EXPECT_LT(difference(forwardEdited(*s.model, s.input, editor), edited(s, list)), 1e-6)
            << point.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Zoo, EveryModel, testing::ValuesIn(smallModels()), [](const auto& info) {
    std::string name = info.param.first;
    for (auto& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name + "_" + std::to_string(info.index);
});

// Random stacks of edits on texts: reading token by token with a cache gives what reading the whole
// text gives.
TEST(EditedText, TheCacheHoldsWhatEditsLeave) {
    std::mt19937 random(5);
    int stacks = 0;
    for (const auto& entry : smallModels()) {
        if (entry.second.input() != InputKind::Tokens || !canCache(entry.second)) continue;
        auto s = subjectOf(entry);
        s.input.x = s.input.x.slice(0, 0, 1);
        const torch::NoGradGuard noGrad;
        for (int round = 0; round < 4; ++round, ++stacks) {
            EditList list;
            for (int e = 0; e < 3; ++e) {
                const auto& point = s.points[random() % s.points.size()];
                Edit edit;
                edit.point = point.name;
                edit.op = round % 2 ? EditOp::Scale : EditOp::Zero;
                edit.factor = -1.5;
                for (const char* axis : {"position", "i", "j"})
                    if (point.dimension(axis) >= 0 && random() % 2) {
                        const auto from = static_cast<std::int64_t>(random() % 4);
                        edit.selection[axis] = {{}, from, from + 3};
                    }
                if (point.dimension("head") >= 0 && random() % 2)
                    edit.selection["head"] = {{0}, {}, {}};
                list.edits.push_back(edit);
            }
            checkEdits(list, s.points, EditUse::Generate);
            Editor whole(list), cached(list);
            const auto wanted = forwardEdited(*s.model, s.input, whole)[0];
            LanguageReader reader(*s.model, s.options);
            const HookScope scope(&cached);
            for (std::int64_t t = 0; t < s.input.x.size(1); ++t) {
                const std::int64_t token = s.input.x[0][t].item<std::int64_t>();
                const auto logits = reader.read({&token, 1});
                EXPECT_LT(difference(logits, wanted[t].slice(0, 0, logits.size(0))), 2e-5)
                    << entry.first << " token " << t << " of " << list.edits[0].point << ", "
                    << list.edits[1].point << ", " << list.edits[2].point;
            }
        }
    }
    EXPECT_GE(stacks, 20);
}

TEST(Editor, ARowWithoutAnOpenCellGivesZerosAndNoNaN) {
    for (const auto& entry : smallModels()) {
        auto s = subjectOf(entry);
        for (const auto& point : s.points) {
            if (!point.name.ends_with("hook_attn_scores") || point.dimension("i") < 0) continue;
            Edit edit;
            edit.point = point.name;
            edit.op = EditOp::Mask;
            edit.selection["i"] = {{point.shape[2] - 1}, {}, {}};
            auto list = listOf({edit});
            Editor editor(list);
            PointReader reader({point.name.substr(0, point.name.rfind('.')) + ".hook_pattern"});
            HookChain both(&editor, &reader);
            const HookScope scope(&both);
            const auto scores = s.model->forward(s.input);
            EXPECT_TRUE(torch::isfinite(scores).all().item<bool>()) << point.name;
            const auto pattern = reader.tensors().begin()->second;
            EXPECT_EQ(pattern.select(2, -1).abs().max().item<float>(), 0.0F) << point.name;
            scores.sum().backward();
            for (const auto& parameter : s.model->parameters())
                EXPECT_TRUE(!parameter.grad().defined() ||
                            torch::isfinite(parameter.grad()).all().item<bool>());
        }
    }
}

TEST(Editor, TakesMeansOverReferenceSets) {
    auto s = dualSubject(InputKind::Tokens);
    const torch::NoGradGuard noGrad;
    Edit edit;
    edit.point = "blocks.0.attn.hook_z";
    edit.op = EditOp::Mean;
    for (const char* over : {"position", "offset", "all"}) {
        edit.reference = EditReference{"train", 3, 0, over};
        const auto list = listOf({edit});
        Editor editor(list);
        bool given = false;
        const auto taken = takeMeans(editor, *s.model, "position", [&](std::size_t) {
            given = !given;
            return given ? std::optional(s.input) : std::nullopt;
        });
        EXPECT_EQ(taken.at(0).examples, 3);
        EXPECT_GT(taken.at(0).standardError, 0.0);
        PointReader reader({edit.point});
        {
            const HookScope scope(&reader);
            s.model->forward(s.input);
        }
        const auto z = reader.tensors().at(edit.point);
        const auto wanted = std::string(over) == "position"
                                ? z.mean(0, true)
                                : z.mean(std::vector<std::int64_t>{0, 1}, true);
        PointReader after({edit.point});
        HookChain both(&editor, &after);
        const HookScope scope(&both);
        s.model->forward(s.input);
        EXPECT_LT(difference(after.tensors().at(edit.point), wanted.expand_as(z)), 1e-6) << over;
    }
}

// The values of a mean, written down, are the mean to the last bit, wherever it is taken.
TEST(Editor, GivenMeansAreTheTakenOnes) {
    const torch::NoGradGuard noGrad;
    int compared = 0;
    for (const auto kind : {InputKind::Tokens, InputKind::Images}) {
        auto s = dualSubject(kind);
        for (const auto& point : s.points) {
            if (point.name.ends_with("attn_scores")) continue;
            for (const char* over : {"position", "offset", "all"})
                for (const bool part : {false, true}) {
                    Edit edit;
                    edit.point = point.name;
                    edit.op = EditOp::Mean;
                    edit.reference = EditReference{"train", 3, 0, over};
                    if (part)
                        for (const char* axis : {"head", "relation", "i", "position", "symbol"})
                            if (point.dimension(axis) >= 0) edit.selection[axis] = {{1}, {}, {}};
                    if (part && point.dimension("j") >= 0) edit.selection["j"] = {{0, 1}, {}, {}};
                    if (part && point.dimension("dim") >= 0) edit.selection["dim"] = {{}, 1, {}};
                    const auto what = point.name + " over " + over + (part ? ", a part" : "");
                    const auto taking = listOf({edit});
                    Editor editor(taking);
                    bool given = false;
                    const auto means = takeMeans(editor, *s.model, "all", [&](std::size_t) {
                        given = !given;
                        return given ? std::optional(s.input) : std::nullopt;
                    });
                    ASSERT_FALSE(means.at(0).values.empty()) << what;
                    const auto list = editsFromJson(editsToJson(withValues(taking, means)), what);
                    checkEdits(list, s.points, EditUse::Inspect);
                    Editor written(list);
                    EXPECT_TRUE(written.references().empty());
                    PointReader a({edit.point}), b({edit.point});
                    {
                        HookChain both(&editor, &a);
                        const HookScope scope(&both);
                        s.model->forward(s.input);
                    }
                    HookChain both(&written, &b);
                    const HookScope scope(&both);
                    s.model->forward(s.input);
                    EXPECT_TRUE(
                        torch::equal(a.tensors().at(edit.point), b.tensors().at(edit.point)))
                        << what;
                    ++compared;
                }
        }
    }
    EXPECT_GT(compared, 100);
}

TEST(Editor, AveragesCellsByOffset) {
    auto s = dualSubject(InputKind::Tokens);
    const torch::NoGradGuard noGrad;
    Edit edit;
    edit.point = "blocks.0.attn.hook_pattern";
    edit.op = EditOp::Mean;
    edit.reference = EditReference{"train", 3, 0, "offset"};
    const auto list = listOf({edit});
    Editor editor(list);
    bool given = false;
    takeMeans(editor, *s.model, "offset", [&](std::size_t) {
        given = !given;
        return given ? std::optional(s.input) : std::nullopt;
    });
    PointReader before({edit.point}), after({edit.point});
    {
        const HookScope scope(&before);
        s.model->forward(s.input);
    }
    HookChain both(&editor, &after);
    const HookScope scope(&both);
    s.model->forward(s.input);
    const auto alpha = before.tensors().at(edit.point), result = after.tensors().at(edit.point);
    const auto n = alpha.size(2);
    for (const std::int64_t back : {std::int64_t{0}, std::int64_t{2}}) {
        const auto diagonal = alpha.diagonal(-back, 2, 3);  // [b, h, n - back]
        const auto mean = diagonal.mean(std::vector<std::int64_t>{0, 2});
        for (std::int64_t i = back; i < n; ++i)
            EXPECT_LT(difference(result.select(2, i).select(2, i - back)[0], mean), 1e-6);
    }
    // Cells behind the mask stay closed.
    EXPECT_EQ(result.select(2, 0).slice(2, 1).abs().max().item<float>(), 0.0F);
}

TEST(Editor, GradientsStopWhereNumbersArePut) {
    auto s = dualSubject(InputKind::Images);
    for (const auto op : {EditOp::Zero, EditOp::Set, EditOp::Scale}) {
        Edit edit;
        edit.point = "hook_embed";
        edit.op = op;
        edit.values.numbers = {0.5};
        edit.factor = 2.0;
        const auto list = listOf({edit});
        Editor editor(list);
        s.model->zero_grad();
        const HookScope scope(&editor);
        s.model->forward(s.input).sum().backward();
        double reached = 0.0;
        for (const auto& parameter : s.model->named_parameters())
            if (parameter.key().rfind("to_patch_embedding", 0) == 0 &&
                parameter.value().grad().defined())
                reached += parameter.value().grad().abs().sum().item<double>();
        EXPECT_EQ(reached > 0.0, op == EditOp::Scale) << editOpName(op);
    }
}

}  // namespace
}  // namespace relascope

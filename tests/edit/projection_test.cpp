// SPDX-License-Identifier: GPL-3.0-or-later
// Files of fitted relations, and the operation that takes one out.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "interventions/check_edits.h"
#include "interventions/edit_json.h"
#include "interventions/edit_words.h"
#include "interventions/edited_run.h"
#include "interventions/relation_file.h"
#include "support/temporary_folder.h"
#include "support/zoo.h"
#include "types/error.h"

namespace relascope {
namespace {

/// A folder that is there.
struct Made : testing_support::TemporaryFolder {
    Made() : TemporaryFolder("projection") { std::filesystem::create_directories(path()); }
};

core::RelationFile relationOf(std::int64_t rank, std::int64_t width, std::int64_t places,
                              std::int64_t first) {
    torch::manual_seed(1);
    core::RelationFile relation;
    relation.rank = rank, relation.width = width, relation.places = places;
    const auto fill = [](std::vector<float>& to, std::int64_t count) {
        const auto numbers = torch::randn({count});
        to.assign(numbers.const_data_ptr<float>(), numbers.const_data_ptr<float>() + count);
    };
    fill(relation.a, rank * width), fill(relation.b, rank * width);
    fill(relation.mean, places * width);
    relation.bias = 0.5F, relation.firstTokens = first;
    relation.point = "blocks.0.hook_resid_pre", relation.fact = "same kind";
    relation.form = "any";
    return relation;
}

TEST(RelationFile, IsReadAsItWasWritten) {
    const Made folder;
    const auto path = folder / "same-kind.safetensors";
    auto relation = relationOf(2, 8, 3, 1);
    relation.metadata = {{"auc", "0.98"}};
    core::writeRelation(relation, path);
    auto read = core::readRelation(path);
    EXPECT_EQ(read.metadata.at("auc"), "0.98");
    EXPECT_EQ(read.metadata.at("format"), core::kRelationFormat);
    read.metadata = relation.metadata;
    EXPECT_EQ(read, relation);
    core::writeRelation(relation, path);  // over itself
    writeTextFile(folder / "other.txt", "text");
    EXPECT_THROW(core::writeRelation(relation, folder / "other.txt"), FileError);
    EXPECT_EQ(core::relationFileOf("same-kind"), "same-kind.safetensors");
    EXPECT_EQ(core::relationFileOf(path), path);
}

TEST(RelationFile, RefusesOtherFilesByName) {
    const Made folder;
    const auto path = folder / "r.safetensors";
    const auto a = torch::randn({2, 8}), mean = torch::randn({3, 8}), bias = torch::zeros({1});
    using Tensors = std::vector<std::pair<std::string, torch::Tensor>>;
    std::map<std::string, std::string> metadata = {{"format", core::kRelationFormat},
                                                   {"point", "blocks.0.hook_resid_pre"},
                                                   {"first_tokens", "1"}};
    const auto refused = [&](const Tensors& tensors, const std::string& words) {
        core::saveTensors(path, tensors, metadata);
        try {
            core::readRelation(path);
            ADD_FAILURE() << "was read; expected: " << words;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const Tensors whole = {{"A", a}, {"B", a}, {"mean", mean}, {"bias", bias}};
    core::saveTensors(path, whole, metadata);
    EXPECT_NO_THROW(core::readRelation(path));
    refused({{"A", a}, {"mean", mean}, {"bias", bias}}, "'B' is missing");
    refused({{"A", a}, {"B", a.t().contiguous()}, {"mean", mean}, {"bias", bias}}, "'B' is not");
    refused({{"A", a}, {"B", a}, {"mean", mean.slice(1, 1)}, {"bias", bias}}, "'mean'");
    refused({{"A", a.to(torch::kDouble)}, {"B", a}, {"mean", mean}, {"bias", bias}}, "is F64");
    refused({{"A", a}, {"B", a}, {"mean", mean}, {"bias", torch::zeros({2})}}, "'bias'");
    refused({{"A", a * NAN}, {"B", a}, {"mean", mean}, {"bias", bias}}, "not finite");
    const auto tall = torch::randn({9, 8});
    refused({{"A", tall}, {"B", tall}, {"mean", mean}, {"bias", bias}}, "more rows");
    metadata["first_tokens"] = "-1";
    refused(whole, "first_tokens");
    metadata["first_tokens"] = "1", metadata["rank"] = "5";
    refused(whole, "'rank' is '5'");
    metadata.erase("rank"), metadata.erase("point");
    refused(whole, "'point'");
    metadata["format"] = "pt";
    refused(whole, "is not a fitted relation");
    writeTextFile(path, "no tensors");
    EXPECT_THROW(core::readRelation(path), FileError);
}

ModelOptions imageModel() {
    for (const auto& [name, options] : smallModels())
        if (options.architecture() == "VisionTransformer") return options;
    throw std::runtime_error("there is no image model");
}

/// A vision model, an input, and a relation of the stream before its second block.
struct Projected {
    Made folder;
    ModelOptions options = imageModel();
    core::ModelPtr model = core::makeModel(options);
    core::ModelInput input = smallBatch(options, 2);
    std::vector<PointInfo> points = core::pointsOf(*model, input);
    std::string path = folder / "same-kind.safetensors";
    core::RelationFile relation;

    explicit Projected(std::int64_t rank = 3) {
        model->eval();
        const auto& point = core::findPoint(points, "blocks.0.hook_resid_pre", "at");
        const auto first = options.tokens() - options.get<ImageInput>().patches();
        relation = relationOf(rank, point.shape[2], point.shape[1] - first, first);
        core::writeRelation(relation, path);
    }
    Edit edit() const { return core::editFromWords("fitted " + path + " out", points); }
    torch::Tensor stream(const std::vector<Edit>& edits) {
        const torch::NoGradGuard noGrad;
        EditList list;
        list.edits = edits;
        core::checkEdits(list, points, core::EditUse::Inspect);
        core::Editor editor(list);
        core::PointReader reader({relation.point});
        core::HookChain both(&editor, &reader);
        const core::HookScope scope(&both);
        model->forward(input);
        return reader.tensors().at(relation.point).to(torch::kDouble);
    }
    torch::Tensor rows(const std::vector<float>& numbers) const {
        return torch::tensor(numbers).view({-1, relation.width}).to(torch::kDouble);
    }
};

TEST(Project, TakesARelationOutOnce) {
    Projected p;
    const auto edit = p.edit();
    EXPECT_EQ(edit.op, EditOp::Project);
    EXPECT_EQ(edit.point, p.relation.point);
    EXPECT_EQ(core::editFromWords(core::wordsOf(edit), p.points), edit);
    EditList list;
    list.edits = {edit};
    EXPECT_EQ(core::editsFromJson(core::editsToJson(list), "words"), list);
    const auto plain = p.stream({}), once = p.stream({edit}), twice = p.stream({edit, edit});
    const auto first = p.relation.firstTokens;
    EXPECT_TRUE(torch::equal(plain.slice(1, 0, first), once.slice(1, 0, first)));
    EXPECT_FALSE(torch::allclose(plain, once));
    EXPECT_TRUE(torch::allclose(once, twice, 1e-5, 1e-5));
    // What the relation reads is its mean: r = b.
    const auto x = once.slice(1, first) - p.rows(p.relation.mean);
    const auto r = torch::matmul(torch::matmul(x, p.rows(p.relation.a).t()),
                                 torch::matmul(x, p.rows(p.relation.b).t()).transpose(1, 2));
    EXPECT_LT(r.abs().max().item<double>(), 1e-4);
    // Other positions rest, and keep their own means.
    auto some = edit;
    some.selection["position"].low = first + 1, some.selection["position"].high = first + 3;
    const auto part = p.stream({some});
    EXPECT_TRUE(
        torch::equal(part.slice(1, first + 1, first + 3), once.slice(1, first + 1, first + 3)));
    EXPECT_TRUE(torch::equal(part.slice(1, first + 3), plain.slice(1, first + 3)));
}

TEST(Project, AllDirectionsAreTheMean) {
    Projected p;
    const auto width = p.relation.width;
    p.relation = relationOf(width, width, p.relation.places, p.relation.firstTokens);
    core::writeRelation(p.relation, p.path);
    const auto out = p.stream({p.edit()}).slice(1, p.relation.firstTokens);
    EXPECT_TRUE(
        torch::allclose(out, p.rows(p.relation.mean).unsqueeze(0).expand_as(out), 1e-5, 1e-5));
}

TEST(Project, RefusesWhatDoesNotFit) {
    Projected p;
    const auto refused = [&](Edit edit, const std::string& field, const std::string& words) {
        EditList list;
        list.edits = {std::move(edit)};
        try {
            core::checkEdits(list, p.points, core::EditUse::Inspect);
            ADD_FAILURE() << "was accepted; expected: " << words;
        } catch (const OptionError& error) {
            EXPECT_EQ(error.field(), "edits[0]." + field);
            EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
        }
    };
    auto edit = p.edit();
    edit.point = "blocks.0.attn.hook_pattern", edit.selection.clear();
    refused(edit, "op", "axis dim");
    edit = p.edit(), edit.selection["dim"].places = {0};
    refused(edit, "dim", "whole axis");
    edit = p.edit(), edit.relation = p.folder / "none.safetensors";
    refused(edit, "relation", "none.safetensors");
    core::writeRelation(relationOf(2, p.relation.width + 1, p.relation.places, 1), p.path);
    refused(p.edit(), "relation", "numbers");
    core::writeRelation(relationOf(2, p.relation.width, p.relation.places + 9, 1), p.path);
    refused(p.edit(), "relation", "positions");
    EXPECT_THROW(core::editFromWords("fitted " + p.path, p.points), OptionError);
    EXPECT_THROW(
        core::editsFromJson(
            R"({"format": "relascope-edit/1", "edits": [{"op": "project", "at": "x"}]})", "text"),
        FileError);
}

}  // namespace
}  // namespace relascope

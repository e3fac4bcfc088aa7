// SPDX-License-Identifier: GPL-3.0-or-later
// Values of means in files: inline and in the file beside, hostile ones, and their words.
#include "interventions/edit_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "files/atomic_file.h"
#include "interventions/edit_json.h"
#include "support/edits.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

using testing_support::listOf;
using testing_support::TemporaryFolder;

Edit meanOf(std::int64_t rows, std::int64_t columns) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(static_cast<std::size_t>(rows * columns));
    for (auto& number : numbers) number = normal(random);
    Edit edit;
    edit.op = EditOp::Mean;
    edit.point = "blocks.0.attn.hook_z";
    edit.selection["head"] = {{1}, {}, {}};
    edit.values = {{rows, columns}, storedNumbers(numbers)};
    edit.reference = EditReference{"train", 96, 0, "position"};
    return edit;
}

class EditValuesTest : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder.path()); }
    std::string at(const std::string& name) const { return folder.path() + "/" + name; }
    static nlohmann::json jsonOf(const std::string& path) {
        return nlohmann::json::parse(core::readTextFile(path));
    }
    /// What reading the file says is wrong.
    static std::string refusal(const std::string& path) {
        try {
            core::readEdits(path);
        } catch (const FileError& error) {
            return error.what();
        }
        return "";
    }
    TemporaryFolder folder{"edit-values"};
};

TEST_F(EditValuesTest, OfLittleTextAreInTheFile) {
    const auto list = listOf({meanOf(9, 4)});
    core::writeEdits(list, at("few.json"));
    EXPECT_FALSE(std::filesystem::exists(at("few.safetensors")));
    EXPECT_EQ(core::readEdits(at("few.json")), list);
    const auto json = jsonOf(at("few.json"))["edits"][0];
    EXPECT_EQ(json["values"].size(), 9u);
    EXPECT_EQ(json["reference"]["examples"], 96) << "of what they are the mean";
    // As few digits as a float needs.
    EXPECT_LT(json["values"][0][0].dump().size(), 14u) << json["values"][0][0].dump();
}

TEST_F(EditValuesTest, OfMoreAreInTheFileBesideAndComeBackToTheLastBit) {
    auto zero = Edit{};
    zero.point = "hook_embed";
    auto number = meanOf(1, 1);
    number.values = {{}, {0.5}};
    const auto list = listOf({zero, meanOf(150, 90), number});
    core::writeEdits(list, at("many.json"));
    EXPECT_LT(std::filesystem::file_size(at("many.json")), 2000u);
    EXPECT_EQ(jsonOf(at("many.json"))["edits"][1]["values"],
              (nlohmann::json{{"file", "many.safetensors"}, {"tensor", "edits.1.values"}}));
    EXPECT_EQ(core::readEdits(at("many.json")), list);
    // From another folder, and written again over itself.
    std::filesystem::create_directories(at("moved"));
    for (const char* name : {"many.json", "many.safetensors"})
        std::filesystem::rename(at(name), at(std::string("moved/") + name));
    const auto read = core::readEdits(at("moved/many.json"));
    EXPECT_EQ(read, list);
    core::writeEdits(read, at("moved/many.json"));
    EXPECT_EQ(core::readEdits(at("moved/many.json")), list);
    // Where numbers alone are stored there is no file beside.
    EXPECT_EQ(core::editsFromJson(core::editsToJson(list), "again"), list);
}

TEST_F(EditValuesTest, LeaveOtherFilesAlone) {
    std::ofstream(at("mine.safetensors")) << "not values of edits";
    try {
        core::writeEdits(listOf({meanOf(150, 90)}), at("mine.json"));
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("save the edits under another name"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_EQ(core::readTextFile(at("mine.safetensors")), "not values of edits");
    EXPECT_FALSE(std::filesystem::exists(at("mine.json")));
    auto most = meanOf(1, 1);
    most.values = {{2, core::kMostStoredNumbers},
                   std::vector<double>(2 * static_cast<std::size_t>(core::kMostStoredNumbers))};
    EXPECT_THROW(core::writeEdits(listOf({most}), at("large.json")), FileError);
    EXPECT_FALSE(std::filesystem::exists(at("large.safetensors")));
}

void writeTensor(const std::string& path, const std::string& dtype, std::vector<std::int64_t> shape,
                 std::span<const std::uint8_t> bytes) {
    core::writeSafetensors(path, {{"mean", dtype, std::move(shape), bytes}},
                           {{"format", core::kEditValuesFormat}});
}

TEST_F(EditValuesTest, HostileFilesAreRefusedByName) {
    const auto edits = [&](const std::string& values) {
        std::ofstream(at("e.json"))
            << R"({"format": "relascope-edit/1", "edits": [)"
            << R"({"op": "mean", "at": "hook_embed", "values": )" << values << "}]}";
        return refusal(at("e.json"));
    };
    const std::string named = R"({"file": "v.safetensors", "tensor": "mean"})";
    EXPECT_NE(edits(named).find("edits[0].values.file: there is no file " + at("v.safetensors")),
              std::string::npos)
        << edits(named);
    const std::vector<float> numbers = {1.0F, -2.0F, 0.25F, 4.0F};
    const auto bytes = std::as_bytes(std::span(numbers));
    const std::span data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    core::writeSafetensors(at("v.safetensors"), {{"mean", "F32", {2, 2}, data}});
    EXPECT_NE(edits(named).find("metadata 'format' is absent"), std::string::npos)
        << "tensors of something else";
    writeTensor(at("v.safetensors"), "F32", {2, 2}, data);
    EXPECT_EQ(edits(named), "");
    EXPECT_EQ(core::readEdits(at("e.json")).edits[0].values,
              (EditValues{{2, 2}, {1.0, -2.0, 0.25, 4.0}}));
    EXPECT_NE(edits(R"({"file": "v.safetensors", "tensor": "meen"})").find("did you mean 'mean'"),
              std::string::npos);
    EXPECT_NE(edits(R"({"file": "v.safetensors", "tensor": "mean", "shape": [2]})").find("shape"),
              std::string::npos)
        << "unknown keys are errors";
    EXPECT_NE(edits(R"({"file": 3, "tensor": "mean"})").find("edits[0].values.file: 3"),
              std::string::npos);
    EXPECT_NE(edits(R"({"file": ".", "tensor": "mean"})").find("there is no file"),
              std::string::npos)
        << "a folder";
    writeTensor(at("v.safetensors"), "F16", {2, 4}, data);
    EXPECT_NE(edits(named).find("is F16; values are F32"), std::string::npos);
    writeTensor(at("v.safetensors"), "F32", {1, 1, 2, 1, 2}, data);
    EXPECT_NE(edits(named).find("has 5 axes"), std::string::npos);
    writeTensor(at("v.safetensors"), "F32", {2, 0}, {});
    EXPECT_NE(edits(named).find("is empty, or too large"), std::string::npos);
    const std::vector<float> wrong = {1.0F, std::nanf("")};
    writeTensor(at("v.safetensors"), "F32", {2},
                {reinterpret_cast<const std::uint8_t*>(wrong.data()), 8});
    EXPECT_NE(edits(named).find("not finite"), std::string::npos);
    std::ofstream(at("v.safetensors")) << "{}";
    EXPECT_NE(edits(named).find("v.safetensors"), std::string::npos);
    // A header that promises more than the file has: nothing is allocated for it.
    const std::string header =
        R"({"mean":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8]}})";
    std::string file(8, '\0');
    file[0] = static_cast<char>(header.size());
    std::ofstream(at("v.safetensors"), std::ios::binary) << file << header << "12345678";
    EXPECT_NE(edits(named).find("v.safetensors"), std::string::npos);
    // All values together have a limit, however often one tensor is named.
    const std::vector<float> half(static_cast<std::size_t>(core::kMostStoredNumbers / 2));
    writeTensor(at("v.safetensors"), "F32", {core::kMostStoredNumbers / 2},
                {reinterpret_cast<const std::uint8_t*>(half.data()), 4 * half.size()});
    std::string three;
    for (int i = 0; i < 3; ++i)
        three += std::string(i ? "," : "") + R"({"op": "mean", "at": "hook_embed", "values": )" +
                 named + "}";
    std::ofstream(at("e.json")) << R"({"format": "relascope-edit/1", "edits": [)" << three << "]}";
    EXPECT_NE(refusal(at("e.json")).find("edits[2].values.tensor"), std::string::npos)
        << refusal(at("e.json"));
}

TEST_F(EditValuesTest, MutatedFilesBesideNeverCrash) {
    const auto list = listOf({meanOf(150, 90)});
    core::writeEdits(list, at("m.json"));
    const auto whole = core::readTextFile(at("m.safetensors"));
    std::mt19937 random(3);
    int read = 0;
    for (int i = 0; i < 2000; ++i) {
        auto bytes = whole;
        for (unsigned m = 1 + random() % 4; m > 0; --m)
            bytes[random() % 200] = static_cast<char>(random());
        if (random() % 4 == 0) bytes.resize(random() % bytes.size());
        std::ofstream(at("m.safetensors"), std::ios::binary) << bytes;
        try {
            core::readEdits(at("m.json"));
            ++read;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()), "");
        }
    }
    EXPECT_GT(read, 0) << "of numbers that are others";
}

TEST(MeanText, SaysOfWhatAndHowWell) {
    Edit edit;
    EXPECT_EQ(core::meanText(edit, nullptr), "");
    edit.op = EditOp::Mean;
    EXPECT_EQ(core::meanText(edit, nullptr), "mean of 1,024 examples of train");
    const TakenMean taken{96, 0.0123, "position", {{}, {0.5}}};
    EXPECT_EQ(core::meanText(edit, &taken), "mean of 96 examples of train, standard error 0.012");
    const TakenMean few{12, 0.5, "position", {}};
    EXPECT_EQ(core::meanText(edit, &few),
              "mean of 12 examples of train, standard error 0.5: too few for a steady mean");
    // Saved, it still says what it is of.
    const auto saved = core::withValues(listOf({edit}), {{0, taken}}).edits[0];
    EXPECT_EQ(saved.values, taken.values);
    EXPECT_EQ(saved.reference, (EditReference{"train", 96, 0, "position"}));
    EXPECT_EQ(core::meanText(saved, nullptr), "mean of 96 examples of train, as saved");
    edit.values = {{}, {1.0}};
    EXPECT_EQ(core::meanText(edit, nullptr), "mean as given");
    // Given values stay, whatever was taken.
    EXPECT_EQ(core::withValues(listOf({edit}), {{0, taken}}).edits[0], edit);
}

}  // namespace
}  // namespace relascope

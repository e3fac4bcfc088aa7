// SPDX-License-Identifier: GPL-3.0-or-later
// Nearest pictures: against plain cosines of the answers, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "datasets/readers/loaded_images.h"
#include "support/rooms.h"
#include "tests/datasets/step_run.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace testing_support;

const std::string kFamilies = std::string(RELASCOPE_FIXTURES) + "/golden/vision-families/";

/// Pictures of two classes, by turns light and dark with a little noise.
core::DatasetPtr pictures(const ModelOptions& model, int count) {
    const auto& shape = model.get<ImageInput>().image_shape;
    DatasetInfo info;
    info.size = count, info.channels = static_cast<int>(shape[0]);
    info.width = static_cast<int>(shape[1]), info.height = static_cast<int>(shape[2]);
    info.classNames = {"dark", "light"};
    std::vector<std::uint8_t> pixels;
    std::vector<std::int32_t> labels;
    std::uint32_t state = 7;
    for (int k = 0; k < count; ++k) {
        labels.push_back(k % 2);
        for (std::int64_t p = 0; p < shape[0] * shape[1] * shape[2]; ++p) {
            state = state * 1664525u + 1013904223u;
            pixels.push_back(static_cast<std::uint8_t>((k % 2 ? 200 : 20) + (state >> 28)));
        }
    }
    return std::make_shared<datasets::LoadedImages>(std::move(info), std::move(pixels),
                                                    std::move(labels));
}

struct Nearest {
    core::OpenedModel model;
    core::AnalysisSubject subject;
    explicit Nearest(const std::string& name) : model(kFamilies + name, "", "cpu") {
        subject.model = &model;
        subject.data = pictures(model.options(), 12);
    }
    Answer ask(const core::OptionValues& values) {
        return core::runnerOf(core::analysisNamed("nearest")).run(subject, values, {});
    }
};

TEST(NearestPictures, AreThoseWithTheLargestCosine) {
    Nearest of("dinov2");
    const auto answer = of.ask({{"example", std::int64_t{3}}, {"top", std::int64_t{4}}});
    EXPECT_EQ(answer.number("examples"), 12);
    EXPECT_EQ(answer.number("same_class"), 1.0);
    EXPECT_NEAR(answer.number("by_chance"), 5.0 / 11.0, 1e-12);
    const auto& table = answer.table("nearest");
    ASSERT_EQ(table.rows(), 5u);
    EXPECT_EQ(answer.pictures.size(), 5u);
    EXPECT_EQ(table.numbers("example")[0], 3);
    const auto& cosines = table.numbers("cosine");
    for (std::size_t k = 0; k < table.rows(); ++k) {
        EXPECT_EQ(table.texts("class")[k], "light");
        if (k > 0) {
            EXPECT_LE(cosines[k], cosines[k - 1] + 1e-12);
        }
    }
    // Another picture's answer is the same one's.
    const auto back = of.ask({{"example", static_cast<std::int64_t>(table.numbers("example")[1])},
                              {"top", std::int64_t{11}}});
    const auto& examples = back.table("nearest").numbers("example");
    const auto at = std::find(examples.begin(), examples.end(), 3.0) - examples.begin();
    ASSERT_LT(at, std::ssize(examples));
    EXPECT_NEAR(back.table("nearest").numbers("cosine")[static_cast<std::size_t>(at)], cosines[1],
                1e-12);
}

TEST(NearestPictures, RefusesClassesAndWhatIsNotThere) {
    const auto refused = [](Nearest& of, const core::OptionValues& values, const char* field) {
        try {
            of.ask(values);
            ADD_FAILURE() << "was answered";
        } catch (const OptionError& error) {
            EXPECT_EQ(error.field(), field) << error.message();
        }
    };
    Nearest features("dinov2"), classes("dinov2_classifier");
    refused(features, {{"example", std::int64_t{12}}}, "example");
    refused(classes, {}, "path");
}

}  // namespace
}  // namespace relascope

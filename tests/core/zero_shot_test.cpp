// SPDX-License-Identifier: GPL-3.0-or-later
// Classes named by texts: arithmetic against numbers of numpy, and the files of names and features.
#include "readout/zero_shot.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>

#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

using core::TextFeatures;
using core::ZeroShot;
using testing_support::TemporaryFolder;

/// sin(1.3 (i + after) + 0.7 j^2 + i mod 3), [rows, 4]
torch::Tensor four(std::int64_t rows, double after) {
    auto x = torch::empty({rows, 4}, torch::kDouble);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < 4; ++j)
            x[i][j] = std::sin(1.3 * (static_cast<double>(i) + after) +
                               0.7 * static_cast<double>(j * j) + static_cast<double>(i % 3));
    return x;
}

void expectNear(const torch::Tensor& values, const std::vector<double>& wanted) {
    ASSERT_EQ(values.numel(), static_cast<std::int64_t>(wanted.size()));
    for (std::size_t k = 0; k < wanted.size(); ++k)
        EXPECT_NEAR(values.flatten()[static_cast<std::int64_t>(k)].item<double>(), wanted[k], 1e-9)
            << k;
}

TEST(ZeroShot, IsScaledCosines) {
    ZeroShot clip{{{"a", "b", "c"}, four(3, 0.25)}, 2.5, -1.25};
    const auto scores = clip.scores(four(2, 0.0));
    expectNear(scores, {8.443204385933, -7.108943410995, -1.976541378102, 4.010122596058,
                        10.397381242988, -13.010735048925});
    expectNear(clip.shares(scores), {0.999969987325, 0.000000176106, 0.000029836569, 0.001680035935,
                                     0.998319963997, 0.000000000068});
    clip.each = true;
    expectNear(clip.shares(scores), {0.999784687419, 0.000817090388, 0.121688012128, 0.982191712833,
                                     0.999969488648, 0.000002236189});
    EXPECT_THROW(clip.scores(torch::ones({2, 5})), OptionError);
}

TEST(ZeroShot, TemplatesAreAveragedAsUnitFeatures) {
    const auto mean = core::meanOverTemplates(four(6, 0.1), 2);
    ASSERT_EQ(mean.sizes(), (std::vector<std::int64_t>{3, 4}));
    expectNear(mean, {-0.407210926698, 0.370658179312, 0.738375231507, -0.389350475515,
                      0.454740621030, 0.723236148474, -0.233245418346, 0.464474989582,
                      -0.027162791414, -0.900211350102, -0.431706493715, -0.050111986533});
    EXPECT_THROW(core::meanOverTemplates(four(6, 0.1), 4), OptionError);
    EXPECT_EQ(core::filledTemplates({"a photo of a {}.", "{}"}, {"cat", "dog"}),
              (std::vector<std::string>{"a photo of a cat.", "a photo of a dog.", "cat", "dog"}));
    EXPECT_THROW(core::filledTemplates({"a photo"}, {"cat"}), OptionError);
}

class TextFiles : public ::testing::Test {
protected:
    TextFiles() { core::makeDirectories(m_folder.path()); }
    std::string written(const std::string& text) const {
        std::ofstream(m_folder / "names.txt", std::ios::binary) << text;
        return m_folder / "names.txt";
    }
    void expectNames(const std::string& text, const std::vector<std::string>& names) const {
        EXPECT_EQ(core::readTextNames(written(text)), names);
    }
    void expectRefused(const std::string& text, const std::string& said) const {
        const auto path = written(text);
        refused([&] { core::readTextNames(path); }, said);
    }
    template <class Act>
    static void refused(const Act& act, const std::string& said) {
        try {
            act();
            ADD_FAILURE() << "accepted; wanted " << said;
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
        }
    }

    TemporaryFolder m_folder{"texts"};
};

TEST_F(TextFiles, HoldANameALine) {
    expectNames("cat\n dog\r\n\n  \nblack cat \t", {"cat", "dog", "black cat"});
    expectNames("\xEF\xBB\xBF\u00fcber\n", {"\u00fcber"});
    expectRefused("", "has no name");
    expectRefused(" \n\n", "has no name");
    expectRefused("cat\ndog\ncat\n", "line 3 has 'cat' again");
    expectRefused("cat\n\xff\n", "line 2 is not UTF-8");
    std::string many;
    for (int i = 0; i <= 100000; ++i) many += std::to_string(i) + "\n";
    expectRefused(many, "more than 100000");
}

TEST_F(TextFiles, HoldNamesAndFeatures) {
    const auto path = m_folder / "texts.safetensors";
    const auto features = four(2, 0.0).to(torch::kHalf);
    const auto names = [](const std::string& text) {
        return torch::tensor(std::vector<std::uint8_t>(text.begin(), text.end()), torch::kByte);
    };
    core::saveTensors(path, {{"features", features}}, {{"names", R"(["a cat", "\u00fc"])"}});
    auto texts = core::readTextFeatures(path);
    EXPECT_EQ(texts.names, (std::vector<std::string>{"a cat", "\u00fc"}));
    EXPECT_TRUE(texts.features.equal(features));
    core::saveTensors(path, {{"features", features}, {"names", names("a cat\n\u00fc\n")}});
    EXPECT_EQ(core::readTextFeatures(path).names, texts.names);

    using Tensors = std::vector<std::pair<std::string, torch::Tensor>>;
    const auto expectRefused = [&](const Tensors& tensors, const std::string& listed,
                                   const std::string& said) {
        core::saveTensors(path, tensors,
                          listed.empty() ? std::map<std::string, std::string>{}
                                         : std::map<std::string, std::string>{{"names", listed}});
        refused([&] { core::readTextFeatures(path); }, said);
    };
    expectRefused({{"features", features}}, "", "has no 'names'");
    expectRefused({{"features", features}}, R"(["a"])", "1 names and 2 rows");
    expectRefused({{"features", features}}, R"(["a", ["b"]])", "names");
    expectRefused({{"other", features}}, R"(["a", "b"])", "'features'");
    expectRefused({{"features", features[0]}}, R"(["a", "b"])", "'features'");
    expectRefused({{"features", features.to(torch::kLong)}}, R"(["a", "b"])", "'features'");
    expectRefused({{"features", features.slice(1, 0, 0).clone()}}, R"(["a", "b"])", "'features'");
    expectRefused({{"features", features / 0.0}}, R"(["a", "b"])", "not finite");
    expectRefused({{"features", features}, {"names", names("a\nb\nc")}}, "", "3 names");
}

}  // namespace
}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
// Files of attributes of pairs (atlas --attributes), as spreadsheets, R and pandas write them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analysis/pairs/pair_objects.h"
#include "datasets/registry.h"
#include "options/presets.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

class AttributeFiles : public testing::Test {
protected:
    AttributeFiles() {
        m_options.data.train_size = m_options.data.validation_size = 20;
        m_options.data.test_size = 2;
        m_data = openData(m_options.data).validation;
        std::filesystem::create_directories(m_folder.path());
    }
    PairAttribute read(const std::string& text) {
        const auto path = m_folder / "own.csv";
        std::ofstream(path, std::ios::binary) << text;
        const auto objects = core::pairObjects(m_options.model, *m_data, 10, path);
        const auto found = core::attributesOf(objects, m_options.model, *m_data, path);
        for (const auto& attribute : found.all)
            if (attribute.name == "size") return attribute;
        return {};
    }
    std::string whyNot(const std::string& text) {
        try {
            read(text);
        } catch (const FileError& error) {
            return std::string(error.what()).substr(error.path().size() + 2);
        }
        return "";
    }

    testing_support::TemporaryFolder m_folder{"attributes"};
    RunOptions m_options = presetOptions("relational-games-occurs");
    core::DatasetPtr m_data;
};

// Of more examples than are wanted some are drawn, and not the first taken.
TEST_F(AttributeFiles, ExamplesAreDrawnAmongThoseThatAreNamed) {
    std::string text = "example,i,j,size\n";
    for (int e = 5; e < 20; ++e) text += std::to_string(e) + ",0,1,1\n";
    const auto path = m_folder / "many.csv";
    std::ofstream(path, std::ios::binary) << text;
    auto drawn = core::pairObjects(m_options.model, *m_data, 6, path).examples;
    std::sort(drawn.begin(), drawn.end());
    ASSERT_EQ(drawn.size(), 6u);
    EXPECT_GE(drawn.front(), 5);
    EXPECT_NE(drawn, (std::vector<std::int64_t>{5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
}

TEST_F(AttributeFiles, OfEveryProgramSayTheSame) {
    const std::string header = "example,i,j,size\n";
    std::string body, semicolons = "example;i;j;size\r\n", quoted,
                      r = "\"\",\"example\",\"i\",\"j\",\"size\"\n", pandas = ",example,i,j,size\n",
                      turned = "size,J,I,Example\n";
    int row = 0;
    for (int e = 0; e < 4; ++e)
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j, ++row) {
                const auto place = [&](const char* between) {
                    return std::to_string(e) + between + std::to_string(i) + between +
                           std::to_string(j) + between;
                };
                const auto size = std::to_string((i * j + e) % 3);
                body += place(",") + size + ".5\n";
                semicolons += place(";") + size + ",5\r\n";
                quoted += place(",") + "\"" + size + ".5\"\n";
                r += "\"" + std::to_string(row + 1) + "\"," + place(",") + size + ".5\n";
                pandas += std::to_string(row) + "," + std::to_string(e) + ".0," +
                          std::to_string(i) + ".0," + std::to_string(j) + ".0," + size + ".5\n";
                turned += size + ".5," + std::to_string(j) + "," + std::to_string(i) + "," +
                          std::to_string(e) + "\n";
            }
    const auto plain = read(header + body);
    ASSERT_EQ(plain.name, "size");
    ASSERT_TRUE(plain.ordered);
    const auto bits = [](const PairAttribute& attribute) {
        std::string bytes;  // NaN equals NaN here
        for (const float value : attribute.values) bytes += std::to_string(value) + " ";
        return bytes;
    };
    for (const auto& text :
         {"\xEF\xBB\xBF" + header + body, "\"example\",\"i\",\"j\",\"size\"\n" + body,
          header + quoted, semicolons, r, pandas, turned, header + body + ",,,\n"})
        EXPECT_EQ(bits(read(text)), bits(plain)) << text.substr(0, 60);
}

TEST_F(AttributeFiles, SayWhatIsWrongInThem) {
    EXPECT_EQ(whyNot("example,i,j,size\n0,1,2,1\n1,1,2,0\n0,1,2,0\n"),
              "line 4 names the same pair as line 2");
    EXPECT_EQ(whyNot("example,i,j,size\n0,1.5,2,1\n"),
              "line 2, column i: '1.5' is not a whole number");
    EXPECT_EQ(whyNot("example,i,j,size\n0,,2,1\n"), "line 2, column i: '' is not a whole number");
    EXPECT_EQ(whyNot("example,i,j\n0,1,2\n").substr(0, 39),
              "begins with the columns 'example,i,j'; ");
}

}  // namespace
}  // namespace relascope

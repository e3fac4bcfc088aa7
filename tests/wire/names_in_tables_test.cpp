// SPDX-License-Identifier: GPL-3.0-or-later
// Names of files in tables that are written: every name is one field of CSV and one cell of LaTeX.
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/ablate/answer.h"
#include "analysis/analysis.h"
#include "analysis/atlas/answer.h"
#include "analysis/atlas/atlas.h"
#include "answers/answer_text.h"
#include "answers/example_text.h"
#include "files/atomic_file.h"
#include "files/csv.h"
#include "options/presets.h"
#include "run/run_export.h"
#include "run/run_folder.h"
#include "support/temporary_folder.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;
using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string>& namesOfFiles() {
    static const std::vector<std::string> names = {
        "plain",     "a_b & 50% #1", "cost $x",     "back\\slash", "{brace}",  "tilde~caret^2",
        "line\nend", "[bracket]",    "* star",      "a, b",        "\"best\"", "mAP@[.5, .95]",
        " blank",    "tab\tbell\a",  "\x1b[2Jname", "a--b",        "<x|y>",    "K\xc3\xa4se"};
    return names;
}

Rows csvRows(const std::string& text) {
    core::CsvReader csv(text, "x.csv");
    Rows rows = {csv.columns()};
    while (csv.next()) rows.push_back(csv.fields());
    return rows;
}

TEST(NamesInTables, AreOneFieldOfCsv) {
    for (const auto& name : namesOfFiles()) {
        const auto field = csvField(name);
        EXPECT_EQ(plainName(field), field) << "controls are escapes";
        EXPECT_EQ(csvRows("first," + field + ",last\n1,2,3\n")[0],
                  (std::vector<std::string>{"first", plainName(name), "last"}));
    }
    EXPECT_EQ(csvField("plain"), "plain");
    EXPECT_EQ(csvField("a, \"b\"\n"), "\"a, \"\"b\"\"\\n\"");
}

TEST(NamesInTables, OfMetricsAreColumnsOfTheirOwn) {
    const TemporaryFolder folder("names");
    const auto run = folder / "run";
    core::RunFolder::create(run, core::presetOptions("quick"));
    core::writeTextFile(
        run + "/metrics.jsonl",
        R"({"step": 1, "epoch": 0.0, "examples": 0, "seconds": 0.1, "split": "train", )"
        R"("mAP@[.5, .95]": 0.25, "the \"best\"": 7, "loss": 0.5, "line\nend": 9})"
        "\n");
    const auto rows = csvRows(core::metricsCsv(run));
    ASSERT_EQ(rows.size(), 2u);
    const auto valueOf = [&](const std::string& name) {
        for (std::size_t c = 0; c < rows[0].size(); ++c)
            if (rows[0][c] == name) return rows[1][c];
        return std::string("no column");
    };
    EXPECT_EQ(valueOf("loss"), "0.5");
    EXPECT_EQ(valueOf("mAP@[.5, .95]"), "0.25");
    EXPECT_EQ(valueOf("the \"best\""), "7");
    EXPECT_EQ(valueOf("line\\nend"), "9");
}

TEST(NamesInTables, OfBarsAndObjectsAreFields) {
    DataStatistics statistics;
    statistics.what = "class, name";
    for (const auto& name : namesOfFiles()) statistics.bars.emplace_back(name, 1);
    const auto rows = csvRows(core::csvOf(statistics));
    ASSERT_EQ(rows.size(), namesOfFiles().size() + 1);
    EXPECT_EQ(rows[0], (std::vector<std::string>{"class, name", "count"}));
    for (std::size_t k = 0; k < namesOfFiles().size(); ++k)
        EXPECT_EQ(rows[k + 1][0], plainName(namesOfFiles()[k]));
}

/// What LaTeX shows of escaped text.
std::string shownByLatex(std::string text) {
    const std::pair<const char*, const char*> signs[] = {{"\\textbackslash{}", "\x01"},
                                                         {"\\textasciitilde{}", "~"},
                                                         {"\\textasciicircum{}", "^"},
                                                         {"\\textless{}", "<"},
                                                         {"\\textgreater{}", ">"},
                                                         {"\\textbar{}", "|"},
                                                         {"{[}", "["},
                                                         {"{*}", "*"},
                                                         {"-{}-", "--"},
                                                         {"\\_", "_"},
                                                         {"\\%", "%"},
                                                         {"\\&", "&"},
                                                         {"\\#", "#"},
                                                         {"\\$", "$"},
                                                         {"\\{", "{"},
                                                         {"\\}", "}"}};
    for (const auto& [from, to] : signs)
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;
             at += std::string(to).size())
            text.replace(at, std::string(from).size(), to);
    for (auto& c : text)
        if (c == '\x01') c = '\\';
    return text;
}

/// Rows between the first and the last rule: cells by "&" that is not escaped.
Rows latexRows(const std::string& text) {
    const auto from = text.find("\\midrule\n") + 9, to = text.find("\\bottomrule");
    Rows rows;
    std::string body = text.substr(from, to - from);
    for (std::size_t at; (at = body.find('\n')) != std::string::npos; body.erase(0, at + 1)) {
        const auto line = body.substr(0, at);
        EXPECT_TRUE(line.ends_with(" \\\\")) << line;
        EXPECT_NE(line.front(), '[') << "it is no argument of the row before";
        EXPECT_NE(line.front(), '*') << "it is no mark of the row before";
        rows.push_back({""});
        for (std::size_t k = 0; k + 3 < line.size(); ++k)
            if (line[k] == '&' && line[k - 1] != '\\')
                rows.back().emplace_back();
            else
                rows.back().back() += line[k];
        for (auto& cell : rows.back()) cell = shownByLatex(trimmed(cell));
    }
    return rows;
}

TEST(NamesInTables, AreShownByLatex) {
    for (const auto& name : namesOfFiles()) {
        const auto text = latexText(name);
        EXPECT_EQ(shownByLatex(text), plainName(name)) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos);
        EXPECT_FALSE(text.starts_with("[") || text.starts_with("*")) << text;
        // A sign of LaTeX is escaped, or belongs to one of its commands.
        for (std::size_t k = 0; k < text.size(); ++k)
            if (std::string_view("_%&#$").find(text[k]) != std::string_view::npos) {
                ASSERT_GT(k, 0u);
                EXPECT_EQ(text[k - 1], '\\') << text;
            }
        EXPECT_EQ(text.find_first_of("~^"), std::string::npos) << text;
    }
}

TEST(NamesInTables, OfEveryTabularAreCells) {
    Table table{"t", "", {}};
    table.columns.push_back({"name", "na_me", "", ColumnKind::Text, {}, "", "", "", {}, {}});
    table.columns.push_back({"value", "[value]", "", ColumnKind::Integer, {}, "", "", "", {}, {}});
    AblationTable ablation;
    ablation.metric = "loss\n%";
    RelationAtlas atlas;
    atlas.data = "a\n\\input{x}", atlas.noun = "images";
    for (const auto& name : namesOfFiles()) {
        table.columns[0].texts.push_back(name), table.columns[1].numbers.push_back(1);
        ablation.rows.emplace_back().part = name;
        ablation.rows.back().ways.emplace_back().how = EditOp::Mean;
        atlas.relations.emplace_back().name = name;
        atlas.relations.back().label = name;
    }
    const auto firstCells = [](const std::string& text, std::size_t cells) {
        std::vector<std::string> all;
        for (const auto& row : latexRows(text)) {
            EXPECT_EQ(row.size(), cells) << row[0];
            all.push_back(row[0]);
        }
        return all;
    };
    std::vector<std::string> shown, trimmedNames;
    for (const auto& name : namesOfFiles()) {
        shown.push_back(trimmed(pieceText(name).text));
        trimmedNames.push_back(trimmed(plainName(name)));
    }
    EXPECT_EQ(firstCells(core::latexOf(table), 2), shown);
    const auto* ablate = core::findAnalysis("ablate");
    const auto ablated = ablate->latex(core::answerOf(ablation, {}));
    EXPECT_EQ(firstCells(ablated, 2), trimmedNames);
    const auto maps = core::findAnalysis("atlas")->latex(core::answerOf(atlas));
    EXPECT_EQ(firstCells(maps, 4), trimmedNames);
    for (const auto& text : {ablated, maps})
        EXPECT_EQ(text.find("\\begin{tabular}"), text.find('\n') + 1) << "one line of comment";
}

}  // namespace
}  // namespace relascope

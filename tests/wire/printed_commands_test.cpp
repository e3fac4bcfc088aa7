// SPDX-License-Identifier: GPL-3.0-or-later
// Names of files in printed commands: a shell gives the program the names, and runs nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <variant>

#include "analysis/analysis.h"
#include "analysis/contrast/contrast.h"
#include "analysis/scan/scan.h"
#include "checkpoint/adapter.h"
#include "files/atomic_file.h"
#include "files/command_line.h"
#include "question/question_words.h"
#include "support/shell_words.h"
#include "support/temporary_folder.h"
#include "types/text_piece.h"

namespace relascope {
namespace {

using namespace testing_support;
using Words = std::vector<std::string>;

/// The line commands no terminal, and a shell gives these words.
void expectSafe(const std::string& line, const Words& words) {
    EXPECT_EQ(plainName(line), line);
    EXPECT_EQ(shellWords(line), words) << line;
}

TEST(PrintedCommands, AreTheWordsAndNothingElse) {
    for (const auto& name : hostileNames()) {
        const Words words = {"scan", name, "--attribute", name};
        expectSafe(core::commandLine(words), words);
        EXPECT_TRUE(isUtf8(core::commandLine(words)));
        EXPECT_EQ(
            shellWords("relascope-cli " + core::optionText("--attribute", name)),
            name.starts_with("-") ? Words{"--attribute=" + name} : (Words{"--attribute", name}));
        EXPECT_FALSE(core::placeWord(name).starts_with("-"));
    }
    EXPECT_EQ(core::commandLine({"info", "runs/quick"}), "relascope-cli info runs/quick");
}

TEST(PrintedCommands, OfEveryAnalysisKeepTheTextsOfItsOptions) {
    int texts = 0;
    for (const auto* analysis : core::analyses())
        for (const auto& name : hostileNames()) {
            Question asked{analysis->name, {{name}}, {}};
            for (const auto& field : analysis->fields) {
                if (field.spec.kind == FieldKind::Text) asked.set(field.spec.name, name);
                if (field.spec.kind == FieldKind::TextList)
                    asked.set(field.spec.name, Words{name, "other"});
                texts += asked.option(field.spec.name) != nullptr;
            }
            const auto words = core::wordsOf(asked);
            expectSafe(core::commandLine(words), words);
            for (const auto& word : words)
                EXPECT_TRUE(word == "other" || word == analysis->name || word.starts_with("--") ||
                            word == name || word == "./" + name)
                    << word;
        }
    EXPECT_GT(texts, 100);
}

std::string unescapedXml(std::string text) {
    for (const auto& [from, to] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"),
                                   std::pair("&quot;", "\""), std::pair("&amp;", "&")})
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; ++at)
            text.replace(at, std::string(from).size(), to);
    return text;
}

TEST(PrintedCommands, OfAReportAreTheWordsOfItsScan) {
    const TemporaryFolder folder("printed");
    core::makeDirectories(folder.path());
    for (const auto& name : hostileNames()) {
        if (!isUtf8(name)) continue;  // no name of an attribute
        ContrastOptions options;
        options.attribute = name, options.attributes = name;
        ModelScan scan;
        scan.metric = "accuracy", scan.measured = 500, scan.wanted = 1000;
        scan.atlas.relations.resize(1);
        scan.atlas.relations[0].name = "layer 1 relation 1";
        scan.explanations.push_back(
            {"layer 1 relation 1", "It compares.", core::contrastOptionText(options), {}});
        ModelScan::Finding finding;
        finding.text = "It answers *" + name + "*.", finding.part = "layer 1 relation 1";
        finding.maps = {0};
        finding.checks.push_back({"layer 1 relation 1 mean", 0.5});
        scan.findings.push_back(finding);
        Words command = {"scan", core::placeWord(name)};
        core::addWords(command, "--data", name);
        core::addWords(command, "--seconds", "60");
        const auto files = core::scanReport(scan, "report", name, command);
        const auto& html = files.at(0).content;
        std::vector<Words> found;
        for (std::size_t at = 0; (at = html.find("<code>", at)) != std::string::npos;) {
            const auto line = unescapedXml(html.substr(at + 6, html.find("</code>", at) - at - 6));
            EXPECT_EQ(plainName(line), line);
            found.push_back(shellWords("cd " + shellWord(folder.path()) + "; " + line));
            ++at;
        }
        const auto given = [&](Words all, const std::string& option) {
            core::addWords(all, option, name);
            return all;
        };
        const Words place = {core::placeWord(name)};
        auto eval = given({"eval", place[0]}, "--data"),
             contrast = given({"contrast", place[0]}, "--data");
        eval.insert(eval.end(), {"--examples", "500", "--edit", "layer 1 relation 1 mean"});
        contrast.insert(contrast.end(), {"--layer", "1", "--kind", "relation", "--index", "1"});
        contrast = given(contrast, "--attribute");
        contrast.insert(contrast.end(), {"--examples", "1000", "--untrained", "8"});
        contrast = given(contrast, "--attributes");
        EXPECT_EQ(found, (std::vector<Words>{eval, contrast})) << name;
        const auto& markdown = files.at(1).content;
        const auto again = markdown.rfind("relascope-cli scan ");
        ASSERT_NE(again, std::string::npos);
        auto whole = command;
        whole.insert(whole.end(),
                     {"--examples", "1000", "--exact", "0", "--untrained", "0", "--tokens", "0"});
        expectSafe(markdown.substr(again, markdown.find('\n', again) - again), whole);
        EXPECT_EQ(markdown.find("<img"), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "pwned"));
    EXPECT_FALSE(std::filesystem::exists("pwned"));
}

TEST(PrintedCommands, OfAnAdapterQuoteItsFolder) {
    const TemporaryFolder folder("adapter $(touch pwned)");
    core::makeDirectories(folder.path());
    core::writeTextFile(folder / "adapter_config.json",
                        R"({"peft_type": "LORA", "base_model_name_or_path": "lab/base"})");
    try {
        core::baseOfAdapter(folder.path());
        FAIL();
    } catch (const Error& error) {
        const std::string said = error.what();
        const auto at = said.find("--adapter ");
        ASSERT_NE(at, std::string::npos) << said;
        EXPECT_EQ(shellWords("relascope-cli " + said.substr(at)),
                  (Words{"--adapter", folder.path()}));
        EXPECT_NE(said.find("relascope-cli fetch lab/base"), std::string::npos) << said;
    }
}

}  // namespace
}  // namespace relascope

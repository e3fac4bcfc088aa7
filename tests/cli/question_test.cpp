// SPDX-License-Identifier: GPL-3.0-or-later
// A question is the same as a value, as words, through a shell, and as JSON: random questions of
// every command that is one, with texts that a shell or a parser could take for something else.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/analysis.h"
#include "app/cli/question_arguments.h"
#include "files/command_line.h"
#include "options/options_json.h"
#include "question/question_fields.h"
#include "question/question_json.h"
#include "question/question_words.h"
#include "question/table_command.h"
#include "support/rooms.h"
#include "support/shell_words.h"
#include "views/view_file.h"

namespace relascope {
namespace {

class Draw {
public:
    std::size_t below(std::size_t count) { return m_random() % count; }
    std::int64_t between(double low, double high) {
        const auto least = static_cast<std::int64_t>(low);
        const auto span = static_cast<std::uint64_t>(std::min(high, 1e6)) -
                          static_cast<std::uint64_t>(std::max(0.0, low));
        return least + static_cast<std::int64_t>(m_random() % (span + 1));
    }
    std::string text(bool name) {
        static const std::vector<std::string> all = {
            "a",    "two words", "it's",    "\"quoted\"",   "$(touch x)",
            "`id`", "a;b",       "--split", "-3",           " a blank ",
            "a,b",  "back\\",    "*",       "\u00e9\u4e2d", "a\nline"};
        return all[below(all.size() - (name ? 1 : 0))];
    }
    FieldValue of(const FieldSpec& spec) {
        const auto choice = [&] { return spec.choices[below(spec.choices.size())]; };
        switch (spec.kind) {
            case FieldKind::Boolean:
                return true;
            case FieldKind::Integer:
                return between(spec.minimum, spec.maximum);
            case FieldKind::Real:
                return static_cast<double>(between(spec.minimum, spec.maximum));
            case FieldKind::Choice:
                return choice();
            case FieldKind::IntegerList:
                return std::vector{between(spec.minimum, spec.maximum),
                                   between(spec.minimum, spec.maximum)};
            case FieldKind::TextList:
                if (spec.choices.empty()) return std::vector{text(false), text(false)};
                return std::vector{choice()};
            default:
                return spec.path ? "/" + text(true) : text(false);
        }
    }
    Model model() {
        Model one{"/runs/" + text(true), {}, {}, {}, {}, {}};
        if (below(2) == 0) one.checkpoint = below(2) == 0 ? "best" : "250";
        if (below(2) == 0) one.edits = {"layer 2 relation 3 zero", "head 2.1"};
        if (below(3) == 0) one.head = below(2) == 0 ? "ridge:0.1" : "/heads/" + text(true);
        if (below(3) == 0) one.imageSize = "448x336";
        return one;
    }

private:
    std::mt19937_64 m_random{7};
};

Question drawn(Draw& draw, const std::string& command) {
    Question asked{command, {draw.model()}, {}};
    const auto models = core::modelsAsked(command);
    const auto count = models.most > 2 ? 1 + draw.below(4) : models.most;
    while (asked.subjects.size() < count) asked.subjects.push_back(draw.model());
    for (auto& one : asked.subjects) {
        if (models.checkpoint.empty()) one.checkpoint.clear();
        if (!models.changed) one.edits.clear(), one.head.clear(), one.imageSize.clear();
    }
    if (models.placed && draw.below(2) == 0) asked.subjects[0].device = "cuda:1";
    for (const auto& spec : core::questionFields(command))
        if (draw.below(3) == 0 && spec.name != "words")  // that is divided at its commas
            asked.set(spec.name, draw.of(spec));
    return asked;
}

TEST(Question, IsTheSameAsWordsThroughAShellAndAsJson) {
    Draw draw;
    for (const auto& command : core::questionCommands())
        for (int k = 0; k < 40; ++k) {
            const auto asked = drawn(draw, command);
            const auto words = core::wordsOf(asked);
            ASSERT_EQ(cli::questionOf(words), asked) << core::commandLine(words);
            auto typed = testing_support::shellWords(core::commandLine(words));
            ASSERT_EQ(cli::questionOf(typed), asked) << core::commandLine(words);
            ASSERT_EQ(core::questionOf(command, core::jsonOf(asked)), asked) << core::jsonOf(asked);
            try {
                core::checkIsView(command);
            } catch (const OptionError&) {
                continue;
            }
            View view;
            static_cast<Question&>(view) = asked;
            view.subjects[0].device.clear();  // says where it is computed, and not what
            const auto json = core::viewToJson(view, "/").dump();
            const auto back = core::viewFromJson(json, "/x.relaview");
            ASSERT_EQ(static_cast<const Question&>(back), static_cast<const Question&>(view))
                << json;
        }
}

TEST(Question, TakesTheFormerNamesOfCommands) {
    for (const auto& [former, now] :
         {std::pair("origins", "qk-attribution"), std::pair("dictionary", "qk-components")}) {
        EXPECT_EQ(cli::questionOf({former, "/r", "--layer", "2"}),
                  cli::questionOf({now, "/r", "--layer", "2"}));
        EXPECT_EQ(cli::questionOf({former, "/r"}).command, now);
        EXPECT_EQ(core::questionOf(former, {{"path", "/r"}}).command, now);
        const auto json = nlohmann::json{
            {"format", "relascope-view/1"}, {"command", former}, {"subjects", {{{"path", "/r"}}}}};
        EXPECT_EQ(core::viewFromJson(json.dump(), "/x.relaview").command, now);
        EXPECT_EQ(core::findAnalysis(former), core::findAnalysis(now));
        const auto all = core::questionCommands();
        EXPECT_EQ(std::count(all.begin(), all.end(), former), 0) << "is accepted and not shown";
    }
}

TEST(Question, PassesOverFormerOptionsOfFilesAndRequests) {
    const nlohmann::json options = {{"graft", {"streams"}},
                                    {"graft_examples", 100},
                                    {"across", true},
                                    {"part", "layer 2 attention"},
                                    {"examples", 24}};
    const auto view =
        core::viewFromJson(nlohmann::json{{"format", "relascope-view/1"},
                                          {"command", "duel"},
                                          {"subjects", {{{"path", "/a"}}, {{"path", "/b"}}}},
                                          {"options", options}}
                               .dump(),
                           "/x.relaview");
    ASSERT_EQ(view.options.size(), 1u);
    EXPECT_EQ(view.options.front().name, "examples");
    auto members = options;
    members["path"] = "/a", members["other"] = "/b";
    EXPECT_EQ(core::questionOf("duel", members).options.size(), 1u);
    members["grafts"] = true;
    EXPECT_THROW(core::questionOf("duel", members), OptionError);
    EXPECT_THROW(core::questionOf("lens", {{"path", "/a"}, {"graft", {"streams"}}}), OptionError);
}

TEST(Question, NamesWhatItDoesNotTake) {
    const auto refused = [](std::vector<std::string> words) {
        try {
            cli::questionOf(words);
        } catch (const OptionError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_TRUE(refused({"lens", "/r", "--top", "no"}).starts_with("--top: 'no'"));
    EXPECT_TRUE(refused({"lens", "/r", "--sample", "-1"}).starts_with("--sample: -1 is below 0"));
    EXPECT_TRUE(refused({"lens"}).starts_with("lens: path is required"));
    EXPECT_TRUE(refused({"train", "/r"}).starts_with("command: "));
    EXPECT_EQ(refused({"compare"}), "compare: runs is required");
    for (const auto& [words, option] :
         {std::pair(std::vector<std::string>{"ablate", "/r", "--text", "a", "--data", "b"},
                    "--data: is given with --text"),
          std::pair(std::vector<std::string>{"patch", "/r", "--pair", "2"},
                    "--pair: is for --pairs")}) {
        try {
            core::checkTogether(cli::questionOf(words));
            ADD_FAILURE();
        } catch (const OptionError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with(option)) << error.what();
        }
    }
}

}  // namespace
}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
// Answers as values: every form of one says the same, what arrives is what was sent, and what is
// wrong is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "analysis/ablate/answer.h"
#include "analysis/along/answer.h"
#include "analysis/attribute/attribution.h"
#include "analysis/duel/duel.h"
#include "analysis/heads/head_measures.h"
#include "analysis/lens/lens.h"
#include "analysis/lens/table.h"
#include "analysis/patch/options.h"
#include "answers/answer_text.h"
#include "support/rooms.h"
#include "wire/answer_frame.h"
#include "wire/figures.h"

namespace relascope {
namespace {

const double kNone = std::nan("");

Answer sentAnswer(const Answer& answer) {
    wire::FrameReader reader;
    reader.append(wire::figureBytes(wire::AnalysisFigure{"lens", answer, "a caption"}));
    const auto got = std::get<wire::AnalysisFigure>(wire::figureFromFrame(*reader.next()));
    return got.result;
}

bool sameNumbers(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return x == y || (std::isnan(x) && std::isnan(y));
    });
}

void expectSame(const Answer& a, const Answer& b) {
    ASSERT_EQ(a.tables.size(), b.tables.size());
    for (std::size_t t = 0; t < a.tables.size(); ++t) {
        const auto &x = a.tables[t], &y = b.tables[t];
        EXPECT_EQ(x.key, y.key);
        EXPECT_EQ(x.title, y.title);
        EXPECT_EQ(x.links, y.links);
        ASSERT_EQ(x.columns.size(), y.columns.size());
        for (std::size_t c = 0; c < x.columns.size(); ++c) {
            const auto &left = x.columns[c], &right = y.columns[c];
            EXPECT_EQ(std::tie(left.key, left.title, left.help, left.kind, left.format, left.into,
                               left.low, left.high, left.texts),
                      std::tie(right.key, right.title, right.help, right.kind, right.format,
                               right.into, right.low, right.high, right.texts));
            EXPECT_TRUE(sameNumbers(left.numbers, right.numbers)) << left.key;
        }
    }
    EXPECT_EQ(a.maps, b.maps);
    EXPECT_EQ(a.complete, b.complete);
}

/// Any tables, values and texts.
Answer randomAnswer(std::mt19937& random) {
    const auto upTo = [&](unsigned most) { return random() % (most + 1); };
    const auto text = [&] {
        static const std::string letters = "ab,\"\n\r\t;\xc3\xa9 =";
        std::string made;
        for (auto k = upTo(8); k > 0; --k) made += letters[upTo(7)];
        return made + (upTo(3) == 0 ? "\u00e9" : "");
    };
    const auto number = [&]() -> double {
        switch (upTo(5)) {
            case 0:
                return kNone;
            case 1:
                return -0.0;
            case 2:
                return std::ldexp(1.0 + upTo(1000) / 997.0, static_cast<int>(upTo(400)) - 200);
            default:
                return (static_cast<double>(upTo(2000)) - 1000.0) / 7.0;
        }
    };
    Answer answer;
    const auto tables = 1 + upTo(3);
    for (unsigned t = 0; t < tables; ++t) {
        const bool own = t == 1;
        Table table{own ? "" : "table" + std::to_string(t), text()};
        const auto rows = own ? 1 : upTo(6);
        const auto columns = 1 + upTo(5);
        for (unsigned c = 0; c < columns; ++c) {
            Column column{"column" + std::to_string(c),
                          text(),
                          text(),
                          static_cast<ColumnKind>(upTo(3)),
                          {static_cast<int>(upTo(6)), upTo(1) == 0, upTo(1) == 0}};
            for (unsigned r = 0; r < rows; ++r) {
                if (column.kind == ColumnKind::Text)
                    column.texts.push_back(text());
                else if (column.kind == ColumnKind::Flag)
                    column.numbers.push_back(upTo(1));
                else if (column.kind == ColumnKind::Integer)
                    column.numbers.push_back(upTo(4) == 0 ? kNone : upTo(1u << 30) - 5.0);
                else
                    column.numbers.push_back(number());
            }
            table.columns.push_back(std::move(column));
        }
        for (unsigned r = 0; r < rows && t == 0; ++r)
            table.links.push_back({static_cast<MapKind>(upTo(4)), static_cast<int>(upTo(9)), 1});
        answer.tables.push_back(std::move(table));
    }
    for (auto k = upTo(2); k > 0; --k)
        answer.maps.push_back({MapKind::Symbols, 1, 2, 2, 1, {0.5F, -1.0F}, upTo(1) == 0});
    answer.complete = upTo(1) == 0;
    return answer;
}

/// RFC 4180.
std::vector<std::vector<std::string>> linesOfCsv(const std::string& text) {
    std::vector<std::vector<std::string>> lines(1, {""});
    bool quoted = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        auto& field = lines.back().back();
        if (quoted && text[k] == '"' && k + 1 < text.size() && text[k + 1] == '"')
            field += text[++k];
        else if (text[k] == '"')
            quoted = !quoted;
        else if (!quoted && text[k] == ',')
            lines.back().emplace_back();
        else if (!quoted && text[k] == '\n')
            lines.push_back({""});
        else
            field += text[k];
    }
    lines.pop_back();
    return lines;
}

// JSON = CSV = message = what the window shows, for any answer.
TEST(Answers, EveryFormSaysTheSame) {
    std::mt19937 random(11);
    for (int round = 0; round < 400; ++round) {
        const auto answer = randomAnswer(random);
        expectSame(answer, sentAnswer(answer));
        const auto json = core::jsonOf(answer);
        for (const auto& table : answer.tables) {
            const bool own = table.key.empty();
            const auto lines = linesOfCsv(core::csvOf(table));
            ASSERT_EQ(lines.size(), table.rows() + 1);
            for (std::size_t r = 0; r < table.rows(); ++r) {
                const auto& fields = lines[r + 1];
                ASSERT_EQ(fields.size(), table.columns.size());
                for (std::size_t c = 0; c < table.columns.size(); ++c) {
                    const auto& column = table.columns[c];
                    const auto& value =
                        own ? json.at(column.key) : json.at(table.key).at(r).at(column.key);
                    if (column.kind == ColumnKind::Text) {
                        EXPECT_EQ(value, column.texts[r]);
                        EXPECT_EQ(fields[c], plainName(column.texts[r]));
                        continue;
                    }
                    const double number = column.numbers[r];
                    if (std::isnan(number)) {
                        EXPECT_TRUE(value.is_null());
                        EXPECT_EQ(fields[c], "");
                        EXPECT_EQ(core::shownValue(column, r), "\u2014");
                    } else {
                        EXPECT_EQ(column.kind == ColumnKind::Flag ? value.get<bool>()
                                                                  : value.get<double>(),
                                  number);
                        EXPECT_EQ(std::stod(fields[c]), number);
                    }
                }
            }
        }
    }
}

TEST(Answers, ValuesAreShownAsPeopleReadThem) {
    Column column{"x", "", "", ColumnKind::Number, {1, true}, "", "", "", {0.957, -0.0001, kNone}};
    EXPECT_EQ(core::shownValue(column, 0), "95.7 %");
    EXPECT_EQ(core::shownValue(column, 1), "0.0 %") << "what rounds to zero has no sign";
    EXPECT_EQ(core::shownValue(column, 2), "\u2014");
    column.format = {2, false, true};
    EXPECT_EQ(core::shownValue(column, 0), "+0.96");
    EXPECT_EQ(core::shownValue(column, 1), "0.00");
    column.numbers = {-1.5};
    EXPECT_EQ(core::shownValue(column, 0), "\u22121.50");
    column.kind = ColumnKind::Integer, column.numbers = {12345};
    EXPECT_EQ(core::shownValue(column, 0), "12,345");
    column.title = "x & y";
    const Answer answer{
        {{"t",
          "A title",
          {column, {"unseen", "", "", ColumnKind::Text, {}, {}, {}, {}, {}, {"a"}}}}}};
    EXPECT_EQ(core::plainText(answer), "A title\n x & y\n12,345\n");
    Table table{"t",
                "",
                {{"x", "x", "", ColumnKind::Number, {1, true, true}, "", "a", "b", {-0.5}},
                 {"a", "", "", ColumnKind::Number, {}, "", "", "", {-0.6}},
                 {"b", "", "", ColumnKind::Number, {}, "", "", "", {0.25}}}};
    EXPECT_EQ(core::shownValue(table, table.columns[0], 0), "\u221250.0 [\u221260.0, +25.0]");
    EXPECT_EQ(core::latexOf(answer),
              "\\begin{tabular}{r}\n\\toprule\nx \\& y \\\\\n\\midrule\n12,345 \\\\\n"
              "\\bottomrule\n\\end{tabular}\n");
}

/// Why an answer is refused when it is read, after `change` of its message; empty: it is not.
std::string refusal(const Answer& answer, const std::function<void(wire::Json&)>& change) {
    wire::Bytes blob;
    auto json = wire::answerToJson(answer, blob);
    change(json);
    try {
        wire::answerFromJson(json, blob);
    } catch (const wire::FrameError& error) {
        return error.what();
    }
    return "";
}

TEST(Answers, OfEarlierVersionsHaveTheWordsOfToday) {
    const Answer stored{
        {{"", "", {{"says", "Map", "", ColumnKind::Text, {}, "", "", "", {}, {"a sentence"}}}},
         {"says", "", {{"says", "", "", ColumnKind::Text, {}, "", "", "", {}, {"another"}}}},
         {"parts",
          "",
          {{"use",
            "Use",
            "",
            ColumnKind::Text,
            {},
            "",
            "",
            "",
            {},
            {"listened to", "in the way", "not used"}}}}}};
    wire::Bytes blob;
    const auto json = wire::answerToJson(stored, blob);
    const auto answer = wire::answerFromJson(json, blob);
    EXPECT_EQ(answer.text("summary"), "a sentence");
    EXPECT_EQ(answer.table("says").texts("says").front(), "another") << "of a duel";
    EXPECT_EQ(answer.table("parts").texts("use"),
              (std::vector<std::string>{"misleading", "harmful", "not used"}));
}

TEST(Answers, WhatIsWrongIsRefusedByItsColumn) {
    Answer answer{
        {{"names", "", {{"name", "", "", ColumnKind::Text, {}, "", "", "", {}, {"a", "b"}}}},
         {"pairs",
          "",
          {{"first", "", "", ColumnKind::Integer, {}, "names", "", "", {0, 1, kNone}},
           {"flag", "", "", ColumnKind::Flag, {}, "", "", "", {0, 1, 1}}}}}};
    answer.maps.push_back({MapKind::Relation, 0, 0, 1, 2, {1.0F, 2.0F}});
    const auto refused = [&](const std::function<void(wire::Json&)>& change,
                             const std::string& why) {
        const auto sentence = refusal(answer, change);
        EXPECT_NE(sentence.find(why), std::string::npos) << sentence;
    };
    EXPECT_EQ(refusal(answer, [](auto&) {}), "");
    const auto column = [](wire::Json& json, int at) -> wire::Json& {
        return json["tables"][1]["columns"][at];
    };
    refused([](auto& j) { j["tables"][0]["rows"] = std::size_t{1} << 60; }, "ends before");
    refused([](auto& j) { j["tables"][0]["rows"] = 1; }, "");
    refused([](auto& j) { j["tables"][1]["links"] = 2; }, "has not the rows");
    refused([](auto& j) { j["tables"].erase(0); }, "");
    refused([&](auto& j) { column(j, 0)["into"] = "nothing"; }, "which is not there");
    refused([&](auto& j) { column(j, 0)["into"] = "pictures"; },
            "points at row 0 of 'pictures', which has 0");
    refused([&](auto& j) { column(j, 1)["into"] = "names"; }, "without being whole numbers");
    refused([&](auto& j) { column(j, 0)["kind"] = 9; }, "unknown kind");
    refused([&](auto& j) { column(j, 0)["kind"] = 2, column(j, 0)["into"] = ""; },
            "neither 0 nor 1");
    refused([&](auto& j) { column(j, 0)["format"]["digits"] = -1; }, "-1 digits");
    refused([&](auto& j) { column(j, 0).erase("key"); }, "not as agreed on");
    refused([](auto& j) { j["maps"][0][3] = -1; }, "-1 x 2");
    refused([](auto& j) { j["maps"][0][3] = 1 << 30; }, "ends before");
    refused([](auto& j) { j["maps"] = wire::Json::array(); }, "followed by others");
    refused([](auto& j) { j["begin"] = 1000; }, "not in its blob");
    answer.tables[1].columns[0].numbers[1] = 2;
    refused([](auto&) {}, "points at row 2 of 'names', which has 2");
    answer.tables[1].columns[0].numbers[1] = -1;
    refused([](auto&) {}, "points at row -1");
    answer.tables[1].columns[0].numbers[1] = 0.5;
    refused([](auto&) {}, "not whole");
}

// Of 40 layers and 1,024 tokens.
TEST(Answers, ALensOfALargeModelFits) {
    LensResult lens;
    lens.rows.resize(41, "layer");
    lens.answers.resize(1024, {50000, " relation", 12.5, 0.5});
    lens.positions.resize(1024), lens.inputs.resize(1024, " the");
    LensCell cell;
    cell.top.resize(5, {50000, " relation", 12.5, 0.5});
    lens.cells.resize(41 * 1024, cell);
    lens.cells.back().top.back().probability = 0.125;
    const auto answer = core::answerOf(lens);
    const auto sent = sentAnswer(answer);
    const core::LensTable table(sent);
    ASSERT_EQ(table.each, 5u);
    EXPECT_EQ(table.probabilities.back(), 0.125);
    EXPECT_EQ(table.names.front(), " relation");
    EXPECT_EQ(table.first(40, 1023) + 5, table.k.size());
}

TEST(Answers, TypedResultsComeBack) {
    AblationTable table;
    table.metric = "accuracy", table.examples = 5, table.wanted = 9, table.base = 0.75;
    AblationRow row;
    row.part = "layer 2 relation 3", row.group = "relations";
    row.edit.point = "blocks.1.rel.hook_r", row.edit.selection["relation"] = {{2}, {}, {}};
    row.partNorm = 0.5, row.streamNorm = 2.0;
    row.ways = {{EditOp::Zero, {"accuracy", 0.75, 0.5, -0.25, -0.3, -0.2}, 0.1},
                {EditOp::Mean, {"accuracy", 0.75, 0.7, -0.05, kNone, kNone}, 0.1}};
    table.rows = {row};
    table.rows.push_back(row), table.rows.back().part = "layer 1 \"odd\", name";
    table.rows[1].adds = PairedChange{"accuracy", 0.5, 0.625, 0.125, 0.1, 0.15};
    table.untrained = {0.25, 0.5}, table.different = 4, table.available = 90, table.meanOf = 64;
    table.oneAnswer = true;
    table.cumulative = {{"layer 1", 0.7}};
    table.pairs = {{"a", "b", -0.5, kNone}};
    const auto answer = sentAnswer(core::answerOf(table, {{"needed", ""}, 0.023, {}}));
    const auto ablated = core::ablationTableOf(answer);
    EXPECT_FALSE(answer.complete);
    ASSERT_EQ(ablated.rows.size(), 2U);
    EXPECT_EQ(ablated.rows[0].edit, row.edit);
    EXPECT_EQ(ablated.rows[1].part, table.rows[1].part);
    EXPECT_EQ(ablated.rows[0].ways[0], row.ways[0]);
    EXPECT_TRUE(std::isnan(ablated.rows[0].ways[1].change.low));
    EXPECT_EQ(ablated.rows[0].ways[1].how, EditOp::Mean);
    EXPECT_EQ(ablated.cumulative, table.cumulative);
    EXPECT_TRUE(std::isnan(ablated.pairs[0].interaction));
    EXPECT_EQ(ablated.cumulativeWay, EditOp::Mean);
    EXPECT_EQ(core::usesOf(answer), (std::vector<std::string>{"needed", ""}));
    EXPECT_FALSE(ablated.rows[0].adds);
    EXPECT_EQ(ablated.rows[1].adds, table.rows[1].adds);
    EXPECT_EQ(ablated.untrained, table.untrained);
    EXPECT_EQ(ablated.different, 4);
    EXPECT_EQ(ablated.available, 90);
    EXPECT_EQ(ablated.meanOf, 64);
    EXPECT_TRUE(ablated.oneAnswer);
    EXPECT_EQ(answer.table("rows").find("use")->title, "Use (2.3 points)");
    auto damaged = answer;
    damaged.tables[1].columns[3].texts[0] = "zap";
    EXPECT_THROW(core::ablationTableOf(damaged), Error);
    damaged = answer;
    damaged.tables[1].columns.back().texts[0] = "{";
    EXPECT_THROW(core::ablationTableOf(damaged), Error);

    AlongTraining along;
    along.rows = along.columns = 2, along.layerName = "layer 1", along.edited = true;
    along.cell = {MapKind::Symbols, 1, 2, 0, 1, 1};
    along.steps = {{4, {0.5, kNone, {1, 2, 3, 4}}, {0.25, 0.5, {4, 3, 2, 1}}, 77}};
    const auto sent = sentAnswer(core::answerOf(along));
    const auto followed = core::alongTrainingOf(sent);
    EXPECT_EQ(followed.cell, along.cell);
    EXPECT_EQ(followed.steps[0].before.map, along.steps[0].before.map);
    EXPECT_EQ(followed.steps[0].before.value, 0.25);
    EXPECT_EQ(followed.steps[0].weights, 77u);
    const auto wrong = [&](const std::function<void(Answer&)>& change, const std::string& why) {
        auto changed = sent;
        change(changed);
        try {
            core::alongTrainingOf(changed);
            FAIL() << why;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
    };
    const auto fact = [](Answer& answer, const char* key) -> double& {
        for (auto& column : answer.tables[1].columns)
            if (column.key == key) return column.numbers[0];
        throw Error(key);
    };
    wrong([&](auto& a) { fact(a, "rows") = 3; }, "another size");
    wrong([&](auto& a) { fact(a, "rows") = -3; }, "-3 x 2");
    wrong([&](auto& a) { fact(a, "block") = 0; }, "in blocks of 0");
    wrong([&](auto& a) { fact(a, "layer") = 0; }, "no layer");
    wrong([&](auto& a) { fact(a, "i") = 1e15; }, "'i' is 1000000000000000");
    wrong([](auto& a) { a.maps.pop_back(); }, "have 1 maps");
    wrong([](auto& a) { a.tables.pop_back(); }, "no table ''");
    wrong([](auto& a) { a.tables[0].columns.pop_back(); }, "no column 'weights'");
}

TEST(Answers, ADuelComesBack) {
    Duel duel;
    duel.a = {"a", "VisionTransformer", {"layer 1"}}, duel.b = duel.a;
    duel.cka = {0.5}, duel.untrainedCka = {0.25}, duel.alike = {true}, duel.sentences = {"one"},
    duel.mcnemar = 0.25, duel.largestDifference = std::nan("");
    duel.changes = {{"accuracy", 0.5, 0.75, 0.25, 0.1, 0.4}};
    duel.matches = {
        {"layer 1", "layer 2", true, 2, 3, 0.5, 0.25, 0.125, 0.25, {0.5}, {0.75}, 0.5, true}};
    duel.partners = {{"layer 1 head 1", "layer 2 head 2", true, -0.5, 0, 0, 1, 1}};
    duel.differences = {{7, 3, 0.5, true, false, "w", "a", "b", 0.5, 0.25}};
    duel.untrained = 1, duel.untrainedCkas = {0.25};
    const auto sent = sentAnswer(core::answerOf(duel));
    const auto compared = core::duelOf(sent);
    EXPECT_EQ(compared.matches, duel.matches);
    EXPECT_EQ(compared.partners, duel.partners);
    EXPECT_EQ(compared.alike, duel.alike);
    EXPECT_EQ(compared.sentences, duel.sentences);
    EXPECT_EQ(compared.differences, duel.differences);
    EXPECT_EQ(compared.b.streams, duel.b.streams);
    EXPECT_TRUE(std::isnan(compared.largestDifference));
    auto damaged = sent;
    damaged.tables[9].columns[0].texts.emplace_back("layer 9");
    EXPECT_THROW(core::duelOf(damaged), Error);
    damaged = sent;
    damaged.tables.pop_back();
    EXPECT_THROW(core::duelOf(damaged), Error);
}

}  // namespace
}  // namespace relascope

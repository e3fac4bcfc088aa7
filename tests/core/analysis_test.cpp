// SPDX-License-Identifier: GPL-3.0-or-later
// What every analysis promises by its description: options that are checked, stored and read back,
// and results that can be written.
#include "analysis/analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/ablate/options.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "run/run_folder.h"
#include "support/rooms.h"
#include "support/trained.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace testing_support;
using Json = nlohmann::ordered_json;

/// The message of the OptionError that is thrown; fails the test without one.
template <class Action>
std::string refusalOf(Action&& action) {
    try {
        action();
    } catch (const OptionError& error) {
        return error.field() + ": " + error.message();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

// A valid value of a field that is not its default.
FieldValue anotherValue(const core::AnalysisField& field) {
    switch (field.spec.kind) {
        case FieldKind::Boolean:
            return !std::get<bool>(field.initial);
        case FieldKind::Integer:
            return std::int64_t{7};
        case FieldKind::Choice:
            return field.spec.choices.back();
        case FieldKind::TextList:
            return std::vector<std::string>{field.spec.choices.empty() ? "a, b"
                                                                       : field.spec.choices.back()};
        default:
            return std::string("logit:1");
    }
}

core::OptionValues otherValues(const core::Analysis& analysis) {
    core::OptionValues values;
    for (const auto& field : analysis.fields) values[field.spec.name] = anotherValue(field);
    return values;
}

TEST(Analyses, AreDescribed) {
    std::set<std::string> names;
    for (const auto* analysis : core::analyses()) {
        const auto& a = *analysis;
        SCOPED_TRACE(a.name);
        EXPECT_TRUE(names.insert(a.name).second) << "twice";
        EXPECT_EQ(core::findAnalysis(a.name), analysis);
        for (const auto& text : {a.name, a.title, a.summary, a.progressText})
            EXPECT_FALSE(text.empty());
        EXPECT_TRUE(a.csv && a.terminal && a.json);
        const auto& runner = core::runnerOf(a);
        EXPECT_TRUE(runner.run);
        EXPECT_EQ(a.costText != nullptr, static_cast<bool>(runner.cost));
        const bool own =
            a.input == core::AnalysisInput::OwnText || a.input == core::AnalysisInput::OwnPrompts;
        EXPECT_EQ(own, static_cast<bool>(runner.ownText));
        std::set<std::string> fields;
        for (const auto& field : a.fields) {
            EXPECT_TRUE(fields.insert(field.spec.name).second) << field.spec.name;
            EXPECT_FALSE(field.spec.label.empty()) << field.spec.name;
            EXPECT_FALSE(field.spec.help.empty()) << field.spec.name;
            if (field.inRow && field.spec.kind == FieldKind::TextList) {
                EXPECT_EQ(field.spec.choices.size(), field.spec.choiceTitles.size());
                EXPECT_EQ(field.spec.choices.size(), field.spec.choiceHelp.size());
            }
        }
    }
    EXPECT_EQ(core::findAnalysis("none"), nullptr);
    core::Analysis unknown;
    unknown.name = "none";
    EXPECT_THROW(core::runnerOf(unknown), Error);
}

TEST(Analyses, OptionsAreStoredAndReadBack) {
    for (const auto* analysis : core::analyses()) {
        SCOPED_TRACE(analysis->name);
        const auto values = otherValues(*analysis);
        core::checkOptions(analysis->fields, values);
        const auto text = core::optionsToJson(*analysis, values).dump();
        EXPECT_EQ(core::optionsFromJson(*analysis, Json::parse(text)), values) << text;
        core::OptionValues defaults;
        for (const auto& field : analysis->fields) defaults[field.spec.name] = field.initial;
        EXPECT_EQ(core::optionsToJson(*analysis, defaults).dump(), "{}");
        core::checkOptions(analysis->fields, defaults);
    }
}

TEST(Analyses, OptionsThatDoNotFitAreRefused) {
    const auto& ablate = *core::findAnalysis("ablate");
    const auto check = [&](core::OptionValues values) {
        return refusalOf([&] { core::checkOptions(ablate.fields, values); });
    };
    EXPECT_EQ(check({{"exmples", std::int64_t{1}}}),
              "exmples: unknown option 'exmples'; did you mean 'examples'?");
    EXPECT_EQ(check({{"examples", std::int64_t{0}}}), "examples: 0 is below 1");
    EXPECT_EQ(check({{"examples", 2.0}}), "examples: is a value of another kind");
    EXPECT_TRUE(check({{"metric", std::string("acuracy")}}).starts_with("metric: "));
    EXPECT_TRUE(check({{"how", std::vector<std::string>{"zero", "meen"}}}).starts_with("how: "));
    for (const char* json : {"[]", "3", "{\"examples\":\"2\"}", "{\"examples\":-1}",
                             "{\"examples\":1e30}", "{\"how\":[1]}", "{\"how\":\"zero\"}",
                             "{\"cumulative\":1}", "{\"none\":0}", "{\"metric\":null}"})
        EXPECT_THROW(core::optionsFromJson(ablate, Json::parse(json)), OptionError) << json;
}

/// A run that kept its weights at several steps, with its data, as an analysis sees it.
struct TrainedSubject {
    TemporaryFolder home{"analyses"};
    std::string path = home / "run";
    core::DataSplits splits = tinyData();
    std::unique_ptr<core::OpenedModel> model, again;
    core::KeptWork kept;
    core::AnalysisSubject subject;

    TrainedSubject() {
        auto folder = core::RunFolder::create(path, tinyOptions());
        core::Control control;
        trainIn(folder, control);
        model = std::make_unique<core::OpenedModel>(path, "", "cpu");
        subject.model = model.get();
        subject.run = path;
        subject.device = "cpu";
        subject.data = splits.validation;
        subject.sample = splits.validation->sample(0);
        subject.second = splits.validation->sample(1);
        subject.classNames = splits.validation->info().classNames;
        subject.cell = MapCell{MapKind::Relation, 0, 0, 0, 0, 1};
        subject.kept = &kept;
        again = std::make_unique<core::OpenedModel>(path, "0", "cpu");
        auto other = std::make_shared<core::AnalysisSubject>();
        other->model = again.get(), other->path = path;
        subject.other = std::move(other);
    }
};

TEST(Analyses, RunOnARunAndAreWritten) {
    TrainedSubject trained;
    for (const auto* analysis : core::analyses()) {
        if (analysis->input == core::AnalysisInput::Sentences ||
            analysis->input == core::AnalysisInput::OwnPrompts)
            continue;                               // of a language model
        if (analysis->name == "nearest") continue;  // of a model whose answer are features
        SCOPED_TRACE(analysis->name);
        core::OptionValues values;
        if (analysis->field("examples")) values["examples"] = std::int64_t{4};
        if (analysis->field("over")) {
            // The pair with different answers.
            for (std::int64_t at = 1; at < trained.splits.validation->size(); ++at) {
                const auto other = trained.splits.validation->sample(at);
                if (other.label == trained.subject.sample->label) continue;
                trained.subject.second = other;
                break;
            }
            values["over"] = std::vector<std::string>{"resid", "cells"};
            values["metric"] = std::string("logit:0");
        }
        if (analysis->field("attribute")) {
            values["attribute"] = std::string("large colour distance");
            values["examples"] = trained.subject.data->size();
            if (analysis->field("untrained")) values["untrained"] = std::int64_t{1};
        }
        if (analysis->field("fact")) {
            values["fact"] = std::string("large colour distance");
            values["examples"] = trained.subject.data->size();
            values["untrained"] = std::int64_t{1};
        }
        const auto& runner = core::runnerOf(*analysis);
        const auto result = runner.run(trained.subject, values, {});
        EXPECT_FALSE(result.tables.empty());
        const auto csv = analysis->csv(result);
        // A map that tells nothing apart has nothing that is split.
        const bool empty = result.has("split") && result.number("split") == 0.0;
        EXPECT_GT(std::count(csv.begin(), csv.end(), '\n'), empty ? 0 : 1);
        EXPECT_TRUE(analysis->terminal(result).ends_with('\n'));
        EXPECT_TRUE(analysis->json(result).is_object());
        EXPECT_FALSE(analysis->json(result).empty());
        if (analysis->latex) {
            EXPECT_NE(analysis->latex(result).find("tabular"), std::string::npos);
        }
        EXPECT_TRUE(refusalOf([&] {
                        runner.run(trained.subject, {{"nothing", true}}, {});
                    }).starts_with("nothing: "));
    }
}

TEST(Analyses, SayWhatTheyMiss) {
    TrainedSubject trained;
    const auto runnerNamed = [](const char* name) -> const core::AnalysisRunner& {
        return core::runnerOf(*core::findAnalysis(name));
    };
    const auto& along = runnerNamed("along");
    core::AnalysisSubject none;
    none.sample = trained.subject.sample;
    EXPECT_THROW(along.run(none, {}, {}), Error);
    none.run = trained.subject.run;
    EXPECT_TRUE(refusalOf([&] { along.run(none, {}, {}); }).starts_with("source: is missing"));
    trained.subject.cell.reset();
    EXPECT_TRUE(refusalOf([&] {
                    runnerNamed("patch").run(trained.subject,
                                             {{"over", std::vector<std::string>{"cells"}}}, {});
                }).starts_with("over: cells need a relation"));
    trained.subject.sample.reset();
    EXPECT_THROW(runnerNamed("lens").run(trained.subject, {}, {}), Error);
}

TEST(Analyses, TheCostOfAnAblationFollowsItsOptions) {
    TrainedSubject trained;
    const auto& ablate = *core::findAnalysis("ablate");
    const auto& runner = core::runnerOf(ablate);
    const auto found = runner.cost(trained.subject, {});
    const auto cost = [&](const core::OptionValues& values) {
        return ablate.costText(found, values);
    };
    const auto all = cost({});
    EXPECT_NE(all.find(" parts x 3 ways on "), std::string::npos) << all;
    EXPECT_NE(all.find(" images: about "), std::string::npos) << all;
    EXPECT_NE(cost({{"how", std::vector<std::string>{"zero"}}}).find(" parts x 1 way on "),
              std::string::npos);
    EXPECT_TRUE(cost({{"how", std::vector<std::string>{}}}).starts_with("choose what replaces"));
    EXPECT_TRUE(cost({{"what", std::vector<std::string>{}}}).starts_with("choose which parts"));
    // As many parts as are measured.
    core::OptionValues values = {{"examples", std::int64_t{2}},
                                 {"how", std::vector<std::string>{"zero"}}};
    const auto table = core::ablationTableOf(runner.run(trained.subject, values, {}));
    EXPECT_TRUE(
        cost(values).starts_with(std::to_string(table.rows.size()) + " parts x 1 way on 2 "))
        << cost(values);
}

}  // namespace
}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the kinds of data: complete, with an opener each, and true of what is opened.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "datasets/registry.h"
#include "model/architecture.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/metrics.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "support/rooms.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

DataOptions optionsOf(const DataKind& kind, const std::string& task) {
    DataOptions o;
    o.kind = kind.name;
    if (!task.empty()) o.task = task;
    return o;
}

std::vector<std::string> tasks(const DataKind& kind) {
    auto names = kind.taskNames();
    return names.empty() ? std::vector<std::string>{""} : names;
}

TEST(DataKinds, AreComplete) {
    std::set<std::string> names, titles, fields;
    std::set<int> orders;
    for (const auto& field : DataOptions::fieldTable()) fields.insert(field.spec.name);
    EXPECT_EQ(fields.size(), DataOptions::fieldTable().size()) << "a field is there twice";
    for (const auto* kind : dataKinds()) {
        SCOPED_TRACE(kind->name);
        EXPECT_TRUE(names.insert(kind->name).second);
        EXPECT_TRUE(orders.insert(kind->order).second) << "two kinds have the same place";
        EXPECT_FALSE(kind->title.empty() || kind->help.size() < 20 || kind->family.empty());
        EXPECT_FALSE(kind->unit.one.empty() || kind->unit.several.empty());
        EXPECT_NE(metricInfo(kind->metric).id, Metric::Other);
        if (!kind->freeMetric.empty()) {
            EXPECT_NE(metricInfo(kind->freeMetric).id, Metric::Other);
            EXPECT_EQ(kind->input, InputKind::Pairs);
        }
        for (const auto& task : kind->tasks) {
            EXPECT_TRUE(titles.insert(task.title).second) << task.title;
            EXPECT_GT(task.help.size(), 20u) << task.name;
        }
        for (const auto& used : kind->common) EXPECT_TRUE(fields.count(used.name)) << used.name;
        EXPECT_NO_THROW(fitToData([&]() -> RunOptions& {
            static RunOptions o;
            o.data.kind = kind->name;
            o.data.task = "no such task";
            return o;
        }()));
    }
    EXPECT_GE(names.size(), 10u);
}

TEST(DataKinds, ReportUnknownNamesWithTheNearest) {
    const auto message = [](auto&& run) -> std::string {
        try {
            run();
            return {};
        } catch (const OptionError& error) {
            return error.what();
        }
    };
    for (const auto& text : {message([] { dataKind("paris"); }), message([] {
                                 DataOptions o;
                                 o.kind = "paris";
                                 o.check();
                             }),
                             message([] {
                                 RunOptions o;
                                 o.data.kind = "paris";
                                 fitToData(o);
                             })})
        EXPECT_NE(text.find("'pairs'"), std::string::npos) << text;
    EXPECT_NE(message([] {
                  DataOptions o;
                  o.kind = "pairs", o.task = "ordr";
                  o.check();
              }).find("'order'"),
              std::string::npos);
    EXPECT_NE(message([] { runOptionsFromJson(R"({"data": {"kind": "txt"}})"); }).find("'text'"),
              std::string::npos);
    EXPECT_THROW(openEvaluationData(
                     "/x",
                     [] {
                         DataOptions o;
                         o.kind = "paris";
                         return o;
                     }(),
                     ""),
                 OptionError);
    EXPECT_EQ(findDataKind("paris"), nullptr);
    EXPECT_THROW(dataImport("npy"), OptionError);
    EXPECT_THROW(tasksOf("paris"), OptionError);
}

TEST(DataKinds, ReadOptionsOfEarlierVersions) {
    // Text has no task: its runs hold whatever the default was.
    const auto o = runOptionsFromJson(R"({"data": {"kind": "text", "task": "between"}})");
    EXPECT_TRUE(o.data.problems().empty());
    EXPECT_TRUE(o.data.isText());
    EXPECT_EQ(runOptionsFromJson(R"({})").data, DataOptions());
}

/// Options of which all examples are soon made, at the sizes given.
DataOptions small(const DataKind& kind, const std::string& task, std::int64_t size) {
    auto o = optionsOf(kind, task);
    o.train_size = size;
    o.validation_size = o.test_size = 8;
    o.objects = 9, o.dim = 3, o.nonzero = 2, o.length = o.longest = 3, o.embedding = 4;
    o.set_input = "relations";  // needs no card network
    return o;
}

TEST(DataKinds, KnowWhatTheyOpen) {
    for (const auto* kind : dataKinds()) {
        if (!kind->generated || !kind->trains) continue;  // the readers' tests have files
        for (const auto& task : tasks(*kind)) {
            SCOPED_TRACE(kind->name + " " + task);
            if (kind->name == "set" && task == "attributes") continue;  // trains a network first
            RunOptions run;
            run.data = small(*kind, task, 12);
            run.train.batch_size = 1;
            const auto some = openData(run.data);
            EXPECT_EQ(some.train->size(), 12);
            EXPECT_EQ(stepsPerEpoch(run), 12);
            EXPECT_EQ(some.train->info().task, task);
            for (const auto& family : kind->families) EXPECT_NE(some.find(family), nullptr);
            const auto& known = kind->findTask(task)->classNames;
            if (!known.empty()) {
                EXPECT_EQ(some.train->info().classNames, known);
            }

            run.data.train_size = 0;
            if (kind->endless) {
                EXPECT_THROW(openData(run.data), OptionError);
                continue;
            }
            const auto all = openData(run.data);
            EXPECT_EQ(stepsPerEpoch(run), all.train->size());
        }
    }
}

TEST(DataKinds, SizeTheModelForWhatTheyOpen) {
    for (const auto* kind : dataKinds()) {
        if (!kind->generated || !kind->trains || kind->input == InputKind::Images) continue;
        for (const auto& task : tasks(*kind)) {
            SCOPED_TRACE(kind->name + " " + task);
            if (kind->name == "set" && task == "attributes") continue;
            RunOptions run;
            run.data = small(*kind, task, 12);
            for (const auto* architecture : architectures())
                if (architecture->input == kind->input) run.model = architecture->defaults();
            fitToData(run);
            const auto& m = run.model;
            const auto train = openData(run.data).train;
            if (const auto* sets = dynamic_cast<const ObjectDataset*>(train.get())) {
                EXPECT_EQ(kind->input, InputKind::Objects);
                EXPECT_EQ(sets->shape().objects, m.number("n_objects"));
                EXPECT_EQ(sets->shape().width, m.number("object_dim"));
                EXPECT_EQ(sets->shape().targets, m.number("out_dim"));
            } else {
                const auto shape = dynamic_cast<const SequenceDataset&>(*train).shape();
                EXPECT_EQ(kind->input, InputKind::Pairs);
                EXPECT_EQ(shape.source, m.number("in_block_size"));
                EXPECT_EQ(shape.width > 0 ? shape.width : shape.sourceVocabulary,
                          m.number("input_size"));
                EXPECT_EQ(shape.target, m.number("out_block_size"));
                EXPECT_EQ(shape.targetVocabulary, m.number("output_size"));
            }
        }
    }
}

TEST(DataKinds, FindTheirImportsAgain) {
    std::set<std::string> ids;
    for (const auto& [kind, form] : dataImports()) {
        SCOPED_TRACE(form->id);
        EXPECT_TRUE(ids.insert(form->id).second);
        EXPECT_TRUE(form->folder || form->file);
        EXPECT_FALSE(form->title.empty() || form->help.empty() || form->note.empty());
        if (!form->task.empty()) {
            EXPECT_NE(kind->findTask(form->task), nullptr);
        }
    }
    EXPECT_GE(ids.size(), 8u);
}

// Made with the program as it was before there were descriptors: what each preset's data make of
// its model, its metric and the steps of an epoch.
TEST(DataKinds, FitEveryPresetAsBefore) {
    std::ifstream golden(RELASCOPE_FIXTURES "/preset_fit.txt");
    std::set<std::string> lines;
    for (std::string line; std::getline(golden, line);) {
        std::istringstream words(line);
        std::string preset, variant, word;
        words >> preset >> variant;
        SCOPED_TRACE(preset + " " + variant);
        lines.insert(preset + " " + variant);
        const auto o = presetOptions(preset, variant);
        std::set<std::string> applying;
        for (const auto& [key, text] : optionTexts(o)) applying.insert(key);
        while (words >> word) {
            const auto equals = word.find('=');
            const auto key = word.substr(0, equals), value = word.substr(equals + 1);
            if (key == "metric") {
                EXPECT_EQ(shownMetric(o), value);
            } else if (key == "steps") {
                EXPECT_EQ(std::to_string(stepsPerEpoch(o)), value);
            } else if (applying.count(key)) {
                const auto& field = RunOptions::field(key);
                EXPECT_EQ(field.get(o), parseFieldValue(key, field.spec, value)) << key;
            }
        }
    }
    EXPECT_GT(lines.size(), 100u);
}

// A kind of data of its own: what a newcomer writes, in two files, and nothing else.
class Parity : public ObjectDataset {
public:
    explicit Parity(std::int64_t size) {
        m_info.name = "parity";
        m_info.size = size;
        m_info.task = "parity";
        m_info.channels = m_info.height = m_info.width = 0;
        m_info.classNames = {"even", "odd"};
    }
    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override { return {3, 1, 1}; }
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        float sum = 0;
        for (std::size_t i = 0; i < objects.size(); ++i)
            sum += objects[i] = static_cast<float>(index >> i & 1);
        targets[0] = static_cast<float>(static_cast<int>(sum) % 2);
    }
    ProbeSample sample(std::int64_t) const override { return {}; }

private:
    DatasetInfo m_info;
};

DataKind parity() {
    DataKind k;
    k.name = "parity";
    k.title = "Parity";
    k.help = "A kind of data that a test adds.";
    k.family = "Tests";
    k.unit = {"word", "words"};
    k.tasks = {{"parity", "Parity of bits", "Three bits: is their sum odd?", {"even", "odd"}}};
    k.common = {{"test_size"}};
    k.fit = [](const DataOptions&, ModelOptions& m) {
        if (auto* sets = m.find<ObjectInput>())
            sets->n_objects = 3, sets->object_dim = 1, sets->out_dim = 1;
    };
    k.allExamples = [](const DataOptions&) -> std::int64_t { return 8; };
    return k;
}

DataSplits openParity(const DataOptions& o, const ProgressCallback&, std::stop_token) {
    DataSplits splits;
    splits.train = splits.validation = std::make_shared<Parity>(o.train_size ? o.train_size : 8);
    return splits;
}

const DataKindRegistrar parityKind(parity);
const KindOpenerRegistrar parityOpener("parity", {openParity});

TEST(DataKinds, AreAddedByTwoRegistrations) {
    const auto entries = listDatasets();
    EXPECT_EQ(entries.back().title, "Parity of bits");
    RunOptions o = presetOptions("pairwise-order");
    setOption(o, "data.kind", "parity");
    setOption(o, "data.task", "parity");
    setOption(o, "data.train_size", "0");
    fitToData(o);
    EXPECT_EQ(o.model.number("object_dim"), 1);
    EXPECT_TRUE(o.data.problems().empty());
    EXPECT_EQ(shownMetric(o), "accuracy");
    EXPECT_EQ(openData(o.data).train->size(), 8);
    EXPECT_EQ(runOptionsFromJson(runOptionsToJson(o)).data, o.data);
}

}  // namespace
}  // namespace relascope

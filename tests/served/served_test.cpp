// SPDX-License-Identifier: GPL-3.0-or-later
// Served models against their native twins: every answer about the one equals that about the other.
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/ablate/options.h"
#include "analysis/analysis.h"
#include "analysis/open_model.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/run_analysis.h"
#include "data/batches.h"
#include "data/served_data.h"
#include "datasets/registry.h"
#include "interventions/active_edits.h"
#include "interventions/edit_words.h"
#include "interventions/edited_run.h"
#include "model/served/served_model.h"
#include "model/served/served_options.h"
#include "options/presets.h"
#include "served/native_twin.h"
#include "support/temporary_folder.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace core;
using namespace testing_support;
using Json = nlohmann::ordered_json;

constexpr double kSame = 2e-5;

// Names of the data, the input and the weights; facts of weights are not known of served models.
const std::set<std::string> kNamed = {"data",  "basis",  "heading", "where", "input",   "origin",
                                      "label", "sample", "a",       "b",     "of_step", "step"};

// Where two answers differ; empty: nowhere.
std::string difference(const Json& a, const Json& b, const std::string& where = "") {
    if (a.is_number() && b.is_number()) {
        const auto x = a.get<double>(), y = b.get<double>();
        const bool same = std::abs(x - y) <= kSame * std::max({1.0, std::abs(x), std::abs(y)});
        return same ? "" : where + ": " + a.dump() + " and " + b.dump();
    }
    if (a.type() != b.type()) return where + ": " + a.dump() + " and " + b.dump();
    if (a.is_object()) {
        for (const auto& [key, value] : a.items()) {
            if (kNamed.contains(key) || key.starts_with("weight_")) continue;
            if (!b.contains(key)) return where + "." + key + " is missing";
            if (auto found = difference(value, b.at(key), where + "." + key); !found.empty())
                return found;
        }
        return a.size() == b.size() ? "" : where + " has other members";
    }
    if (a.is_array()) {
        if (a.size() != b.size())
            return where + " has " + std::to_string(a.size()) + " and " + std::to_string(b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            if (auto found = difference(a[i], b[i], where + "[" + std::to_string(i) + "]");
                !found.empty())
                return found;
        return "";
    }
    return a == b ? "" : where + ": " + a.dump() + " and " + b.dump();
}

/// Images of which nothing else is known, as of served ones.
class PlainImages : public ImageDataset {
public:
    explicit PlainImages(ImageDatasetPtr images) : m_images(std::move(images)) {}
    const DatasetInfo& info() const override { return m_images->info(); }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        return m_images->read(index, pixels);
    }

private:
    ImageDatasetPtr m_images;
};

/// A model and its served twin.
class Twins {
public:
    explicit Twins(
        const RunOptions& options,
        const std::function<void(NativeTwin&)>& change = [](NativeTwin&) {})
        : m_splits(datasets::openData(options.data)), m_native(options.model, 5, "cpu") {
        if (options.model.input() == InputKind::Images)
            m_splits.validation = std::make_shared<PlainImages>(asImages(m_splits.validation));
        m_link = std::make_shared<NativeTwin>("twin", untrainedModel(options.model, {}, 5),
                                              options.model, m_splits.validation);
        change(*m_link);
        setServedLinks([this](const std::string& name) -> ServedLinkPtr {
            if (name != "twin") throw Error("No process serves " + name + ".");
            return m_link;
        });
        m_served.emplace("served:twin", "", "cpu");
        m_servedSplits = servedSplits(m_link);
    }
    ~Twins() { setServedLinks({}); }

    OpenedModel& model(bool served) { return served ? *m_served : m_native; }
    NativeTwin& link() { return *m_link; }
    DatasetPtr data(bool served) const {
        return served ? m_servedSplits.validation : m_splits.validation;
    }
    ProbeSample sample(bool served, std::int64_t index) const {
        return data(served)->sample(index);
    }
    Interventions edits(bool served, const std::vector<std::string>& words) {
        Interventions all;
        const auto points = m_native.points(sample(false, 0));
        for (const auto& one : words) all.edits.edits.push_back(editFromWords(one, points));
        all.data.split = [set = data(served)](const std::string& name) {
            return name == "validation" || name == "train" ? set : DatasetPtr();
        };
        all.data.exampleSplit = "validation", all.data.example = 1;
        return all;
    }
    Json answer(bool served, const std::string& name, const OptionValues& values,
                const std::vector<std::string>& words, bool second) {
        const auto& analysis = analysisNamed(name);
        AnalysisSubject subject;
        subject.model = &model(served);
        subject.device = "cpu";
        subject.classNames = data(served)->info().classNames;
        if (analysis.input == AnalysisInput::Data) {
            subject.data = data(served);
        } else {
            subject.sample = sample(served, 1);
            if (second) subject.second = sample(served, 2);
        }
        subject.interventions = edits(served, words);
        if (analysis.input == AnalysisInput::Data) subject.interventions.data.example = -1;
        return analysis.json(runnerOf(analysis).run(subject, values, {}));
    }
    void expectSame(const std::string& name, OptionValues values = {},
                    const std::vector<std::string>& words = {}, bool second = false) {
        // The twin makes no models with fresh weights.
        if (analysisNamed(name).field("untrained"))
            values.try_emplace("untrained", std::int64_t{0});
        const auto native = answer(false, name, values, words, second);
        const auto served = answer(true, name, values, words, second);
        EXPECT_EQ(difference(native, served), "") << name;
    }

private:
    DataSplits m_splits, m_servedSplits;
    OpenedModel m_native;
    std::shared_ptr<NativeTwin> m_link;
    std::optional<OpenedModel> m_served;
};

RunOptions pictures() {
    auto o = presetOptions("relational-games-occurs");
    o.model.set("n_relations", std::int64_t{2});
    o.model.set("d_model", std::int64_t{16}), o.model.set("dff", std::int64_t{16});
    o.model.set("rel_proj_dim", std::int64_t{8});
    o.data.train_size = 2, o.data.validation_size = 60, o.data.test_size = 2;
    return o;
}

RunOptions texts() {
    auto o = presetOptions("text");
    o.model.set("d_model", std::int64_t{16});
    o.model.set("n_layers", std::int64_t{2});
    o.model.set("n_relations", std::int64_t{2}), o.model.set("n_symbols", std::int64_t{8});
    o.data.context = 24;
    o.model.set("max_block_size", std::int64_t{24});
    o.data.validation_size = 24;
    return o;
}

void expectSameMaps(Twins& twins, const std::vector<std::string>& words) {
    const auto of = [&](bool served) {
        return twins.model(served).probe(twins.sample(served, 1), {}, twins.edits(served, words));
    };
    const auto native = of(false), served = of(true);
    ASSERT_EQ(native.probabilities.size(), served.probabilities.size());
    for (std::size_t k = 0; k < native.probabilities.size(); ++k)
        EXPECT_NEAR(native.probabilities[k], served.probabilities[k], kSame);
    std::size_t compared = 0;
    for (const auto& map : native.maps) {
        if (map.kind == MapKind::Symbols) continue;  // are read as points, and are no maps there
        const auto twin = std::find_if(served.maps.begin(), served.maps.end(), [&](const auto& m) {
            return m.kind == map.kind && m.layer == map.layer && m.index == map.index;
        });
        ASSERT_NE(twin, served.maps.end()) << mapKindName(map.kind) << map.layer << map.index;
        ASSERT_EQ(twin->rows, map.rows);
        ASSERT_EQ(twin->columns, map.columns);
        EXPECT_EQ(twin->causal, map.causal);
        const auto a = map.all(), b = twin->all();
        for (std::size_t c = 0; c < a.size(); ++c) ASSERT_NEAR(a[c], b[c], kSame);
        ++compared;
    }
    EXPECT_GT(compared, 0U);
}

TEST(ServedTwin, OpensAsACheckpointDoes) {
    Twins twins(pictures());
    auto& served = twins.model(true);
    EXPECT_TRUE(isServed(served.options()));
    EXPECT_EQ(served.options().input(), InputKind::Images);
    EXPECT_EQ(served.options().tokens(), twins.model(false).options().tokens());
    EXPECT_EQ(served.step(), 7);
    EXPECT_TRUE(served.filesUnchanged());
    const auto native = twins.model(false).points(twins.sample(false, 0));
    EXPECT_EQ(served.points(twins.sample(true, 0)), native);
    EXPECT_EQ(twins.link().passes, 0) << "names and sizes were declared";
    twins.link().change();
    EXPECT_FALSE(served.filesUnchanged());
    EXPECT_THROW(served.probe(twins.sample(true, 0), {}), Error);
}

TEST(ServedTwin, GivesTheMapsOfItsTwin) {
    Twins twins(pictures());
    expectSameMaps(twins, {});
    EXPECT_EQ(twins.link().exchanged, 0);
    for (const auto* edit :
         {"layer 1 relation 1 zero", "layer 2 relation 2 scale 3", "layer 1 attention zero",
          "layer 2 sensory head 1 mean", "layer 1 feed-forward resample", "stream clean",
          "layer 2 edge 1 2 zero", "layer 1 relational head 1 uniform", "layer 2 stream add 0.5",
          "layer 1 relation 1 swap 0 1"}) {
        SCOPED_TRACE(edit);
        try {
            twins.model(false).probe(twins.sample(false, 1), {}, twins.edits(false, {edit}));
        } catch (const OptionError&) {
            continue;  // these words name nothing there
        }
        expectSameMaps(twins, {edit});
    }
}

TEST(ServedTwin, MeasuresAsItsTwin) {
    Twins twins(pictures());
    twins.expectSame("ablate", {{"examples", std::int64_t{40}}});
    EXPECT_EQ(twins.link().exchanged, 0) << "zero, mean and resample are said beforehand";
    EXPECT_GT(twins.link().skipped, 0) << "blocks before an edit need not run";
    twins.expectSame("ablate", {{"examples", std::int64_t{20}}}, {"layer 1 attention zero"});
    twins.expectSame("lens");
    twins.expectSame("lens", {}, {"layer 1 attention zero"});
    twins.expectSame("patch", {}, {}, true);
    twins.expectSame("patch", {}, {"layer 1 attention zero"}, true);
    twins.expectSame("heads");
    for (const bool served : {false, true}) {
        const auto one = twins.model(served).evaluate(twins.data(served), 16);
        EXPECT_NEAR(one.loss, twins.model(false).evaluate(twins.data(false), 16).loss, kSame);
    }
}

TEST(ServedTwin, DescribesItsRelationsAsItsTwin) {
    Twins twins(pictures());
    twins.expectSame("atlas", {{"examples", std::int64_t{40}}, {"untrained", std::int64_t{0}}});
    twins.expectSame("scan", {{"examples", std::int64_t{40}},
                              {"exact", std::int64_t{20}},
                              {"untrained", std::int64_t{0}}});
}

TEST(ServedTwin, HasRelationsFittedAsItsTwin) {
    Twins twins(pictures());
    const testing_support::TemporaryFolder folder("served-fit");
    std::filesystem::create_directories(folder.path());
    const auto facts = folder / "facts.csv";
    {
        std::ofstream file(facts);
        file << "example,i,j,alike\n";
        for (int e = 0; e < 60; ++e)
            for (int i = 0; i < 9; ++i)
                for (int j = 0; j < 9; ++j)
                    if (i != j)
                        file << e << ',' << i << ',' << j << ','
                             << (e * 7 + (i + 1) * (j + 1) * 5) % 11 % 2 << '\n';
    }
    const OptionValues asked = {{"examples", std::int64_t{60}},
                                {"fact", std::string("alike")},
                                {"attributes", facts},
                                {"layer", std::string("1")},
                                {"remove", true},
                                {"untrained", std::int64_t{0}}};
    const auto native = twins.answer(false, "fit-relation", asked, {}, false),
               served = twins.answer(true, "fit-relation", asked, {}, false);
    for (const char* table : {"layers", "ranks", "removed"}) {
        EXPECT_FALSE(native.at(table).empty()) << table;
        EXPECT_EQ(difference(native.at(table), served.at(table)), "") << table;
    }
    EXPECT_TRUE(served.at("input").is_null()) << "pictures stay with the process";
}

TEST(ServedTwin, ReadsTextsAsItsTwin) {
    Twins twins(texts());
    expectSameMaps(twins, {});
    expectSameMaps(twins, {"layer 1 head 1 zero"});
    expectSameMaps(twins, {"layer 2 attention mean"});
    twins.expectSame("ablate", {{"examples", std::int64_t{12}}});
    twins.expectSame("lens");
    twins.expectSame("patch", {}, {}, true);
    twins.expectSame("heads");
}

TEST(ServedTwin, ReadsSetsAsItsTwin) {
    auto o = presetOptions("pairwise-order");
    o.data.train_size = 2, o.data.validation_size = 40, o.data.test_size = 2;
    Twins twins(o);
    EXPECT_EQ(twins.model(true).options().input(), InputKind::Objects);
    twins.expectSame("ablate", {{"examples", std::int64_t{30}}});
    EXPECT_NEAR(twins.model(true).evaluate(twins.data(true), 16).loss,
                twins.model(false).evaluate(twins.data(false), 16).loss, kSame);
    const auto native = twins.model(false).probe(twins.sample(false, 1), {});
    const auto served = twins.model(true).probe(twins.sample(true, 1), {});
    ASSERT_EQ(native.probabilities.size(), served.probabilities.size());
    for (std::size_t k = 0; k < native.probabilities.size(); ++k)
        EXPECT_NEAR(native.probabilities[k], served.probabilities[k], kSame);
}

TEST(ServedTwin, SaysWhereGradientsDoNotFlow) {
    Twins twins(pictures(), [](NativeTwin& twin) { twin.declared()["can"]["gradients"] = false; });
    const auto patched = twins.answer(true, "patch", {}, {}, true);  // exact cells alone
    EXPECT_FALSE(patched.empty());
    try {
        twins.answer(true, "scan", {{"examples", std::int64_t{40}}, {"untrained", std::int64_t{0}}},
                     {}, false);
        FAIL();
    } catch (const OptionError& error) {
        EXPECT_NE(std::string(error.what()).find("gradients do not flow"), std::string::npos);
    }
}

TEST(ServedTwin, RefusesEditsWhereNothingCanBeReplaced) {
    Twins twins(pictures(), [](NativeTwin& twin) {
        for (auto& point : twin.declared()["points"]) point["replace"] = false;
    });
    for (const auto* edit : {"layer 1 attention zero", "layer 2 stream add 0.5"}) {
        try {
            twins.model(true).probe(twins.sample(true, 1), {}, twins.edits(true, {edit}));
            ADD_FAILURE() << edit;
        } catch (const OptionError& error) {
            EXPECT_NE(std::string(error.what()).find("can be read in this model"),
                      std::string::npos);
        }
    }
    expectSameMaps(twins, {});
}

TEST(ServedTwin, SaysThatThereIsNoSuchDoor) {
    Twins twins(pictures());
    EXPECT_THROW(OpenedModel("served:other", "", "cpu"), Error);
    EXPECT_THROW(OpenedModel("served:../other", "", "cpu"), OptionError);
    EXPECT_THROW(OpenedModel("served:twin", "400", "cpu"), OptionError);
}

}  // namespace
}  // namespace relascope

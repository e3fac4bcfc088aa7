// SPDX-License-Identifier: GPL-3.0-or-later
// The scan: its estimates against finite differences, what it finds in a short training and not in
// fresh weights, its sentences, cancelled and continued scans, its report, and what cannot be
// scanned.
#include "analysis/scan/scan.h"
#include "analysis/analysis.h"
#include "analysis/parts/part_rows.h"
#include "analysis/scan/answer.h"
#include "analysis/scan/effect_estimates.h"

#include <gtest/gtest.h>

#include <torch/utils.h>
#include <sstream>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "analysis/ablate/options.h"
#include "analysis/contrast/contrast.h"
#include "analysis/open_model.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/patch/patching.h"
#include "analysis/run_analysis.h"
#include "datasets/registry.h"
#include "evaluate/scoring.h"
#include "interventions/active_edits.h"
#include "interventions/edit_words.h"
#include "model/finite_outputs.h"
#include "options/presets.h"
#include "support/temporary_folder.h"
#include "support/tiny_tasks.h"
#include "support/trained.h"
#include "types/error.h"

namespace relascope {
namespace {

using namespace testing_support;

RunOptions scanOptions() {
    auto o = presetOptions("relational-games-occurs");
    o.model.set("n_relations", std::int64_t{2});
    o.model.set("d_model", std::int64_t{16}), o.model.set("dff", std::int64_t{16});
    o.model.set("rel_proj_dim", std::int64_t{8});
    o.data.train_size = 64, o.data.validation_size = 300, o.data.test_size = 2;
    return o;
}

struct ScanSubject {
    DataSplits splits;
    OpenedModel model;
    AnalysisSubject subject;

    ScanSubject(const RunOptions& options, std::uint64_t seed)
        : splits(datasets::openData(options.data)), model(options.model, seed, "cpu") {
        complete();
    }
    ScanSubject(const std::string& run, const DataSplits& data, const std::string& step = "")
        : splits(data), model(run, step, "cpu") {
        subject.run = run;
        complete();
    }
    ModelScan scan(OptionValues values = {}, const AnalysisWatch& watch = {}) {
        values.try_emplace("examples", std::int64_t{200});
        values.try_emplace("exact", std::int64_t{100});
        values.try_emplace("untrained", std::int64_t{4});
        return modelScanOf(runnerOf(analysisNamed("scan")).run(subject, values, watch));
    }

private:
    void complete() {
        subject.model = &model;
        subject.device = "cpu";
        subject.data = splits.validation;
        subject.interventions.data = editDataOf(splits, model.options());
    }
};

// Estimates
// -------------------------------------------------------------------------------------------------

/// Moves the selected part of a point a little towards its mean over the batch.
class Towards : public Hooks {
public:
    Towards(const Edit& edit, bool text, double by) : m_edit(edit), m_text(text), m_by(by) {}
    bool takes(std::string_view prefix) const override { return m_edit.point.starts_with(prefix); }
    torch::Tensor at(const HookPoint& point, const torch::Tensor& value) override {
        if (point.name != m_edit.point) return value;
        auto mean = value.mean(0, true);
        if (m_text) mean = mean.mean(1, true);
        auto mask = torch::zeros_like(value);
        auto part = mask;
        for (const auto& [axis, places] : m_edit.selection)
            for (std::size_t d = 0; d < point.axes.size(); ++d)
                if (axis == core::axisName(point.axes[d]))
                    part = part.narrow(static_cast<std::int64_t>(d), places.places.front(), 1);
        part.fill_(m_by);
        return value + mask * (mean - value);
    }

private:
    const Edit& m_edit;
    bool m_text;
    double m_by;
};

void expectEstimatesAsDifferences(const ModelOptions& options, const core::DatasetPtr& data,
                                  bool text) {
    const auto model = core::untrainedModel(options, {}, 5);
    model->to(torch::kDouble);
    model->eval();
    constexpr std::int64_t count = 6;
    const auto indices = core::drawnExamples(data->size(), count, 0);
    const auto batch = core::makeBatch(*data, indices.data(), count);
    auto input = core::inputOf(batch, torch::kCPU);
    if (input.x.is_floating_point()) input.x = input.x.to(torch::kDouble);
    const auto lossWith = [&](const Edit& edit, double by) {
        const torch::NoGradGuard noGrad;
        Towards towards(edit, text, by);
        const HookScope scope(&towards);
        return core::lossOf(core::answersOf(*model, input), batch, options.ignoredTarget())
            .item<double>();
    };
    EstimateOptions what;
    for (auto& row :
         core::partRows(core::pointsOf(*model, input), {"heads", "columns", "paths", "mlp"}))
        what.parts.push_back(std::move(row));
    what.examples = indices;
    what.batchSize = text ? 2 : count;  // of images the mean of the batch is that of all
    // Batches are of single precision.
    const auto single = core::untrainedModel(options, {}, 5);
    const auto estimates = core::estimateEffects(*single, options, data, {}, what);
    ASSERT_EQ(estimates.change.size(), what.parts.size());
    ASSERT_EQ(estimates.size.size(), what.parts.size());
    ASSERT_GT(what.parts.size(), 8u);
    double most = 0.0;
    for (std::size_t p = 0; p < what.parts.size(); ++p) {
        constexpr double step = 1e-4;
        const auto& edit = what.parts[p].edit;
        const double slope = (lossWith(edit, step) - lossWith(edit, -step)) / (2.0 * step);
        EXPECT_NEAR(estimates.change[p], slope, 2e-5 + 1e-3 * std::abs(slope))
            << what.parts[p].part;
        most = std::max(most, std::abs(slope));
        if (!text) {
            EXPECT_GE(estimates.size[p], 0.999 * std::abs(slope)) << what.parts[p].part;
        }
    }
    EXPECT_GT(most, 5e-4) << "nothing would be compared";
}

TEST(Scan, EstimatesAreSlopesTowardsTheMean) {
    const auto options = scanOptions();
    expectEstimatesAsDifferences(options.model, datasets::openData(options.data).validation, false);
}

/// A small model of text, and the text in that folder.
RunOptions textOptions(const TemporaryFolder& folder, std::int64_t relations) {
    auto options = presetOptions("text");
    std::filesystem::create_directories(folder.path());
    std::ofstream file(folder / "text.txt");
    for (int k = 0; k < 800; ++k) file << "line " << k * 7919 % 1000 << " of some text\n";
    file.close();
    options.data.path = folder / "text.txt", options.data.context = 24;
    options.data.train_size = 100, options.data.validation_size = 60;
    options.data.tokenizer = "characters";
    options.model.set("max_block_size", std::int64_t{24});
    options.model.set("d_model", std::int64_t{16}), options.model.set("dff", std::int64_t{16});
    options.model.set("n_layers", std::int64_t{2});
    options.model.set("n_relations", relations), options.model.set("rel_proj_dim", std::int64_t{4});
    return options;
}

TEST(Scan, EstimatesOfATextAreSlopesTowardsTheMeanOfAllPositions) {
    TemporaryFolder folder("scan-text");
    auto options = textOptions(folder, 2);
    const auto splits = datasets::openData(options.data);
    options.model.set("vocab_size", splits.tokenizer->size());
    expectEstimatesAsDifferences(options.model, splits.validation, true);
}

TEST(Scan, ATextOfManyRelationsIsDescribedInPart) {
    TemporaryFolder folder("scan-many");
    auto options = textOptions(folder, 32);
    options.model.set("vocab_size", datasets::openData(options.data).tokenizer->size());
    ScanSubject fresh(options, 3);
    const auto scan = fresh.scan(
        {{"examples", std::int64_t{20}}, {"exact", std::int64_t{8}}, {"tokens", std::int64_t{16}}});
    EXPECT_EQ(scan.passes, 3);
    EXPECT_GT(scan.allMaps, 48);
    EXPECT_EQ(std::ssize(scan.described), 48);
    EXPECT_EQ(scan.tokens, 16);
    EXPECT_EQ(scan.measured, 20);
    EXPECT_EQ(scan.estimated, 20) << "others choose the parts";
    EXPECT_TRUE(scan.findings.empty()) << scan.findings.front().text;
    for (const auto& map : scan.atlas.relations)
        if (!map.head) {
            EXPECT_TRUE(std::isfinite(map.weightRank)) << "its own rows of the projections";
        }
}

// Fresh weights
// -------------------------------------------------------------------------------------------------

TEST(Scan, FindsNothingInFreshWeights) {
    const auto options = scanOptions();
    const char* more = std::getenv("RELASCOPE_FRESH_MODELS");
    const std::uint64_t models = more ? std::stoull(more) : 4;
    for (std::uint64_t seed = 101; seed < 101 + models; ++seed) {
        ScanSubject fresh(options, seed);
        const auto scan = fresh.scan();
        EXPECT_TRUE(scan.findings.empty()) << scan.findings.front().text;
        ASSERT_FALSE(scan.notFound.empty());
        EXPECT_EQ(scan.notFound.front().find("The model answers no better than untrained ones: "),
                  0u)
            << scan.notFound.front();
        EXPECT_EQ(scan.passes, 3);
        for (const auto& part : scan.parts) {
            EXPECT_TRUE(std::isfinite(part.estimate)) << part.row.part;
            EXPECT_EQ(part.row.ways.size(), 3u) << part.row.part;
        }
    }
}

TEST(Scan, ACancelledOneContinuesToTheSameNumbers) {
    ScanSubject fresh(scanOptions(), 7);
    const auto text = analysisNamed("scan").json(answerOf(fresh.scan())).dump();
    core::KeptWork kept;
    for (const bool session : {false, true}) {
        fresh.subject.kept = session ? &kept : nullptr;
        std::optional<Answer> known;
        // Cancelled again and again until it is done: each time it comes further.
        int times = 0;
        for (bool done = false; !done && times < 60; ++times) {
            AnalysisWatch watch;
            int left = 2;
            watch.known = known;
            watch.partial = [&](const Answer& part) { known = part, --left; };
            watch.progress = [&](double) { return left > 0; };
            try {
                EXPECT_EQ(analysisNamed("scan").json(answerOf(fresh.scan({}, watch))).dump(), text);
                done = true;
            } catch (const Cancelled&) {
            }
        }
        EXPECT_GT(times, 3) << "it was never cancelled";
        EXPECT_LT(times, 60) << "it never ended";
    }
}

TEST(Scan, ProgressRisesToOne) {
    ScanSubject fresh(scanOptions(), 7);
    double last = 0.0;
    AnalysisWatch watch;
    watch.progress = [&](double done) {
        EXPECT_GE(done, last - 1e-9);
        last = done;
        return true;
    };
    fresh.scan({}, watch);
    EXPECT_NEAR(last, 1.0, 1e-6);
}

TEST(Scan, LittleTimeTakesFewerPartsAndSaysSo) {
    ScanSubject fresh(scanOptions(), 7);
    const auto scan = fresh.scan({{"exact", std::int64_t{5}}});
    const auto measured = std::count_if(scan.parts.begin(), scan.parts.end(),
                                        [](const auto& part) { return !part.row.ways.empty(); });
    EXPECT_EQ(measured, 5);
    // Single parts and groups in turn, each the strongest by its estimate.
    double least = 1e30, rest = 0.0;
    int groups = 0;
    for (const auto& part : scan.parts) {
        const bool measuredOne = !part.row.ways.empty();
        groups += part.together && measuredOne;
        if (part.together) continue;
        measuredOne ? least = std::min(least, part.estimatedSize)
                    : rest = std::max(rest, part.estimatedSize);
    }
    EXPECT_GE(groups, 2) << "what holds a part is measured with it";
    EXPECT_GT(rest, 0.0);
    EXPECT_GE(least, rest);
}

// A short training, about 10 s
// -------------------------------------------------------------------------------------------------

/// The options of a contrast from the words of its command.
OptionValues optionsOfCommand(const std::string& command) {
    OptionValues values;
    static const std::regex option("--([a-z-]+)(?: ('[^']*'|[^-'][^ ]*))?");
    for (std::sregex_iterator at(command.begin(), command.end(), option), end; at != end; ++at) {
        auto key = at->str(1), value = at->str(2);
        std::replace(key.begin(), key.end(), '-', '_');
        if (value.empty())
            values[key] = true;
        else if (std::isdigit(static_cast<unsigned char>(value[0])))
            values[key] = static_cast<std::int64_t>(std::stoll(value));
        else
            values[key] = value[0] == '\'' ? value.substr(1, value.size() - 2) : value;
    }
    return values;
}

/// At most 25 words and three numbers, besides those that name the part.
void expectFirstLine(const std::string& text) {
    std::istringstream words(text);
    int count = 0;
    for (std::string word; words >> word;) count += word != "%" && word != "%.";
    EXPECT_LE(count, 25) << text;
    const auto rest = text.substr(std::min(text.size(), text.find_first_of(";:")));
    int numbers = 0;
    for (std::size_t k = 0; k < rest.size(); ++k)
        numbers += std::isdigit(static_cast<unsigned char>(rest[k])) != 0 &&
                   (k == 0 || (std::isdigit(static_cast<unsigned char>(rest[k - 1])) == 0 &&
                               rest[k - 1] != '.'));
    EXPECT_LE(numbers, 3) << text;
}

TEST(Scan, AShortTrainingUsesTheSameObject) {
    auto options = scanOptions();
    options.model.set("n_relations", std::int64_t{1});
    options.model.set("d_model", std::int64_t{64}), options.model.set("dff", std::int64_t{128});
    options.model.set("rel_proj_dim", std::int64_t{64});
    options.data.train_size = 2500, options.data.validation_size = 600;
    options.train.device = "cpu", options.train.seeds = {0}, options.train.keep_mib = 16;
    options.train.batch_size = 128, options.train.steps = 280, options.train.learning_rate = 2e-3;
    TemporaryFolder folder("scan");
    const auto splits = datasets::openData(options.data);
    auto run = RunFolder::create(folder / "run", options);
    Control control;
    trainIn(run, control, splits);
    const OptionValues values = {{"examples", std::int64_t{500}},
                                 {"untrained", std::int64_t{8}},
                                 {"seconds", std::int64_t{1000}}};
    ScanSubject trained(folder / "run", splits);
    const auto scan = trained.scan(values);
    ASSERT_GT(scan.base, 0.8) << "it learned to answer";
    const auto found =
        std::find_if(scan.findings.begin(), scan.findings.end(), [](const auto& finding) {
            return finding.text.find(", relation 1 answers *same object*") < 12;
        });
    ASSERT_NE(found, scan.findings.end()) << analysisNamed("scan").terminal(answerOf(scan));
    const auto& first = *found;
    EXPECT_NE(first.proof.find(", untrained 0."), std::string::npos) << first.proof;
    for (const auto& finding : scan.findings) expectFirstLine(finding.text);
    EXPECT_NE(first.text.find("without it accuracy falls from "), std::string::npos) << first.text;
    EXPECT_GE(first.example, 0);
    EXPECT_GT(first.selectivity, 0.5);
    EXPECT_GT(first.effect, 0.1);
    // The edits that a sentence names give its numbers.
    const auto points = trained.model.points(splits.validation->sample(0));
    for (const auto& finding : scan.findings) {
        EXPECT_FALSE(finding.checks.empty()) << finding.text;
        for (const auto& check : finding.checks) {
            Interventions asked{{}, trained.subject.interventions.data};
            asked.edits.edits = {core::editFromWords(check.edit, points)};
            const auto effect =
                trained.model.effect(splits.validation, 250, asked, {}, {}, scan.measured);
            EXPECT_EQ(effect.changes.at(1).edited, check.value) << check.edit;
            EXPECT_EQ(effect.changes.at(1).base, scan.base) << check.edit;
        }
    }
    // The contrast that a finding names gives its sentences.
    const auto* explained = core::explanationOf(scan, first);
    ASSERT_NE(explained, nullptr) << first.text;
    EXPECT_NE(first.proof.find(explained->text), std::string::npos);
    EXPECT_NE(first.confirm.find("contrast " + explained->command), std::string::npos);
    const auto said = core::runnerOf(core::analysisNamed("contrast"))
                          .run(trained.subject, optionsOfCommand(explained->command), {})
                          .table("sentences")
                          .texts("sentence");
    ASSERT_FALSE(said.empty());
    auto shown = explained->text;
    std::replace(shown.begin(), shown.end(), '*', '\'');
    for (const auto& sentence : said)
        EXPECT_NE(shown.find(sentence), std::string::npos) << sentence << "\n" << shown;
    EXPECT_FALSE(explained->bars.empty());
    EXPECT_EQ(modelScanOf(answerOf(scan)).explanations.size(), scan.explanations.size());
    const auto text = analysisNamed("scan").terminal(answerOf(scan));
    EXPECT_NE(text.find(first.text), std::string::npos);
    EXPECT_NE(analysisNamed("scan").csv(answerOf(scan)).find(first.part + ",relations,"),
              std::string::npos);
    const auto json = analysisNamed("scan").json(answerOf(scan));
    EXPECT_EQ(json.at("findings").size(), scan.findings.size());

    const auto files = core::scanReport(scan, "report", "run <1>", {"scan", "the run"});
    ASSERT_GE(files.size(), 4u);
    EXPECT_EQ(files[0].name, "report.html");
    EXPECT_EQ(files[1].name, "report.md");
    const auto& html = files[0].content;
    EXPECT_NE(html.find("<em>same object</em>"), std::string::npos);
    EXPECT_NE(html.find("run &lt;1&gt;"), std::string::npos);
    EXPECT_NE(html.find("data:image/png;base64,"), std::string::npos);
    EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
    EXPECT_EQ(html.find("src=\"http"), std::string::npos) << "it opens anywhere";
    EXPECT_NE(html.find("--examples 300 --exact"), std::string::npos);
    EXPECT_NE(html.find("relascope-cli contrast 'the run' --layer "), std::string::npos);
    EXPECT_NE(html.find("What separates the pairs"), std::string::npos);
    for (std::size_t k = 2; k < files.size(); ++k) {
        EXPECT_TRUE(files[k].name.ends_with(".svg"));
        EXPECT_NE(files[1].content.find("](" + files[k].name + ")"), std::string::npos);
        EXPECT_EQ(files[k].content.find("<svg "), 0u);
    }
    ScanSubject before(folder / "run", splits, "0");
    EXPECT_TRUE(before.scan(values).findings.empty());
}

// Sentences
// -------------------------------------------------------------------------------------------------

/// A part that costs so much with its mean, and with another example's values; the other two
/// replacements cost as its mean does.
ModelScan::Component partOf(const std::string& name, const std::string& group,
                            const std::string& point, double mean, double other,
                            double half = 0.015) {
    ModelScan::Component part;
    part.row.part = name, part.title = core::partTitle(name);
    part.row.group = group, part.together = group == "paths";
    part.row.edit.point = point;
    if (!part.together) part.row.edit.selection["relation"] = {{name.back() - '1'}, {}, {}};
    for (const auto& [how, change] : {std::pair(EditOp::Zero, mean), std::pair(EditOp::Mean, mean),
                                      std::pair(EditOp::Resample, other)})
        part.row.ways.push_back(
            {how, {"accuracy", 0.957, 0.957 + change, change, change - half, change + half}, 0.1});
    return part;
}

/// A layer with two relations, of which the first has a label.
ModelScan scanOf(double alone, double together, const std::string& origin = "learned") {
    ModelScan scan;
    scan.metric = "accuracy", scan.base = 0.957, scan.noun = "images", scan.data = "occurs";
    scan.passes = 3, scan.wanted = scan.measured = 1000, scan.allMaps = 1, scan.shift = 13;
    scan.described = {"layer 2 relation 1"};
    const std::string relations = "blocks.1.rel.hook_r";
    scan.parts = {
        partOf("layer 2 relation 1", "relations", relations, alone, alone - 0.02),
        partOf("layer 2 relation 2", "relations", relations, -0.001, 0.001),
        partOf("layer 2 relations", "paths", "blocks.1.rel.hook_z_rel", together, together),
        partOf("layer 2 attention", "paths", "blocks.1.hook_attn_out", together, together)};
    scan.atlas.attributes = {{"same object", false}};
    RelationAtlas::Relation map;
    map.name = "layer 2 relation 1", map.layer = "layer 2", map.layerIndex = 1;
    map.labelled = map.attribute = 0, map.origin = origin;
    RelationAtlas::Fit fit;
    fit.auc = 0.996, fit.low = 0.994, fit.high = 0.998, fit.untrained = 0.82;
    fit.untrainedLow = 0.73, fit.untrainedHigh = 0.92, fit.initial = NAN;
    map.fits = {fit};
    map.development = "appeared between steps 60 and 120";
    map.highest = {{12, 1, 2, 3.0, "", {}, 0, 0, 0}, {17, 3, 5, 2.0, "", {}, 0, 0, 1}};
    map.evidence = {map.highest.back()};
    scan.atlas.relations = {map};
    scan.atlas.untrainedScores = {0.48, 0.52, 0.50, 0.50};
    return scan;
}

std::vector<std::string> sentencesOf(ModelScan scan) {
    core::concludeScan(scan);
    std::vector<std::string> all;
    for (const auto& finding : scan.findings) all.push_back(finding.text);
    all.insert(all.end(), scan.notFound.begin(), scan.notFound.end());
    return all;
}

TEST(ScanSentences, SayWhatAMapAnswersAndWhatIsLostWithoutIt) {
    auto scan = scanOf(-0.437, -0.4);
    core::concludeScan(scan);
    ASSERT_EQ(scan.findings.size(), 1u) << "its layer is no second one";
    const auto& finding = scan.findings[0];
    EXPECT_EQ(finding.text,
              "Layer 2, relation 1 answers *same object*; without it accuracy falls from 95.7 to "
              "between 55.7 and 50.0 %.");
    EXPECT_EQ(finding.proof,
              "*same object*: AUC 0.996 [0.994, 0.998] within places, untrained 0.73 to 0.92. "
              "Without it accuracy falls from 95.7 to between 55.7 [54.2, 57.2] (all relations of "
              "its layer at zero) and 50.0 % [48.5, 51.5] (another example's values). It appeared "
              "between steps 60 and 120.");
    EXPECT_EQ(scan.heading,
              "1,000 images of occurs, accuracy 95.7 %, beside 4 untrained models (48.0 to 52.0 "
              "%)");
    EXPECT_EQ(finding.example, 17) << "the highest pair that has the attribute";
    EXPECT_NEAR(finding.selectivity, (0.996 - 0.82) / 0.18, 1e-9);
    EXPECT_NEAR(finding.effect, 0.4, 1e-9) << "the mildest";
    EXPECT_EQ(finding.confirm,
              "eval --examples 1000 --edit 'layer 2 relations zero' gives 55.7 %; --edit 'layer 2 "
              "relation 1 resample 13' gives 50.0 %");
    EXPECT_TRUE(scan.notFound.empty()) << scan.notFound.front();
    EXPECT_EQ(scan.parts[0].use, "needed");
    EXPECT_EQ(scan.parts[1].use, "not used");
    EXPECT_EQ(scan.comparisons, 4);
}

TEST(ScanSentences, SayWhereAHeadAttends) {
    auto scan = scanOf(-0.457, -0.5);
    auto& map = scan.atlas.relations[0];
    scan.parts[0].row.part = map.name = "layer 2 relational head 1";
    map.head = true;
    map.condition = ", for 'occurs'";
    map.conditionProof = "in examples of 'occurs' 0.97, in the others 0.52";
    core::concludeScan(scan);
    ASSERT_FALSE(scan.findings.empty());
    EXPECT_EQ(scan.findings[0].text.find("Layer 2, relational head 1 attends where *same object* "
                                         "holds, for 'occurs'; without it"),
              0u)
        << scan.findings[0].text;
    EXPECT_NE(scan.findings[0].proof.find(", in examples of 'occurs' 0.97, in the others 0.52"),
              std::string::npos)
        << scan.findings[0].proof;
    expectFirstLine(scan.findings[0].text);
    auto& fit = map.fits[0];
    fit.auc = 0.02, fit.low = 0.01, fit.high = 0.03;
    fit.untrained = 0.4, fit.untrainedLow = 0.3, fit.untrainedHigh = 0.5;
    map.condition.clear();
    core::concludeScan(scan);
    ASSERT_FALSE(scan.findings.empty());
    EXPECT_EQ(scan.findings[0].text.find("Layer 2, relational head 1 attends where *same object* "
                                         "does not hold; without it"),
              0u)
        << scan.findings[0].text;
    EXPECT_EQ(scan.findings[0].proof.find("*not same object*: AUC 0.980 [0.970, 0.990] within "
                                          "places, untrained 0.50 to 0.70"),
              0u)
        << scan.findings[0].proof;
}

TEST(ScanSentences, SayWhatAPlainReadingExplains) {
    auto scan = scanOf(-0.457, -0.457);
    auto& map = scan.atlas.relations[0];
    map.labelled = -1, map.origin.clear(), map.development.clear();
    map.reading = "reads i alone, not the pair (0.95 of its variance)";
    const auto all = sentencesOf(scan);
    EXPECT_EQ(all[0],
              "Layer 2, relation 1 reads i alone, not the pair (0.95 of its variance); without it "
              "accuracy falls from 95.7 to 50.0 % or less.");
    expectFirstLine(all[0]);
}

TEST(ScanSentences, NameAllAttributesThatDoAsWell) {
    auto scan = scanOf(-0.457, -0.457);
    auto& map = scan.atlas.relations[0];
    for (const char* name :
         {"same shape", "large distance", "same number", "same pattern", "SET"}) {
        scan.atlas.attributes.push_back({name, false});
        map.fits.push_back(map.fits[0]);
        map.also.push_back(std::ssize(map.fits) - 1);
    }
    map.fits[2].auc = 0.1;
    EXPECT_EQ(
        sentencesOf(scan)[0].find(
            "Layer 2, relation 1 answers *same object*, *same shape*, *small distance* (and 3 "
            "more); without it"),
        0u)
        << sentencesOf(scan)[0];
    expectFirstLine(sentencesOf(scan)[0]);
    core::concludeScan(scan);
    EXPECT_NE(scan.findings[0].proof.find("*small distance*: 0.900"), std::string::npos)
        << "the number of the opposite";
}

TEST(ScanSentences, SayWhatMisleadsAndWhatHarms) {
    auto misled = scanOf(-0.001, -0.001);
    misled.parts[0].row.ways[2].change = {"accuracy", 0.957, 0.837, -0.12, -0.135, -0.105};
    core::concludeScan(misled);
    EXPECT_NE(misled.findings[0].text.find(
                  "; wrong values here cost 12.0 points, but the model can do without."),
              std::string::npos)
        << misled.findings[0].text;
    EXPECT_NE(misled.findings[0].proof.find("Wrong values here mislead the model: another "
                                            "example's cost 12.0 points [10.5, 13.5]; taking it "
                                            "out costs"),
              std::string::npos)
        << misled.findings[0].proof;
    // Zero may cost more than that; the commands are those of the sentence.
    misled.parts[0].row.ways[0].change = {"accuracy", 0.957, 0.757, -0.2, -0.215, -0.185};
    core::concludeScan(misled);
    EXPECT_NE(misled.findings[0].confirm.find("resample 13' gives 83.7 %"), std::string::npos)
        << misled.findings[0].confirm;
    EXPECT_NEAR(misled.findings[0].effect, 0.12, 1e-9);
    auto better = scanOf(-0.001, -0.001);
    better.parts[0].row.ways[1].change = {"accuracy", 0.957, 0.977, 0.02, 0.012, 0.028};
    EXPECT_NE(sentencesOf(better)[0].find("; the model does better without it: 95.7 to 97.7 %."),
              std::string::npos)
        << sentencesOf(better)[0];
}

TEST(ScanSentences, RelationsThatAreNeededTogetherAreOneFinding) {
    auto scan = scanOf(-0.002, -0.4);
    const auto alone = sentencesOf(scan);
    for (const auto& text : alone)
        EXPECT_EQ(text.find("needed with"), std::string::npos)
            << "what it adds to the group is not measured: " << text;
    // With the group out accuracy is 55.7 %; with this relation in it again 95.0 %.
    scan.parts[0].row.adds = PairedChange{"accuracy", 0.557, 0.950, 0.393, 0.37, 0.416};
    scan.parts[1].row.adds = PairedChange{"accuracy", 0.557, 0.557, 0.0, -0.003, 0.003};
    core::concludeScan(scan);
    ASSERT_EQ(scan.findings.size(), 1u);
    EXPECT_EQ(scan.findings[0].text,
              "Layer 2, relation 1 answers *same object*; needed with others, or accuracy falls "
              "from 95.7 to 55.7 %.");
    expectFirstLine(scan.findings[0].text);
    EXPECT_EQ(scan.findings[0].part, "layer 2 relations");
    EXPECT_NE(scan.findings[0].proof.find("with the others of its group out, it adds 39.3 points "
                                          "[37.0, 41.6]"),
              std::string::npos)
        << scan.findings[0].proof;
    EXPECT_EQ(scan.parts[0].use, "needed together");
    EXPECT_EQ(scan.parts[1].use, "not used") << "it adds nothing to the group";
}

TEST(ScanSentences, SayWhatWasNotFound) {
    auto scan = scanOf(-0.002, -0.003);
    for (auto& part : scan.parts)
        for (auto& way : part.row.ways)
            way.change.change = way.change.change / 2.0, way.change.low = way.change.change - 0.01,
            way.change.high = way.change.change + 0.01;
    const auto all = sentencesOf(scan);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0],
              "No part that was measured is shown to matter alone, and no layer's relations do "
              "together: a loss of 2.3 points of accuracy or more is asked for.");
    EXPECT_EQ(all[1].find("No relation of layer 2 is used by more than 2.3 points: taking all 2 "
                          "out costs 0.1 points "
                          "[\u22120.9, 1.1] at most, whichever way."),
              0u)
        << all[1];
    EXPECT_EQ(all[2].find("Layer 2, relation 1 answers *same object* (*same object*: AUC 0.996 "
                          "[0.994, 0.998] within places, untrained 0.73 to 0.92), but taking it "
                          "out costs "),
              0u)
        << all[2];
}

TEST(ScanSentences, SayWhatCannotBeSaid) {
    auto scan = scanOf(-0.002, -0.012);
    const auto all = sentencesOf(scan);
    const auto open = std::find_if(all.begin(), all.end(), [](const auto& text) {
        return text.find(
                   "From 1,000 images it cannot be said whether all relations of layer 2 are "
                   "used") == 0;
    });
    EXPECT_NE(open, all.end()) << all[1];
    scan.measured = 49;
    const auto few = sentencesOf(scan);
    ASSERT_EQ(few.size(), 1u);
    EXPECT_EQ(few[0], "49 images are too few for a sentence; 50 or more are needed.");
}

TEST(ScanSentences, WhatNoAttributeExplainsIsOneSentence) {
    auto scan = scanOf(-0.457, -0.457);
    scan.atlas.attributes.push_back({"same row", false});
    auto& map = scan.atlas.relations[0];
    map.fits.push_back(map.fits[0]);
    map.labelled = -1, map.origin.clear();
    core::concludeScan(scan);
    EXPECT_TRUE(scan.findings[0].text.ends_with("; no attribute explains it."))
        << scan.findings[0].text;
    EXPECT_EQ(scan.findings[0].proof.find(
                  "None of these explains what it tells: same object, same row. Without it"),
              0u)
        << scan.findings[0].proof;
}

TEST(ScanSentences, WhatUntrainedModelsDoIsSaidAndNamesNothing) {
    auto inborn = scanOf(-0.457, -0.5, "inborn");
    core::concludeScan(inborn);
    EXPECT_NE(inborn.findings[0].text.find(": without it accuracy falls"), std::string::npos)
        << inborn.findings[0].text;
    EXPECT_NE(
        inborn.findings[0].proof.find("but not clearly better than weights that are not trained"),
        std::string::npos);
    auto chance = scanOf(-0.457, -0.5);
    chance.atlas.untrainedScores = {0.5, 0.956};
    const auto none = sentencesOf(chance);
    ASSERT_EQ(none.size(), 1u);
    EXPECT_EQ(none[0],
              "The model answers no better than untrained ones: accuracy 95.7 %, and 2 models with "
              "fresh weights reach 50.0 to 95.6 %. Nothing can be said of what its parts do.");
    auto unknown = scanOf(-0.457, -0.5, "");
    unknown.atlas.untrainedModels = 4;
    core::concludeScan(unknown);
    EXPECT_TRUE(unknown.findings[0].proof.ends_with(
        "Whether it was learned takes 8 untrained models; 4 were measured."))
        << unknown.findings[0].proof;
    unknown.atlas.untrainedModels = 8;
    unknown.atlas.relations[0].untrainedFarthest = 0.49;
    core::concludeScan(unknown);
    EXPECT_TRUE(unknown.findings[0].proof.ends_with("has an attribute with 0.990."))
        << unknown.findings[0].proof;
}

TEST(ScanSentences, AtMostTwelveAndTheStrongestFirst) {
    auto scan = scanOf(-0.3, -0.3);
    for (int k = 3; k < 20; ++k) {
        const auto name = "layer " + std::to_string(k) + " relation 1";
        scan.parts.push_back(partOf(name, "relations",
                                    "blocks." + std::to_string(k - 1) + ".rel.hook_r",
                                    -0.01 * k - 0.05, -0.01 * k - 0.05));
        auto map = scan.atlas.relations.front();
        map.name = name, map.layer = "layer " + std::to_string(k);
        scan.atlas.relations.push_back(map);
    }
    core::concludeScan(scan);
    ASSERT_EQ(scan.findings.size(), 12u);
    EXPECT_EQ(scan.findings[0].part, "layer 2 relation 1");
    EXPECT_EQ(scan.findings[1].part, "layer 19 relation 1");
    for (std::size_t k = 1; k < 12; ++k)
        EXPECT_GE(scan.findings[k - 1].effect, scan.findings[k].effect);
    EXPECT_NE(scan.notFound.front().find("6 more findings are weaker"), std::string::npos);
}

TEST(ScanSentences, BeforeAnythingIsMeasuredThereAreEstimates) {
    auto scan = scanOf(-0.3, -0.3);
    scan.passes = 0, scan.measured = 0, scan.estimated = 250;
    for (auto& part : scan.parts) part.row.ways.clear(), part.estimate = 0.125;
    const auto all = sentencesOf(scan);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0],
              "Layer 2, relation 1: without it the loss rises by about 0.125, by a "
              "first-order estimate over 250 images; it is not measured yet.");
}

// What cannot be scanned
// -------------------------------------------------------------------------------------------------

std::string whyNoScan(ScanSubject& subject, const OptionValues& values = {}) {
    try {
        subject.scan(values);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

TEST(Scan, WhatCannotBeScannedIsNamedInOneSentence) {
    ScanSubject one(scanOptions(), 1);
    one.subject.data = std::make_shared<Larger>(1, 1);
    EXPECT_EQ(whyNoScan(one),
              "data: has one example; a scan compares two or more, so give more data");
    ScanSubject none(scanOptions(), 1);
    none.subject.data = nullptr;
    EXPECT_EQ(whyNoScan(none), "data: contains nothing to scan");
    none.subject.data = none.splits.validation;
    EXPECT_EQ(whyNoScan(none, {{"seconds", std::int64_t{0}}}).find("seconds: "), 0u);
    EXPECT_NE(whyNoScan(none, {{"attributes", std::string("no/file.csv")}}).find("no/file.csv"),
              std::string::npos);
}

/// All relations of the model, changed alike.
std::vector<Edit> editsOfRelations(ScanSubject& of, EditOp op, double factor) {
    std::vector<Edit> edits;
    for (const auto& row :
         core::partRows(of.model.points(of.subject.data->sample(0)), {"relations"})) {
        edits.push_back(row.edit);
        edits.back().op = op, edits.back().factor = factor;
    }
    return edits;
}

TEST(Scan, RelationsThatAreConstantTellNothing) {
    ScanSubject constant(scanOptions(), 1);
    constant.subject.interventions.edits.edits = editsOfRelations(constant, EditOp::Zero, 1.0);
    ASSERT_FALSE(constant.subject.interventions.edits.edits.empty());
    const auto scan = constant.scan();
    EXPECT_EQ(scan.passes, 3);
    for (const auto& map : scan.atlas.relations)
        if (!map.head) {
            EXPECT_TRUE(map.label.starts_with("is alike everywhere")) << map.label;
            for (const auto& fit : map.fits)
                EXPECT_TRUE(std::isnan(fit.auc) || fit.auc == 0.5 || fit.auc == 0.0)
                    << map.name << " " << fit.auc;
        }
    for (const auto& part : scan.parts)
        if (part.row.group == "relations") {
            EXPECT_EQ(part.estimate, 0.0) << part.title;
        }
    EXPECT_FALSE(analysisNamed("scan").terminal(answerOf(scan)).empty());
    EXPECT_FALSE(core::scanReport(scan, "report", "constant", {"scan"}).empty());
}

TEST(Scan, ValuesThatAreNotFiniteAreNamed) {
    ScanSubject broken(scanOptions(), 1);
    broken.subject.interventions.edits.edits = editsOfRelations(broken, EditOp::Scale, 1e300);
    const auto why = whyNoScan(broken);
    EXPECT_NE(why.find("not finite"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
}

TEST(Scan, DataThatNothingIsKnownOfGiveEffectsAlone) {
    RunOptions options;
    options.model = presetOptions("relational-games-occurs").model;
    auto o = presetOptions("pairwise-order");
    o.model.set("n_relations", std::int64_t{1});
    DataSplits splits;
    splits.train = std::make_shared<Larger>(64, 1);
    splits.validation = std::make_shared<Larger>(64, 2);
    auto model = o.model;
    model.set("object_dim", std::int64_t{4});
    core::OpenedModel opened(model, 3, "cpu");
    AnalysisSubject subject;
    subject.model = &opened, subject.device = "cpu", subject.data = splits.validation;
    subject.interventions.data = editDataOf(splits, model);
    const auto scan = modelScanOf(
        runnerOf(analysisNamed("scan")).run(subject, {{"untrained", std::int64_t{0}}}, {}));
    ASSERT_FALSE(scan.notFound.empty());
    EXPECT_EQ(scan.atlas.attributes.size(), 0u);
    EXPECT_NE(scan.notFound.back().find("Nothing is known of the objects of these data"),
              std::string::npos)
        << scan.notFound.back();
}

}  // namespace
}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/verify/verify_fitted.h"

#include <torch/utils.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/fitted/fit.h"
#include "analysis/fitted/object_attention.h"
#include "analysis/fitted/removal.h"
#include "analysis/pairs/mask_facts.h"
#include "analysis/verify/verify_lines.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "interventions/edited_run.h"
#include "interventions/relation_file.h"
#include "types/error.h"
#include "types/option_groups.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

using FitJson = nlohmann::json;
using FitTensors = std::map<std::string, torch::Tensor>;

constexpr std::int64_t kVerifyBatch = 64;
constexpr const char* kLastStream = "ln_final.hook_normalized";

// Keys of wider or narrower tolerance than 1e-4.
const std::map<std::string, double>& fitTolerances() {
    static const std::map<std::string, double> all = {
        {"objects", 0.0},           {"truth", 0.0},
        {"pairs/yes", 0.0},         {"pairs/no", 0.0},
        {"test/pairs", 0.0},        {"test/yes", 0.0},
        {"logits", 2e-5},           {"stream/first", 2e-5},
        {"test/r", 1e-3},           {"map", 1e-3},
        {"relation", 1e-3},         {"test/interval", 1e-2},
        {"attention/shares", 2e-5}, {"attention/place_alone", 2e-5}};
    return all;
}

torch::Tensor numbersOf(const std::vector<double>& values) {
    return torch::tensor(values, torch::kDouble);
}
template <class Whole>
torch::Tensor wholesOf(const std::vector<Whole>& values) {
    return torch::tensor(std::vector<std::int64_t>(values.begin(), values.end()), torch::kLong);
}

/// The model's tensors on all pictures.
struct ReadPictures {
    torch::Tensor logits;
    std::vector<torch::Tensor> streams;           // before each block, and what the answer reads
    std::vector<torch::Tensor> scores, patterns;  // of each layer [n, heads, positions, positions]
};

class FittedCase {
public:
    FittedCase(const std::string& folder, const std::string& device)
        : m_folder(folder), m_file(folder + "/fit.json"), m_device(device) {
        m_fit = FitJson::parse(readTextFile(m_file));
        if (m_fit.value("format", "") != "relascope-fit/1")
            refuse("format", "'" + m_fit.value("format", "") + "' is not relascope-fit/1");
        m_data = readTensors(folder + "/data.safetensors");
        m_expected = readTensors(folder + "/expected.safetensors");
        m_images = stored("images", torch::kByte, 4), m_masks = stored("masks", torch::kByte, 3);
        m_facts = stored("facts", torch::kLong, 3), m_answers = stored("answers", torch::kLong, 1);
        m_split = stored("split", torch::kLong, 1);
        const auto n = m_images.size(0);
        for (const auto& one : {m_masks, m_facts, m_answers, m_split})
            if (one.size(0) != n || n < 3)
                refuse("data", "has tensors of other numbers of pictures");
        if (m_masks.size(1) != m_images.size(1) || m_masks.size(2) != m_images.size(2))
            refuse("data", "has masks of another size than the pictures");
        if (m_split.lt(0).logical_or(m_split.gt(2)).any().item<bool>())
            refuse("data", "has a split that is not 0, 1 or 2");
        m_form = relationForm(m_fit.at("form").get<std::string>());
        for (const double ridge : m_fit.at("ridges").get<std::vector<double>>()) {
            if (!(ridge > 0.0)) refuse("ridges", "must be above 0");
            m_ridges.push_back(ridge);
        }
        if (m_ridges.empty()) refuse("ridges", "is empty");
        openModel();
    }

    VerifyReport run() {
        m_report.ok = true;
        const torch::NoGradGuard noGrad;
        const auto read = readPictures(nullptr, true);
        makeFacts();
        const ObjectRows rows(m_pairs);
        const auto test = m_split.eq(kToTest).nonzero().flatten();
        const auto& stream = read.streams.at(m_stream);
        compare("objects", m_objects.clamp_min(0));
        compare("logits", read.logits.index_select(0, test));
        compare("stream/first", stream[test[0].item<std::int64_t>()]);
        const AxesOptions options{m_fit.at("scale"), m_fit.at("directions"), m_fit.at("least")};
        const auto own = rows.of(stream);
        const auto axes = streamAxes(own, rows, m_pairs, m_form, options);
        const auto z = coordinates(own, rows, axes);
        const PairFitter fitter(m_pairs, rows, m_form);
        comparePairs(fitter);
        compare("mean", axes.mean);
        compare("directions/values", axes.values);
        compare("moment/values", std::get<1>(torch::linalg_svd(fitter.moment(z), false)));
        const auto path = fitter.path(z, m_ridges);
        const auto& fit = path.fit();
        std::vector<double> ridges;
        for (const auto& step : path.steps)
            for (const double value : {step.fit.ridge, step.fit.loss, step.chosen})
                ridges.push_back(value);
        compare("ridges", numbersOf(ridges).view({-1, 3}));
        const auto scores = fitter.scores(z, fit, kToTest);
        compare("chosen", numbersOf({fit.ridge, fit.loss, path.steps[path.best].chosen,
                                     fitter.auc(scores, kToTest)}));
        compare("bias", numbersOf({fit.bias}));
        const auto count = stored("test/r").numel();
        compare("test/r", numbersOf(scores).slice(0, 0, count));
        const auto tested = testedAucs(m_pairs, fitter.pairs(kToTest), {scores},
                                       m_fit.value("draws", std::size_t{200}), 0);
        compare("test/interval", numbersOf({tested.all[0].low, tested.all[0].high}));
        compareRelation(stream, test, axes, fit, fitter, z);
        compareChance(read, rows, options, fitter, z);
        compareHeads(read, fitter.pairs(kToTest), scores);
        compareAttention(read);
        compareRemoved(read, test, axes);
        for (const auto& [name, tensor] : m_expected)
            if (!m_seen[name])
                addLine(m_report, {name, 0.0, 0.0, false, "not computed by this program"});
        return std::move(m_report);
    }

private:
    [[noreturn]] void refuse(const std::string& field, const std::string& what) const {
        throw FileError(m_file, field + ": " + what);
    }
    torch::Tensor stored(const char* name, torch::ScalarType type, std::int64_t axes) const {
        const auto file = m_folder + "/data.safetensors";
        const auto tensor = storedTensor(m_data, name, file);
        if (tensor.scalar_type() != type || tensor.dim() != axes)
            throw FileError(file, std::string("tensor '") + name +
                                      "' is not of the form that cases "
                                      "of fitted relations have");
        return tensor;
    }
    torch::Tensor stored(const char* name) const {
        return storedTensor(m_expected, name, m_folder + "/expected.safetensors");
    }

    void compare(const std::string& name, const torch::Tensor& ours) {
        const auto found = m_expected.find(name);
        if (found == m_expected.end()) return;
        auto theirs = found->second;
        // Patches without an object are -1 or 0.
        if (name == "objects") theirs = theirs.clamp_min(0);
        compareWith(name, ours, theirs);
    }
    void compareWith(const std::string& name, const torch::Tensor& ours,
                     const torch::Tensor& theirs) {
        m_seen[name] = true;
        const auto own = fitTolerances().find(name);
        addLine(m_report, comparedTensors(name, ours, theirs,
                                          own == fitTolerances().end() ? 1e-4 : own->second));
    }

    void openModel() {
        const std::string name = m_fit.at("model");
        const std::filesystem::path path(name);
        if (name.empty() || path.is_absolute() || name.find("..") != std::string::npos)
            refuse("model", "'" + name + "' is not the name of a folder in the case");
        const auto source = CheckpointSource::open((m_folder / path).string());
        m_options = checkpointModel(*source);
        const auto* images = m_options.find<ImageInput>();
        if (!images) refuse("model", "does not read images");
        m_model = makeModel(m_options);
        loadWeights(*m_model, m_options, *source);
        m_model->to(m_device);
        m_model->eval();
        m_columns = images->gridColumns(), m_rows = images->gridRows();
        m_firstTokens = m_options.tokens() - images->patches();
        if (m_images.size(1) != images->image_shape[2] ||
            m_images.size(2) != images->image_shape[1])
            refuse("model", "reads pictures of another size than those of data.safetensors");
        const auto points = pointsOf(*m_model, inputOf(0, 1));
        for (const auto& point : points)
            if (point.name.ends_with(".hook_resid_pre")) m_streams.push_back(point.name);
        const std::string wanted = m_fit.at("point");
        const auto found = std::find(m_streams.begin(), m_streams.end(), wanted);
        if (found == m_streams.end()) refuse("point", unknownName("stream", wanted, m_streams));
        m_stream = static_cast<std::size_t>(found - m_streams.begin());
        for (const auto& stream : m_streams) {
            const auto block = stream.substr(0, stream.rfind('.'));
            m_scores.push_back(block + ".attn.hook_attn_scores");
            m_patterns.push_back(block + ".attn.hook_pattern");
        }
        m_streams.emplace_back(kLastStream);
    }

    ModelInput inputOf(std::int64_t first, std::int64_t count) const {
        const auto images = m_images.slice(0, first, first + count);
        return ModelInput(
            (images.permute({0, 3, 1, 2}).to(torch::kFloat) / 255.0).contiguous().to(m_device));
    }

    ReadPictures readPictures(Hooks* edit, bool points) {
        std::vector<std::string> names;
        if (points)
            for (const auto* some : {&m_streams, &m_scores, &m_patterns})
                names.insert(names.end(), some->begin(), some->end());
        std::map<std::string, std::vector<torch::Tensor>> parts;
        std::vector<torch::Tensor> logits;
        for (std::int64_t first = 0; first < m_images.size(0); first += kVerifyBatch) {
            PointReader reader(names);
            const HookScope scope(edit ? edit : points ? &reader : nullptr);
            logits.push_back(
                m_model->forward(inputOf(first, kVerifyBatch)).to(torch::kCPU, torch::kDouble));
            for (const auto& name : names) {
                const auto found = reader.tensors().find(name);
                if (found == reader.tensors().end()) refuse("model", "has no hook point " + name);
                parts[name].push_back(found->second.to(torch::kCPU));
            }
        }
        ReadPictures read{torch::cat(logits), {}, {}, {}};
        const auto all = [&](const std::vector<std::string>& some, std::vector<torch::Tensor>& to,
                             std::int64_t from) {
            for (const auto& name : some)
                if (points) to.push_back(torch::cat(parts.at(name)).slice(1, from));
        };
        all(m_streams, read.streams, m_firstTokens);
        all(m_scores, read.scores, 0), all(m_patterns, read.patterns, 0);
        return read;
    }

    bool factHolds(const torch::Tensor& a, const torch::Tensor& b, const std::string& fact) const {
        const auto same = a.eq(b);
        if (fact == "same kind") return same.all().item<bool>();
        return same[fact == "same colour" ? 0 : 1].item<bool>();
    }

    void makeFacts() {
        const std::string fact = m_fit.at("fact"), strata = m_fit.at("strata");
        const std::vector<std::string> known = {"same kind", "same object", "same colour",
                                                "same shape"};
        if (std::find(known.begin(), known.end(), fact) == known.end())
            refuse("fact", unknownName("fact", fact, known));
        if (m_facts.size(2) < 2) refuse("fact", "needs two facts of objects");
        if (strata != "offset" && strata != "place")
            refuse("strata", unknownName("kind", strata, {"offset", "place"}));
        const auto n = static_cast<std::size_t>(m_images.size(0)),
                   patches = static_cast<std::size_t>(m_rows * m_columns);
        auto& p = m_pairs;
        p.examples = n, p.objects = patches;
        p.truth.assign(n * patches * patches, kPairUndefined);
        for (std::size_t e = 0; e < n; ++e) {
            const auto index = static_cast<std::int64_t>(e);
            ObjectMask mask{
                static_cast<int>(m_masks.size(2)), static_cast<int>(m_masks.size(1)), {}, {}};
            const auto pixels = m_masks[index].contiguous();
            const auto* bytes = pixels.const_data_ptr<std::uint8_t>();
            mask.numbers.assign(bytes, bytes + pixels.numel());
            const auto objects = objectsOfPatches(mask, static_cast<std::size_t>(m_rows),
                                                  static_cast<std::size_t>(m_columns));
            p.split.push_back(static_cast<std::uint8_t>(m_split[index].item<std::int64_t>()));
            for (std::size_t i = 0; i < patches; ++i) {
                if (objects[i] > m_facts.size(1)) refuse("data", "has an object without facts");
                p.part.push_back(objects[i] > 0);
                for (std::size_t j = 0; j < patches; ++j) {
                    if (i == j || objects[i] == 0 || objects[j] == 0) continue;
                    auto& truth = p.truth[p.cell(e, i, j)];
                    const bool same = objects[i] == objects[j];
                    if (fact == "same object")
                        truth = same ? kPairYes : kPairNo;
                    else if (!same)
                        truth = factHolds(m_facts[index][objects[i] - 1],
                                          m_facts[index][objects[j] - 1], fact)
                                    ? kPairYes
                                    : kPairNo;
                }
            }
            m_numbers.insert(m_numbers.end(), objects.begin(), objects.end());
        }
        p.stratum = strata == "offset" ? strataOfGrid(patches, static_cast<std::size_t>(m_columns))
                                       : strataOfPlaces(patches);
        p.strata = 1 + *std::max_element(p.stratum.begin(), p.stratum.end());
        m_objects =
            torch::tensor(m_numbers, torch::kLong).view({m_images.size(0), m_rows * m_columns});
        if (const auto found = m_expected.find("truth"); found != m_expected.end()) {
            const auto first = found->second.size(0);
            const auto all = wholesOf(std::vector<std::uint8_t>(
                p.truth.begin(), p.truth.begin() + static_cast<std::ptrdiff_t>(p.cell(
                                                       static_cast<std::size_t>(first), 0, 0))));
            compare("truth", torch::where(all.eq(kPairUndefined), -1, all)
                                 .view({first, m_rows * m_columns, m_rows * m_columns}));
        }
    }

    void comparePairs(const PairFitter& fitter) {
        const auto& fit = fitter.pairs(kToFit);
        std::vector<std::int64_t> counts[2];
        for (auto& one : counts) one.resize(static_cast<std::size_t>(m_pairs.strata));
        for (std::size_t k = 0; k < fit.size(); ++k)
            ++counts[fit.yes[k]][static_cast<std::size_t>(fit.stratum[k])];
        compare("pairs/yes", wholesOf(counts[1]));
        compare("pairs/no", wholesOf(counts[0]));
        const auto& test = fitter.pairs(kToTest);
        const auto count = stored("test/pairs").size(0);
        compare("test/pairs",
                torch::stack({wholesOf(test.example), wholesOf(test.i), wholesOf(test.j)}, 1)
                    .slice(0, 0, count));
        compare("test/yes", wholesOf(test.yes).slice(0, 0, count));
    }

    void compareRelation(const torch::Tensor& stream, const torch::Tensor& test,
                         const StreamAxes& axes, const FittedForm& fit, const PairFitter& fitter,
                         const torch::Tensor& z) {
        const auto ranked = rankedForm(fit);
        const auto byRank = aucByRank(fitter, z, ranked, fit.bias, kToTest);
        std::vector<double> chosen;
        for (const auto rank : m_fit.at("ranks").get<std::vector<std::int64_t>>()) {
            if (rank < 1) refuse("ranks", std::to_string(rank) + " is below 1");
            chosen.push_back(
                byRank[static_cast<std::size_t>(std::min(rank, std::ssize(byRank)) - 1)]);
        }
        compare("test/by_rank", numbersOf(chosen));
        const auto rank = m_fit.at("rank").get<std::int64_t>();
        if (rank < 1 || rank > ranked.terms())
            refuse("rank",
                   std::to_string(rank) + " is not from 1 to " + std::to_string(ranked.terms()));
        m_relation = streamRelation(axes, ranked, rank, fit.bias, m_form);
        compare("map", m_relation.map(stream[test[0].item<std::int64_t>()]));
        const auto file = readRelation(m_folder + "/relation.safetensors");
        const auto tensor = [&](const std::vector<float>& numbers) {
            return torch::tensor(numbers).view({-1, file.width}).to(torch::kDouble);
        };
        // Each pair of rows may have either sign.
        compareWith("relation", torch::matmul(m_relation.a.t(), m_relation.b),
                    torch::matmul(tensor(file.a).t(), tensor(file.b)));
        compareWith("relation/mean", m_relation.mean, tensor(file.mean));
        compareWith("relation/bias", numbersOf({m_relation.bias}), numbersOf({file.bias}));
    }

    void compareChance(const ReadPictures& read, const ObjectRows& rows, const AxesOptions& options,
                       const PairFitter& fitter, const torch::Tensor& z) {
        const auto& test = fitter.pairs(kToTest);
        compare("place_alone",
                numbersOf({fitter.auc(placeScores(fitter.pairs(kToFit), test, m_pairs.objects),
                                      kToTest)}));
        const PairFitter sides(m_pairs, rows, RelationForm::OneSide);
        compare("one_side", numbersOf({oneSideAuc(sides, z, m_ridges)}));
        std::vector<double> curve;
        for (const auto& stream : read.streams) {
            const auto own = rows.of(stream);
            const auto axes = streamAxes(own, rows, m_pairs, m_form, options);
            const auto there = coordinates(own, rows, axes);
            const auto path = fitter.path(there, m_ridges);
            curve.push_back(fitter.auc(fitter.scores(there, path.fit(), kToTest), kToTest));
        }
        compare("curve", numbersOf(curve));
    }

    void compareHeads(const ReadPictures& read, const PairList& test,
                      const std::vector<double>& scores) {
        const auto e = wholesOf(test.example), i = wholesOf(test.i) + m_firstTokens,
                   j = wholesOf(test.j) + m_firstTokens;
        std::vector<double> shares;
        for (const auto& layer : read.scores)
            for (std::int64_t h = 0; h < layer.size(1); ++h) {
                const auto head = layer.select(1, h).to(torch::kDouble);
                auto values = head.index({e, i, j});
                if (isSymmetric(m_form)) values = values + head.index({e, j, i});
                const auto* first = values.const_data_ptr<double>();
                shares.push_back(
                    squaredCorrelation({first, first + values.numel()}, scores, test.stratum));
            }
        compare("heads/r2", numbersOf(shares).view({std::ssize(read.scores), -1}));
    }

    void compareAttention(const ReadPictures& read) {
        ObjectAttention attention(m_objects, {}, m_firstTokens);
        std::vector<torch::Tensor> shares, alone;
        for (std::size_t layer = 0; layer < read.patterns.size(); ++layer) {
            const auto name = std::to_string(layer);
            attention.add(name, 0, read.patterns[layer]);
            shares.push_back(attention.shares(name).mean(0));
            alone.push_back(attention.placeAlone(name).mean(0));
        }
        compare("attention/shares", torch::stack(shares));
        compare("attention/place_alone", torch::stack(alone));
    }

    void compareRemoved(const ReadPictures& read, const torch::Tensor& test,
                        const StreamAxes& axes) {
        const auto basis = basisOfRows(torch::cat({m_relation.a, m_relation.b}));
        compare("removed/dimensions", torch::tensor({basis.size(1)}));
        compare("removed/projector", torch::matmul(basis, basis.t()));
        compare("removed/variance", numbersOf({shareOfVariance(axes.covariance, basis)}));
        ProjectOut out(m_streams[m_stream], {basis, m_relation.mean, m_firstTokens});
        const auto without = readPictures(&out, false).logits;
        compare("removed/logits", without.index_select(0, test));
        const auto right = [&](const torch::Tensor& logits) {
            return logits.argmax(1).eq(m_answers).index_select(0, test).to(torch::kDouble).mean();
        };
        compare("removed/change", (right(without) - right(read.logits)).view({1}));
    }

    std::string m_folder, m_file;
    torch::Device m_device;
    FitJson m_fit;
    FitTensors m_data, m_expected;
    torch::Tensor m_images, m_masks, m_facts, m_answers, m_split;
    RelationForm m_form = RelationForm::Symmetric;
    std::vector<double> m_ridges;
    ModelOptions m_options;
    ModelPtr m_model;
    std::int64_t m_rows = 0, m_columns = 0, m_firstTokens = 0;
    std::vector<std::string> m_streams, m_scores, m_patterns;
    std::size_t m_stream = 0;
    FactPairs m_pairs;
    std::vector<std::int64_t> m_numbers;
    torch::Tensor m_objects;  // [n, patches]
    StreamRelation m_relation;
    VerifyReport m_report;
    std::map<std::string, bool> m_seen;
};

}  // namespace

VerifyReport verifyFitted(const std::string& folder, const std::string& device) {
    const auto file = folder + "/fit.json";
    try {
        return FittedCase(folder, device).run();
    } catch (const FitJson::exception& error) {
        throw FileError(file, std::string("is not of the form of a fit: ") + error.what());
    }
}

}  // namespace relascope::core

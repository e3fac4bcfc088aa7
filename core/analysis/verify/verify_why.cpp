// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/verify/verify_why.h"

#include <torch/utils.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/contrast/terms.h"
#include "analysis/parts/score_parts.h"
#include "analysis/parts/weight_scores.h"
#include "analysis/verify/verify_lines.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/source.h"
#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "model/finite_outputs.h"
#include "model/public/public_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using WhyJson = nlohmann::json;
using WhyTensors = std::map<std::string, torch::Tensor>;

constexpr double kWhyTolerance = 2e-5, kWhyShareTolerance = 1e-4;
// Of components: of the first, and of the largest entry of a picture; those that are smaller or
// as near to a neighbour as that may be mixed with others.
constexpr double kWhyPicture = 1e-3, kWhyLeast = 0.02, kWhyApart = 0.01;

/// The lines of a case.
class WhyReport {
public:
    explicit WhyReport(const WhyTensors& stored) : m_stored(stored) { m_report.ok = true; }

    /// Within kWhyTolerance of the largest number, or `shares` within kWhyShareTolerance.
    void compare(const std::string& name, const torch::Tensor& ours, bool shares = false) {
        if (const auto found = m_stored.find(name); found != m_stored.end())
            compareWith(name, ours, found->second.to(torch::kDouble), shares);
    }
    /// The same of numbers that follow from the stored ones.
    void compareWith(const std::string& name, const torch::Tensor& ours,
                     const torch::Tensor& theirs, bool shares = false) {
        m_seen[name] = true;
        VerifyLine line{name};
        if (!ours.defined() || ours.sizes() != theirs.sizes()) {
            line.note = ours.defined() ? "different shape" : "not computed by this model";
            return add(line);
        }
        // Outputs are where the model computes.
        const auto difference = (ours.to(torch::kCPU, torch::kDouble) - theirs).abs();
        const double largest = theirs.numel() > 0 ? theirs.abs().max().item<double>() : 0.0;
        line.absolute = theirs.numel() > 0 ? difference.max().item<double>() : 0.0;
        line.relative = line.absolute / std::max(largest, 1e-12);
        line.ok = line.absolute <= (shares ? kWhyShareTolerance : kWhyTolerance * (1.0 + largest));
        if (!std::isfinite(line.absolute)) line.note = "not finite";
        add(line);
    }
    /// Pictures of components of these values, either sign: the first of `ours` [c, numbers], which
    /// are stored so or as [numbers, c].
    void comparePictures(const std::string& name, const torch::Tensor& all,
                         const torch::Tensor& values, bool byRows) {
        const auto found = m_stored.find(name);
        if (found == m_stored.end()) return;
        m_seen[name] = true;
        VerifyLine line{name, 0.0, 0.0, true};
        auto theirs = found->second.to(torch::kDouble);
        if (byRows) theirs = theirs.t();
        const auto ours = all.slice(0, 0, theirs.size(0));
        if (ours.sizes() != theirs.sizes()) {
            line.ok = false, line.note = "different shape";
            return add(line);
        }
        const auto value = [&](std::int64_t c) {
            return c >= 0 && c < values.size(0) ? values[c].item<double>() : -INFINITY;
        };
        for (std::int64_t c = 0; c < theirs.size(0); ++c) {
            const double here = value(c), apart = kWhyApart * here;
            if (here < kWhyLeast * value(0) || (c > 0 && value(c - 1) - here < apart) ||
                here - value(c + 1) < apart)
                continue;
            const double sign = (ours[c] * theirs[c]).sum().item<double>() < 0.0 ? -1.0 : 1.0;
            const double off = (ours[c] * sign - theirs[c]).abs().max().item<double>(),
                         largest = theirs[c].abs().max().item<double>();
            line.absolute = std::max(line.absolute, off);
            line.relative = std::max(line.relative, off / std::max(largest, 1e-12));
            line.ok = line.ok && off <= kWhyPicture * largest;
        }
        add(line);
    }
    /// The first values, within kWhyShareTolerance of the first.
    void compareValues(const std::string& name, const torch::Tensor& ours) {
        const auto found = m_stored.find(name);
        if (found == m_stored.end()) return;
        const double first = found->second[0].item<double>();
        m_seen[name] = true;
        VerifyLine line{name};
        if (ours.size(0) < found->second.size(0)) {
            line.note = "different shape";
            return add(line);
        }
        const auto off = (ours.slice(0, 0, found->second.size(0)) - found->second).abs();
        line.absolute = off.max().item<double>(), line.relative = line.absolute / first;
        line.ok = line.relative <= kWhyShareTolerance;
        add(line);
    }
    void add(VerifyLine line) { addLine(m_report, std::move(line)); }
    /// Every stored tensor of a query must have been computed.
    VerifyReport done() {
        for (const auto& [name, tensor] : m_stored)
            if (std::isdigit(static_cast<unsigned char>(name[0])) && !m_seen[name])
                add({name, 0.0, 0.0, false, "not computed by this program"});
        return std::move(m_report);
    }

private:
    const WhyTensors& m_stored;
    std::map<std::string, bool> m_seen;
    VerifyReport m_report;
};

// The names of parts as a case has them, which does not name the stacks.
std::vector<std::string> plainNames(const std::vector<StreamPart>& parts) {
    std::vector<std::string> names;
    for (const auto& part : parts) names.push_back(part.AttributionPart::text());
    return names;
}

// The same of names that may have a stack in front.
std::vector<std::string> withoutStacks(const ModelStreams& streams,
                                       const std::vector<std::string>& names) {
    std::vector<std::string> all;
    for (const auto& name : names) {
        all.push_back(name);
        for (const auto& stack : streams.stacks())
            if (name.starts_with(stack.name + " ")) all.back() = name.substr(stack.name.size() + 1);
    }
    return all;
}

VerifyLine namesLine(const std::string& name, const std::vector<std::string>& ours,
                     const std::vector<std::string>& theirs) {
    VerifyLine line{name};
    line.ok = ours == theirs;
    if (ours.size() != theirs.size()) {
        line.note =
            std::to_string(ours.size()) + " parts, " + std::to_string(theirs.size()) + " stored";
        return line;
    }
    for (std::size_t k = 0; k < ours.size() && line.note.empty(); ++k)
        if (ours[k] != theirs[k]) line.note = "'" + ours[k] + "' for '" + theirs[k] + "'";
    return line;
}

// Terms [parts of i, parts of j] summed by layers, in the order of `layers`.
torch::Tensor byLayers(const ScoreTerms& terms, const std::vector<std::string>& layers) {
    const auto group = [&](const SideParts& side) {
        const auto count = static_cast<std::int64_t>(layers.size());
        auto sums = torch::zeros({side.values.size(1), count, side.values.size(3)}, torch::kDouble);
        for (std::size_t p = 0; p < side.parts.size(); ++p) {
            const auto layer = side.parts[p].layer;
            const auto name = layer < 0 ? "input" : "layer " + std::to_string(layer + 1);
            for (std::int64_t g = 0; g < count; ++g)
                if (layers[static_cast<std::size_t>(g)] == name)
                    sums.select(1, g).add_(side.values[0].select(1, static_cast<std::int64_t>(p)));
        }
        return sums;
    };
    return terms.of(group(terms.i), group(terms.j));
}

void verifyOrigins(WhyReport& report, ModelImpl& model, const ModelOptions& options,
                   const ModelInput& inputs, const WhyJson& query, const std::string& key,
                   const WhyTensors& stored) {
    const ModelStreams streams(model, options);
    const ScoreParts parts(streams,
                           scoreMap(streams, query.at("stack"), query.at("layer").get<int>(),
                                    query.at("kind"), query.at("index").get<int>()));
    const auto example = query.at("example").get<std::int64_t>();
    if (example < 0 || example >= inputs.x.size(0))
        throw OptionError("example", std::to_string(example) + " is out of range: there are " +
                                         std::to_string(inputs.x.size(0)) + " stored inputs");
    const auto one = [&](const torch::Tensor& batch) {
        return batch.defined() ? batch.slice(0, example, example + 1) : batch;
    };
    const ModelInput input(one(inputs.x), one(inputs.target));
    ScoreCell cell;
    cell.i = query.at("i"), cell.j = query.at("j");
    if (query.at("against") == "row") cell.against = ScoreCell::Against::Row;
    const auto terms = scoreTerms(parts, model, input, cell, false);
    report.add(namesLine(key + "/parts_i", plainNames(terms.i.parts), query.at("parts_i")));
    report.add(namesLine(key + "/parts_j", plainNames(terms.j.parts), query.at("parts_j")));
    report.compare(key + "/value", torch::tensor({terms.value}, torch::kDouble));
    if (terms.capped)
        report.compare(key + "/capped", torch::tensor({*terms.capped}, torch::kDouble));
    report.compare(key + "/terms", terms.terms());
    report.compare(key + "/layers", byLayers(terms, query.at("layers")));
    for (const auto& [name, tensor] : stored)
        for (const bool ofI : {true, false}) {
            const auto prefix = key + (ofI ? "/tokens_i/" : "/tokens_j/");
            if (!name.starts_with(prefix)) continue;
            const auto& all = ofI ? terms.i.parts : terms.j.parts;
            const auto at = std::stoul(name.substr(prefix.size()));
            if (at >= all.size()) continue;
            const auto split = scoreTerms(parts, model, input, cell, false, &all[at]);
            report.compare(name, ofI ? split.tokensOfI() : split.tokensOfJ().t());
        }
}

void verifyContrast(WhyReport& report, ModelImpl& model, const ModelOptions& options,
                    const ModelInput& input, const WhyJson& query, const std::string& key,
                    const WhyTensors& stored, const std::string& file) {
    const ModelStreams streams(model, options);
    const ScoreParts parts(streams,
                           scoreMap(streams, query.at("stack"), query.at("layer").get<int>(),
                                    query.at("kind"), query.at("index").get<int>()));
    const auto from = query.at("objects_from").get<std::int64_t>();
    const auto objects = torch::arange(from, parts.size(ScoreSide::I, input));
    const auto pass = [&](Hooks& hooks) {
        const EvaluationMode evaluation(model);
        const HookScope scope(&hooks);
        answersOf(model, input);
    };
    const bool split = query.contains("through");
    auto read = partVectors(parts, input, objects, {}, false, "all", 512, nullptr, pass);
    report.add(
        namesLine(key + "/parts_i", withoutStacks(streams, read.namesI), query.at("parts_i")));
    report.add(
        namesLine(key + "/parts_j", withoutStacks(streams, read.namesJ), query.at("parts_j")));
    ContrastPairs pairs;
    pairs.scale = parts.scale(), pairs.fewest = 8;
    pairs.byOffset = options.input() == InputKind::Tokens;
    const auto n = objects.size(0);
    const auto attribute = storedTensor(stored, "attribute", file),
               defined = storedTensor(stored, "defined", file);
    auto open = torch::ones({n, n}, torch::kBool).logical_xor(torch::eye(n, torch::kBool));
    if (parts.isCausal()) open = open.tril(-1);
    open = defined.ne(0).logical_and(open);
    pairs.yes = attribute.ne(0).logical_and(open).to(torch::kDouble);
    pairs.no = attribute.eq(0).logical_and(open).to(torch::kDouble);
    pairs.facts = storedTensor(stored, "facts", file);
    pairs.u = selectPaired(pairs, read.u);
    pairs.v = selectPaired(pairs, read.v);
    const auto means = meansOf(pairs);
    // Intervals of a case are those of drawn sets of examples, the means and effects of all held,
    // and its effects are those of values that 8 objects have.
    const auto draws = storedTensor(stored, "draws", file);
    const auto counts = torch::zeros({draws.size(0), draws.size(1)}, torch::kDouble);
    const auto terms = contrastTerms(
        pairs, counts.scatter_add(1, draws, torch::ones(draws.sizes(), torch::kDouble)), 4096,
        true);
    const auto one = [](double value) { return torch::tensor({value}, torch::kDouble); };
    for (const auto& [name, ways] : {std::pair{"difference", &terms.difference},
                                     {"receiver", &terms.receiver},
                                     {"sender", &terms.sender},
                                     {"both", &terms.both},
                                     {"facts/both", &terms.facts}}) {
        const bool shares = ways != &terms.difference;
        report.compare(key + "/" + name, shares ? (*ways)[0] : ways->slice(0, 0, 1), shares);
        report.compare(
            key + "/interval/" + name,
            at::nanquantile(ways->slice(0, 1), torch::tensor({0.025, 0.975}, torch::kDouble), 0),
            true);
    }
    report.compare(key + "/cancellation", one(terms.cancellation), true);
    const auto a = query.at("strongest").at(0).get<std::int64_t>(),
               b = query.at("strongest").at(1).get<std::int64_t>();
    const auto term = termOf(pairs, means, a, b), scores = scoresOf(pairs);
    const bool causal = parts.isCausal();
    report.compare(key + "/auc/all", one(placeFixedAucOf(pairs, scores, causal)), true);
    report.compare(key + "/auc/alone", one(placeFixedAucOf(pairs, term, causal)), true);
    report.compare(key + "/auc/without", one(placeFixedAucOf(pairs, scores - term, causal)), true);
    if (split) {
        const auto tokens = [&](int side) {
            const auto at =
                query.at("through").at(static_cast<std::size_t>(side)).get<std::size_t>();
            const auto& names = side == 0 ? read.namesI : read.namesJ;
            const auto part = partNamed(streams, names.at(at), query.at("stack"), "through");
            const auto again =
                partVectors(parts, input, objects, {}, false, "all", 512, &part, pass);
            const auto& all = side == 0 ? again.tokensI : again.tokensJ;
            return PartTokens{all.index_select(2, objects), all.sum(2)};
        };
        report.compare(
            key + "/through",
            throughShares(pairs, tokens(0), tokens(1), terms.difference[0].item<double>()), true);
    }
    const auto* first = objects.const_data_ptr<std::int64_t>();
    TermCut cut(parts, termOf(read.u, read.v, means, a, b, pairs.scale), {first, first + n}, {});
    torch::Tensor logits;
    {
        const torch::NoGradGuard noGrad;
        const HookScope scope(&cut);
        logits = model.forward(input);
    }
    report.compare(key + "/cut/logits", logits);
}

void verifyTokens(WhyReport& report, const ScoreParts& parts, const WhyJson& query,
                  const std::string& key, const WhyTensors& stored) {
    TokenPlaces places;
    if (query.contains("at")) {
        places.i = query.at("at").at(0), places.j = query.at("at").at(1);
        places.offset = places.i - places.j;
    }
    places.offset = query.value("offset", places.offset);
    auto factors = tokenFactors(parts, places);
    const auto v = factors.q.size(0);
    auto weights = torch::full({v}, 1.0 / static_cast<double>(v), torch::kDouble);
    if (query.value("weights", "even") == "frequency") {
        weights = stored.at("frequency").to(torch::kDouble);
        weights = weights / weights.sum();
    }
    const auto table = factors.scale * torch::matmul(factors.q, factors.k.t());
    report.compare(key + "/table", table);
    const auto components = componentsOf(factors, weights);
    const auto one = [](std::initializer_list<double> values) {
        return torch::tensor(std::vector<double>(values), torch::kDouble);
    };
    report.compare(key + "/shares",
                   one({components.receiverShare, components.senderShare, components.pairShare}),
                   true);
    report.compare(key + "/symmetric", one({components.symmetric}), true);
    report.compare(key + "/self", one({selfPreference(factors, weights).value}), true);
    report.compareValues(key + "/components/values", components.values);
    for (const auto& [name, ours] :
         {std::pair{"receiver", components.receiver}, {"sender", components.sender}}) {
        report.comparePictures(key + "/components/" + name, ours.t(), components.values, true);
    }
    // Pairs of nearly equal scores may change their places: the scores are compared.
    if (parts.softmax()) factors = lessRowMeans(std::move(factors), weights);
    const auto all = factors.scale * torch::matmul(factors.q, factors.k.t());
    for (const bool highest : {true, false}) {
        const auto name = key + (highest ? "/highest" : "/lowest");
        const auto found = stored.find(name);
        if (found == stored.end()) continue;
        const auto extremes = extremePairs(factors, found->second.size(0));
        std::vector<double> ours;
        for (const auto& pair : highest ? extremes.highest : extremes.lowest)
            ours.push_back(pair.score);
        report.compareWith(name, torch::tensor(ours, torch::kDouble),
                           all.index({found->second.select(1, 0), found->second.select(1, 1)}));
    }
}

void verifyPatches(WhyReport& report, const ScoreParts& parts, const ModelInput& input,
                   const std::string& key, const WhyTensors& stored, const std::string& file) {
    const LinearScores scores(parts);
    report.compare(key + "/filters_i", scores.filters(ScoreSide::I));
    report.compare(key + "/filters_j", scores.filters(ScoreSide::J));
    report.compare(key + "/symmetric", torch::tensor({scores.symmetric()}, torch::kDouble), true);
    const auto objects = scores.read(input);
    report.compare(key + "/gain", objects.gain);
    report.compare(key + "/pixels", scores.pixels(objects));
    const auto taken = storedTensor(stored, "occupied", file).ne(0);
    const auto x = objects.numbers.index({taken});  // [patches, pixels]
    const auto even =
        torch::full({x.size(0)}, 1.0 / static_cast<double>(x.size(0)), torch::kDouble);
    const auto components =
        componentsOf({torch::matmul(x, scores.filters(ScoreSide::I).t()),
                      torch::matmul(x, scores.filters(ScoreSide::J).t()), scores.scale()},
                     even);
    report.compareValues(key + "/components/values", components.values);
    const auto centred = x - x.mean(0);
    for (const auto& [name, ours] :
         {std::pair{"receiver", components.receiver}, {"sender", components.sender}}) {
        const auto pictures =
            torch::matmul(ours.t(), centred) / static_cast<double>(x.size(0));  // [c, pixels]
        report.comparePictures(key + "/components/" + name, pictures, components.values, false);
    }
}

}  // namespace

VerifyReport verifyWhy(const std::string& folder, const std::string& device,
                       const std::string& models) {
    namespace fs = std::filesystem;
    const auto file = (fs::path(folder) / "why.json").string();
    try {
        const auto why = WhyJson::parse(readTextFile(file));
        if (why.value("format", "") != "relascope-why/1")
            throw FileError(file, "format: '" + why.value("format", "") +
                                      "' is not relascope-why/1, which this program reads");
        const auto analysis = currentName(why.at("analysis"));
        const std::string name = why.at("model");
        const bool contrast = analysis == "contrast";
        const bool dictionary = analysis == "qk-components";
        if (analysis != "qk-attribution" && !contrast && !dictionary)
            throw FileError(file,
                            "analysis: '" + analysis +
                                "' cannot be verified; qk-attribution, contrast and qk-components "
                                "can");
        const auto path = fs::path(name);
        if (name.empty() || path.is_absolute() || name.find("..") != std::string::npos)
            throw FileError(file, "model: '" + name + "' is not the name of a folder");
        const auto above = fs::absolute(folder).lexically_normal();
        const auto parent = (above.has_filename() ? above : above.parent_path()).parent_path();
        const auto modelFolder =
            ((models.empty() ? parent.parent_path() : fs::path(models)) / path).string();
        const auto source = CheckpointSource::open(modelFolder);
        auto options = checkpointModel(*source);
        // Stored images have been normalised already.
        if (auto* images = options.find<PublicImageOptions>()) images->preprocessor.clear();
        auto model = makeModel(options);
        loadWeights(*model, options, *source);
        model->to(torch::Device(device));
        model->eval();
        const auto own = folder + "/io.safetensors";
        const auto stored = readTensors(own);
        const bool tokens = dictionary && (options.input() == InputKind::Tokens ||
                                           options.input() == InputKind::Pairs);
        const auto io = contrast || dictionary ? own : modelFolder + "/io.safetensors";
        ModelInput inputs((torch::Tensor()));
        if (!tokens)
            inputs = storedInput(readTensors(io), "input/", options, io).to(torch::Device(device));
        WhyReport report(stored);
        int number = 0;
        const ModelStreams streams(*model, options);
        for (const auto& query : why.at("queries")) {
            const auto key = std::to_string(number++);
            if (dictionary) {
                const ScoreParts parts(
                    streams,
                    scoreMap(streams, query.value("stack", ""), query.at("layer").get<int>(),
                             query.at("kind"), query.at("index").get<int>()));
                tokens ? verifyTokens(report, parts, query, key, stored)
                       : verifyPatches(report, parts, inputs, key, stored, own);
            } else if (contrast)
                verifyContrast(report, *model, options, inputs, query, key, stored, own);
            else
                verifyOrigins(report, *model, options, inputs, query, key, stored);
        }
        return report.done();
    } catch (const WhyJson::exception& error) {
        throw FileError(file, error.what());
    }
}

}  // namespace relascope::core

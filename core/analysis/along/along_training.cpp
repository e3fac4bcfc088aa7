// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "analysis/along/along_training.h"
#include "analysis/answer_names.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "analysis/steps_here.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/series.h"
#include "model/served/served_options.h"
#include "run/run_folder.h"
#include "types/error.h"

namespace relascope::core {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// A map of a probe, or the product of two.
struct ReadMap {
    const RelationMap* map = nullptr;
    const RelationMap* times = nullptr;

    float at(int i, int j) const { return map->at(i, j) * (times ? times->at(i, j) : 1.0F); }
    std::vector<float> row(int i) const {
        std::vector<float> values(static_cast<std::size_t>(map->columns));
        map->readRows(i, 1, values.data());
        if (!times) return values;
        std::vector<float> factors(values.size());
        times->readRows(i, 1, factors.data());
        for (std::size_t j = 0; j < values.size(); ++j) values[j] *= factors[j];
        return values;
    }
};

const RelationMap& find(const ProbeResult& result, MapKind kind, int layer, int index,
                        const char* field) {
    const auto* map = result.find(kind, layer, index);
    if (map) return *map;
    const auto layers = static_cast<int>(result.layers.size());
    const auto maps = std::string(" ") + mapKindName(kind) + " maps";
    if (layer >= layers)
        throw OptionError("layer", std::to_string(layer + 1) + " is beyond the model's " +
                                       std::to_string(layers) + " layers");
    const int count = result.count(kind, layer);
    if (count == 0)
        throw OptionError("kind", "layer " + std::to_string(layer + 1) + " has no" + maps);
    throw OptionError(field, std::to_string(index + 1) + " is out of range: the last of the" +
                                 maps + " of layer " + std::to_string(layer + 1) + " is " +
                                 std::to_string(count));
}

ReadMap find(const ProbeResult& result, const MapCell& cell) {
    if (cell.kind != MapKind::AttentionTimesRelation)
        return {&find(result, cell.kind, cell.layer, cell.index, "index")};
    const auto& alpha = find(result, MapKind::RelationalAttention, cell.layer, cell.head, "head");
    return {&find(result, MapKind::Relation, cell.layer, cell.index, "index"), &alpha};
}

void requireInside(const char* field, int value, int size, const char* what) {
    if (value < 0 || value >= size)
        throw OptionError(field, std::to_string(value) + " is out of range: the map has " +
                                     std::to_string(size) + what);
}

// The layout, from the first probe.
void describe(AlongTraining& along, const ProbeResult& result) {
    const auto& map = *find(result, along.cell).map;
    requireInside("i", along.cell.i, map.rows, " rows");
    requireInside("j", along.cell.j, map.columns, " columns");
    along.rows = map.rows, along.columns = map.columns;
    along.causal = map.causal, along.libraryRows = map.libraryRows;
    const int side = std::max(map.rows, map.columns), most = AlongTraining::kMostSide;
    along.block = std::max(1, (side + most - 1) / most);
    along.layerName = result.layers.at(static_cast<std::size_t>(along.cell.layer)).name;
}

AlongValues read(const AlongTraining& along, const ProbeResult& result) {
    const auto map = find(result, along.cell);
    [[maybe_unused]] const auto& [kind, layer, index, head, i, j, fitted] = along.cell;
    AlongValues values;
    values.value = map.map->masked(i, j) ? kUndefined : static_cast<double>(map.at(i, j));
    const auto answer = static_cast<std::size_t>(along.answer);
    if (along.answer >= 0 && answer < result.probabilities.size())
        values.probability = static_cast<double>(result.probabilities[answer]);
    const auto wide = static_cast<std::size_t>(along.mapColumns());
    values.map.assign(static_cast<std::size_t>(along.mapRows()) * wide, 0.0F);
    for (int r = 0; r < along.rows; ++r) {
        const auto row = map.row(r);
        float* out = values.map.data() + static_cast<std::size_t>(r / along.block) * wide;
        for (int c = 0; c < along.columns; ++c) {
            if (map.map->masked(r, c)) continue;
            float& pooled = out[c / along.block];
            const float value = row[static_cast<std::size_t>(c)];
            // A NaN stays: it is worth seeing.
            if (std::isnan(value) || std::abs(value) > std::abs(pooled)) pooled = value;
        }
    }
    return values;
}

class Reader {
public:
    Reader(const std::string& run, const std::string& device, const ProbeSample& sample,
           const std::vector<std::string>& classNames, const AlongOptions& options)
        : m_run(run),
          m_device(device),
          m_sample(sample),
          m_classNames(classNames),
          m_edits(options.edits),
          m_data(options.data),
          m_leaveOut(options.leaveOutTrainingEdits) {
        along.cell = options.cell;
        along.answer = options.answer;
        along.edited = m_edits.anyEnabled();
        if (m_data.example < 0) findExample(m_data, m_sample);
    }
    AlongTraining along;

    AlongStep at(std::int64_t step, const std::stop_token& stop,
                 const std::function<bool(double)>& progress) {
        OpenedModel model(m_run, std::to_string(step), m_device, stop,
                          [&](double part) { return progress(0.5 * part); });
        if (m_leaveOut) model.leaveOutTrainingEdits();
        ProbeWatch watch;
        watch.stop = stop;
        watch.shownLayer = along.cell.layer;
        watch.progress = [&](double part) { return progress(0.5 + 0.4 * part); };
        // Edits of training may take values of examples.
        const auto plain = model.probe(m_sample, m_classNames, {{}, m_data}, watch);
        if (along.rows == 0) {
            describe(along, plain);
            chooseAnswer(model, plain);
        }
        AlongStep values{step, read(along, plain), {}};
        if (!along.edited) return values;
        values.before = std::exchange(values.now, {});
        watch.progress = [&](double) { return progress(0.9); };
        values.now = read(along, model.probe(m_sample, m_classNames, {m_edits, m_data}, watch));
        return values;
    }

private:
    void chooseAnswer(const OpenedModel& model, const ProbeResult& last) {
        const auto& p = last.probabilities;
        const auto count = static_cast<std::int64_t>(p.size());
        if (along.answer >= 0 && along.answer >= count)
            throw OptionError("answer", std::to_string(along.answer) +
                                            " is out of range: the model has " +
                                            std::to_string(count) + " answers");
        if (count == 0) return;
        if (along.answer < 0) along.answer = std::max_element(p.begin(), p.end()) - p.begin();
        along.answerName = AnswerNames(model.options(), model.tokenizer(), m_classNames, m_sample)
                               .of(along.answer);
    }

    const std::string &m_run, &m_device;
    const ProbeSample& m_sample;
    const std::vector<std::string>& m_classNames;
    EditList m_edits;
    EditData m_data;
    bool m_leaveOut;
};

}  // namespace

AlongTraining alongTraining(const std::string& run, const std::string& device,
                            const ProbeSample& sample, const std::vector<std::string>& classNames,
                            const AlongOptions& options, const std::stop_token& stop,
                            const ProgressCallback& progress,
                            const std::function<void(const AlongTraining&)>& partial) {
    auto steps = options.steps;
    if (steps.empty())
        for (const auto& kept : stepsHere(run)) steps.push_back(kept.step);
    const bool served = isServedName(run);
    if (steps.empty() && served)
        throw Error(run +
                    " keeps no weights; give serve() a run, and call run.weights(step, "
                    "model.state_dict())");
    if (steps.empty())
        throw Error(
            run + (isRunFolder(run) && isSeries(run)
                       ? " has none of its steps on this machine; --fetch fetches them"
                       : " kept no weights along its training; train with train.keep_mib above 0"));
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    std::map<std::int64_t, std::uint32_t> weights;
    for (const auto& kept : served ? stepsHere(run) : KeptWeights(run).steps())
        weights[kept.step] = kept.checksum;
    Reader reader(run, device, sample, classNames, options);
    auto& along = reader.along;
    along.wanted = static_cast<std::int64_t>(steps.size());
    if (options.known && options.steps.empty() && !options.known->steps.empty()) {
        along = *options.known;
        along.wanted = static_cast<std::int64_t>(steps.size());
        std::erase_if(along.steps, [&](const AlongStep& at) {
            return !std::binary_search(steps.begin(), steps.end(), at.step) ||
                   at.weights != weights[at.step];
        });
        std::erase_if(steps, [&](std::int64_t step) {
            return std::any_of(along.steps.begin(), along.steps.end(),
                               [&](const auto& at) { return at.step == step; });
        });
        if (!along.chooseCell(options.cell)) throw OptionError("i", "the map is stored in blocks");
    } else if (options.answer < 0)
        std::rotate(steps.begin(), steps.end() - 1, steps.end());
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const auto part = [&](double done) {
            const double all = static_cast<double>(steps.size());
            return !progress || progress((static_cast<double>(k) + done) / all);
        };
        if (stop.stop_requested() || !part(0.0)) throw Cancelled();
        try {
            auto step = reader.at(steps[k], stop, part);
            step.weights = weights[steps[k]];
            const auto place =
                std::upper_bound(along.steps.begin(), along.steps.end(), step,
                                 [](const auto& a, const auto& b) { return a.step < b.step; });
            along.steps.insert(place, step);
        } catch (const Error&) {
            // A run that trains may drop a kept step for another one.
            if (!options.steps.empty() || stop.stop_requested()) throw;
            const auto here = stepsHere(run);
            const auto step = steps[k];
            if (std::any_of(here.begin(), here.end(), [&](auto& one) { return one.step == step; }))
                throw;
            --along.wanted;
            continue;
        }
        if (partial) partial(along);
    }
    return along;
}

namespace {

MapCell cellOf(const AlongChoice& choice, const std::optional<MapCell>& shown) {
    if (choice.source < 0 && choice.to < 0 && shown) return *shown;
    if (choice.source < 0 || choice.to < 0)
        throw OptionError(choice.source < 0 ? "source" : "to",
                          "is missing: values along training are those of a cell i, j of a map");
    auto kind = MapKind::Relation;
    for (const auto one :
         {MapKind::RelationalAttention, MapKind::SensoryAttention, MapKind::Symbols})
        if (choice.kind == mapKindName(one)) kind = one;
    return {kind, static_cast<int>(choice.layer) - 1, static_cast<int>(choice.index) - 1,
            0,    static_cast<int>(choice.source),    static_cast<int>(choice.to)};
}

AlongTraining runAlongTraining(AnalysisSubject& subject, const AlongChoice& choice,
                               const Watch<AlongTraining>& watch) {
    const auto keeper = keeperOf(subject);
    if (keeper.empty()) throw Error("Only runs keep weights along training: open a run.");
    const auto& sample = sampleOf(subject);
    AlongOptions options;
    options.cell = cellOf(choice, subject.cell);
    options.edits = subject.interventions.edits;
    options.data = subject.interventions.data;
    options.leaveOutTrainingEdits = subject.leaveOutTrainingEdits;
    if (watch.known) options.known = *watch.known;
    const auto idIn = [&](const OpenedModel& model) {
        return model.answerNames(sample, subject.classNames).find(choice.answer, "answer");
    };
    if (!choice.answer.empty())
        options.answer =
            subject.model ? idIn(*subject.model) : idIn(OpenedModel(keeper, "", subject.device));
    try {
        return alongTraining(keeper, subject.device, sample, subject.classNames, options,
                             watch.stop, watch.progress, watch.partial);
    } catch (const OptionError& error) {
        if (error.field() == "i") throw OptionError("source", error.message());
        if (error.field() == "j") throw OptionError("to", error.message());
        throw;
    }
}

}  // namespace

// Watch::known is an earlier answer for the same run, input, edits and map.
const RegisterRunner kAlongTrainingRunner("along", [] {
    return makeRunner(alongFields(), runAlongTraining, answerOf, alongTrainingOf);
});

}  // namespace relascope::core

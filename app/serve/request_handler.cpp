// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/request_handler.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <utility>

#include "analysis/captured_maps.h"
#include "analysis/run_analysis.h"
#include "analysis/verify.h"
#include "answers/evaluation_answer.h"
#include "app/serve/files.h"
#include "app/serve/kept_results.h"
#include "data/text_tokens.h"
#include "datasets/readers/image_folder.h"
#include "datasets/registry.h"
#include "files/command_line.h"
#include "probe/probe_memory.h"
#include "run/run_folder.h"
#include "train/branch.h"
#include "train/out_of_memory.h"
#include "wire/answer_frame.h"
#include "wire/figures.h"

namespace relascope::serve {
namespace {

using wire::Frame;
using wire::Json;
using Clock = std::chrono::steady_clock;

/// Maps are computed several times a second during generation, so their size is limited.
constexpr std::uint64_t kFollowedMaps = 128ULL << 20;
/// Minimum time between two such maps, which take at most a fifth of the time.
constexpr std::chrono::milliseconds kFollowInterval(400);
constexpr std::chrono::milliseconds kPartInterval(100);

template <class Asked>
Asked askedOf(const Request& request) {
    try {
        return request.message().get<Asked>();
    } catch (const nlohmann::json::exception& error) {
        throw wire::FrameError(std::string("a request is not as agreed on: ") + error.what());
    }
}

Frame answered(Json message) {
    return {std::move(message), {}};
}

// A number that no other session has given.
std::uint64_t freshNumber() {
    static std::uint64_t number = [] {
        std::random_device random;
        return (std::uint64_t{random()} << 31) + random();
    }();
    return ++number;
}

bool isText(const core::OpenedModel& model) {
    return model.options().input() == InputKind::Tokens;
}

/// The likeliest answer of a result, and its probability in another one; NaN if the answer is not
/// among the likeliest there.
double probabilityOf(const std::string& name, std::size_t at, const ProbeResult& result,
                     bool byName) {
    const auto& names = result.classNames;
    if (byName) {
        const auto found = std::find(names.begin(), names.end(), name);
        at = static_cast<std::size_t>(found - names.begin());
    }
    return at < result.probabilities.size() ? static_cast<double>(result.probabilities[at])
                                            : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Frame RequestHandler::answer(Request& request) {
    m_answered = &request;
    const auto what = wire::valueOf<std::string>(request.message(), "m");
    if (what == "open") return opened(request);
    if (what == "probe") return probe(request);
    if (what == "effects") return effectsAlone(request);
    if (what == "generate") return generate(request);
    if (what == "ask" || what == "cost") return ask(request, what == "cost");
    if (what == "branch") {
        const Json& asked = request.message();
        core::branchRun(wire::valueOf<std::string>(asked, "from"),
                        wire::valueOf<std::int64_t>(asked, "step"),
                        wire::valueOf<std::string>(asked, "to"));
        return {Json::object(), {}};
    }
    if (what == "devices") return answerDevices(request);
    if (auto found = answerFiles(what, request)) return std::move(*found);
    if (auto found = m_data.answer(what, request)) return std::move(*found);
    if (what == "drop") {
        forget();
        m_data.clear();
        return answered(Json::object());
    }
    throw wire::FrameError("a session does not know '" + what + "'");
}

// Models and data
// -------------------------------------------------------------------------------------------------

void RequestHandler::forget() {
    m_ablation.clear();
    m_base.reset();
    m_edited.reset();
    m_model.reset();
    m_opened = {};
}

core::OpenedModel& RequestHandler::open(const wire::Weights& weights, Request& request) {
    auto wanted = weights;
    if (wanted.nearest >= 0)
        wanted.checkpoint = core::stepToOpen(wanted.path, wanted.nearest).checkpoint;
    wanted.nearest = -1;
    const bool same =
        m_model && m_opened.path == wanted.path && m_opened.checkpoint == wanted.checkpoint &&
        m_opened.device == wanted.device && m_opened.bfloat16 <= wanted.bfloat16 &&
        (m_opened.tokenizer.empty() || !wanted.tokenizer.empty()) && m_model->filesUnchanged();
    if (!same) {
        forget();  // two models may not fit into the memory
        const auto opened = [&](const std::string& device) {
            return std::make_unique<core::OpenedModel>(wanted.path, wanted.checkpoint, device,
                                                       request.stop(), request.progress());
        };
        std::unique_ptr<core::OpenedModel> model;
        try {
            model = opened(wanted.device);
            // Perhaps on a GPU, where a training may have taken the memory.
        } catch (const core::OutOfMemory&) {
            if (wanted.device != "auto") throw;
            model = opened("cpu");
        }
        // The tokenizer of a run is in the run folder, not next to the weights.
        const auto run = model->isRun() ? std::string() : core::runOfWeights(wanted.path);
        if (const auto own = run + "/tokenizer.json";
            !run.empty() && isText(*model) && std::filesystem::exists(own))
            model->setTokenizer(own);
        m_model = std::move(model);
        m_opened = wanted;
        m_opened.tokenizer.clear();
        m_opened.bfloat16 = false;
        if (!(m_pointsOf == m_model->options())) m_points.reset();
        m_pointsOf = m_model->options();
    }
    if (wanted.tokenizer != m_opened.tokenizer) {
        m_model->setTokenizer(wanted.tokenizer);
        m_opened.tokenizer = wanted.tokenizer;
        m_base.reset();
    }
    if (wanted.bfloat16 && !m_opened.bfloat16) {
        m_model->narrow();
        m_opened.bfloat16 = true;
        m_base.reset();
    }
    request.progress(0.0);
    return *m_model;
}

core::DatasetPtr RequestHandler::dataOf(const std::optional<wire::DataSplit>& data,
                                        const core::OpenedModel& model, const std::string& path,
                                        Request& request) {
    if (!data) throw Error("There are no data to measure on: open a run, whose data are known.");
    if (data->text)
        return core::openEvaluationText(
            model, {core::runOfWeights(path), data->file, data->split, data->windows},
            request.progress(), request.stop());
    const auto found = data->file.empty()
                           ? m_data.find({data->options}, data->split, request)
                           : datasets::openEvaluationData(data->file, data->options, data->split,
                                                          request.progress(), request.stop());
    if (!found) throw Error("There is no split '" + data->split + "' in these data.");
    if (model.options().input() == InputKind::Images) {
        const auto& images = model.options().get<ImageInput>();
        datasets::requireFit(found->info(), images.image_shape[0], images.image_shape[2],
                             images.image_shape[1], images.num_classes);
    }
    return found;
}

core::DatasetPtr RequestHandler::sentencesOf(const std::optional<wire::DataSplit>& data,
                                             Request& request) {
    const auto found = data ? m_data.find({data->options}, data->split, request) : nullptr;
    if (!found) throw wire::FrameError("minimal pairs are asked for without saying which");
    return found;
}

/// The edits of a request, with the data that they take examples and pictures from.
core::Interventions RequestHandler::interventions(const wire::Interventions& sent,
                                                  const ModelOptions& model) {
    core::Interventions all{sent.edits, {}};
    if (sent.data)
        all.data.split = [this, options = *sent.data](const std::string& name) {
            return m_data.find({options}, name, *m_answered);
        };
    if (model.input() == InputKind::Images)
        all.data.image = [model](const std::string& file) {
            return datasets::imageSample(file, model);
        };
    all.data.exampleSplit = sent.split;
    all.data.example = sent.example;
    return all;
}

/// A stored or random input gets the text of its tokens if the tokenizer is known.
ProbeSample RequestHandler::sampleOf(const wire::Input& input, Request& request) {
    if (input.sample || input.example) {
        auto sample = input.sample ? *input.sample : m_data.sample(*input.example, request);
        // Another model may read the data of this run, or the text of that model (the page Duel).
        auto read = core::inTokensOf(m_model->tokenizer().get(), sample);
        if (isText(*m_model) && (input.example || input.shortened || read != sample))
            core::shorten(read, core::longestProbe(m_model->options(), core::probeBudget()));
        return read;
    }
    const auto sample = input.reference >= 0 ? m_model->referenceInput(input.reference)
                                             : m_model->randomInput(input.seed);
    const auto tokenizer = m_model->tokenizer();
    return tokenizer ? core::tokenSample(tokenizer.get(), sample.source.tokens, sample.origin)
                     : sample;
}

Frame RequestHandler::opened(Request& request) {
    const auto& model = open(wire::valueOf<wire::Weights>(request.message(), "weights"), request);
    return answered(wire::OpenedWeights{model.options(), model.warning(), model.referenceInputs()});
}

// Maps
// -------------------------------------------------------------------------------------------------

void RequestHandler::probeBase(const wire::ProbeRequest& asked, const ProbeSample& sample,
                               const core::Interventions& interventions,
                               const core::ProbeWatch& watch) {
    if (!m_base || m_baseSample != sample || m_baseNames != asked.classNames) {
        m_edited.reset();
        // Edits of the training may take values from examples.
        m_base = std::make_shared<const ProbeResult>(
            m_model->probe(sample, asked.classNames, {{}, interventions.data}, watch));
        m_baseNumber = freshNumber();
        m_baseSample = sample;
        m_baseNames = asked.classNames;
    }
    // The hook points need another pass, which the maps do not wait for.
    if (!m_points) {
        m_points = m_model->points(sample);
        m_pointsNumber = freshNumber();
    }
}

Frame RequestHandler::probe(Request& request) {
    const auto asked = askedOf<wire::ProbeRequest>(request);
    auto& model = open(asked.weights, request);
    const auto sample = sampleOf(asked.input, request);
    auto changed = interventions(asked.interventions, model.options());
    Frame frame{Json::object(), {}};
    if (!asked.compare) {
        frame.message["result"] =
            wire::resultToJson(model.probe(sample, asked.classNames, changed), frame.blob);
        return frame;
    }
    const bool edited = changed.edits.anyEnabled();
    core::ProbeWatch watch;
    watch.shownLayer = asked.shownLayer;
    watch.progress = request.progress();
    watch.delay = kPartInterval;
    wire::SentMaps sent;
    if (!edited)  // maps without the edits are not requested
        watch.partial = [&](const ProbeResult& part) {
            wire::Bytes blob;
            Json json = wire::resultToJson(sent.unsent(part), blob);
            request.part(std::move(json), blob);
        };
    probeBase(asked, sample, changed, watch);
    std::string problem;
    if (edited) {
        if (changed.data.example < 0) core::findExample(changed.data, sample);
        watch.partial = {};
        try {
            m_edited = std::make_shared<const ProbeResult>(
                model.probe(sample, asked.classNames, changed, watch));
            m_editedBy = changed.edits;
            frame.message["result"] = wire::resultToJson(*m_edited, frame.blob);
        } catch (const OptionError& error) {
            m_edited.reset();
            problem = userMessage(error);
        }
    }
    if (wire::valueOf<std::uint64_t>(request.message(), "base") != m_baseNumber)
        frame.message["base"] = wire::resultToJson(sent.unsent(*m_base), frame.blob);
    if (wire::valueOf<std::uint64_t>(request.message(), "pointsKnown") != m_pointsNumber)
        frame.message["points"] = *m_points;
    frame.message["baseNumber"] = m_baseNumber;
    frame.message["pointsNumber"] = m_pointsNumber;
    frame.message["problem"] = problem;
    frame.message["means"] = edited && problem.empty() ? model.takenMeans() : TakenMeans();
    return frame;
}

Frame RequestHandler::effectsAlone(Request& request) {
    const auto asked = askedOf<wire::ProbeRequest>(request);
    auto& model = open(asked.weights, request);
    const auto sample = sampleOf(asked.input, request);
    auto alone = interventions(asked.interventions, model.options());
    core::ProbeWatch watch;  // ends within a layer once something newer is asked for
    watch.progress = request.progress();
    probeBase(asked, sample, alone, watch);
    const auto& edits = asked.interventions.edits.edits;
    std::vector<std::optional<wire::EffectAlone>> effects(edits.size());
    const auto& p = m_base->probabilities;
    if (p.empty()) return answered(effects);
    if (alone.data.example < 0) core::findExample(alone.data, sample);
    const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    wire::EffectAlone effect;
    effect.answer =
        best < m_base->classNames.size() ? m_base->classNames[best] : std::to_string(best);
    // For a vocabulary a result has only the likeliest tokens, whose order changes with each
    // result.
    effect.token = m_base->sample.source.text && m_base->sample.target.size() == 0;
    effect.before = static_cast<double>(p[best]);
    const bool single =
        std::count_if(edits.begin(), edits.end(), [](const Edit& e) { return e.enabled; }) == 1;
    for (std::size_t k = 0; k < edits.size(); ++k) {
        if (!edits[k].enabled) continue;
        if (!request.progress(0.0)) throw Cancelled();
        alone.edits.edits = {edits[k]};
        try {
            // The effect of a single edit is shown already.
            const bool known = single && m_edited && m_editedBy == asked.interventions.edits;
            const auto result =
                known ? *m_edited : model.probe(sample, asked.classNames, alone, watch);
            effect.after = probabilityOf(effect.answer, best, result, effect.token);
            effect.least = result.probabilities.empty()
                               ? 0.0
                               : static_cast<double>(result.probabilities.back());
            effects[k] = effect;
        } catch (const OptionError&) {
            // The edit does not fit: the problem of the whole list says so.
        }
    }
    return answered(effects);
}

Frame RequestHandler::generate(Request& request) {
    const auto asked = askedOf<wire::GenerateRequest>(request);
    auto& model = open(asked.weights, request);
    const auto tokenizer = model.tokenizer();
    std::vector<std::int64_t> ids;
    std::vector<std::string> pieces;
    if (tokenizer) {
        for (const auto id : tokenizer->encodeTyped(asked.prompt)) {
            ids.push_back(id);
            pieces.emplace_back(tokenizer->piece(id));
        }
    } else {
        // Token ids of a public family, or refused.
        ids = model.textInput(asked.prompt).source.tokens;
        for (const auto id : ids) pieces.push_back("[" + std::to_string(id) + "]");
    }
    request.part({{"pieces", pieces}, {"ids", ids}});
    const core::Interventions changed{asked.edits, {}};

    // Tokens go in batches: a fast model writes thousands in a second.
    std::vector<GeneratedToken> batch;
    auto sent = Clock::now();
    const auto send = [&](const char* key) {
        if (!batch.empty()) request.part({{key, std::exchange(batch, {})}});
        sent = Clock::now();
    };
    const auto take = [&](const char* key, const GeneratedToken& token) {
        batch.push_back(token);
        if (Clock::now() - sent >= std::chrono::milliseconds(20)) send(key);
        return !request.stop().stop_requested();
    };
    if (asked.edits.anyEnabled()) {
        // Edits that do not fit are refused now, not after a whole text.
        model.generate(
            asked.prompt, asked.options, [](const auto&) { return false; }, changed);
        model.generate(asked.prompt, asked.options,
                       [&](const GeneratedToken& token) { return take("plain", token); });
        send("plain");
        if (request.stop().stop_requested()) throw Cancelled();
    }
    const auto longest =
        static_cast<std::size_t>(core::longestProbe(model.options(), kFollowedMaps));
    auto last = Clock::now() - std::chrono::hours(1);
    std::chrono::nanoseconds pause{};
    const auto end = model.generate(
        asked.prompt, asked.options,
        [&](const GeneratedToken& token) {
            ids.push_back(token.chosen.id);
            const bool wanted = take("tokens", token);
            // Generation has priority: slow inspections are done less often.
            if (wanted && request.follows && Clock::now() - last >= pause) {
                const auto begin = Clock::now();
                const std::size_t first = ids.size() > longest ? ids.size() - longest : 0;
                const auto window = core::tokenSample(
                    tokenizer.get(), {ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end()},
                    "generated text");
                wire::Bytes blob;
                Json result = wire::resultToJson(model.probe(window, {}, changed), blob);
                send("tokens");  // the text is sent before its maps
                request.part({{"result", std::move(result)}, {"first", first}}, blob);
                last = Clock::now();
                pause = std::max<std::chrono::nanoseconds>(kFollowInterval, 4 * (last - begin));
            }
            return wanted;
        },
        changed);
    send("tokens");
    return answered(end);
}

// Measuring
// -------------------------------------------------------------------------------------------------

Frame RequestHandler::ask(Request& request, bool cost) {
    using Input = core::AnalysisInput;
    const auto asked = askedOf<wire::Question>(request);
    const auto* analysis = core::findAnalysis(asked.analysis);
    if (!analysis) throw wire::FrameError("there is no analysis '" + asked.analysis + "'");
    const bool two = analysis->twoModels || analysis->input == Input::Pair;
    if (asked.subjects.size() != (two ? 2U : 1U))
        throw wire::FrameError("'" + asked.analysis + "' is asked of " +
                               std::to_string(asked.subjects.size()) + " subjects");
    const auto values = core::optionsFromJson(*analysis, nlohmann::ordered_json(asked.options));
    const auto& first = asked.subjects.front();
    const auto frameOf = [](const Answer& result) {
        Frame frame;
        frame.message = wire::answerToJson(result, frame.blob);
        return frame;
    };
    if (analysis->input == Input::Reference)  // it opens the model itself
        return frameOf(core::answerOf(
            core::verifyFolder(first.weights.path, "cpu", "", datasets::readImageFile)));
    core::AnalysisSubject subject;
    // Kept steps are opened by the analysis: the weights here are of one step, and stay.
    const bool steps = analysis->input == Input::KeptSteps;
    const auto& path = first.weights.path;
    subject.captured = core::capturesOf(*analysis, path, first.weights.checkpoint);
    if (!steps && !subject.captured) subject.model = &open(first.weights, request);
    subject.path = path;
    subject.run = core::isRunFolder(path) ? path : core::runOfWeights(path);
    subject.device = first.weights.device;
    subject.classNames = asked.classNames;
    ModelOptions options;
    if (subject.captured)
        subject.data = subject.captured->data();
    else if (!steps)
        options = subject.model->options();
    else if (!subject.run.empty())
        options = core::readRunOptions(subject.run).model;
    subject.interventions = interventions(first.interventions, options);
    subject.cell = asked.cell;
    subject.kept = &m_ablation;
    const bool ownText =
        analysis->input == Input::OwnPrompts ||
        (analysis->input == Input::OwnText && subject.model && isText(*subject.model));
    if (subject.captured)
        ;  // the captured inputs are its data
    else if (analysis->input == Input::Data && (asked.data || !analysis->dataOptional))
        subject.data = dataOf(asked.data, *subject.model, path, request),
        subject.where = !asked.data                ? std::string()
                        : asked.data->file.empty() ? core::optionText("--split", asked.data->split)
                                                   : core::optionText("--data", asked.data->file);
    else if (analysis->input == Input::Sentences)
        subject.data = sentencesOf(asked.data, request);
    else if (!ownText && first.input)
        subject.sample = steps ? first.input->sample : sampleOf(*first.input, request);
    if (analysis->input == Input::Pair && asked.subjects[1].input)
        subject.second = sampleOf(*asked.subjects[1].input, request);
    std::unique_ptr<core::OpenedModel> otherModel;  // only while it is compared
    if (analysis->twoModels && !cost) {
        const auto& second = asked.subjects[1];
        auto other = std::make_shared<core::AnalysisSubject>();
        otherModel = std::make_unique<core::OpenedModel>(
            second.weights.path, second.weights.checkpoint, second.weights.device, request.stop(),
            request.progress());
        other->model = otherModel.get();
        other->path = second.weights.path;
        other->interventions = interventions(second.interventions, otherModel->options());
        subject.other = std::move(other);
    }
    request.progress(0.0);
    if (asked.keptOnly && !cost) {
        const auto kept = keptResult(*analysis, subject, values);
        return kept ? frameOf(*kept) : answered(Json::object());
    }
    if (cost) return answered(core::runnerOf(*analysis).cost(subject, request.stop()));
    core::AnalysisWatch watch{request.stop(), request.progress(), {}, {}};
    if (request.message().contains("known"))
        watch.known = wire::answerFromJson(request.message()["known"], request.blob());
    auto sent = Clock::now() - kPartInterval;
    watch.partial = [&](const Answer& result) {
        if (Clock::now() - sent < kPartInterval) return;
        auto part = frameOf(result);
        request.part(std::move(part.message), part.blob);
        sent = Clock::now();
    };
    return frameOf(measured(*analysis, subject, values, watch));
}

}  // namespace relascope::serve

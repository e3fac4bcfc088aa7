// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/request_handler.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <utility>

#include "analysis/run_analysis.h"
#include "analysis/verify/verify.h"
#include "answers/evaluation_answer.h"
#include "app/serve/files.h"
#include "app/serve/kept_results.h"
#include "data/text_tokens.h"
#include "datasets/readers/image_folder.h"
#include "datasets/registry.h"
#include "interventions/relation_file.h"
#include "model/public/public_options.h"
#include "probe/probe_memory.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "run/run_folder.h"
#include "train/branch.h"
#include "train/out_of_memory.h"
#include "wire/answer_frame.h"
#include "wire/figures.h"
#include "wire/served_link.h"

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

wire::Asked askedOf(const Request& request) {
    return wire::valueOf<wire::Asked>(request.message(), "asked");
}

bool isNumber(const std::string& word) {
    return !word.empty() && word.size() < 19 &&
           word.find_first_not_of("0123456789") == std::string::npos;
}

Frame answered(Json message) {
    return {std::move(message), {}};
}

// A number that no other session has given.
std::uint64_t freshNumber() {
    static std::atomic<std::uint64_t> number = [] {
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
    m_data.follow(request.stop(), request.progress());
    const wire::ServedWaitScope wait(request.wait());
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
    m_kept.clear();
    m_base.reset();
    m_edited.reset();
    m_model.reset();
    m_opened = {};
    m_tokenizer.clear();
    m_rounded = false;
}

core::OpenedModel& RequestHandler::open(const wire::Asked& asked, Request& request) {
    Model wanted = asked.subjects.front();
    if (wanted.device.empty()) wanted.device = "auto";
    // A map is of the step, or of the kept one nearest to it.
    if (asked.command == core::kInspectView && isNumber(wanted.checkpoint))
        wanted.checkpoint = core::stepToOpen(wanted.path, std::stoll(wanted.checkpoint)).checkpoint;
    if (core::namesNone(wanted.edits))
        wanted.edits = {"none"};
    else
        wanted.edits.clear();
    wanted.head.clear();  // is given to the opened weights
    const auto tokenizer = asked.text("tokenizer");
    const bool rounds = asked.value("bf16", false);
    const bool same = m_model && m_opened == wanted && m_rounded <= rounds &&
                      (m_tokenizer.empty() || !tokenizer.empty()) && m_model->filesUnchanged();
    if (!same) {
        forget();  // two models may not fit into the memory
        const auto opened = [&](const std::string& device) {
            return std::make_unique<core::OpenedModel>(wanted.path, wanted.checkpoint, device,
                                                       request.stop(), request.progress(),
                                                       wanted.imageSize);
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
        if (!wanted.edits.empty()) model->leaveOutTrainingEdits();
        m_model = std::move(model);
        m_opened = wanted;
        if (!(m_pointsOf == m_model->options())) m_points.reset();
        m_pointsOf = m_model->options();
    }
    if (tokenizer != m_tokenizer) {
        m_model->setTokenizer(tokenizer);
        m_tokenizer = tokenizer;
        m_base.reset();
    }
    if (rounds && !m_rounded) {
        m_model->narrow();
        m_rounded = true;
        m_base.reset();
    }
    request.progress(0.0);
    return *m_model;
}

SampleInput RequestHandler::inputOf(const wire::Asked& asked) {
    // Each edit of an example of a folder would read all of its pictures again.
    Question read{{}, {asked.subjects.front()}, core::inputOf(asked).options};
    read.subjects.front().edits.clear();
    const bool ofFile = asked.option("data") && !asked.sample;
    // A head is given with its pictures.
    const bool keeps = ofFile && !core::takesHead(m_model->options());
    if (keeps && m_exampleOf == read) return m_example;
    auto input = readSample(*m_model, asked, m_data);
    const bool example = !asked.sample && !core::hasOwnInput(asked);
    if (isText(*m_model) && (example || ofFile || asked.shortened))
        core::shorten(input.sample, core::longestProbe(m_model->options(), core::probeBudget()));
    if (keeps) m_exampleOf = std::move(read), m_example = input;
    return input;
}

Frame RequestHandler::opened(Request& request) {
    const auto asked = askedOf(request);
    auto& model = open(asked, request);
    if (!asked.subjects.front().head.empty()) giveHead(model, asked, m_data);
    return answered(wire::OpenedWeights{model.options(), model.warning(), model.referenceInputs()});
}

// Maps
// -------------------------------------------------------------------------------------------------

void RequestHandler::probeBase(const SampleInput& input, const core::Interventions& interventions,
                               const core::ProbeWatch& watch) {
    const auto relations = core::relationStates(interventions.edits);
    if (!m_base || m_baseSample != input.sample || m_baseNames != input.classNames ||
        m_baseHead != m_model->headKey() || m_baseRelations != relations) {
        m_edited.reset();
        // Edits of the training may take values from examples.
        m_base = std::make_shared<const ProbeResult>(
            m_model->probe(input.sample, input.classNames,
                           {interventions.edits.switchedOff(), interventions.data}, watch));
        m_baseNumber = freshNumber();
        m_baseSample = input.sample;
        m_baseNames = input.classNames;
        m_baseHead = m_model->headKey();
        m_baseRelations = relations;
    }
    // The hook points need another pass, which the maps do not wait for.
    if (!m_points) {
        m_points = m_model->points(input.sample);
        m_pointsNumber = freshNumber();
    }
}

Frame RequestHandler::probe(Request& request) {
    const auto asked = askedOf(request);
    auto& model = open(asked, request);
    const auto input = inputOf(asked);
    const auto& [sample, classNames] = input;
    auto changed = interventionsOf(asked, 0, model, sample, m_data);
    Frame frame{Json::object(), {}};
    if (!wire::valueOf<bool>(request.message(), "compare")) {
        frame.message["result"] =
            wire::resultToJson(model.probe(sample, classNames, changed), frame.blob);
        return frame;
    }
    const bool edited = changed.edits.anyEnabled();
    core::ProbeWatch watch;
    watch.shownLayer = wire::valueOf<int>(request.message(), "shownLayer");
    watch.progress = request.progress();
    watch.delay = kPartInterval;
    wire::SentMaps sent;
    if (!edited)  // maps without the edits are not requested
        watch.partial = [&](const ProbeResult& part) {
            wire::Bytes blob;
            Json json = wire::resultToJson(sent.unsent(part), blob);
            request.part(std::move(json), blob);
        };
    probeBase(input, changed, watch);
    std::string problem;
    if (edited) {
        watch.partial = {};
        try {
            m_edited = std::make_shared<const ProbeResult>(
                model.probe(sample, classNames, changed, watch));
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
    const auto asked = askedOf(request);
    auto& model = open(asked, request);
    const auto input = inputOf(asked);
    const auto& [sample, classNames] = input;
    const auto all = interventionsOf(asked, 0, model, sample, m_data);
    core::ProbeWatch watch;  // ends within a layer once something newer is asked for
    watch.progress = request.progress();
    probeBase(input, all, watch);
    const auto& edits = all.edits.edits;
    std::vector<std::optional<wire::EffectAlone>> effects(edits.size());
    const auto& p = m_base->probabilities;
    if (p.empty()) return answered(effects);
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
        auto alone = all;
        alone.edits.edits = {edits[k]};
        try {
            // The effect of a single edit is shown already.
            const bool known = single && m_edited && m_editedBy == all.edits;
            const auto result = known ? *m_edited : model.probe(sample, classNames, alone, watch);
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
    const auto asked = askedOf(request);
    auto& model = open(asked, request);
    const auto prompt = asked.text("prompt");
    const auto options = generateOptionsOf(asked);
    const auto tokenizer = model.tokenizer();
    std::vector<std::int64_t> ids;
    std::vector<std::string> pieces;
    if (tokenizer) {
        for (const auto id : tokenizer->encodeTyped(prompt)) {
            ids.push_back(id);
            pieces.emplace_back(tokenizer->piece(id));
        }
    } else {
        // Token ids of a public family, or refused.
        ids = model.textInput(prompt).source.tokens;
        for (const auto id : ids) pieces.push_back("[" + std::to_string(id) + "]");
    }
    request.part({{"pieces", pieces}, {"ids", ids}});
    const auto changed = generateEdits(asked, model, prompt, m_data);

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
    if (changed.edits.anyEnabled()) {
        // Edits that do not fit are refused now, not after a whole text.
        model.generate(
            prompt, options, [](const auto&) { return false; }, changed);
        model.generate(prompt, options,
                       [&](const GeneratedToken& token) { return take("plain", token); });
        send("plain");
        if (request.stop().stop_requested()) throw Cancelled();
    }
    const auto longest =
        static_cast<std::size_t>(core::longestProbe(model.options(), kFollowedMaps));
    auto last = Clock::now() - std::chrono::hours(1);
    std::chrono::nanoseconds pause{};
    const auto end = model.generate(
        prompt, options,
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
    const auto asked = askedOf(request);
    const auto frameOf = [](const Answer& result) {
        Frame frame;
        frame.message = wire::answerToJson(result, frame.blob);
        return frame;
    };
    const auto& first = asked.subjects.front();
    if (asked.command == "verify")  // it opens the model itself
        return frameOf(
            core::answerOf(core::verifyFolder(first.path, "cpu", "", datasets::readImageFile)));
    core::checkTogether(asked);
    const bool evaluates = asked.command == "eval";
    const bool changed = !first.edits.empty() || !asked.edits.empty();
    const auto* analysis = evaluates ? core::findAnalysis(changed ? "effect" : "evaluate")
                                     : core::analysisOfCommand(asked.command);
    if (!analysis) throw wire::FrameError("'" + asked.command + "' is no analysis");
    const auto values = core::valuesOf(*analysis, asked);
    auto input = capturedSubject(*analysis, asked);
    if (!input) {
        // Kept steps are opened by the analysis: the weights here are of one step, and stay.
        const bool steps =
            analysis->input == Input::KeptSteps && asked.sample && !asked.edits.empty();
        auto* model = steps ? nullptr : &open(asked, request);
        if (evaluates) {
            input.emplace();
            input->subject.model = model;
            input->subject.path = first.path;
            input->subject.data = evaluationData(asked, *model, m_data).data;
            input->points = input->subject.data->sample(0);
            input->subject.interventions = interventionsOf(asked, 0, *model, input->points, m_data);
            input->subject.interventions.data.example = -1;
        } else {
            input = subjectOf(*analysis, asked, values, model, m_data);
        }
    }
    auto& subject = input->subject;
    if (m_model && m_keptHead != m_model->headKey())
        m_kept.clear(), m_keptHead = m_model->headKey();
    subject.kept = &m_kept;
    if (analysis->twoModels && !cost) {
        if (asked.subjects.size() != 2)
            throw wire::FrameError("'" + asked.command + "' is asked of one model");
        subject.other = otherSubject(asked, *input, m_data);
    }
    request.progress(0.0);
    if (request.message().contains("kept")) {
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

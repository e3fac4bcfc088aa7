// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>
#include <vector>

#include "data/continue_text.h"
#include "interventions/active_edits.h"
#include "interventions/edit_json.h"
#include "interventions/edited_run.h"
#include "interventions/fitted_maps.h"
#include "model/model.h"
#include "probe/probe.h"
#include "train/option_changes.h"
#include "train/out_of_memory.h"
#include "train/training_edits.h"
#include "train/training_requests.h"

namespace relascope::core {
namespace {

// A value of an option as JSON for the other ranks: the number of its type, and the value.
nlohmann::ordered_json jsonOf(const FieldValue& value) {
    return std::visit(
        [&](const auto& known) {
            return nlohmann::ordered_json({{"type", value.index()}, {"value", known}});
        },
        value);
}

template <std::size_t I = 0>
FieldValue valueOf(const nlohmann::ordered_json& json) {
    if constexpr (I < std::variant_size_v<FieldValue>) {
        if (json.at("type") != I) return valueOf<I + 1>(json);
        return json.at("value").get<std::variant_alternative_t<I, FieldValue>>();
    }
    throw Error("rank 0 sent a value of an unknown type");
}

}  // namespace

TrainingRequests::TrainingRequests(TrainJob& job, Control& control,
                                   std::function<void()> afterEdits)
    : m_job(job),
      m_control(control),
      m_afterEdits(std::move(afterEdits)),
      m_lastProgress(Clock::now()) {
    restartRate();
}

void TrainingRequests::answerRequests() {
    for (const auto& [key, value] : m_control.takeEdits()) {
        send({{"do", "option"}, {"key", key}, {"value", jsonOf(value)}});
        changeOption(m_job, key, value);
    }
    if (auto edits = m_control.takeTrainingEdits()) {
        send({{"do", "edits"}, {"edits", editsToJson(*edits)}});
        useEdits(std::move(*edits));
    }
    while (auto probe = m_control.takeProbe()) answerProbe(*probe);
}

void TrainingRequests::useEdits(EditList edits) {
    if (takeTrainingEdits(m_job, std::move(edits))) m_afterEdits();
}

bool TrainingRequests::isWanted() const {
    return m_job.ranks ? m_job.directives.serve : isWantedHere();
}

bool TrainingRequests::isWantedHere() const {
    return m_job.stop.stop_requested() || m_control.hasRequests();
}

void TrainingRequests::serve() {
    if (!m_job.leads()) return follow();
    try {
        if (m_job.stop.stop_requested()) throw Cancelled();
        answerRequests();
        if (m_control.paused() && !m_control.takeStep()) waitWhilePaused();
    } catch (const Cancelled&) {
        send({{"do", "cancel"}});
        throw;
    }
    send({{"do", "train"}});
}

void TrainingRequests::send(const Json& what) {
    if (m_job.ranks) m_job.ranks->broadcast(what.dump());
}

void TrainingRequests::follow() {
    for (;;) {
        const auto said = Json::parse(m_job.ranks->broadcast(""));
        const auto what = said.at("do").get<std::string>();
        if (what == "train") return;
        if (what == "cancel") throw Cancelled();
        if (what == "option") changeOption(m_job, said.at("key"), valueOf(said.at("value")));
        if (what == "edits") useEdits(editsFromJson(said.at("edits"), "the edits of rank 0"));
    }
}

void TrainingRequests::waitWhilePaused() {
    m_job.state.seconds = m_job.elapsed();
    progress(true);
    m_job.retryUntilDiskHasRoom([&] { m_job.folder.flush(); });
    m_job.report(RunState::Paused);
    auto told = Clock::now();
    while (m_control.paused()) {
        if (secondsSince(told) > 1.0) {  // so that the other ranks do not think it is lost
            send({{"do", "wait"}});
            told = Clock::now();
        }
        if (m_job.stop.stop_requested()) {
            m_job.resumed = Clock::now();
            throw Cancelled();
        }
        answerRequests();
        m_job.flushIfDue();
        if (m_control.takeStep()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    m_job.resumed = Clock::now();
    restartRate();
    if (!m_control.paused()) m_job.report(RunState::Running);
}

void TrainingRequests::probe(const LiveProbe& request, ProbeAnswer& answer) {
    auto& model = *m_job.model;
    const auto& options = m_job.options.model;
    const auto maps = [&] {
        auto result = withFittedMaps(request.edits, options, [&] {
            return probeModel(model, options, request.sample, m_job.state.step,
                              m_job.data.validation->info().classNames);
        });
        if (m_job.data.tokenizer) namePieces(result, *m_job.data.tokenizer);
        return result;
    };
    if (request.points) {
        const EvaluationMode evaluation(model);
        answer.points = pointsOf(model, inputOf(request.sample, options).to(model.device()));
    }
    auto* own = m_job.edits.get();
    const HookScope ownScope(own ? &own->editor() : nullptr);
    if (!request.edits.anyEnabled()) {
        if (own) own->prepareSample(request.sample);
        answer.result = maps();
        return;
    }
    ActiveEdits session(model, options, request.edits, editDataOf(m_job.data, options));
    if (own) own->forgetValues();  // values of this sample are wrong for reference passes
    session.prepareSample(request.sample);
    answer.means = session.means();
    if (own) own->prepareSample(request.sample);
    answer.base = std::make_shared<const ProbeResult>(maps());
    const InterventionScope scope(&session.editor());
    answer.result = maps();
}

void TrainingRequests::answerProbe(const LiveProbe& request) {
    ProbeAnswer answer{request.number, {}, {}, ""};
    const auto began = Clock::now();
    bool missing = false;
    try {
        probe(request, answer);
    } catch (const std::exception& error) {
        missing = isOutOfMemory(error);
        answer.error = messageOn(m_job.device.str(), error);
    }
    if (missing) {
        releaseDeviceMemory();
        answer.error +=
            " for the maps of this input beside the training; look at a shorter input, or after "
            "the run";
    }
    answer.seconds = secondsSince(began);
    m_job.sink(std::move(answer));
}

void TrainingRequests::restartRate() {
    m_rateStart = Clock::now();
    m_rateExamples = m_job.state.examples;
    m_rate = 0.0;  // the rate before a pause says nothing about the remaining time
    m_rates.clear();
}

void TrainingRequests::progress(bool force) {
    const double since = secondsSince(m_lastProgress);
    if (!force && since < 0.04) return;
    m_lastProgress = Clock::now();
    m_job.folder.flushEvery(std::chrono::milliseconds(m_control.isWatched() ? 90 : 900));
    m_job.flushIfDue();
    if (const double window = secondsSince(m_rateStart); window > 0.5) {
        const double rate = static_cast<double>(m_job.state.examples - m_rateExamples) / window;
        if (m_rates.empty()) m_rate = rate;
        if (window > 1.0) {
            m_rateStart = Clock::now(), m_rateExamples = m_job.state.examples;
            // The median over the last minute: neither a busy second nor an evaluation makes the
            // remaining time jump.
            m_rates.push_back(rate);
            if (m_rates.size() > 60) m_rates.pop_front();
            std::vector<double> sorted(m_rates.begin(), m_rates.end());
            const auto middle = sorted.begin() + std::ssize(sorted) / 2;
            std::nth_element(sorted.begin(), middle, sorted.end());
            m_rate = *middle;
        }
    }
    const auto& options = m_job.options;
    const double left = static_cast<double>(m_job.totalSteps - m_job.state.step) *
                        static_cast<double>(options.train.batch_size * m_job.batchesPerStep());
    m_job.sink(Progress{m_job.state.step, m_job.totalSteps, m_job.epochNow(), m_job.totalEpochs(),
                        m_rate,
                        m_rate > 0 ? left / m_rate : std::numeric_limits<double>::quiet_NaN(),
                        m_job.isText() ? m_rate * static_cast<double>(options.data.context) : 0.0});
}

void TrainingRequests::finish(RunState state, const std::string& message) {
    m_job.addElapsed();
    progress(true);
    m_job.reportEnd(state, message);
}

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
// Serves requests between two steps and reports progress.
#include "options/field_text.h"
#include "probe/probe.h"
#include "train/continue_text.h"
#include "train/trainer.h"

namespace relascope::core {

void Trainer::serve() {
    if (m_stop.stop_requested()) throw Cancelled();
    applyEdits();
    answerProbe();
    if (m_control.paused() && !m_control.takeStep()) waitWhilePaused();
}

void Trainer::waitWhilePaused() {
    m_state.seconds = elapsed();
    progress(true);
    whileDiskFull([&] { m_folder.flush(); });
    report(RunState::Paused);
    while (m_control.paused()) {
        if (m_stop.stop_requested()) {
            m_resumed = Clock::now();
            throw Cancelled();
        }
        applyEdits();
        answerProbe();
        if (m_control.takeStep()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    m_resumed = m_rateStart = Clock::now();
    m_rateExamples = m_state.examples;
    m_rate = 0.0;  // the speed before the pause is useless for estimating the remaining time
    if (!m_control.paused()) report(RunState::Running);
}

void Trainer::applyEdits() {
    for (const auto& [key, value] : m_control.takeEdits()) {
        try {
            const auto& field = RunOptions::field(key);
            if (!field.spec.live) throw OptionError(key, "cannot be changed during training");
            checkFieldValue(key, field.spec, value);
            const FieldValue before = field.get(m_options);
            if (before == value) continue;
            keepBefore(m_options);
            field.set(m_options, value);
            m_state.baseRate = m_options.train.learning_rate;
            m_state.evaluateEvery = m_options.train.evaluate_every;
            m_state.captureEvery = m_options.train.capture_every;
            m_folder.setOptions(m_options);
            m_folder.info().options = optionTexts(m_options);
            whileDiskFull([&] { m_folder.saveInfo(); });
            noteEdit(field, before);
        } catch (const OptionError& error) {
            note(Note::Level::Warning, error.what());
        }
    }
}

void Trainer::keepBefore(const RunOptions& options) {
    if (hasKeptCheckpoint(m_folder.path(), m_state.step)) return;  // an earlier edit at this step
    checkpoint();
    whileDiskFull([&] {
        keepCheckpoint(m_folder.checkpointsPath() + "/step-" + std::to_string(m_state.step),
                       options);
    });
}

void Trainer::takeLiveOptions() {
    RunOptions before = m_options;
    before.train.learning_rate = m_state.baseRate;
    before.train.evaluate_every = m_state.evaluateEvery;
    before.train.capture_every = m_state.captureEvery;
    m_state.baseRate = m_options.train.learning_rate;
    m_state.evaluateEvery = m_options.train.evaluate_every;
    m_state.captureEvery = m_options.train.capture_every;
    // A checkpoint that is kept already has the mark of its edit.
    if (before == m_options || hasKeptCheckpoint(m_folder.path(), m_state.step)) return;
    whileDiskFull([&] {
        keepCheckpoint(m_folder.checkpointsPath() + "/step-" + std::to_string(m_state.step),
                       before);
    });
    for (const auto& field : RunOptions::fieldTable())
        if (const auto was = field.get(before); was != field.get(m_options)) noteEdit(field, was);
}

void Trainer::noteEdit(const Field<RunOptions>& field, const FieldValue& before) {
    note(Note::Level::Edit, field.spec.label + " " + fieldValueText(before) + " → " +
                                fieldValueText(field.get(m_options)));
}

void Trainer::answerProbe() {
    const auto request = m_control.takeProbe();
    if (!request) return;
    ProbeAnswer answer{request->first, {}, ""};
    try {
        answer.result = probeModel(*m_model, m_options.model, request->second, m_state.step,
                                   m_data.validation->info().classNames);
        if (m_data.tokenizer) namePieces(answer.result, *m_data.tokenizer);
    } catch (const std::exception& error) {
        answer.error = userMessage(error);
    }
    m_sink(std::move(answer));
}

void Trainer::report(RunState state, const std::string& message) {
    auto& info = m_folder.info();
    info.state = state;
    info.message = message;
    info.step = m_state.step, info.epoch = epochNow();
    info.seconds = state == RunState::Running ? elapsed() : m_state.seconds;
    whileDiskFull([&] { m_folder.saveInfo(); });
    m_sink(RunChanged{info});
}

void Trainer::progress(bool force) {
    const double since = secondsSince(m_lastProgress);
    if (!force && since < 0.04) return;
    m_lastProgress = Clock::now();
    if (const double window = secondsSince(m_rateStart); window > 0.5) {
        m_rate = static_cast<double>(m_state.examples - m_rateExamples) / window;
        if (window > 5.0) m_rateStart = Clock::now(), m_rateExamples = m_state.examples;
    }
    const double left = static_cast<double>(m_totalSteps - m_state.step) *
                        static_cast<double>(m_options.train.batch_size * batchesPerStep());
    m_sink(Progress{m_state.step, m_totalSteps, epochNow(),
                    static_cast<double>(m_totalSteps) / static_cast<double>(epochSteps()), m_rate,
                    m_rate > 0 ? left / m_rate : std::numeric_limits<double>::quiet_NaN(),
                    text() ? m_rate * static_cast<double>(m_options.data.context) : 0.0});
}

void Trainer::note(Note::Level level, const std::string& text) {
    Note n{level, m_state.step, text};
    whileDiskFull([&] { m_folder.append(n); });
    m_sink(std::move(n));
}

void Trainer::finish(RunState state, const std::string& message) {
    m_state.seconds = elapsed();
    m_resumed = Clock::now();
    progress(true);
    report(state, message);
    whileDiskFull([&] { m_folder.flush(); });
}

}  // namespace relascope::core

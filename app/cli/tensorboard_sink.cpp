// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tensorboard_sink.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "files/atomic_file.h"
#include "run/run_export.h"
#include "run/run_lines.h"

namespace relascope::cli {
namespace {

double secondsNow() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

}  // namespace

TensorBoardSink::TensorBoardSink(const std::string& folder, const std::string& run,
                                 std::function<void(const std::string&)> warn)
    : m_warn(std::move(warn)), m_flushed(std::chrono::steady_clock::now()) {
    const auto out = (std::filesystem::path(folder) / core::tensorBoardName(run)).string();
    core::makeDirectories(out);
    core::requireWritable(out);
    m_path = out + "/events.out.tfevents." +
             std::to_string(static_cast<std::int64_t>(secondsNow())) + "." +
             std::to_string(getpid()) + ".relascope";
}

TensorBoardSink::~TensorBoardSink() {
    flush();
}

void TensorBoardSink::begin(const RunInfo& info, double now) {
    m_began = true;
    for (const auto& [key, value] : info.options)
        m_pretrains = m_pretrains || (key == "train.pretrain" && !value.empty());
    m_records += core::eventFileBegin(now) + core::optionsRecord(info, now);
}

void TensorBoardSink::repeatAfter(std::int64_t step, double now) {
    m_records += core::restartRecord(step + 1, now);
    m_step = step;
}

void TensorBoardSink::take(const TrainEvent& event) {
    if (m_failed) return;
    const double now = secondsNow();
    if (const auto* changed = std::get_if<RunChanged>(&event)) {
        const auto& info = changed->info;
        const bool first = !m_began;
        if (first) begin(info, now);
        if (info.state == RunState::Running && info.step > 0 && (first || info.step < m_step))
            repeatAfter(info.step, now);
        if (info.state == RunState::Done) m_records += core::resultsRecord(info, now);
        flush();
    } else if (!m_began) {
        return;
    } else if (const auto* point = std::get_if<MetricPoint>(&event)) {
        m_pretrains = false;
        m_step = std::max(m_step, point->step);
        m_records += core::pointRecord(*point, now);
    } else if (const auto* note = std::get_if<Note>(&event)) {
        // Notes before the first point may come from the pretraining stage, which counts its own
        // steps.
        if (!m_pretrains) m_records += core::noteRecord(*note, now);
    }
    if (std::chrono::steady_clock::now() - m_flushed > std::chrono::seconds(1)) flush();
}

void TensorBoardSink::flush() {
    m_flushed = std::chrono::steady_clock::now();
    if (m_failed) return;
    try {
        core::appendLines(m_path, m_records);
    } catch (const Error& error) {
        m_failed = true;
        m_warn(std::string(error.what()) + "; TensorBoard does not follow this run any more");
    }
}

}  // namespace relascope::cli

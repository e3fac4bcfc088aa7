// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/recording.h"

namespace relascope::core {
namespace {
thread_local Recorder* t_recorder = nullptr;
}

Recorder* activeRecorder() {
    return t_recorder;
}

bool recordsMaps() {
    return t_recorder && !t_recorder->takesFactors();
}
Recorder* factorRecorder() {
    return t_recorder && t_recorder->takesFactors() ? t_recorder : nullptr;
}

RecordingScope::RecordingScope(Recorder* recorder) : m_previous(t_recorder) {
    t_recorder = recorder;
}
RecordingScope::~RecordingScope() {
    t_recorder = m_previous;
}

}  // namespace relascope::core

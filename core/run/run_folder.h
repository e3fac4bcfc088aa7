// SPDX-License-Identifier: GPL-3.0-or-later
// The run folder (formats.md section 9): written so that killing the process at any moment leaves a
// valid run.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/file_lock.h"
#include "types/metric.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::core {

// Checkpoints that are kept permanently: a branch of the run can start from each.

/// The file that marks a checkpoint as kept: the options of its step.
inline std::string keptMark(const std::string& checkpoint) {
    return checkpoint + "/options.json";
}
inline bool isKeptCheckpoint(const std::string& checkpoint) {
    std::error_code ignored;
    return std::filesystem::exists(keptMark(checkpoint), ignored) &&
           std::filesystem::exists(checkpoint + "/manifest.json", ignored);
}
/// Whether the run has a checkpoint of that step that is kept.
inline bool hasKeptCheckpoint(const std::string& run, std::int64_t step) {
    return isKeptCheckpoint(run + "/checkpoints/step-" + std::to_string(step));
}

// Facts in run.json about how a run was made, read without opening the run.

/// The facts of run.json, in their order: "version", "torch", "threads" ... Throws FileError.
std::vector<std::pair<std::string, std::string>> readRunFacts(const std::string& path);

/// The processes of a run of several, as far as its facts tell: "2 ranks: cuda:0, cuda:1 on node7,
/// node8"; empty for one process.
std::string processesText(const std::vector<std::pair<std::string, std::string>>& facts);

/// A run on disk that this process has claimed for training. To read a run, use the free functions
/// below.
class RunFolder {
public:
    /// Creates a new run and claims it. The folder must be absent or empty. Throws FileError if it
    /// is not empty or cannot be written; files that were made are removed then.
    static RunFolder create(const std::string& path, const RunOptions& options);
    /// Opens an existing run to resume it. Throws FileError if it is not a run, damaged, or claimed
    /// by another process.
    static RunFolder open(const std::string& path);
    /// A run that another process writes: nothing is read from the disk, or written. Its path is
    /// empty.
    static RunFolder ofOtherProcess(const RunOptions& options, std::int64_t seed);
    RunFolder(RunFolder&&) = default;
    ~RunFolder();

    const std::string& path() const { return m_path; }
    const RunOptions& options() const { return m_options; }
    RunInfo& info() { return m_info; }
    std::string checkpointsPath() const { return m_path + "/checkpoints"; }
    std::string capturesPath() const { return m_path + "/captures"; }

    /// Changes the options on resume (for example more epochs) and run.json with them.
    void setOptions(const RunOptions& options) { m_options = options; }
    /// Sets an extra fact for run.json: versions, device, threads.
    void setFact(const std::string& key, const std::string& value);
    /// The fact with that key; empty if the run has none.
    std::string fact(const std::string& key) const;
    /// Rewrites run.json atomically.
    void saveInfo();
    /// saveInfo() where a failure changes nothing any more.
    void trySaveInfo() noexcept;
    /// Removes the files of a run that could not start, and the folder if create() made it. Does
    /// nothing and returns false once a step was trained or a checkpoint, capture or kept weight is
    /// there, also of the pretraining stage. Files that a run does not write are left alone.
    bool removeStart();
    /// removeStart() for a run that no process trains any more, with its folder. Throws FileError
    /// if a process trains it.
    static bool discardStart(const std::string& path);

    /// Writes the socket of this process's door into .lock, where others find it.
    void setDoor(const std::string& socket);

    /// Appends a line, which is kept in memory until flush() writes it.
    void append(const MetricPoint& point);
    void append(const Note& note);
    /// Whether there are lines to be written, and the last flush() is long enough ago (0.9 s unless
    /// set: shorter while somebody watches the run).
    bool flushIsDue() const;
    void flushEvery(std::chrono::milliseconds interval) { m_flushInterval = interval; }
    /// Writes the lines. Throws DiskFull or FileError, after which the unwritten lines are kept.
    void flush();
    /// Removes metric points after `step` and an incomplete last line: a resumed run measures them
    /// again.
    void rewindMetrics(std::int64_t step);

    /// Why the folder is claimed without a lock (FileLock::problem()); empty: it has one.
    const std::string& lockProblem() const { return m_lock.problem(); }

private:
    explicit RunFolder(std::string path);
    void claim();

    std::string m_path;     ///< empty: another process writes
    bool m_isMine = false;  ///< create() made the folder
    RunOptions m_options;
    RunInfo m_info;
    std::vector<std::pair<std::string, std::string>> m_facts;
    std::string m_metricLines, m_eventLines;
    std::chrono::steady_clock::time_point m_flushed;
    std::chrono::milliseconds m_flushInterval{900};
    FileLock m_lock;
};

/// Whether the folder contains a run.json.
bool isRunFolder(const std::string& path);
/// The run that a file or folder of weights belongs to (RUN/checkpoints/step-N); empty without one.
std::string runOfWeights(const std::string& path);
/// The step that "last" or "best" names in a run, from its files; -1: any other word. Throws
/// FileError where the run has no checkpoint of it.
std::int64_t namedStep(const std::string& run, const std::string& checkpoint);
/// The contents of run.json. A run that is marked as running but has no process is Interrupted,
/// with howItEnded() as its message. Throws FileError.
RunInfo readRunInfo(const std::string& path);
/// The options of a run. Throws FileError naming an invalid field.
RunOptions readRunOptions(const std::string& path);
/// Throws FileError for a run that another program recorded (model/recorded/recorded_options.h).
void requireModel(const std::string& path, const RunOptions& options);
/// The data of a run as they were when it began: its own tokenizer in place of one made from the
/// text.
DataOptions runData(const std::string& path, DataOptions options);
/// Reads labels.json of a run folder: a separate file, so that it can be written while another
/// process trains the run. Empty labels if it is missing or damaged.
RunLabels readRunLabels(const std::string& path);
/// Writes labels.json of a run folder. Throws FileError.
void writeRunLabels(const std::string& path, const RunLabels& labels);
/// Puts a validation point into the last, kept and best values of a run. Before training nothing is
/// best. A run that restores its best weights keeps only weights of `chosen` points.
void takeValidation(RunInfo& info, const MetricPoint& validation, bool chosen = false);
/// takeValidation() with all points of a run from its start; `bestStep`: the step whose weights the
/// run would restore.
void takeValidations(RunInfo& info, const std::vector<MetricPoint>& points, std::int64_t bestStep);

}  // namespace relascope::core

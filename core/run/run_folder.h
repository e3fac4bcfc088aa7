// SPDX-License-Identifier: GPL-3.0-or-later
// The run folder (formats.md section 9): written so that killing the process at any moment leaves a
// valid run.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/file_lock.h"
#include "types/metric.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::core {

/// A run on disk that this process has claimed for training. To read a run, use the free functions
/// below.
class RunFolder {
public:
    /// Creates a new run and claims it. The folder must be absent or empty. Throws FileError if it
    /// is not empty or cannot be written.
    static RunFolder create(const std::string& path, const RunOptions& options);
    /// Opens an existing run to resume it. Throws FileError if it is not a run, damaged, or claimed
    /// by another process.
    static RunFolder open(const std::string& path);
    RunFolder(RunFolder&&) = default;
    ~RunFolder();

    const std::string& path() const { return m_path; }
    const RunOptions& options() const { return m_options; }
    RunInfo& info() { return m_info; }
    std::string checkpointsPath() const { return m_path + "/checkpoints"; }
    std::string capturesPath() const { return m_path + "/captures"; }

    /// Changes the options on resume (for example more epochs) and run.json with them.
    void setOptions(const RunOptions& options) { m_options = options; }
    /// Extra facts for run.json: versions, device, threads.
    void setFact(const std::string& key, const std::string& value);
    /// One of these facts; empty if the run has none.
    std::string fact(const std::string& key) const;
    /// Rewrites run.json atomically.
    void saveInfo();

    /// Buffered; written within a second of training, or by flush(). Throws DiskFull, after which
    /// the unwritten lines are kept and tried again.
    void append(const MetricPoint& point);
    void append(const Note& note);
    void flush();
    /// Removes metric points after `step` and an incomplete last line: a resumed run measures them
    /// again.
    void rewindMetrics(std::int64_t step);

private:
    explicit RunFolder(std::string path);
    void claim();
    void flushIfDue();

    std::string m_path;
    RunOptions m_options;
    RunInfo m_info;
    std::vector<std::pair<std::string, std::string>> m_facts;
    std::string m_metricLines, m_eventLines;
    std::chrono::steady_clock::time_point m_flushed;
    FileLock m_lock;
};

/// Whether the folder contains a run.json.
bool isRunFolder(const std::string& path);
/// The contents of run.json. A run that is marked as running but has no process is Interrupted.
/// Throws FileError.
RunInfo readRunInfo(const std::string& path);
/// The options of a run. Throws FileError naming an invalid field.
RunOptions readRunOptions(const std::string& path);
/// The data of a run as they were when it began: its own tokenizer in place of one made from the
/// text.
DataOptions runData(const std::string& path, DataOptions options);
/// All complete lines of metrics.jsonl from byte `*position` on; sets it to the end of the lines
/// read.
std::vector<MetricPoint> readMetrics(const std::string& path, std::uint64_t* position = nullptr);
std::vector<Note> readEvents(const std::string& path);
/// Runs in a folder and its subfolders two deep (a run of several seeds is a folder of runs),
/// newest first. Folders whose names begin with a point are left out.
std::vector<RunInfo> listRuns(const std::string& folder);
/// labels.json of a run folder: a separate file, so that it can be written while another process
/// trains the run. Empty labels if it is missing or damaged.
RunLabels readRunLabels(const std::string& path);
/// Throws FileError.
void writeRunLabels(const std::string& path, const RunLabels& labels);
/// An unused path for a deleted run in a folder .trash: in `root` if the run is inside it, else in
/// the parent folder of the run.
std::string trashPath(const std::string& root, const std::string& path);
/// Moves a run folder within a file system. Throws FileError, also if the run is being trained.
void moveRun(const std::string& from, const std::string& to);
/// The default folder for runs: $RELASCOPE_RUNS, else ~/Relascope/runs.
std::string defaultRunsFolder();
/// An unused folder name there: "between-dat-s0", with "-2" and so on appended if it exists.
std::string freshRunPath(const std::string& parent, const RunOptions& options, std::int64_t seed);

/// A metric point as a line of metrics.jsonl, without the line's end, and back (nothing for a
/// damaged line).
std::string metricToLine(const MetricPoint& point);
std::optional<MetricPoint> metricFromLine(const std::string& line);

}  // namespace relascope::core

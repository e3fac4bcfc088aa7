// SPDX-License-Identifier: GPL-3.0-or-later
// The run folder (formats.md section 9): written so that a kill at any moment leaves a valid run.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "types/metric.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::core {

/// A run on disk, held by the process that trains it. Reading a run needs no RunFolder: see the
/// free functions below.
class RunFolder {
public:
    /// A new run: creates the folder, which must be absent or empty, and claims it. Throws
    /// FileError when it cannot be written or holds something.
    static RunFolder create(const std::string& path, const RunOptions& options);
    /// An existing run, to go on with. Throws FileError when it is no run, damaged or claimed by
    /// another.
    static RunFolder open(const std::string& path);
    RunFolder(RunFolder&&) noexcept;
    RunFolder& operator=(RunFolder&&) noexcept;
    ~RunFolder();

    const std::string& path() const { return m_path; }
    const RunOptions& options() const { return m_options; }
    RunInfo& info() { return m_info; }
    std::string checkpointsPath() const { return m_path + "/checkpoints"; }
    std::string capturesPath() const { return m_path + "/captures"; }

    /// Options may grow on resume (more epochs): run.json follows.
    void setOptions(const RunOptions& options) { m_options = options; }
    /// Extra facts for run.json: versions, device, threads.
    void setFact(const std::string& key, const std::string& value);
    /// One of them; empty where the run has none.
    std::string fact(const std::string& key) const;
    /// Rewrites run.json atomically.
    void saveInfo();

    /// Buffered; reaches the disk within a second of training, or at flush(). Throws DiskFull,
    /// after which the unwritten lines are kept and tried again.
    void append(const MetricPoint& point);
    void append(const Note& note);
    void flush();
    /// Drops metric points beyond `step` and a torn last line: what a resumed run will measure
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
    int m_lock = -1;
};

/// True when the folder holds a run.json.
bool isRunFolder(const std::string& path);
/// run.json as a row; a run marked running whose process is gone is Interrupted. Throws FileError.
RunInfo readRunInfo(const std::string& path);
/// The options of a run. Throws FileError naming the field that is wrong.
RunOptions readRunOptions(const std::string& path);
/// The data of a run as they were when it began: its own tokenizer in place of one made from the
/// text.
DataOptions runData(const std::string& path, DataOptions options);
/// Every whole line of metrics.jsonl from byte `*position` on, which moves to the end of what was
/// read.
std::vector<MetricPoint> readMetrics(const std::string& path, std::uint64_t* position = nullptr);
std::vector<Note> readEvents(const std::string& path);
/// Runs in a folder and its subfolders two deep (a run of several seeds is a folder of runs),
/// newest first. Folders whose names begin with a point are left out.
std::vector<RunInfo> listRuns(const std::string& folder);
/// labels.json of a run folder, a file of its own so that it can be written while another process
/// trains the run. No labels when it is missing or damaged.
RunLabels readRunLabels(const std::string& path);
/// Throws FileError.
void writeRunLabels(const std::string& path, const RunLabels& labels);
/// A free place for a deleted run in the folder .trash beside the runs: of `root` where the run is
/// inside it, else of the run's parent.
std::string trashPath(const std::string& root, const std::string& path);
/// Moves a run folder within a file system. Throws FileError, also when the run is being trained.
void moveRun(const std::string& from, const std::string& to);
/// Where runs go when nobody says: $RELASCOPE_RUNS, else ~/Relascope/runs.
std::string defaultRunsFolder();
/// A fresh folder name there: "between-dat-s0", "-2" and so on appended when taken.
std::string freshRunPath(const std::string& parent, const RunOptions& options, std::int64_t seed);

/// A metric point as a line of metrics.jsonl, without the line's end, and back (nothing for a
/// damaged line).
std::string metricToLine(const MetricPoint& point);
std::optional<MetricPoint> metricFromLine(const std::string& line);

}  // namespace relascope::core

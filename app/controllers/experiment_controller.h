// What the options form shows and Start begins: a preset's options, or those of a chosen run.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "types/dataset_info.h"
#include "types/run_options.h"

namespace relascope {

class JobQueue;
class RunsController;
class TrainingController;

class ExperimentController : public QObject {
    Q_OBJECT
public:
    /// `devices` is where LibTorch is set up: it says how much memory is free.
    ExperimentController(RunsController& runs, TrainingController& training, JobQueue& jobs,
                         JobQueue& devices, QObject* parent = nullptr);

    bool hasOptions() const { return !m_options.preset.empty(); }
    const RunOptions& options() const { return m_options; }
    const RunOptions& presetValues() const { return m_preset; }
    /// Models of the preset, the first being its default.
    QStringList variants() const;
    /// "Between · quick start", for heads.
    QString title() const;
    /// Folder of the run whose options these are; empty for a preset's.
    const QString& run() const { return m_run; }
    /// These are the options of the run that trains now: live fields reach it at once.
    bool live() const;
    /// Start goes on with `run()` instead of beginning a new one.
    bool resumes() const;

    std::vector<FieldState> states() const { return m_options.states(m_preset); }
    std::vector<FieldProblem> problems() const;
    /// Rows for the form: parameters, memory, time.
    std::vector<std::pair<QString, QString>> estimates() const;
    /// Why Start cannot be pressed; empty when it can.
    QString obstacle() const;

    /// A preset with one of its models ("" = the first). False with a sentence for an unknown one.
    bool choosePreset(const QString& preset, const QString& variant = {}, QString* error = nullptr);
    /// The options of a run, read off the window's thread.
    void showRun(const QString& path);
    void set(const QString& key, const FieldValue& value);
    /// The experiment in the form, or the first that fits, on these data: their kind, path and
    /// every one of `fields` ("task", "seed"). `info` says which images the model must take.
    void trainOn(const DataOptions& data, const std::vector<std::string>& fields,
                 const DatasetInfo& info);
    /// Whether every text in the form can be read; a text that cannot is no value yet.
    void setFormValid(bool valid);
    /// All fields as in the preset.
    void reset();
    /// Shows these options and begins a run with them.
    void begin(const RunOptions& options);
    /// Begins or goes on.
    void start();

Q_SIGNALS:
    void changed();          ///< options, preset or what Start means
    void problemsChanged();  ///< validity or estimates
    void failed(const QString& sentence);

private:
    void adopt(const RunOptions& options, const QString& run);
    void measureSpeed();
    void measureMemory();

    RunsController& m_runs;
    TrainingController& m_training;
    JobQueue& m_jobs;
    JobQueue& m_devices;
    QTimer m_memoryTimer;
    std::uint64_t m_free = 0;  ///< bytes on the device wanted; 0 while unknown
    bool m_measuring = false;
    RunOptions m_options, m_preset;
    std::optional<RunOptions> m_ofRun;  ///< as the run has them
    QString m_run, m_wanted;
    bool m_formValid = true;
    double m_flopsPerSecond = 0.0;  ///< measured in the run that goes on or went last
};

}  // namespace relascope

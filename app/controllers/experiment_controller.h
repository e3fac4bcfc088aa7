// SPDX-License-Identifier: GPL-3.0-or-later
// What the options form shows and Start begins: a preset's options, or those of a chosen run.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "types/dataset_info.h"
#include "types/run_options.h"

namespace relascope::app {

class JobQueue;
class RunsController;
class TrainingController;
class UndoHistory;

class ExperimentController : public QObject {
    Q_OBJECT
public:
    /// `devices` is where LibTorch is set up: it says how much memory is free.
    ExperimentController(RunsController& runs, TrainingController& training, UndoHistory& history,
                         JobQueue& jobs, JobQueue& devices, QObject* parent = nullptr);

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
    /// Start resumes `run()` instead of beginning a new one.
    bool resumes() const;

    /// With what the preset says of a value that the papers do not state, in its help.
    std::vector<FieldState> states() const;
    std::vector<FieldProblem> problems() const;
    /// Every field of the form holds a value it can take, and they go together.
    bool valid() const { return hasOptions() && m_formValid && problems().empty(); }
    /// "897,408"; "about 910,208" before a vocabulary is fitted to its text; empty while a field
    /// is refused.
    QString parameters() const;
    /// How many fields differ from the preset.
    int changedFields() const;
    /// Rows for the form: parameters, memory, time.
    std::vector<std::pair<QString, QString>> estimates() const;
    /// Why Start cannot be pressed; empty when it can.
    QString obstacle() const;

    /// A preset with one of its models ("" = the first). False with a sentence for an unknown one.
    bool choosePreset(const QString& preset, const QString& variant = {}, QString* error = nullptr);
    /// Another model of the same preset: fields that were changed keep their values where the
    /// model has them.
    void chooseVariant(const QString& variant);
    /// The options of a run, read off the window's thread.
    void showRun(const QString& path);
    /// The options of a run as those of a new one.
    void duplicate(const QString& path);
    /// Trains a run that has ended on to that many epochs (steps where the run counts steps).
    void extend(const QString& path, std::int64_t total);
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
    /// The user is done with a field: the next change is a step of its own for undo.
    void endEdit();
    /// Begins or resumes.
    void start();

Q_SIGNALS:
    void changed();          ///< options, preset or what Start means
    void problemsChanged();  ///< validity or estimates
    void failed(const QString& sentence);

private:
    /// What undo brings back.
    struct FormState {
        RunOptions options, preset;
        std::optional<RunOptions> ofRun;
        QString run;
    };
    FormState formState() const { return {m_options, m_preset, m_ofRun, m_run}; }
    void restore(const FormState& state);
    /// Remembers how the form was before what was just done to it.
    void remember(const QString& what, FormState before, const QString& mergeKey = {});
    void readOptions(const QString& path, std::function<void(const RunOptions&)> use);
    void adopt(const RunOptions& options, const QString& run);
    void measureSpeed();
    void measureMemory();

    RunsController& m_runs;
    TrainingController& m_training;
    UndoHistory& m_history;
    JobQueue& m_jobs;
    JobQueue& m_devices;
    QTimer m_memoryTimer;
    std::uint64_t m_free = 0;  ///< bytes on the device wanted; 0 while unknown
    bool m_measuring = false;
    RunOptions m_options, m_preset;
    std::optional<RunOptions> m_ofRun;  ///< as the run has them
    QString m_run, m_wanted;
    bool m_formValid = true;
    int m_asked = 0;                ///< counts the runs whose options were asked for
    int m_shown = 0;                ///< counts what was shown in the form; undo stays within one
    double m_flopsPerSecond = 0.0;  ///< measured in the run that goes on or went last
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
// The options that the form shows and that Start trains with: those of a preset or of a chosen run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include "app/controllers/own_data.h"
#include "types/dataset_info.h"
#include "types/run_options.h"

class QUndoStack;

namespace relascope::app {

class JobQueue;
class Looker;
class RunsController;
class TrainingController;

/// Why a start was refused, at the field that is to be changed.
struct StartRefusal {
    QString field;     ///< its key
    QString sentence;  ///< for below the field
    QString action;    ///< what mend() would do; empty: nothing, or the field asks for another file
};

class ExperimentController : public QObject {
    Q_OBJECT
public:
    /// `devices` is asked for the free memory.
    ExperimentController(RunsController& runs, TrainingController& training, QUndoStack& history,
                         JobQueue& jobs, Looker& devices, QObject* parent = nullptr);

    bool hasOptions() const { return !m_options.preset.empty(); }
    const RunOptions& options() const { return m_options; }
    /// Models of the preset; the first one is the default.
    QStringList variants() const;
    /// The title of the experiment for panel heads: "Between · quick start".
    QString title() const;
    /// The run that the options come from; empty if they come from a preset.
    const QString& run() const { return m_run; }
    /// Whether the options belong to the run that is training; live fields then apply immediately.
    bool live() const;
    /// Whether Start resumes run() instead of creating a new run.
    bool resumes() const;

    /// The state of each field. The help contains the preset's note on values that the papers do
    /// not state.
    std::vector<FieldState> states() const;
    std::vector<FieldProblem> problems() const;
    /// Whether every field is valid and their combination is, too.
    bool valid() const { return hasOptions() && m_formValid && problems().empty(); }
    /// The number of parameters: "897,408"; "about 910,208" before a vocabulary is fitted to its
    /// text; empty while a field is refused.
    QString parameters() const;
    /// How many fields differ from the preset.
    int changedFields() const;
    /// Estimates for the form: parameters, memory, time.
    std::vector<std::pair<QString, QString>> estimates() const;
    /// Why Start is disabled; empty when it is enabled.
    QString disabledReason() const;

    /// Chooses a preset and one of its models ("" for the first). Returns false, with a message in
    /// `error`, if either is unknown.
    bool choosePreset(const QString& preset, const QString& variant = {}, QString* error = nullptr);
    /// Selects another model of the preset. Changed fields keep their values if the model has them.
    void chooseVariant(const QString& variant);
    /// Shows the options of a run, which are read off the window's thread. Those of the new run are
    /// put away until showNewRun().
    void showRun(const QString& path);
    void showNewRun();
    /// Another run is selected: shows its options if those of a run are shown, or if it is training
    /// here.
    void follow(const QString& path);
    /// Continues a run that was stopped, or shows its options if they have to be changed first.
    void resume(const QString& path);
    /// Shows the options of a run as those of a new run.
    void duplicate(const QString& path);
    /// Continues a finished run up to that number of epochs, or steps if the run counts steps.
    void extend(const QString& path, std::int64_t total);
    void set(const QString& key, const FieldValue& value);
    /// Uses these data (kind, path and all `fields` such as "task" and "seed") with the current
    /// experiment, or with the first one that fits. `info` gives the image size for the model.
    void trainOn(const DataOptions& data, const std::vector<std::string>& fields,
                 const DatasetInfo& info);
    /// The options of a new run on files of the user's own, with the smallest model for such data.
    void setUp(const OwnData& own);
    /// Whether the form has the options of setUp(), for a run that was not started yet.
    bool isSetUp() const { return m_run.isEmpty() && !m_reasons.empty(); }
    /// The options of a new run that was not started, to be shown again by the next window; empty
    /// where they are those of a preset. restoreForm() returns false for what cannot be read.
    QByteArray saveForm() const;
    bool restoreForm(const QByteArray& form);
    /// Why the last start was refused; until an option is changed.
    const std::optional<StartRefusal>& refusal() const { return m_refusal; }
    /// Changes the options as the refusal proposes.
    void mend();
    /// Whether every text in the form can be parsed; one that cannot does not change its value.
    void setFormValid(bool valid);
    /// Resets all fields to the preset.
    void reset();
    /// Shows these options and starts a run with them.
    void begin(const RunOptions& options);
    /// Ends the editing of a field: the next change is a separate undo step.
    void endEdit();
    /// Starts a new run, or resumes run() if resumes().
    void start();

    /// Machines on which a run can be trained, with the mirrors of their folders of runs.
    void setHosts(std::vector<std::pair<QString, QString>> hosts);
    QStringList hosts() const;
    /// The machine that trains the next run; empty: this one.
    const QString& host() const { return m_host; }
    void setHost(const QString& host);

Q_SIGNALS:
    void changed();          ///< options, preset or what Start means
    void problemsChanged();  ///< validity or estimates
    void failed(const QString& sentence);
    /// A start was refused because of this field; refusal() or problems() have the sentence.
    void refused(const QString& field);

private:
    /// By key: a value that follows from the user's data, and why.
    using Reasons = std::map<std::string, std::pair<FieldValue, std::string>>;
    /// The state that undo restores.
    struct FormState {
        RunOptions options, preset;
        std::optional<RunOptions> ofRun;
        QString run;
        std::optional<RunOptions> beforeStart = {};
        bool unread = false;  ///< the model of train.init_from was not taken
        Reasons reasons = {};
    };
    std::optional<FormState> m_newRun;  ///< while the options of a run are shown
    FormState formState() const {
        return {m_options, m_preset, m_ofRun, m_run, m_beforeStart, !m_startProblem.empty(),
                m_reasons};
    }
    void restore(const FormState& state);
    /// Pushes the state of the form before the last change onto the undo stack.
    void remember(const QString& what, FormState before, const QString& mergeKey = {});
    /// Reads the checkpoint of train.init_from off the window's thread and takes its model.
    void takeStart();
    /// Drops the checkpoint that is being read, and the reason why the last one was refused.
    void forgetStart();
    void readOptions(const QString& path, std::function<void(const RunOptions&)> use);
    void adopt(const RunOptions& options, const QString& run);
    void measureSpeed();
    void measureMemory();
    /// Finds the field that the sentence is about.
    void takeRefusal(const QString& sentence);
    /// Reads the data to find options with which the start would not have been refused.
    void findMended();
    void forgetRefusal();

    RunsController& m_runs;
    TrainingController& m_training;
    QUndoStack& m_history;
    JobQueue& m_jobs;
    Looker& m_devices;
    std::vector<std::pair<QString, QString>> m_hosts;
    QString m_host;
    QTimer m_memoryTimer;
    std::uint64_t m_free = 0;  ///< bytes on the device wanted; 0 while unknown
    bool m_measuring = false;
    RunOptions m_options, m_preset;
    Reasons m_reasons;
    std::optional<StartRefusal> m_refusal;
    std::vector<std::pair<std::string, FieldValue>> m_mended;  ///< what mend() sets
    std::optional<RunOptions> m_ofRun;  ///< options of the chosen run as stored
    QString m_run, m_wanted;
    QString m_trained;           ///< the run that training began last, until it is done
    std::string m_startProblem;  ///< why train.init_from is not used
    int m_startAsked = 0;        ///< incremented with each checkpoint asked for, or forgotten
    /// The options before train.init_from was set; nullopt: those of the preset.
    std::optional<RunOptions> m_beforeStart;
    bool m_formValid = true;
    int m_asked = 0;  ///< incremented with each request for the options of a run
    int m_shown = 0;  ///< incremented with each run or preset shown; undo does not cross it
    double m_flopsPerSecond = 0.0;  ///< measured in the current or last run
};

}  // namespace relascope::app

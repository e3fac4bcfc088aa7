// SPDX-License-Identifier: GPL-3.0-or-later
// Computes what the inspector of the Workbench shows for the chosen sample: the maps with the
// newest weights of a run in training, with those of a finished run or a kept step, or captured
// maps.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "app/controllers/inspection.h"
#include "types/run_options.h"

namespace relascope::app {

class JobQueue;
class RunsController;
class Selection;
class TrainingController;

/// The split of the pinned sentence, whose maps are captured during a run.
inline const QString kPinnedSplit = QStringLiteral("pinned");

class ProbeController : public QObject {
    Q_OBJECT
public:
    /// Minimum pause in ms between two inspections of a running training; the pause is also at
    /// least as long as the last inspection took.
    static constexpr int kLiveInterval = 100;

    ProbeController(RunsController& runs, TrainingController& training, Selection& selection,
                    Looker& looker, QObject* parent = nullptr);
    ~ProbeController() override;

    /// No requests are sent while nothing that shows the result is in sight: the inspector, the
    /// page Measure.
    void setWatched(const QObject* by, bool watched);

    // Requests of the source pane.
    void chooseSample(const QString& split, qint64 index);
    void chooseRandom(const QString& split, int label);
    /// Searches the split; another choice ends the search.
    void chooseByLabel(const QString& split, int label, bool forward);
    LongTask& search() { return m_search; }
    /// Inspects a picture for a run on images, or a text file for a run on text.
    void chooseImage(const QString& path);
    /// The session for the user's texts and pictures, and for the maps of finished runs and
    /// captures.
    Inspection& session() { return m_session; }
    const Inspection& session() const { return m_session; }
    /// Whether the inspected run is a language model.
    bool readsText() const { return m_options && m_options->data.isText(); }
    const std::optional<RunOptions>& options() const { return m_options; }
    /// The data of the run; null while they are read, or without them.
    const std::shared_ptr<const wire::OpenedData>& data() const { return m_data; }
    /// The inspected run; empty if there is none.
    const QString& run() const { return m_run; }
    /// Sets the edits of the inspector for all later probes with weights.
    void setEdits(const EditList& edits);
    /// Whether another program recorded the run: all that is shown of it are its captures.
    bool recorded() const;
    /// Whether captured maps are shown: without edits only, as these need weights.
    bool showsCapture() const { return mode() == Mode::Captured; }
    /// Why what is shown cannot be edited; empty: it can, with the nearest weights that were kept.
    QString whyNotEdited() const;
    /// What is inspected, without weights: an example of the data, the user's own input, or one of
    /// the captured inputs; nullopt while the data are read.
    std::optional<wire::Asked> input() const;
    /// Whether what is shown is what was asked for last.
    bool settled() const { return !m_waiting && !m_again; }
    /// The step of the weights whose maps are shown; nullopt without a result.
    std::optional<qint64> shownStep() const {
        return m_shownStep < 0 ? std::nullopt : std::optional(m_shownStep);
    }

Q_SIGNALS:
    void resultReady(const relascope::widgets::Inspected& result);
    /// options() has changed; nullopt without a run, or while the options are read.
    void modelChanged();
    void pointsFound(const relascope::app::Points& points);
    /// Emitted with the reason if an edit does not fit; empty if all edits fit.
    void editsRefused(const QString& sentence);
    /// The means that a probe with these edits has taken.
    void meansFound(const relascope::EditList& edits, const relascope::TakenMeans& means);
    /// There is nothing to show, for this reason.
    void cleared(const QString& sentence);
    void splitsChanged(const QStringList& names, const std::vector<qint64>& sizes);
    /// Labels to filter samples by; empty if they have none.
    void labelsChanged(const QStringList& names);
    void sampleShown(const QString& split, qint64 index);
    /// Emitted with the problem of the typed text; empty if the text is valid.
    void textProblem(const QString& sentence);
    void failed(const QString& sentence);

private:
    /// Kept: shows maps with the weights kept at the step of the time cursor.
    enum class Mode { Nothing, Live, Finished, Kept, Captured };

    void follow();  ///< another run, or another state of the same run
    void offerSplits();
    void ask();  ///< one request at a time; later ones wait for its result
    void askLive();
    void readExample(const wire::Example& example);
    void drop();  ///< results of pending requests are dropped
    void searchFrom(const QString& split, qint64 from, int label, bool forward);
    void search(const std::shared_ptr<LongJob>& job, const wire::Example& from, int label,
                bool forward, std::int64_t before);
    void answered(const widgets::Inspected& result);
    void show(widgets::Inspected result);
    std::shared_ptr<const ProbeResult> named(
        const std::shared_ptr<const ProbeResult>& result) const;
    void refuse(const QString& sentence);
    void emitText();
    Mode mode() const;
    /// Whether the data of the run are not known, as another program recorded it: what is shown
    /// without an own input are its captures.
    bool lacksData() const;

    RunsController& m_runs;
    TrainingController& m_training;
    Selection& m_selection;
    Looker& m_looker;
    Inspection m_session;
    EditList m_edits, m_liveEdits;  ///< the list, and the list in the last request to a training
    Points m_points;

    QString m_run;
    std::optional<RunOptions> m_options;
    std::shared_ptr<const wire::OpenedData> m_data;
    std::optional<ProbeSample> m_example;  ///< the example named m_exampleName, sent to a training
    std::pair<std::string, std::int64_t> m_exampleName;
    std::optional<ProbeSample> m_pinned;      ///< the sentence whose maps are captured
    std::map<QString, Question> m_ownInputs;  ///< by the runs that are not shown
    qint64 m_captured = 0;                    ///< index of the captured input
    qint64 m_capturedCount = 0;
    quint64 m_liveRequest = 0;  ///< request to a training that has no answer yet; 0: none
    qint64 m_shownStep = -1;    ///< step of the result shown; -1 without one
    bool m_chosen = false;      ///< the user has chosen a sample
    bool m_waiting = false, m_again = false;
    /// What shows the result; until something has been in sight, all of it is asked for.
    std::optional<std::set<const QObject*>> m_watching;
    QTimer m_pace, m_reading;
    LongTask m_following, m_exampleReading, m_search;
};

}  // namespace relascope::app

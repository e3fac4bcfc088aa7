// SPDX-License-Identifier: GPL-3.0-or-later
// What the Workbench inspects of the run that is shown: its data, an example of them, and whether
// its maps come from a training, from weights or from captures. The feed shows them.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include <QObject>
#include <QStringList>
#include <QTimer>

#include "app/controllers/inspector_feed.h"
#include "types/run_options.h"

namespace relascope::app {

class RunsController;
class Selection;
class TrainingController;

/// The split of the pinned sentence, whose maps are captured during a run.
inline const QString kPinnedSplit = QStringLiteral("pinned");

/// Opens the data of a run on the machine where it is. Throws Error where they cannot be read.
std::shared_ptr<const wire::OpenedData> openRunData(Engine& models, const std::string& run,
                                                    const DataOptions& options,
                                                    const Looker::Progress& progress);

class RunInput : public QObject {
    Q_OBJECT
public:
    RunInput(RunsController& runs, TrainingController& training, Selection& selection,
             Looker& looker, QObject* parent = nullptr);
    ~RunInput() override;

    InspectorFeed& feed() { return m_feed; }
    const InspectorFeed& feed() const { return m_feed; }

    // Requests of the source pane.
    /// Inspects an input that a question names: an example of the data, the pinned sentence, or
    /// an input of the user's.
    void choose(const Question& input);
    void chooseSample(const QString& split, qint64 index);
    void chooseRandom(const QString& split, int label);
    /// Searches the split; another choice ends the search.
    void chooseByLabel(const QString& split, int label, bool forward);
    LongTask& search() { return m_search; }
    /// Inspects a picture for a run on images, or a text file for a run on text.
    void chooseImage(const QString& path);

    /// The inspected run; empty if there is none.
    const QString& run() const { return m_run; }
    const std::optional<RunOptions>& options() const { return m_options; }
    /// The data of the run; null while they are read, or without them.
    const std::shared_ptr<const wire::OpenedData>& data() const { return m_data; }
    /// Whether the inspected run is a language model.
    bool readsText() const { return m_options && m_options->data.isText(); }
    /// Sets the edits of the inspector for all later probes with weights.
    void setEdits(const EditList& edits);
    /// Whether another program recorded the run: all that is shown of it are its captures.
    bool recorded() const;
    /// Whether captured maps are shown: without edits only, as these need weights.
    bool showsCapture() const { return source() == InspectorFeed::Source::Captures; }
    /// Why what is shown cannot be edited; empty: it can, with the nearest weights that were kept.
    QString whyNotEdited() const;

Q_SIGNALS:
    /// options() has changed; nullopt without a run, or while the options are read.
    void modelChanged();
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
    struct Read;
    void follow();  ///< another run, or another state of the same run
    void take(Read read);
    void offerSplits();
    void ask();
    InspectorFeed::Source source() const;
    /// Nullopt while the data are read.
    std::optional<wire::Asked> question() const;
    void searchFrom(const QString& split, qint64 from, int label, bool forward);
    void search(const std::shared_ptr<LongJob>& job, const wire::Example& from, int label,
                bool forward, std::int64_t before);
    void refuse(const QString& sentence);
    void emitText();
    bool trains() const;  ///< here
    /// Whether the data of the run are not known, as another program recorded it: what is shown
    /// without an own input are its captures.
    bool lacksData() const;

    RunsController& m_runs;
    TrainingController& m_training;
    Selection& m_selection;
    Looker& m_looker;
    InspectorFeed m_feed;
    EditList m_edits;

    QString m_run;
    std::optional<RunOptions> m_options;
    std::shared_ptr<const wire::OpenedData> m_data;
    std::optional<ProbeSample> m_pinned;      ///< the sentence whose maps are captured
    std::map<QString, Question> m_ownInputs;  ///< by the runs that are not shown
    qint64 m_captured = 0;                    ///< index of the captured input
    qint64 m_capturedCount = 0;
    bool m_chosen = false;  ///< the user has chosen a sample
    QTimer m_reading;
    LongTask m_following, m_search;
};

}  // namespace relascope::app

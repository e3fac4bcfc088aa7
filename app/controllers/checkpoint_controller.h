// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoint that is shown: its header, the numbers of its tensors, its weights. All of it is
// read, loaded, compared and written off the window's thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <QObject>
#include <QString>

#include "app/controllers/hub_models.h"
#include "app/controllers/inspector_feed.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/text_generator.h"
#include "model/served/served_options.h"
#include "types/checkpoint_info.h"

namespace relascope::app {

/// The input that is shown first for an opened model: an example text for a language model,
/// otherwise a stored input if there is one, or a random input.
Question firstInput(const widgets::InputOffer& offer);

// Reads the values of a checkpoint's tensors one after another, selected ones first.

class CheckpointNumbers : public QObject {
    Q_OBJECT
public:
    /// All values are read of checkpoints of at most this many bytes and tensors.
    static constexpr std::uint64_t kReadAllBytes = std::uint64_t{8} << 30;
    static constexpr std::size_t kReadAllTensors = 4000;

    explicit CheckpointNumbers(QObject* parent = nullptr) : QObject(parent) {}

    /// Sets another checkpoint without reading any of its values.
    void setCheckpoint(const CheckpointInfo& info);
    /// Reads all values if that takes only seconds, otherwise those of selected tensors.
    void read();
    /// Stops reading; pending results are dropped.
    void abandon();
    void chooseTensor(const QString& name);
    bool complete() const { return !m_path.empty() && m_read.size() >= m_tensors; }
    /// Tensors with values that are not finite.
    const std::vector<CheckpointProblem>& problems() const { return m_broken; }
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void statisticsReady(const relascope::TensorStatistics& statistics);
    void finished();  ///< all values are read, or reading was stopped
    void failed(const QString& sentence);

private:
    void readNext();
    void take(const QString& name, const TensorStatistics& statistics);

    std::string m_path;
    /// Tensors in the checkpoint, and those of them that are read.
    std::size_t m_tensors = 0, m_toRead = 0;
    std::vector<CheckpointProblem> m_broken;
    std::deque<QString> m_unread;
    std::set<QString> m_read;
    QString m_reading;
    quint64 m_shown = 0;  ///< incremented with each checkpoint, so that late results can be dropped
    std::shared_ptr<wire::Session> m_far =
        std::make_shared<wire::Session>();  ///< used by the jobs of m_queue only
    JobQueue m_queue;
    LongTask m_task;
};

// The checkpoints that were opened before, newest first.

struct RecentCheckpoint {
    QString path, size;
    bool missing = false;
};

class RecentCheckpoints : public QObject {
    Q_OBJECT
public:
    explicit RecentCheckpoints(QObject* parent = nullptr) : QObject(parent) {}

    const std::vector<RecentCheckpoint>& list() const { return m_list; }
    void set(std::vector<RecentCheckpoint> list);
    void add(const QString& path, const QString& size);
    /// Emits chosen(), or, if the checkpoint no longer exists, removes it from the list and emits
    /// failed().
    void choose(const QString& path);

Q_SIGNALS:
    void changed();
    void chosen(const QString& path);
    void failed(const QString& sentence);

private:
    std::vector<RecentCheckpoint> m_list;
    quint64 m_choice = 0;
    JobQueue m_disk;
};

/// The question `eval` without a model, and the name of the data, which is shown with the result.
using NamedEvaluation = std::pair<wire::Asked, QString>;

/// Runs one long task at a time, besides reading the numbers and the inspection; a second task is
/// refused while one runs. Opening another checkpoint drops the results of earlier requests.
class CheckpointController : public QObject {
    Q_OBJECT
public:
    explicit CheckpointController(QObject* parent = nullptr);
    ~CheckpointController() override;

    /// Opens a file or folder, also in the mirror of another machine. The checkpoint shown stays
    /// until the new header has been read successfully.
    void open(const QString& path);
    void verify();
    /// Loads the weights and inspects a first input.
    void load() { loadWith({}); }
    /// Inspects the input of a question about the checkpoint that is open, with its tokenizer.
    /// Loads the weights where they are not.
    void show(const Question& question);
    /// Replaces the tokenizer of the loaded model by one from a file or folder.
    void chooseTokenizer(const QString& path);
    /// Gives the loaded model, whose answer are features, texts or a head from a file.
    void chooseHead(const QString& path);
    /// Why there is none to choose; empty: there is.
    QString headDisabledReason() const;
    /// Rounds the weights to bfloat16 for faster generation, or reads the exact ones from the file
    /// again.
    void setBfloat16(bool on);
    void evaluate(const NamedEvaluation& wanted);
    /// The question of the last evaluation that was shown; nullopt without one of this checkpoint.
    const std::optional<wire::Asked>& evaluatedOn() const { return m_evaluatedOn; }
    /// Shows a served model with the weights that its program has kept nearest to a step; nullopt:
    /// with those of now.
    void setStep(std::optional<qint64> step);
    /// Sets the edits of the inspector and of generated texts, for all later requests.
    void setEdits(const EditList& edits);
    void convert(const QString& out);

    CheckpointNumbers& numbers() { return m_numbers; }
    /// What its inspector shows.
    InspectorFeed& feed() { return m_feed; }
    const InspectorFeed& feed() const { return m_feed; }
    /// Asks about the weights that are shown.
    Looker& looker() { return m_looker; }
    TextGenerator& generator() { return m_generator; }
    RecentCheckpoints& recent() { return m_recent; }
    HubModels& hub() { return m_hub; }
    const RecentCheckpoints& recent() const { return m_recent; }
    LongTask& task() { return m_task; }

    const std::optional<CheckpointInfo>& info() const { return m_info; }
    /// Problems of the header and of the numbers read so far.
    std::vector<CheckpointProblem> problems() const;
    QString path() const;
    /// The run that the checkpoint belongs to; empty if there is none.
    const QString& run() const { return m_run; }
    /// The first characters of the text that the loaded run was trained on; empty without a run.
    const QString& prompt() const { return m_prompt; }
    /// Whether another program serves the model, which has no files then.
    bool isServed() const { return m_info && core::isServedName(m_info->path); }
    /// The steps whose weights the program of a served model has kept, ascending. They are read
    /// again with each map, as the program may train.
    const std::vector<qint64>& steps() const { return m_steps; }
    std::optional<qint64> step() const { return m_step; }
    /// Model::checkpoint of the maps that are shown: the kept step that is nearest to step().
    std::string shownCheckpoint() const;
    /// What the program that serves the model measures on; null: there is none, or it is not
    /// served.
    const std::shared_ptr<const wire::OpenedData>& data() const { return m_opened; }
    bool isLanguage() const {
        return m_info && m_info->model && m_info->model->input() == InputKind::Tokens;
    }
    /// Whether the model reads text in both directions.
    bool isEncoder() const;
    /// Whether the weights in use belong to the checkpoint shown; the header of another one may be
    /// open.
    bool loaded() const { return m_info && !m_feed.path().isEmpty() && m_feed.path() == path(); }
    /// Why the action is disabled; empty when it is enabled.
    QString loadDisabledReason() const;
    QString verifyDisabledReason() const;
    QString evaluateDisabledReason() const;
    QString generateDisabledReason() const;
    /// Whether texts are typed as token ids: a public family without a tokenizer that can be read.
    bool typesIds() const;

Q_SIGNALS:
    void opened();
    void stepsChanged();  ///< steps() or step()
    void verified(const relascope::VerifyReport& report);
    void loadedChanged();
    /// Emitted with the problem of the typed text; empty if the text is valid.
    void textProblem(const QString& sentence);
    void evaluated(const relascope::Evaluation& evaluation, const QString& name);
    void converted(const QString& path);
    void stateChanged();  ///< which actions are enabled has changed
    void warned(const QString& sentence);
    void failed(const QString& sentence);

private:
    QString noTokenizer() const;
    void take(CheckpointInfo info, const QString& run, const DataOptions& data);
    void weightsLoaded(const QString& warning);
    void chooseFirst();
    void forgetWeights();
    void loadWith(const std::string& tokenizer);
    void choose(const Question& input);
    /// Asks for the maps of the loaded weights with the edits.
    void inspect();
    void readSteps();

    std::optional<CheckpointInfo> m_info;
    QString m_run, m_prompt;
    DataOptions m_data;  ///< data options of m_run
    std::shared_ptr<const wire::OpenedData> m_opened;
    LongTask m_openingData;
    JobQueue m_headers, m_checks, m_doors;
    std::vector<qint64> m_steps;
    std::optional<qint64> m_step;
    bool m_readingSteps = false;
    Looker m_looker, m_verifier{wire::Lane::Long};
    RecentCheckpoints m_recent;
    HubModels m_hub;
    CheckpointNumbers m_numbers;
    InspectorFeed m_feed;
    EditList m_edits;
    Question m_first;  ///< the input that comes first once the weights are loaded
    TextGenerator m_generator;
    LongTask m_task;
    std::optional<wire::Asked> m_evaluatedOn;
};

}  // namespace relascope::app

// The checkpoint that is looked at: its header, the numbers of its tensors, its weights. All of it
// is read, loaded, compared and written off the window's thread.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "app/controllers/job_queue.h"
#include "app/pages/data_progress.h"
#include "train/open_model.h"
#include "types/checkpoint_info.h"
#include "widgets/source/input_chooser.h"

namespace relascope {

/// What a loaded model shall look at.
struct InputWish {
    enum class Kind { Reference, Random, Tokens, Picture };
    Kind kind = Kind::Random;
    int reference = 0;
    quint64 seed = 0;
    std::vector<qint64> source, target;
    QString picture;
};

/// What a loaded model shall be measured on: generated data, or a file.
struct EvaluationWish {
    DataOptions options;
    std::string split = "validation";
    QString file;  ///< .npz; empty: generated
    QString name;  ///< in words
};

/// A checkpoint that was opened before.
struct RecentCheckpoint {
    QString path, size;
    bool missing = false;
};

/// One long task at a time, besides the numbers and the inspector's: a new one is refused while it
/// goes on. What was asked for of another checkpoint is dropped when a new one is open.
class CheckpointController : public QObject {
    Q_OBJECT
public:
    /// Which strip of the page shows a job.
    enum class Strip { Task, Numbers, Inspector };
    Q_ENUM(Strip)

    explicit CheckpointController(QObject* parent = nullptr);
    ~CheckpointController() override;

    /// A file or folder; nothing changes until its header is read, nor when it cannot be.
    void open(const QString& path);
    void chooseTensor(const QString& name);  ///< its numbers before all others
    void verify();
    /// Loads the weights and looks at a first input.
    void load();
    void probe(const InputWish& wish);  ///< of the model that is loaded
    void evaluate(const EvaluationWish& wish);
    void convert(const QString& out);

    const std::optional<CheckpointInfo>& info() const { return m_info; }
    /// Of the header and of the numbers read so far.
    std::vector<CheckpointProblem> problems() const;
    bool numbersRead() const { return m_info && m_read.size() >= m_info->tensors.size(); }
    /// Path of the checkpoint whose weights are loaded; another one's header may be shown.
    const QString& loadedPath() const { return m_loaded; }
    bool loaded() const { return m_info && !m_loaded.isEmpty() && m_loaded == path(); }
    const InputOffer& offer() const { return m_offer; }
    bool busy() const { return m_task != nullptr; }
    QString path() const;
    /// Why a button cannot be pressed; empty when it can.
    QString loadObstacle() const;
    QString verifyObstacle() const;
    QString evaluateObstacle() const;

    const std::vector<RecentCheckpoint>& recent() const { return m_recent; }
    void setRecent(std::vector<RecentCheckpoint> recent);
    /// Opens one of them, or takes it off the list with a sentence where it is gone.
    void openRecent(const QString& path);

    static constexpr std::uint64_t kReadAllBytes = std::uint64_t{8}
                                                   << 30;  ///< numbers of files up to
    static constexpr std::size_t kReadAllTensors = 4000;

public Q_SLOTS:
    void abandon(relascope::CheckpointController::Strip strip);

Q_SIGNALS:
    void began(relascope::CheckpointController::Strip strip, const QString& words,
               std::shared_ptr<relascope::LongJob> job);
    void ended(relascope::CheckpointController::Strip strip);
    void opened();
    void statisticsReady(const relascope::TensorStatistics& statistics);
    void numbersFinished();  ///< all read, or no longer waited for
    void verified(const relascope::VerifyReport& report);
    void loadedChanged();
    void probed(const std::shared_ptr<const relascope::ProbeResult>& result,
                const relascope::InputWish& wish);
    void evaluated(const relascope::Evaluation& evaluation, const QString& name);
    void converted(const QString& path);
    void stateChanged();  ///< what the buttons may do
    void recentChanged();
    void warned(const QString& sentence);
    void failed(const QString& sentence);

private:
    struct Weights;
    using Job = std::shared_ptr<LongJob>;
    Job begin(Strip strip, const QString& words);
    void finish(Strip strip);
    Job& slot(Strip strip);
    void readNumbers();
    void readNext();
    void take(const QString& name, const TensorStatistics& statistics);
    void forgetWeights();
    void remember();

    std::optional<CheckpointInfo> m_info;
    std::vector<CheckpointProblem> m_broken;  ///< tensors whose numbers are not all finite
    std::deque<QString> m_unread;
    std::set<QString> m_read;
    QString m_reading;
    std::size_t m_toRead = 0;
    QString m_loaded;
    InputOffer m_offer;
    std::vector<RecentCheckpoint> m_recent;

    std::shared_ptr<Weights> m_weights;  ///< touched by the jobs of m_models only
    Job m_task, m_numbers, m_inspector;
    quint64 m_shown = 0;  ///< counts checkpoints, so that late answers know they are late
    quint64 m_tasks = 0, m_probes = 0;
    JobQueue m_headers, m_tensors, m_checks, m_models;
};

}  // namespace relascope

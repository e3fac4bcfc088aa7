// The checkpoint that is looked at: its header, the numbers of its tensors, its weights. All of it
// is read, loaded, compared and written off the window's thread.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "app/controllers/job_queue.h"
#include "app/controllers/text_generator.h"
#include "app/pages/data_progress.h"
#include "train/open_model.h"
#include "types/checkpoint_info.h"
#include "widgets/source/input_chooser.h"

namespace relascope {

struct OpenedWeights;

/// What a loaded model shall look at.
struct InputWish {
    enum class Kind { Reference, Random, Tokens, Picture, Text };
    Kind kind = Kind::Random;
    int reference = 0;
    quint64 seed = 0;
    std::vector<qint64> source, target;
    QString picture;
    QString text;
};

/// What a loaded model shall be measured on: generated data, or a file.
struct EvaluationWish {
    DataOptions options;
    std::string split = "validation";
    QString file;  ///< .npz; empty: generated. Of text: empty is the run's own
    bool text = false;
    qint64 windows = 0;  ///< of text, at most; 0: all
    QString name;        ///< in words
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
    /// A typed text, read shortly after the last key; an empty one changes nothing.
    void chooseText(const QString& text);
    void chooseTextFile(const QString& path);
    /// Another tokenizer of the model that is loaded: a file or a folder.
    void chooseTokenizer(const QString& path);
    /// Weights rounded for faster generation; off, the exact ones come from the file again.
    void setBfloat16(bool on);
    TextGenerator& generator() { return *m_generator; }
    void evaluate(const EvaluationWish& wish);
    void convert(const QString& out);

    const std::optional<CheckpointInfo>& info() const { return m_info; }
    /// Of the header and of the numbers read so far.
    std::vector<CheckpointProblem> problems() const;
    bool numbersRead() const { return m_info && m_read.size() >= m_info->tensors.size(); }
    /// Path of the checkpoint whose weights are loaded; another one's header may be shown.
    const QString& loadedPath() const { return m_loaded; }
    /// Of a language model: its tokenizer in words; empty while none is known.
    const QString& tokenizer() const { return m_tokenizer; }
    /// The run that the checkpoint shown belongs to; empty: none.
    const QString& run() const { return m_run; }
    /// What the text of the run that was loaded began with; empty: no run.
    const QString& prompt() const { return m_prompt; }
    bool bfloat16() const { return m_bfloat16; }
    bool isLanguage() const { return m_info && m_info->model && m_info->model->input() == InputKind::Tokens; }
    bool loaded() const { return m_info && !m_loaded.isEmpty() && m_loaded == path(); }
    const InputOffer& offer() const { return m_offer; }
    bool busy() const { return m_task != nullptr; }
    QString path() const;
    /// Why a button cannot be pressed; empty when it can.
    QString loadObstacle() const;
    QString verifyObstacle() const;
    QString evaluateObstacle() const;
    QString generateObstacle() const;

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
    /// What is the matter with the typed text; empty where all is well.
    void textProblem(const QString& sentence);
    void textOffered(const QString& text);  ///< from a file
    void evaluated(const relascope::Evaluation& evaluation, const QString& name);
    void converted(const QString& path);
    void stateChanged();  ///< what the buttons may do
    void recentChanged();
    void warned(const QString& sentence);
    void failed(const QString& sentence);

private:
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
    QString m_loaded, m_tokenizer, m_run, m_prompt, m_text;
    InputWish m_wish;  ///< the last one
    bool m_bfloat16 = false;
    InputOffer m_offer;
    std::vector<RecentCheckpoint> m_recent;

    std::shared_ptr<OpenedWeights> m_weights;  ///< touched by the jobs of m_models only
    Job m_task, m_numbers, m_inspector;
    quint64 m_shown = 0;  ///< counts checkpoints, so that late answers know they are late
    quint64 m_tasks = 0, m_probes = 0;
    JobQueue m_headers, m_tensors, m_checks, m_models;
    TextGenerator* m_generator;
    QTimer m_typing;
};

}  // namespace relascope

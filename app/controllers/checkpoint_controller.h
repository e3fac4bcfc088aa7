// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoint that is shown: its header, the numbers of its tensors, its weights. All of it is
// read, loaded, compared and written off the window's thread.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "app/controllers/checkpoint_numbers.h"
#include "app/controllers/inspection_session.h"
#include "app/controllers/recent_checkpoints.h"
#include "app/controllers/text_generator.h"
#include "train/open_model.h"
#include "types/checkpoint_info.h"

namespace relascope::app {

/// What a loaded model shall be measured on: generated data, or a file.
struct EvaluationRequest {
    DataOptions options;
    std::string split = "validation";
    QString file;  ///< .npz; empty: generated. Of text: empty is the run's own
    bool text = false;
    qint64 windows = 0;  ///< of text, at most; 0: all
    QString name;        ///< in words
};

/// One long task at a time, besides the numbers and the inspection: a new one is refused while it
/// goes on. What was asked for of another checkpoint is dropped when a new one is open.
class CheckpointController : public QObject {
    Q_OBJECT
public:
    explicit CheckpointController(QObject* parent = nullptr);
    ~CheckpointController() override;

    /// A file or folder; nothing changes until its header is read, nor when it cannot be.
    void open(const QString& path);
    void verify();
    /// Loads the weights and looks at a first input.
    void load();
    /// Another tokenizer of the model that is loaded: a file or a folder.
    void chooseTokenizer(const QString& path);
    /// Weights rounded for faster generation; off, the exact ones come from the file again.
    void setBfloat16(bool on);
    void evaluate(const EvaluationRequest& request);
    void convert(const QString& out);

    CheckpointNumbers& numbers() { return m_numbers; }
    InspectionSession& session() { return m_session; }
    TextGenerator& generator() { return m_generator; }
    RecentCheckpoints& recent() { return m_recent; }
    const RecentCheckpoints& recent() const { return m_recent; }
    LongTask& task() { return m_task; }

    const std::optional<CheckpointInfo>& info() const { return m_info; }
    /// Of the header and of the numbers read so far.
    std::vector<CheckpointProblem> problems() const;
    QString path() const;
    /// The run that the checkpoint shown belongs to; empty: none.
    const QString& run() const { return m_run; }
    /// What the text of the run that was loaded began with; empty: no run.
    const QString& prompt() const { return m_prompt; }
    bool isLanguage() const {
        return m_info && m_info->model && m_info->model->input() == InputKind::Tokens;
    }
    /// Whether the weights in use are those of the checkpoint shown: another one's header may be.
    bool loaded() const {
        return m_info && !m_session.path().isEmpty() && m_session.path() == path();
    }
    /// Why a button cannot be pressed; empty when it can.
    QString loadObstacle() const;
    QString verifyObstacle() const;
    QString evaluateObstacle() const;
    QString generateObstacle() const;

Q_SIGNALS:
    void opened();
    void verified(const relascope::VerifyReport& report);
    void loadedChanged();
    void probed(const std::shared_ptr<const relascope::ProbeResult>& result,
                const relascope::app::InputRequest& request);
    /// What is the matter with the typed text; empty where all is well.
    void textProblem(const QString& sentence);
    void evaluated(const relascope::core::Evaluation& evaluation, const QString& name);
    void converted(const QString& path);
    void stateChanged();  ///< what the buttons may do
    void warned(const QString& sentence);
    void failed(const QString& sentence);

private:
    void take(CheckpointInfo info, const QString& run, const DataOptions& data);
    void weightsLoaded(const QString& warning);
    void forgetWeights();

    std::optional<CheckpointInfo> m_info;
    QString m_run, m_prompt;
    DataOptions m_data;  ///< of that run
    JobQueue m_headers, m_checks, m_models;
    RecentCheckpoints m_recent;
    CheckpointNumbers m_numbers;
    InspectionSession m_session;
    TextGenerator m_generator;
    LongTask m_task;
};

}  // namespace relascope::app

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

/// The data that a loaded model is evaluated on: generated, or from a file.
struct EvaluationRequest {
    DataOptions options;
    std::string split = "validation";
    QString file;  ///< .npz; empty: generated data or, for language models, the text of the run
    bool text = false;
    qint64 windows = 0;  ///< maximum number of text windows; 0: all
    QString name;        ///< in words
};

/// Runs one long task at a time, besides reading the numbers and the inspection; a second task is
/// refused while one runs. Opening another checkpoint drops the results of earlier requests.
class CheckpointController : public QObject {
    Q_OBJECT
public:
    explicit CheckpointController(QObject* parent = nullptr);
    ~CheckpointController() override;

    /// Opens a file or folder. The checkpoint shown stays until the new header has been read
    /// successfully.
    void open(const QString& path);
    void verify();
    /// Loads the weights and inspects a first input.
    void load();
    /// Replaces the tokenizer of the loaded model by one from a file or folder.
    void chooseTokenizer(const QString& path);
    /// Rounds the weights to bfloat16 for faster generation, or reads the exact ones from the file
    /// again.
    void setBfloat16(bool on);
    void evaluate(const EvaluationRequest& request);
    /// The edits of the inspector and of generated texts, in force from here on.
    void setEdits(const EditList& edits);
    void convert(const QString& out);

    CheckpointNumbers& numbers() { return m_numbers; }
    InspectionSession& session() { return m_session; }
    TextGenerator& generator() { return m_generator; }
    RecentCheckpoints& recent() { return m_recent; }
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
    bool isLanguage() const {
        return m_info && m_info->model && m_info->model->input() == InputKind::Tokens;
    }
    /// Whether the weights in use belong to the checkpoint shown; the header of another one may be
    /// open.
    bool loaded() const {
        return m_info && !m_session.path().isEmpty() && m_session.path() == path();
    }
    /// Why the action is disabled; empty when it is enabled.
    QString loadDisabledReason() const;
    QString verifyDisabledReason() const;
    QString evaluateDisabledReason() const;
    QString generateDisabledReason() const;

Q_SIGNALS:
    void opened();
    void verified(const relascope::VerifyReport& report);
    void loadedChanged();
    void probed(const relascope::widgets::Inspected& result,
                const relascope::app::InputRequest& request);
    /// What is wrong with the typed text; empty if it is valid.
    void textProblem(const QString& sentence);
    void evaluated(const relascope::core::Evaluation& evaluation, const QString& name);
    void converted(const QString& path);
    void stateChanged();  ///< which actions are enabled
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

// SPDX-License-Identifier: GPL-3.0-or-later
// What the edits of an inspector change over a split: measured on a thread and with a model of its
// own, which goes with the result, so that the inspector stays usable.
#pragma once

#include <QObject>
#include <string>

#include "app/controllers/long_task.h"
#include "app/controllers/measured_subject.h"
#include "types/edit_results.h"

namespace relascope::app {

class EditEvaluation : public QObject {
    Q_OBJECT
public:
    explicit EditEvaluation(QObject* parent = nullptr);
    ~EditEvaluation() override;

    /// Runs the examples of the split with and without the edits of the subject.
    void evaluate(const MeasuredSubject& subject, const std::string& split);
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void evaluated(const relascope::EditEffect& effect, const QString& split, const QString& words);
    void failed(const QString& sentence);

private:
    JobQueue m_queue;
    LongTask m_task;
};

/// "accuracy 92.9 % → 51.2 %, change −41.7 points [−43.9, −39.5] ..." as rich text.
QString effectHtml(const EditEffect& effect, const QString& split, const QString& words);

}  // namespace relascope::app

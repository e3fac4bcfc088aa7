// SPDX-License-Identifier: GPL-3.0-or-later
// Probes of a model with and without the edits of the inspector.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <QObject>

#include "app/controllers/looker.h"
#include "app/controllers/subject.h"
#include "types/edit.h"
#include "types/edit_results.h"
#include "widgets/inspector/inspector_view.h"
#include "wire/requests.h"

namespace relascope::app {

using Points = std::shared_ptr<const std::vector<PointInfo>>;

/// The enabled edits in words: "layer 2 relation 3 zero; layer 1 symbols zero".
QString wordsOfList(const EditList& list);

/// Combines the results with and without edits, and lists the maps that differ and the maps that
/// are taken out. `before` may be null.
widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList& list,
                               const std::vector<PointInfo>& points);

/// The effect of a single edit on the answer that is likeliest without edits, as text: "occurs
/// 0.936 → 0.012".
QString effectText(const wire::EffectAlone& effect);

// Measures what the edits of an inspector change over a split. This runs in a session of its own,
// which ends with the result, so that the inspector stays usable.

class EditEvaluation : public QObject {
    Q_OBJECT
public:
    explicit EditEvaluation(QObject* parent = nullptr);
    ~EditEvaluation() override;

    /// Runs the examples of the split with and without the edits of the subject.
    void evaluate(const Subject& subject, const std::string& split);
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void evaluated(const relascope::EditEffect& effect, const QString& split, const QString& words);
    void failed(const QString& sentence);

private:
    Looker m_looker{wire::Lane::Long};
    LongTask m_task;
};

/// The result of an evaluation as rich text: "accuracy 92.9 % → 51.2 %, change −41.7 points [−43.9,
/// −39.5] ...".
QString effectHtml(const EditEffect& effect, const QString& split, const QString& words);

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the Study page. Private to app/pages.
#pragma once

#include <QString>
#include <algorithm>

#include "app/controllers/study_controller.h"
#include "options/presets.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

/// "accuracy on hexos"
inline QString measureText(const core::StudyMeasure& measure) {
    return QString::fromStdString(measure.metric).replace(u'_', u' ') + QStringLiteral(" on ") +
           QString::fromStdString(measure.split);
}

/// "relational-games-occurs: 3 models × 4 sizes × 3 seeds"
inline QString planText(const StudyInfo& study) {
    const auto& plan = study.plan;
    const auto counted = [](std::size_t n, const char* one, const char* many) {
        return QStringLiteral("%1 %2").arg(n).arg(QLatin1String(n == 1 ? one : many));
    };
    QStringList factors{counted(plan.models.size(), "model", "models")};
    if (!plan.sizes.empty()) factors << counted(plan.sizes.size(), "size", "sizes");
    for (const auto& axis : plan.vary)
        factors << QStringLiteral("%1 %2")
                       .arg(axis.values.size())
                       .arg(QString::fromStdString(axis.key.substr(axis.key.rfind('.') + 1)));
    factors << counted(plan.seeds.size(), "seed", "seeds");
    QString text = QString::fromStdString(plan.preset) + QStringLiteral(": ") +
                   factors.join(QStringLiteral(" \u00D7 "));
    const core::PresetInfo* preset = core::findPreset(plan.preset);
    if (preset && !preset->notes.empty()) text += QStringLiteral(" \u00B7 partly inferred");
    return text;
}

/// "occurs-grid", for the files of a study's views.
inline QString studyFileName(const QString& study, const char* what) {
    return (study.isEmpty() ? QStringLiteral("study") : StudyController::name(study)) + u'-' +
           QLatin1String(what);
}

/// Name and plan, under the pictures of a study.
inline QString studyCaption(const StudyController& c) {
    return StudyController::name(c.path()) + QStringLiteral(" \u00B7 ") +
           (c.reading() ? planText(*c.reading()->info) : QString());
}

/// Notes on values that the papers do not state, one per line; empty without any.
inline QString inferredText(const StudyInfo& study) {
    QStringList lines;
    if (const core::PresetInfo* preset = core::findPreset(study.plan.preset))
        for (const auto& [key, note] : preset->notes)
            lines << QString::fromStdString(key) + QStringLiteral(": ") +
                         QString::fromStdString(note);
    return lines.join(u'\n');
}

/// The text next to the counts: the state of the study, or the estimated time left.
inline QString statusText(const StudyReading& r, bool here, bool ending, int jobs) {
    if (here && ending) return QStringLiteral("saving, then stopping");
    if (here || r.running > 0) {
        const auto workers = static_cast<double>(here ? jobs : static_cast<int>(r.running));
        if (r.secondsARun <= 0.0 || r.left <= 0.0)
            return here ? QStringLiteral("running") : QStringLiteral("running in another process");
        const QString left =
            QStringLiteral("about %1 left")
                .arg(widgets::durationText(r.secondsARun * r.left /
                                           std::max(1.0, std::min(workers, r.left))));
        return here ? left : QStringLiteral("running in another process, ") + left;
    }
    if (r.left <= 0.0) return r.failed > 0 ? QString() : QStringLiteral("complete");
    return r.done + r.interrupted > 0 ? QStringLiteral("stopped") : QString();
}

}  // namespace relascope::app

// Sentences of the Study page. Private to app/pages.
#pragma once

#include <QString>
#include <algorithm>

#include "app/controllers/study_reading.h"
#include "widgets/theme/theme.h"

namespace relascope {

/// "accuracy on hexos"
inline QString measureWords(const StudyMeasure& measure) {
    return QString::fromStdString(measure.metric).replace(u'_', u' ') + QStringLiteral(" on ") +
           QString::fromStdString(measure.split);
}

/// "relational-games-occurs: 3 models × 4 sizes × 3 seeds"
inline QString planWords(const StudyInfo& study) {
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
    return QString::fromStdString(plan.preset) + QStringLiteral(": ") +
           factors.join(QStringLiteral(" \u00D7 "));
}

/// What stands beside the counts: what goes on, or how long it may take.
inline QString workWords(const StudyReading& r, bool here, bool ending, int jobs) {
    if (here && ending) return QStringLiteral("saving, then stopping");
    if (here || r.running > 0) {
        const auto workers = static_cast<double>(here ? jobs : static_cast<int>(r.running));
        if (r.secondsARun <= 0.0 || r.left <= 0.0)
            return here ? QStringLiteral("running") : QStringLiteral("running in another process");
        const QString left = QStringLiteral("about %1 left")
                                 .arg(durationText(r.secondsARun * r.left /
                                                   std::max(1.0, std::min(workers, r.left))));
        return here ? left : QStringLiteral("running in another process, ") + left;
    }
    if (r.left <= 0.0) return r.failed > 0 ? QString() : QStringLiteral("complete");
    return r.done + r.interrupted > 0 ? QStringLiteral("stopped") : QString();
}

}  // namespace relascope

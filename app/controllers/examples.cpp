// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/examples.h"

#include "options/shown_data.h"
#include "types/data_kind.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

QString exampleWord(const DataOptions& o, bool several) {
    const auto* kind = findDataKind(o.kind);
    // The data may be of a run of a later version.
    if (!kind) return several ? QStringLiteral("examples") : QStringLiteral("example");
    const auto& unit = kind->unitOf(o.task);
    return QString::fromStdString(several ? unit.several : unit.one);
}

QString exampleCount(const DataOptions& options, qint64 count) {
    return QStringLiteral("%1 %2").arg(widgets::groupedNumber(count),
                                       exampleWord(options, count != 1));
}

OwnData ownDataOf(const wire::OpenedData& opened) {
    OwnData own{opened.data.options, {}, 0};
    for (const auto& split : opened.splits) {
        own.splits.emplace_back(split.name, split.info);
        const auto& first = split.first.sample.source;
        if (split.isText && own.context == 0) own.context = first.size();
        if (first.width > 0) own.objects = first.size(), own.width = first.width;
    }
    return own;
}

QString taskTitle(const std::string& kind, const std::string& task) {
    return QString::fromStdString(core::titleOfTask(kind, task));
}

}  // namespace relascope::app

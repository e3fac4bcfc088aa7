// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QRegularExpression>

#include "app/controllers/run_estimates.h"
#include "files/memory.h"
#include "options/estimates.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

QString gibibytes(double bytes) {
    const double gib = bytes / (1024.0 * 1024.0 * 1024.0);
    if (gib >= 100.0) return QString::number(gib, 'f', 0);
    return QString::number(std::max(gib, 0.1), 'f', 1);
}

double machineBytes() {
    return static_cast<double>(core::totalMemory());
}

/// A count in words: "3.1 million", "10.0 billion".
QString roughNumber(double count) {
    if (count >= 1e9) return QString::number(count / 1e9, 'f', 1) + QStringLiteral(" billion");
    if (count >= 1e6) return QString::number(count / 1e6, 'f', 1) + QStringLiteral(" million");
    return widgets::groupedNumber(static_cast<qlonglong>(count));
}

std::pair<QString, QString> memory(const RunOptions& options, std::uint64_t free) {
    const auto ranks = core::ranksOf(options);
    const bool each = ranks.count > 1 && ranks.sharing == 1;
    return {each ? QStringLiteral("Memory per device") : QStringLiteral("Memory"),
            QString(free > 0 ? "%1 of %2 GiB free" : "%1 of %2 GiB")
                .arg(gibibytes(static_cast<double>(core::trainingBytes(options)) *
                               static_cast<double>(ranks.sharing)),
                     gibibytes(free > 0 ? static_cast<double>(free) : machineBytes()))};
}

}  // namespace

std::vector<std::pair<QString, QString>> runEstimates(const RunOptions& options, std::uint64_t free,
                                                      double flopsPerSecond) {
    const auto& t = options.train;
    std::vector<std::pair<QString, QString>> rows = {memory(options, free)};
    if (options.data.isText()) {
        const double tokens = core::tokensPerStep(options);
        rows.emplace_back("Tokens per step",
                          widgets::groupedNumber(static_cast<qlonglong>(tokens)));
        rows.emplace_back("Total tokens",
                          roughNumber(tokens * static_cast<double>(core::totalSteps(options))));
    }
    if (t.keep_mib > 0) {  // as a short text: "56 steps, 87 MiB", "off: 9,871 MiB"
        static const QRegularExpression rest(" in [a-z0-9 ]+(?=,)| would be needed");
        rows.emplace_back("Kept weights",
                          QString::fromStdString(core::keptWeightsText(options)).remove(rest));
    }
    const QString what = t.steps > 0
                             ? QString("Time for %1 steps").arg(widgets::groupedNumber(t.steps))
                             : QString("Time for %1 epochs").arg(widgets::groupedNumber(t.epochs));
    const double flops = core::trainingFlops(options) *
                         static_cast<double>(core::totalSteps(options)) *
                         static_cast<double>(std::max<std::size_t>(1, t.seeds.size()));
    rows.emplace_back(what, flopsPerSecond > 0.0
                                ? "about " + widgets::roughDuration(flops / flopsPerSecond)
                                : QStringLiteral("not yet measured"));
    return rows;
}

}  // namespace relascope::app

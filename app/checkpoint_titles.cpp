// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/checkpoint_titles.h"

#include <QFileInfo>

namespace relascope::app {
namespace {

/// Whether a file name is generic for weights, so that only its folder identifies them.
bool isGeneric(const QString& file) {
    return file == QLatin1String("model.safetensors") ||
           file == QLatin1String("pytorch_model.bin") || file == QLatin1String("config.json") ||
           file.endsWith(QLatin1String(".index.json"));
}

/// The last components of a path, `extra` more than in the usual title.
QString titleOf(const QString& path, int extra) {
    QStringList parts = path.split(u'/', Qt::SkipEmptyParts);
    if (parts.size() > 1 && isGeneric(parts.last())) parts.removeLast();
    if (parts.isEmpty()) return path;
    const auto size = parts.size();
    const bool ofRun = size >= 3 && parts[size - 2] == QLatin1String("checkpoints");
    const QString own =
        ofRun ? parts[size - 3] + QStringLiteral(" \u00B7 ") + parts[size - 1] : parts[size - 1];
    const auto last = size - (ofRun ? 3 : 1);
    QStringList above =
        parts.mid(std::max<qsizetype>(0, last - extra), std::min<qsizetype>(extra, last));
    above << own;
    return above.join(u'/');
}

}  // namespace

QStringList checkpointTitles(const QStringList& paths) {
    QStringList titles;
    for (const QString& path : paths) titles << titleOf(path, 0);
    for (int extra = 1; extra < 32; ++extra) {
        bool same = false;
        const QStringList before = titles;
        for (qsizetype i = 0; i < paths.size(); ++i)
            if (before.count(before[i]) > 1) titles[i] = titleOf(paths[i], extra), same = true;
        if (!same || titles == before) break;
    }
    // A folder and the weights in it differ only by the file name.
    for (qsizetype i = 0; i < paths.size(); ++i)
        if (titles.count(titles[i]) > 1 && isGeneric(QFileInfo(paths[i]).fileName()))
            titles[i] += u'/' + QFileInfo(paths[i]).fileName();
    return titles;
}

}  // namespace relascope::app

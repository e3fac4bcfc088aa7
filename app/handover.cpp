// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/handover.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace relascope::app {
namespace {

constexpr qsizetype kLongestPath = 16384, kLongestToken = 1024;

bool isToken(const QByteArray& token) {
    return token.size() <= kLongestToken &&
           std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool isPath(const QString& path) {
    return !path.isEmpty() && path.size() <= kLongestPath && QDir::isAbsolutePath(path) &&
           !path.startsWith(u':') && !path.contains(QChar(u'\0'));
}

}  // namespace

QByteArray encoded(const Handover& handover) {
    QJsonObject object{{"open", QJsonArray::fromStringList(handover.paths)}};
    if (isToken(handover.activation))
        object.insert("activation", QString::fromLatin1(handover.activation));
    return QJsonDocument(object).toJson(QJsonDocument::Compact) + '\n';
}

std::optional<Handover> decodedHandover(const QByteArray& line) {
    if (line.size() > kLongestHandover || !line.endsWith('\n')) return std::nullopt;
    const QJsonDocument document = QJsonDocument::fromJson(line);
    if (!document.isObject() || !document.object().value("open").isArray()) return std::nullopt;
    const QJsonArray open = document.object().value("open").toArray();
    if (open.size() > kMostPaths) return std::nullopt;
    Handover handover;
    for (const auto& path : open) {
        if (!isPath(path.toString())) return std::nullopt;
        handover.paths << path.toString();
    }
    const QByteArray token = document.object().value("activation").toString().toUtf8();
    if (isToken(token)) handover.activation = token;
    return handover;
}

}  // namespace relascope::app

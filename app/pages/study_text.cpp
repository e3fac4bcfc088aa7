// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/study_text.h"

#include <QRegularExpression>
#include <set>

namespace relascope::app {
namespace {

constexpr qint64 kMostSizes = 1000;

}  // namespace

std::vector<std::int64_t> parseSizes(const QString& text, QString* error) {
    static const QRegularExpression range(
        QStringLiteral("^(\\d+)\\s*(?:\\.\\.|-|to)\\s*(\\d+)(?:\\s*step\\s*(\\d+))?$"));
    std::set<std::int64_t> sizes;
    const auto refuse = [error](const QString& sentence) {
        if (error) *error = sentence;
        return std::vector<std::int64_t>();
    };
    if (error) error->clear();
    const QStringList parts = text.split(QRegularExpression(QStringLiteral("[,;]")));
    for (const QString& piece : parts) {
        const QString part = piece.trimmed();
        if (part.isEmpty()) continue;
        bool whole = false;
        if (const qint64 size = part.toLongLong(&whole); whole) {
            if (size < 1) return refuse(QStringLiteral("%1 is not a training size").arg(part));
            sizes.insert(size);
            continue;
        }
        const auto found = range.match(part);
        if (!found.hasMatch())
            return refuse(
                QStringLiteral(
                    "\u2018%1\u2019 is not an integer; write 250, 500, 1000 or 250..2500 step 250")
                    .arg(part));
        const qint64 first = found.captured(1).toLongLong(), last = found.captured(2).toLongLong();
        const qint64 by = found.captured(3).isEmpty() ? first : found.captured(3).toLongLong();
        if (first < 1 || by < 1 || last < first)
            return refuse(
                QStringLiteral("\u2018%1\u2019 is an empty range; write 250..2500 step 250")
                    .arg(part));
        if ((last - first) / by >= kMostSizes)
            return refuse(QStringLiteral("\u2018%1\u2019 is more than 1,000 sizes").arg(part));
        for (qint64 size = first; size <= last; size += by) sizes.insert(size);
    }
    return {sizes.begin(), sizes.end()};
}

QStringList parseValues(const QString& text) {
    QStringList values;
    QString value;
    int depth = 0;
    for (const QChar c : text + u',') {
        depth += c == u'[' || c == u'{' ? 1 : c == u']' || c == u'}' ? -1 : 0;
        if (c != u',' || depth > 0) {
            value += c;
            continue;
        }
        if (!value.trimmed().isEmpty()) values << value.trimmed();
        value.clear();
    }
    if (!value.trimmed().isEmpty()) values << value.trimmed();  // a bracket was left open
    return values;
}

QString nameProblem(const QString& name) {
    if (name.trimmed().isEmpty()) return QStringLiteral("Enter a name for the study");
    if (name.contains(u'/') || name == QLatin1String(".") || name == QLatin1String(".."))
        return QStringLiteral("The name is used for a folder and must not contain /");
    return {};
}

}  // namespace relascope::app

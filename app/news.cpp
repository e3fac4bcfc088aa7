// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/news.h"

#include <QFile>
#include <QRegularExpression>
#include <QSettings>
#include <QVersionNumber>

#include "app/documents.h"
#include "app/main_window.h"
#include "options/builtin_resources.h"
#include "widgets/help/document_format.h"
#include "widgets/help/news_dialog.h"

namespace relascope::app {
namespace {

constexpr const char* kSeenKey = "news/version";

QString ownVersion() {
    return QString::fromLatin1(core::builtin::version());
}

/// Documents that the change log names become links with their titles.
QString withLinks(QString markdown) {
    for (const auto& document : documents()) {
        const QString title = widgets::markdownTitle(document.markdown);
        markdown.replace(
            QString("`resources/docs/%1`").arg(document.name),
            QString("[%1](%2)").arg(title.isEmpty() ? document.name : title, document.name));
    }
    return markdown;
}

widgets::NewsDialog* show(MainWindow& window, const QString& markdown) {
    if (auto* open = window.findChild<widgets::NewsDialog*>()) {
        open->raise();
        open->activateWindow();
        return open;
    }
    auto* dialog = new widgets::NewsDialog(QString("What is new in Relascope %1").arg(ownVersion()),
                                           withLinks(markdown), &window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    QObject::connect(dialog, &widgets::NewsDialog::documentRequested, &window,
                     [&window](const QString& link) { showDocuments(&window, link); });
    dialog->show();
    return dialog;
}

}  // namespace

QString changelog() {
    QFile file(QStringLiteral(":/news/CHANGELOG.md"));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString newsSince(const QString& changelog, const QString& seen, const QString& now) {
    static const QRegularExpression heading(QStringLiteral("^## +(.+?) *$"),
                                            QRegularExpression::MultilineOption);
    const auto versionOf = [](const QString& text) { return QVersionNumber::fromString(text); };
    const QVersionNumber last = versionOf(seen), current = versionOf(now);
    QString news;
    for (auto it = heading.globalMatch(changelog); it.hasNext();) {
        const auto match = it.next();
        const qsizetype end = it.hasNext() ? it.peekNext().capturedStart() : changelog.size();
        // "Unreleased" has no number: what is newer than the newest version.
        const QVersionNumber version = versionOf(match.captured(1));
        if (!version.isNull() && version > current) continue;
        if (!version.isNull() && !last.isNull() && version <= last) break;
        news += changelog.mid(match.capturedStart(), end - match.capturedStart());
        if (last.isNull()) break;
    }
    return news;
}

widgets::NewsDialog* showNews(MainWindow& window) {
    const QString all = changelog();
    return show(window, all.mid(all.indexOf(QLatin1String("\n## ")) + 1));
}

widgets::NewsDialog* showNewsAfterUpdate(MainWindow& window, bool firstStart) {
    QSettings settings;
    const QString seen = settings.value(QLatin1String(kSeenKey)).toString(), now = ownVersion();
    if (seen == now) return nullptr;
    settings.setValue(QLatin1String(kSeenKey), now);
    if (firstStart) return nullptr;
    const QString news = newsSince(changelog(), seen, now);
    return news.isEmpty() ? nullptr : show(window, news);
}

}  // namespace relascope::app

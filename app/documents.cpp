// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/documents.h"

#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QUrl>
#include <algorithm>

namespace relascope::app {
namespace {

constexpr const char* kFolder = ":/docs/";
constexpr const char* kIndex = "index.md";

QByteArray contents(const QString& name) {
    QFile file(QLatin1String(kFolder) + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

std::vector<widgets::HelpDocument> documents() {
    const QString index = QString::fromUtf8(contents(QLatin1String(kIndex)));
    QStringList names{QLatin1String(kIndex)};
    static const QRegularExpression link(QStringLiteral("\\]\\(([a-z0-9-]+\\.md)\\)"));
    for (auto it = link.globalMatch(index); it.hasNext();) names << it.next().captured(1);
    // Documents missing in the index are shown, too.
    names << QDir(QLatin1String(kFolder))
                 .entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name);
    names.removeDuplicates();
    std::vector<widgets::HelpDocument> found;
    for (const QString& name : std::as_const(names))
        if (const QByteArray text = contents(name); !text.isEmpty())
            found.push_back({name, QString::fromUtf8(text)});
    return found;
}

widgets::DocumentViewer* showDocuments(QWidget* parent, const QString& link) {
    auto* viewer =
        parent->findChild<widgets::DocumentViewer*>(QString(), Qt::FindDirectChildrenOnly);
    if (!viewer) {
        viewer = new widgets::DocumentViewer(parent);
        QHash<QString, QByteArray> pictures;
        const QDir folder{QLatin1String(kFolder)};
        for (const QString& name : folder.entryList({QStringLiteral("*.svg")}, QDir::Files))
            pictures.insert(name, contents(name));
        viewer->setPictures(pictures);
        viewer->setDocuments(documents());
        QObject::connect(viewer, &widgets::DocumentViewer::externalLink, viewer,
                         [](const QUrl& url) { QDesktopServices::openUrl(url); });
    }
    if (!link.isEmpty()) viewer->open(link);
    viewer->show();
    viewer->raise();
    viewer->activateWindow();
    return viewer;
}

}  // namespace relascope::app

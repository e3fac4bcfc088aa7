// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/crash_notice.h"

#include <QDateTime>
#include <QDialog>
#include <QDir>
#include <QHBoxLayout>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

#include "app/controllers/controllers.h"
#include "app/help.h"
#include "app/main_window.h"
#include "widgets/bar/notice_bar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

constexpr const char* kToldKey = "crash/told";

/// "~/.local/state/relascope/crash-....txt"
QString shortPath(const QString& path) {
    const QString home = QDir::homePath() + u'/';
    return path.startsWith(home) ? QStringLiteral("~/") + path.mid(home.size()) : path;
}

void showReport(MainWindow& window, const QString& path, const QString& text) {
    auto* dialog = new QDialog(&window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(QStringLiteral("Crash report"));
    auto* place = new QLabel(shortPath(path), dialog);
    place->setFont(widgets::smallFont());
    place->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* hint = widgets::mutedLabel(
        QStringLiteral("The report names functions, versions and the last lines of the log. It "
                       "holds no values and no texts."),
        dialog);
    hint->setFont(widgets::smallFont());
    auto* field = new QPlainTextEdit(text, dialog);
    field->setReadOnly(true);
    field->setFont(widgets::monoFont(12));
    field->setLineWrapMode(QPlainTextEdit::NoWrap);
    field->setAccessibleName(QStringLiteral("Report"));
    field->setProperty("field", true);
    auto* copy = new QPushButton(widgets::icon("copy"), QStringLiteral("Copy"), dialog);
    auto* close = new QPushButton(QStringLiteral("Close"), dialog);
    copy->setProperty("primary", true);
    copy->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addWidget(hint, 1);
    for (auto* button : {copy, close}) buttons->addWidget(button);
    auto* column = widgets::columnOf(dialog, {20, 16, 20, 16}, 12);
    column->addWidget(place);
    column->addWidget(field, 1);
    column->addLayout(buttons);
    QObject::connect(copy, &QPushButton::clicked, dialog,
                     [field] { copyText(field->toPlainText()); });
    QObject::connect(close, &QPushButton::clicked, dialog, &QDialog::reject);
    dialog->resize(860, 560);
    dialog->show();
}

widgets::NoticeBar* showNotice(MainWindow& window, const std::vector<crash::Report>& reports) {
    const QString sentence = crashSentence(reports);
    const QString path = QString::fromStdString(reports.back().path);
    auto* notice = new widgets::NoticeBar(sentence, &window);
    auto* show = notice->addButton(QStringLiteral("Show report"));
    auto* copy = notice->addButton(QStringLiteral("Copy path"));
    copy->setToolTip(path);
    QObject::connect(show, &QPushButton::clicked, &window, [&window, path] {
        auto& controllers = window.controllers();
        controllers.disk.post(
            &window,
            [file = path.toStdString()](const std::stop_token&) {
                return crash::readableReport(file);
            },
            [&window, path](const std::string& text) {
                if (text.empty())
                    window.controllers().messages.error(
                        QString("%1: cannot be read; it may have been deleted").arg(path));
                else
                    showReport(window, path, QString::fromStdString(text));
            });
    });
    QObject::connect(copy, &QPushButton::clicked, &window, [&window, path] {
        copyText(path);
        window.controllers().messages.ok(QString("Copied %1").arg(shortPath(path)));
    });
    window.showNotice(notice);
    return notice;
}

void look(MainWindow& window, const std::function<void(const std::vector<crash::Report>&)>& done) {
    window.controllers().disk.post(
        &window, [](const std::stop_token&) { return crash::reports(crash::folder()); },
        [done](const std::vector<crash::Report>& all) { done(newReports(all)); });
}

}  // namespace

std::vector<crash::Report> newReports(const std::vector<crash::Report>& all) {
    QSettings settings;
    const QStringList told = settings.value(QLatin1String(kToldKey)).toStringList();
    std::vector<crash::Report> fresh;
    QStringList names;
    for (const auto& report : all) {
        names << QString::fromStdString(crash::nameOf(report));
        if (!told.contains(names.last())) fresh.push_back(report);
    }
    if (names != told) settings.setValue(QLatin1String(kToldKey), names);
    return fresh;
}

QString crashSentence(const std::vector<crash::Report>& reports) {
    const auto& last = reports.back();
    const QString program = QString::fromStdString(last.program);
    const QString time = QString::fromStdString(last.time);
    const QDateTime at =
        QDateTime::fromString(time.left(19), QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    const QString when =
        at.isValid() ? QLocale::c().toString(at, QStringLiteral("'on' d MMMM 'at' HH:mm")) : time;
    const std::size_t others = reports.size() - 1;
    return QString("%1 crashed %2: %3.%4")
        .arg(program == QLatin1String("relascope") ? QStringLiteral("Relascope") : program, when,
             QString::fromStdString(last.what),
             others == 0   ? QString()
             : others == 1 ? QStringLiteral(" There is one report more.")
                           : QString(" There are %1 reports more.").arg(others));
}

void showCrashNotice(MainWindow& window, const std::function<void(widgets::NoticeBar*)>& done) {
    look(window, [&window, done](const std::vector<crash::Report>& fresh) {
        auto* notice = fresh.empty() ? nullptr : showNotice(window, fresh);
        if (notice)
            window.controllers().messages.warning(
                QString("%1 The report is %2")
                    .arg(notice->sentence(), shortPath(QString::fromStdString(fresh.back().path))));
        if (done) done(notice);
    });
}

void followCrashes(MainWindow& window) {
    QObject::connect(&window.controllers().messages, &Messages::message, &window,
                     [&window](widgets::MessageLevel level, const QString& sentence) {
                         if (level != widgets::MessageLevel::Error ||
                             !sentence.contains(QLatin1String("/crash-")))
                             return;
                         look(window, [&window](const std::vector<crash::Report>& fresh) {
                             if (!fresh.empty()) showNotice(window, fresh);
                         });
                     });
}

}  // namespace relascope::app

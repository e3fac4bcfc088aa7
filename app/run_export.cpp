// SPDX-License-Identifier: GPL-3.0-or-later
#include <signal.h>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QTemporaryFile>

#include "app/app_context.h"
#include "app/command_log.h"
#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/run_export.h"
#include "app/view_files.h"
#include "files/atomic_file.h"
#include "question/question_words.h"
#include "run/run_export.h"
#include "views/papers_figures.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"
#include "wire/child_process.h"
#include "wire/host_link.h"

namespace relascope::app {

PageExport::PageExport(MainWindow& window)
    : QObject(&window),
      m_window(window),
      m_all(new QAction(QStringLiteral("Export all views of this page..."), this)) {
    m_all->setToolTip(
        QStringLiteral("Each view as PDF and PNG, with its table as CSV, into one folder"));
    connect(m_all, &QAction::triggered, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(
            &m_window, QStringLiteral("Folder for the figures of this page"));
        if (!folder.isEmpty()) exportAllViews(folder);
    });
}

void PageExport::listen(widgets::ViewMenu* menu) {
    auto* messages = &m_window.controllers().messages;
    connect(menu, &widgets::ViewMenu::saved, messages, [messages, menu](const QString& path) {
        messages->ok(QString("Wrote %1").arg(path));
        // Commands write pictures, and tables of all but studies.
        const auto view = menu->described();
        const QString ending = QFileInfo(path).suffix();
        const bool table = ending == QLatin1String("csv") && view && view->command != "study";
        if (view && (table || QStringList{"png", "svg", "pdf"}.contains(ending)))
            commandLog().add(QString::fromStdString(core::commandOf(*view, path.toStdString())),
                             QStringLiteral("Saved %1").arg(QFileInfo(path).fileName()));
    });
    connect(menu, &widgets::ViewMenu::failed, messages, &Messages::error);
    connect(menu, &widgets::ViewMenu::viewSaving, &m_window.views(),
            [this, menu](const View& view, const QString& path, bool withData) {
                m_window.views().save(menu, view, path, withData);
            });
}

void PageExport::popUpMenu() {
    QMenu menu(&m_window);
    menu.setToolTipsVisible(true);
    for (auto* view : m_window.findChildren<widgets::ViewMenu*>()) {
        if (!view->view()->isVisible()) continue;
        view->menu()->setTitle(view->view()->accessibleName());
        menu.addMenu(view->menu());
    }
    menu.addSeparator();
    menu.addAction(widgets::paperAction());
    menu.addAction(m_all);
    const auto* bar = m_window.menuBar();
    menu.exec(m_window.mapToGlobal(
        QPoint(bar->actionGeometry(bar->actions().first()).left() + 8, bar->height() + 4)));
}

QStringList PageExport::exportAllViews(const QString& folder) {
    auto& messages = m_window.controllers().messages;
    QString error;
    const QStringList written =
        widgets::exportAll(*m_window.page(m_window.currentPage()), folder, &error);
    if (error.isEmpty())
        messages.ok(QStringLiteral("Wrote %1 files into %2").arg(written.size()).arg(folder));
    else
        messages.error(error);
    return written;
}

RunExport::RunExport(Messages& messages, QWidget* window) : QObject(window), m_messages(messages) {
    askFile = [window](const QString& title, const QString& suggested, const QString& filter) {
        return widgets::chooseSaveFile(window, title, suggested, filter);
    };
    connect(&m_task, &LongTask::failed, &m_messages, &Messages::error);
}

QString RunExport::disabledReason() const {
    return m_task.busy() ? QStringLiteral("Wait until the export has ended") : QString();
}

void RunExport::toCsv(const QString& run) {
    toFile(run, QStringLiteral("csv"), QStringLiteral("Export points as CSV"), &core::metricsCsv);
}

void RunExport::toJson(const QString& run) {
    toFile(run, QStringLiteral("json"), QStringLiteral("Export as JSON"), &core::runJson);
}

void RunExport::figure(const QString& name, const QString& path) {
    const auto& figure = core::papersFigure(name.toStdString());
    QString to = askFile(QString::fromStdString(figure.title), name + QStringLiteral(".pdf"),
                         QStringLiteral("Figures (*.pdf *.svg *.png)"));
    if (to.isEmpty()) return;
    if (QFileInfo(to).suffix().isEmpty()) to += QStringLiteral(".pdf");
    std::vector<std::string> words = {wire::commandProgram(), "figure", figure.name,
                                      path.toStdString(),     "--out",  to.toStdString()};
    if (widgets::figureStyle().paper) words.emplace_back("--paper");
    m_task.run(
        m_queue, QString("Drawing %1").arg(QFileInfo(to).fileName()),
        [words](LongJob& job, std::stop_token stop) {
            QTemporaryFile said;
            if (!said.open()) throw Error("no temporary file can be made");
            const wire::ChildProcess child(words, {{said.handle(), 1}, {said.handle(), 2}});
            const auto wanted = job.callback(std::move(stop));
            bool asked = false;
            for (;;) {
                if (const auto ended = child.status(std::chrono::milliseconds(100))) {
                    if (asked) throw Cancelled();
                    if (*ended == 0) return true;
                    said.seek(0);
                    const QByteArray text = said.readAll().trimmed();
                    throw Error(text.mid(text.lastIndexOf('\n') + 1).toStdString());
                }
                if (!wanted(0.0) && !std::exchange(asked, true)) ::kill(child.id(), SIGINT);
            }
        },
        [this, to](bool) { m_messages.ok(QString("Wrote %1").arg(to)); });
}

void RunExport::fetch(const QString& run, const QString& to, std::function<void()> then) {
    m_task.run(
        m_queue, QString("Copying %1").arg(QFileInfo(run).fileName()),
        [run = run.toStdString(), to = to.toStdString()](LongJob& job, std::stop_token stop) {
            wire::fetchRun(run, to, true, job.callback(std::move(stop)));
            return true;
        },
        [this, to, then = std::move(then)](bool) {
            m_messages.ok(QString("Copied to %1").arg(to));
            Q_EMIT fetched(to);
            if (then) then();
        });
}

void RunExport::toFile(const QString& run, const QString& ending, const QString& what,
                       std::string (*content)(const std::string&)) {
    const QString name =
        QString::fromStdString(core::exportName(run.toStdString())).replace(u'/', u'-');
    QString path =
        askFile(what, name + u'.' + ending, QString("%1 (*.%2)").arg(ending.toUpper(), ending));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += u'.' + ending;
    m_task.run(
        m_queue, QString("Writing %1").arg(QFileInfo(path).fileName()),
        [from = run.toStdString(), to = path.toStdString(), content](LongJob& job,
                                                                     std::stop_token stop) {
            const std::string text = content(from);
            if (!job.callback(std::move(stop))(0.5)) throw Cancelled();
            core::writeTextFile(to, text);
            return true;
        },
        [this, path](bool) { m_messages.ok(QString("Wrote %1").arg(path)); });
}

}  // namespace relascope::app

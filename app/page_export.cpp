// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/page_export.h"

#include <QAction>
#include <QFileDialog>
#include <QMenu>
#include <QMenuBar>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "widgets/export/export.h"

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
    connect(menu, &widgets::ViewMenu::saved, messages,
            [messages](const QString& path) { messages->ok(QString("Wrote %1").arg(path)); });
    connect(menu, &widgets::ViewMenu::failed, messages, &Messages::error);
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

}  // namespace relascope::app

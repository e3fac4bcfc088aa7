// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/script_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>
#include <utility>

#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

ScriptDialog::ScriptDialog(const QString& title, QString name, QString filter, QWidget* parent)
    : QDialog(parent), m_top(new QHBoxLayout), m_text(new QPlainTextEdit(this)) {
    setWindowTitle(title);
    m_top->setSpacing(8);
    m_text->setReadOnly(true);
    m_text->setFont(widgets::monoFont(12));
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setAccessibleName(QStringLiteral("Script"));
    m_text->setProperty("field", true);
    auto* copy = new QPushButton(widgets::icon("copy"), QStringLiteral("Copy"), this);
    auto* save = new QPushButton(widgets::icon("export"), QStringLiteral("Save\u2026"), this);
    auto* close = new QPushButton(QStringLiteral("Close"), this);
    copy->setProperty("primary", true);
    copy->setDefault(true);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    for (auto* button : {save, copy, close}) buttons->addWidget(button);
    auto* column = widgets::columnOf(this, {20, 16, 20, 16}, 12);
    column->addLayout(m_top);
    column->addWidget(m_text, 1);
    column->addLayout(buttons);
    connect(copy, &QPushButton::clicked, this,
            [this] { QApplication::clipboard()->setText(text()); });
    connect(save, &QPushButton::clicked, this,
            [this, name = std::move(name), filter = std::move(filter)] {
                const QString path =
                    widgets::chooseSaveFile(this, QStringLiteral("Save the script"), name, filter);
                QString error;
                if (!path.isEmpty() && !ScriptDialog::save(text(), path, &error))
                    QMessageBox::warning(this, windowTitle(), error);
            });
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    resize(760, 380);
}

QString ScriptDialog::text() const {
    return m_text->toPlainText();
}

void ScriptDialog::setText(const QString& text) {
    auto* bar = m_text->verticalScrollBar();
    const bool atEnd = bar->maximum() > 0 && bar->value() == bar->maximum();
    m_text->setPlainText(text);
    if (atEnd) bar->setValue(bar->maximum());
}

bool ScriptDialog::save(const QString& script, const QString& path, QString* error) {
    if (!widgets::exportCsv(script, path, error)) return false;
    QFile::setPermissions(path, QFile::permissions(path) | QFile::ExeOwner | QFile::ExeUser |
                                    QFile::ExeGroup | QFile::ExeOther);
    return true;
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_log.h"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

#include "options/builtin_resources.h"
#include "options/run_settings.h"
#include "views/view_words.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

void CommandLog::add(const QString& command, const QString& remark) {
    if (command == m_last) return;
    m_last = command;
    m_commands << QStringLiteral("# %1\n%2\n").arg(QString(remark).replace(u'\n', u' '), command);
    Q_EMIT changed();
}

void CommandLog::addTraining(const QString& run, const RunOptions& options, bool resumed) {
    std::vector<std::string> words = {"train", "--resume", run.toStdString()};
    if (resumed && options.train.steps > 0)
        words.insert(words.end(), {"--steps", std::to_string(options.train.steps)});
    if (!resumed) {
        words = core::trainWords(options);
        if (words.empty()) return;  // a preset of another version: run.json has its options
        words.insert(words.end(), {"--out", run.toStdString()});
    }
    add(QString::fromStdString(core::commandLine(words)),
        (resumed ? QStringLiteral("Resumed %1") : QStringLiteral("Trained %1"))
            .arg(run.section(u'/', -1)));
}

QString CommandLog::script() const {
    return QStringLiteral("#!/bin/sh\n# Relascope %1: what was done in the window.\nset -e\n\n")
               .arg(QString::fromStdString(std::string(core::builtin::version()))) +
           m_commands.join(u'\n');
}

CommandLog& commandLog() {
    static CommandLog log;
    return log;
}

CommandLogDialog::CommandLogDialog(QWidget* parent)
    : QDialog(parent), m_text(new QPlainTextEdit(this)) {
    setWindowTitle(QStringLiteral("Commands"));
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
    column->addWidget(widgets::mutedLabel(
        QStringLiteral("What was opened, trained, measured and saved in this window, as a script "
                       "that does it again."),
        this));
    column->addWidget(m_text, 1);
    column->addLayout(buttons);
    connect(copy, &QPushButton::clicked, this,
            [this] { QApplication::clipboard()->setText(m_text->toPlainText()); });
    connect(save, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getSaveFileName(this, QStringLiteral("Save the commands"),
                                                          QStringLiteral("relascope.sh"),
                                                          QStringLiteral("Shell script (*.sh)"));
        QString error;
        if (!path.isEmpty() && !CommandLogDialog::save(path, &error))
            QMessageBox::warning(this, windowTitle(), error);
    });
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    const auto show = [this] {
        const bool atEnd =
            m_text->verticalScrollBar()->value() == m_text->verticalScrollBar()->maximum();
        m_text->setPlainText(commandLog().script());
        if (atEnd) m_text->verticalScrollBar()->setValue(m_text->verticalScrollBar()->maximum());
    };
    connect(&commandLog(), &CommandLog::changed, this, show);
    show();
    resize(760, 380);
}

bool CommandLogDialog::save(const QString& path, QString* error) {
    if (!widgets::exportCsv(commandLog().script(), path, error)) return false;
    QFile::setPermissions(path, QFile::permissions(path) | QFile::ExeOwner | QFile::ExeUser |
                                    QFile::ExeGroup | QFile::ExeOther);
    return true;
}

}  // namespace relascope::app

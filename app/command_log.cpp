// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_log.h"

#include <QHBoxLayout>
#include <QLabel>

#include "files/command_line.h"
#include "options/builtin_resources.h"
#include "options/run_settings.h"
#include "widgets/theme/controls.h"

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
    : ScriptDialog(QStringLiteral("Commands"), QStringLiteral("relascope.sh"),
                   QStringLiteral("Shell scripts (*.sh)"), parent) {
    top()->addWidget(widgets::mutedLabel(
        QStringLiteral("What was opened, trained, measured and saved in this window, as a script "
                       "that does it again."),
        this));
    const auto show = [this] { setText(commandLog().script()); };
    connect(&commandLog(), &CommandLog::changed, this, show);
    show();
}

}  // namespace relascope::app

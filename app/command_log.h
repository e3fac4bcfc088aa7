// SPDX-License-Identifier: GPL-3.0-or-later
// What was opened, trained, measured and saved in this window, as the commands that do the same: a
// script that runs.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include "app/pages/script_dialog.h"

namespace relascope {
struct RunOptions;
}  // namespace relascope

namespace relascope::app {

class CommandLog : public QObject {
    Q_OBJECT
public:
    /// Adds a command, with a remark on the line above it; not twice in a row.
    void add(const QString& command, const QString& remark);
    /// A new run with these options, or the run that was resumed.
    void addTraining(const QString& run, const RunOptions& options, bool resumed);
    bool isEmpty() const { return m_commands.isEmpty(); }
    /// All of them as a shell script, which stops at the first command that fails.
    QString script() const;

Q_SIGNALS:
    void changed();

private:
    QString m_last;
    QStringList m_commands;  ///< with their remarks
};

/// The log of this process.
CommandLog& commandLog();

/// Shows the script, which grows while the dialog is open.
class CommandLogDialog : public ScriptDialog {
    Q_OBJECT
public:
    explicit CommandLogDialog(QWidget* parent);
};

}  // namespace relascope::app

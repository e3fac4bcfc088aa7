// SPDX-License-Identifier: GPL-3.0-or-later
// Answers what ssh asks: passwords, codes, whether a key is right. ssh starts this program with the
// question as its arguments (SSH_ASKPASS, set in the environment by wire/host.h) and reads the
// answer from standard output.
#pragma once

#include <QByteArray>
#include <QDialog>
#include <QString>

class QLabel;
class QLineEdit;

namespace relascope::app {

/// Whether ssh has started this program.
bool isAskpass();
/// Asks the user and writes the answer to standard output. Returns the exit status: 0, or 1 if the
/// user refused to answer.
int runAskpass(int argc, char** argv);

enum class SshQuestion {
    Secret,  ///< a word that is not shown
    YesNo,   ///< answered by "yes" or "no"
    Notice   ///< no answer is read: ssh ends the dialog, as when a key is touched
};
/// The kind of a question of ssh; `hint` is the value of SSH_ASKPASS_PROMPT.
SshQuestion questionOf(const QString& words, const QByteArray& hint);

class AskpassDialog : public QDialog {
    Q_OBJECT
public:
    AskpassDialog(const QString& words, SshQuestion question, QWidget* parent = nullptr);

    /// The answer, after the dialog was accepted.
    QString answer() const;
    QLabel* words() const { return m_words; }
    QLineEdit* field() const { return m_field; }  ///< null without a field

private:
    QLabel* m_words;
    QLineEdit* m_field = nullptr;
    QString m_answer;
};

}  // namespace relascope::app

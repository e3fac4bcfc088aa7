// SPDX-License-Identifier: GPL-3.0-or-later
// What ssh asks: passwords, codes, whether a key is right. ssh starts this program with its words
// (SSH_ASKPASS), as wire/host.h tells it to by the environment, and reads the answer from standard
// output.
#pragma once

#include <QByteArray>
#include <QDialog>
#include <QString>

class QLabel;
class QLineEdit;

namespace relascope::app {

/// Whether ssh has started this program.
bool isAskpass();
/// Asks, and writes the answer. Exit status 0; 1 where the question was refused.
int runAskpass(int argc, char** argv);

enum class Question {
    Secret,  ///< a word that is not shown
    YesNo,   ///< answered by "yes" or "no"
    Notice   ///< no answer is read: ssh ends the dialog, as when a key is touched
};
/// `hint`: SSH_ASKPASS_PROMPT.
Question questionOf(const QString& words, const QByteArray& hint);

class AskpassDialog : public QDialog {
    Q_OBJECT
public:
    AskpassDialog(const QString& words, Question question, QWidget* parent = nullptr);

    /// Of an accepted dialog.
    QString answer() const;
    QLabel* words() const { return m_words; }
    QLineEdit* field() const { return m_field; }  ///< null without a field

private:
    QLabel* m_words;
    QLineEdit* m_field = nullptr;
    QString m_answer;
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
// A script that was made for the user: the text, copy and save.
#pragma once

#include <QDialog>
#include <QString>

class QHBoxLayout;
class QPlainTextEdit;

namespace relascope::app {

class ScriptDialog : public QDialog {
    Q_OBJECT
public:
    /// `name`: the suggested name of its file; `filter`: as of QFileDialog.
    ScriptDialog(const QString& title, QString name, QString filter, QWidget* parent);

    QString text() const;
    /// Writes a script so that it can be executed. False with the reason on failure.
    static bool save(const QString& script, const QString& path, QString* error);

protected:
    /// The row above the text.
    QHBoxLayout* top() const { return m_top; }
    void setText(const QString& text);

private:
    QHBoxLayout* m_top;
    QPlainTextEdit* m_text;
};

}  // namespace relascope::app

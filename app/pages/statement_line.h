// SPDX-License-Identifier: GPL-3.0-or-later
// A line for statements that are made of known words, which completes the one that is typed.
#pragma once

#include <QLineEdit>
#include <QStringList>

class QCompleter;
class QStringListModel;

namespace relascope::app {

class StatementLine : public QLineEdit {
    Q_OBJECT
public:
    explicit StatementLine(QWidget* parent);
    void setWords(const QStringList& words);
    QStringList words() const;
    /// The list of words below the line.
    QCompleter* list() const { return m_list; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// Where the word that is typed begins: behind "and", "or", "not", ";" or a parenthesis.
    int beginOfWord() const;
    void offer();
    void take(const QString& word);

    QStringListModel* m_words;
    QCompleter* m_list;
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/statement_line.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QStringListModel>

namespace relascope::app {

StatementLine::StatementLine(QWidget* parent)
    : QLineEdit(parent), m_words(new QStringListModel(this)), m_list(new QCompleter(this)) {
    m_list->setModel(m_words);
    m_list->setFilterMode(Qt::MatchContains);
    m_list->setCaseSensitivity(Qt::CaseInsensitive);
    // Not the line's own completer, which would replace all of its text.
    m_list->setWidget(this);
    connect(m_list, qOverload<const QString&>(&QCompleter::activated), this, &StatementLine::take);
    connect(this, &QLineEdit::textEdited, this, &StatementLine::offer);
}

void StatementLine::setWords(const QStringList& words) {
    if (words != m_words->stringList()) m_words->setStringList(words);
}

QStringList StatementLine::words() const {
    return m_words->stringList();
}

int StatementLine::beginOfWord() const {
    // A parenthesis behind a name belongs to the word: "same(colour)".
    static const QRegularExpression ends(
        QStringLiteral("\\b(?:and|or|not)\\s+|;\\s*|(?<![\\w\"])\\(\\s*"));
    int begin = 0;
    auto all = ends.globalMatch(text().left(cursorPosition()));
    while (all.hasNext()) begin = static_cast<int>(all.next().capturedEnd());
    return begin;
}

void StatementLine::offer() {
    const QString typed = text().mid(beginOfWord(), cursorPosition() - beginOfWord());
    m_list->setCompletionPrefix(typed);
    const bool whole = m_list->completionCount() == 1 && m_list->currentCompletion() == typed;
    if (typed.trimmed().isEmpty() || m_list->completionCount() == 0 || whole)
        return m_list->popup()->hide();
    m_list->complete();
}

void StatementLine::take(const QString& word) {
    const int begin = beginOfWord();
    setSelection(begin, cursorPosition() - begin);
    insert(word);
}

void StatementLine::keyPressEvent(QKeyEvent* event) {
    // The list takes these keys while it is open.
    if (m_list->popup()->isVisible())
        for (const int key : {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Tab, Qt::Key_Escape})
            if (event->key() == key) return event->ignore();
    QLineEdit::keyPressEvent(event);
}

}  // namespace relascope::app

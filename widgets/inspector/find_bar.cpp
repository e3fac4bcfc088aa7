// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/inspector/find_bar.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <algorithm>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

FindBar::FindBar(QWidget* parent) : QWidget(parent) {
    auto* row = rowOf(this, {}, 4);
    m_field = new QLineEdit(this);
    m_field->setFont(smallFont());
    m_field->setPlaceholderText(QStringLiteral("Find a token"));
    m_field->setAccessibleName(QStringLiteral("Find a token"));
    m_field->setToolTip(QStringLiteral("F3: next match, Shift+F3: previous, Enter: choose as i"));
    m_field->setMaximumWidth(320);
    m_field->setMinimumWidth(70);
    m_count = mutedLabel({}, this);
    m_count->setAccessibleName(QStringLiteral("Matches"));
    m_previous = framedIconButton("chevron-up", QStringLiteral("Previous match (Shift+F3)"), this);
    m_next = framedIconButton("chevron-down", QStringLiteral("Next match (F3)"), this);
    auto* closing = iconButton("close", QStringLiteral("Close the search (Esc)"), this);
    row->addWidget(m_field, 1);
    for (QWidget* w : std::initializer_list<QWidget*>{m_previous, m_next, m_count})
        row->addWidget(w);
    row->addStretch(0);
    row->addWidget(closing);
    hide();
    connect(m_field, &QLineEdit::textChanged, this, &FindBar::search);
    connect(m_field, &QLineEdit::returnPressed, this, [this] {
        if (m_current >= 0)
            Q_EMIT tokenChosen(m_matches[static_cast<std::size_t>(m_current)].first);
    });
    connect(m_previous, &QToolButton::clicked, this, [this] { step(false); });
    connect(m_next, &QToolButton::clicked, this, [this] { step(true); });
    connect(closing, &QToolButton::clicked, this, &FindBar::dismiss);
    describe();
}

void FindBar::setTokens(const std::vector<std::string>& pieces) {
    if (pieces == m_pieces) return;
    m_pieces = pieces;
    if (!isHidden()) search();
}

void FindBar::open() {
    const bool hidden = isHidden();
    show();
    m_field->setFocus(Qt::ShortcutFocusReason);
    m_field->selectAll();
    if (hidden) search();
}

void FindBar::dismiss() {
    hide();
    m_matches.clear();
    m_current = -1;
    Q_EMIT changed();
}

void FindBar::search() {
    const TokenRange before =
        m_current >= 0 ? m_matches[static_cast<std::size_t>(m_current)] : TokenRange{0, 0};
    m_matches = findTokens(m_pieces, m_field->text().toStdString());
    // Typing on stays at the place of the match before.
    const auto from = std::find_if(m_matches.begin(), m_matches.end(),
                                   [&](const auto& match) { return match.first >= before.first; });
    m_current = m_matches.empty()         ? -1
                : from == m_matches.end() ? 0
                                          : static_cast<int>(from - m_matches.begin());
    describe();
    Q_EMIT changed();
}

void FindBar::step(bool forward) {
    if (isHidden()) return open();
    if (m_matches.empty()) return;
    const int count = static_cast<int>(m_matches.size());
    m_current = (m_current + (forward ? 1 : count - 1)) % count;
    describe();
    Q_EMIT changed();
}

void FindBar::describe() {
    m_count->setText(m_field->text().isEmpty() ? QString()
                     : m_matches.empty()
                         ? QStringLiteral("none")
                         : QStringLiteral("%1 of %2").arg(m_current + 1).arg(m_matches.size()));
    for (QToolButton* button : {m_previous, m_next}) button->setEnabled(m_matches.size() > 1);
}

void FindBar::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Escape:
            return dismiss();
        case Qt::Key_Down:
            return step(true);
        case Qt::Key_Up:
            return step(false);
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace relascope::widgets

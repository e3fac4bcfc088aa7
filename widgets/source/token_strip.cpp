// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/token_strip.h"

#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

TokenStrip::TokenStrip(QWidget* parent) : TokenView(parent) {
    setAccessibleName(QStringLiteral("Source text"));
    describe();
}

void TokenStrip::setRole(Role role) {
    if (role == m_role) return;
    m_role = role;
    refresh();
    describe();
}

void TokenStrip::setTokens(std::vector<std::string> tokens) {
    if (tokens == this->tokens()) return;
    TokenView::setTokens(std::move(tokens));
    clampChoice();
    m_matches.clear();
    m_match = -1;
    reveal(source());
    describe();
}

void TokenStrip::sourceMoved() {
    if (m_role != Role::Sends) reveal(source());
}

TokenLook TokenStrip::look(int index) const {
    const Theme& t = Theme::current();
    const bool i = m_role != Role::Sends && index == source();
    const Shade shade = this->shade(index, !i && m_role != Role::Receives);
    TokenLook wears{shade.fill, shade.ink, shade.hatch};
    if (i) {
        wears.frame = TokenLook::Frame::Solid;
        wears.frameColor = t.outline;
    } else if (inMatch(index, true)) {
        wears.frame = TokenLook::Frame::Solid;
        wears.frameColor = t.accent;
    } else if (index == shownTarget()) {
        wears.frame = TokenLook::Frame::Dashed;
        wears.frameColor = Theme::light().panel;
    } else if (m_role == Role::Receives && index == hover()) {
        wears.frame = TokenLook::Frame::Solid;
        wears.frameColor = t.controlBorder;
    }
    return wears;
}

bool TokenStrip::inMatch(int index, bool current) const {
    if (current && m_match < 0) return false;
    const auto first = m_matches.begin() + (current ? m_match : 0);
    const auto last = current ? first + 1 : m_matches.end();
    return std::any_of(first, last, [index](const TokenRange& match) {
        return match.first <= index && index <= match.second;
    });
}

void TokenStrip::setMatches(std::vector<TokenRange> matches, int current) {
    if (matches == m_matches && current == m_match) return;
    m_matches = std::move(matches);
    m_match = current >= 0 && current < static_cast<int>(m_matches.size()) ? current : -1;
    if (m_match >= 0) reveal(m_matches[static_cast<std::size_t>(m_match)].first);
    refresh();
}

QRect TokenStrip::numberRect() const {
    if (m_role == Role::Receives || hover() < 0 || !hasValue(hover()) || masked(hover())) return {};
    const QRect piece = tileRect(hover());
    QRect box(0, 0, QFontMetrics(smallFont()).horizontalAdvance(number(hover())) + 14, 20);
    box.moveTopLeft({piece.center().x() - box.width() / 2, piece.bottom() + 3});
    if (box.bottom() > viewport()->height() - 1) box.moveBottom(piece.top() - 4);
    box.moveLeft(qBound(0, box.left(), qMax(0, viewport()->width() - box.width())));
    return box;
}

void TokenStrip::paintOver(QPainter& painter) {
    const Theme& t = Theme::current();
    for (const TokenRange& match : m_matches)
        for (int k = match.first; k <= match.second; ++k) {
            const QRect place = placeOf(k);
            painter.fillRect(QRect(place.left(), place.bottom() - 1, place.width(), 2), t.accent);
        }
    if (numberRect().isEmpty()) return;
    const QRect box = numberRect().translated(0, verticalScrollBar()->value());
    paint::frame(painter, box, t.panel, t.controlBorder);
    painter.setFont(smallFont());
    painter.setPen(t.text);
    painter.drawText(box, Qt::AlignCenter, number(hover()));
}

void TokenStrip::hoverMoved(int before, int now) {
    if (m_role == Role::Receives) {
        updateTile(before);
        updateTile(now);
        return Q_EMIT rowHovered(now);
    }
    viewport()->update(m_number);
    m_number = numberRect();
    viewport()->update(m_number);
    // What was shown before the pointer came, and what it shows now.
    updateTile(before >= 0 ? before : restingTarget());
    updateTile(shownTarget());
    describe();
    Q_EMIT hovered(now);
}

bool TokenStrip::choosesTarget(Qt::KeyboardModifiers modifiers) const {
    return m_role == Role::Sends || (m_role == Role::Both && modifiers & Qt::ShiftModifier);
}
void TokenStrip::pressed(int index, Qt::KeyboardModifiers modifiers) {
    choose(this, choosesTarget(modifiers), index);
}
int TokenStrip::current(Qt::KeyboardModifiers modifiers) const {
    return choosesTarget(modifiers) ? target() : source();
}

void TokenStrip::describe() {
    const auto name = [this](int index) {
        return pieceName(index, tokens()[static_cast<std::size_t>(index)]);
    };
    QString text =
        tokens().empty() ? QStringLiteral("no text") : QStringLiteral("%1 tokens").arg(size());
    if (!tokens().empty() && m_role != Role::Sends)
        text += QStringLiteral(", i is ") + name(source());
    if (const int j = shownTarget(); j >= 0 && j < size()) {
        text += QStringLiteral(", j is ") + name(j);
        if (masked(j))
            text += QStringLiteral(", masked");
        else if (hasValue(j))
            text += QStringLiteral(", value ") + number(j);
    }
    setAccessibleDescription(text);
}

}  // namespace relascope::widgets

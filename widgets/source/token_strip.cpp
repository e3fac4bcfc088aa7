// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/token_strip.h"

#include <QPainter>
#include <algorithm>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

TokenStrip::TokenStrip(QWidget* parent) : PieceView(parent) {
    setAccessibleName(QStringLiteral("Source text"));
    describe();
}

void TokenStrip::setRole(Role role) {
    if (role == m_role) return;
    m_role = role;
    viewport()->update();
    describe();
}

void TokenStrip::setTokens(std::vector<std::string> pieces) {
    if (pieces == m_pieces) return;
    m_pieces = std::move(pieces);
    clampChoice();
    m_matches.clear();
    m_match = -1;
    setPieces(m_pieces);
    reveal(source());
    describe();
}

void TokenStrip::sourceMoved() {
    if (m_role != Role::Sends) reveal(source());
}

PieceLook TokenStrip::look(int index) const {
    const Theme& t = Theme::current();
    const bool i = m_role != Role::Sends && index == source();
    const Shade shade = this->shade(index, !i && m_role != Role::Receives);
    PieceLook wears{shade.fill, shade.ink, shade.hatch};
    if (i) {
        wears.frame = PieceLook::Frame::Solid;
        wears.frameColor = t.outline;
    } else if (inMatch(index, true)) {
        wears.frame = PieceLook::Frame::Solid;
        wears.frameColor = t.accent;
    } else if (index == shownTarget()) {
        wears.frame = PieceLook::Frame::Dashed;
        wears.frameColor = Theme::light().panel;
    } else if (m_role == Role::Receives && index == hover()) {
        wears.frame = PieceLook::Frame::Solid;
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
    viewport()->update();
}

QRect TokenStrip::numberRect() const {
    if (m_role == Role::Receives || hover() < 0 || !hasValue(hover()) || masked(hover())) return {};
    const QRect piece = tokenRect(hover());
    QRect box(0, 0, QFontMetrics(smallFont()).horizontalAdvance(number(hover())) + 14, 20);
    box.moveTopLeft({piece.center().x() - box.width() / 2, piece.bottom() + 3});
    if (box.bottom() > viewport()->height() - 1) box.moveBottom(piece.top() - 4);
    box.moveLeft(qBound(0, box.left(), qMax(0, viewport()->width() - box.width())));
    return box;
}

void TokenStrip::paintOver(QPainter& painter) {
    const Theme& t = Theme::current();
    const QPoint shift = tokenRect(0).topLeft() - flow().place(0).topLeft();
    for (const TokenRange& match : m_matches)
        for (int k = match.first; k <= match.second; ++k) {
            const QRect place = flow().place(k);
            painter.fillRect(QRect(place.left(), place.bottom() - 1, place.width(), 2), t.accent);
        }
    const QRect box = numberRect();
    if (box.isEmpty()) return;
    paint::frame(painter, box.translated(-shift), t.panel, t.controlBorder);
    painter.setFont(smallFont());
    painter.setPen(t.text);
    painter.drawText(box.translated(-shift), Qt::AlignCenter, number(hover()));
}

void TokenStrip::hoverMoved(int before, int now) {
    if (m_role == Role::Receives) {
        updateToken(before);
        updateToken(now);
        return Q_EMIT rowHovered(now);
    }
    viewport()->update(m_number);
    m_number = numberRect();
    viewport()->update(m_number);
    // What was shown before the pointer came, and what it shows now.
    updateToken(before >= 0 ? before : restingTarget());
    updateToken(shownTarget());
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
        return pieceName(index, m_pieces[static_cast<std::size_t>(index)]);
    };
    QString text = m_pieces.empty() ? QStringLiteral("no text")
                                    : QStringLiteral("%1 tokens").arg(m_pieces.size());
    if (!m_pieces.empty() && m_role != Role::Sends)
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

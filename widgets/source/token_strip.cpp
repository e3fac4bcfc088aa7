// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/token_strip.h"

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
    } else if (index == shownTarget()) {
        wears.frame = PieceLook::Frame::Dashed;
        wears.frameColor = Theme::light().panel;
    } else if (m_role == Role::Receives && index == hover()) {
        wears.frame = PieceLook::Frame::Solid;
        wears.frameColor = t.controlBorder;
    }
    return wears;
}

void TokenStrip::hoverMoved(int before, int now) {
    if (m_role == Role::Receives) {
        updateToken(before);
        updateToken(now);
        return Q_EMIT rowHovered(now);
    }
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

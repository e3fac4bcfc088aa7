// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/token_strip.h"

#include <algorithm>

#include "widgets/source/shared_view.h"
#include "widgets/theme/theme.h"

namespace relascope {

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
    m_preview = -1;
    const int last = static_cast<int>(m_pieces.size()) - 1;
    m_source = qBound(0, m_source, qMax(0, last));
    m_target = qBound(-1, m_target, last);
    setPieces(m_pieces);
    reveal(m_source);
    describe();
}

void TokenStrip::setValues(std::vector<float> values, std::vector<bool> masked,
                           const ColorScale& scale) {
    if (scale == m_scale && masked == m_masked && sameNumbers(values, m_values)) return;
    m_values = std::move(values);
    m_masked = std::move(masked);
    m_scale = scale;
    viewport()->update();
    describe();
}

void TokenStrip::setNumberDigits(int digits, bool isSigned) {
    m_digits = digits;
    m_signedNumbers = isSigned;
}

void TokenStrip::setSource(int index) {
    const int wanted = qBound(0, index, qMax(0, size() - 1));
    if (wanted == m_source) return;
    updateToken(m_source);
    m_source = wanted;
    updateToken(m_source);
    if (m_role != Role::Sends) reveal(m_source);
    describe();
}

void TokenStrip::setTarget(int index) {
    const int wanted = qBound(-1, index, size() - 1);
    if (wanted == m_target) return;
    updateToken(shownTarget());
    m_target = wanted;
    updateToken(shownTarget());
    describe();
}

void TokenStrip::setPreview(int index) {
    const int wanted = index < size() ? qMax(-1, index) : -1;
    if (wanted == m_preview) return;
    updateToken(shownTarget());
    m_preview = wanted;
    updateToken(shownTarget());
    describe();
}

int TokenStrip::shownTarget() const {
    if (m_role == Role::Receives) return -1;
    return hover() >= 0 ? hover() : m_preview >= 0 ? m_preview : m_target;
}

PieceLook TokenStrip::look(int index) const {
    const Theme& t = Theme::current();
    const auto at = static_cast<std::size_t>(index);
    const bool i = m_role != Role::Sends && index == m_source;
    const bool known = !i && m_role != Role::Receives && at < m_values.size();
    const bool masked = known && at < m_masked.size() && m_masked[at];
    const bool broken = known && !masked && m_values[at] != m_values[at];
    PieceLook wears;
    wears.fill = masked   ? t.hatchFill
                 : broken ? t.errorFill
                 : known  ? m_scale.color(m_values[at])
                          : t.alt;
    wears.ink = masked ? t.muted : broken ? t.error : Theme::textOn(wears.fill);
    if (masked) wears.hatch = t.hatch;
    if (broken) wears.hatch = t.error;
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
    updateToken(before >= 0 ? before : m_preview >= 0 ? m_preview : m_target);
    updateToken(shownTarget());
    describe();
    Q_EMIT hovered(now);
}

void TokenStrip::pressed(int index, Qt::KeyboardModifiers modifiers) {
    if (m_role == Role::Sends || (m_role == Role::Both && modifiers & Qt::ShiftModifier)) {
        setTarget(index);
        Q_EMIT targetChosen(index);
    } else {
        setSource(index);
        Q_EMIT sourceChosen(index);
    }
}

int TokenStrip::current(Qt::KeyboardModifiers modifiers) const {
    if (m_role == Role::Sends) return m_target;
    return m_role == Role::Both && modifiers & Qt::ShiftModifier ? m_target : m_source;
}

void TokenStrip::describe() {
    const auto name = [this](int index) {
        return pieceName(index, m_pieces[static_cast<std::size_t>(index)]);
    };
    QString text = m_pieces.empty() ? QStringLiteral("no text")
                                    : QStringLiteral("%1 tokens").arg(m_pieces.size());
    if (!m_pieces.empty() && m_role != Role::Sends)
        text += QStringLiteral(", i is ") + name(m_source);
    if (const int j = shownTarget(); j >= 0 && j < size()) {
        const auto at = static_cast<std::size_t>(j);
        text += QStringLiteral(", j is ") + name(j);
        if (at < m_masked.size() && m_masked[at])
            text += QStringLiteral(", masked");
        else if (at < m_values.size()) {
            QString number = signedNumber(m_values[at], m_digits);
            if (!m_signedNumbers) number.remove(u'+');
            text += QStringLiteral(", value ") + number;
        }
    }
    setAccessibleDescription(text);
}

}  // namespace relascope

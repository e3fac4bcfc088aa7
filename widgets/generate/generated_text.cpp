// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/generate/generated_text.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <limits>

#include "types/text_piece.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

GeneratedText::GeneratedText(QWidget* parent) : PieceView(parent) {
    setSpacing(TextFlow::Spacing::Reading);
    setAccessibleName(QStringLiteral("Generated text"));
}

void GeneratedText::begin(std::vector<std::string> promptPieces) {
    m_pieces = std::move(promptPieces);
    m_prompt = static_cast<int>(m_pieces.size());
    m_probabilities.clear();
    m_chosen = m_marked = -1;
    setPieces(m_pieces);
    reveal(size() - 1);
    setAccessibleDescription(text());
}

void GeneratedText::append(const std::string& piece, double probability) {
    m_pieces.push_back(piece);
    m_probabilities.push_back(probability);
    appendPiece(piece);
}

void GeneratedText::setRunning(bool running) {
    if (running == m_running) return;
    m_running = running;
    viewport()->update();
    // Not at every token, as screen readers could not keep up.
    if (!running) setAccessibleDescription(text());
}

void GeneratedText::setChosen(int index) {
    updateToken(m_chosen);
    m_chosen = qBound(-1, index, size() - 1);
    updateToken(m_chosen);
}

void GeneratedText::setMarked(int index) {
    m_marked = qBound(-1, index, size() - 1);
    viewport()->update();
}

double GeneratedText::probability(int index) const {
    return index < m_prompt || index >= size()
               ? std::numeric_limits<double>::quiet_NaN()
               : m_probabilities[static_cast<std::size_t>(index - m_prompt)];
}

QString GeneratedText::text() const {
    std::string whole;
    for (const auto& piece : m_pieces) whole += piece;
    return QString::fromStdString(validUtf8(whole));
}

PieceLook GeneratedText::look(int index) const {
    const Theme& t = Theme::current();
    PieceLook wears;
    wears.ink = t.muted;
    if (index >= m_prompt) {
        wears.fill = t.likelihoodFill(probability(index));
        wears.ink = Theme::textOn(wears.fill);
    }
    if (index == m_marked) {
        wears.frame = PieceLook::Frame::Solid;
        wears.frameColor = t.warning;
    }
    if (index == m_chosen) {
        wears.frame = PieceLook::Frame::Solid;
        wears.frameColor = t.accent;
    }
    return wears;
}

void GeneratedText::pressed(int index, Qt::KeyboardModifiers) {
    if (index == m_chosen) return;
    setChosen(index);
    Q_EMIT tokenChosen(index);
}

int GeneratedText::current(Qt::KeyboardModifiers) const {
    if (m_chosen >= 0) return m_chosen;
    // Two texts that are compared stay at their difference when the panel changes its size.
    return m_marked >= 0 && !m_running ? m_marked : size() - 1;
}

void GeneratedText::paintOver(QPainter& painter) {
    if (m_marked >= 0) {
        const QRect place = flow().place(m_marked);
        painter.fillRect(place.left(), place.bottom() - 1, place.width(), 3,
                         Theme::current().warning);
    }
    if (!m_running) return;
    const QRect last = flow().place(size() - 1);
    const QRect caret = last.isEmpty()
                            ? QRect(1, 1, 2, 17)
                            : QRect(last.right() + 3, last.top() + 1, 2, last.height() - 2);
    painter.fillRect(caret, Theme::current().accent);
}

bool GeneratedText::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const int index = tokenAt(help->pos());
        if (index < 0) {
            QToolTip::hideText();
            return true;
        }
        QString text = piecePlace(index, m_pieces[static_cast<std::size_t>(index)]);
        text += index < m_prompt
                    ? QStringLiteral(", in the prompt")
                    : QStringLiteral(", probability %1").arg(probability(index), 0, 'f', 3);
        if (index == m_marked) text += QStringLiteral(", the first that differs");
        QToolTip::showText(help->globalPos(), plainTip(text), this);
        return true;
    }
    return PieceView::viewportEvent(event);
}

}  // namespace relascope::widgets

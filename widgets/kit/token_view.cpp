// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/kit/token_view.h"

#include <QPainter>
#include <QScrollBar>

#include "types/text_piece.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kTokenEdge = 3;  ///< room for the outline of a token at the border

}  // namespace

void drawTileFrame(QPainter& painter, const QRectF& box, TokenLook::Frame frame,
                   const QColor& color) {
    if (frame == TokenLook::Frame::None) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    QPen pen(color, 2);
    if (frame == TokenLook::Frame::Dashed) {
        painter.setPen(QPen(Theme::light().text, 2));
        painter.drawRoundedRect(box, 3, 3);
        pen.setDashPattern({3.0, 2.0});
    }
    painter.setPen(pen);
    painter.drawRoundedRect(box, 3, 3);
    painter.restore();
}

TokenView::TokenView(QWidget* parent)
    : TileArea({kTokenEdge, kTokenEdge, kTokenEdge, kTokenEdge}, parent) {}

QString TokenView::text() const {
    std::string whole;
    for (const auto& token : m_tokens) whole += token;
    return QString::fromStdString(validUtf8(whole));
}

void TokenView::setSpacing(TextFlow::Spacing spacing) {
    m_flow.setSpacing(spacing);
    layOut();
}

void TokenView::setLarge(bool large) {
    m_flow.setLarge(large);
    layOut();
    reveal(current({}));
}

void TokenView::setTokens(std::vector<std::string> tokens) {
    forgetHover();
    m_tokens = std::move(tokens);
    m_flow.setPieces(m_tokens);
    layOut();
}

void TokenView::appendToken(const std::string& token) {
    const bool atEnd = verticalScrollBar()->value() == verticalScrollBar()->maximum();
    const bool characters = m_flow.characters();
    const int lines = m_flow.lines();
    m_tokens.push_back(token);
    m_flow.append(token);
    setContentHeight(m_flow.height() + 2 * kTokenEdge);
    if (atEnd) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    if (characters != m_flow.characters()) return refresh();
    // The last line, as its words may be wrapped to a new one.
    const int line = qMax(0, qMin(lines, m_flow.lines()) - 1);
    const QRect from = m_flow.lines() > 0 ? tileRect(m_flow.firstOf(line)) : QRect();
    viewport()->update(
        QRect(0, from.top() - kTokenEdge, viewport()->width(), viewport()->height()));
}

int TokenView::layOutTiles() {
    // The width without the scroll bar: showing it must not change the wrapping so that it is
    // hidden again.
    m_flow.layOut(width() - 2 * kTokenEdge - verticalScrollBar()->sizeHint().width());
    verticalScrollBar()->setSingleStep(m_flow.lineHeight());
    return m_flow.height() + 2 * kTokenEdge;
}

QRect TokenView::placeOf(int index) const {
    return m_flow.place(index).translated(kTokenEdge, kTokenEdge);
}
int TokenView::placeAt(const QPoint& point) const {
    return m_flow.at(point - QPoint(kTokenEdge, kTokenEdge));
}

void TokenView::paintTiles(QPainter& painter, const QRegion& exposed) {
    const int top = exposed.boundingRect().top(), bottom = exposed.boundingRect().bottom();
    int line = m_flow.lines() - 1;
    while (line > 0 && placeOf(m_flow.firstOf(line)).top() > top - kTokenEdge) --line;
    for (int k = line < 0 ? 0 : m_flow.firstOf(line); k < m_flow.size(); ++k) {
        const QRect place = placeOf(k);
        if (place.top() > bottom + kTokenEdge) break;
        if (exposed.intersects(place.adjusted(-kTokenEdge, -kTokenEdge, kTokenEdge, kTokenEdge)))
            paintToken(painter, k);
    }
    paintOver(painter);
}

void TokenView::paintToken(QPainter& painter, int index) const {
    const TokenLook wears = look(index);
    const DisplayPiece& piece = m_flow.piece(index);
    const QRect place = placeOf(index);
    if (wears.fill.isValid()) {
        if (m_flow.characters())
            painter.fillRect(place, wears.fill);
        else
            paint::frame(painter, place, wears.fill, {}, 3);
    }
    if (wears.hatch.isValid()) {
        painter.setBrushOrigin(place.topLeft());
        painter.fillRect(place, hatchBrush(wears.hatch));
    }
    if (!(piece.blank && m_flow.characters())) {
        painter.setFont(m_flow.font(index));
        painter.setPen(wears.ink);
        const QFontMetrics metrics = painter.fontMetrics();
        QString text = piece.text;
        int wide = metrics.horizontalAdvance(text);
        if (wide > place.width()) {
            text = metrics.elidedText(text, Qt::ElideRight, place.width());
            wide = metrics.horizontalAdvance(text);
        }
        painter.drawText(
            QPoint(place.left() + (place.width() - wide + 1) / 2,
                   place.top() + (place.height() + metrics.ascent() - metrics.descent()) / 2),
            text);
    }
    drawTileFrame(painter, place, wears.frame, wears.frameColor);
}

void TokenView::changeEvent(QEvent* event) {
    TileArea::changeEvent(event);
    if (event->type() != QEvent::FontChange) return;
    m_flow.measure();
    layOut();
}

}  // namespace relascope::widgets

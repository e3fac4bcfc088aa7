// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/data/sample_parts.h"

#include <QMouseEvent>
#include <QPainter>

#include "widgets/maps/color_map.h"
#include "widgets/source/pictures.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

PixelView::PixelView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setAccessibleName(QStringLiteral("Image"));
}

void PixelView::setImage(const Image& image) {
    m_image = image;
    m_picture = toQImage(image);
    update();
}

QSize PixelView::sizeIn(const QSize& room) const {
    if (m_picture.isNull() || room.isEmpty()) return {};
    const int scale = qMin(room.width() / m_picture.width(), room.height() / m_picture.height());
    return scale >= 1 ? m_picture.size() * scale
                      : m_picture.size().scaled(room, Qt::KeepAspectRatio);
}
int PixelView::heightIn(const QSize& room) const {
    return sizeIn(room).height();
}
QRect PixelView::pictureRect() const {
    return m_picture.isNull() ? QRect() : QRect({0, 0}, sizeIn(size()));
}

void PixelView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    const QRect place = pictureRect();
    if (place.width() >= m_picture.width()) return drawPixels(painter, place, m_picture);
    drawPicture(painter, place, m_picture);
}

void PixelView::mouseMoveEvent(QMouseEvent* event) {
    const QRect place = pictureRect();
    if (!place.contains(event->pos())) return Q_EMIT pointed({});
    const int column = (event->pos().x() - place.left()) * m_picture.width() / place.width(),
              row = (event->pos().y() - place.top()) * m_picture.height() / place.height();
    QStringList values;
    for (int c = 0; c < m_image.channels; ++c)
        values += QString::number(m_image.pixels[m_image.index(row, column, c)]);
    Q_EMIT pointed(QString("row %1, column %2: %3")
                       .arg(row)
                       .arg(column)
                       .arg(values.join(QStringLiteral(", "))));
}
void PixelView::leaveEvent(QEvent*) {
    Q_EMIT pointed({});
}

ReadStrip::ReadStrip(QWidget* parent) : PieceView(parent) {
    setAccessibleName(QStringLiteral("Text of the sample"));
}

void ReadStrip::setSequence(const ProbeSequence& sequence) {
    m_pieces = sequence.labels;
    m_ids = sequence.tokens;
    while (!m_pieces.empty() && m_pieces.back().empty()) m_pieces.pop_back();
    m_current = 0;
    setPieces(m_pieces);
    std::string text;
    for (const auto& piece : m_pieces) text += piece;
    setAccessibleDescription(QString::fromStdString(text));
}

PieceLook ReadStrip::look(int index) const {
    const Theme& t = Theme::current();
    PieceLook wears;
    // Boundaries are shown between pieces of words, not between characters.
    if (!flow().characters()) wears.fill = index % 2 == 0 ? t.alt : t.hover;
    wears.ink = t.text;
    if (index == hover() || (hasFocus() && index == m_current)) {
        wears.frame = PieceLook::Frame::Solid;
        wears.frameColor = t.controlBorder;
    }
    return wears;
}

void ReadStrip::tell(int index) {
    const auto at = static_cast<std::size_t>(index);
    if (index < 0 || at >= m_pieces.size()) return Q_EMIT pointed({});
    QString text = pieceName(index, m_pieces[at]);
    if (at < m_ids.size()) text += QStringLiteral(", id %1").arg(m_ids[at]);
    Q_EMIT pointed(text);
}

void ReadStrip::hoverMoved(int before, int now) {
    updateToken(before);
    updateToken(now);
    tell(now);
}
void ReadStrip::pressed(int index, Qt::KeyboardModifiers) {
    updateToken(m_current);
    m_current = index;
    updateToken(m_current);
    tell(index);
}

}  // namespace relascope::widgets

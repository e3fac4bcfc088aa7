// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/overview_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <cmath>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int titleHigh = 16;
constexpr int kOverviewLeft = 26;  ///< room for the numbers of layers
constexpr int kOverviewGap = 8;    ///< between blocks
constexpr int kOverviewBottom = 3;

}  // namespace

OverviewView::OverviewView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(QStringLiteral("Overview of all maps"));
    describe();
}

void OverviewView::setBlocks(int layers, std::vector<OverviewBlock> blocks,
                             const QString& measure) {
    // NaN differs from itself, so that equal blocks are not recognised; they cost little.
    const bool resized = layers != m_layers;
    m_layers = layers;
    m_blocks = std::move(blocks);
    m_measure = measure;
    colour();
    if (resized) updateGeometry();
    describe();
    update();
}

void OverviewView::colour() {
    m_images.clear();
    for (const OverviewBlock& block : m_blocks) {
        Extent extent;
        for (const float v : block.values)
            if (std::isfinite(v)) extent.include({v, v, true});
        const Limits limits =
            extent.any && extent.high > extent.low ? Limits{extent.low, extent.high} : Limits{0, 1};
        const ColorScale scale(ColorScale::Kind::Sequential, limits, Theme::current());
        QImage image(qMax(1, block.columns), qMax(1, m_layers), QImage::Format_RGB32);
        image.fill(Theme::current().track);
        for (int layer = 0; layer < m_layers; ++layer)
            for (int k = 0; k < block.columns; ++k) {
                const float v = block.values[static_cast<std::size_t>(layer) * block.columns + k];
                if (std::isfinite(v)) image.setPixelColor(k, rowOf(layer), scale.color(v));
            }
        m_images.push_back(std::move(image));
    }
}

void OverviewView::setCurrent(const MapId& map) {
    m_current = map;
    describe();
    update();
}

int OverviewView::rowHeight() const {
    return m_layers <= 0 ? 8 : qBound(4, 120 / m_layers, 12);
}

QSize OverviewView::sizeHint() const {
    return {300, titleHigh + qMax(1, m_layers) * rowHeight() + kOverviewBottom};
}

QRect OverviewView::blockRect(std::size_t block) const {
    int columns = 0, before = 0;
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
        if (b < block) before += m_blocks[b].columns;
        columns += m_blocks[b].columns;
    }
    const int gaps = kOverviewGap * (static_cast<int>(m_blocks.size()) - 1);
    const int room = qMax(1, width() - kOverviewLeft - 2 - gaps);
    // Whole pixels where possible; a narrow pane shares them out.
    const double cell = qMin(16.0, static_cast<double>(room) / qMax(1, columns));
    const double each = cell >= 2.0 ? std::floor(cell) : cell;
    const int x = kOverviewLeft + qRound(before * each) + kOverviewGap * static_cast<int>(block);
    return {x, titleHigh, qMax(1, qRound(m_blocks[block].columns * each)), m_layers * rowHeight()};
}

QRect OverviewView::cellRect(const MapId& map) const {
    if (!exists(map)) return {};
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
        if (m_blocks[b].kind != map.kind) continue;
        const QRect box = blockRect(b);
        const int from = box.left() + box.width() * map.index / m_blocks[b].columns;
        const int to = box.left() + box.width() * (map.index + 1) / m_blocks[b].columns;
        return {from, box.top() + rowOf(map.layer) * rowHeight(), qMax(1, to - from), rowHeight()};
    }
    return {};
}

bool OverviewView::exists(const MapId& map) const {
    for (const OverviewBlock& block : m_blocks)
        if (block.kind == map.kind)
            return map.layer >= 0 && map.layer < m_layers && map.index >= 0 &&
                   map.index < block.columns;
    return false;
}

bool OverviewView::at(const QPoint& point, MapId* map) const {
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
        const QRect box = blockRect(b);
        if (!box.contains(point)) continue;
        *map = {m_blocks[b].kind, rowOf((point.y() - box.top()) / rowHeight()),
                qMin(m_blocks[b].columns - 1,
                     (point.x() - box.left()) * m_blocks[b].columns / box.width())};
        return exists(*map);
    }
    return false;
}

void OverviewView::describe() {
    setAccessibleDescription(QStringLiteral("%1 of %2 layers%3")
                                 .arg(m_measure)
                                 .arg(m_layers)
                                 .arg(tip && exists(m_current)
                                          ? QStringLiteral(", %1 selected").arg(tip(m_current))
                                          : QString()));
}

void OverviewView::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    const int every = qMax(1, (13 + rowHeight() - 1) / rowHeight());
    for (int layer = 0; layer < m_layers; layer += every)
        painter.drawText(QRect(0, titleHigh + rowOf(layer) * rowHeight() + rowHeight() / 2 - 8,
                               kOverviewLeft - 5, 16),
                         Qt::AlignRight | Qt::AlignVCenter, QString::number(layer + 1));
    for (std::size_t b = 0; b < m_blocks.size(); ++b) {
        const QRect box = blockRect(b);
        const int room = qMax(box.width(), 34);
        paint::elidedText(painter, QRect(box.left(), 0, room, titleHigh - 2),
                          Qt::AlignLeft | Qt::AlignVCenter, m_blocks[b].title);
        drawPixels(painter, box, m_images[b]);
    }
    if (const QRect cell = cellRect(m_current); !cell.isEmpty()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(t.panel, 1));
        painter.drawRect(cell.adjusted(-2, -2, 1, 1));
        painter.setPen(QPen(t.outline, 1));
        painter.drawRect(cell.adjusted(-1, -1, 0, 0));
    }
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

void OverviewView::mousePressEvent(QMouseEvent* event) {
    MapId map;
    if (event->button() == Qt::LeftButton && at(event->position().toPoint(), &map))
        Q_EMIT chosen(map);
}

void OverviewView::mouseMoveEvent(QMouseEvent* event) {
    MapId map;
    const QString text = at(event->position().toPoint(), &map) && tip ? tip(map) : QString();
    if (text != toolTip()) setToolTip(text);
}

void OverviewView::keyPressEvent(QKeyEvent* event) {
    MapId next = m_current;
    switch (event->key()) {
        case Qt::Key_Up:
            ++next.layer;
            break;
        case Qt::Key_Down:
            --next.layer;
            break;
        case Qt::Key_Left:
            --next.index;
            break;
        case Qt::Key_Right:
            ++next.index;
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    if (exists(next)) Q_EMIT chosen(next);
}

void OverviewView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) colour();
}

}  // namespace relascope::widgets

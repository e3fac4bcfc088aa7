// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/maps/layer_slider.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {
constexpr int kSliderTop = 22;  ///< below the word "Layer"
constexpr int kSliderBottom = 10;
constexpr int widestStep = 76;
}  // namespace

LayerSlider::LayerSlider(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
    setAccessibleName(QStringLiteral("Layer"));
    setToolTip(QStringLiteral("Layer (Up, Down)"));
}

void LayerSlider::setLayers(int layers) {
    QStringList names;
    for (int k = 0; k < layers; ++k) names << QStringLiteral("layer %1").arg(k + 1);
    setLayers(names);
}

void LayerSlider::setLayers(const QStringList& names) {
    m_names = names;
    m_layers = static_cast<int>(names.size());
    QFont chosen = numberFont(12);
    chosen.setWeight(QFont::DemiBold);
    int widest = 0;
    for (int k = 0; k < m_layers; ++k)
        widest = qMax(widest, QFontMetrics(chosen).horizontalAdvance(shortName(k)));
    if (const int width = qMax(44, widest + 32); width != m_width) {
        m_width = width;
        updateGeometry();
    }
    setCurrent(m_current);
    update();
}

QString LayerSlider::nameOf(int layer) const {
    return m_names.value(layer);
}

/// Beside the dots: the number of a plain layer, otherwise the name, with long words shortened.
QString LayerSlider::shortName(int layer) const {
    QString name = m_names.value(layer);
    if (name == QStringLiteral("layer %1").arg(layer + 1)) return QString::number(layer + 1);
    return name.replace(QLatin1String("encoder"), QLatin1String("enc"))
        .replace(QLatin1String("decoder"), QLatin1String("dec"))
        .replace(QLatin1String("abstractor"), QLatin1String("abs"));
}

void LayerSlider::setCurrent(int layer) {
    m_current = qBound(0, layer, qMax(0, m_layers - 1));
    const QString place = QStringLiteral("layer %1 of %2").arg(m_current + 1).arg(m_layers);
    const QString name = nameOf(m_current);
    const bool plain = name.isEmpty() || name == QStringLiteral("layer %1").arg(m_current + 1);
    setAccessibleDescription(plain ? place : name + QStringLiteral(", ") + place);
    update();
}

QPoint LayerSlider::positionOf(int layer) const {
    if (m_layers <= 1) return {18, kSliderTop + 12};
    const double room = height() - kSliderTop - kSliderBottom - 12;
    const double step = qMin<double>(widestStep, room / (m_layers - 1));
    return {18, qRound(kSliderTop + 12 + (m_layers - 1 - layer) * step)};
}

int LayerSlider::layerAt(const QPoint& point) const {
    int best = 0;
    for (int k = 1; k < m_layers; ++k)
        if (qAbs(positionOf(k).y() - point.y()) < qAbs(positionOf(best).y() - point.y())) best = k;
    return best;
}

void LayerSlider::choose(int layer) {
    const int wanted = qBound(0, layer, qMax(0, m_layers - 1));
    if (wanted == m_current || m_layers == 0) return;
    setCurrent(wanted);
    Q_EMIT chosen(m_current);
}

void LayerSlider::mousePressEvent(QMouseEvent* event) {
    choose(layerAt(event->position().toPoint()));
}
void LayerSlider::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) choose(layerAt(event->position().toPoint()));
}
void LayerSlider::wheelEvent(QWheelEvent* event) {
    choose(m_current + (event->angleDelta().y() > 0 ? 1 : -1));
}

void LayerSlider::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Up:
            return choose(m_current + 1);
        case Qt::Key_Down:
            return choose(m_current - 1);
        case Qt::Key_Home:
            return choose(0);
        case Qt::Key_End:
            return choose(m_layers - 1);
        default:
            QWidget::keyPressEvent(event);
    }
}

bool LayerSlider::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || m_layers == 0) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(),
                       nameOf(layerAt(help->pos())) + QStringLiteral("\n") + toolTip(), this);
    return true;
}

void LayerSlider::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.setFont(smallFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(0, 0, width(), 18), Qt::AlignRight | Qt::AlignVCenter,
                     QStringLiteral("Layer"));
    if (m_layers == 0) return;
    painter.setRenderHint(QPainter::Antialiasing);
    const QPoint first = positionOf(0);
    const QPoint last = positionOf(m_layers - 1);
    painter.setPen(QPen(t.track, 2));
    painter.drawLine(first, last);
    const double step =
        m_layers > 1 ? static_cast<double>(first.y() - last.y()) / (m_layers - 1) : 100;
    for (int k = 0; k < m_layers; ++k) {
        const QPointF at = positionOf(k);
        const bool chosen = k == m_current;
        if (chosen) {
            painter.setPen(QPen(t.accent, 2));
            painter.setBrush(t.panel);
            painter.drawEllipse(at, 5.5, 5.5);
        } else {
            painter.setPen(Qt::NoPen);
            painter.setBrush(t.controlBorder);
            const double size = step < 9 ? 2.0 : 3.5;
            painter.drawEllipse(at, size, size);
        }
        // Numbers need 14 px; if dots are closer, only the ends and the chosen one are labelled.
        const bool clear = chosen || step >= 14 ||
                           ((k == 0 || k == m_layers - 1) && qAbs(k - m_current) * step >= 14);
        if (!clear) continue;
        QFont font = numberFont(12);
        if (chosen) font.setWeight(QFont::DemiBold);
        painter.setFont(font);
        painter.setPen(chosen ? t.text : t.muted);
        painter.drawText(QRectF(at.x() + 10, at.y() - 8, width() - at.x() - 10, 16),
                         Qt::AlignLeft | Qt::AlignVCenter, shortName(k));
    }
    if (paint::keyboardFocus(this)) paint::focusRing(painter, rect());
}

}  // namespace relascope::widgets

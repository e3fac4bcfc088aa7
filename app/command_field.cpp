// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_field.h"

#include <QPainter>

#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

CommandField::CommandField(QWidget* parent) : QAbstractButton(parent) {
    setAccessibleName(QStringLiteral("Commands"));
    setToolTip(QStringLiteral("Search commands (Ctrl+K)"));
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
}

void CommandField::paintEvent(QPaintEvent*) {
    const widgets::Theme& t = widgets::Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 4.5, -12.5, -4.5);
    painter.setPen(QPen(hasFocus() ? t.accent : t.border, 1));
    painter.setBrush(underMouse() ? t.hover : t.alt);
    painter.drawRoundedRect(box, 4, 4);
    painter.drawPixmap(QPointF(box.left() + 8, box.center().y() - 7),
                       widgets::iconPixmap("search", t.muted, 14, devicePixelRatioF()));
    painter.setFont(widgets::smallFont());
    painter.setPen(t.muted);
    painter.drawText(box.adjusted(28, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("Commands"));
    painter.setFont(widgets::captionFont());
    painter.drawText(box.adjusted(0, 0, -8, 0), Qt::AlignVCenter | Qt::AlignRight,
                     QStringLiteral("Ctrl+K"));
}

}  // namespace relascope::app

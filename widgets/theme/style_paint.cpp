// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/style_paint.h"

#include <QPainterPath>
#include <QStyleOption>
#include <QWidget>

#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets::paint {
namespace {

bool on(const QStyleOption& option, QStyle::StateFlag state) {
    return option.state & state;
}
/// Icons are drawn in the text or faint colour; on an accent fill they are tinted afterwards.
QPixmap tinted(const QIcon& icon, const QSize& size, const QColor& color, const QWidget* widget) {
    const qreal ratio = widget ? widget->devicePixelRatioF() : 1.0;
    QPixmap pixmap = icon.pixmap(size, ratio);
    QPainter painter(&pixmap);
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(pixmap.rect(), color);
    return pixmap;
}

}  // namespace

void frame(QPainter& painter, const QRect& box, const QColor& fill, const QColor& border,
           qreal radius) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(border.isValid() ? QPen(border, 1.0) : QPen(Qt::NoPen));
    painter.setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    painter.restore();
}

void focusRing(QPainter& painter, const QRect& box, qreal radius) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::current().accent, 2.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), radius, radius);
    painter.restore();
}

void chevron(QPainter& painter, const QRectF& box, Direction direction, const QColor& color,
             qreal reach) {
    const QPointF c = box.center();
    const qreal half = reach / 2.0;
    QPolygonF line;
    switch (direction) {
        case Direction::Down:
            line << QPointF(-reach, -half) << QPointF(0, half) << QPointF(reach, -half);
            break;
        case Direction::Up:
            line << QPointF(-reach, half) << QPointF(0, -half) << QPointF(reach, half);
            break;
        case Direction::Left:
            line << QPointF(half, -reach) << QPointF(-half, 0) << QPointF(half, reach);
            break;
        case Direction::Right:
            line << QPointF(-half, -reach) << QPointF(half, 0) << QPointF(-half, reach);
            break;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPolyline(line.translated(c));
    painter.restore();
}

bool keyboardFocus(const QStyleOption& option) {
    return on(option, QStyle::State_HasFocus) && on(option, QStyle::State_KeyboardFocusChange) &&
           !FigureScope::active();
}
bool keyboardFocus(const QWidget* widget) {
    return widget->hasFocus() && widget->window()->testAttribute(Qt::WA_KeyboardFocusChange) &&
           !FigureScope::active();
}

bool flag(const QWidget* widget, const char* name) {
    return widget && widget->property(name).toBool();
}

void elidedText(QPainter& painter, const QRect& box, int flags, const QString& text,
                Qt::TextElideMode mode) {
    painter.drawText(box, flags, painter.fontMetrics().elidedText(text, mode, box.width()));
}

void swatch(QPainter& painter, const QPointF& at, const QColor& color) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawRoundedRect(QRectF(at, QSizeF(10, 10)), 2, 2);
}

void cellFocus(QPainter& painter, const QStyleOptionViewItem& option) {
    if (!keyboardFocus(option)) return;
    painter.setPen(QPen(Theme::current().accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(option.rect.adjusted(1, 1, -1, -2));
}

void rowGround(QPainter& painter, const QStyleOptionViewItem& option) {
    const Theme& t = Theme::current();
    const QRect& r = option.rect;
    if (option.state & QStyle::State_Selected) painter.fillRect(r, t.selection);
    painter.fillRect(QRect(r.left(), r.bottom(), r.width(), 1), t.grid);
}

void field(QPainter& painter, const QStyleOption& option, const QWidget* widget) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    const bool wrong = flag(widget, "error");
    const QColor fill = wrong ? t.errorFill : t.panel;
    frame(painter, option.rect, fill, wrong ? t.error : enabled ? t.controlBorder : t.border);
    if (enabled && on(option, QStyle::State_HasFocus) && !wrong) focusRing(painter, option.rect);
}

void button(QPainter& painter, const QStyleOption& option, const QWidget* widget) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    const bool hover = on(option, QStyle::State_MouseOver);
    const bool down = on(option, QStyle::State_Sunken);
    if (enabled && flag(widget, "primary")) {
        const QColor fill = down ? t.accent.darker(115) : hover ? t.accent.darker(107) : t.accent;
        frame(painter, option.rect, fill, fill);
        if (keyboardFocus(option)) {
            painter.save();
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(t.onAccent, 1.5));
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(QRectF(option.rect).adjusted(2.5, 2.5, -2.5, -2.5), 2.5, 2.5);
            painter.restore();
        }
        return;
    }
    const bool checked = on(option, QStyle::State_On);
    const QColor fill = checked            ? t.selection
                        : down             ? t.track
                        : hover && enabled ? t.hover
                                           : t.panel;
    frame(painter, option.rect, fill, enabled ? t.controlBorder : t.border);
    if (enabled && keyboardFocus(option)) focusRing(painter, option.rect);
}

void buttonLabel(QPainter& painter, const QStyleOptionButton& option, const QWidget* widget) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    const bool primary = enabled && flag(widget, "primary");
    const bool checked = on(option, QStyle::State_On);
    const QColor ink = primary ? t.onAccent : !enabled ? t.faint : checked ? t.accent : t.text;
    QRect box = option.rect.adjusted(8, 0, -8, 0);
    if (option.features & QStyleOptionButton::HasMenu) {
        chevron(painter, QRectF(box.right() - 11, box.top(), 12, box.height()), Direction::Down,
                ink, 3.5);
        box.adjust(0, 0, -16, 0);
    }
    const int textWidth = option.fontMetrics.size(Qt::TextShowMnemonic, option.text).width();
    const bool hasIcon = !option.icon.isNull();
    const int iconWidth = hasIcon ? option.iconSize.width() : 0;
    const int gap = hasIcon && !option.text.isEmpty() ? 6 : 0;
    int x = box.left() + qMax(0, (box.width() - iconWidth - gap - textWidth) / 2);
    if (hasIcon) {
        const QRect place(x, box.center().y() - option.iconSize.height() / 2 + 1, iconWidth,
                          option.iconSize.height());
        if (primary || checked)
            painter.drawPixmap(place.topLeft(), tinted(option.icon, option.iconSize, ink, widget));
        else
            option.icon.paint(&painter, place, Qt::AlignCenter,
                              enabled ? QIcon::Normal : QIcon::Disabled);
        x += iconWidth + gap;
    }
    painter.setPen(ink);
    const QRect place(x, box.top(), qMin(textWidth, box.right() - x + 1), box.height());
    painter.drawText(place, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextShowMnemonic, option.text);
}

void toolButton(QPainter& painter, const QStyleOption& option, const QWidget* widget) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    if (flag(widget, "framed") || flag(widget, "primary")) return button(painter, option, widget);
    const bool hover = on(option, QStyle::State_MouseOver) && enabled;
    const QColor fill = on(option, QStyle::State_On)                  ? t.selection
                        : on(option, QStyle::State_Sunken) && enabled ? t.track
                        : hover                                       ? t.hover
                                                                      : QColor();
    if (fill.isValid()) frame(painter, option.rect, fill, QColor());
    if (enabled && keyboardFocus(option)) focusRing(painter, option.rect);
}

void checkBox(QPainter& painter, const QStyleOption& option) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    const bool checked = on(option, QStyle::State_On);
    const bool partly = on(option, QStyle::State_NoChange);
    QRect box(0, 0, 14, 14);
    box.moveCenter(option.rect.center());
    const QColor fill = checked || partly ? (enabled ? t.accent : t.track)
                        : on(option, QStyle::State_MouseOver) && enabled ? t.hover
                                                                         : t.panel;
    const QColor edge = checked || partly ? fill : enabled ? t.controlBorder : t.border;
    frame(painter, box, fill, edge, 2.5);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(
        QPen(enabled ? t.onAccent : t.faint, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const QPointF o = box.topLeft();
    if (partly)
        painter.drawLine(o + QPointF(3.75, 7), o + QPointF(10.25, 7));
    else if (checked)
        painter.drawPolyline(
            QPolygonF({o + QPointF(3.5, 7.2), o + QPointF(6, 9.7), o + QPointF(10.6, 4.6)}));
    painter.restore();
}

void radioButton(QPainter& painter, const QStyleOption& option) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    QRectF box(0, 0, 14, 14);
    box.moveCenter(QRectF(option.rect).center());
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(enabled ? t.controlBorder : t.border, 1));
    painter.setBrush(t.panel);
    painter.drawEllipse(box.adjusted(0.5, 0.5, -0.5, -0.5));
    if (on(option, QStyle::State_On)) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(enabled ? t.accent : t.faint);
        painter.drawEllipse(box.adjusted(3.5, 3.5, -3.5, -3.5));
    }
    painter.restore();
}

void tab(QPainter& painter, const QStyleOptionTab& option) {
    const Theme& t = Theme::current();
    const QRect r = option.rect;
    const bool selected = on(option, QStyle::State_Selected);
    const bool enabled = on(option, QStyle::State_Enabled);
    if (!selected && enabled && on(option, QStyle::State_MouseOver))
        painter.fillRect(r.adjusted(0, 0, 0, -1), t.hover);
    if (selected) painter.fillRect(QRect(r.left(), r.bottom() - 1, r.width(), 2), t.accent);
    painter.save();
    QFont font = painter.font();
    font.setWeight(selected ? QFont::DemiBold : QFont::Normal);
    painter.setFont(font);
    painter.setPen(!enabled ? t.faint : selected ? t.text : t.muted);
    painter.drawText(r, Qt::AlignCenter | Qt::TextShowMnemonic, option.text);
    painter.restore();
    if (keyboardFocus(option)) focusRing(painter, r.adjusted(2, 3, -2, -4));
}

void scrollBar(QPainter& painter, const QStyleOptionSlider& option, const QRect& thumb) {
    const Theme& t = Theme::current();
    if (!on(option, QStyle::State_Enabled) || option.maximum <= option.minimum) return;
    const bool held =
        (option.activeSubControls & QStyle::SC_ScrollBarSlider) || on(option, QStyle::State_Sunken);
    const bool upright = option.orientation == Qt::Vertical;
    const QRectF bar = QRectF(thumb).adjusted(upright ? 2 : 1, upright ? 1 : 2, upright ? -2 : -1,
                                              upright ? -1 : -2);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(held ? t.controlBorder : t.axis.lighter(t.dark ? 90 : 125));
    painter.drawRoundedRect(bar, 3, 3);
    painter.restore();
}

void slider(QPainter& painter, const QStyleOptionSlider& option, const QRect& groove,
            const QRect& handle) {
    const Theme& t = Theme::current();
    const bool enabled = on(option, QStyle::State_Enabled);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(t.track, 3, Qt::SolidLine, Qt::RoundCap));
    const QPointF c = QRectF(groove).center();
    if (option.orientation == Qt::Horizontal)
        painter.drawLine(QPointF(groove.left() + 4, c.y()), QPointF(groove.right() - 4, c.y()));
    else
        painter.drawLine(QPointF(c.x(), groove.top() + 4), QPointF(c.x(), groove.bottom() - 4));
    painter.setPen(QPen(enabled ? t.accent : t.faint, keyboardFocus(option) ? 3 : 2));
    painter.setBrush(t.panel);
    painter.drawEllipse(QRectF(handle).center(), 5.5, 5.5);
    painter.restore();
}

void menuItem(QPainter& painter, const QStyleOptionMenuItem& option) {
    const Theme& t = Theme::current();
    const QRect r = option.rect;
    painter.fillRect(r, t.panel);
    if (option.menuItemType == QStyleOptionMenuItem::Separator) {
        if (!option.text.isEmpty()) {
            painter.setPen(t.muted);
            painter.drawText(r.adjusted(28, 0, -8, 0), Qt::AlignVCenter | Qt::AlignLeft,
                             option.text);
        } else {
            painter.fillRect(QRect(r.left(), r.center().y(), r.width(), 1), t.border);
        }
        return;
    }
    const bool enabled = on(option, QStyle::State_Enabled);
    if (enabled && on(option, QStyle::State_Selected))
        frame(painter, r.adjusted(4, 0, -4, 0), t.selection, QColor());
    const QRect mark(r.left() + 9, r.center().y() - 7, 16, 16);
    if (option.checkType != QStyleOptionMenuItem::NotCheckable && option.checked)
        painter.drawPixmap(mark.topLeft(), iconPixmap("check", enabled ? t.accent : t.faint, 16,
                                                      painter.device()->devicePixelRatioF()));
    else if (!option.icon.isNull())
        option.icon.paint(&painter, mark, Qt::AlignCenter,
                          enabled ? QIcon::Normal : QIcon::Disabled);
    const auto parts = option.text.split(u'\t');
    QRect text = r.adjusted(32, 0, -28, 0);
    painter.save();
    painter.setFont(option.font);
    painter.setPen(enabled ? t.text : t.faint);
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextShowMnemonic, parts.value(0));
    painter.setPen(enabled ? t.muted : t.faint);
    if (parts.size() > 1)
        painter.drawText(r.adjusted(32, 0, -12, 0), Qt::AlignVCenter | Qt::AlignRight, parts.at(1));
    painter.restore();
    if (option.menuItemType == QStyleOptionMenuItem::SubMenu)
        chevron(painter, QRectF(r.right() - 20, r.top(), 12, r.height()), Direction::Right,
                enabled ? t.text : t.faint, 3.5);
}

void progress(QPainter& painter, const QStyleOptionProgressBar& option) {
    const Theme& t = Theme::current();
    QRectF bar(option.rect.left(), option.rect.center().y() - 1.5, option.rect.width(), 4);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.track);
    painter.drawRoundedRect(bar, 2, 2);
    painter.setBrush(t.accent);
    const double span = static_cast<double>(option.maximum) - option.minimum;
    if (span <= 0)  // busy: no amount is known, so the bar is half filled rather than animated
        painter.drawRoundedRect(bar.adjusted(bar.width() / 4, 0, -bar.width() / 4, 0), 2, 2);
    else if (option.progress > option.minimum) {
        bar.setWidth(bar.width() * (static_cast<double>(option.progress) - option.minimum) / span);
        painter.drawRoundedRect(bar, 2, 2);
    }
    painter.restore();
}

}  // namespace relascope::widgets::paint

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/lists/run_delegate.h"

#include <QPainter>

#include "types/run_info.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

void background(QPainter* painter, const QStyleOptionViewItem& option) {
    const Theme& t = Theme::current();
    const QRect whole(0, option.rect.top(),
                      option.widget ? option.widget->width() : option.rect.right() + 1,
                      option.rect.height());
    if (option.state & QStyle::State_Selected)
        painter->fillRect(whole, t.selection);
    else if (option.state & QStyle::State_MouseOver)
        painter->fillRect(whole, t.hover);
    if (option.state & QStyle::State_HasFocus && option.state & QStyle::State_KeyboardFocusChange) {
        painter->setPen(QPen(t.accent, 2));
        painter->drawRect(whole.adjusted(1, 1, -1, -1));
    }
}

QColor stateColor(RunState state) {
    const Theme& t = Theme::current();
    switch (state) {
        case RunState::Running:
            return t.ok;
        case RunState::Paused:
        case RunState::Stopped:
        case RunState::Interrupted:
            return t.warning;
        case RunState::Failed:
            return t.error;
        default:
            return t.muted;
    }
}

}  // namespace

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
    const Theme& t = Theme::current();
    painter->save();
    background(painter, option);
    if (index.data(Faint).toBool()) painter->setOpacity(0.5);
    const QRect r = option.rect.adjusted(12, 0, -12, 0);
    paint::swatch(*painter, QPointF(r.left(), r.top() + 6),
                  t.seriesColor(index.data(Color).toInt()));
    const QString metric = index.data(Metric).toString();
    painter->setFont(numberFont(12));
    const int metricWidth = painter->fontMetrics().horizontalAdvance(metric);
    painter->setPen(t.text);
    painter->drawText(QRect(r.left(), r.top() + 2, r.width(), 18),
                      Qt::AlignRight | Qt::AlignVCenter, metric);
    QFont face = bodyFont();
    face.setWeight(QFont::Medium);
    painter->setFont(face);
    const QRect name(r.left() + 18, r.top() + 2, r.width() - 18 - metricWidth - 8, 18);
    paint::elidedText(*painter, name, Qt::AlignVCenter, index.data(Qt::DisplayRole).toString(),
                      Qt::ElideMiddle);
    painter->setFont(captionFont());
    painter->setPen(stateColor(static_cast<RunState>(index.data(State).toInt())));
    const QRect line(r.left() + 18, r.top() + 20, r.width() - 18, 14);
    paint::elidedText(*painter, line, Qt::AlignVCenter, index.data(StateLine).toString());
    painter->restore();
}

void LineDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Theme& t = Theme::current();
    painter->save();
    background(painter, option);
    const bool tree = option.widget && option.widget->inherits("QTreeView");
    const QRect r = option.rect.adjusted(tree ? 4 : 12, 0, -12, 0);
    const QString note = index.data(Note).toString();
    painter->setFont(captionFont());
    const int noteWidth = note.isEmpty() ? 0 : painter->fontMetrics().horizontalAdvance(note) + 8;
    painter->setPen(t.muted);
    painter->drawText(r, Qt::AlignRight | Qt::AlignVCenter, note);
    QFont face = bodyFont();
    if (option.state & QStyle::State_Selected) face.setWeight(QFont::DemiBold);
    painter->setFont(face);
    painter->setPen(index.data(Faint).toBool() ? t.faint : t.text);
    const QRect room = r.adjusted(0, 0, -noteWidth, 0);
    paint::elidedText(*painter, room, Qt::AlignVCenter, index.data(Qt::DisplayRole).toString());
    painter->restore();
}

}  // namespace relascope::widgets

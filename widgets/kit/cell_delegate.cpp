// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/kit/cell_delegate.h"

#include <QPainter>

#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

namespace {

constexpr int kCellMargin = 8;

}  // namespace

void CellDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Theme& t = Theme::current();
    paint::rowGround(*painter, option);
    if (const QVariant fill = index.data(Qt::BackgroundRole); fill.isValid())
        painter->fillRect(option.rect.adjusted(0, 0, 0, -1), fill.value<QColor>());
    if (index.flags() & Qt::ItemIsUserCheckable) {
        QStyleOptionViewItem box = option;
        initStyleOption(&box, index);
        box.state &= ~(QStyle::State_Selected | QStyle::State_HasFocus);
        box.rect.adjust(kCellMargin, 0, 0, 0);
        box.backgroundBrush = Qt::NoBrush;
        QStyledItemDelegate::paint(painter, box, index);
        return;
    }
    painter->save();
    QRect r = option.rect.adjusted(kCellMargin, 0, -kCellMargin, 0);
    if (const QVariant swatch = index.data(SwatchRole); swatch.isValid()) {
        paint::swatch(*painter, QPointF(r.left(), r.center().y() - 4.5),
                      t.seriesColor(swatch.toInt()));
        r.adjust(18, 0, 0, 0);
    }
    if (const QString lead = index.data(LeadRole).toString(); !lead.isEmpty()) {
        painter->setFont(captionFont());
        painter->setPen(t.muted);
        painter->drawText(r, Qt::AlignLeft | Qt::AlignVCenter, lead);
        r.adjust(painter->fontMetrics().horizontalAdvance(lead) + 6, 0, 0, 0);
    }
    const int flags = index.data(Qt::TextAlignmentRole).toInt();
    if (const QString below = index.data(BelowRole).toString(); !below.isEmpty()) {
        const QRect half(r.left(), r.center().y() + 1, r.width(), r.height() / 2 - 5);
        painter->setFont(numberFont(11));
        painter->setPen(t.muted);
        painter->drawText(half, flags, below);
        const int wide = painter->fontMetrics().horizontalAdvance(below);
        painter->drawRect(QRect(half.right() - wide - 11, half.center().y() - 3, 6, 6));
        r.adjust(0, 4, 0, -r.height() / 2);
    }
    painter->setFont(index.data(Qt::FontRole).value<QFont>());
    painter->setPen(index.data(Qt::ForegroundRole).value<QColor>());
    const QString text = index.data().toString();
    const QVariant elide = index.data(ElideRole);
    paint::elidedText(
        *painter, r, flags, text,
        elide.isValid() ? static_cast<Qt::TextElideMode>(elide.toInt()) : Qt::ElideRight);
    if (const QString tail = index.data(TailRole).toString(); !tail.isEmpty()) {
        r.adjust(painter->fontMetrics().horizontalAdvance(text) + 12, 0, 0, 0);
        painter->setPen(t.muted);
        if (r.width() > 20) paint::elidedText(*painter, r, Qt::AlignLeft | Qt::AlignVCenter, tail);
    }
    paint::cellFocus(*painter, option);
    painter->restore();
}

// The check box reacts where it is drawn.
bool CellDelegate::editorEvent(QEvent* event, QAbstractItemModel* model,
                               const QStyleOptionViewItem& option, const QModelIndex& index) {
    QStyleOptionViewItem shifted = option;
    shifted.rect.adjust(kCellMargin, 0, 0, 0);
    return QStyledItemDelegate::editorEvent(event, model, shifted, index);
}

}  // namespace relascope::widgets

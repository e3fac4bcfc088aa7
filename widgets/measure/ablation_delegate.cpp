// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/ablation_delegate.h"

#include <QPainter>
#include <algorithm>

#include "widgets/measure/ablation_model.h"
#include "widgets/measure/signed_bar.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

void AblationDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
    constexpr int number = 52, interval = 100, leastBar = 56, side = 8;
    const Theme& t = Theme::current();
    paint::rowGround(*painter, option);
    painter->save();
    painter->setFont(index.data(Qt::FontRole).value<QFont>());
    const auto* model = qobject_cast<const AblationModel*>(index.model());
    const bool group = model && model->kind(index.column()) == AblationModel::Column::Group;
    painter->setPen(group ? t.muted : t.text);
    QRect room = option.rect.adjusted(side, 0, -side, 0);
    const QVariant value = index.data(AblationModel::Value);
    if (!model || !value.isValid()) {
        paint::elidedText(*painter, room, index.data(Qt::TextAlignmentRole).toInt(),
                          index.data().toString());
    } else {
        painter->drawText(QRect(room.left(), room.top(), number, room.height()),
                          Qt::AlignRight | Qt::AlignVCenter, index.data().toString());
        room.adjust(number + 8, 0, 0, 0);
        // In a narrow column the interval is in the tooltip, and the bar shows it.
        if (room.width() >= interval + leastBar) {
            painter->setFont(numberFont(11));
            painter->setPen(t.muted);
            painter->drawText(QRect(room.left(), room.top(), interval, room.height()),
                              Qt::AlignLeft | Qt::AlignVCenter,
                              index.data(AblationModel::Interval).toString());
            room.adjust(interval + 4, 0, 0, 0);
        }
        const auto& range = model->range();
        drawSignedBar(*painter, room, value.toDouble(), range, 10);
        drawInterval(*painter, room, index.data(AblationModel::Low).toDouble(),
                     index.data(AblationModel::High).toDouble(), range);
    }
    paint::cellFocus(*painter, option);
    painter->restore();
}

}  // namespace relascope::widgets

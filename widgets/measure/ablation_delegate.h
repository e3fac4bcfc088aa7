// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of an ablation table: a change as number, interval and bar around zero.
#pragma once

#include <QStyledItemDelegate>

namespace relascope::widgets {

class AblationDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
};

}  // namespace relascope::widgets

// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a run in 38 px: swatch, name, state line, best metric. Private to widgets/lists.
#pragma once

#include <QStyledItemDelegate>

namespace relascope::widgets {

class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Role { Path = Qt::UserRole, State, StateLine, Metric, Color, Faint };
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {100, 38};
    }
};

/// One line of 26 px with a muted note at the right, and semi-bold text when chosen.
class LineDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    enum Role { Note = Qt::UserRole + 10, Faint };
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {100, 26};
    }
};

}  // namespace relascope::widgets

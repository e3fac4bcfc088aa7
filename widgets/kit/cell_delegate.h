// SPDX-License-Identifier: GPL-3.0-or-later
// The cells of tables and trees over a ColumnModel.
#pragma once

#include <QStyledItemDelegate>

namespace relascope::widgets {

/// What a cell has besides its text.
enum CellRole {
    SwatchRole = Qt::UserRole + 100,  ///< a square before it, in that colour of Theme::series
    LeadRole,                         ///< a small muted text before it
    TailRole,                         ///< a muted text behind it
    BelowRole,                        ///< a muted text below it, after a hollow square
    ElideRole                         ///< Qt::TextElideMode; elided at the right without
};

/// Room of 8 px at both sides and a line below each row; selected rows keep the colours of their
/// text.
class CellDelegate : public QStyledItemDelegate {
public:
    explicit CellDelegate(int rowHeight, QObject* parent)
        : QStyledItemDelegate(parent), m_rowHeight(rowHeight) {}
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {60, m_rowHeight};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

protected:
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;

private:
    int m_rowHeight;
};

}  // namespace relascope::widgets

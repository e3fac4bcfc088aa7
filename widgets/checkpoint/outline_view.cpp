// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/checkpoint/outline_view.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kDetail = Qt::UserRole, kPrefix = Qt::UserRole + 1, kCount = Qt::UserRole + 2;

/// Paints the title, its muted detail, and the count at the right.
class OutlineDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {60, 26};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& t = Theme::current();
        painter->save();
        if (option.state & QStyle::State_Selected) painter->fillRect(option.rect, t.selection);
        const QRect r = option.rect.adjusted(4, 0, -8, 0);
        if (index.column() == 1) {
            painter->setFont(numberFont(12));
            painter->setPen(t.muted);
            painter->drawText(r, Qt::AlignRight | Qt::AlignVCenter, index.data().toString());
            painter->restore();
            return;
        }
        QFont face = smallFont();
        if (!index.parent().isValid()) face.setWeight(QFont::DemiBold);
        painter->setFont(face);
        painter->setPen(t.text);
        const QString title =
            painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, r.width());
        painter->drawText(r, Qt::AlignLeft | Qt::AlignVCenter, title);
        const QRect rest =
            r.adjusted(painter->fontMetrics().horizontalAdvance(title) + 10, 0, 0, 0);
        painter->setFont(smallFont());
        painter->setPen(t.muted);
        if (rest.width() > 20)
            paint::elidedText(*painter, rest, Qt::AlignLeft | Qt::AlignVCenter,
                              index.data(kDetail).toString());
        painter->restore();
    }
};

}  // namespace

OutlineView::OutlineView(QWidget* parent) : QWidget(parent), m_tree(new QTreeWidget(this)) {
    setAccessibleName(QStringLiteral("Outline of the model"));
    m_tree->setColumnCount(2);
    m_tree->setHeaderLabels({QStringLiteral("Module"), QStringLiteral("Parameters")});
    m_tree->headerItem()->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    m_tree->header()->setFont(smallFont());
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(1, QHeaderView::Fixed);
    m_tree->header()->resizeSection(1, 110);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(16);
    m_tree->setItemDelegate(new OutlineDelegate(m_tree));
    m_tree->setAllColumnsShowFocus(true);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tree->setAccessibleName(QStringLiteral("Modules of the model"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_tree);
    connect(m_tree, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* item) {
        if (item) Q_EMIT prefixChosen(item->data(0, kPrefix).toString());
    });
}

void OutlineView::add(const OutlineNode& node, QTreeWidgetItem* parent, int depth) {
    auto* item = parent ? new QTreeWidgetItem(parent) : new QTreeWidgetItem(m_tree);
    QString prefix = QString::fromStdString(node.prefix);
    // The prefix includes the dot, so that "blocks.1" does not match "blocks.10".
    if (!prefix.isEmpty() && !prefix.endsWith(u'.')) prefix += u'.';
    item->setText(0, QString::fromStdString(node.title));
    item->setText(1, groupedNumber(node.parameters));
    item->setData(0, kDetail, QString::fromStdString(node.detail));
    item->setData(0, kPrefix, prefix);
    item->setData(0, kCount, static_cast<qlonglong>(node.parameters));
    item->setToolTip(0, node.detail.empty() ? item->text(0)
                                            : item->text(0) + QStringLiteral(": ") +
                                                  QString::fromStdString(node.detail));
    item->setData(0, Qt::AccessibleTextRole,
                  item->toolTip(0) + QStringLiteral(", %1 parameters").arg(item->text(1)));
    for (const OutlineNode& child : node.children) add(child, item, depth + 1);
    item->setExpanded(depth < 1);
}

void OutlineView::setOutline(const OutlineNode& outline) {
    m_tree->clear();
    if (!outline.title.empty()) add(outline, nullptr, 0);
}

QString OutlineView::csv() const {
    QString text = QStringLiteral("part,detail,prefix,parameters\n");
    for (QTreeWidgetItemIterator it(m_tree); *it; ++it)
        text += QStringLiteral("%1,%2,%3,%4\n")
                    .arg(csvField((*it)->text(0)), csvField((*it)->data(0, kDetail).toString()),
                         csvField((*it)->data(0, kPrefix).toString()),
                         (*it)->data(0, kCount).toString());
    return text;
}

void OutlineView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_tree) m_tree->viewport()->update();
}

}  // namespace relascope::widgets

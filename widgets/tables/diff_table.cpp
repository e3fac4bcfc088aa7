// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tables/diff_table.h"

#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <QVBoxLayout>

#include "answers/answer_text.h"
#include "answers/runs_answer.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// A run's swatch before its name; the label leaves room for it.
class SwatchHeader : public QHeaderView {
public:
    explicit SwatchHeader(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {}
    std::vector<int> colors;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        painter->save();
        QHeaderView::paintSection(painter, rect, section);
        painter->restore();
        if (section < 1 || section > static_cast<int>(colors.size())) return;
        painter->save();
        paint::swatch(*painter, QPointF(rect.left() + 8, rect.center().y() - 4.5),
                      Theme::current().seriesColor(colors[static_cast<std::size_t>(section - 1)]));
        painter->restore();
    }
};

/// Room of 8 px at both sides, a line below each row.
class CellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& t = Theme::current();
        const QVariant fill = index.data(Qt::BackgroundRole);
        if (fill.isValid())
            painter->fillRect(option.rect, fill.value<QBrush>());
        else if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, t.selection);
        painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1),
                          t.grid);
        painter->save();
        const QRect r = option.rect.adjusted(8, 0, -8, 0);
        painter->setFont(index.data(Qt::FontRole).value<QFont>());
        painter->setPen(index.data(Qt::ForegroundRole).value<QBrush>().color());
        paint::elidedText(*painter, r, Qt::AlignVCenter, index.data().toString());
        paint::cellFocus(*painter, option);
        painter->restore();
    }
};

}  // namespace

DiffTable::DiffTable(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Configuration"), this)),
      m_which(new SegmentedControl({"Differences", "All fields"}, this)),
      m_view(new QTableWidget(this)),
      m_menu(new QMenu(this)) {
    setAccessibleName(QStringLiteral("Differences of configuration"));
    auto* more = iconButton("more", QStringLiteral("More for the configuration"), this);
    more->setMenu(m_menu);
    m_head->addControl(m_which);
    m_head->addControl(more);
    m_view->setHorizontalHeader(new SwatchHeader(m_view));
    m_view->horizontalHeader()->setSectionsClickable(false);
    m_view->setItemDelegate(new CellDelegate(m_view));
    layOutTable(*m_view, 26);
    m_view->setAccessibleName(QStringLiteral("Options of the runs"));
    m_view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_view, 1);
    connect(m_which, &SegmentedControl::changed, this, [this](int i) { setAllFields(i == 1); });
    fill();
}

void DiffTable::setRuns(std::vector<DiffRun> runs) {
    m_runs = std::move(runs);
    fill();
}
void DiffTable::setAllFields(bool all) {
    m_all = all;
    m_which->setCurrent(all ? 1 : 0);
    fill();
}

void DiffTable::fill() {
    const Theme& t = Theme::current();
    std::vector<RunInfo> infos;
    for (const DiffRun& run : m_runs) infos.push_back(run.info);
    m_answer = core::optionsAnswer(infos, m_all);
    const auto& columns = m_answer.table("options").columns;
    m_view->clear();
    m_view->setColumnCount(static_cast<int>(columns.size()));
    QStringList heads{QStringLiteral("Field")};
    for (const RunInfo& info : infos)
        heads += QStringLiteral("     ") + QString::fromStdString(info.name) +
                 (heads.size() == 1 ? QStringLiteral(" (reference)") : QString());
    m_view->setHorizontalHeaderLabels(heads);
    auto* header = static_cast<SwatchHeader*>(m_view->horizontalHeader());
    header->colors.clear();
    for (const DiffRun& run : m_runs) header->colors.push_back(run.colorIndex);
    m_differing = static_cast<int>(m_answer.number("differing"));
    m_view->setRowCount(static_cast<int>(columns[0].size()));
    for (std::size_t row = 0; row < columns[0].size(); ++row)
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const QString text = QString::fromStdString(columns[c].texts[row]);
            const bool other = c > 1 && columns[c].texts[row] != columns[1].texts[row];
            auto* item = new QTableWidgetItem(text);
            item->setFont(monoFont(12));
            item->setForeground(c < 2 || other ? t.text : t.muted);
            item->setToolTip(text);
            m_view->setItem(static_cast<int>(row), static_cast<int>(c), item);
            if (!other) continue;
            item->setBackground(t.warningFill);
            item->setData(Qt::AccessibleTextRole,
                          text + QStringLiteral(", differs from the reference"));
        }
    m_view->setColumnWidth(0, 200);
    for (int c = 1; c < m_view->columnCount(); ++c) m_view->setColumnWidth(c, 160);
    m_view->horizontalHeader()->setStretchLastSection(m_runs.size() > 0);
    m_head->setSubText(m_runs.size() < 2 ? QStringLiteral("select two or more runs")
                                         : QString("%1 of %2 fields differ")
                                               .arg(m_differing)
                                               .arg(qint64(m_answer.number("fields"))));
}

QString DiffTable::csv() const {
    return QString::fromStdString(core::csvOf(m_answer));
}

void DiffTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_view) fill();
}

}  // namespace relascope::widgets

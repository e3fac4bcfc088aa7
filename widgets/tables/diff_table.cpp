// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tables/diff_table.h"

#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QTableView>
#include <QVBoxLayout>
#include <numeric>

#include "answers/answer_text.h"
#include "answers/runs_answer.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/kit/column_model.h"
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

}  // namespace

DiffTable::DiffTable(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Configuration"), this)),
      m_which(new SegmentedControl({"Differences", "All fields"}, this)),
      m_model(new ColumnModel<std::size_t>(this)),
      m_view(new QTableView(this)),
      m_menu(new QMenu(this)) {
    setAccessibleName(QStringLiteral("Differences of configuration"));
    auto* more = iconButton("more", QStringLiteral("More for the configuration"), this);
    more->setMenu(m_menu);
    m_head->addControl(m_which);
    m_head->addControl(more);
    m_view->setModel(m_model);
    m_view->setHorizontalHeader(new SwatchHeader(m_view));
    m_view->horizontalHeader()->setSectionsClickable(false);
    m_view->setItemDelegate(new CellDelegate(26, m_view));
    layOutTable(*m_view, 26);
    m_view->setAccessibleName(QStringLiteral("Options of the runs"));
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
    m_model->setRows({});
    std::vector<RunInfo> infos;
    for (const DiffRun& run : m_runs) infos.push_back(run.info);
    m_answer = core::optionsAnswer(infos, m_all);
    m_differing = static_cast<int>(m_answer.number("differing"));
    const auto& options = m_answer.table("options").columns;
    auto* header = static_cast<SwatchHeader*>(m_view->horizontalHeader());
    header->colors.clear();
    for (const DiffRun& run : m_runs) header->colors.push_back(run.colorIndex);
    std::vector<ModelColumn<std::size_t>> columns;
    for (std::size_t c = 0; c < options.size(); ++c) {
        const auto text = [this, c](const std::size_t& row) {
            return QString::fromStdString(m_answer.table("options").columns[c].texts[row]);
        };
        const auto differs = [this, c](std::size_t row) {
            const auto& all = m_answer.table("options").columns;
            return c > 1 && all[c].texts[row] != all[1].texts[row];
        };
        const QString title = c == 0 ? QStringLiteral("Field")
                                     : QStringLiteral("     ") +
                                           QString::fromStdString(infos[c - 1].name) +
                                           (c == 1 ? QStringLiteral(" (reference)") : QString());
        columns.push_back(
            {.title = title,
             .text = text,
             .look = [text, differs, c](const std::size_t& row, int role) -> QVariant {
                 const Theme& t = Theme::current();
                 switch (role) {
                     case Qt::FontRole:
                         return monoFont(12);
                     case Qt::ToolTipRole:
                         return text(row);
                     case Qt::ForegroundRole:
                         return c < 2 || differs(row) ? t.text : t.muted;
                     case Qt::BackgroundRole:
                         return differs(row) ? t.warningFill : QVariant();
                     case Qt::AccessibleTextRole:
                         return text(row) + (differs(row)
                                                 ? QStringLiteral(", differs from the reference")
                                                 : QString());
                     default:
                         return {};
                 }
             }});
    }
    std::vector<std::size_t> rows(options[0].size());
    std::iota(rows.begin(), rows.end(), std::size_t(0));
    m_model->setColumns(std::move(columns));
    m_model->setRows(std::move(rows));
    m_view->setColumnWidth(0, 200);
    for (int c = 1; c < m_model->columnCount(); ++c) m_view->setColumnWidth(c, 160);
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
    if (event->type() == QEvent::PaletteChange && m_view) m_view->viewport()->update();
}

}  // namespace relascope::widgets

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tables/runs_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "answers/answer_text.h"
#include "answers/runs_answer.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/tables/runs_model.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/folding_layout.h"
#include "widgets/theme/icons.h"

namespace relascope::widgets {
RunsTable::RunsTable(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Runs"), this)),
      m_filter(new QLineEdit(this)),
      m_duel(new FoldingButton(QStringLiteral("Duel"), "columns", this)),
      m_view(new QTableView(this)),
      m_model(new RunsModel(this)),
      m_menu(new QMenu(this)),
      m_columns(new QMenu(QStringLiteral("Columns"), this)) {
    setAccessibleName(QStringLiteral("Runs to compare"));
    m_filter->setPlaceholderText(QStringLiteral("Filter, e.g. kept > 85"));
    m_filter->setAccessibleName(QStringLiteral("Filter runs"));
    m_filter->addAction(icon("filter"), QLineEdit::LeadingPosition);
    m_filter->setFixedWidth(200);
    auto* columns = new QPushButton(QStringLiteral("Columns"), this);
    columns->setProperty("compact", true);
    columns->setMenu(m_columns);
    auto* csvButton = new QPushButton(icon("export"), QStringLiteral("CSV"), this);
    csvButton->setProperty("compact", true);
    auto* more = iconButton("more", QStringLiteral("More for the table"), this);
    more->setMenu(m_menu);
    m_duel->setProperty("compact", true);
    connect(m_duel, &QPushButton::clicked, this, &RunsTable::duelRequested);
    for (QWidget* control :
         std::initializer_list<QWidget*>{m_filter, m_duel, columns, csvButton, more})
        m_head->addControl(control);

    m_view->setModel(m_model);
    m_view->setItemDelegate(new CellDelegate(26, m_view));
    layOutTable(*m_view, 26);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSortingEnabled(true);
    m_view->setAccessibleName(QStringLiteral("Runs"));
    m_view->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    QHeaderView* header = m_view->horizontalHeader();
    header->setStretchLastSection(true);
    header->setSectionsMovable(true);
    header->setMinimumSectionSize(32);
    const int widths[RunsModel::Columns] = {36,  182, 112, 86, 50, 76, 80,
                                            128, 110, 98,  94, 80, 90, 120};
    for (int c = 0; c < RunsModel::Columns; ++c) {
        m_view->setColumnWidth(c, widths[c]);
        if (c == RunsModel::Overlay) continue;
        QAction* action =
            m_columns->addAction(m_model->columns()[static_cast<std::size_t>(c)].title);
        action->setCheckable(true);
        action->setChecked(true);
        action->setEnabled(c != RunsModel::Run);
        connect(action, &QAction::toggled, this,
                [this, c](bool on) { m_view->setColumnHidden(c, !on); });
    }
    setColumnShown(RunsModel::Tags, false);
    m_view->sortByColumn(RunsModel::Kept, Qt::DescendingOrder);
    connect(header, &QHeaderView::sectionClicked, this, [this] { m_sorted = true; });
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_view, 1);

    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QString problem = m_model->setFilterText(text);
        m_filter->setProperty("error", !problem.isEmpty());
        m_filter->setToolTip(problem);
        m_filter->update();
        updateCount();
    });
    connect(m_model, &RunsModel::overlayChanged, this, [this] {
        updateCount();
        Q_EMIT overlayChanged(overlaid());
    });
    connect(m_model, &RunsModel::noteEdited, this, &RunsTable::noteEdited);
    connect(m_view, &QTableView::activated, this, [this](const QModelIndex& at) {
        if (at.column() != RunsModel::NoteText && at.column() != RunsModel::Overlay)
            Q_EMIT runActivated(at.data(RunsModel::PathRole).toString());
    });
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_view, &QTableView::customContextMenuRequested, this, [this](const QPoint& at) {
        const QString path = m_view->indexAt(at).data(RunsModel::PathRole).toString();
        if (path.isEmpty()) return;
        const QStringList chosen = selected();
        Q_EMIT runMenuRequested(chosen.contains(path) ? chosen : QStringList{path},
                                m_view->viewport()->mapToGlobal(at));
    });
    m_view->installEventFilter(this);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &RunsTable::updateDuel);
    connect(csvButton, &QPushButton::clicked, this, &RunsTable::csvRequested);
    updateCount();
}

void RunsTable::updateCount() {
    const int all = static_cast<int>(m_model->rows().size()), shown = shownRows();
    QString text = all == 0 ? QStringLiteral("none yet")
                            : QString("%1 of %2 overlaid").arg(overlaid().size()).arg(all);
    if (shown < all) text += QString(" · %1 hidden by the filter").arg(all - shown);
    m_head->setSubText(text);
    updateDuel();
}

QStringList RunsTable::pair() const {
    for (const auto& paths : {selected(), overlaid()})
        if (paths.size() == 2) return paths;
    return {};
}

void RunsTable::updateDuel() {
    const bool two = !pair().isEmpty();
    m_duel->setEnabled(two);
    m_duel->setToolTip(two ? QStringLiteral("Compares the models of the two runs")
                           : QStringLiteral("Check or select two runs first"));
}

void RunsTable::setRows(const std::vector<TableRow>& rows) {
    m_model->setRows(rows);
    // The Tags column is visible if some run has tags.
    const bool tags = std::any_of(rows.begin(), rows.end(), [](const TableRow& row) {
        return !row.info.labels.tags.empty();
    });
    if (std::exchange(m_tags, tags) != tags) setColumnShown(RunsModel::Tags, tags);
    // The best value is first; for errors and perplexities that is the smallest.
    if (const std::string& metric = m_model->metricOf(RunsModel::Kept);
        !m_sorted && !metric.empty()) {
        const auto order =
            metricInfo(metric).lowerIsBetter ? Qt::AscendingOrder : Qt::DescendingOrder;
        m_view->sortByColumn(RunsModel::Kept, order);
    }
    updateCount();
}
void RunsTable::setOverlaid(const QStringList& paths) {
    m_model->overlaid = QSet<QString>(paths.begin(), paths.end());
    m_view->viewport()->update();
    updateCount();
}
QStringList RunsTable::overlaid() const {
    QStringList paths;
    for (const TableRow& row : m_model->rows())
        if (const QString path = QString::fromStdString(row.info.path);
            m_model->overlaid.contains(path))
            paths += path;
    return paths;
}
QStringList RunsTable::selected() const {
    QStringList paths;
    for (const QModelIndex& at : m_view->selectionModel()->selectedRows())
        paths += at.data(RunsModel::PathRole).toString();
    return paths;
}
void RunsTable::setFilter(const QString& text) {
    m_filter->setText(text);
}
void RunsTable::setColumnShown(int column, bool shown) {
    if (column > RunsModel::Overlay && column < RunsModel::Columns)
        m_columns->actions().at(column - 1)->setChecked(shown);
}
int RunsTable::shownRows() const {
    return m_model->rowCount();
}

std::vector<const TableRow*> RunsTable::shownRuns() const {
    std::vector<const TableRow*> runs;
    for (int row = 0; row < m_model->rowCount(); ++row)
        runs.push_back(m_model->rowOf(m_model->index(row, 0)));
    return runs;
}

std::vector<std::string> RunsTable::shownColumns() const {
    std::vector<std::string> columns;
    const QHeaderView* header = m_view->horizontalHeader();
    for (int visual = 0; visual < RunsModel::Columns; ++visual)
        if (const int c = header->logicalIndex(visual);
            c != RunsModel::Overlay && !m_view->isColumnHidden(c))
            columns.push_back(core::runColumns().at(static_cast<std::size_t>(c - RunsModel::Run)));
    return columns;
}

QString RunsTable::csv() const {
    std::vector<ComparedRun> runs;
    for (const TableRow* row : shownRuns()) runs.push_back(*row);
    return QString::fromStdString(core::csvOf(core::runsTable(runs, shownColumns())));
}

bool RunsTable::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_view && event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Delete && !selected().isEmpty()) {
        Q_EMIT deleteRequested(selected());
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void RunsTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_view) m_view->viewport()->update();
}

}  // namespace relascope::widgets

// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>

#include "answers/answer_text.h"
#include "widgets/kit/table_view.h"
#include "widgets/source/pictures.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kTableRow = 24, kCellSide = 8, kLeastColumn = 64, kMostWords = 420, kLeastBar = 60,
              kMostBar = 240, kOnlyBar = 640, kInside = 22, kRowsMeasured = 200, kLeastWords = 150,
              kMostWrapped = 500, kPictureRow = 72;

QFont fontOf(const Column& column) {
    return column.kind == ColumnKind::Text ? smallFont() : numberFont(12);
}
QFont fontOf(const Table& table, const Column& column, std::size_t row) {
    QFont font = fontOf(column);
    if (const auto* strong = table.find(column.key + " strong"))
        font.setBold(strong->numbers[row] != 0.0);
    return font;
}

Qt::Alignment alignmentOf(const Column& column) {
    return (column.kind == ColumnKind::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter;
}

/// The interval of a cell; NaN without one.
std::pair<double, double> intervalOf(const Table& table, const Column& column, std::size_t row) {
    const auto *low = table.find(column.low), *high = table.find(column.high);
    const bool known = !column.low.empty() && low && high && low->kind != ColumnKind::Text &&
                       high->kind != ColumnKind::Text;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return known ? std::pair(low->numbers[row], high->numbers[row]) : std::pair(none, none);
}

/// The text of a cell, and where its column has one a bar at the right of it.
void paintTableCell(QPainter& painter, const QRect& room, const TableModel& model, int row,
                    int column) {
    const auto& of = model.columnAt(column);
    const auto& table = model.table();
    const auto at = static_cast<std::size_t>(row);
    const bool inside = model.isInside(row);
    QRect text = room.adjusted(kCellSide + (inside && column == 0 ? kInside : 0), 0, -kCellSide, 0);
    if (of.holdsPictures()) {
        drawPicture(painter, text.adjusted(0, 4, 0, -4), model.picture(row, column));
        return;
    }
    if (of.format.bar) {
        const int bar = std::max(kLeastBar, text.width() - model.textWidth(column) - 10);
        const QRect bars(text.right() + 1 - bar, text.top(), bar, text.height());
        text.setRight(bars.left() - 10);
        const auto [low, high] = intervalOf(table, of, at);
        drawSignedBar(painter, bars, of.numbers[at], model.range(column), inside ? 6 : 10);
        drawInterval(painter, bars, low, high, model.range(column));
    }
    painter.setFont(fontOf(table, of, at));
    painter.setPen(inside ? Theme::current().muted : Theme::current().text);
    const auto words = shownText(core::shownValue(table, of, at));
    if (of.kind == ColumnKind::Text && room.height() > kTableRow)
        painter.drawText(text, static_cast<int>(alignmentOf(of)) | Qt::TextWordWrap, words);
    else
        paint::elidedText(painter, text, static_cast<int>(alignmentOf(of)), words);
}

int rowRoom(const TableModel& model) {
    return model.hasPictures() ? kPictureRow : kTableRow;
}

class TableDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const auto& model = static_cast<const TableModel&>(*index.model());
        paint::rowGround(*painter, option);
        painter->save();
        paintTableCell(*painter, option.rect, model, model.rowShownAt(index.row()), index.column());
        painter->restore();
        paint::cellFocus(*painter, option);
    }
};

}  // namespace

void TableModel::setTable(Table table, const std::vector<Image>& pictures) {
    beginResetModel();
    m_table = std::move(table);
    m_pictures.clear();
    for (const auto& picture : pictures) m_pictures.push_back(toQImage(picture));
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < m_table.columns.size(); ++c)
        if (core::isShown(m_table.columns[c])) columns.push_back(c);
    if (columns != m_columns) unsort();
    m_columns = std::move(columns);
    m_ranges.clear();
    m_widths.clear();
    for (const auto c : m_columns) {
        BarRange range;
        const auto& of = m_table.columns[c];
        // A full bar is the whole of which a share is.
        if (of.format.percent && !of.format.isSigned) range.include(1.0);
        for (std::size_t row = 0; of.format.bar && row < of.numbers.size(); ++row) {
            const auto [low, high] = intervalOf(m_table, of, row);
            for (const double value : {of.numbers[row], low, high}) range.include(value);
        }
        m_ranges.push_back(range);
        int wide = 0;
        for (std::size_t row = 0; row < std::min<std::size_t>(m_table.rows(), kRowsMeasured); ++row)
            wide = std::max(
                wide, QFontMetrics(fontOf(m_table, of, row))
                              .horizontalAdvance(shownText(core::shownValue(m_table, of, row))) +
                          (m_widths.empty() && isInside(static_cast<int>(row)) ? kInside : 0));
        m_widths.push_back(of.holdsPictures() ? kPictureRow : wide);
    }
    // Columns that are written alike are of one unit: their bars have one scale.
    for (std::size_t a = 0; a < m_ranges.size(); ++a)
        for (std::size_t b = 0; b < m_ranges.size(); ++b)
            if (const auto& of = m_table.columns[m_columns[a]].format,
                &other = m_table.columns[m_columns[b]].format;
                of.bar && of == other) {
                const auto range = m_ranges[b];
                for (const double end : {range.low, range.high}) m_ranges[a].include(end);
            }
    take(static_cast<int>(m_table.rows()));
    endResetModel();
}

QImage TableModel::picture(int row, int column) const {
    const auto& of = columnAt(column);
    if (!of.holdsPictures()) return {};
    const auto at = relascope::indexOf(of.numbers[static_cast<std::size_t>(row)]);
    return at >= 0 && at < std::ssize(m_pictures) ? m_pictures[static_cast<std::size_t>(at)]
                                                  : QImage();
}
bool TableModel::hasPictures() const {
    return std::any_of(m_columns.begin(), m_columns.end(),
                       [this](std::size_t c) { return m_table.columns[c].holdsPictures(); });
}

bool TableModel::isInside(int row) const {
    const auto* inside = m_table.find("inside");
    return inside && inside->numbers[static_cast<std::size_t>(row)] != 0.0;
}
QVariant TableModel::data(const QModelIndex& index, int role) const {
    const auto& column = columnAt(index.column());
    const auto row = static_cast<std::size_t>(rowAt(index));
    switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole:
            if (column.holdsPictures()) return QStringLiteral("picture");
            return shownText(core::shownValue(m_table, column, row));
        case Qt::ToolTipRole:
            if (const auto* tips = m_table.find("tip"))
                return plainTip(shownText(tips->texts[row]));
            return plainTip(shownText(core::shownValue(m_table, column, row)));
        case Qt::FontRole:
            return fontOf(m_table, column, row);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(alignmentOf(column));
        case Value:
            return column.kind == ColumnKind::Text ? std::nan("") : column.numbers[row];
        default:
            return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= columnCount()) return {};
    const auto& column = columnAt(section);
    if (role == Qt::DisplayRole) return shownText(column.title);
    if (role == Qt::ToolTipRole) return plainTip(shownText(column.help));
    if (role == Qt::TextAlignmentRole) return QVariant::fromValue(alignmentOf(column));
    return {};
}

SortKey TableModel::sortKey(int row, int column) const {
    const auto& of = columnAt(column);
    const auto at = static_cast<std::size_t>(row);
    return of.kind == ColumnKind::Text ? SortKey(shownText(of.texts[at])) : SortKey(of.numbers[at]);
}

TableView::TableView(const QString& name, QWidget* parent)
    : QTableView(parent), m_model(new TableModel(this)) {
    setAccessibleName(name);
    layOutTable(*this, kTableRow);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    horizontalHeader()->setFont(smallFont());
    horizontalHeader()->setResizeContentsPrecision(100);  // rows that are measured
    setItemDelegate(new TableDelegate(this));
    setModel(m_model);
    horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    horizontalHeader()->setSortIndicatorClearable(true);
    setSortingEnabled(true);
    connect(m_model, &QAbstractItemModel::layoutChanged, this, &TableView::fit);
    const auto choose = [this](const QModelIndex& at) {
        Q_EMIT rowChosen(m_model->rowShownAt(at.row()));
    };
    connect(this, &QTableView::clicked, this, choose);
    connect(this, &QTableView::activated, this, choose);
    connect(
        selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& at) { Q_EMIT currentRowChanged(m_model->rowShownAt(at.row())); });
}

void TableView::setTable(const Table& table, const std::vector<Image>& pictures) {
    int row = currentRow();
    const int column = currentIndex().column();
    const auto& before = m_model->table();
    const bool same = before.key == table.key;
    // Rows may have changed their order: what the first column names is the same.
    if (same && row >= 0 && !table.columns.empty() && !before.columns.empty() &&
        table.columns[0].kind == ColumnKind::Text && before.columns[0].kind == ColumnKind::Text) {
        const auto& names = table.columns[0].texts;
        const auto at = std::find(names.begin(), names.end(),
                                  before.columns[0].texts[static_cast<std::size_t>(row)]);
        if (at != names.end()) row = static_cast<int>(at - names.begin());
    }
    m_model->setTable(table, pictures);
    if (const bool sorts = !table.find("inside"); sorts != isSortingEnabled())
        setSortingEnabled(sorts);
    fit();
    if (!same || row < 0) return;
    if (const int place = m_model->placeOf(row); place >= 0)
        setCurrentIndex(m_model->index(place, std::clamp(column, 0, m_model->columnCount() - 1)));
}

int TableView::currentRow() const {
    return m_model->rowShownAt(currentIndex().row());
}
void TableView::chooseRow(int row) {
    setCurrentIndex(m_model->index(m_model->placeOf(row), std::max(0, currentIndex().column())));
}
QString TableView::text(int row, const std::string& column) const {
    return shownText(
        core::shownValue(table(), table().column(column), static_cast<std::size_t>(row)));
}

// What the columns need; bars take what is left.
std::vector<int> TableView::widths(int width) const {
    std::vector<int> all;
    int bars = 0;
    const QFontMetrics heads(smallFont());
    for (int c = 0; c < m_model->columnCount(); ++c) {
        const auto& column = m_model->columnAt(c);
        int wide =
            std::max(heads.horizontalAdvance(shownText(column.title)) + 18, m_model->textWidth(c));
        wide = std::clamp(wide + 2 * kCellSide + 2, kLeastColumn, kMostWords);
        if (column.format.bar) wide += kLeastBar + 10, ++bars;
        all.push_back(wide);
    }
    const int left = width - std::accumulate(all.begin(), all.end(), 0) - 4;
    for (std::size_t c = 0; c < all.size() && left > 0; ++c)
        if (m_model->columnAt(static_cast<int>(c)).format.bar)
            all[c] += std::min(left / bars, (bars == 1 ? kOnlyBar : kMostBar) - kLeastBar);
    return all;
}

// Where there is too little room the widest columns of words give way: their words wrap.
void TableView::fit() {
    auto all = widths(viewport()->width());
    std::vector<std::size_t> words;
    for (std::size_t c = 0; c < all.size(); ++c)
        if (m_model->columnAt(static_cast<int>(c)).kind == ColumnKind::Text) words.push_back(c);
    int over = std::accumulate(all.begin(), all.end(), 0) + 4 - viewport()->width();
    while (over > 0 && !words.empty() && viewport()->width() > 0) {
        auto& widest = all[*std::max_element(words.begin(), words.end(),
                                             [&](auto a, auto b) { return all[a] < all[b]; })];
        const int step = std::min({over, 8, widest - kLeastWords});
        if (step <= 0) break;
        widest -= step, over -= step;
    }
    for (std::size_t c = 0; c < all.size(); ++c) setColumnWidth(static_cast<int>(c), all[c]);
    if (m_model->rowCount() > kMostWrapped) return;
    for (int at = 0; at < m_model->rowCount(); ++at) {
        int height = rowRoom(*m_model);
        const auto row = static_cast<std::size_t>(m_model->rowShownAt(at));
        for (const auto c : words) {
            const auto& column = m_model->columnAt(static_cast<int>(c));
            const QFontMetrics metrics(fontOf(table(), column, row));
            const QRect room(0, 0, all[c] - 2 * kCellSide, 10000);
            const int wrapped = metrics
                                    .boundingRect(room, Qt::TextWordWrap,
                                                  shownText(core::shownValue(table(), column, row)))
                                    .height();
            if (wrapped > metrics.height()) height = std::max(height, wrapped + 8);
        }
        if (rowHeight(at) != height) setRowHeight(at, height);
    }
}

void TableView::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fit();
}

void TableView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) return copy();
    QTableView::keyPressEvent(event);
}

// The row with the titles, as a spreadsheet takes it.
void TableView::copy() const {
    const int row = currentRow();
    if (row < 0) return;
    QStringList titles, cells;
    for (int c = 0; c < m_model->columnCount(); ++c) {
        titles << shownText(m_model->columnAt(c).title);
        cells << shownText(
            core::shownValue(table(), m_model->columnAt(c), static_cast<std::size_t>(row)));
    }
    QApplication::clipboard()->setText(titles.join(u'\t') + u'\n' + cells.join(u'\t') + u'\n');
}

int TableView::figureWidth() const {
    int sum = 0, c = 0;
    for (const int wide : widths(0))
        sum += m_model->columnAt(c++).kind == ColumnKind::Text ? std::min(wide, kLeastWords) : wide;
    return sum;
}

int TableView::figureHeight(int most) const {
    const int rows = m_model->rowCount();
    return rowRoom(*m_model) * std::min(rows, most) + kTableRow * (1 + (rows > most ? 1 : 0));
}

void TableView::paintFigure(QPainter& painter, int width, int most) const {
    const Theme& t = Theme::current();
    auto all = widths(width);
    // The widest columns give way, of words as long as there are such.
    const auto room = [&](std::size_t c) {
        const bool words = m_model->columnAt(static_cast<int>(c)).kind == ColumnKind::Text;
        return words && all[c] > kLeastWords ? all[c] + 10 * width : all[c];
    };
    std::vector<std::size_t> places(all.size());
    std::iota(places.begin(), places.end(), std::size_t(0));
    for (int over; (over = std::accumulate(all.begin(), all.end(), 0) - width) > 0;) {
        const auto widest = all.begin() + std::ptrdiff_t(*std::max_element(
                                              places.begin(), places.end(),
                                              [&](auto a, auto b) { return room(a) < room(b); }));
        if (*widest <= kLeastColumn) break;
        *widest -= std::min(over, std::min(*widest - kLeastColumn, 16));
    }
    const int rows = std::min(m_model->rowCount(), most);
    const int high = rowRoom(*m_model);
    for (int row = -1; row < rows; ++row) {
        const int y = row < 0 ? 0 : kTableRow + row * high, height = row < 0 ? kTableRow : high;
        int x = 0;
        for (int c = 0; c < m_model->columnCount(); ++c) {
            const QRect room(x, y, all[static_cast<std::size_t>(c)], height);
            x += room.width();
            if (row >= 0) {
                paintTableCell(painter, room, *m_model, m_model->rowShownAt(row), c);
                continue;
            }
            painter.setFont(captionFont());
            painter.setPen(t.muted);
            paint::elidedText(painter, room.adjusted(kCellSide, 0, -kCellSide, 0),
                              static_cast<int>(alignmentOf(m_model->columnAt(c))),
                              shownText(m_model->columnAt(c).title));
        }
        painter.fillRect(QRect(0, y + height - 1, std::min(x, width), 1), t.grid);
    }
    if (const int more = m_model->rowCount() - rows; more > 0) {
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kCellSide, kTableRow + rows * high, width, kTableRow),
                         Qt::AlignVCenter, QStringLiteral("and %1 more").arg(groupedNumber(more)));
    }
}

}  // namespace relascope::widgets

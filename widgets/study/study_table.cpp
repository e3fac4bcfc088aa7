// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/study/study_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

void StudyTableModel::setTable(QStringList heads, QStringList headTips, QStringList rows,
                               std::vector<std::vector<Cell>> cells) {
    const bool same = heads.size() == m_heads.size() && rows.size() == m_rows.size();
    if (same && heads == m_heads && headTips == m_headTips && rows == m_rows && cells == m_cells)
        return;
    if (!same) beginResetModel();
    m_heads = std::move(heads);
    m_headTips = std::move(headTips);
    m_rows = std::move(rows);
    m_cells = std::move(cells);
    if (!same) return endResetModel();
    if (m_rows.isEmpty() || m_heads.isEmpty()) return;
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    Q_EMIT headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
}

bool StudyTableModel::hasPublished() const {
    for (const auto& row : m_cells)
        for (const auto& cell : row)
            if (!cell.published.isEmpty()) return true;
    return false;
}

int StudyTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int StudyTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_heads.size());
}

QVariant StudyTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Cell& cell =
        m_cells[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole:
            return cell.text;
        case Qt::ToolTipRole:
            return cell.tip.isEmpty() ? QVariant() : plainTip(cell.tip);
        case Qt::AccessibleTextRole:
            return cell.published.isEmpty()
                       ? cell.text
                       : cell.text + QStringLiteral(", published ") + cell.published;
        case Qt::TextAlignmentRole:
            return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
        case Qt::ForegroundRole:
            return cell.muted ? Theme::current().muted : Theme::current().text;
        case SortRole:
            return cell.sort;
        case PublishedRole:
            return cell.published;
        case BestRole:
            return cell.best;
        default:
            return {};
    }
}

QVariant StudyTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    const bool across = orientation == Qt::Horizontal;
    const QStringList& titles = across ? m_heads : m_rows;
    if (section < 0 || section >= titles.size()) return {};
    if (role == Qt::DisplayRole) return titles[section];
    if (role == Qt::ToolTipRole)
        return plainTip(across ? m_headTips.value(section) : titles[section]);
    if (role == ColorRole && !across) return section;
    if (role == Qt::TextAlignmentRole && across)
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

bool StudyTableOrder::lessThan(const QModelIndex& a, const QModelIndex& b) const {
    const double x = a.data(StudyTableModel::SortRole).toDouble();
    const double y = b.data(StudyTableModel::SortRole).toDouble();
    if (std::isnan(x) || std::isnan(y))
        return sortOrder() == Qt::AscendingOrder ? !std::isnan(x) : !std::isnan(y);
    return x < y;
}

namespace {

const QString kDash(QChar(0x2014));

/// Series with their swatches; stays visible when the sizes are scrolled.
class SeriesHeader : public QHeaderView {
public:
    explicit SeriesHeader(QWidget* parent) : QHeaderView(Qt::Vertical, parent) {
        setSectionsClickable(false);
        setHighlightSections(false);
    }
    QSize sizeHint() const override {
        const QFontMetrics metrics{smallFont()};
        int width = metrics.horizontalAdvance(QStringLiteral("Model")) + 32;
        for (int row = 0; row < count(); ++row)
            width = std::max(width, metrics.horizontalAdvance(text(row)) + 16 + 18 + 10);
        return {std::min(width, 220), QHeaderView::sizeHint().height()};
    }

protected:
    // The style fills the space below the last row with grey.
    void paintEvent(QPaintEvent* event) override {
        QHeaderView::paintEvent(event);
        QPainter painter(viewport());
        painter.fillRect(viewport()->rect().adjusted(0, length(), 0, 0), Theme::current().panel);
    }
    void paintSection(QPainter* painter, const QRect& rect, int section) const override {
        const Theme& t = Theme::current();
        painter->save();
        painter->fillRect(rect, t.panel);
        painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), t.grid);
        paint::swatch(
            *painter, QPointF(rect.left() + 16, rect.center().y() - 4.5),
            t.seriesColor(
                model()->headerData(section, Qt::Vertical, StudyTableModel::ColorRole).toInt()));
        const QRect room = rect.adjusted(34, 0, -6, 0);
        painter->setFont(smallFont());
        painter->setPen(t.text);
        paint::elidedText(*painter, room, Qt::AlignVCenter, text(section), Qt::ElideMiddle);
        painter->restore();
    }

private:
    QString text(int section) const {
        return model() ? model()->headerData(section, Qt::Vertical).toString() : QString();
    }
};

/// The mean, bold if it is the best of its column, and below it the published value after a hollow
/// square.
class NumberDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& t = Theme::current();
        paint::rowGround(*painter, option);
        painter->save();
        const QString published = index.data(StudyTableModel::PublishedRole).toString();
        QRect r = option.rect.adjusted(6, 0, -10, 0);
        if (!published.isEmpty()) r.adjust(0, 4, 0, -r.height() / 2);
        QFont face = numberFont(12);
        if (index.data(StudyTableModel::BestRole).toBool()) face.setWeight(QFont::DemiBold);
        painter->setFont(face);
        painter->setPen(index.data(Qt::ForegroundRole).value<QColor>());
        painter->drawText(r, Qt::AlignRight | Qt::AlignVCenter, index.data().toString());
        if (!published.isEmpty()) {
            const QRect below(r.left(), option.rect.center().y() + 1, r.width(),
                              option.rect.height() / 2 - 5);
            painter->setFont(numberFont(11));
            painter->setPen(t.muted);
            painter->drawText(below, Qt::AlignRight | Qt::AlignVCenter, published);
            const int wide = painter->fontMetrics().horizontalAdvance(published);
            painter->drawRect(QRect(below.right() - wide - 11, below.center().y() - 3, 6, 6));
        }
        paint::cellFocus(*painter, option);
        painter->restore();
    }
};

/// The corner is the title of the rows; a click restores the order of the study.
class Corner : public QObject {
public:
    explicit Corner(QTableView* view) : QObject(view), m_view(view) {
        auto* button = view->findChild<QAbstractButton*>();
        if (!button) return;
        button->disconnect();
        button->setToolTip(QStringLiteral("Sort the rows in the order of the study"));
        button->setAccessibleName(QStringLiteral("Order of the study"));
        button->installEventFilter(this);
        connect(button, &QAbstractButton::clicked, view, [view] {
            view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
            view->sortByColumn(-1, Qt::AscendingOrder);
        });
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Paint) return false;
        auto* corner = static_cast<QWidget*>(watched);
        const Theme& t = Theme::current();
        QPainter painter(corner);
        painter.fillRect(corner->rect(), t.alt);
        painter.fillRect(QRect(0, corner->height() - 1, corner->width(), 1), t.grid);
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(corner->rect().adjusted(16, 0, 0, -1), Qt::AlignVCenter,
                         QStringLiteral("Model"));
        return true;
    }

private:
    QTableView* m_view;
};

/// Copies the selected cells as tab-separated text.
class NumberView : public QTableView {
public:
    using QTableView::QTableView;

protected:
    void keyPressEvent(QKeyEvent* event) override {
        if (!event->matches(QKeySequence::Copy)) return QTableView::keyPressEvent(event);
        QModelIndexList chosen = selectionModel()->selectedIndexes();
        std::sort(chosen.begin(), chosen.end());
        QString text;
        for (qsizetype i = 0; i < chosen.size(); ++i) {
            if (i > 0) text += chosen[i].row() == chosen[i - 1].row() ? u'\t' : u'\n';
            text += chosen[i].data().toString();
        }
        QApplication::clipboard()->setText(text);
    }
};

}  // namespace

StudyTable::StudyTable(QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(QStringLiteral("Mean \u00B1 s.e.m."), this)),
      m_neededHead(new PanelHead(QStringLiteral("Examples needed"), this)),
      m_neededPart(new QWidget(this)),
      m_model(new StudyTableModel(this)),
      m_neededModel(new StudyTableModel(this)),
      m_view(makeView(m_model, QStringLiteral("Means of the study"))),
      m_needed(makeView(m_neededModel, QStringLiteral("Examples needed"))),
      m_menu(new QMenu(this)) {
    setAccessibleName(QStringLiteral("Means and errors"));
    auto* csvButton = new QPushButton(icon("export"), QStringLiteral("CSV"), this);
    csvButton->setProperty("compact", true);
    csvButton->setToolTip(QStringLiteral("Save the table with all columns"));
    auto* more = iconButton("more", QStringLiteral("Table: copy, save"), this);
    more->setMenu(m_menu);
    m_menu->setToolTipsVisible(true);
    m_head->addControl(csvButton);
    m_head->addControl(more);
    m_menu->addAction(icon("copy"), QStringLiteral("Copy table"), this,
                      [this] { QApplication::clipboard()->setText(text()); });

    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addWidget(m_view, 3);
    auto* below = columnOf(m_neededPart);
    below->addWidget(horizontalLine(m_neededPart));
    below->addWidget(m_neededHead);
    below->addWidget(m_needed, 1);
    column->addWidget(m_neededPart, 2);
    m_neededHead->setSubText(QStringLiteral("interpolated between sizes"));
    connect(csvButton, &QPushButton::clicked, this, &StudyTable::csvRequested);
}

QTableView* StudyTable::makeView(StudyTableModel* model, const QString& name) {
    auto* view = new NumberView(this);
    auto* order = new StudyTableOrder(view);
    order->setSourceModel(model);
    order->setSortRole(StudyTableModel::SortRole);
    order->setDynamicSortFilter(true);
    view->setVerticalHeader(new SeriesHeader(view));
    view->setModel(order);
    view->setItemDelegate(new NumberDelegate(view));
    layOutTable(*view, 26);
    view->verticalHeader()->show();
    view->setAccessibleName(name);
    view->horizontalHeader()->setMinimumSectionSize(52);
    view->setSortingEnabled(true);
    view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    view->sortByColumn(-1, Qt::AscendingOrder);
    view->setMinimumHeight(60);
    new Corner(view);
    return view;
}

void StudyTable::setStudy(const StudyLayout& layout, const StudyMetric& metric,
                          const std::vector<StudyPoint>& points,
                          const std::vector<PublishedPoint>& published, const StudyNeeded& needed) {
    using Cell = StudyTableModel::Cell;
    const double nan = std::nan("");
    const auto& columns = layout.columns();
    QStringList heads{QStringLiteral("Parameters"), QStringLiteral("Runs")};
    QStringList tips{QStringLiteral("Parameters of the model"), QStringLiteral("Finished runs")};
    for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
        heads += columns[static_cast<std::size_t>(c)].title;
        tips += layout.columnText(c);
    }
    QStringList rows;
    std::vector<std::vector<Cell>> cells;
    for (const auto& row : layout.rows()) {
        rows += row.name;
        std::vector<Cell> line(columns.size() + 2, Cell{kDash, {}, {}, nan, false, true});
        if (row.parameters > 0 && !row.sizeVaries)
            line[0] = {shortCount(row.parameters),
                       {},
                       groupedNumber(row.parameters),
                       static_cast<double>(row.parameters)};
        line[1] = {QStringLiteral("0"), {}, {}, 0.0, false, true};
        cells.push_back(std::move(line));
    }
    for (const auto& p : points) {
        const auto [row, column] = layout.place(QString::fromStdString(p.series), p.size);
        if (row < 0) continue;
        auto& line = cells[static_cast<std::size_t>(row)];
        line[1].sort += static_cast<double>(p.values.size());
        line[1].text = groupedNumber(static_cast<qlonglong>(line[1].sort));
        line[1].muted = false;
        QStringList each;
        for (const double value : p.values) each += metric.text(value);
        line[static_cast<std::size_t>(column) + 2] = {
            metric.text(p.mean, p.error),
            {},
            QStringLiteral("%1, %2\n%3: %4%5")
                .arg(layout.rows()[static_cast<std::size_t>(row)].name, layout.columnText(column),
                     p.values.size() == 1 ? QStringLiteral("one run")
                                          : QStringLiteral("%1 runs").arg(p.values.size()),
                     each.join(QStringLiteral(", ")),
                     layout.sizesAcross()
                         ? QString()
                         : QStringLiteral("\n%1 parameters").arg(groupedNumber(p.parameters))),
            p.mean,
            false,
            false};
    }
    for (const auto& p : published) {
        if (p.source != CurveSource::Published) continue;
        const auto [row, column] = layout.place(QString::fromStdString(p.series), p.size);
        if (row < 0) continue;
        Cell& cell = cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column) + 2];
        const double error = p.error > 0.0 ? p.error : nan;
        cell.published = metric.text(p.mean);
        cell.tip += (cell.tip.isEmpty() ? QString() : QStringLiteral("\n")) +
                    QStringLiteral("published: ") + metric.text(p.mean, error);
    }
    for (std::size_t c = 2; c < columns.size() + 2 && cells.size() > 1; ++c) {
        Cell* best = nullptr;
        int values = 0;
        for (auto& line : cells) values += !std::isnan(line[c].sort);
        for (auto& line : cells)
            if (values > 1 && !std::isnan(line[c].sort) &&
                (!best ||
                 (metric.lowerIsBetter ? line[c].sort < best->sort : line[c].sort > best->sort)))
                best = &line[c];
        if (best) best->best = true;
    }
    m_model->setTable(heads, tips, rows, std::move(cells));
    const bool beside = m_model->hasPublished();
    m_head->setSubText(metric.title() +
                       (beside ? QStringLiteral(" \u00B7 \u25A1 published") : QString()));
    m_view->verticalHeader()->setDefaultSectionSize(beside ? 40 : 26);

    QStringList levels, levelTips;
    for (const double level : needed.levels) {
        levels += QStringLiteral("%1%").arg(qRound(100.0 * level));
        levelTips += QStringLiteral("Training examples needed for the mean over seeds to reach %1%")
                         .arg(qRound(100.0 * level));
    }
    const std::vector<double> none;
    std::vector<std::vector<Cell>> sizes;
    for (std::size_t r = 0; r < layout.rows().size() && !levels.isEmpty(); ++r) {
        std::vector<Cell> line(needed.levels.size(),
                               Cell{QStringLiteral("not reached"), {}, {}, nan, false, true});
        const auto& row = r < needed.sizes.size() ? needed.sizes[r] : none;
        for (std::size_t i = 0; i < std::min(row.size(), line.size()); ++i)
            if (!std::isnan(row[i]))
                line[i] = {groupedNumber(std::llround(row[i])), {}, {}, row[i]};
        sizes.push_back(std::move(line));
    }
    m_neededPart->setVisible(!levels.isEmpty() && !sizes.empty());
    m_neededModel->setTable(levels, levelTips, levels.isEmpty() ? QStringList() : rows,
                            std::move(sizes));
    fitColumns();
}

void StudyTable::fitColumns() {
    for (QTableView* view : {m_view, m_needed}) {
        const QFontMetrics heads{bodyFont()};
        QFont bold = numberFont(12);
        bold.setWeight(QFont::DemiBold);
        const QFontMetrics numbers{bold};
        const auto* model = view->model();
        for (int c = 0; c < model->columnCount(); ++c) {
            // Space for the sort indicator next to the text.
            int width =
                heads.horizontalAdvance(model->headerData(c, Qt::Horizontal).toString()) + 30;
            for (int r = 0; r < model->rowCount(); ++r)
                width = std::max(
                    width, numbers.horizontalAdvance(model->index(r, c).data().toString()) + 18);
            if (view->columnWidth(c) != width) view->setColumnWidth(c, width);
        }
        view->verticalHeader()->setFixedWidth(view->verticalHeader()->sizeHint().width());
    }
}

QString StudyTable::joined(QChar separator) const {
    QString text;
    const auto put = [&](const QStringList& cells) {
        for (qsizetype i = 0; i < cells.size(); ++i)
            text += (i > 0 ? QString(separator) : QString()) +
                    (separator == u',' ? csvField(cells[i]) : cells[i]);
        text += u'\n';
    };
    for (const QTableView* view : {m_view, m_needed}) {
        const auto* model = view->model();
        if (model->columnCount() == 0 || (view == m_needed && m_neededPart->isHidden())) continue;
        if (view == m_needed) text += u'\n';
        QStringList heads{view == m_needed ? QStringLiteral("examples to reach")
                                           : QStringLiteral("model")};
        for (int c = 0; c < model->columnCount(); ++c)
            heads += model->headerData(c, Qt::Horizontal).toString();
        put(heads);
        for (int r = 0; r < model->rowCount(); ++r) {
            QStringList line{model->headerData(r, Qt::Vertical).toString()};
            for (int c = 0; c < model->columnCount(); ++c)
                line += model->index(r, c).data().toString();
            put(line);
        }
    }
    return text;
}

QString StudyTable::text() const {
    return joined(u'\t');
}
QString StudyTable::csv() const {
    return joined(u',');
}

void StudyTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m_view) return;
    m_view->viewport()->update();
    m_needed->viewport()->update();
}

}  // namespace relascope::widgets

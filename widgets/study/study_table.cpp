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
#include <QTableView>
#include <QVBoxLayout>

#include "widgets/export/export.h"
#include "widgets/kit/cell_delegate.h"
#include "widgets/study/study_table.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

namespace {

const QString kDash(QChar(0x2014));

QFont boldNumbers() {
    QFont font = numberFont(12);
    font.setWeight(QFont::DemiBold);
    return font;
}

/// Tables of the same shape are updated in place, which keeps selection and scroll position.
void setTable(ColumnModel<StudyLine>& model, const QStringList& heads, const QStringList& tips,
              std::vector<StudyLine> lines) {
    const auto& before = model.columns();
    bool same = before.size() == static_cast<std::size_t>(heads.size());
    for (qsizetype c = 0; same && c < heads.size(); ++c) {
        const auto& column = before[static_cast<std::size_t>(c)];
        same = column.title == heads[c] && column.tip == plainTip(tips.value(c));
    }
    if (same && lines == model.rows()) return;
    std::vector<ModelColumn<StudyLine>> columns;
    for (qsizetype c = 0; !same && c < heads.size(); ++c) {
        const auto cell = [c](const StudyLine& line) -> const StudyNumber& {
            return line.cells[static_cast<std::size_t>(c)];
        };
        columns.push_back(
            {.title = heads[c],
             .tip = plainTip(tips.value(c)),
             .number = true,
             .text = [cell](const StudyLine& line) { return cell(line).text; },
             .key = [cell](const StudyLine& line) { return cell(line).sort; },
             .look = [cell](const StudyLine& line, int role) -> QVariant {
                 const StudyNumber& of = cell(line);
                 switch (role) {
                     case Qt::ToolTipRole:
                         return of.tip.isEmpty() ? QVariant() : plainTip(of.tip);
                     case Qt::AccessibleTextRole:
                         return of.published.isEmpty()
                                    ? of.text
                                    : of.text + QStringLiteral(", published ") + of.published;
                     case Qt::ForegroundRole:
                         return of.muted ? Theme::current().muted : Theme::current().text;
                     case Qt::FontRole:
                         return of.best ? boldNumbers() : numberFont(12);
                     case BelowRole:
                         return of.published;
                     default:
                         return {};
                 }
             }});
    }
    if (!same) model.setRows({});
    if (!same) model.setColumns(std::move(columns));
    model.setRows(std::move(lines), [](const StudyLine&, const StudyLine&) { return true; });
}

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
            t.seriesColor(model()->headerData(section, Qt::Vertical, SwatchRole).toInt()));
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
      m_model(new ColumnModel<StudyLine>(this)),
      m_neededModel(new ColumnModel<StudyLine>(this)),
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

QTableView* StudyTable::makeView(ColumnModel<StudyLine>* model, const QString& name) {
    model->setHeads([](const StudyLine& line, int role) -> QVariant {
        if (role == Qt::DisplayRole) return line.name;
        if (role == Qt::ToolTipRole) return plainTip(line.name);
        return role == SwatchRole ? line.color : QVariant();
    });
    auto* view = new NumberView(this);
    view->setVerticalHeader(new SeriesHeader(view));
    view->setModel(model);
    view->setItemDelegate(new CellDelegate(26, view));
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
    using Cell = StudyNumber;
    const double nan = std::nan("");
    const auto& columns = layout.columns();
    QStringList heads{QStringLiteral("Parameters"), QStringLiteral("Runs")};
    QStringList tips{QStringLiteral("Parameters of the model"), QStringLiteral("Finished runs")};
    for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
        heads += columns[static_cast<std::size_t>(c)].title;
        tips += layout.columnText(c);
    }
    std::vector<StudyLine> lines;
    for (const auto& row : layout.rows()) {
        std::vector<Cell> line(columns.size() + 2, Cell{kDash, {}, {}, nan, false, true});
        if (row.parameters > 0 && !row.sizeVaries)
            line[0] = {shortCount(row.parameters),
                       {},
                       groupedNumber(row.parameters),
                       static_cast<double>(row.parameters)};
        line[1] = {QStringLiteral("0"), {}, {}, 0.0, false, true};
        lines.push_back({row.name, static_cast<int>(lines.size()), std::move(line)});
    }
    for (const auto& p : points) {
        const auto [row, column] = layout.place(QString::fromStdString(p.series), p.size);
        if (row < 0) continue;
        auto& line = lines[static_cast<std::size_t>(row)].cells;
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
    bool beside = false;
    for (const auto& p : published) {
        if (p.source != CurveSource::Published) continue;
        const auto [row, column] = layout.place(QString::fromStdString(p.series), p.size);
        if (row < 0) continue;
        Cell& cell =
            lines[static_cast<std::size_t>(row)].cells[static_cast<std::size_t>(column) + 2];
        beside = true;
        const double error = p.error > 0.0 ? p.error : nan;
        cell.published = metric.text(p.mean);
        cell.tip += (cell.tip.isEmpty() ? QString() : QStringLiteral("\n")) +
                    QStringLiteral("published: ") + metric.text(p.mean, error);
    }
    for (std::size_t c = 2; c < columns.size() + 2 && lines.size() > 1; ++c) {
        Cell* best = nullptr;
        int values = 0;
        for (auto& line : lines) values += !std::isnan(line.cells[c].sort);
        for (auto& line : lines)
            if (Cell& cell = line.cells[c];
                values > 1 && !std::isnan(cell.sort) &&
                (!best || (metric.lowerIsBetter ? cell.sort < best->sort : cell.sort > best->sort)))
                best = &cell;
        if (best) best->best = true;
    }
    setTable(*m_model, heads, tips, std::move(lines));
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
    std::vector<StudyLine> sizes;
    for (std::size_t r = 0; r < layout.rows().size() && !levels.isEmpty(); ++r) {
        std::vector<Cell> line(needed.levels.size(),
                               Cell{QStringLiteral("not reached"), {}, {}, nan, false, true});
        const auto& row = r < needed.sizes.size() ? needed.sizes[r] : none;
        for (std::size_t i = 0; i < std::min(row.size(), line.size()); ++i)
            if (!std::isnan(row[i]))
                line[i] = {groupedNumber(std::llround(row[i])), {}, {}, row[i]};
        sizes.push_back({layout.rows()[r].name, static_cast<int>(r), std::move(line)});
    }
    m_neededPart->setVisible(!levels.isEmpty() && !sizes.empty());
    setTable(*m_neededModel, levels, levelTips, std::move(sizes));
    fitColumns();
}

void StudyTable::fitColumns() {
    for (QTableView* view : {m_view, m_needed}) {
        const QFontMetrics heads{bodyFont()};
        const QFontMetrics numbers{boldNumbers()};
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

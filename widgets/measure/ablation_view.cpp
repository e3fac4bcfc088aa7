// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/measure/ablation_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QTableView>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/export/export.h"
#include "widgets/measure/ablation_delegate.h"
#include "widgets/measure/ablation_model.h"
#include "widgets/measure/cumulative_plot.h"
#include "widgets/measure/measure_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kRow = 24, kFigureWidth = 1360, kFigurePlot = 230, kPairsShown = 12,
              kFigureTitle = 30, kSide = 16, kMostRows = 60;
using Column = AblationModel::Column;

void prepare(QTableView& view) {
    view.setItemDelegate(new AblationDelegate(&view));
    view.setFrameShape(QFrame::NoFrame);
    view.setShowGrid(false);
    view.setEditTriggers(QAbstractItemView::NoEditTriggers);
    view.setSelectionBehavior(QAbstractItemView::SelectRows);
    view.setSelectionMode(QAbstractItemView::SingleSelection);
    view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view.verticalHeader()->hide();
    view.verticalHeader()->setMinimumSectionSize(kRow);
    view.verticalHeader()->setDefaultSectionSize(kRow);
    view.horizontalHeader()->setFont(smallFont());
    view.horizontalHeader()->setHighlightSections(false);
    view.horizontalHeader()->setMinimumSectionSize(40);
}

QWidget* titled(QLabel*& label, QWidget* content, const QString& text, QWidget* parent) {
    auto* box = new QWidget(parent);
    label = mutedLabel(text, box);
    label->setContentsMargins(16, 8, 16, 2);
    auto* column = columnOf(box);
    column->addWidget(label);
    column->addWidget(content, 1);
    return box;
}

}  // namespace

AblationView::AblationView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Ablation"), QStringLiteral("ablation"), parent),
      m_model(new AblationModel(this)),
      m_view(new QTableView(this)),
      m_below(new QWidget(this)),
      m_curve(new CumulativePlot(this)),
      m_pairs(new QTableWidget(this)) {
    m_view->setModel(m_model);
    prepare(*m_view);
    m_view->setAccessibleName(QStringLiteral("Ablation table"));
    m_view->horizontalHeader()->setSectionsClickable(true);
    m_view->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    m_view->horizontalHeader()->setSortIndicatorClearable(true);
    m_view->setSortingEnabled(true);

    prepare(*m_pairs);
    m_pairs->setAccessibleName(QStringLiteral("Pairs of parts"));
    m_pairs->setColumnCount(4);
    auto* row = rowOf(m_below);
    QLabel* pairsTitle = nullptr;
    m_curvePart = titled(m_curveTitle, m_curve, {}, m_below);
    m_pairsPart =
        titled(pairsTitle, m_pairs,
               QStringLiteral("Pairs: joint change, and interaction (joint - sum)"), m_below);
    row->addWidget(m_curvePart, 3);
    row->addWidget(m_pairsPart, 2);
    content()->addWidget(m_view, 3);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(m_below, 2);
    m_below->setMinimumHeight(190);

    menu()->addPgfplots(
        [this] {
            return latexOf && !isEmpty() ? QString::fromStdString(latexOf(table())) : QString();
        },
        QStringLiteral("LaTeX table..."));
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] {
        if (const auto edit = chosenEdit()) Q_EMIT editChosen(*edit);
    });
    connect(m_view, &QTableView::activated, this, [this] {
        if (const auto edit = chosenEdit()) Q_EMIT editActivated(*edit);
    });
    AblationView::clear(QStringLiteral("Not measured."));
}

std::optional<Edit> AblationView::chosenEdit() const {
    const QModelIndex at = m_view->currentIndex();
    const auto* row = isEmpty() ? nullptr : m_model->rowAt(at.row());
    if (!row) return std::nullopt;
    Edit edit = row->edit;
    edit.op = m_model->wayOf(at.column());
    return edit;
}

const AblationTable& AblationView::table() const {
    return m_model->table();
}

void AblationView::clear(const QString& sentence) {
    m_model->setTable({});
    MeasureFrame::clear(sentence);
}

void AblationView::setTable(const AblationTable& table) {
    const bool fresh = isEmpty() || m_model->table().rows.size() != table.rows.size();
    m_model->setTable(table);
    const MetricText text(table.metric);
    QString sub =
        QStringLiteral("%1 %2 with every part, %3 examples")
            .arg(text.title.toLower(), text.value(table.base), groupedNumber(table.examples));
    if (table.examples < table.wanted)
        sub = QStringLiteral("%1 of %2").arg(sub.chopped(9), groupedNumber(table.wanted)) +
              QStringLiteral(" examples");
    if (text.percent) sub += QStringLiteral("; changes in points");
    head()->setSubText(sub);
    m_curvePart->setVisible(!table.cumulative.empty());
    m_pairsPart->setVisible(!table.pairs.empty());
    m_below->setVisible(!table.cumulative.empty() || !table.pairs.empty());
    m_curveTitle->setText(CumulativePlot::title(table));
    m_curve->setTable(table);
    fillPairs();
    showResults();
    if (fresh) fitColumns(*m_view, width());
}

void AblationView::fillPairs() {
    auto pairs = table().pairs;
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        return std::abs(a.interaction) > std::abs(b.interaction);
    });
    m_pairs->setHorizontalHeaderLabels({QStringLiteral("First"), QStringLiteral("Second"),
                                        QStringLiteral("Joint"), QStringLiteral("Interaction")});
    m_pairs->setRowCount(static_cast<int>(pairs.size()));
    const MetricText text(table().metric);
    int row = 0;
    for (const auto& pair : pairs) {
        int column = 0;
        for (const QString& cell :
             {QString::fromStdString(pair.first), QString::fromStdString(pair.second),
              text.change(pair.joint), text.change(pair.interaction)}) {
            auto* item = new QTableWidgetItem(cell);
            item->setFont(column < 2 ? smallFont() : numberFont(12));
            item->setTextAlignment(Qt::AlignVCenter |
                                   (column < 2 ? Qt::AlignLeft : Qt::AlignRight));
            item->setToolTip(cell);
            m_pairs->setItem(row, column++, item);
        }
        ++row;
    }
    for (int c = 0; c < 4; ++c)
        m_pairs->horizontalHeaderItem(c)->setTextAlignment(
            Qt::AlignVCenter | (c < 2 ? Qt::AlignLeft : Qt::AlignRight));
    m_pairs->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_pairs->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    m_pairs->setColumnWidth(2, 76);
    m_pairs->setColumnWidth(3, 92);
}

// Names keep their width; the bars take what is left, from a least width on.
void AblationView::fitColumns(QTableView& view, int width) const {
    if (m_model->columnCount() <= 3) return;
    int names = 120, changes = 0;
    const QFontMetrics metrics(smallFont());
    for (const auto& row : table().rows)
        names = std::max(names, metrics.horizontalAdvance(QString::fromStdString(row.part)) + 24);
    constexpr int group = 84, changed = 76, norm = 112, least = 150;
    int fixed = (names = std::min(names, 300)) + group + norm + 16;
    for (int c = 0; c < m_model->columnCount(); ++c) {
        changes += m_model->kind(c) == Column::Change;
        fixed += m_model->kind(c) == Column::Changed ? changed : 0;
    }
    const int each = std::clamp((width - fixed) / std::max(1, changes), least, 460);
    for (int c = 0; c < m_model->columnCount(); ++c) {
        const auto kind = m_model->kind(c);
        view.setColumnWidth(c, kind == Column::Part      ? names
                               : kind == Column::Group   ? group
                               : kind == Column::Change  ? each
                               : kind == Column::Changed ? changed
                                                         : norm);
    }
}

void AblationView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    fitColumns(*m_view, width());
}

std::unique_ptr<QTableView> AblationView::wholeTable() const {
    auto whole = std::make_unique<QTableView>();
    whole->setPalette(Theme::current().palette());
    whole->setModel(m_model);
    prepare(*whole);
    whole->setSelectionMode(QAbstractItemView::NoSelection);
    whole->setFocusPolicy(Qt::NoFocus);
    whole->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    fitColumns(*whole, kFigureWidth);
    const int high = whole->horizontalHeader()->sizeHint().height();
    whole->resize(std::max(kFigureWidth, whole->horizontalHeader()->length()),
                  high + kRow * std::min(kMostRows, m_model->rowCount()) + 2);
    return whole;
}

int AblationView::pairsInFigure() const {
    return std::min<int>(kPairsShown, static_cast<int>(table().pairs.size()));
}

QSize AblationView::figureSize() const {
    if (isEmpty()) return {400, 80};
    QSize size = wholeTable()->size() + QSize(kSide, kFigureTitle);
    if (m_model->rowCount() > kMostRows) size.rheight() += kFigureTitle;
    if (!table().cumulative.empty()) size.rheight() += kFigureTitle + kFigurePlot;
    if (pairsInFigure() > 0) size.rheight() += kFigureTitle + (pairsInFigure() + 1) * kRow + 8;
    return size;
}

void AblationView::paintFigure(QPainter& painter) {
    const Theme& t = Theme::current();
    const auto whole = wholeTable();
    const int width = whole->width() + kSide;
    int y = 0;
    const auto line = [&](const QFont& font, const QString& text) {
        painter.setFont(font);
        painter.setPen(t.text);
        painter.drawText(QRect(kSide, y, width - 2 * kSide, kFigureTitle), Qt::AlignVCenter, text);
        y += kFigureTitle;
    };
    line(headFont(), QStringLiteral("Ablation: ") + headText());
    whole->render(&painter, QPoint(kSide / 2, y), QRegion(), QWidget::DrawChildren);
    y += whole->height();
    if (const int more = m_model->rowCount() - kMostRows; more > 0)
        line(smallFont(), QStringLiteral("and %1 more parts").arg(groupedNumber(more)));
    if (!table().cumulative.empty()) {
        line(smallFont(), CumulativePlot::title(table()));
        m_curve->paintVector(painter, y, {std::min(width, 760), kFigurePlot});
        y += kFigurePlot;
    }
    if (pairsInFigure() == 0) return;
    line(smallFont(),
         QStringLiteral("Pairs with the largest interaction (joint change - sum of the two)"));
    const int edges[] = {kSide, 296, 576, 676, 786};
    for (int row = -1; row < pairsInFigure(); ++row, y += kRow) {
        painter.setPen(row < 0 ? t.muted : t.text);
        for (int c = 0; c < 4; ++c) {
            painter.setFont(row < 0 || c < 2 ? smallFont() : numberFont(12));
            painter.drawText(
                QRect(edges[c], y, edges[c + 1] - edges[c] - 8, kRow),
                Qt::AlignVCenter | (c < 2 ? Qt::AlignLeft : Qt::AlignRight),
                row < 0 ? m_pairs->horizontalHeaderItem(c)->text() : m_pairs->item(row, c)->text());
        }
        painter.fillRect(QRect(kSide, y + kRow - 1, edges[4] - 2 * kSide, 1), t.grid);
    }
}

QString AblationView::csv() const {
    return csvOf && !isEmpty() ? QString::fromStdString(csvOf(table())) : QString();
}

}  // namespace relascope::widgets

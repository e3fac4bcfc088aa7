// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <QAbstractTableModel>
#include <QFontMetrics>
#include <QHeaderView>
#include <QListWidget>
#include <QPainter>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "types/text_format.h"
#include "widgets/analysis/duel_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kDuelFigure = 1000, kDuelMargin = 16, kDuelRow = 24, kDuelLine = 20, kDuelCell = 44,
              kMostDuelLayers = 12, kMostDuelRows = 24;

/// A table of a duel: titles, what they mean, and texts; numbers stand at the right.
struct DuelTable {
    QStringList columns, help;
    std::vector<QStringList> rows;
    int words = 0;  ///< columns from the left that hold words
};

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

QString number(double value, int digits) {
    return std::isfinite(value) ? text(numberWithMinus(value, digits)) : QString(QChar(0x2014));
}

QString yes(bool is) {
    return is ? QStringLiteral("yes") : QStringLiteral("no");
}

QString whoIsRight(const Duel::Difference& d) {
    if (d.rightA && d.rightB) return QStringLiteral("both right");
    if (d.rightA) return QStringLiteral("A right, B wrong");
    return d.rightB ? QStringLiteral("A wrong, B right") : QStringLiteral("both wrong");
}

DuelTable answersOf(const Duel& duel) {
    DuelTable table{
        {QStringLiteral("Who is right"), QStringLiteral("A"), QStringLiteral("B"),
         QStringLiteral("Wanted"), QStringLiteral("Example"), QStringLiteral("Position"),
         QStringLiteral("Divergence"), QStringLiteral("p of A"), QStringLiteral("p of B")},
        {QStringLiteral("A click shows the example in both"), QString(), QString(), QString(),
         QStringLiteral("Its number in the split"), QString(), text(duel.divergence),
         QStringLiteral("Probability of the wanted answer"),
         QStringLiteral("Probability of the wanted answer")},
        {},
        4};
    for (const auto& d : duel.differences)
        table.rows.push_back(
            {whoIsRight(d), answerText(d.a), answerText(d.b), answerText(d.wanted),
             groupedNumber(d.example), d.position < 0 ? QString() : groupedNumber(d.position),
             number(d.divergence, 4), number(d.probabilityA, 3), number(d.probabilityB, 3)});
    return table;
}

DuelTable layersOf(const Duel& duel) {
    DuelTable table{
        {QStringLiteral("Maps"), QStringLiteral("A"), QStringLiteral("B"),
         QStringLiteral("Matched"), QStringLiteral("Random"), QStringLiteral("Untrained"),
         QStringLiteral("A by B"), QStringLiteral("B by A"), QStringLiteral("Better")},
        {QString(), QString(), QString(),
         QStringLiteral("Mean |correlation| of the best assignment, place removed"),
         QStringLiteral("The same over all assignments"),
         QStringLiteral("The best pair of layers of any pair of untrained models"),
         QStringLiteral("Held-out R\u00B2 of a linear map from B's maps to A's"),
         QStringLiteral("Held-out R\u00B2 of a linear map from A's maps to B's"),
         QStringLiteral("Than four or more pairs of untrained models, by more than their range")},
        {},
        3};
    for (const auto& match : duel.matches) {
        const auto layer = [](const std::string& name) {
            return name.empty() ? QStringLiteral("all layers") : text(name);
        };
        table.rows.push_back(
            {match.heads ? QStringLiteral("attention") : QStringLiteral("relations"),
             layer(match.a), layer(match.b), number(match.matched, 3), number(match.any, 3),
             match.level < 0 ? QString() : number(match.level, 3), number(match.explained, 2),
             number(match.back, 2), yes(match.better)});
    }
    return table;
}

DuelTable mapsOf(const Duel& duel) {
    DuelTable table{
        {QStringLiteral("Map of A"), QStringLiteral("Map of B"), QStringLiteral("Correlation")},
        {QStringLiteral("A click shows both"), QStringLiteral("A click shows both"),
         QStringLiteral("Over pairs of objects, place removed")},
        {},
        2};
    for (const auto& partner : duel.partners)
        table.rows.push_back({text(partner.a),
                              partner.b.empty() ? QStringLiteral("none") : text(partner.b),
                              number(partner.correlation, 3)});
    return table;
}

DuelTable streamsOf(const Duel& duel) {
    DuelTable table{
        {QStringLiteral("After A's"), QStringLiteral("after B's"), QStringLiteral("Linear CKA"),
         QStringLiteral("Untrained"), QStringLiteral("Better")},
        {QString(), QString(), QStringLiteral("Of the streams, 0 to 1"),
         QStringLiteral("The largest of pairs of untrained models"),
         QStringLiteral("Than four or more pairs of untrained models, by more than their range")},
        {},
        2};
    const auto columns = std::max<std::size_t>(1, duel.b.streams.size());
    for (std::size_t k = 0; k < duel.cka.size(); ++k) {
        const bool known = k < duel.alike.size();
        table.rows.push_back({text(duel.a.streams[k / columns]), text(duel.b.streams[k % columns]),
                              number(duel.cka[k], 3),
                              known ? number(duel.untrainedCka[k], 3) : QString(),
                              known ? yes(duel.alike[k]) : QString()});
    }
    return table;
}

DuelTable partsOf(const Duel& duel) {
    const MetricText metric(duel.metric.empty() ? "accuracy" : std::string_view(duel.metric));
    DuelTable table{
        {QStringLiteral("Part"), QStringLiteral("of B"), QStringLiteral("in A"), metric.title,
         QStringLiteral("Interval"), QStringLiteral("Zero"), QStringLiteral("Mean"),
         QStringLiteral("Untrained"), QStringLiteral("Other"), QStringLiteral("Now wrong"),
         QStringLiteral("Now right"), QStringLiteral("Used")},
        {QString(), QString(), QString(), QStringLiteral("Change of A with the part of B"),
         QStringLiteral("95 % by bootstrap over examples"),
         QStringLiteral("Change with A's own part at zero"),
         QStringLiteral("Change with A's own part at its mean over the examples"),
         QStringLiteral("Change with the part of an untrained model like B"),
         QStringLiteral("Change with A's own part of another example"), QString(), QString(),
         QStringLiteral("Better than zero, mean and untrained, corrected over all parts, and keeps "
                        "half of what zero loses")},
        {},
        3};
    for (const auto& graft : duel.grafts) {
        if (graft.change.metric.empty()) continue;
        table.rows.push_back(
            {text(graft.part), text(graft.b), text(graft.a), metric.change(graft.change.change),
             metric.interval(graft.change.low, graft.change.high), metric.change(graft.zero),
             metric.change(graft.mean),
             std::isfinite(graft.untrained) ? metric.change(graft.untrained) : QString(),
             metric.change(graft.resampled), groupedNumber(graft.rightToWrong),
             groupedNumber(graft.wrongToRight), yes(graft.used)});
    }
    return table;
}

DuelTable tableOf(const Duel& duel, DuelView::Table which) {
    switch (which) {
        case DuelView::Table::Answers:
            return answersOf(duel);
        case DuelView::Table::Layers:
            return layersOf(duel);
        case DuelView::Table::Maps:
            return mapsOf(duel);
        case DuelView::Table::Streams:
            return streamsOf(duel);
        case DuelView::Table::Parts:
            break;
    }
    return partsOf(duel);
}

/// Layers of A down and of B across, 0 to 1.
struct LayerMatrix {
    QString title;
    QStringList rows, columns;
    std::vector<double> values;
    std::vector<bool> better;
};

std::vector<LayerMatrix> matricesOf(const Duel& duel) {
    std::vector<LayerMatrix> all;
    for (const bool heads : {false, true}) {
        LayerMatrix one;
        one.title = heads ? QStringLiteral("Attention, |correlation| matched")
                          : QStringLiteral("Relations, |correlation| matched");
        for (const auto& match : duel.matches) {
            if (match.heads != heads || match.a.empty()) continue;
            if (!one.rows.contains(text(match.a))) one.rows << text(match.a);
            if (!one.columns.contains(text(match.b))) one.columns << text(match.b);
            one.values.push_back(match.matched), one.better.push_back(match.better);
        }
        if (!one.values.empty()) all.push_back(std::move(one));
    }
    if (!duel.cka.empty()) {
        LayerMatrix one{QStringLiteral("Streams, linear CKA"), {}, {}, duel.cka, {}};
        for (const auto& name : duel.a.streams) one.rows << text(name);
        for (const auto& name : duel.b.streams) one.columns << text(name);
        for (std::size_t k = 0; k < duel.cka.size(); ++k)
            one.better.push_back(k < duel.alike.size() && duel.alike[k]);
        all.push_back(std::move(one));
    }
    return all;
}

/// Rows are made when they are seen.
class DuelTableModel : public QAbstractTableModel {
public:
    using QAbstractTableModel::QAbstractTableModel;
    void setTable(DuelTable table) {
        beginResetModel();
        m_table = std::move(table);
        endResetModel();
    }
    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
    }
    int columnCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
    }
    QVariant data(const QModelIndex& index, int role) const override {
        const bool words = index.column() < m_table.words;
        if (role == Qt::DisplayRole || role == Qt::ToolTipRole)
            return m_table.rows[static_cast<std::size_t>(index.row())].at(index.column());
        if (role == Qt::FontRole) return words ? smallFont() : numberFont(12);
        if (role == Qt::TextAlignmentRole)
            return QVariant::fromValue((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        return {};
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal) return {};
        if (role == Qt::DisplayRole) return m_table.columns.value(section);
        return role == Qt::ToolTipRole ? m_table.help.value(section) : QVariant();
    }

private:
    DuelTable m_table;
};

}  // namespace

DuelView::DuelView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Duel"), QStringLiteral("duel"), parent),
      m_sentences(new QListWidget(this)),
      m_choice(new SegmentedControl(
          {QStringLiteral("Answers"), QStringLiteral("Layers"), QStringLiteral("Maps"),
           QStringLiteral("Streams"), QStringLiteral("Parts of B in A")},
          this)),
      m_table(new QTableView(this)) {
    m_sentences->setAccessibleName(QStringLiteral("What the duel shows"));
    m_sentences->setFrameShape(QFrame::NoFrame);
    m_sentences->setWordWrap(true);
    m_sentences->setSpacing(4);
    m_sentences->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_sentences->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_choice->setAccessibleName(QStringLiteral("Table"));
    m_table->setAccessibleName(QStringLiteral("Table of the duel"));
    layOutTable(*m_table, kDuelRow);
    m_table->setModel(new DuelTableModel(this));
    auto* right = new QWidget(this);
    auto* column = columnOf(right, {8, 6, 8, 0}, 6);
    column->addWidget(m_choice, 0, Qt::AlignLeft);
    column->addWidget(m_table, 1);
    auto* both = new QSplitter(Qt::Horizontal, this);
    both->addWidget(m_sentences);
    both->addWidget(right);
    both->setStretchFactor(0, 2);
    both->setStretchFactor(1, 3);
    both->setChildrenCollapsible(false);
    content()->addWidget(both, 1);
    connect(m_choice, &SegmentedControl::changed, this,
            [this](int at) { showTable(static_cast<Table>(at)); });
    connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& at) { open(at.row()); });
    connect(m_table, &QTableView::activated, this,
            [this](const QModelIndex& at) { open(at.row()); });
    DuelView::clear(QStringLiteral("Not measured."));
}

void DuelView::clear(const QString& sentence) {
    m_duel = {};
    m_sentences->clear();
    static_cast<DuelTableModel*>(m_table->model())->setTable({});
    MeasureFrame::clear(sentence);
}

void DuelView::setResult(const Duel& duel) {
    m_duel = duel;
    m_sentences->clear();
    for (const auto& sentence : duel.sentences) m_sentences->addItem(text(sentence));
    fillTable(true);
    QString sub = QStringLiteral("%1 %2 of %3")
                      .arg(groupedNumber(duel.examples), text(duel.noun), text(duel.data));
    if (duel.untrained > 0)
        sub += QStringLiteral("; beside %1 pairs of untrained models").arg(duel.untrained);
    if (!duel.remark.empty()) sub += QStringLiteral("; ") + text(duel.remark);
    head()->setSubText(sub);
    leaveEmpty();
}

void DuelView::showTable(Table table) {
    m_choice->setCurrent(static_cast<int>(table));
    if (std::exchange(m_shown, table) != table) fillTable(false);
}

void DuelView::fillTable(bool keepRow) {
    auto* model = static_cast<DuelTableModel*>(m_table->model());
    const int row = keepRow ? m_table->currentIndex().row() : -1;
    model->setTable(tableOf(m_duel, m_shown));
    if (row >= 0 && row < model->rowCount()) m_table->setCurrentIndex(model->index(row, 0));
    m_table->resizeColumnsToContents();
    for (int c = 0; c < model->columnCount(); ++c)
        m_table->setColumnWidth(c, std::clamp(m_table->columnWidth(c) + 10, 64, 240));
}

void DuelView::open(int row) {
    const auto at = static_cast<std::size_t>(std::max(0, row));
    if (m_shown == Table::Answers && at < m_duel.differences.size()) {
        const auto& d = m_duel.differences[at];
        MapCell cell;
        cell.i = static_cast<int>(std::max<std::int64_t>(0, d.position));
        Q_EMIT exampleRequested(d.example, cell);
    } else if (m_shown == Table::Maps && at < m_duel.partners.size()) {
        const auto& partner = m_duel.partners[at];
        if (partner.layerB < 0) return;
        Q_EMIT mapRequested(kindOfMap(partner.b, partner.heads), static_cast<int>(partner.layerB),
                            static_cast<int>(partner.indexB));
    }
}

QSize DuelView::figureSize() const {
    return isEmpty() ? QSize(400, 80) : QSize(kDuelFigure, paint(nullptr));
}

void DuelView::paintFigure(QPainter& painter) {
    paint(&painter);
}

int DuelView::paint(QPainter* painter) const {
    const Theme& t = Theme::current();
    const int inner = kDuelFigure - 2 * kDuelMargin;
    FigureLines lines(painter, kDuelFigure, kDuelMargin);
    int& y = lines.y;
    lines.wrapped(QStringLiteral("A: %1").arg(text(m_duel.a.name)), headFont(), t.text);
    lines.wrapped(QStringLiteral("B: %1").arg(text(m_duel.b.name)), headFont(), t.text);
    lines.wrapped(head()->subText(), smallFont(), t.muted);
    for (const auto& sentence : m_duel.sentences)
        lines.wrapped(text(sentence), smallFont(), t.text);
    // Matrices beside each other; a cell with a frame is better than chance.
    int x = kDuelMargin, tall = 0;
    for (const auto& matrix : matricesOf(m_duel)) {
        const int columns = std::min<int>(kMostDuelLayers, static_cast<int>(matrix.columns.size())),
                  rows = std::min<int>(kMostDuelLayers, static_cast<int>(matrix.rows.size()));
        const int side = std::min(kDuelCell, 240 / std::max(columns, rows) + 4), left = 64;
        const int width = std::max(left + columns * side, 220);
        if (x > kDuelMargin && x + width > kDuelFigure - kDuelMargin)
            x = kDuelMargin, y += std::exchange(tall, 0);
        lines.words({x, y, width, kDuelLine}, matrix.title, smallFont(), t.text,
                    Qt::AlignLeft | Qt::AlignVCenter);
        const int top = y + 2 * kDuelLine;
        for (int c = 0; c < columns; ++c)
            lines.words({x + left + c * side, y + kDuelLine, side, kDuelLine},
                        QString(matrix.columns.at(c)).section(u' ', -1), captionFont(), t.muted,
                        Qt::AlignCenter);
        for (int r = 0; r < rows; ++r) {
            lines.words({x, top + r * side, left - 6, side}, matrix.rows.at(r), captionFont(),
                        t.muted, Qt::AlignRight | Qt::AlignVCenter);
            for (int c = 0; c < columns && painter; ++c) {
                const auto at = static_cast<std::size_t>(r) * matrix.columns.size() +
                                static_cast<std::size_t>(c);
                const double value = matrix.values[at];
                const QRect cell(x + left + c * side, top + r * side, side - 2, side - 2);
                const auto stops = static_cast<double>(t.viridis.size());
                const QColor fill = std::isfinite(value)
                                        ? t.viridis[static_cast<std::size_t>(
                                              std::clamp(value * stops, 0.0, stops - 1.0))]
                                        : t.hatchFill;
                painter->fillRect(cell, fill);
                if (matrix.better[at]) {
                    painter->setPen(QPen(t.text, 2));
                    painter->setBrush(Qt::NoBrush);
                    painter->drawRect(cell.adjusted(0, 0, -1, -1));
                }
                if (side >= 28)
                    lines.words(cell, number(value, 2), captionFont(), Theme::textOn(fill),
                                Qt::AlignCenter);
            }
        }
        tall = std::max(tall, 2 * kDuelLine + rows * side + 12);
        x += width + 24;
    }
    y += tall;
    if (tall > 0)
        lines.wrapped(QStringLiteral("Layers of A down, of B across; framed: better than chance."),
                      captionFont(), t.muted);
    for (const auto which : {Table::Parts, Table::Answers}) {
        const auto table = tableOf(m_duel, which);
        if (table.rows.empty()) continue;
        const int width = inner / static_cast<int>(table.columns.size());
        const auto line = [&](const QStringList& texts, const QFont& font, const QColor& ink) {
            for (int c = 0; c < texts.size(); ++c)
                lines.words({kDuelMargin + c * width, y, width - 8, kDuelLine},
                            QFontMetrics(font).elidedText(texts.at(c), Qt::ElideRight, width - 8),
                            font, ink,
                            Qt::AlignVCenter | (c < table.words ? Qt::AlignLeft : Qt::AlignRight));
            y += kDuelLine;
        };
        y += 8;
        line(table.columns, captionFont(), t.muted);
        const auto shown = std::min<std::size_t>(kMostDuelRows, table.rows.size());
        for (std::size_t r = 0; r < shown; ++r) line(table.rows[r], smallFont(), t.text);
        if (shown < table.rows.size())
            line({QStringLiteral("and %1 more").arg(table.rows.size() - shown)}, smallFont(),
                 t.muted);
    }
    return y + kDuelMargin / 2;
}

}  // namespace relascope::widgets

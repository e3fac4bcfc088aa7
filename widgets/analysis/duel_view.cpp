// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/duel_view.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QListWidget>
#include <QSplitter>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kDuelFigure = 1000;
constexpr const char* kTables[] = {"differences", "matching", "partners", "streams"};

QColor alikeFill(double value) {
    const auto& stops = Theme::current().viridis;
    const auto count = static_cast<double>(stops.size());
    return stops[static_cast<std::size_t>(std::clamp(value * count, 0.0, count - 1.0))];
}

/// Layers of A down and of B across, 0 to 1; framed: better than chance. `maps`: of the rows with
/// that word alone.
GridPanel matrixOf(const Table& table, const std::string& values, const QString& title,
                   const std::string& maps = {}) {
    const auto &a = table.texts("a"), &b = table.texts("b");
    const auto &numbers = table.numbers(values), &better = table.numbers("better_than_chance");
    GridPanel panel{title};
    std::map<std::pair<int, int>, GridCell> cells;
    const auto place = [](QStringList& names, const QString& name) {
        if (!names.contains(name)) names << name;
        return static_cast<int>(names.indexOf(name));
    };
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k] == "all layers" || (!maps.empty() && table.texts("maps")[k] != maps)) continue;
        const int row = place(panel.rows, shownText(a[k]));
        const int column = place(panel.columns, shownText(b[k]).section(u' ', -1));
        cells[{row, column}] = {.value = numbers[k],
                                .text = QString::number(numbers[k], 'f', 2),
                                .framed = better[k] != 0.0};
    }
    panel.cell = [cells](int row, int column) {
        const auto at = cells.find({row, column});
        return at == cells.end() ? GridCell{.present = false} : at->second;
    };
    return panel;
}

GridPicture matricesOf(const Answer& answer) {
    GridPicture picture(
        {.fill = alikeFill, .leastCell = 14, .mostCell = 44, .numbersFrom = 28, .beside = true});
    std::vector<GridPanel> panels = {
        matrixOf(answer.table("matching"), "correlation",
                 QStringLiteral("Relations, |correlation| matched"), "relations"),
        matrixOf(answer.table("matching"), "correlation",
                 QStringLiteral("Attention, |correlation| matched"), "attention"),
        matrixOf(answer.table("streams"), "linear_cka", QStringLiteral("Streams, linear CKA"))};
    std::erase_if(panels, [](const GridPanel& panel) { return panel.rows.isEmpty(); });
    picture.setPanels(std::move(panels));
    picture.fit(kDuelFigure);
    return picture;
}

}  // namespace

DuelView::DuelView(QWidget* parent)
    : AnswerView(QStringLiteral("Duel"), QStringLiteral("duel"), parent),
      m_sentences(new QListWidget(this)),
      m_choice(new SegmentedControl({QStringLiteral("Answers"), QStringLiteral("Layers"),
                                     QStringLiteral("Maps"), QStringLiteral("Streams")},
                                    this)),
      m_table(new TableView(QStringLiteral("Table of the duel"), this)) {
    m_sentences->setAccessibleName(QStringLiteral("What the duel shows"));
    layOutSentences(*m_sentences);
    m_choice->setAccessibleName(QStringLiteral("Table"));
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
            [this](int at) { showTable(static_cast<Shown>(at)); });
    connect(m_table, &TableView::rowChosen, this, &DuelView::open);
    AnswerView::clear(QStringLiteral("Not measured."));
}

void DuelView::fill(const Answer& answer) {
    m_sentences->clear();
    if (answer.tables.empty()) return m_table->setTable({});
    for (const char* key : kTables) answer.table(key);
    matricesOf(answer);
    for (const auto& sentence : answer.table("says").texts("text"))
        m_sentences->addItem(shownText(sentence));
    m_table->setTable(answer.table(kTables[static_cast<int>(m_shown)]));
    QString sub = QStringLiteral("%1 %2 of %3")
                      .arg(groupedNumber(indexOf(answer.number("examples"))),
                           shownText(answer.text("noun")), shownText(answer.text("data")));
    if (const auto pairs = indexOf(answer.number("untrained_pairs")); pairs > 0)
        sub += QStringLiteral("; beside %1 pairs of untrained models").arg(pairs);
    answer.text("a"), answer.text("b");
    head()->setSubText(sub);
}

void DuelView::showTable(Shown table) {
    m_choice->setCurrent(static_cast<int>(table));
    m_shown = table;
    if (!isEmpty()) m_table->setTable(answer().table(kTables[static_cast<int>(table)]));
}

void DuelView::open(int row) {
    if (isEmpty() || row < 0) return;
    const auto& table = m_table->table();
    const auto at = static_cast<std::size_t>(row);
    if (m_shown == Shown::Answers) {
        MapCell cell;
        cell.i =
            static_cast<int>(std::max<std::int64_t>(0, indexOf(table.numbers("position")[at])));
        Q_EMIT exampleRequested(indexOf(table.numbers("example")[at]), cell);
    } else if (at < table.links.size() && table.links[at].layer >= 0) {
        Q_EMIT mapRequested(table.links[at].kind, table.links[at].layer, table.links[at].index);
    }
}

void DuelView::draw(FigureLines& lines) const {
    const Theme& t = Theme::current();
    for (const char* side : {"a", "b"})
        lines.title(QString::fromLatin1(side).toUpper() + QStringLiteral(": ") +
                    shownText(answer().text(side)));
    lines.wrapped(headText(), smallFont(), t.muted);
    for (const auto& sentence : answer().table("says").texts("text"))
        lines.wrapped(shownText(sentence), smallFont(), t.text);
    if (const auto matrices = matricesOf(answer()); !matrices.panels().empty()) {
        lines.grid(matrices);
        lines.y += 8;
        lines.wrapped(QStringLiteral("Layers of A down, of B across; framed: better than chance."),
                      captionFont(), t.muted);
    }
    TableView table({});
    table.setTable(answer().table("differences"));
    if (table.table().rows() == 0) return;
    lines.table(table);
    lines.y += 8;
}

}  // namespace relascope::widgets

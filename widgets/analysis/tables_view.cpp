// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/tables_view.h"

#include <algorithm>

#include <cmath>
#include <memory>

#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "answers/answer_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

/// Whether a table is a list of sentences, which would not fit into a row.
bool isSentences(const Table& table) {
    return table.columns.size() == 1 && table.columns.front().kind == ColumnKind::Text;
}

constexpr int kFewestInGrid = 3, kWidestGrid = 884, kLeastFound = 40;  // the last two: px

/// Whether the numbers of a table are those of pairs of its rows.
bool isSquare(const Table& table) {
    const auto rows = table.rows();
    if (rows < kFewestInGrid || table.columns.size() != rows + 1 ||
        table.columns.front().kind != ColumnKind::Text)
        return false;
    for (std::size_t k = 0; k < rows; ++k) {
        const auto& column = table.columns[k + 1];
        if (column.kind != ColumnKind::Number || column.title != table.columns.front().texts[k])
            return false;
    }
    return true;
}

GridPanel panelOf(const Table& table) {
    const auto own = std::make_shared<const Table>(table);
    double largest = 0.0;
    for (const auto& column : own->columns)
        for (const double value : column.numbers)
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    GridPanel panel;
    for (std::size_t k = 0; k < own->rows(); ++k) {
        panel.rows << shownText(own->columns[0].texts[k]);
        panel.columns << QString::number(k + 1);
    }
    panel.inputs = panel.rows;
    const auto shown = [own](int row, int column) {
        return shownText(core::shownValue(own->columns[static_cast<std::size_t>(column) + 1],
                                          static_cast<std::size_t>(row)));
    };
    panel.cell = [own, shown, largest](int row, int column) {
        const double value = own->columns[static_cast<std::size_t>(column) + 1]
                                 .numbers[static_cast<std::size_t>(row)];
        return GridCell{.value = largest > 0.0 ? value / largest : 0.0, .text = shown(row, column)};
    };
    panel.text = [rows = panel.rows, shown](int row, int column) {
        return QStringLiteral("%1 x %2: %3").arg(rows[row], rows[column], shown(row, column));
    };
    return panel;
}

GridStyle styleOfPairs(const std::shared_ptr<ColorScale>& scale) {
    return {.fill = [scale](double value) { return scale->color(static_cast<float>(value)); },
            .leastCell = 14,
            .mostCell = 64,
            .rowHeight = 18,
            .numbersFrom = 52,
            .mostUpright = 130};
}

}  // namespace

TablesView::TablesView(const QString& title, const QString& name, QWidget* parent)
    : AnswerView(title, name, parent),
      m_title(title),
      m_choice(new SegmentedControl(this)),
      m_table(new TableView(title, this)),
      m_scale(std::make_shared<ColorScale>()),
      m_grid(new GridView(styleOfPairs(m_scale), title, this)),
      m_sentences(new QLabel(this)),
      m_found(new QScrollArea(this)) {
    m_choice->setAccessibleName(QStringLiteral("Table"));
    auto* above = new QWidget(this);
    rowOf(above, {8, 6, 8, 6})->addWidget(m_choice, 0, Qt::AlignLeft);
    m_sentences->setWordWrap(true);
    m_sentences->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_sentences->setContentsMargins(16, 8, 16, 8);
    m_sentences->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    // What was found comes before the numbers, in as many lines as it needs.
    m_found->setWidgetResizable(true);
    m_found->setFrameShape(QFrame::NoFrame);
    m_found->setWidget(m_sentences);
    m_found->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    m_found->setSizeAdjustPolicy(QAbstractScrollArea::AdjustToContents);
    m_found->setMinimumHeight(kLeastFound);
    content()->addWidget(m_found, 2);
    content()->addWidget(above);
    content()->addWidget(m_table, 3);
    content()->addWidget(m_grid, 3);
    m_grid->hide();
    connect(m_choice, &SegmentedControl::changed, this, &TablesView::showTable);
    connect(m_table, &TableView::rowChosen, this, [this](int row) {
        const auto& links = m_table->table().links;
        if (row < 0 || row >= static_cast<int>(links.size())) return;
        const auto& link = links[static_cast<std::size_t>(row)];
        if (link.layer < 0) return;
        if (const auto* examples = m_table->table().find("example"); examples && link.i >= 0)
            Q_EMIT exampleRequested(indexOf(examples->numbers[static_cast<std::size_t>(row)]),
                                    {link.kind, link.layer, link.index, 0, link.i, link.j});
        else
            Q_EMIT mapRequested(link.kind, link.layer, link.index);
    });
    AnswerView::clear(QStringLiteral("Not measured."));
}

void TablesView::fill(const Answer& answer) {
    QStringList titles, facts, sentences;
    std::vector<std::string> keys;
    for (const auto& table : answer.tables) {
        if (!core::isShown(table)) continue;
        if (isSentences(table)) {
            for (const auto& one : table.columns.front().texts) sentences << shownText(one);
            m_sentences->setAccessibleName(shownText(table.title));
        } else if (!table.key.empty()) {
            keys.push_back(table.key);
            titles << shownText(table.title.empty() ? table.key : table.title);
        } else {
            for (const auto& column : table.columns)
                if (core::isShown(column) && column.size() > 0)
                    facts << shownText(column.title).toLower() + u' ' +
                                 shownText(core::shownValue(table, column, 0));
        }
    }
    m_sentences->setText(sentences.join(u'\n'));
    m_found->setVisible(!sentences.isEmpty());
    head()->setSubText(facts.join(QStringLiteral("; ")));
    if (keys != m_keys) {
        m_keys = std::move(keys);
        m_choice->setItems(titles);
        m_choice->setCurrent(0);
    }
    m_choice->parentWidget()->setVisible(m_keys.size() > 1);
    if (m_keys.empty()) return showOne({});
    showOne(answer.table(m_keys[static_cast<std::size_t>(std::max(0, m_choice->current()))]));
}

QString TablesView::sentences() const {
    return m_sentences->text();
}

void TablesView::showTable(int at) {
    showOne(answer().table(m_keys.at(static_cast<std::size_t>(at))));
}

void TablesView::showOne(const Table& table) {
    const bool square = isSquare(table);
    *m_scale = ColorScale();  // the theme may be another
    m_table->setVisible(!square);
    m_grid->setVisible(square);
    m_grid->setPanels(square ? std::vector{panelOf(table)} : std::vector<GridPanel>());
    m_table->setTable(square ? Table() : table, answer().pictures);
}

void TablesView::draw(FigureLines& lines) const {
    lines.title(headText().isEmpty() ? m_title : m_title + QStringLiteral(": ") + headText());
    if (!sentences().isEmpty())
        for (const auto& one : sentences().split(u'\n'))
            lines.wrapped(one, smallFont(), Theme::current().text);
    for (const auto& key : m_keys) {
        const auto& of = answer().table(key);
        if (m_keys.size() > 1)
            lines.wrapped(shownText(of.title), smallFont(), Theme::current().muted);
        if (isSquare(of)) {
            GridPicture grid(styleOfPairs(std::make_shared<ColorScale>()));
            grid.setPanels({panelOf(of)});
            grid.fit(kWidestGrid);
            lines.grid(grid);
        } else {
            TableView table({});
            table.setTable(of, answer().pictures);
            lines.table(table);
        }
        lines.y += 12;
    }
}

}  // namespace relascope::widgets

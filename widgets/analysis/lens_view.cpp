// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "widgets/analysis/lens_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

QColor probabilityTint(double probability) {
    const auto& stops = Theme::current().likelihood;
    const double x =
        std::isfinite(probability) ? std::clamp(probability, 0.0, 1.0) * (stops.size() - 1.0) : 0.0;
    const auto k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<int>(std::lround(a + f * (b - a))); };
    const QColor &a = stops[k], &b = stops[k + 1];
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

namespace {

/// The scale of the tint with its ends, right-aligned in `room`.
void drawProbabilityScale(QPainter& painter, const QRect& room) {
    constexpr int wide = 120, high = 10, number = 34;
    const Theme& t = Theme::current();
    const QRect bar(room.right() - wide - number, room.center().y() - high / 2, wide, high);
    for (int x = 0; x < wide; x += 4)
        painter.fillRect(QRect(bar.left() + x, bar.top(), 4, high),
                         probabilityTint((x + 2.0) / wide));
    painter.setPen(t.border);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar.adjusted(0, 0, -1, -1));
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(bar.left() - 206, room.top(), 200, room.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("probability   0"));
    painter.drawText(QRect(bar.right() + 6, room.top(), number, room.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("1"));
}

QString positionText(const core::LensTable& table, std::size_t column) {
    if (table.whole()) return {};
    QString text = QStringLiteral("position %1").arg(indexOf(table.positions[column]));
    if (!table.inputs[column].empty())
        text += QStringLiteral(" \u201C%1\u201D").arg(answerText(table.inputs[column]));
    return text;
}

/// Columns `first` to `first + count`, and the model's own answers below.
GridPanel panelOf(const std::shared_ptr<const core::LensTable>& table, std::size_t first,
                  std::size_t count) {
    GridPanel panel;
    for (const auto& layer : table->layers) panel.rows << shownText(layer);
    panel.rows << QStringLiteral("own answer");
    panel.lastRowApart = true;
    for (std::size_t c = first; c < first + count; ++c) {
        panel.columns << QString::number(indexOf(table->positions[c]));
        panel.inputs << answerText(table->inputs[c]);
    }
    const auto layers = table->layers.size();
    panel.cell = [table, first, layers](int row, int column) {
        const auto r = static_cast<std::size_t>(row), c = first + static_cast<std::size_t>(column);
        if (r == layers)
            return GridCell{.value = table->ownProbabilities[c], .text = answerText(table->own[c])};
        // Bold where the layer already gives the model's own answer.
        const auto at = table->first(r, c);
        return GridCell{.value = table->probabilities[at],
                        .text = answerText(table->names[at]),
                        .emphasised = table->ranks[at] == 1.0};
    };
    panel.text = [table, first, layers](int row, int column) {
        const auto r = static_cast<std::size_t>(row), c = first + static_cast<std::size_t>(column);
        const auto said = [](const std::string& name, double probability) {
            return QStringLiteral("\u201C%1\u201D %2")
                .arg(answerText(name), probabilityText(probability));
        };
        const QString where = positionText(*table, c) + QStringLiteral(", ");
        if (r == layers)
            return where + QStringLiteral("own answer ") +
                   said(table->own[c], table->ownProbabilities[c]);
        const auto at = table->first(r, c);
        QStringList top;
        for (auto k = at; k < at + table->each && !table->asked(k); ++k)
            top << said(table->names[k], table->probabilities[k]);
        return QStringLiteral("%1%2: %3\nown answer \u201C%4\u201D %5, rank %6; entropy %7 nats")
            .arg(where,
                 (row == 0 ? QString() : QStringLiteral("after ")) + shownText(table->layers[r]),
                 top.join(QStringLiteral(", ")), answerText(table->own[c]),
                 probabilityText(table->probabilityOfOwn[at]),
                 QString::number(indexOf(table->ranks[at])),
                 QString::number(table->entropies[at], 'f', 2));
    };
    return panel;
}

constexpr int kAnswersWidth = 900, kBandWidth = 1100;
constexpr const char* kPlaces[] = {"Likeliest", "Second", "Third", "Fourth", "Fifth"};

/// The scale of the tint, in the head.
class Scale : public QWidget {
public:
    explicit Scale(QWidget* parent) : QWidget(parent) {
        setFixedSize(250, 24);
        setToolTip(
            QStringLiteral("Cells are tinted by the probability of their answer; bold: the "
                           "model's own answer"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        drawProbabilityScale(painter, rect());
    }
};

}  // namespace

LensView::LensView(QWidget* parent)
    : AnswerView(QStringLiteral("Logit lens"), QStringLiteral("lens"), parent),
      m_table(std::make_shared<core::LensTable>()),
      m_grid(new GridView({.fill = probabilityTint, .texts = true},
                          QStringLiteral("Answers after each layer"), this)),
      m_scale(new Scale(this)),
      m_line(horizontalLine(this)),
      m_title(mutedLabel({}, this)),
      m_answers(new TableView(QStringLiteral("Answers at one position"), this)) {
    head()->addLeftControl(m_scale);
    m_title->setContentsMargins(16, 8, 16, 0);
    m_title->setTextFormat(Qt::PlainText);
    content()->addWidget(m_grid, 3);
    content()->addWidget(m_line);
    content()->addWidget(m_title);
    content()->addWidget(m_answers, 2);
    connect(m_grid, &GridView::chosen, this, [this](const GridPlace& place) {
        showColumn();
        Q_EMIT positionRequested(
            indexOf(m_table->positions[static_cast<std::size_t>(place.column)]));
    });
    AnswerView::clear(QStringLiteral("Choose a sample in the inspector."));
}

void LensView::chooseColumn(int column) {
    m_grid->setCurrent({0, 0, std::clamp(column, 0, static_cast<int>(m_table->columns()) - 1)});
    showColumn();
}

void LensView::fill(const Answer& answer) {
    const bool none = answer.tables.empty();
    const auto before = m_table->columns();
    m_table =
        none ? std::make_shared<core::LensTable>() : std::make_shared<core::LensTable>(answer);
    m_scale->setVisible(!none && !single());
    m_grid->setVisible(!none && !single());
    m_line->setVisible(!none && !single());
    if (none) {
        m_grid->setPanels({});
        return m_answers->setTable({});
    }
    m_grid->setPanels({panelOf(m_table, 0, m_table->columns())});
    m_grid->setMaximumHeight(m_grid->sizeHint().height());
    head()->setSubText(single()
                           ? QString()
                           : QStringLiteral("likeliest answer after each layer, %1 positions")
                                 .arg(groupedNumber(static_cast<qlonglong>(m_table->columns()))));
    // The last position is what a language model would say next.
    const auto last = static_cast<int>(m_table->columns()) - 1;
    chooseColumn(before == m_table->columns() && column() >= 0 ? column() : last);
}

QString LensView::columnTitle() const {
    const auto c = static_cast<std::size_t>(std::max(0, column()));
    if (c >= m_table->columns()) return {};
    QString text = positionText(*m_table, c);
    if (!text.isEmpty()) text += QStringLiteral(": ");
    text += QStringLiteral("own answer \u201C%1\u201D, %2")
                .arg(answerText(m_table->own[c]), probabilityText(m_table->ownProbabilities[c]));
    text[0] = text[0].toUpper();
    return text;
}

void LensView::showColumn() {
    m_answers->setTable(answersAt(static_cast<std::size_t>(column())));
    m_title->setText(columnTitle());
}

Table LensView::answersAt(std::size_t column) const {
    const auto& lens = *m_table;
    Table table{"answers", {}, {{"layer", "Layer", {}, ColumnKind::Text}}};
    table.columns.front().texts = lens.layers;
    const auto add = [&](Column of, auto take) {
        for (std::size_t row = 0; row < lens.layers.size(); ++row)
            take(of, lens.first(row, column));
        table.columns.push_back(std::move(of));
    };
    // Answers that were asked for stand behind the likeliest ones.
    for (std::size_t k = 0; k < std::min(lens.each, std::size(kPlaces)); ++k) {
        if (lens.asked(lens.first(0, column) + k)) break;
        const std::string key = "answer" + std::to_string(k + 1);
        add({key, kPlaces[k], {}, ColumnKind::Text}, [&](Column& of, std::size_t at) {
            of.texts.push_back((answerText(lens.names[at + k]) + u' ' +
                                probabilityText(lens.probabilities[at + k]))
                                   .toStdString());
        });
        add({key + " strong", {}, {}, ColumnKind::Flag}, [&](Column& of, std::size_t at) {
            of.numbers.push_back(lens.ids[at + k] == lens.ownIds[column]);
        });
    }
    const auto number = [&](Column of, const std::vector<double>& values) {
        add(std::move(of), [&](Column& to, std::size_t at) { to.numbers.push_back(values[at]); });
    };
    number({"rank", "Rank", "Place of the model's own answer", ColumnKind::Integer}, lens.ranks);
    number({"entropy", "Entropy", "In nats", ColumnKind::Number, {2}}, lens.entropies);
    number({"own",
            "Own answer",
            "Probability of the model's own answer",
            ColumnKind::Number,
            {1, true, false, true}},
           lens.probabilityOfOwn);
    return table;
}

// A figure has the columns in bands below each other.
GridPicture LensView::bands() const {
    GridPicture whole = m_grid->picture();
    whole.fit(0);
    const auto columns = m_table->columns();
    const int cell = std::max(1, whole.cellRect({0, 0, 0}).width());
    const auto band = static_cast<std::size_t>(std::max(4, kBandWidth / cell));
    std::vector<GridPanel> panels;
    for (std::size_t first = 0; first < columns; first += band)
        panels.push_back(panelOf(m_table, first, std::min(band, columns - first)));
    whole.setPanels(std::move(panels));
    whole.fit(0);
    return whole;
}

int LensView::figureWidth() const {
    return single() ? kAnswersWidth : std::max(bands().size().width(), kAnswersWidth);
}

void LensView::draw(FigureLines& lines) const {
    if (!single())
        lines.part(0, [&](QPainter& painter) {
            drawProbabilityScale(painter, QRect(16, 0, lines.width - 32, 20));
        });
    lines.title(QStringLiteral("Logit lens"));
    if (!single()) lines.grid(bands());
    lines.wrapped(m_title->text(), smallFont(), Theme::current().text);
    lines.table(*m_answers, m_answers->model()->rowCount());
}

}  // namespace relascope::widgets

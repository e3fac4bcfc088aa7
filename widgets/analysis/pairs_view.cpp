// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/pairs_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include "answers/answer_text.h"
#include "widgets/kit/table_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

const char* const kPairScale = "log-probability, good less wrong, nats";
constexpr int kPairsInFigures = 20;
constexpr double kUnscored = std::numeric_limits<double>::quiet_NaN();

struct PairToken {
    std::string text;
    double score = kUnscored;
};

/// Two sentences above each other: tokens at their beginnings and ends that are equal stand in one
/// column.
struct AlignedPair {
    std::vector<PairToken> good, bad;
    std::vector<int> goodAt, badAt;  ///< by column; -1: none

    void align() {
        const auto same = [](const PairToken& a, const PairToken& b) { return a.text == b.text; };
        const auto least = std::min(good.size(), bad.size());
        std::size_t front = 0, back = 0;
        while (front < least && same(good[front], bad[front])) ++front;
        while (back < least - front &&
               same(good[good.size() - 1 - back], bad[bad.size() - 1 - back]))
            ++back;
        const auto columns = std::max(good.size(), bad.size());
        const auto place = [&](std::size_t size) {
            std::vector<int> at(columns, -1);
            for (std::size_t k = 0; k < size - back; ++k) at[k] = static_cast<int>(k);
            for (std::size_t k = 0; k < back; ++k)
                at[columns - 1 - k] = static_cast<int>(size - 1 - k);
            return at;
        };
        goodAt = place(good.size()), badAt = place(bad.size());
    }
    double score(bool ofGood, std::size_t column) const {
        const int at = ofGood ? goodAt[column] : badAt[column];
        return at < 0 ? kUnscored : (ofGood ? good : bad)[static_cast<std::size_t>(at)].score;
    }
    const std::string& text(bool ofGood, std::size_t column) const {
        static const std::string none;
        const int at = ofGood ? goodAt[column] : badAt[column];
        return at < 0 ? none : (ofGood ? good : bad)[static_cast<std::size_t>(at)].text;
    }
    /// NaN where one of the two has no score.
    double difference(std::size_t column) const {
        return score(true, column) - score(false, column);
    }
};

AlignedPair tokensOf(const Answer& answer, std::size_t row) {
    AlignedPair pair;
    const auto& table = answer.table("tokens");
    const auto &rows = table.numbers("row"), &good = table.numbers("good"),
               &scores = table.numbers("log_probability");
    const auto& texts = table.texts("token");
    for (std::size_t k = 0; k < rows.size(); ++k)
        if (rows[k] == static_cast<double>(row))
            (good[k] != 0.0 ? pair.good : pair.bad).push_back({texts[k], scores[k]});
    pair.align();
    return pair;
}

QString nats(double value) {
    return std::isnan(value) ? QString(QChar(0x2014)) : signedText(value, 2);
}

GridPanel panelOf(const std::shared_ptr<const AlignedPair>& pair) {
    GridPanel panel;
    panel.rows = {QStringLiteral("good"), QStringLiteral("wrong"), QStringLiteral("difference")};
    panel.lastRowApart = true;
    for (std::size_t c = 0; c < pair->goodAt.size(); ++c) panel.columns << QString::number(c + 1);
    panel.cell = [pair](int row, int column) {
        const auto c = static_cast<std::size_t>(column);
        const double difference = pair->difference(c);
        const bool differs = pair->text(true, c) != pair->text(false, c);
        if (row == 2) return GridCell{.value = difference, .text = nats(difference)};
        return GridCell{
            .value = kUnscored, .text = answerText(pair->text(row == 0, c)), .emphasised = differs};
    };
    panel.text = [pair](int row, int column) {
        const auto c = static_cast<std::size_t>(column);
        const auto said = [&](bool good) {
            return QStringLiteral("%1 \u201C%2\u201D %3")
                .arg(good ? QStringLiteral("good") : QStringLiteral("wrong"),
                     answerText(pair->text(good, c)), nats(pair->score(good, c)));
        };
        Q_UNUSED(row);
        return QStringLiteral("%1, %2: difference %3 nats")
            .arg(said(true), said(false), nats(pair->difference(c)));
    };
    return panel;
}

/// The rows of a table.
Table picked(const Table& table, const std::vector<std::size_t>& rows) {
    Table part = table;
    for (auto& column : part.columns) {
        const auto take = [&](auto& values) {
            auto all = std::move(values);
            values.clear();
            for (const auto row : rows) values.push_back(all[row]);
        };
        column.kind == ColumnKind::Text ? take(column.texts) : take(column.numbers);
    }
    return part;
}

}  // namespace

PairsView::PairsView(QWidget* parent)
    : AnswerView(QStringLiteral("Minimal pairs"), QStringLiteral("pairs"), parent),
      m_scale(std::make_shared<ColorScale>()),
      m_bar(new ColorBar(this)),
      m_phenomena(new TableView(QStringLiteral("Phenomena"), this)),
      m_pairs(new TableView(QStringLiteral("Pairs"), this)),
      m_inspect(new QPushButton(QStringLiteral("Inspect this pair"), this)),
      m_tokens(new GridView(
          {.fill = [scale = m_scale](double value) { return scale->color(float(value)); },
           .texts = true},
          QStringLiteral("Tokens of the pair"), this)),
      m_footer(addFooter(m_bar)) {
    m_tokens->setFixedHeight(118);
    content()->insertWidget(0, m_phenomena, 3);
    content()->insertWidget(1, horizontalLine(this));
    content()->insertWidget(2, m_pairs, 3);
    content()->insertWidget(3, horizontalLine(this));
    content()->insertWidget(4, m_tokens);
    connect(m_phenomena, &TableView::rowChosen, this, [this](int row) {
        const auto& names = answer().table("phenomena").texts("phenomenon");
        if (row >= 0 && row < static_cast<int>(names.size()))
            showPairs(names[static_cast<std::size_t>(row)]);
    });
    connect(m_pairs, &TableView::rowChosen, this, &PairsView::showTokens);
    addControl(m_inspect);
    m_inspect->setToolTip(
        QStringLiteral("The good sentence in the inspector, the wrong one as its second input B"));
    connect(m_inspect, &QPushButton::clicked, this, [this] {
        const auto row = m_rows[static_cast<std::size_t>(m_shown)];
        Q_EMIT textsRequested(QString::fromStdString(m_all.texts("good")[row]),
                              QString::fromStdString(m_all.texts("bad")[row]));
    });
    const auto show = [this](const GridPlace& place) {
        m_footer->setText(m_tokens->text(place.panel < 0 ? m_tokens->current() : place));
    };
    connect(m_tokens, &GridView::hovered, this, show);
    connect(m_tokens, &GridView::chosen, this, show);
    AnswerView::clear(QStringLiteral("Not measured."));
}

QString PairsView::footerText() const {
    return m_footer->text();
}

void PairsView::fill(const Answer& answer) {
    m_tokens->setPanels({});
    m_footer->setText({});
    m_shown = -1;
    m_inspect->hide();
    if (answer.tables.empty()) {
        m_all = {};
        m_phenomena->setTable({});
        return m_pairs->setTable({});
    }
    m_all = answer.table("pairs");
    m_phenomena->setTable(answer.table("phenomena"));
    const auto& facts = answer.table("");
    QString sub = QStringLiteral("pair accuracy %1, %2 pairs, %3 ties")
                      .arg(shownText(core::shownValue(facts, facts.column("pair_accuracy"), 0)),
                           groupedNumber(static_cast<std::int64_t>(answer.number("count"))),
                           groupedNumber(static_cast<std::int64_t>(answer.number("ties"))));
    const auto& before = answer.text("read_before");
    sub += before.empty() ? QStringLiteral("; the first token is not scored")
                          : QStringLiteral("; behind %1").arg(answerText(before));
    head()->setSubText(sub);
    showPairs({});
}

void PairsView::showPairs(const std::string& phenomenon) {
    m_rows.clear();
    const auto& names = m_all.texts("phenomenon");
    for (std::size_t row = 0; row < names.size(); ++row)
        if (phenomenon.empty() || names[row] == phenomenon) m_rows.push_back(row);
    m_pairs->setTable(picked(m_all, m_rows));
    showTokens(m_rows.empty() ? -1 : 0);
}

void PairsView::showTokens(int row) {
    m_shown = row >= 0 && row < static_cast<int>(m_rows.size()) ? row : -1;
    m_inspect->setVisible(m_shown >= 0);
    if (m_shown < 0) return m_tokens->setPanels({});
    const auto pair = std::make_shared<const AlignedPair>(
        tokensOf(answer(), m_rows[static_cast<std::size_t>(row)]));
    m_most = 0.0;
    for (std::size_t c = 0; c < pair->goodAt.size(); ++c)
        if (const double one = pair->difference(c); std::isfinite(one))
            m_most = std::max(m_most, std::abs(one));
    restyle();
    if (pair->good.empty()) {
        m_tokens->setPanels({});
        return m_footer->setText(QStringLiteral(
            "The tokens of this pair are not listed; raise With tokens in Options."));
    }
    m_tokens->setPanels({panelOf(pair)});
    // The difference comes into view, wherever in a long sentence it is.
    for (std::size_t c = 0; c < pair->goodAt.size(); ++c)
        if (pair->text(true, c) != pair->text(false, c)) {
            m_tokens->setCurrent({0, 2, static_cast<int>(c)});
            break;
        }
    m_footer->setText(
        QStringLiteral("Which token makes the difference: a column has both tokens "
                       "and what the good one gains."));
}

void PairsView::restyle() {
    const auto limit = static_cast<float>(m_most > 0 ? m_most : 1.0);
    *m_scale = ColorScale(ColorScale::Kind::Signed, {-limit, limit}, Theme::current());
    m_bar->setScale(*m_scale);
    m_bar->setCaption(QLatin1String(kPairScale));
}

void PairsView::changeEvent(QEvent* event) {
    AnswerView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) restyle();
}

void PairsView::draw(FigureLines& lines) const {
    lines.title(QStringLiteral("Minimal pairs: ") + headText());
    lines.table(*m_phenomena);
    lines.y += 12;
    lines.table(*m_pairs, kPairsInFigures);
    if (m_tokens->panels().empty()) return;
    lines.y += 12;
    GridPicture picture = m_tokens->picture();
    picture.fit(lines.width);
    lines.grid(picture);
}

}  // namespace relascope::widgets

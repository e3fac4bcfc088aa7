// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>

#include "widgets/analysis/lens_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
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

namespace {

constexpr int kBarRow = 26, kBarHead = 22, kLensMargin = 16, kLensNumbers = 196;
constexpr int kMostAnswers = 5, kMostAnswer = 210;

}  // namespace

LensBars::LensBars(QWidget* parent)
    : QWidget(parent), m_table(std::make_shared<core::LensTable>()) {
    setAccessibleName(QStringLiteral("Answers at one position"));
    paintOnPanelColour(this);
}

void LensBars::setColumn(std::shared_ptr<const core::LensTable> table, int column) {
    m_table = std::move(table);
    m_column = column;
    QStringList lines;
    if (column >= 0)
        for (int row = 0; row < static_cast<int>(m_table->layers.size()); ++row) lines << text(row);
    setAccessibleDescription(lines.join(u'\n'));
    setMinimumHeight(layoutHeight());
    updateGeometry();
    update();
}

int LensBars::layoutHeight() const {
    return kBarHead + kBarRow * static_cast<int>(m_table->layers.size()) + 10;
}

// The number of likeliest answers: answers that were asked for stand behind them.
int LensBars::listed() const {
    const auto begin = first(0);
    std::size_t count = 0;
    while (count < m_table->each && !m_table->asked(begin + count)) ++count;
    return static_cast<int>(count);
}

QString LensBars::text(int row) const {
    QStringList answers;
    const auto begin = first(row);
    for (auto k = begin; k < begin + static_cast<std::size_t>(listed()); ++k)
        answers << answerText(m_table->names[k]) + u' ' +
                       probabilityText(m_table->probabilities[k]);
    return QStringLiteral("%1: %2; own answer rank %3")
        .arg(shownText(m_table->layers[static_cast<std::size_t>(row)]),
             answers.join(QStringLiteral(", ")), QString::number(indexOf(m_table->ranks[begin])));
}

LensBars::Columns LensBars::columns(int width) const {
    const QFontMetrics small(smallFont());
    Columns all{60, 0, std::clamp(listed(), 1, kMostAnswers)};
    for (const auto& layer : m_table->layers)
        all.labels = std::max(all.labels, small.horizontalAdvance(shownText(layer)));
    all.labels += kLensMargin + 12;
    all.each =
        std::clamp((width - all.labels - kLensNumbers - kLensMargin) / all.count, 60, kMostAnswer);
    return all;
}

int LensBars::usedWidth(int width) const {
    if (m_column < 0) return width;
    const auto [labels, each, count] = columns(width);
    return std::max(420, labels + each * count + kLensNumbers + kLensMargin);
}

void LensBars::paint(QPainter& painter, int width) const {
    if (m_column < 0 || m_column >= static_cast<int>(m_table->columns())) return;
    const Theme& t = Theme::current();
    const double own = m_table->ownIds[static_cast<std::size_t>(m_column)];
    const auto [labels, each, count] = columns(width);
    const int numbers = labels + each * count + 8;
    painter.setFont(captionFont());
    painter.setPen(t.muted);
    painter.drawText(QRect(labels, 0, each * count, kBarHead), Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("likeliest answers"));
    const auto column = [&](int k) { return QRect(numbers + k * 62, 0, 58, kBarHead); };
    static const char* const heads[] = {"own", "rank", "entropy"};
    for (int k = 0; k < 3; ++k)
        painter.drawText(column(k), Qt::AlignRight | Qt::AlignVCenter, QLatin1String(heads[k]));
    for (int r = 0; r < static_cast<int>(m_table->layers.size()); ++r) {
        const auto begin = first(r);
        const int y = kBarHead + r * kBarRow;
        painter.setFont(smallFont());
        painter.setPen(t.muted);
        painter.drawText(QRect(kLensMargin, y, labels - kLensMargin - 12, kBarRow),
                         Qt::AlignRight | Qt::AlignVCenter,
                         shownText(m_table->layers[static_cast<std::size_t>(r)]));
        for (int k = 0; k < std::min(count, listed()); ++k) {
            const auto at = begin + static_cast<std::size_t>(k);
            const double probability = m_table->probabilities[at];
            const bool isOwn = m_table->ids[at] == own;
            const QRect box(labels + k * each, y + 3, each - 6, kBarRow - 6);
            painter.fillRect(box, t.alt);
            painter.fillRect(QRectF(box.left(), box.bottom() - 3,
                                    box.width() * std::clamp(probability, 0.0, 1.0), 4),
                             isOwn ? t.accent : t.muted);
            QFont name = monoFont(12);
            name.setBold(isOwn);
            const QString share = probabilityText(probability);
            painter.setFont(numberFont(11));
            painter.setPen(t.muted);
            const int wide = painter.fontMetrics().horizontalAdvance(share) + 8;
            painter.drawText(box.adjusted(0, -2, -5, -3), Qt::AlignRight | Qt::AlignVCenter, share);
            painter.setFont(name);
            painter.setPen(t.text);
            paint::elidedText(painter, box.adjusted(5, -2, -wide, -3),
                              Qt::AlignLeft | Qt::AlignVCenter, answerText(m_table->names[at]));
        }
        painter.setFont(numberFont(12));
        painter.setPen(t.text);
        const QString values[] = {probabilityText(m_table->probabilityOfOwn[begin]),
                                  QString::number(indexOf(m_table->ranks[begin])),
                                  QString::number(m_table->entropies[begin], 'f', 2)};
        for (int k = 0; k < 3; ++k)
            painter.drawText(column(k).translated(0, y).adjusted(0, 0, 0, kBarRow - kBarHead),
                             Qt::AlignRight | Qt::AlignVCenter, values[k]);
    }
}

void LensBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().panel);
    paint(painter, width());
}

namespace {

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

constexpr int kBarsWidth = 900, kBandWidth = 1100;

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
      m_bars(new LensBars(this)) {
    head()->addLeftControl(m_scale);
    m_title->setContentsMargins(16, 8, 16, 0);
    m_title->setTextFormat(Qt::PlainText);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(m_bars);
    scroll->setWidgetResizable(true);
    content()->addWidget(m_grid, 3);
    content()->addWidget(m_line);
    content()->addWidget(m_title);
    content()->addWidget(scroll, 2);
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
        return m_bars->setColumn(m_table, -1);
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
    m_bars->setColumn(m_table, column());
    m_title->setText(columnTitle());
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
    return single() ? m_bars->usedWidth(kBarsWidth) : std::max(bands().size().width(), kBarsWidth);
}

void LensView::draw(FigureLines& lines) const {
    if (!single())
        lines.part(0, [&](QPainter& painter) {
            drawProbabilityScale(painter, QRect(16, 0, lines.width - 32, 20));
        });
    lines.title(QStringLiteral("Logit lens"));
    if (!single()) lines.grid(bands());
    lines.wrapped(m_title->text(), smallFont(), Theme::current().text);
    lines.part(m_bars->layoutHeight(),
               [&](QPainter& painter) { m_bars->paint(painter, lines.width); });
}

}  // namespace relascope::widgets

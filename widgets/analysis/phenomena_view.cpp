// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/phenomena_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QEvent>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "answers/answer_text.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

const char* const kPhenomenaScale = "change of the pair accuracy without the part, points";
constexpr double kLeastRange = 5.0;  // points: noise has no strong colours
constexpr int kPhenomenaFigure = 900;

QString pointsText(double value) {
    return signedText(100.0 * value, 1);
}

/// A cell of the table: one part and one phenomenon.
struct PartChanges {
    explicit PartChanges(const Answer& answer)
        : parts(answer.table("parts").rows()),
          phenomena(answer.table("phenomena").rows()),
          cells(answer.table("cells")) {
        if (cells.rows() != parts * phenomena)
            throw Error("the table of an answer has other cells than parts and phenomena");
    }
    std::size_t at(int row, int column) const {
        return static_cast<std::size_t>(row) * phenomena + static_cast<std::size_t>(column);
    }
    double number(const char* key, std::size_t cell) const { return cells.numbers(key)[cell]; }
    /// The milder of the two ways, a fraction.
    double mildest(std::size_t cell) const {
        return std::max(number("zero_accuracy_change", cell), number("mean_accuracy_change", cell));
    }
    std::size_t parts, phenomena;
    Table cells;
};

GridPanel panelOf(const Answer& answer, const std::shared_ptr<const PartChanges>& changes) {
    GridPanel panel;
    panel.title = QStringLiteral("Change of the pair accuracy");
    panel.note = QStringLiteral("points, the milder of zero and its mean; framed: carried");
    panel.columnName = QStringLiteral("phenomenon");
    for (const auto& part : answer.table("parts").texts("part")) panel.rows << shownText(part);
    for (const auto& name : answer.table("phenomena").texts("phenomenon")) {
        panel.columns << QString::number(panel.columns.size() + 1);
        panel.inputs << shownText(name).replace(u'_', u' ');
    }
    panel.cell = [changes](int row, int column) {
        const auto k = changes->at(row, column);
        const double value = changes->mildest(k);
        return GridCell{.value = 100.0 * value,
                        .text = QString::number(std::round(100.0 * value)),
                        .framed = changes->number("carries", k) != 0.0};
    };
    panel.text = [changes, rows = panel.rows, names = panel.inputs](int row, int column) {
        const auto k = changes->at(row, column);
        const auto way = [&](const char* title, const std::string& key) {
            const auto of = [&](const char* measure) {
                return changes->number((key + measure).c_str(), k);
            };
            return QStringLiteral("%1 %2 points [%3, %4], difference %5 nats")
                .arg(QLatin1String(title), pointsText(of("_accuracy_change")),
                     pointsText(of("_accuracy_low")), pointsText(of("_accuracy_high")),
                     signedText(of("_difference_change"), 2));
        };
        return QStringLiteral("%1, %2: %3; %4%5")
            .arg(rows[row], names[column], way("zero", "zero"), way("its mean", "mean"),
                 changes->number("carries", k) != 0.0 ? QStringLiteral("; carried") : QString());
    };
    return panel;
}

}  // namespace

PhenomenaView::PhenomenaView(QWidget* parent)
    : AnswerView(QStringLiteral("Phenomena"), QStringLiteral("phenomena"), parent),
      m_scale(std::make_shared<ColorScale>()),
      m_bar(new ColorBar(this)),
      m_grid(new GridView(
          {.fill = [scale = m_scale](double value) { return scale->color(float(value)); },
           .leastCell = 20,
           .mostCell = 46,
           .rowHeight = 20,
           .numbersFrom = 30,
           .mostUpright = 200},
          QStringLiteral("Parts and phenomena"), this)),
      m_findings(new QLabel(this)),
      m_footer(addFooter(m_bar)) {
    m_findings->setWordWrap(true);
    m_findings->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_findings->setContentsMargins(16, 8, 16, 8);
    m_findings->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_findings->setAccessibleName(QStringLiteral("What carries which phenomenon"));
    auto* scrolled = new QScrollArea(this);
    scrolled->setWidgetResizable(true);
    scrolled->setFrameShape(QFrame::NoFrame);
    scrolled->setWidget(m_findings);
    scrolled->setMinimumHeight(90);
    content()->insertWidget(0, m_grid, 3);
    content()->insertWidget(1, horizontalLine(this));
    content()->insertWidget(2, scrolled, 2);
    const auto show = [this](const GridPlace& place) {
        m_footer->setText(m_grid->text(place.panel < 0 ? m_grid->current() : place));
        m_bar->setMark(
            place.panel < 0
                ? std::numeric_limits<float>::quiet_NaN()
                : static_cast<float>(m_grid->panels().front().cell(place.row, place.column).value));
    };
    connect(m_grid, &GridView::hovered, this, show);
    connect(m_grid, &GridView::chosen, this, show);
    AnswerView::clear(QStringLiteral("Not measured."));
}

QString PhenomenaView::footerText() const {
    return m_footer->text();
}
QString PhenomenaView::findings() const {
    return m_findings->text();
}

void PhenomenaView::fill(const Answer& answer) {
    m_footer->setText({});
    m_findings->setText({});
    if (answer.tables.empty()) return m_grid->setPanels({});
    const auto changes = std::make_shared<const PartChanges>(answer);
    m_most = kLeastRange;
    for (std::size_t k = 0; k < changes->cells.rows(); ++k)
        m_most = std::max(m_most, 100.0 * std::abs(changes->mildest(k)));
    m_grid->setPanels({panelOf(answer, changes)});
    restyle();
    QStringList lines;
    for (const auto& finding : answer.table("findings").texts("finding"))
        lines << shownText(finding);
    m_findings->setText(lines.join(u'\n'));
    const auto& facts = answer.table("");
    head()->setSubText(
        QStringLiteral("pair accuracy %1 with every part, %2 pairs")
            .arg(shownText(core::shownValue(facts, facts.column("pair_accuracy"), 0)),
                 groupedNumber(static_cast<std::int64_t>(answer.number("pairs")))));
}

void PhenomenaView::restyle() {
    const auto limit = static_cast<float>(std::max(kLeastRange, m_most));
    *m_scale = ColorScale(ColorScale::Kind::Signed, {-limit, limit}, Theme::current());
    m_bar->setScale(*m_scale);
    m_bar->setCaption(QLatin1String(kPhenomenaScale));
}

void PhenomenaView::changeEvent(QEvent* event) {
    AnswerView::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_bar) restyle();
}

void PhenomenaView::draw(FigureLines& lines) const {
    lines.title(QStringLiteral("Phenomena: ") + headText());
    GridPicture picture = m_grid->picture();
    picture.fit(kPhenomenaFigure);
    lines.grid(picture);
    ColorBar bar;
    bar.setPalette(Theme::current().palette());
    bar.setScale(*m_scale);
    bar.setCaption(QLatin1String(kPhenomenaScale));
    bar.resize(380, bar.sizeHint().height());
    lines.part(bar.height() + 8, [&](QPainter& painter) {
        bar.render(&painter, QPoint(FigureLines::kMargin, 0), QRegion(), QWidget::DrawChildren);
    });
    for (const auto& finding : m_findings->text().split(u'\n'))
        lines.wrapped(finding, smallFont(), Theme::current().text);
}

}  // namespace relascope::widgets

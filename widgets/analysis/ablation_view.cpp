// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <QFont>
#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolTip>
#include <QVBoxLayout>

#include "answers/ablation_answer.h"
#include "types/metric.h"
#include "widgets/analysis/ablation_view.h"
#include "widgets/curves/curve_items.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

struct CumulativePlot::Parts {
    ThemedPlot* plot;
    QCPGraph *line, *base;
    AblationTable table;

    explicit Parts(CumulativePlot* self)
        : plot(new ThemedPlot(QMargins(52, 8, 16, 42), self)),
          line(plot->addGraph()),
          base(plot->addGraph()) {
        plot->setAccessibleName(QStringLiteral("Cumulative curve"));
        plot->xAxis->setLabel(QStringLiteral("Parts removed"));
        plot->xAxis->setTicker(QSharedPointer<CurveTicker>::create(CurveTicker::Format::Count));
    }

    double valueAt(int removed) const {
        return removed == 0 ? table.base
                            : table.cumulative[static_cast<std::size_t>(removed - 1)].second;
    }
    int count() const { return static_cast<int>(table.cumulative.size()); }

    void style() {
        const Theme& t = Theme::current();
        plot->applyTheme();
        line->setPen(QPen(t.series[0], 1.6));
        line->setScatterStyle(
            QCPScatterStyle(QCPScatterStyle::ssDisc, t.series[0], t.series[0], 5));
        base->setPen(QPen(t.muted, 1, Qt::DashLine));
    }

    void fill() {
        const bool percent = MetricText(table.metric).percent;
        plot->yAxis->setTicker(QSharedPointer<CurveTicker>::create(
            percent ? CurveTicker::Format::Percent : CurveTicker::Format::Plain));
        QVector<double> x, y;
        double low = table.base, high = table.base;
        for (int k = 0; k <= count(); ++k) {
            const double value = valueAt(k);
            x << k;
            y << value;
            if (!std::isfinite(value)) continue;
            low = std::min(low, value), high = std::max(high, value);
        }
        line->setData(x, y, true);
        base->setData({0.0, static_cast<double>(count())}, {table.base, table.base}, true);
        const double pad = std::max(0.06 * (high - low), percent ? 0.01 : 1e-6);
        plot->xAxis->setRange(-0.3, count() + 0.3);
        plot->yAxis->setRange(low - pad, high + pad);
        style();
        plot->replot(QCustomPlot::rpQueuedReplot);
    }
};

CumulativePlot::CumulativePlot(QWidget* parent)
    : QWidget(parent), m(std::make_unique<Parts>(this)) {
    columnOf(this)->addWidget(m->plot);
    m->style();
}
CumulativePlot::~CumulativePlot() = default;

QString CumulativePlot::title(const AblationTable& table) {
    return QStringLiteral("Parts removed one after another (%1), the least important first")
        .arg(wayText(table.cumulativeWay));
}

void CumulativePlot::setTable(const AblationTable& table) {
    m->table = table;
    m->fill();
    const MetricText text(table.metric);
    QString description =
        QStringLiteral("%1 with every part %2").arg(text.title).arg(text.value(table.base));
    for (int k = 1; k <= m->count(); ++k)
        description += QStringLiteral("; %1 out: %2").arg(k).arg(text.value(m->valueAt(k)));
    m->plot->setAccessibleDescription(description);
}

QPointF CumulativePlot::pixelOf(int removed) const {
    return m->plot->pixelOf(removed, m->valueAt(std::clamp(removed, 0, m->count())));
}

QString CumulativePlot::hoverText(const QPoint& at) const {
    if (m->table.cumulative.empty()) return {};
    const int k =
        static_cast<int>(std::lround(m->plot->xAxis->pixelToCoord(at.x() - m->plot->pos().x())));
    if (k < 0 || k > m->count()) return {};
    const MetricText text(m->table.metric);
    if (k == 0) return QStringLiteral("Nothing removed: %1").arg(text.value(m->table.base));
    return QStringLiteral("%1 removed, the last is %2: %3")
        .arg(k)
        .arg(QString::fromStdString(m->table.cumulative[static_cast<std::size_t>(k - 1)].first),
             text.value(m->valueAt(k)));
}

void CumulativePlot::paintVector(QPainter& painter, int top, const QSize& size) {
    m->style();
    m->plot->paintFigure(painter, top, size, m->plot->xAxis->label(),
                         MetricText(m->table.metric).title);
}

void CumulativePlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || !m) return;
    m->style();
    m->plot->replot(QCustomPlot::rpQueuedReplot);
}

bool CumulativePlot::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = hoverText(m ? help->pos() + m->plot->pos() : help->pos());
        if (!text.isEmpty()) QToolTip::showText(help->globalPos(), plainTip(text), this);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

namespace {

constexpr int kFigurePlot = 230, kSide = 16, kPartsInFigure = 60, kPairsInFigure = 12;

QWidget* titled(QLabel*& label, QWidget* content, const QString& text, QWidget* parent) {
    auto* box = new QWidget(parent);
    label = mutedLabel(text, box);
    label->setContentsMargins(16, 8, 16, 2);
    auto* column = columnOf(box);
    column->addWidget(label);
    column->addWidget(content, 1);
    return box;
}

/// A row for each part: its ways beside each other.
Table partsOf(const AblationTable& result, const std::vector<std::string>& uses) {
    const MetricText text(result.metric);
    Table table{"parts"};
    const auto add = [&](const std::string& key, const QString& title, ColumnKind kind,
                         NumberFormat format, const QString& help) -> Column& {
        table.columns.push_back({key, title.toStdString(), help.toStdString(), kind, format});
        return table.columns.back();
    };
    auto& parts = add("part", QStringLiteral("Part"), ColumnKind::Text, {}, {}).texts;
    for (const auto& row : result.rows) parts.push_back(row.part);
    auto& groups = add("group", QStringLiteral("Group"), ColumnKind::Text, {}, {}).texts;
    for (const auto& row : result.rows) groups.push_back(row.group);
    add("use", QStringLiteral("Use"), ColumnKind::Text, {},
        QStringLiteral("Whether the model needs the part, by its mildest and its harshest "
                       "replacement, corrected over all rows; empty: too few examples for a word"))
        .texts = uses;
    table.columns.back().texts.resize(result.rows.size());
    const NumberFormat change{text.percent ? 1 : 3, text.percent, true, true};
    for (const auto op : {EditOp::Zero, EditOp::Mean, EditOp::Resample}) {
        const std::string key = editOpName(op);
        std::vector<double> values[4];
        bool any = false;
        for (const auto& row : result.rows) {
            const auto way =
                std::find_if(row.ways.begin(), row.ways.end(),
                             [&](const AblationRow::Way& one) { return one.how == op; });
            const bool known = way != row.ways.end();
            any = any || known;
            const double numbers[] = {known ? way->change.change : NAN,
                                      known ? way->change.low : NAN, known ? way->change.high : NAN,
                                      known ? way->changedAnswers : NAN};
            for (std::size_t k = 0; k < 4; ++k) values[k].push_back(numbers[k]);
        }
        if (!any) continue;
        QString title = wayText(op);
        title[0] = title[0].toUpper();
        auto& column = add(key, title, ColumnKind::Number, change,
                           QStringLiteral("Change of the %1 with the part replaced by %2, with "
                                          "its 95 % interval")
                               .arg(text.title.toLower(), wayText(op)));
        column.low = key + " low", column.high = key + " high";
        column.numbers = values[0];
        add(key + " low", {}, ColumnKind::Number, {}, {}).numbers = values[1];
        add(key + " high", {}, ColumnKind::Number, {}, {}).numbers = values[2];
        add(key + " changed", QStringLiteral("Changed"), ColumnKind::Number, {0, true},
            QStringLiteral("Share of the answers that change"))
            .numbers = values[3];
    }
    std::vector<double> lengths, streams;
    for (const auto& row : result.rows) {
        lengths.push_back(row.partNorm);
        streams.push_back(row.streamNorm > 0 ? row.streamNorm : NAN);
    }
    add("length", QStringLiteral("Length"), ColumnKind::Number, {2},
        QStringLiteral("Mean length of what the part adds"))
        .numbers = lengths;
    add("stream", QStringLiteral("Stream"), ColumnKind::Number, {2},
        QStringLiteral("Mean length of the stream that it is added to"))
        .numbers = streams;
    return table;
}

}  // namespace

AblationView::AblationView(QWidget* parent)
    : AnswerView(QStringLiteral("Ablation"), QStringLiteral("ablation"), parent),
      m_table(new TableView(QStringLiteral("Ablation table"), this)),
      m_knockOut(new QPushButton(QStringLiteral("Knock out in the inspector"), this)),
      m_below(new QWidget(this)),
      m_curve(new CumulativePlot(this)),
      m_pairs(new TableView(QStringLiteral("Pairs of parts"), this)) {
    auto* row = rowOf(m_below);
    QLabel* pairsTitle = nullptr;
    m_curvePart = titled(m_curveTitle, m_curve, {}, m_below);
    m_pairsPart =
        titled(pairsTitle, m_pairs,
               QStringLiteral("Pairs: joint change, and interaction (joint - sum)"), m_below);
    row->addWidget(m_curvePart, 3);
    row->addWidget(m_pairsPart, 2);
    content()->addWidget(m_table, 3);
    content()->addWidget(horizontalLine(this));
    content()->addWidget(m_below, 2);
    m_below->setMinimumHeight(190);
    m_knockOut->setProperty("compact", true);
    head()->addControl(m_knockOut);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this,
            &AblationView::updateKnockOut);
    connect(m_table, &QTableView::activated, this, &AblationView::requestEdit);
    connect(m_knockOut, &QPushButton::clicked, this, &AblationView::requestEdit);
    AblationView::clear(QStringLiteral("Not measured."));
}

std::optional<Edit> AblationView::chosenEdit() const {
    const int row = m_table->currentRow();
    if (isEmpty() || row < 0) return std::nullopt;
    Edit edit = m_result.rows[static_cast<std::size_t>(row)].edit;
    const auto& key = m_table->tableModel()->columnAt(m_table->currentIndex().column()).key;
    for (const auto op : {EditOp::Mean, EditOp::Resample})
        if (key.starts_with(editOpName(op))) edit.op = op;
    return edit;
}

void AblationView::requestEdit() {
    if (const auto edit = chosenEdit()) Q_EMIT editsRequested({*edit}, {});
}

void AblationView::updateKnockOut() {
    m_knockOut->setVisible(!isEmpty());
    m_knockOut->setEnabled(chosenEdit().has_value());
    m_knockOut->setToolTip(m_knockOut->isEnabled()
                               ? QStringLiteral("Take the chosen part out in the inspector (Enter "
                                                "on its row)")
                               : QStringLiteral("Choose a row of the table first"));
}

void AblationView::clear(const QString& sentence) {
    AnswerView::clear(sentence);
    updateKnockOut();
}

void AblationView::fill(const Answer& answer) {
    m_result = answer.tables.empty() ? AblationTable() : core::ablationTableOf(answer);
    if (answer.tables.empty()) {
        m_table->setTable({});
        return m_pairs->setTable({});
    }
    const auto& table = m_result;
    m_table->setTable(partsOf(table, core::usesOf(answer)));
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
    const auto* pairs = answer.find("pairs");
    m_pairs->setTable(pairs ? *pairs : Table());
    leaveEmpty();
    updateKnockOut();
}

int AblationView::paint(QPainter* painter) const {
    if (isEmpty()) return 80;
    FigureLines lines(painter, kFigureWidth, kSide);
    const auto table = [&](const TableView& view, int width, int most) {
        if (painter) {
            painter->save();
            painter->translate(kSide / 2, lines.y);
            view.paintFigure(*painter, width, most);
            painter->restore();
        }
        lines.y += view.figureHeight(most);
    };
    const Theme& t = Theme::current();
    lines.wrapped(QStringLiteral("Ablation: ") + headText(), headFont(), t.text);
    table(*m_table, kFigureWidth - kSide, kPartsInFigure);
    if (!m_result.cumulative.empty()) {
        lines.y += 8;
        lines.wrapped(CumulativePlot::title(m_result), smallFont(), t.text);
        if (painter) m_curve->paintVector(*painter, lines.y, {kFigureWidth / 2 + 80, kFigurePlot});
        lines.y += kFigurePlot;
    }
    if (!m_result.pairs.empty()) {
        lines.y += 8;
        lines.wrapped(
            QStringLiteral("Pairs with the largest interaction (joint change - sum of the two)"),
            smallFont(), t.text);
        table(*m_pairs, kFigureWidth / 2 + 80, kPairsInFigure);
    }
    return lines.y + kSide / 2;
}

}  // namespace relascope::widgets

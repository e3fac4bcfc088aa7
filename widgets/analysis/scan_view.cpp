// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <functional>

#include <QFontMetrics>
#include <QHeaderView>
#include <QListWidget>
#include <QPainter>
#include <QSplitter>
#include <QTableWidget>

#include "types/text_format.h"
#include "widgets/analysis/scan_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kScanFigure = 1000, kScanMargin = 16, kScanLine = 22, kScanRow = 24,
              kMostScanRows = 40;

/// Names of attributes in quotation marks.
QString quotedSentence(const std::string& text) {
    QString words = QString::fromStdString(text);
    bool open = false;
    for (qsizetype at = 0; (at = words.indexOf(u'*', at)) >= 0; ++at)
        words[at] = (open = !open) ? QChar(0x201C) : QChar(0x201D);
    return words;
}

QString estimateText(double value) {
    return std::isnan(value) ? QString(QChar(0x2014)) : signedText(value, 4);
}

/// A cell that is sorted by its number; those without one come last.
class EffectItem : public QTableWidgetItem {
public:
    EffectItem(const QString& text, double value) : QTableWidgetItem(text), m_value(value) {
        setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        setFont(numberFont(12));
    }
    bool operator<(const QTableWidgetItem& other) const override {
        const auto* number = dynamic_cast<const EffectItem*>(&other);
        if (!number) return QTableWidgetItem::operator<(other);
        const bool here = !std::isnan(m_value), there = !std::isnan(number->m_value);
        if (here && there) return m_value < number->m_value;
        const bool ascending =
            tableWidget()->horizontalHeader()->sortIndicatorOrder() == Qt::AscendingOrder;
        return ascending ? here && !there : !here && there;
    }

private:
    double m_value;
};

const QStringList& scanColumns() {
    static const QStringList columns = {QStringLiteral("Part"),  QStringLiteral("Estimate"),
                                        QStringLiteral("Zero"),  QStringLiteral("Mean"),
                                        QStringLiteral("Other"), QStringLiteral("Use"),
                                        QStringLiteral("Label"), QStringLiteral("AUC")};
    return columns;
}

constexpr int kScanUse = 5, kScanLabel = 6, kScanAuc = 7;  // columns

bool isWords(int column) {
    return column == 0 || column == kScanUse || column == kScanLabel;
}

struct PartRow {
    QStringList texts;
    double values[8];
};

PartRow rowOf(const ModelScan& scan, const ModelScan::Part& part) {
    const MetricText metric(scan.metric.empty() ? "accuracy" : std::string_view(scan.metric));
    PartRow row{{QString::fromStdString(part.title), estimateText(part.estimate)},
                {NAN, part.estimate, NAN, NAN, NAN, NAN, NAN, NAN}};
    for (const auto how : {EditOp::Zero, EditOp::Mean, EditOp::Resample}) {
        QString words(QChar(0x2014));
        for (const auto& way : part.row.ways)
            if (way.how == how) {
                words = metric.change(way.change.change) + u' ' +
                        metric.interval(way.change.low, way.change.high);
                row.values[row.texts.size()] = way.change.change;
            }
        row.texts << words;
    }
    row.texts << QString::fromStdString(part.use) << QString() << QString();
    for (const auto& map : scan.atlas.relations) {
        if (map.name != part.row.part) continue;
        row.texts[kScanLabel] = QString::fromStdString(map.label);
        if (map.attribute < 0) continue;
        row.values[kScanAuc] = map.fits[static_cast<std::size_t>(map.attribute)].fixed;
        row.texts[kScanAuc] = QString::number(row.values[kScanAuc], 'f', 3);
    }
    return row;
}

}  // namespace

ScanView::ScanView(QWidget* parent)
    : MeasureFrame(QStringLiteral("Scan"), QStringLiteral("scan"), parent),
      m_sentences(new QListWidget(this)),
      m_table(new QTableWidget(this)) {
    m_sentences->setAccessibleName(QStringLiteral("Findings"));
    layOutSentences(*m_sentences);
    m_table->setAccessibleName(QStringLiteral("Parts"));
    m_table->setColumnCount(static_cast<int>(scanColumns().size()));
    m_table->setHorizontalHeaderLabels(scanColumns());
    layOutTable(*m_table, kScanRow);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    m_table->horizontalHeader()->setSortIndicatorClearable(true);
    m_table->setSortingEnabled(true);
    static const QStringList help = {
        QStringLiteral("Relations together: all of a layer at once"),
        QStringLiteral("First-order estimate of what the loss rises by without the part"),
        QStringLiteral("Change of the metric with the part at zero"),
        QStringLiteral("Change of the metric with the mean of the part in its place"),
        QStringLiteral("Change of the metric with the values of another example"),
        QStringLiteral("Needed: the mildest replacement costs. Listened to: only another example's "
                       "values cost. In the way: it gains. Not used: none of these. Undecided: "
                       "more examples are needed."),
        QStringLiteral("What the map tells of pairs of objects"),
        QStringLiteral("AUC of its strongest attribute, place held fixed")};
    for (int c = 0; c < m_table->columnCount(); ++c)
        m_table->horizontalHeaderItem(c)->setToolTip(help.at(c));
    auto* both = new QSplitter(Qt::Vertical, this);
    both->addWidget(m_sentences);
    both->addWidget(m_table);
    both->setStretchFactor(0, 3);
    both->setStretchFactor(1, 2);
    both->setChildrenCollapsible(false);
    content()->addWidget(both, 1);
    connect(m_sentences, &QListWidget::itemClicked, this,
            [this](QListWidgetItem* item) { open(m_sentences->row(item)); });
    connect(m_sentences, &QListWidget::itemActivated, this,
            [this](QListWidgetItem* item) { open(m_sentences->row(item)); });
    ScanView::clear(QStringLiteral("Not measured."));
}

void ScanView::clear(const QString& sentence) {
    m_scan = {};
    m_sentences->clear();
    m_table->setRowCount(0);
    MeasureFrame::clear(sentence);
}

void ScanView::setResult(const ModelScan& scan) {
    const int chosen = m_sentences->currentRow();
    m_scan = scan;
    m_sentences->clear();
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        auto* item = new QListWidgetItem(
            QStringLiteral("%1. %2").arg(k + 1).arg(quotedSentence(scan.findings[k].text)),
            m_sentences);
        QStringList tips;
        if (scan.findings[k].layer >= 0)
            tips << QStringLiteral("A click shows this map in the inspector");
        if (!scan.findings[k].confirm.empty())
            tips << QString::fromStdString(scan.findings[k].confirm);
        item->setToolTip(tips.join(u'\n'));
    }
    for (const auto& text : scan.notFound) {
        auto* item = new QListWidgetItem(quotedSentence(text), m_sentences);
        item->setForeground(Theme::current().muted);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    }
    if (chosen >= 0 && chosen < m_sentences->count()) m_sentences->setCurrentRow(chosen);
    fillTable();
    const MetricText metric(scan.metric.empty() ? "accuracy" : std::string_view(scan.metric));
    QString sub = QStringLiteral("%1 %2 of %3")
                      .arg(groupedNumber(std::max(scan.estimated, scan.measured)),
                           QString::fromStdString(scan.noun), QString::fromStdString(scan.data));
    if (std::isfinite(scan.base) && scan.measured > 0)
        sub += QStringLiteral("; %1 %2").arg(metric.title.toLower(), metric.value(scan.base));
    static const char* const passes[] = {"first pass: estimates", "second pass: exact effects",
                                         "third pass: attributes"};
    if (scan.passes < 3)
        sub += QStringLiteral("; ") +
               QLatin1String(passes[std::clamp<std::int64_t>(scan.passes, 0, 2)]);
    if (scan.passes == 3 && scan.looks > 0)
        sub += QStringLiteral("; %1 parts measured").arg(groupedNumber(scan.looks));
    if (!scan.remark.empty()) sub += QStringLiteral("; ") + QString::fromStdString(scan.remark);
    head()->setSubText(sub);
    leaveEmpty();
}

void ScanView::fillTable() {
    m_table->setSortingEnabled(false);
    m_table->setRowCount(static_cast<int>(m_scan.parts.size()));
    for (int r = 0; r < m_table->rowCount(); ++r) {
        const auto row = rowOf(m_scan, m_scan.parts[static_cast<std::size_t>(r)]);
        for (int c = 0; c < m_table->columnCount(); ++c) {
            const bool words = isWords(c);
            auto* item = words ? new QTableWidgetItem(row.texts.at(c))
                               : new EffectItem(row.texts.at(c), row.values[c]);
            if (words) item->setFont(smallFont());
            item->setToolTip(row.texts.at(c));
            m_table->setItem(r, c, item);
        }
    }
    m_table->setSortingEnabled(true);
}

void ScanView::resizeEvent(QResizeEvent* event) {
    MeasureFrame::resizeEvent(event);
    constexpr int names = 200, effect = 140, number = 76, use = 90;
    const int label = std::max(180, width() - names - use - 3 * effect - 2 * number - 24);
    const int widths[] = {names, number, effect, effect, effect, use, label, number};
    for (int c = 0; c < m_table->columnCount(); ++c) m_table->setColumnWidth(c, widths[c]);
    m_sentences->doItemsLayout();  // lines wrap at another place
}

void ScanView::open(int row) {
    if (row < 0 || row >= static_cast<int>(m_scan.findings.size())) return;
    const auto& finding = m_scan.findings[static_cast<std::size_t>(row)];
    if (finding.layer < 0) return;
    const auto kind = !finding.head ? MapKind::Relation
                      : finding.part.find("relational") != std::string::npos
                          ? MapKind::RelationalAttention
                          : MapKind::SensoryAttention;
    const auto layer = static_cast<int>(finding.layer), index = static_cast<int>(finding.index);
    if (finding.example < 0) return mapRequested(kind, layer, index);
    Q_EMIT exampleRequested(finding.example, {kind, layer, index, 0, static_cast<int>(finding.i),
                                              static_cast<int>(finding.j)});
}

QSize ScanView::figureSize() const {
    return isEmpty() ? QSize(400, 80) : QSize(kScanFigure, paint(nullptr));
}

void ScanView::paintFigure(QPainter& painter) {
    paint(&painter);
}

int ScanView::paint(QPainter* painter) const {
    const Theme& t = Theme::current();
    FigureLines lines(painter, kScanFigure, kScanMargin);
    lines.wrapped(QStringLiteral("Scan: ") + headText(), headFont(), t.text);
    for (std::size_t k = 0; k < m_scan.findings.size(); ++k)
        lines.wrapped(
            QStringLiteral("%1. %2").arg(k + 1).arg(quotedSentence(m_scan.findings[k].text)),
            smallFont(), t.text);
    for (const auto& text : m_scan.notFound)
        lines.wrapped(quotedSentence(text), smallFont(), t.muted);
    lines.y += 8;
    const int widths[] = {180, 70, 140, 140, 140, 80, 160, 58};
    const auto line = [&](const QStringList& texts, const QFont& font, const QColor& ink) {
        int x = kScanMargin;
        for (int c = 0; c < texts.size(); ++c) {
            const bool left = isWords(c);
            lines.words({x + (left ? 0 : 4), lines.y, widths[c] - 8, kScanLine},
                        QFontMetrics(font).elidedText(texts.at(c), Qt::ElideRight, widths[c] - 8),
                        font, ink, Qt::AlignVCenter | (left ? Qt::AlignLeft : Qt::AlignRight));
            x += widths[c];
        }
        lines.y += kScanLine;
    };
    line(scanColumns(), captionFont(), t.muted);
    const int rows = std::min(kMostScanRows, static_cast<int>(m_scan.parts.size()));
    for (int r = 0; r < rows; ++r)
        line(rowOf(m_scan, m_scan.parts[static_cast<std::size_t>(r)]).texts, smallFont(), t.text);
    if (const int more = static_cast<int>(m_scan.parts.size()) - rows; more > 0)
        line({QStringLiteral("and %1 more parts").arg(groupedNumber(more))}, smallFont(), t.muted);
    return lines.y + kScanMargin / 2;
}

}  // namespace relascope::widgets

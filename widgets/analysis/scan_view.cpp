// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <functional>

#include <QListWidget>
#include <QSplitter>
#include <QVBoxLayout>

#include "answers/scan_answer.h"
#include "types/text_format.h"
#include "widgets/analysis/findings_bar.h"
#include "widgets/analysis/scan_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
ScanView::ScanView(QWidget* parent)
    : AnswerView(QStringLiteral("Scan"), QStringLiteral("scan"), parent),
      m_sentences(new QListWidget(this)),
      m_table(new TableView(QStringLiteral("Parts"), this)) {
    m_sentences->setAccessibleName(QStringLiteral("Findings"));
    layOutSentences(*m_sentences);
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
    AnswerView::clear(QStringLiteral("Not measured."));
}

void ScanView::fill(const Answer& answer) {
    const int chosen = m_sentences->currentRow();
    m_scan = answer.tables.empty() ? ModelScan() : core::modelScanOf(answer);
    const auto& scan = m_scan;
    m_table->setTable(answer.tables.empty() ? Table() : answer.table("parts"));
    m_sentences->clear();
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        auto* item = new QListWidgetItem(
            QStringLiteral("%1. %2").arg(k + 1).arg(findingText(scan.findings[k].text)),
            m_sentences);
        QStringList tips;
        if (scan.findings[k].layer >= 0)
            tips << QStringLiteral("A click shows this map in the inspector");
        if (scan.findings[k].text.find("within places") != std::string::npos)
            tips << QStringLiteral(
                "AUC within places: how often the map is larger on a pair "
                "i \u2190 j that has the attribute than on one that has not, at "
                "the same places i and j; 0.5 is chance");
        if (!scan.findings[k].confirm.empty())
            tips << QString::fromStdString(scan.findings[k].confirm);
        item->setToolTip(tips.join(u'\n'));
    }
    for (const auto& text : scan.notFound) {
        auto* item = new QListWidgetItem(findingText(text), m_sentences);
        item->setForeground(Theme::current().muted);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    }
    if (chosen >= 0 && chosen < m_sentences->count()) m_sentences->setCurrentRow(chosen);
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
}

void ScanView::resizeEvent(QResizeEvent* event) {
    AnalysisFrame::resizeEvent(event);
    m_sentences->doItemsLayout();  // lines wrap at another place
}

void ScanView::open(int row) {
    if (row < 0 || row >= static_cast<int>(m_scan.findings.size())) return;
    const auto& finding = m_scan.findings[static_cast<std::size_t>(row)];
    const auto cell = mapOfFinding(finding);
    if (!cell) return;
    if (finding.example < 0) return mapRequested(cell->kind, cell->layer, cell->index);
    Q_EMIT exampleRequested(finding.example, *cell);
}

void ScanView::draw(FigureLines& lines) const {
    const Theme& t = Theme::current();
    lines.title(QStringLiteral("Scan: ") + headText());
    for (std::size_t k = 0; k < m_scan.findings.size(); ++k)
        lines.wrapped(QStringLiteral("%1. %2").arg(k + 1).arg(findingText(m_scan.findings[k].text)),
                      smallFont(), t.text);
    for (const auto& text : m_scan.notFound) lines.wrapped(findingText(text), smallFont(), t.muted);
    lines.y += 8;
    lines.table(*m_table);
}

}  // namespace relascope::widgets

// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <functional>

#include <QKeyEvent>
#include <QListWidget>
#include <QMouseEvent>
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
    m_sentences->installEventFilter(this);
    m_sentences->viewport()->installEventFilter(this);
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
    std::erase_if(m_open, [&](std::size_t k) { return k >= scan.findings.size(); });
    m_sentences->clear();
    for (const auto& text : scan.atlas.hypotheses)
        (new QListWidgetItem(findingText(text), m_sentences))
            ->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    m_first = m_sentences->count();
    for (std::size_t k = 0; k < scan.findings.size(); ++k) {
        const auto& finding = scan.findings[k];
        auto* item = new QListWidgetItem(m_sentences);
        QStringList tips;
        if (finding.layer >= 0) tips << QStringLiteral("A click shows this map in the inspector");
        if (!finding.confirm.empty()) tips << QString::fromStdString(finding.confirm);
        item->setToolTip(tips.join(u'\n'));
        // The numbers behind it, in a line of their own that folds.
        auto* proof = new QListWidgetItem(findingText(finding.proof), m_sentences);
        proof->setForeground(Theme::current().muted);
        proof->setToolTip(
            finding.proof.find("within places") == std::string::npos
                ? QString()
                : QStringLiteral("AUC within places: how often the map is larger on a pair "
                                 "i \u2190 j that has the attribute than on one that has not, at "
                                 "the same places i and j; 0.5 is chance"));
        fold(k, !m_open.contains(k));
    }
    for (const auto& text : scan.notFound) {
        auto* item = new QListWidgetItem(findingText(text), m_sentences);
        item->setForeground(Theme::current().muted);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    }
    if (chosen >= 0 && chosen < m_sentences->count()) m_sentences->setCurrentRow(chosen);
    QString sub = !scan.heading.empty()
                      ? QString::fromStdString(scan.heading)
                      : QStringLiteral("%1 %2 of %3")
                            .arg(groupedNumber(scan.estimated), QString::fromStdString(scan.noun),
                                 QString::fromStdString(scan.data));
    static const char* const passes[] = {"first pass: estimates", "second pass: exact effects",
                                         "third pass: attributes"};
    if (scan.passes < 3)
        sub += QStringLiteral("; ") +
               QLatin1String(passes[std::clamp<std::int64_t>(scan.passes, 0, 2)]);
    if (scan.passes == 3 && scan.comparisons > 0)
        sub += QStringLiteral("; %1 parts measured").arg(groupedNumber(scan.comparisons));
    if (!scan.remark.empty()) sub += QStringLiteral("; ") + QString::fromStdString(scan.remark);
    head()->setSubText(sub);
}

void ScanView::resizeEvent(QResizeEvent* event) {
    AnalysisFrame::resizeEvent(event);
    m_sentences->doItemsLayout();  // lines wrap at another place
}

void ScanView::fold(std::size_t finding, bool folded) {
    const auto& one = m_scan.findings[finding];
    if (folded)
        m_open.erase(finding);
    else
        m_open.insert(finding);
    const int row = m_first + 2 * static_cast<int>(finding);
    const bool folds = !one.proof.empty();
    m_sentences->item(row)->setText(QStringLiteral("%1 %2. %3")
                                        .arg(!folds   ? QStringLiteral("\u2002")
                                             : folded ? QStringLiteral("\u25B8")
                                                      : QStringLiteral("\u25BE"))
                                        .arg(finding + 1)
                                        .arg(findingText(one.text)));
    m_sentences->item(row + 1)->setHidden(folded || !folds);
    m_sentences->doItemsLayout();
}

bool ScanView::eventFilter(QObject* watched, QEvent* event) {
    const auto toggle = [this](int finding, bool folded) {
        fold(static_cast<std::size_t>(finding), folded);
        return true;
    };
    if (watched == m_sentences && event->type() == QEvent::KeyPress) {
        const auto key = static_cast<QKeyEvent*>(event)->key();
        const int finding = findingAt(m_sentences->currentRow());
        if (finding >= 0 && (key == Qt::Key_Left || key == Qt::Key_Right)) {
            if (key == Qt::Key_Left) m_sentences->setCurrentRow(m_first + 2 * finding);
            return toggle(finding, key == Qt::Key_Left);
        }
    }
    if (watched == m_sentences->viewport() && event->type() == QEvent::MouseButtonRelease) {
        const auto at = static_cast<QMouseEvent*>(event)->position().toPoint();
        const auto* item = m_sentences->itemAt(at);
        const int row = item ? m_sentences->row(item) : -1;
        const int arrow = 2 * m_sentences->fontMetrics().horizontalAdvance(QChar(0x25B8)) + 8;
        if (const int finding = findingAt(row);
            finding >= 0 && (row - m_first) % 2 == 0 &&
            at.x() < m_sentences->visualItemRect(item).x() + arrow)
            return toggle(finding, m_open.contains(static_cast<std::size_t>(finding)));
    }
    return AnswerView::eventFilter(watched, event);
}

int ScanView::findingAt(int row) const {
    const int line = row - m_first;
    return line >= 0 && line < 2 * static_cast<int>(m_scan.findings.size()) ? line / 2 : -1;
}

void ScanView::open(int row) {
    const int at = findingAt(row);
    if (at < 0) return;
    const auto& finding = m_scan.findings[static_cast<std::size_t>(at)];
    const auto cell = mapOfFinding(finding);
    if (!cell) return;
    if (finding.example < 0) return mapRequested(cell->kind, cell->layer, cell->index);
    Q_EMIT exampleRequested(finding.example, *cell);
}

void ScanView::draw(FigureLines& lines) const {
    const Theme& t = Theme::current();
    lines.title(QStringLiteral("Scan: ") + headText());
    for (const auto& text : m_scan.atlas.hypotheses)
        lines.wrapped(findingText(text), smallFont(), t.text);
    for (std::size_t k = 0; k < m_scan.findings.size(); ++k) {
        const auto& finding = m_scan.findings[k];
        lines.wrapped(QStringLiteral("%1. %2").arg(k + 1).arg(findingText(finding.text)),
                      smallFont(), t.text);
        if (m_open.contains(k) && !finding.proof.empty())
            lines.wrapped(findingText(finding.proof), smallFont(), t.muted);
    }
    for (const auto& text : m_scan.notFound) lines.wrapped(findingText(text), smallFont(), t.muted);
    lines.y += 8;
    lines.table(*m_table);
}

}  // namespace relascope::widgets

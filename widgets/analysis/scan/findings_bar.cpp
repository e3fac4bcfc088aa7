// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/analysis/scan/findings_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <algorithm>

#include "analysis/scan/answer.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QString shownFinding(const std::string& finding) {
    return shownText(core::findingText(finding));
}

constexpr int kHigh = 42, kLow = 24;  // px: two rows of text, or one

/// A sentence in `room` px. What it costs to go without the part, which stands behind the first
/// semicolon, is worth more than the rest: intervals go first, then what is behind that clause,
/// then the end of the first clause.
QString fitted(const QString& sentence, const QFontMetrics& metrics, int room) {
    if (metrics.horizontalAdvance(sentence) <= room) return sentence;
    static const QRegularExpression details(" \\([^()]*\\)| \\[[^\\[\\]]*\\]");
    QString text = sentence;
    while (text.contains(details)) text.remove(details);
    const auto end = text.indexOf(QLatin1String("; "));
    if (end < 0 || metrics.horizontalAdvance(text) <= room)
        return metrics.elidedText(text, Qt::ElideRight, room);
    const QString effect = text.mid(end).section(QLatin1String("; "), 0, 1);
    const int rest = room - metrics.horizontalAdvance(effect);
    // Less than half of a clause would say nothing.
    if (rest < metrics.horizontalAdvance(text.left(end)) / 2)
        return metrics.elidedText(text, Qt::ElideRight, room);
    return metrics.elidedText(text.left(end), Qt::ElideRight, rest) + effect;
}

}  // namespace

FindingsBar::FindingsBar(QWidget* parent)
    : Box(&Theme::alt, true, parent), m_sentence(new QLabel(this)), m_links(new QLabel(this)) {
    setAccessibleName(QStringLiteral("What the model learned"));
    auto* row = rowOf(this, {16, 2, 12, 2}, 16);
    for (QLabel* label : {m_sentence, m_links}) label->setFont(smallFont());
    m_sentence->setTextFormat(Qt::PlainText);
    m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_sentence->setCursor(Qt::PointingHandCursor);
    m_sentence->installEventFilter(this);
    m_links->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    m_links->setAccessibleName(QStringLiteral("Findings"));
    row->addWidget(m_sentence, 1);
    row->addWidget(m_links);
    connect(m_links, &QLabel::linkActivated, this, [this](const QString& link) {
        if (link == QLatin1String("next"))
            next();
        else if (link == QLatin1String("show"))
            showEvidence();
        else
            Q_EMIT moreRequested();
    });
    setLow(false);
    hide();
}

void FindingsBar::clear() {
    m_scan = {};
    m_current = -1;
    m_text.clear();
    hide();
}

void FindingsBar::setSentence(const QString& sentence) {
    m_scan = {};
    m_current = -1;
    m_text = sentence;
    display();
}

void FindingsBar::setScan(const Answer& answer, bool finished, const QString& subject) {
    m_scan = core::modelScanOf(answer);
    m_finished = finished;
    m_subject = subject;
    const int count = static_cast<int>(m_scan.findings.size());
    m_current = count == 0 ? -1 : std::clamp(m_current, 0, count - 1);
    if (!finished)
        m_text = QStringLiteral("Measuring what the model uses: pass %1 of 3.")
                     .arg(std::min<std::int64_t>(3, m_scan.passes + 1));
    else if (count == 0 && !m_scan.notFound.empty())
        m_text = shownFinding(m_scan.notFound.front());
    else
        m_text = QStringLiteral("No part was found whose loss costs more than chance.");
    display();
}

void FindingsBar::setLow(bool low) {
    m_low = low;
    setFixedHeight(low ? kLow : kHigh);
    m_sentence->setWordWrap(!low);
    display();
}

void FindingsBar::setAllowed(bool allowed) {
    m_allowed = allowed;
    display();
}

QString FindingsBar::text() const {
    return m_current < 0 ? m_text
                         : shownFinding(m_scan.findings[static_cast<std::size_t>(m_current)].text);
}

void FindingsBar::next() {
    const int count = static_cast<int>(m_scan.findings.size());
    if (count == 0) return;
    m_current = (m_current + 1) % count;
    display();
    showEvidence();
}

void FindingsBar::showEvidence() {
    if (m_current < 0) return;
    const auto request = core::requestOf(m_scan.findings[static_cast<std::size_t>(m_current)]);
    if (const auto* map = std::get_if<MapLink>(&request))
        Q_EMIT mapRequested(map->kind, map->layer, map->index);
    else if (const auto* one = std::get_if<core::ExampleRequest>(&request))
        Q_EMIT exampleRequested(one->example, one->cell);
}

void FindingsBar::display() {
    const bool finding = m_current >= 0;
    if (!finding && m_text.isEmpty()) return hide();
    const auto* shown = finding ? &m_scan.findings[static_cast<std::size_t>(m_current)] : nullptr;
    const QString text = this->text();
    const int room = (m_low ? 1 : 2) * std::max(40, m_sentence->width()) - (m_low ? 0 : 60);
    m_sentence->setText(fitted(text, m_sentence->fontMetrics(), room));
    QStringList tips{text};
    if (shown && !shown->proof.empty()) tips << shownFinding(shown->proof);
    if (shown && !shown->confirm.empty()) tips << QString::fromStdString(shown->confirm);
    m_sentence->setToolTip(plainTip(tips.join(u'\n')));
    m_sentence->setAccessibleDescription(text);
    const auto link = [](const char* to, const QString& words) {
        return QStringLiteral("<a href=\"%1\" style=\"color:%2; text-decoration:none\">%3</a>")
            .arg(QLatin1String(to), Theme::current().accent.name(), words);
    };
    QStringList links, note;
    if (shown) {
        links << QStringLiteral("%1 of %2").arg(m_current + 1).arg(m_scan.findings.size());
        if (shown->layer >= 0) links << link("show", QStringLiteral("show it"));
        if (m_scan.findings.size() > 1) links << link("next", QStringLiteral("next \u203A"));
    }
    if (m_scan.passes > 0) {
        links << link("more", QStringLiteral("all in Atlas"));
        note << QStringLiteral("from %1 %2")
                    .arg(groupedNumber(std::max(m_scan.measured, m_scan.estimated)),
                         QString::fromStdString(m_scan.noun));
        note << m_subject;
        if (m_finished && !m_scan.remark.empty()) note << QStringLiteral("a short scan");
    }
    note.removeAll(QString());
    const QString dot = QStringLiteral(" \u00B7 ");
    m_links->setToolTip(plainTip(note.join(dot) + u'\n' + QString::fromStdString(m_scan.remark)));
    const QString muted = QStringLiteral("<span style=\"color:%1\">%2</span>")
                              .arg(Theme::current().muted.name(), note.join(dot).toHtmlEscaped());
    m_links->setText(
        m_low || note.isEmpty()
            ? links.join(dot)
            : QStringLiteral("<div align=\"right\">%1<br>%2</div>").arg(links.join(dot), muted));
    setVisible(m_allowed);
}

void FindingsBar::changeEvent(QEvent* event) {
    Box::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_links && !isHidden()) display();
}

void FindingsBar::resizeEvent(QResizeEvent* event) {
    Box::resizeEvent(event);
    if (!isHidden()) display();
}

bool FindingsBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_sentence && event->type() == QEvent::MouseButtonRelease) showEvidence();
    return Box::eventFilter(watched, event);
}

}  // namespace relascope::widgets

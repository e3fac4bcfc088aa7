// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/study/study_progress.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int kProgressBar = 4, kProgressBetween = 14;

QString counted(std::size_t count, const char* what) {
    return QStringLiteral("%1 %2").arg(groupedNumber(static_cast<qlonglong>(count)),
                                       QLatin1String(what));
}

}  // namespace

StudyProgressLine::StudyProgressLine(QWidget* parent) : QWidget(parent) {
    setFixedHeight(32);
    setMinimumWidth(120);
    setAccessibleName(QStringLiteral("Progress of the study"));
}

void StudyProgressLine::setCounts(const Counts& counts, const QString& note) {
    if (m_sentence.isEmpty() && counts == m_counts && note == m_note) return;
    m_counts = counts;
    m_note = note;
    m_sentence.clear();
    setAccessibleDescription(text());
    setToolTip(text());
    update();
}

void StudyProgressLine::setSentence(const QString& sentence) {
    m_sentence = sentence;
    setAccessibleDescription(sentence);
    setToolTip(sentence);
    update();
}

QStringList StudyProgressLine::parts() const {
    if (!m_sentence.isEmpty()) return {m_sentence};
    QStringList parts{QStringLiteral("%1 of %2")
                          .arg(groupedNumber(static_cast<qlonglong>(m_counts.done)),
                               counted(m_counts.total(), m_counts.total() == 1 ? "run" : "runs"))};
    if (m_counts.running > 0) parts << counted(m_counts.running, "running");
    if (m_counts.failed > 0) parts << counted(m_counts.failed, "failed");
    if (m_counts.interrupted > 0) parts << counted(m_counts.interrupted, "interrupted");
    return parts;
}

QString StudyProgressLine::text() const {
    QStringList all = parts();
    if (m_sentence.isEmpty() && !m_note.isEmpty()) all << m_note;
    return all.join(QStringLiteral(", "));
}

void StudyProgressLine::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    const QStringList texts = parts();
    const bool plain = !m_sentence.isEmpty();
    const QRect line(0, plain ? 0 : 2, width(), plain ? height() : 20);
    QFont bold = numberFont(12);
    bold.setWeight(QFont::DemiBold);
    const QFont normal = plain ? smallFont() : numberFont(12);
    const int note = plain ? 0 : QFontMetrics(normal).horizontalAdvance(m_note) + kProgressBetween;
    int x = 0, right = width();
    // If it is narrow, the note is omitted first, then the last texts.
    int wanted = 0;
    for (const auto& part : texts)
        wanted += QFontMetrics(bold).horizontalAdvance(part) + kProgressBetween;
    const bool noted = !plain && !m_note.isEmpty() && wanted + note <= width();
    if (noted) right -= note;
    for (qsizetype i = 0; i < texts.size(); ++i) {
        painter.setFont(i == 0 && !plain ? bold : normal);
        painter.setPen(plain || i > 0 ? t.muted : t.text);
        const QString shown =
            painter.fontMetrics().elidedText(texts[i], Qt::ElideRight, std::max(0, right - x));
        painter.drawText(line.adjusted(x, 0, 0, 0), Qt::AlignVCenter, shown);
        x += painter.fontMetrics().horizontalAdvance(shown) + kProgressBetween;
    }
    if (plain) return;
    if (noted) {
        painter.setFont(normal);
        painter.setPen(t.muted);
        painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, m_note);
    }
    const auto total = static_cast<double>(m_counts.total());
    const int top = height() - kProgressBar - 4;
    painter.fillRect(QRect(0, top, width(), kProgressBar), t.track);
    if (total <= 0.0) return;
    double from = 0.0;
    for (const auto& [count, color] : {std::pair{m_counts.done, t.accent},
                                       {m_counts.failed, t.error},
                                       {m_counts.interrupted, t.warning}}) {
        const double to = from + width() * static_cast<double>(count) / total;
        painter.fillRect(QRect(qRound(from), top, qRound(to) - qRound(from), kProgressBar), color);
        from = to;
    }
    QColor working = t.accent;
    working.setAlphaF(0.45F);
    const double to = from + width() * static_cast<double>(m_counts.running) / total;
    painter.fillRect(QRect(qRound(from), top, qRound(to) - qRound(from), kProgressBar), working);
}

StudyFailures::StudyFailures(QWidget* parent)
    : QWidget(parent),
      m_text(new ElidedLabel({}, this)),
      m_show(new QPushButton(QStringLiteral("Show"), this)),
      m_retry(new QPushButton(icon("restart"), QStringLiteral("Retry failed"), this)) {
    setFixedHeight(36);
    m_text->setFont(smallFont());
    auto* row = rowOf(this, {38, 0, 16, 0}, 8);
    row->addWidget(m_text, 1);
    for (auto* button : {m_show, m_retry}) {
        button->setProperty("compact", true);
        row->addWidget(button);
    }
    m_show->setToolTip(QStringLiteral("Select the next failed run in the grid"));
    connect(m_show, &QPushButton::clicked, this, &StudyFailures::showRequested);
    connect(m_retry, &QPushButton::clicked, this, &StudyFailures::retryRequested);
    setAccessibleName(QStringLiteral("Failed runs"));
    restyle();
    hide();
}

void StudyFailures::setFailures(std::size_t count, const QString& first,
                                const QString& disabledReason) {
    setVisible(count > 0);
    m_text->setText(
        QStringLiteral("%1 failed.  %2").arg(counted(count, count == 1 ? "run" : "runs"), first));
    m_retry->setEnabled(disabledReason.isEmpty());
    m_retry->setToolTip(
        disabledReason.isEmpty()
            ? QStringLiteral("Starts the failed runs again; their old files are moved aside")
            : disabledReason);
}

QString StudyFailures::text() const {
    return m_text->text();
}

void StudyFailures::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.errorFill);
    painter.fillRect(QRect(0, height() - 1, width(), 1), t.border);
    painter.drawPixmap(16, (height() - 16) / 2,
                       iconPixmap("warning", t.error, 16, devicePixelRatioF()));
}

void StudyFailures::restyle() {
    QPalette p = m_text->palette();
    if (p.color(QPalette::WindowText) == Theme::current().error) return;
    p.setColor(QPalette::WindowText, Theme::current().error);
    m_text->setPalette(p);
}

void StudyFailures::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) restyle();
}

}  // namespace relascope::widgets

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bar/status_strip.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QScrollBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

QColor levelColor(MessageLevel level) {
    const Theme& t = Theme::current();
    return level == MessageLevel::Ok        ? t.ok
           : level == MessageLevel::Warning ? t.warning
           : level == MessageLevel::Error   ? t.error
                                            : t.muted;
}
const char* levelIcon(MessageLevel level) {
    return level == MessageLevel::Ok        ? "check"
           : level == MessageLevel::Warning ? "warning"
           : level == MessageLevel::Error   ? "error"
                                            : "log";
}
const char* levelWord(MessageLevel level) {
    return level == MessageLevel::Warning ? "warning"
           : level == MessageLevel::Error ? "error"
                                          : "info";
}

}  // namespace

StatusStrip::StatusStrip(QWidget* parent)
    : QWidget(parent),
      m_log(new QToolButton(this)),
      m_jobs(new QToolButton(this)),
      m_timer(new QTimer(this)) {
    setFixedHeight(26);
    setAccessibleName(QStringLiteral("Status"));
    m_log->setText(QStringLiteral("Log"));
    m_log->setIcon(icon("log"));
    m_log->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_log->setAutoRaise(true);
    m_log->setCheckable(true);
    m_log->setFont(smallFont());
    m_log->setFixedHeight(24);
    m_log->setToolTip(QStringLiteral("Show or hide the log"));
    m_log->setAccessibleName(QStringLiteral("Log"));
    connect(m_log, &QToolButton::clicked, this, &StatusStrip::logToggled);
    m_jobs->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_jobs->setAutoRaise(true);
    m_jobs->setFont(smallFont());
    m_jobs->setFixedHeight(24);
    m_jobs->setToolTip(QStringLiteral("Measurements: their progress, and their results"));
    connect(m_jobs, &QToolButton::clicked, this, &StatusStrip::jobsRequested);
    setJobs({}, {});
    m_timer->setInterval(100);
    connect(m_timer, &QTimer::timeout, this, qOverload<>(&QWidget::update));
}

void StatusStrip::showMessage(MessageLevel level, const QString& sentence) {
    m_level = level;
    m_message = sentence;
    setAccessibleDescription(sentence);
    setToolTip(plainTip(sentence));
    update();
}
void StatusStrip::setHeartbeat(bool running) {
    m_beating = running;
    if (running) m_last = QDateTime::currentDateTime();
    running ? m_timer->start() : m_timer->stop();
    resizeEvent(nullptr);
    update();
}
void StatusStrip::beat() {
    m_last = QDateTime::currentDateTime();
}
void StatusStrip::setSecondsSinceBeat(double seconds) {
    m_last = QDateTime::currentDateTime().addMSecs(-static_cast<qint64>(seconds * 1000.0));
    update();
}
void StatusStrip::setLogShown(bool shown) {
    m_log->setChecked(shown);
}

void StatusStrip::setJobs(const QString& text, std::optional<MessageLevel> news) {
    m_jobs->setText(text.isEmpty() ? QStringLiteral("Measurements") : text);
    m_jobs->setAccessibleName(m_jobs->text());
    m_jobs->setIcon(icon(news ? levelIcon(*news) : "target"));
    QFont font = smallFont();
    font.setBold(news.has_value());
    m_jobs->setFont(font);
    resizeEvent(nullptr);
    update();
}

double StatusStrip::seconds() const {
    return static_cast<double>(m_last.msecsTo(QDateTime::currentDateTime())) / 1000.0;
}

QString StatusStrip::heartbeatText() const {
    if (!m_beating) return {};
    const double s = qMax(0.0, seconds());
    return s < 60.0 ? QString("last update %1 s ago").arg(s, 0, 'f', s < 10.0 ? 1 : 0)
                    : QString("last update %1 ago").arg(roughDuration(s));
}
QColor StatusStrip::heartbeatColor() const {
    const Theme& t = Theme::current();
    const double s = seconds();
    return s < 2.0 ? t.ok : s < 10.0 ? t.warning : t.error;
}

void StatusStrip::resizeEvent(QResizeEvent* event) {
    if (event) QWidget::resizeEvent(event);
    m_log->resize(m_log->sizeHint().width(), 24);
    m_log->move(width() - (m_beating ? 172 : 12) - m_log->width(), 1);
    m_jobs->resize(m_jobs->sizeHint().width(), 24);
    m_jobs->move(m_log->x() - 4 - m_jobs->width(), 1);
}

void StatusStrip::paintEvent(QPaintEvent*) {
    const Theme& t = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), t.panel);
    painter.fillRect(QRect(0, 0, width(), 1), t.border);
    int right = m_jobs->x() - 8;
    painter.setFont(numberFont(12));
    if (m_beating) {
        const int x = width() - 164;
        painter.fillRect(QRect(x - 4, 6, 1, 14), t.border);
        painter.setPen(t.text);
        painter.drawText(QRect(x + 22, 1, 150, height() - 1), Qt::AlignVCenter, heartbeatText());
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(heartbeatColor());
        painter.drawEllipse(QRectF(x + 8, 9.5, 8, 8));
    }
    if (m_message.isEmpty()) return;
    painter.drawPixmap(
        12, 5, iconPixmap(levelIcon(m_level), levelColor(m_level), 16, devicePixelRatioF()));
    painter.setFont(smallFont());
    painter.setPen(m_level == MessageLevel::Error ? t.error : t.text);
    const int room = right - 36;
    paint::elidedText(painter, QRect(36, 1, room, height() - 1), Qt::AlignVCenter, m_message);
}

LogDrawer::LogDrawer(QWidget* parent)
    : QWidget(parent),
      m_list(new QListWidget(this)),
      m_filter(new QLineEdit(this)),
      m_levels(new SegmentedControl({"All", "Warnings", "Errors"}, this)) {
    setAccessibleName(QStringLiteral("Log"));
    auto* column = columnOf(this);
    auto* head = new PanelHead(QStringLiteral("Log"), this);
    m_filter->setPlaceholderText(QStringLiteral("Filter"));
    m_filter->setAccessibleName(QStringLiteral("Filter the log"));
    m_filter->setFixedWidth(180);
    m_levels->setAccessibleName(QStringLiteral("Level"));
    auto* copyButton =
        iconButton("copy", QStringLiteral("Copy the selected lines, or all lines"), head);
    auto* closeButton = iconButton("close", QStringLiteral("Close the log"), head);
    for (QWidget* control :
         std::initializer_list<QWidget*>{m_filter, m_levels, copyButton, closeButton})
        head->addControl(control);
    column->addWidget(head);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFont(monoFont(12));
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setUniformItemSizes(true);
    m_list->setAccessibleName(QStringLiteral("Log lines"));
    auto* action = new QAction(QStringLiteral("Copy"), m_list);
    action->setShortcut(QKeySequence::Copy);
    action->setShortcutContext(Qt::WidgetShortcut);
    m_list->addAction(action);
    m_list->setContextMenuPolicy(Qt::ActionsContextMenu);
    column->addWidget(m_list, 1);
    connect(action, &QAction::triggered, this, &LogDrawer::copy);
    connect(copyButton, &QToolButton::clicked, this, &LogDrawer::copy);
    connect(closeButton, &QToolButton::clicked, this, &LogDrawer::closeRequested);
    connect(m_filter, &QLineEdit::textChanged, this, &LogDrawer::applyFilter);
    connect(m_levels, &SegmentedControl::changed, this, &LogDrawer::applyFilter);
}

void LogDrawer::append(MessageLevel level, const QString& text, const QDateTime& when) {
    QScrollBar* bar = m_list->verticalScrollBar();
    const bool atEnd = bar->value() >= bar->maximum() - 2;
    auto* item =
        new QListWidgetItem(QString("%1  %2  %3")
                                .arg(when.toString("HH:mm:ss"),
                                     QString::fromLatin1(levelWord(level)).leftJustified(7), text),
                            m_list);
    item->setIcon(icon(levelIcon(level), levelColor(level)));
    item->setData(Qt::UserRole, static_cast<int>(level));
    item->setToolTip(plainTip(text));
    while (m_list->count() > 5000) delete m_list->takeItem(0);
    item->setHidden(!passes(m_list->count() - 1));
    if (atEnd) m_list->scrollToBottom();
}
void LogDrawer::clear() {
    m_list->clear();
}

bool LogDrawer::passes(int row) const {
    const QListWidgetItem* item = m_list->item(row);
    const auto level = static_cast<MessageLevel>(item->data(Qt::UserRole).toInt());
    const bool loud = m_levels->current() <= 0 || level == MessageLevel::Error ||
                      (m_levels->current() == 1 && level == MessageLevel::Warning);
    return loud && item->text().contains(m_filter->text().trimmed(), Qt::CaseInsensitive);
}
void LogDrawer::applyFilter() {
    for (int i = 0; i < m_list->count(); ++i) m_list->item(i)->setHidden(!passes(i));
}
int LogDrawer::shownLines() const {
    int shown = 0;
    for (int i = 0; i < m_list->count(); ++i) shown += !m_list->item(i)->isHidden();
    return shown;
}
QString LogDrawer::text() const {
    QString lines;
    for (int i = 0; i < m_list->count(); ++i)
        if (!m_list->item(i)->isHidden()) lines += m_list->item(i)->text() + u'\n';
    return lines;
}
void LogDrawer::copy() {
    QString lines;
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->isSelected() && !m_list->item(i)->isHidden())
            lines += m_list->item(i)->text() + u'\n';
    QGuiApplication::clipboard()->setText(lines.isEmpty() ? text() : lines);
}

}  // namespace relascope::widgets

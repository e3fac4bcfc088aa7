// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/data_progress.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>

#include "app/controllers/long_task.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

JobStrip::JobStrip(QWidget* parent)
    : QWidget(parent),
      m_text(new widgets::ElidedLabel({}, this)),
      m_bar(new QProgressBar(this)),
      m_cancel(new QPushButton(QStringLiteral("Cancel"), this)) {
    setAccessibleName(QStringLiteral("Progress"));
    m_text->setFont(widgets::smallFont());
    m_bar->setRange(0, 1000);
    m_bar->setTextVisible(false);
    m_bar->setFixedHeight(4);
    m_bar->setMinimumWidth(120);
    m_bar->setAccessibleName(QStringLiteral("Progress"));
    m_cancel->setProperty("compact", true);
    auto* row = widgets::rowOf(this, {16, 4, 16, 4}, 12);
    row->addWidget(m_text, 1);
    row->addWidget(m_bar, 1);
    row->addWidget(m_cancel);
    hide();
    m_delay.setSingleShot(true);
    m_delay.setInterval(1000);
    m_tick.setInterval(50);
    connect(&m_delay, &QTimer::timeout, this, [this] { show(); });
    connect(&m_tick, &QTimer::timeout, this, [this] {
        if (m_job) m_bar->setValue(static_cast<int>(1000.0 * m_job->fraction));
    });
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (!m_job) return;
        m_job->stop.request_stop();
        end();
        Q_EMIT cancelled();
    });
}

void JobStrip::follow(LongTask& task) {
    connect(&task, &LongTask::began, this, &JobStrip::begin);
    connect(&task, &LongTask::ended, this, &JobStrip::end);
    connect(this, &JobStrip::cancelled, &task, &LongTask::abandon);
}

void JobStrip::begin(const QString& text, std::shared_ptr<LongJob> job) {
    m_job = std::move(job);
    m_text->setText(text);
    m_bar->setValue(0);
    m_tick.start();
    if (!isVisible()) m_delay.start();
}

void JobStrip::end() {
    m_job.reset();
    m_tick.stop();
    m_delay.stop();
    hide();
}

ErrorStrip::ErrorStrip(QWidget* parent)
    : QWidget(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)) {
    setAccessibleName(QStringLiteral("Error"));
    m_text->setFont(widgets::smallFont());
    m_text->setTextFormat(Qt::PlainText);  // sentences name files, and files have any name
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* away = widgets::iconButton("close", QStringLiteral("Dismiss"), this);
    auto* row = widgets::rowOf(this, {16, 4, 8, 4}, 8);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addWidget(m_text, 1);
    row->addWidget(away, 0, Qt::AlignTop);
    m_icon->setContentsMargins(0, 4, 0, 0);
    connect(away, &QToolButton::clicked, this, [this] { setSentence({}); });
    restyle();
    hide();
}

void ErrorStrip::setSentence(const QString& sentence) {
    m_text->setText(sentence);
    setAccessibleDescription(sentence);
    setVisible(!sentence.isEmpty());
}
QString ErrorStrip::sentence() const {
    return m_text->text();
}

void ErrorStrip::restyle() {
    const widgets::Theme& t = widgets::Theme::current();
    m_icon->setPixmap(widgets::iconPixmap("error", t.error, 16, devicePixelRatioF()));
    QPalette colors = m_text->palette();
    colors.setColor(QPalette::WindowText, t.error);
    m_text->setPalette(colors);
}
void ErrorStrip::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), widgets::Theme::current().errorFill);
}
void ErrorStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_icon) restyle();
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/bar/job_list.h"

#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

namespace {

constexpr int kJobWidth = 420;  // px

bool isActive(const JobItem& job) {
    return job.state == JobItem::State::Waiting || job.state == JobItem::State::Running;
}

}  // namespace

QString jobsText(const std::vector<JobItem>& jobs) {
    int active = 0, fresh = 0, failed = 0;
    double done = 0.0;
    for (const auto& job : jobs) {
        if (isActive(job))
            ++active, done += job.fraction;
        else if (!job.seen)
            ++(job.state == JobItem::State::Failed ? failed : fresh);
    }
    QStringList parts;
    if (active > 0)
        parts
            << QStringLiteral("%1 measuring, %2 %").arg(active).arg(qRound(100.0 * done / active));
    if (fresh > 0) parts << QStringLiteral("%1 measured").arg(fresh);
    if (failed > 0) parts << QStringLiteral("%1 failed").arg(failed);
    return parts.join(QStringLiteral(", "));
}

JobList::JobList(QWidget* parent)
    : QFrame(parent, Qt::Popup),
      m_column(new QVBoxLayout),
      m_empty(mutedLabel(QStringLiteral("What takes longer to measure is listed here: it continues "
                                        "while you look at something else."),
                         this)),
      m_clear(new QPushButton(QStringLiteral("Clear"), this)) {
    setFrameShape(QFrame::StyledPanel);
    setAccessibleName(QStringLiteral("Measurements"));
    setFixedWidth(kJobWidth);
    m_empty->setWordWrap(true);
    m_clear->setProperty("compact", true);
    m_clear->setToolTip(QStringLiteral("Remove those that have ended from the list"));
    auto* all = columnOf(this, {12, 8, 12, 8}, 8);
    auto* head = new QHBoxLayout;
    auto* title = new QLabel(QStringLiteral("Measurements"), this);
    title->setFont(titleFont());
    head->addWidget(title, 1);
    head->addWidget(m_clear);
    all->addLayout(head);
    all->addWidget(m_empty);
    m_column->setSpacing(10);
    all->addLayout(m_column);
    connect(m_clear, &QPushButton::clicked, this, &JobList::clearRequested);
    setJobs({});
}

JobList::Row JobList::makeRow(quint64 number) {
    Row row;
    row.widget = new QWidget(this);
    row.title = new ElidedLabel({}, row.widget);
    row.detail = new ElidedLabel({}, row.widget);
    row.detail->setFont(smallFont());
    row.detail->setForegroundRole(QPalette::PlaceholderText);
    row.bar = new QProgressBar(row.widget);
    row.bar->setRange(0, 1000);
    row.bar->setTextVisible(false);
    row.bar->setFixedHeight(4);
    row.bar->setAccessibleName(QStringLiteral("Progress"));
    row.button = new QPushButton(row.widget);
    row.button->setProperty("compact", true);
    auto* line = rowOf(row.widget, {}, 12);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    texts->addWidget(row.title);
    texts->addWidget(row.detail);
    texts->addWidget(row.bar);
    line->addLayout(texts, 1);
    line->addWidget(row.button, 0, Qt::AlignVCenter);
    connect(row.button, &QPushButton::clicked, this, [this, number] {
        const auto state = m_rows.at(number).state;
        if (state == JobItem::State::Done) {
            hide();
            Q_EMIT openRequested(number);
        } else if (state != JobItem::State::Failed) {
            Q_EMIT cancelRequested(number);
        }
    });
    m_column->insertWidget(0, row.widget);
    return row;
}

void JobList::setJobs(const std::vector<JobItem>& jobs) {
    std::set<quint64> listed;
    bool ended = false;
    for (const auto& job : jobs) {
        listed.insert(job.number);
        auto at = m_rows.find(job.number);
        if (at == m_rows.end()) at = m_rows.emplace(job.number, makeRow(job.number)).first;
        auto& row = at->second;
        row.state = job.state;
        row.title->setText(job.title);
        row.detail->setText(job.detail);
        row.detail->setToolTip(plainTip(job.detail));
        row.bar->setVisible(job.state == JobItem::State::Running);
        row.bar->setValue(static_cast<int>(1000.0 * job.fraction));
        row.button->setVisible(job.state != JobItem::State::Failed);
        row.button->setText(isActive(job) ? QStringLiteral("Cancel") : QStringLiteral("Open"));
        row.button->setAccessibleName(row.button->text() + u' ' + job.title);
        ended = ended || !isActive(job);
    }
    for (auto at = m_rows.begin(); at != m_rows.end();) {
        if (listed.contains(at->first)) {
            ++at;
            continue;
        }
        at->second.widget->hide();
        at->second.widget->deleteLater();  // its button may be the sender
        at = m_rows.erase(at);
    }
    m_empty->setVisible(m_rows.empty());
    m_clear->setVisible(ended);
    if (isVisible()) {
        const QPoint corner = geometry().bottomRight();
        adjustSize();
        move(corner - QPoint(width() - 1, height() - 1));
    }
}

QString JobList::text(quint64 number) const {
    const auto& row = m_rows.at(number);
    return row.title->text() + QStringLiteral(": ") + row.detail->text();
}

void JobList::popUp(const QPoint& corner) {
    adjustSize();
    QPoint at = corner - QPoint(width(), height());
    if (const auto* screen = QGuiApplication::screenAt(corner))
        at.setX(std::max(at.x(), screen->availableGeometry().left()));
    move(at);
    show();
    setFocus(Qt::PopupFocusReason);
}

void JobList::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return hide();
    QFrame::keyPressEvent(event);
}

}  // namespace relascope::widgets

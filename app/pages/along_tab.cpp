// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/along_tab.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "app/cli/answer_tables.h"
#include "app/pages/data_progress.h"
#include "app/pages/measure_controls.h"
#include "widgets/measure/along_view.h"
#include "widgets/theme/controls.h"

namespace relascope::app {
namespace {

using Kind = MeasureController::Kind;

std::optional<qint64> stepOf(const MeasuredSubject& subject) {
    bool number = false;
    const qint64 step = QString::fromStdString(subject.which).toLongLong(&number);
    return number ? std::optional(step) : std::nullopt;
}

}  // namespace

AlongTab::AlongTab(MeasureController& controller, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_continue(new QPushButton(QStringLiteral("Continue"), this)),
      m_strip(new JobStrip(this)),
      m_view(new widgets::AlongView(this)) {
    m_continue->setProperty("compact", true);
    m_continue->setToolTip(QStringLiteral("Run the input at the steps that are missing"));
    m_view->csvOf = cli::alongCsv;
    m_view->addControl(m_continue);
    m_strip->follow(m_c.task(Kind::Along));
    auto* column = widgets::columnOf(this);
    column->addWidget(m_strip);
    column->addWidget(m_view, 1);
    m_start.setSingleShot(true);
    m_start.setInterval(150);
    connect(&m_start, &QTimer::timeout, this, &AlongTab::read);
    connect(m_view, &widgets::AlongView::stepChosen, this, &AlongTab::stepChosen);
    connect(m_continue, &QPushButton::clicked, this, &AlongTab::read);
    connect(&m_c.task(Kind::Along), &LongTask::began, this, &AlongTab::updateButton);
    connect(&m_c.task(Kind::Along), &LongTask::ended, this, &AlongTab::updateButton);
    connect(&m_c, &MeasureController::alongRead, this,
            [this](const AlongTraining& along, bool) { showResult(along); });
    connect(&m_c, &MeasureController::refused, this, [this](Kind kind, const QString& sentence) {
        if (kind != Kind::Along) return;
        m_valid = false;
        m_view->clear(sentence);
    });
    subjectChanged(true);
}

void AlongTab::subjectChanged(bool anew) {
    const auto& subject = m_c.subject();
    const std::string which = subject ? subject->which : std::string();
    if (anew) m_valid = m_read = false;
    // A run that trains may have kept more.
    if (which != std::exchange(m_which, which)) m_read = false;
    if (!subject || !subject->sample || !subject->map) {
        m_start.stop();
        return m_view->clear(subject ? QStringLiteral("Choose a sample in the inspector.")
                                     : QStringLiteral("Open a run first."));
    }
    m_view->setCaption(captionOf(*subject));
    m_view->setRunName(subject->name);
    m_view->setCurrent(stepOf(*subject));
    if (m_valid) showResult(m_view->along());
    if (isVisible()) activate();
}

void AlongTab::activate() {
    const auto& subject = m_c.subject();
    if (!subject || !subject->sample || !subject->map || std::exchange(m_read, true)) return;
    m_start.start();
}

// What is there already stays, so that only new steps are run.
void AlongTab::read() {
    if (!m_c.subject() || m_c.task(Kind::Along).busy()) return;
    m_read = true;
    m_c.readAlong(m_valid ? std::optional(m_view->along()) : std::nullopt);
}

// The cell may be another one than when the reading began; the map is the same.
void AlongTab::showResult(AlongTraining along) {
    const auto& subject = m_c.subject();
    if (!subject || !subject->map) return;
    if (!along.chooseCell(*subject->map)) {
        // Of maps stored in blocks there are no single cells.
        m_c.task(Kind::Along).abandon();
        m_valid = m_read = false;
        if (isVisible()) activate();
        return;
    }
    m_valid = true;
    m_view->setCellName(subject->cellName);
    m_view->setAlong(along);
    updateButton();
}

void AlongTab::updateButton() {
    const auto& along = m_view->along();
    const bool busy = m_c.task(Kind::Along).busy();
    m_continue->setVisible(m_valid && !busy &&
                           static_cast<std::int64_t>(along.steps.size()) < along.wanted);
}

}  // namespace relascope::app

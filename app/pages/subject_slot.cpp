// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/subject_slot.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <algorithm>
#include <utility>

#include "app/controllers/controllers.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/far_file_dialog.h"
#include "app/pages/hub_dialog.h"
#include "run/run_folder.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

SubjectSlot::SubjectSlot(const QString& letter, Controllers& controllers, QWidget* parent)
    : QWidget(parent),
      m_letter(letter),
      m_c(controllers),
      m_button(new QPushButton(this)),
      m_menu(new QMenu(this)),
      m_steps(new QComboBox(this)) {
    auto* row = widgets::rowOf(this, {12, 4, 8, 4}, 8);
    auto* name = new QLabel(letter, this);
    name->setFont(widgets::headFont());
    m_button->setFont(widgets::smallFont());
    m_button->setProperty("compact", true);
    m_button->setMenu(m_menu);
    m_button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_button->setAccessibleName(QStringLiteral("Subject %1").arg(letter));
    m_button->setFocusPolicy(Qt::TabFocus);
    m_steps->setFont(widgets::smallFont());
    m_steps->setAccessibleName(QStringLiteral("Step of %1").arg(letter));
    m_steps->setMinimumWidth(96);
    row->addWidget(name);
    row->addWidget(m_button, 1);
    row->addWidget(m_steps);
    connect(m_menu, &QMenu::aboutToShow, this, &SubjectSlot::fillMenu);
    connect(m_steps, &QComboBox::activated, this, [this](int at) {
        if (!m_subject) return;
        const auto step = m_steps->itemData(at);
        Q_EMIT chosen(weightsAt(placeOf(*m_subject),
                                step.isValid() ? std::optional(step.toLongLong()) : std::nullopt,
                                m_subject->edits[0]));
    });
    const auto fill = [this](const QString& path) {
        if (m_subject && placeOf(*m_subject) == path) fillSteps();
    };
    askOnHost = [this](const QString& host) {
        return FarFileDialog::choose(host, FarFileDialog::Choice::Either, {}, window());
    };
    connect(&m_c.runs.records(), &RunRecords::loaded, this, fill);
    connect(&m_c.runs.records(), &RunRecords::capturesChanged, this, fill);
    setSubject(std::nullopt);
}

void SubjectSlot::setSubject(const std::optional<wire::Asked>& subject) {
    m_subject = subject;
    m_button->setText(text());
    m_button->setToolTip(subject ? placeOf(*subject) : QStringLiteral("Choose what is compared"));
    m_button->setAccessibleDescription(text());
    if (subject && core::isRunFolder(subject->subjects[0].path))
        m_c.runs.records().load({placeOf(*subject)});
    fillSteps();
}

QString SubjectSlot::text() const {
    if (!m_subject) return QStringLiteral("Choose...");
    // The box next to the button shows the step.
    return titleOf(weightsAt(placeOf(*m_subject), std::nullopt, m_subject->edits[0]));
}

void SubjectSlot::fillSteps() {
    m_steps->clear();
    const bool run = m_subject && core::isRunFolder(m_subject->subjects[0].path);
    m_steps->setVisible(run);
    if (!run) return;
    m_steps->addItem(QStringLiteral("newest"));
    auto kept = m_c.runs.records().kept(placeOf(*m_subject));
    const auto chosen = stepOf(*m_subject);
    if (chosen && !std::binary_search(kept.begin(), kept.end(), *chosen)) {
        kept.push_back(*chosen);
        std::sort(kept.begin(), kept.end());
    }
    for (const auto step : kept)
        m_steps->addItem(QStringLiteral("step %1").arg(widgets::groupedNumber(step)),
                         static_cast<qlonglong>(step));
    if (chosen) m_steps->setCurrentIndex(m_steps->findData(static_cast<qlonglong>(*chosen)));
}

void SubjectSlot::fillMenu() {
    m_menu->clear();
    m_menu->addAction(QStringLiteral("What the Workbench shows"), this,
                      &SubjectSlot::workbenchChosen);
    m_menu->addAction(QStringLiteral("Exchange A and B"), this, &SubjectSlot::otherSideChosen);
    m_menu->addAction(QStringLiteral("Read it again"), this, &SubjectSlot::againChosen)
        ->setEnabled(m_subject.has_value());
    m_menu->addSeparator();
    for (const auto& row : m_c.runs.rows()) {
        const QString path = QString::fromStdString(row.info.path);
        const QString name = m_c.runs.name(path);
        const QString title =
            row.host.isEmpty() ? name : QStringLiteral("%1 \u00B7 %2").arg(row.host, name);
        auto* action = m_menu->addAction(
            title, this, [this, path] { Q_EMIT chosen(weightsAt(path, std::nullopt)); });
        action->setToolTip(m_c.runs.whyNoModel(path));
        action->setEnabled(!row.info.recorded);
    }
    m_menu->addSeparator();
    for (const QString& host : m_c.hosts.usable())
        m_menu->addAction(QStringLiteral("Open on %1...").arg(host), this, [this, host] {
            if (const QString path = askOnHost(host); !path.isEmpty()) Q_EMIT farChosen(path);
        });
    const auto open = [this](const QString& text, std::function<QString()> ask) {
        m_menu->addAction(text, this, [this, ask = std::move(ask)] {
            const QString path = ask();
            if (!path.isEmpty()) Q_EMIT chosen(weightsAt(path, std::nullopt));
        });
    };
    const QString title = QStringLiteral("Subject %1").arg(m_letter);
    open(QStringLiteral("Open a run or a checkpoint..."),
         [this, title] { return CheckpointPage::chooseWeights(this, title, {}); });
    open(QStringLiteral("Open a model of the hub..."), [this] {
        HubDialog dialog(m_c.checkpoint.hub(), window());
        return dialog.exec() == QDialog::Accepted ? dialog.path() : QString();
    });
}

void SubjectSlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), widgets::Theme::current().panel);
}

}  // namespace relascope::app

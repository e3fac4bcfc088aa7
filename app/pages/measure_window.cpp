// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/measure_window.h"

#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include "app/controllers/measure_controller.h"
#include "app/pages/ablation_tab.h"
#include "app/pages/along_tab.h"
#include "app/pages/answer_tabs.h"
#include "app/pages/measure_controls.h"
#include "app/pages/patching_tab.h"
#include "edit/edit_words.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

MeasureWindow::MeasureWindow(QWidget* parent)
    : QWidget(parent, Qt::Window),
      m_c(std::make_unique<MeasureController>()),
      m_head(new widgets::PanelHead({}, this)),
      m_note(widgets::mutedLabel(QStringLiteral("With the edits of the inspector"), this)),
      m_tabs(new QTabBar(this)),
      m_pages(new QStackedWidget(this)),
      m_ablation(new AblationTab(*m_c, this)),
      m_patching(new PatchingTab(*m_c, this)),
      m_lens(new LensTab(*m_c, this)),
      m_attribution(new AttributionTab(*m_c, this)),
      m_along(new AlongTab(*m_c, this)) {
    setWindowTitle(QStringLiteral("Measure"));
    setAccessibleName(QStringLiteral("Measure"));
    resize(1240, 780);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(QStringLiteral("Measurements"));
    const std::pair<const char*, QWidget*> pages[] = {{"Ablation", m_ablation},
                                                      {"Patching", m_patching},
                                                      {"Logit lens", m_lens},
                                                      {"Attribution", m_attribution},
                                                      {"Along training", m_along}};
    for (const auto& [title, page] : pages) {
        m_tabs->addTab(QString::fromLatin1(title));
        m_pages->addWidget(page);
    }
    m_head->setLineBelow(false);
    m_head->addControl(m_note);
    auto* tabs = new widgets::Box(&widgets::Theme::panel, false, this);
    widgets::rowOf(tabs, {8, 0, 8, 0})->addWidget(m_tabs);
    static_cast<QHBoxLayout*>(tabs->layout())->addStretch(1);
    auto* column = widgets::columnOf(this);
    column->addWidget(m_head);
    column->addWidget(tabs);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_pages, 1);
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int at) {
        m_pages->setCurrentIndex(at);
        activate();
    });
    connect(m_ablation, &AblationTab::editRequested, this, &MeasureWindow::editRequested);
    connect(m_lens, &LensTab::positionChosen, m_attribution, &AttributionTab::setPosition);
    connect(m_along, &AlongTab::stepChosen, this, &MeasureWindow::stepRequested);
    setSubject(std::nullopt);
}

MeasureWindow::~MeasureWindow() = default;

void MeasureWindow::setSubject(std::optional<MeasuredSubject> subject) {
    m_head->setTitle(subject ? subject->name : QStringLiteral("Nothing to measure"));
    m_head->setSubText(subject ? subject->sampleName : QString());
    setProperty(widgets::kFigureSubject, subject ? subject->name : QString());
    const auto change = m_c->setSubject(std::move(subject));
    if (change.weights)
        m_ablation->subjectChanged();
    else if (change.edits)
        m_ablation->editsChanged();
    if (change.sample) m_patching->subjectChanged();
    if (change.edits) {
        m_lens->subjectChanged();
        m_attribution->subjectChanged();
    }
    m_along->subjectChanged(change.along);
    showNote();
    if (isVisible()) activate();
}

void MeasureWindow::showNote() {
    const auto& subject = m_c->subject();
    m_note->setVisible(subject && subject->edits.anyEnabled());
    if (!m_note->isHidden())
        m_note->setToolTip(QString::fromStdString(core::wordsOf(subject->edits)));
}

void MeasureWindow::setSecond(ProbeSample sample, const QString& name) {
    m_patching->setSecond(std::move(sample), name);
}

void MeasureWindow::showTab(Tab tab) {
    m_tabs->setCurrentIndex(static_cast<int>(tab));
    show();
    raise();
    activateWindow();
}
MeasureWindow::Tab MeasureWindow::tab() const {
    return static_cast<Tab>(m_tabs->currentIndex());
}

// What a tab shows is computed when it is first seen.
void MeasureWindow::activate() {
    if (!isVisible()) return;
    switch (tab()) {
        case Tab::Ablation:
            return m_ablation->activate();
        case Tab::Patching:
            return;
        case Tab::Lens:
            return m_lens->activate();
        case Tab::Attribution:
            return m_attribution->activate();
        case Tab::Along:
            return m_along->activate();
    }
}

void MeasureWindow::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    activate();
}

void MeasureWindow::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), widgets::Theme::current().panel);
}

void MeasureWindow::keyPressEvent(QKeyEvent* event) {
    const bool control = event->modifiers() & Qt::ControlModifier;
    if (event->key() == Qt::Key_Escape) return hide();
    // As between the pages of the main window.
    if (control && event->key() >= Qt::Key_1 && event->key() <= Qt::Key_5)
        return m_tabs->setCurrentIndex(event->key() - Qt::Key_1);
    QWidget::keyPressEvent(event);
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include "app/controllers/measure_controller.h"
#include "app/pages/ablation_tab.h"
#include "app/pages/answer_tabs.h"
#include "app/pages/measure_window.h"
#include "app/pages/patching_tab.h"
#include "interventions/edit_words.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

ControlRow::ControlRow(QWidget* parent)
    : Box(&widgets::Theme::panel, false, parent), m_row(widgets::rowOf(this, {16, 4, 16, 4}, 8)) {}

void ControlRow::add(const QString& label, QWidget* control) {
    auto* text = widgets::mutedLabel(label, this);
    text->setBuddy(control);
    if (control->accessibleName().isEmpty()) control->setAccessibleName(label);
    m_row->addWidget(text);
    m_row->addWidget(control);
}
void ControlRow::add(QWidget* control) {
    m_row->addWidget(control);
}
void ControlRow::addGap() {
    m_row->addSpacing(12);
}
void ControlRow::addRight(QWidget* control) {
    if (!std::exchange(m_stretched, true)) m_row->addStretch(1);
    m_row->addWidget(control);
}

QComboBox* choiceBox(const QString& name, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setFont(widgets::smallFont());
    box->setAccessibleName(name);
    box->setMinimumWidth(110);
    return box;
}

QSpinBox* numberBox(const QString& name, int low, int high, QWidget* parent) {
    auto* box = new QSpinBox(parent);
    box->setFont(widgets::smallFont());
    box->setAccessibleName(name);
    box->setRange(low, high);
    box->setGroupSeparatorShown(true);
    return box;
}

void fillSplits(QComboBox& box, const MeasuredSubject* subject) {
    const QString before = box.count() > 0 ? box.currentText() : QStringLiteral("validation");
    box.clear();
    if (subject && subject->splits)
        for (const auto& name : subject->splits->names())
            if (subject->splits->find(name)) box.addItem(QString::fromStdString(name));
    box.setEnabled(box.count() > 0);
    box.setCurrentIndex(std::max(0, box.findText(before)));
}

QString captionOf(const MeasuredSubject& subject) {
    QStringList parts{subject.name};
    if (!subject.sampleName.isEmpty()) parts << subject.sampleName;
    return parts.join(QStringLiteral(", ")) + editedText(subject);
}

QString editedText(const MeasuredSubject& subject) {
    if (!subject.edits.anyEnabled()) return {};
    return QStringLiteral(", edited: ") + QString::fromStdString(core::wordsOf(subject.edits));
}

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
      m_along(new AlongTab(*m_c, this)),
      m_heads(new HeadsTab(*m_c, this)) {
    setWindowTitle(QStringLiteral("Measure"));
    setAccessibleName(QStringLiteral("Measure"));
    resize(1240, 780);
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setFocusPolicy(Qt::TabFocus);
    m_tabs->setAccessibleName(QStringLiteral("Measurements"));
    const std::pair<const char*, QWidget*> pages[] = {
        {"Ablation", m_ablation},       {"Patching", m_patching},    {"Logit lens", m_lens},
        {"Attribution", m_attribution}, {"Along training", m_along}, {"Head measures", m_heads}};
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
    connect(m_heads, &HeadsTab::headChosen, this, &MeasureWindow::mapRequested);
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
        m_heads->subjectChanged();
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
        case Tab::Heads:
            return m_heads->activate();
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
    if (control && event->key() >= Qt::Key_1 && event->key() <= Qt::Key_6)
        return m_tabs->setCurrentIndex(event->key() - Qt::Key_1);
    QWidget::keyPressEvent(event);
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/measure_controls.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSpinBox>

#include "app/controllers/measured_subject.h"
#include "edit/edit_words.h"
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

}  // namespace relascope::app

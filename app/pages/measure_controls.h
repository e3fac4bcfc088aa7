// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of controls above the views of the window Measure; private to its tabs.
#pragma once

#include <QString>
#include <QWidget>

#include "widgets/theme/controls.h"

class QComboBox;
class QHBoxLayout;
class QSpinBox;

namespace relascope::app {

struct MeasuredSubject;

/// A row of labelled controls, left-aligned.
class ControlRow : public widgets::Box {
public:
    explicit ControlRow(QWidget* parent);
    /// A control after a muted label, which becomes its accessible name unless it has one.
    void add(const QString& label, QWidget* control);
    void add(QWidget* control);
    void addGap();
    void addRight(QWidget* control);

private:
    QHBoxLayout* m_row;
    bool m_stretched = false;
};

QComboBox* choiceBox(const QString& name, QWidget* parent);
QSpinBox* numberBox(const QString& name, int low, int high, QWidget* parent);
/// Fills the list with the splits of the subject's data and keeps the choice; validation is the
/// first choice.
void fillSplits(QComboBox& box, const MeasuredSubject* subject);
/// ", edited: layer 2 relation 3 zero"; empty without enabled edits.
QString editedText(const MeasuredSubject& subject);
/// "occurs, step 500, validation 12", with the edits.
QString captionOf(const MeasuredSubject& subject);

}  // namespace relascope::app

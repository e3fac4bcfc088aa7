// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled controls in as many rows as they need.
#pragma once

#include <QWidget>

class QComboBox;
class QHBoxLayout;
class QLayout;
class QSpinBox;

namespace relascope::app {

QComboBox* choiceBox(const QString& name, QWidget* parent);
/// A box of whole numbers, at most those of an int.
QSpinBox* numberBox(const QString& name, double low, double high, QWidget* parent);

class ControlRow : public QWidget {
public:
    explicit ControlRow(QWidget* parent);
    /// Adds a control after a muted label, which becomes its accessible name unless it has one.
    void add(const QString& label, QWidget* control);
    /// Adds a control beside the one before; after addGap() it begins a new group.
    void add(QWidget* control);
    void addGap() { m_group = nullptr; }

private:
    QLayout* m_all;
    QHBoxLayout* m_group = nullptr;
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
// One of the two subjects at the top of the page Duel.
#pragma once

#include <functional>
#include <optional>

#include <QString>
#include <QWidget>

#include "app/controllers/duel_probes.h"

class QComboBox;
class QMenu;
class QPushButton;

namespace relascope::app {

class Controllers;

/// "A" or "B": what it is, a menu to choose another, and its steps.
class SubjectSlot : public QWidget {
    Q_OBJECT
public:
    SubjectSlot(const QString& letter, Controllers& controllers, QWidget* parent);
    void setSubject(const std::optional<DuelSubject>& subject);
    QString text() const;
    /// Fills itself when it is opened.
    QMenu* menu() const { return m_menu; }
    QComboBox* steps() const { return m_steps; }

    /// The path of a run or checkpoint on that machine, in its mirror; empty when the question was
    /// cancelled. Replaced in tests.
    std::function<QString(const QString& host)> askOnHost;

Q_SIGNALS:
    void chosen(const std::optional<relascope::app::DuelSubject>& subject);
    void farChosen(const QString& path);  ///< by askOnHost
    void workbenchChosen();
    void otherSideChosen();
    void againChosen();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void fillMenu();
    void fillSteps();

    QString m_letter;
    Controllers& m_c;
    std::optional<DuelSubject> m_subject;
    QPushButton* m_button;
    QMenu* m_menu;
    QComboBox* m_steps;
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
// One of the two subjects at the top of the page Duel.
#pragma once

#include <functional>
#include <optional>

#include <QString>
#include <QWidget>

#include "app/controllers/duel_feeds.h"

class QComboBox;
class QMenu;
class QPushButton;

namespace relascope::app {

class Controllers;

/// Shows the subject "A" or "B", with a menu to choose another one and a list of its steps.
class SubjectSlot : public QWidget {
    Q_OBJECT
public:
    SubjectSlot(const QString& letter, Controllers& controllers, QWidget* parent);
    void setSubject(const std::optional<wire::Asked>& subject);
    QString text() const;
    /// The menu of subjects, which is filled when it is opened.
    QMenu* menu() const { return m_menu; }
    QComboBox* steps() const { return m_steps; }

    /// Asks for a run or checkpoint on a machine. Returns its path in the mirror; empty if the user
    /// cancels. Replaced in tests.
    std::function<QString(const QString& host)> askOnHost;

Q_SIGNALS:
    void chosen(const std::optional<relascope::wire::Asked>& subject);
    void farChosen(const QString& path);  ///< path chosen by askOnHost
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
    std::optional<wire::Asked> m_subject;
    QPushButton* m_button;
    QMenu* m_menu;
    QComboBox* m_steps;
};

}  // namespace relascope::app

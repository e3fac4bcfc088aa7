// SPDX-License-Identifier: GPL-3.0-or-later
// Editing with the mouse and the keyboard in one inspector: its menus, the dragging of a cell, and
// the commands of the menu bar.
#pragma once

#include <QObject>
#include <QPoint>
#include <functional>
#include <optional>
#include <utility>

#include "app/controllers/inspector_edits.h"

class QLabel;
class QMenu;
class QPushButton;

namespace relascope::widgets {
class RelationInspector;
}  // namespace relascope::widgets

namespace relascope::app {

class InspectorEditing : public QObject {
    Q_OBJECT
public:
    /// Smallest change of a relation's value per pixel of a drag; maps with a larger range change
    /// faster.
    static constexpr double kDragStep = 0.02;

    InspectorEditing(widgets::RelationInspector& inspector, InspectorEdits& edits,
                     QObject* parent = nullptr);

    InspectorEdits& edits() { return m_edits; }
    widgets::RelationInspector& inspector() { return m_inspector; }

    // Actions on the chosen map and cell
    void knockOut() { m_edits.knockOut(chosenMap()); }
    void onlyThis() { m_edits.onlyThis(chosenMap()); }
    /// Changes the value of the chosen cell of a relation.
    void changeCell(double by);
    /// Gives the relation of i and j the value that i has with itself, as if j were i.
    void makeSame();
    /// Why makeSame() can do nothing; empty: it can.
    QString sameDisabledReason() const;
    core::MapPlace chosenMap() const;

    /// Fills the menu of the chosen map, of a cell, or of an object.
    void fillMapMenu(QMenu& menu);
    void fillCellMenu(QMenu& menu, int i, int j);
    void fillObjectMenu(QMenu& menu, int object);

    /// Asks for a number; nothing if the user cancels. Replaced in tests.
    std::function<std::optional<double>(const QString& title, const QString& label, double value)>
        askNumber;
    /// Shows a menu; replaced in tests.
    std::function<void(QMenu& menu, const QPoint& at)> showMenu;

Q_SIGNALS:
    /// The user wants to patch a position from the second input, but none has been set.
    void secondWanted();
    /// The user asks where the value of the chosen cell comes from.
    void whyWanted();
    /// The user asks what can be measured; a menu belongs at `at`, on the screen.
    void measureWanted(const QPoint& at);

private:
    void addButtons();
    void showButtons();
    /// The chosen cell as (row, column) of the stored map.
    std::pair<int, int> chosenCell() const;
    void dragCell(int i, int j, int up);
    void popUp(const QPoint& at, const std::function<void(QMenu&)>& fill);
    /// The current value of a cell of the chosen map; 0 if the map has no such cell.
    double cellValue(int i, int j) const;

    widgets::RelationInspector& m_inspector;
    InspectorEdits& m_edits;
    double m_dragFrom = 0.0, m_dragStep = kDragStep;
    core::MapPlace m_dragMap;
    // Below the map.
    QPushButton *m_same, *m_out, *m_why, *m_measure, *m_undo;
    QLabel* m_answer;
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/edits_tab.h"
#include "app/inspector_editing.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "widgets/inspector/relation_inspector.h"

namespace relascope::app {

EditsMenu::EditsMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    const auto editing = [this]() -> InspectorEditing& { return m_window.edits().editing(); };
    add("List of edits", QKeySequence(Qt::Key_E), "Show the edits beside the options",
        [this] { m_window.edits().show(); });
    m_menu->addSeparator();
    m_map << add("Knock out this map", QKeySequence(Qt::Key_X),
                 "Take the chosen map out; again to return it",
                 [editing] { editing().knockOut(); });
    m_map << add("Only this map", QKeySequence("Shift+X"),
                 "Take all other maps of its kind in the layer out; again to return them",
                 [editing] { editing().onlyThis(); });
    const auto change = [&](const QString& text, const char* key, double by) {
        m_map << add(text, QKeySequence(key),
                     QString("Change the value of the chosen cell by %1").arg(by),
                     [editing, by] { editing().changeCell(by); });
    };
    change(QString::fromUtf8("Raise r_ij by 0.1"), "Alt+Up", 0.1);
    change(QString::fromUtf8("Lower r_ij by 0.1"), "Alt+Down", -0.1);
    change(QString::fromUtf8("Raise r_ij by 1"), "Alt+Shift+Up", 1.0);
    change(QString::fromUtf8("Lower r_ij by 1"), "Alt+Shift+Down", -1.0);
    m_menu->addSeparator();
    m_shown = add("After, before or difference", QKeySequence(Qt::Key_B),
                  "Show the maps with the edits, without them, or the change",
                  [this] { m_window.activeInspector()->cycleShown(); });
    m_second = add("Use this input as the second one", {},
                   "Keep the input that is inspected as B: positions are patched from it, and "
                   "patching maps compare with it",
                   [this] { m_window.edits().useAsSecond(); });
    m_menu->addSeparator();
    const char* const views[] = {"Ablation table...", "Patching maps...", "Logit lens...",
                                 "Direct attribution...", "Along training..."};
    const char* const helps[] = {"Take every part of the model out, one after another",
                                 "What a second input changes, part by part",
                                 "What the stream would answer after each layer",
                                 "What each part adds to an answer",
                                 "The chosen map and cell at every kept step"};
    for (int k = 0; k < 5; ++k)
        m_measure << add(views[k], {}, helps[k], [this, k] { m_window.edits().measure(k); });
    m_menu->addSeparator();
    m_open = add("Open edits...", {}, "Open a file of edits", [this] { m_window.edits().open(); });
    m_lists << add("Save edits...", QKeySequence("Ctrl+Shift+E"),
                   "Save the list as a file of edits", [this] { m_window.edits().save(); });
    m_lists << add("Remove all edits", {}, "Empty the list of edits",
                   [editing] { editing().edits().clear(); });
    for (auto* edits : {&m_c.runEdits, &m_c.checkpointEdits}) {
        connect(edits, &InspectorEdits::changed, this, &EditsMenu::refresh);
        connect(edits, &InspectorEdits::stateChanged, this, &EditsMenu::refresh);
    }
}

void EditsMenu::refresh() {
    const auto& edits = m_window.edits().editing().edits();
    const QString nothing = m_window.inspectDisabledReason();
    const QString why = nothing.isEmpty() ? edits.disabledReason() : nothing;
    for (auto* action : m_map) allow(action, why);
    allow(m_open, why);
    allow(m_second, why);
    for (auto* action : m_measure) allow(action, nothing);
    for (auto* action : m_lists)
        allow(action, edits.list().edits.empty() ? "The list of edits is empty" : QString());
    allow(m_shown, nothing);  // of a pinned picture, too
}

}  // namespace relascope::app

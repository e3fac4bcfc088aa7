// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QTextEdit>

#include "app/about.h"
#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/rail.h"
#include "widgets/theme/controls.h"

namespace relascope::app {
namespace {

/// The focused text field of Qt, or null.
QWidget* focusedText() {
    QWidget* field = QApplication::focusWidget();
    if (auto* spin = qobject_cast<QAbstractSpinBox*>(field)) field = spin->findChild<QLineEdit*>();
    return qobject_cast<QLineEdit*>(field) || qobject_cast<QPlainTextEdit*>(field) ||
                   qobject_cast<QTextEdit*>(field)
               ? field
               : nullptr;
}

/// Whether the field can undo (or redo) typing.
bool canUndoText(QWidget* field, bool redo) {
    if (auto* line = qobject_cast<QLineEdit*>(field))
        return redo ? line->isRedoAvailable() : line->isUndoAvailable();
    const QTextDocument* document = nullptr;
    if (auto* plain = qobject_cast<QPlainTextEdit*>(field)) document = plain->document();
    if (auto* rich = qobject_cast<QTextEdit*>(field)) document = rich->document();
    return document && (redo ? document->isRedoAvailable() : document->isUndoAvailable());
}

}  // namespace

EditMenu::EditMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    m_undo = add("Undo", QKeySequence("Ctrl+Z"), "Undo the last change of the options or the runs",
                 [this] { undo(false); });
    m_redo = add("Redo", QKeySequence("Ctrl+Shift+Z"), "Redo the change that was undone",
                 [this] { undo(true); });
    m_menu->addSeparator();
    const auto text = [this](const QString& name, QKeySequence::StandardKey key,
                             const QString& help, const char* slot) {
        m_text << add(name, key, help, [slot] {
            if (QWidget* field = focusedText()) QMetaObject::invokeMethod(field, slot);
        });
    };
    text("Cut", QKeySequence::Cut, "Cut the selected text of the field", "cut");
    text("Copy", QKeySequence::Copy, "Copy the selected text of the field", "copy");
    text("Paste", QKeySequence::Paste, "Paste text into the field", "paste");
    m_menu->addSeparator();
    m_inspect << add("Copy numbers", QKeySequence("Ctrl+Shift+C"),
                     "Copy the values of the selected cell",
                     [this] { copyText(m_window.activeInspector()->choice().footer()); });
    m_inspect << add("Copy map as table", {}, "Copy the values of the map as comma-separated text",
                     [this] { copyText(m_window.activeInspector()->choice().csv()); });
    m_menu->addSeparator();
    m_reset = add("Reset options", {}, "Reset all options to the preset",
                  [this] { m_c.experiment.reset(); });
    m_menu->addSeparator();
    add("Find experiment or run", QKeySequence("Ctrl+Shift+F"), "Filter the experiments and runs",
        [this] {
            m_window.rail()->show();
            m_window.rail()->searchField()->setFocus(Qt::ShortcutFocusReason);
        });
    connect(&m_c.history, &UndoHistory::changed, this, &EditMenu::refreshText);
    connect(qApp, &QApplication::focusChanged, this, &EditMenu::refreshText);
}

void EditMenu::undo(bool redo) {
    if (QWidget* field = focusedText(); canUndoText(field, redo)) {
        QMetaObject::invokeMethod(field, redo ? "redo" : "undo");
        return;
    }
    auto& history = m_c.history;
    const QString what = redo ? history.redoText() : history.undoText();
    if (what.isEmpty()) return;
    // Reported first: a step that fails reports its own error.
    m_c.messages.info(QString(redo ? "Redone: %1" : "Undone: %1").arg(what));
    redo ? history.redo() : history.undo();
}

void EditMenu::refreshText() {
    QWidget* field = focusedText();
    const auto& history = m_c.history;
    const auto show = [&](QAction* action, bool redo, const QString& verb, const QString& what,
                          bool any) {
        const bool text = canUndoText(field, redo);
        action->setText(text ? verb + " Typing" : what.isEmpty() ? verb : verb + u' ' + what);
        allow(action, text || any ? QString() : redo ? "Nothing to redo" : "Nothing to undo");
    };
    show(m_undo, false, "Undo", history.undoText(), history.canUndo());
    show(m_redo, true, "Redo", history.redoText(), history.canRedo());
    for (auto* action : m_text) allow(action, field ? QString() : "Click into a text field first");
}

void EditMenu::refresh() {
    refreshText();
    for (auto* action : m_inspect) allow(action, m_window.inspectDisabledReason());
    allow(m_reset, m_c.experiment.hasOptions() && !m_c.experiment.live()
                       ? QString()
                       : "The options of a running run cannot be reset");
}

}  // namespace relascope::app

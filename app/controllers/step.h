// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of the undo stack: edits of the options and of the model, and actions on runs.
#pragma once

#include <functional>
#include <utility>

#include <QString>
#include <QUndoCommand>
#include <QUndoStack>

namespace relascope::app {

class Step : public QUndoCommand {
public:
    /// A step that has been done. `text`: "Change Epochs", appended to "Undo" and "Redo".
    /// `mergeKey`: successive steps with the same one become one, unless QUndoStack::setClean() was
    /// called between them; empty: never. `holds` returns false while the step belongs to something
    /// that is not shown, and is skipped; empty: always true.
    Step(const QString& text, std::function<void()> undo, std::function<void()> redo,
         QString mergeKey = {}, std::function<bool()> holds = {})
        : QUndoCommand(text),
          m_undo(std::move(undo)),
          m_redo(std::move(redo)),
          m_mergeKey(std::move(mergeKey)),
          m_holds(std::move(holds)) {}

    bool holds() const { return !m_holds || m_holds(); }
    void undo() override {
        if (holds()) m_undo();
    }
    void redo() override {
        // QUndoStack::push() calls it, too.
        if (std::exchange(m_pushed, true) && holds()) m_redo();
    }
    int id() const override { return m_mergeKey.isEmpty() ? -1 : 1; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* later = static_cast<const Step*>(other);
        if (later->m_mergeKey != m_mergeKey || !holds()) return false;
        m_redo = later->m_redo;
        m_holds = later->m_holds;
        return true;
    }

private:
    std::function<void()> m_undo, m_redo;
    QString m_mergeKey;
    std::function<bool()> m_holds;
    bool m_pushed = false;
};

/// The index of the step that takeStep() takes; -1: there is none. Those that do not hold are
/// skipped, and stay, as they may hold again.
inline int nextStep(const QUndoStack& steps, bool redo) {
    int at = redo ? steps.index() : steps.index() - 1;
    while (at >= 0 && at < steps.count() && !static_cast<const Step*>(steps.command(at))->holds())
        at += redo ? 1 : -1;
    return at < steps.count() ? at : -1;
}

/// Undoes or redoes the next step that holds. Later ones are not merged with those before.
inline void takeStep(QUndoStack& steps, bool redo) {
    if (const int at = nextStep(steps, redo); at >= 0) steps.setIndex(redo ? at + 1 : at);
    steps.setClean();
}

}  // namespace relascope::app

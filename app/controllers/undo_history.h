// SPDX-License-Identifier: GPL-3.0-or-later
// The undo stack: edits of the options and actions on runs.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <functional>

namespace relascope::app {

class UndoHistory : public QObject {
    Q_OBJECT
public:
    struct Step {
        QString text;  ///< "Change Epochs", appended to "Undo" and "Redo"
        std::function<void()> undo, redo;
        /// Successive steps with the same key are merged; empty: never.
        QString mergeKey = {};
        /// Returns false if the step is obsolete and must be skipped. Empty: always true.
        std::function<bool()> holds = {};
    };

    explicit UndoHistory(QObject* parent = nullptr);

    /// Pushes a step that has been done already.
    void push(Step step);
    /// Prevents the next step from being merged with the last one.
    void seal() { m_sealed = true; }

    bool canUndo() const { return next(-1) >= 0; }
    bool canRedo() const { return next(+1) >= 0; }
    QString undoText() const;
    QString redoText() const;

public Q_SLOTS:
    void undo();
    void redo();

Q_SIGNALS:
    void changed();

private:
    /// Index of the command that is undone (-1) or redone (+1) next; -1: none.
    int next(int direction) const;

    QUndoStack m_stack;
    bool m_sealed = false;
};

}  // namespace relascope::app

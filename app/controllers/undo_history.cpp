// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/undo_history.h"

#include <QUndoCommand>

namespace relascope::app {
namespace {

constexpr int kMergeId = 1;  // QUndoStack asks mergeWith of commands with the same id only

class HistoryCommand : public QUndoCommand {
public:
    HistoryCommand(UndoHistory::Step step, bool mergeable)
        : QUndoCommand(step.text), m_step(std::move(step)), m_mergeable(mergeable) {}

    bool holds() const { return !m_step.holds || m_step.holds(); }
    void undo() override {
        if (holds()) m_step.undo();
    }
    void redo() override {
        // QUndoStack calls it when the command is pushed, after the action was done.
        if (std::exchange(m_pushed, true) && holds()) m_step.redo();
    }
    int id() const override { return m_step.mergeKey.isEmpty() ? -1 : kMergeId; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* later = static_cast<const HistoryCommand*>(other);
        if (!later->m_mergeable || later->m_step.mergeKey != m_step.mergeKey || !holds())
            return false;
        m_step.redo = later->m_step.redo;
        m_step.holds = later->m_step.holds;
        return true;
    }

private:
    UndoHistory::Step m_step;
    bool m_mergeable, m_pushed = false;
};

const HistoryCommand* commandAt(const QUndoStack& stack, int index) {
    return static_cast<const HistoryCommand*>(stack.command(index));
}

}  // namespace

UndoHistory::UndoHistory(QObject* parent) : QObject(parent) {
    m_stack.setUndoLimit(200);
    connect(&m_stack, &QUndoStack::indexChanged, this, &UndoHistory::changed);
}

void UndoHistory::push(Step step) {
    m_stack.push(new HistoryCommand(std::move(step), !std::exchange(m_sealed, false)));
    Q_EMIT changed();
}

int UndoHistory::next(int direction) const {
    for (int i = direction < 0 ? m_stack.index() - 1 : m_stack.index();
         i >= 0 && i < m_stack.count(); i += direction)
        if (commandAt(m_stack, i)->holds()) return i;
    return -1;
}

QString UndoHistory::undoText() const {
    const int at = next(-1);
    return at < 0 ? QString() : m_stack.text(at);
}
QString UndoHistory::redoText() const {
    const int at = next(+1);
    return at < 0 ? QString() : m_stack.text(at);
}

void UndoHistory::undo() {
    m_sealed = true;
    if (const int at = next(-1); at >= 0) m_stack.setIndex(at);
}
void UndoHistory::redo() {
    m_sealed = true;
    if (const int at = next(+1); at >= 0) m_stack.setIndex(at + 1);
}

}  // namespace relascope::app

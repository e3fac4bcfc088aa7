// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/wiring.h"

namespace relascope::app {

RunMenu::RunMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    m_toggle = add("Start", QKeySequence(Qt::Key_Space), "Start or pause",
                   [this] { toggleTraining(m_c); });
    m_step = add("One step", QKeySequence(Qt::Key_N), "One optimizer step while paused",
                 [this] { m_c.training.step(); });
    m_stop = add("Stop", {}, "Stop after this epoch", [this] {
        if (m_c.training.ending())
            m_c.training.cancel();
        else
            m_c.training.stop();
    });
    m_cancel = add("Cancel", {}, "Stop immediately, after saving a checkpoint",
                   [this] { m_c.training.cancel(); });
    m_menu->addSeparator();
    QMenu* exports = nullptr;
    for (const auto& entry : m_window.runActions().entries({})) {
        const bool isExport = RunActions::isExport(entry.kind);
        if (isExport && !exports) exports = m_menu->addMenu("Export");
        const auto perform = [this, kind = entry.kind] {
            m_window.runActions().perform(kind, runsFor(kind));
        };
        m_ofRun.push_back(add(entry.text, {}, entry.help, perform, isExport ? exports : nullptr));
    }
    m_menu->addSeparator();
    add("Reload runs", QKeySequence::Refresh, "Read the runs folder again and show hidden runs",
        [this] { m_c.runs.reload(); });
    m_hidden = add("Show hidden runs", {}, "List hidden runs as well",
                   [this] { m_c.runs.setShowHidden(!m_c.runs.showsHidden()); });
    m_hidden->setCheckable(true);
}

void RunMenu::refresh() {
    const bool running = m_c.training.running(), paused = m_c.training.paused(),
               busy = m_c.training.busy();
    const QString nothing = "No run is training";
    m_toggle->setText(running ? "Pause" : paused || m_c.experiment.resumes() ? "Resume" : "Start");
    const bool waits = m_c.training.preparing() || m_c.training.endingNow();
    allow(m_toggle, !busy   ? m_c.experiment.disabledReason()
                    : waits ? "Wait until the run has started or ended"
                            : QString());
    allow(m_step, paused ? QString() : "Available while the run is paused");
    const QString saving = "The run is saving a checkpoint";
    const bool now = m_c.training.endingNow();
    m_stop->setText(m_c.training.ending() && !now ? "Stop now" : "Stop");
    allow(m_stop, now ? saving : running || paused ? QString() : nothing);
    allow(m_cancel, now ? saving : busy ? QString() : nothing);
    const auto& actions = m_window.runActions();
    const auto ofOne = actions.entries(runsFor(RunActions::Kind::Rename));
    const auto ofAll = actions.entries(runsFor(RunActions::Kind::ExportTensorBoard));
    for (std::size_t i = 0; i < ofOne.size(); ++i) {
        const bool all = ofOne[i].kind == RunActions::Kind::ExportTensorBoard;
        const auto& entry = all ? ofAll[i] : ofOne[i];
        m_ofRun[i]->setText(entry.text);
        allow(m_ofRun[i], entry.reason);
    }
    m_hidden->setChecked(m_c.runs.showsHidden());
    allow(m_hidden, m_c.runs.hiddenRuns() > 0 ? QString() : "No run is hidden");
}

// TensorBoard takes all selected runs; what else the menu does is done to the current one.
QStringList RunMenu::runsFor(RunActions::Kind kind) const {
    QStringList selected = m_c.selection.runs();
    const QString current = m_c.selection.current();
    if (kind == RunActions::Kind::ExportTensorBoard && selected.size() > 1) return selected;
    return current.isEmpty() ? QStringList() : QStringList{current};
}

}  // namespace relascope::app

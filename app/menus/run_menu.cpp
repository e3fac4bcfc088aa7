// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/pages/hosts_dialog.h"
#include "app/wiring.h"

namespace relascope::app {

void Menus::addRun() {
    const auto& training = m_c.training;
    named(
        add(
            "Start", QKeySequence(Qt::Key_Space), "Start or pause", [this] { toggleTraining(m_c); },
            [this, &training] {
                const bool waits = training.preparing() || training.endingNow();
                return !training.busy() ? m_c.experiment.disabledReason()
                       : waits          ? "Wait until the run has started or ended"
                                        : QString();
            }),
        [this, &training] {
            return training.running()                              ? "Pause"
                   : training.paused() || m_c.experiment.resumes() ? "Resume"
                                                                   : "Start";
        });
    add(
        "One step", QKeySequence(Qt::Key_N), "One optimizer step while paused",
        [this] { m_c.training.step(); },
        [&training] {
            return training.paused() ? QString() : "Available while the run is paused";
        });
    const auto ends = [&training](bool possible) {
        return training.endingNow() ? "The run is saving a checkpoint"
               : possible           ? QString()
                                    : "No run is training";
    };
    named(add(
              "Stop", {}, "Stop after this epoch",
              [this] { m_c.training.ending() ? m_c.training.cancel() : m_c.training.stop(); },
              [&training, ends] { return ends(training.running() || training.paused()); }),
          [&training] { return training.ending() && !training.endingNow() ? "Stop now" : "Stop"; });
    add(
        "Cancel", {}, "Stop immediately, after saving a checkpoint",
        [this] { m_c.training.cancel(); }, [&training, ends] { return ends(training.busy()); });
    separate();
    std::vector<QAction*> ofRun;
    QMenu* exports = nullptr;
    for (const auto& entry : m_window.runActions().entries({})) {
        const auto append = [&] {
            ofRun.push_back(add(entry.text, {}, entry.help, [this, kind = entry.kind] {
                m_window.runActions().perform(kind, currentRun());
            }));
        };
        if (!RunActions::isExport(entry.kind))
            append();
        else if (exports)
            fill(exports, append);
        else
            exports = fill("Export", append);
    }
    m_updates.emplace_back([this, ofRun] {
        auto& actions = m_window.runActions();
        const auto entries = actions.entries(currentRun());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            ofRun[i]->setText(entries[i].text);
            allow(ofRun[i], entries[i].reason);
        }
    });
    separate();
    add("Reload runs", QKeySequence::Refresh, "Read the runs folder again and show hidden runs",
        [this] {
            m_c.runs.reload();
            m_c.hosts.refresh();
        });
    add(
        "Show hidden runs", {}, "List hidden runs as well",
        [this] { m_c.runs.setShowHidden(!m_c.runs.showsHidden()); },
        [this] { return m_c.runs.hiddenRuns() > 0 ? QString() : "No run is hidden"; },
        [this] { return m_c.runs.showsHidden(); });
    add("Machines...", {}, "Other machines that train and open models, reached by ssh", [this] {
        auto* dialog = new HostsDialog(m_c.hosts, &m_window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
}

QStringList Menus::currentRun() const {
    const QString current = m_c.selection.current();
    return current.isEmpty() ? QStringList() : QStringList{current};
}

}  // namespace relascope::app

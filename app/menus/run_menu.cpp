// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QActionGroup>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/pages/hosts_dialog.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "app/wiring.h"
#include "widgets/theme/controls.h"

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
        [this] {
            m_c.runs.reload();
            m_c.hosts.look();
        });
    m_hidden = add("Show hidden runs", {}, "List hidden runs as well",
                   [this] { m_c.runs.setShowHidden(!m_c.runs.showsHidden()); });
    m_hidden->setCheckable(true);
    add("Machines...", {}, "Other machines that train and open models, reached by ssh", [this] {
        auto* dialog = new HostsDialog(m_c.hosts, &m_window);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
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

StudyMenu::StudyMenu(MainWindow& window, QMenu* menu, KeyList& keys) : AppMenu(window, menu, keys) {
    add("Show the study", {}, "Go to the Study page", [this] { m_window.showPage(PageId::Study); });
    m_menu->addSeparator();
    m_start =
        add("Start study", {}, "Train the runs of the study that are not done, or stop", [this] {
            m_window.showPage(PageId::Study);
            m_window.studyPage()->toggleWork();
        });
    m_retry = add("Retry failed runs", {}, "Start the failed runs of the study again",
                  [this] { m_window.studyPage()->retryFailed(); });
    m_menu->addSeparator();
    m_log = add("Logarithmic training sizes", {},
                "Logarithmic horizontal axis of the study\u2019s plot",
                [this] { m_window.studyPage()->curves()->logChip()->toggle(); });
    m_published = add("Published curves", {}, "The papers\u2019 curves in the study\u2019s plot",
                      [this] { m_window.studyPage()->curves()->publishedChip()->toggle(); });
    for (auto* action : {m_log, m_published}) action->setCheckable(true);
    m_bands = new QActionGroup(this);
    for (const auto band :
         {widgets::StudyBand::Interval, widgets::StudyBand::TwoErrors, widgets::StudyBand::None}) {
        auto* action = add(QStringLiteral("Band: ") + widgets::studyBandName(band), {},
                           "Band around the means of the study", [this, band] {
                               m_window.studyPage()->curves()->setBand(band);
                               refresh();
                           });
        action->setCheckable(true);
        action->setData(static_cast<int>(band));
        m_bands->addAction(action);
    }
    m_menu->addSeparator();
    m_folder = add("Open the study\u2019s folder", {}, "Show the files of the study",
                   [this] { m_window.studyPage()->openFolder(); });
    m_slurm = add("Slurm script...", {}, "Script of a job array that runs the study on a cluster",
                  [this] { m_window.studyPage()->showSlurm(); });
    auto* study = &m_c.study;
    for (auto signal : {&StudyController::openedChanged, &StudyController::changed,
                        &StudyController::workChanged})
        connect(study, signal, this, &StudyMenu::refresh);
}

void StudyMenu::refresh() {
    const auto* page = m_window.studyPage();
    const auto& study = m_c.study;
    const QString none = study.path().isEmpty() ? "Create or open a study first" : QString();
    const bool here = study.works();
    m_start->setText(here ? "Stop study" : "Start study");
    allow(m_start, here ? QString() : study.disabledReason());
    allow(m_retry, study.works()                                    ? "Stop the study first"
                   : study.reading() && study.reading()->failed > 0 ? QString()
                                                                    : "No run has failed");
    allow(m_log,
          page->curves()->plot()->canLogX() ? QString() : page->curves()->logChip()->toolTip());
    allow(m_published, page->curves()->plot()->has(CurveSource::Published)
                           ? QString()
                           : page->curves()->publishedChip()->toolTip());
    allow(m_folder, none.isEmpty() ? page->notHereReason() : none);
    allow(m_slurm, !none.isEmpty()                    ? none
                   : !page->notHereReason().isEmpty() ? page->notHereReason()
                   : study.reading()                  ? QString()
                                                      : "The study is being read");
    m_log->setChecked(page->curves()->logChip()->isChecked());
    m_published->setChecked(page->curves()->publishedChip()->isChecked());
    for (auto* action : m_bands->actions())
        action->setChecked(action->data().toInt() ==
                           static_cast<int>(page->curves()->plot()->band()));
}

}  // namespace relascope::app

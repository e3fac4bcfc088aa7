// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QActionGroup>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/pages/study_curves.h"
#include "app/pages/study_page.h"
#include "widgets/theme/controls.h"

namespace relascope::app {

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
    for (const auto& [name, band] :
         {std::pair{"Band: 95% bootstrap", widgets::StudyBand::Bootstrap},
          {"Band: two standard errors", widgets::StudyBand::TwoErrors},
          {"Band: none", widgets::StudyBand::None}}) {
        auto* action =
            add(QString::fromLatin1(name), {}, "Band around the means of the study", [this, band] {
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
    const bool here = study.working() && study.workedOn() == study.path();
    m_start->setText(here ? "Stop study" : "Start study");
    allow(m_start, here ? QString() : study.disabledReason());
    allow(m_retry, study.working()                                  ? "Stop the study first"
                   : study.reading() && study.reading()->failed > 0 ? QString()
                                                                    : "No run has failed");
    allow(m_log,
          page->curves()->plot()->canLogX() ? QString() : page->curves()->logChip()->toolTip());
    allow(m_published, page->curves()->plot()->has(CurveSource::Published)
                           ? QString()
                           : page->curves()->publishedChip()->toolTip());
    allow(m_folder, none);
    allow(m_slurm, none.isEmpty() && !study.reading() ? "The study is being read" : none);
    m_log->setChecked(page->curves()->logChip()->isChecked());
    m_published->setChecked(page->curves()->publishedChip()->isChecked());
    for (auto* action : m_bands->actions())
        action->setChecked(action->data().toInt() ==
                           static_cast<int>(page->curves()->plot()->band()));
}

}  // namespace relascope::app

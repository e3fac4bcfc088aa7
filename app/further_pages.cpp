// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/checkpoint_titles.h"
#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/compare_page.h"
#include "app/pages/data_page.h"
#include "app/pages/study_page.h"
#include "app/run_actions.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/lists/rail.h"
#include "widgets/tables/runs_table.h"

namespace relascope::app {

void addFurtherPages(MainWindow& window) {
    AppContext context = window.controllers().context();
    auto* compare = new ComparePage(context);
    window.addPage(PageId::Compare, compare);
    QObject::connect(compare, &ComparePage::workbenchRequested, &window,
                     [&window] { window.showPage(PageId::Workbench); });
    auto* actions = &window.runActions();
    QObject::connect(compare->table(), &widgets::RunsTable::runMenuRequested, actions,
                     &RunActions::popUp);
    QObject::connect(
        compare->table(), &widgets::RunsTable::deleteRequested, actions,
        [actions](const QStringList& paths) { actions->perform(RunActions::Kind::Delete, paths); });
    QObject::connect(compare->curves(), &widgets::CurvePanel::markMenuRequested, actions,
                     &RunActions::popUpMark);

    auto* study = new StudyPage(window.controllers().study, context.messages);
    window.addPage(PageId::Study, study);
    study->preset = [&window] { return window.controllers().selection.preset(); };
    QObject::connect(study, &StudyPage::runRequested, &window.opener(), &Opener::openRun);

    auto* data = new DataPage(context);
    window.addPage(PageId::Data, data);
    QObject::connect(
        data, &DataPage::trainOnRequested, &window,
        [&window](const DataOptions& options, const std::vector<std::string>& fields,
                  const DatasetInfo& info) {
            auto& c = window.controllers();
            c.experiment.trainOn(options, fields, info);
            c.selection.setPreset(QString::fromStdString(c.experiment.options().preset));
            window.showPage(PageId::Workbench);
        });

    auto& c = window.controllers();
    auto* checkpoint = new CheckpointPage(c.checkpoint, c.messages);
    window.addPage(PageId::Checkpoint, checkpoint);
    QObject::connect(&c.checkpoint, &CheckpointController::opened, &window,
                     [&window] { window.showPage(PageId::Checkpoint); });
    QObject::connect(&c.checkpoint.recent(), &RecentCheckpoints::changed, window.rail(), [&window] {
        const auto& known = window.controllers().checkpoint.recent().list();
        QStringList paths;
        for (const auto& recent : known) paths << recent.path;
        const QStringList titles = checkpointTitles(paths);
        std::vector<widgets::CheckpointEntry> entries;
        for (std::size_t i = 0; i < known.size(); ++i)
            entries.push_back({known[i].path, titles[static_cast<qsizetype>(i)], known[i].size,
                               known[i].missing});
        window.rail()->setCheckpoints(entries);
    });
    QObject::connect(window.rail(), &widgets::Rail::checkpointChosen, &c.checkpoint.recent(),
                     &RecentCheckpoints::choose);
}

}  // namespace relascope::app

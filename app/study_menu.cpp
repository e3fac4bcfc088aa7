// The entries of the menus that belong to the Study page.
#include <QActionGroup>
#include <QMenu>

#include "app/controllers/controllers.h"
#include "app/main_window_actions.h"
#include "app/pages/study_page.h"
#include "widgets/theme/controls.h"

namespace relascope {

void MainWindow::makeStudyMenu(QMenu* view) {
    auto& a = *m_actions;
    QMenu* menu = view->addMenu(QStringLiteral("Study"));
    // The page comes after the menus: it is asked for when an entry is chosen.
    add(menu, QStringLiteral("Show the study"), {}, QStringLiteral("Go to the Study page"),
        [this] { showPage(QStringLiteral("Study")); });
    menu->addSeparator();
    a.studyStart =
        add(menu, QStringLiteral("Start study"), {},
            QStringLiteral("Train the runs of the study that are not done, or stop"), [this] {
                showPage(QStringLiteral("Study"));
                studyPage()->toggleWork();
            });
    a.studyRetry = add(menu, QStringLiteral("Retry failed runs"), {},
                       QStringLiteral("Start the failed runs of the study again"),
                       [this] { studyPage()->retryFailed(); });
    menu->addSeparator();
    a.studyLog = add(menu, QStringLiteral("Logarithmic training sizes"), {},
                     QStringLiteral("Logarithmic horizontal axis of the study\u2019s plot"),
                     [this] { studyPage()->logChip()->toggle(); });
    a.studyPublished = add(menu, QStringLiteral("Published curves"), {},
                           QStringLiteral("The papers\u2019 curves in the study\u2019s plot"),
                           [this] { studyPage()->publishedChip()->toggle(); });
    for (auto* action : {a.studyLog, a.studyPublished}) action->setCheckable(true);
    a.studyBands = new QActionGroup(this);
    for (const auto& [words, band] : {std::pair{"Band: 95% bootstrap", StudyBand::Bootstrap},
                                      {"Band: two standard errors", StudyBand::TwoErrors},
                                      {"Band: none", StudyBand::None}}) {
        auto* action = add(menu, QString::fromLatin1(words), {},
                           QStringLiteral("Band around the means of the study"), [this, band] {
                               studyPage()->setBand(band);
                               refreshStudyActions();
                           });
        action->setCheckable(true);
        action->setData(static_cast<int>(band));
        a.studyBands->addAction(action);
    }
    menu->addSeparator();
    a.studyFolder =
        add(menu, QStringLiteral("Open the study\u2019s folder"), {},
            QStringLiteral("Show the files of the study"), [this] { studyPage()->openFolder(); });
    a.studySlurm = add(menu, QStringLiteral("Slurm script..."), {},
                       QStringLiteral("Script of a job array that runs the study on a cluster"),
                       [this] { studyPage()->showSlurm(); });
    auto* study = &m_controllers->study;
    for (auto signal : {&StudyController::openedChanged, &StudyController::changed,
                        &StudyController::workChanged})
        connect(study, signal, this, &MainWindow::refreshStudyActions);
    connect(menu, &QMenu::aboutToShow, this, &MainWindow::refreshStudyActions);
}

void MainWindow::refreshStudyActions() {
    auto& a = *m_actions;
    const auto* page = studyPage();
    if (!a.studyStart || !page) return;
    const auto& study = m_controllers->study;
    const auto allow = [](QAction* action, const QString& obstacle) {
        if (action->property("help").isNull()) action->setProperty("help", action->toolTip());
        action->setEnabled(obstacle.isEmpty());
        action->setToolTip(obstacle.isEmpty() ? action->property("help").toString() : obstacle);
        action->setStatusTip(action->toolTip());
    };
    const QString none =
        study.path().isEmpty() ? QStringLiteral("Create or open a study first") : QString();
    const bool here = study.working() && study.workedOn() == study.path();
    a.studyStart->setText(here ? QStringLiteral("Stop study") : QStringLiteral("Start study"));
    allow(a.studyStart, here ? QString() : study.obstacle());
    allow(a.studyRetry, study.working() ? QStringLiteral("Stop the study first")
                        : study.reading() && study.reading()->failed > 0
                            ? QString()
                            : QStringLiteral("No run has failed"));
    allow(a.studyLog, page->plot()->canLogX() ? QString() : page->logChip()->toolTip());
    allow(a.studyPublished,
          page->plot()->has(CurveSource::Published) ? QString() : page->publishedChip()->toolTip());
    allow(a.studyFolder, none);
    allow(a.studySlurm, none);
    a.studyLog->setChecked(page->logChip()->isChecked());
    a.studyPublished->setChecked(page->publishedChip()->isChecked());
    for (auto* action : a.studyBands->actions())
        action->setChecked(action->data().toInt() == static_cast<int>(page->plot()->band()));
}

}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QActionGroup>
#include <QMenu>
#include <QPushButton>

#include "app/controllers/controllers.h"
#include "app/main_window.h"
#include "app/menus/menus.h"
#include "app/pages/atlas_page.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "app/pages/workbench_page.h"
#include "app/run_export.h"
#include "question/question_fields.h"
#include "views/papers_figures.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"
#include "wire/host_link.h"

namespace relascope::app {

void Menus::addView() {
    auto* curves = m_window.workbench()->curves();
    fill("Theme", [this] {
        auto* themes = new QActionGroup(this);
        for (const auto& [name, mode] : {std::pair{"System", widgets::ThemeMode::System},
                                         {"Light", widgets::ThemeMode::Light},
                                         {"Dark", widgets::ThemeMode::Dark}})
            themes->addAction(add(
                QString("%1 theme").arg(QLatin1String(name)), {}, "Colours of the window",
                [this, mode] { m_window.setTheme(mode); }, {},
                [this, mode] { return m_window.theme() == mode; }));
    });
    separate();
    add(
        "Experiments and runs", QKeySequence("Ctrl+B"), "Show or hide the experiments and runs",
        [this] { m_window.sidebar()->setVisible(m_window.sidebar()->isHidden()); }, {},
        [this] { return !m_window.sidebar()->isHidden(); });
    add(
        "Options", QKeySequence("Ctrl+Shift+O"), "Show or collapse the options",
        [this] { m_window.form()->setCollapsed(!m_window.form()->collapsed()); }, {},
        [this] { return !m_window.form()->collapsed(); });
    add(
        "Log", QKeySequence("Ctrl+Shift+L"), "Show or hide the log",
        [this] {
            auto* log = m_window.log();
            log->setVisible(log->isHidden());
            m_window.status()->setLogShown(!log->isHidden());
        },
        {}, [this] { return !m_window.log()->isHidden(); });
    auto* workbench = m_window.workbench();
    const auto fills = [this, workbench](WorkbenchPage::Fill what) {
        m_window.showPage(PageId::Workbench);
        workbench->fill(workbench->filled() == what ? WorkbenchPage::Fill::Nothing : what);
    };
    add(
        "Map fills the page", QKeySequence(Qt::Key_F),
        "Leave the Workbench to the input and its map; Escape returns",
        [fills] { fills(WorkbenchPage::Fill::Map); }, {},
        [workbench] { return workbench->filled() == WorkbenchPage::Fill::Map; });
    add(
        "Curves fill the page", QKeySequence("Shift+F"),
        "Leave the Workbench to the curves; Escape returns",
        [fills] { fills(WorkbenchPage::Fill::Curves); }, {},
        [workbench] { return workbench->filled() == WorkbenchPage::Fill::Curves; });
    separate();
    fill("Horizontal axis", [this, curves] {
        auto* axes = new QActionGroup(this);
        for (const auto& [name, axis] : {std::pair{"step", widgets::CurveAxis::Step},
                                         {"epoch", widgets::CurveAxis::Epoch},
                                         {"time", widgets::CurveAxis::Time},
                                         {"tokens", widgets::CurveAxis::Tokens}})
            axes->addAction(add(
                QString("Curves by %1").arg(QLatin1String(name)), {},
                "Quantity on the horizontal axis of the curves",
                [curves, axis] { curves->set(&widgets::CurveOptions::axis, axis); }, {},
                [curves, axis] { return curves->axis() == axis; }));
    });
    const auto toggle = [this, curves](const QString& text, const QKeySequence& key,
                                       const QString& help, bool widgets::CurveOptions::*option) {
        add(
            text, key, help,
            [curves, option] { curves->set(option, !(curves->options().*option)); }, {},
            [curves, option] { return curves->options().*option; });
    };
    using widgets::CurveOptions;
    toggle("Logarithmic x", {}, "Logarithmic horizontal axis of the curves", &CurveOptions::logX);
    toggle("Logarithmic y", QKeySequence(Qt::Key_L), "Logarithmic loss", &CurveOptions::logY);
    toggle("Smooth curves", {}, "Exponential moving average of the curves", &CurveOptions::smooth);
    add("Reset zoom", QKeySequence(Qt::Key_Home), "Show the full range of the curves",
        [curves] { curves->resetZoom(); });
    fill("Study", [this] { addStudy(); });
    fill("Figures", [this] { addFigures(); });
    separate();
    add(
        "Full screen", QKeySequence(Qt::Key_F11), "Show the window on the whole screen",
        [this] { m_window.setWindowState(m_window.windowState() ^ Qt::WindowFullScreen); }, {},
        [this] { return m_window.isFullScreen(); });
}

void Menus::addStudy() {
    auto* page = m_window.studyPage();
    auto* study = &m_c.study;
    add("Show the study", {}, "Go to the Study page", [this] { m_window.showPage(PageId::Study); });
    separate();
    named(add(
              "Start study", {}, "Train the runs of the study that are not done, or stop",
              [this, page] {
                  m_window.showPage(PageId::Study);
                  page->toggleWork();
              },
              [study] { return study->works() ? QString() : study->disabledReason(); }),
          [study] { return study->works() ? "Stop study" : "Start study"; });
    add(
        "Retry failed runs", {}, "Start the failed runs of the study again",
        [page] { page->retryFailed(); },
        [study] {
            return study->works()                                     ? "Stop the study first"
                   : study->reading() && study->reading()->failed > 0 ? QString()
                                                                      : "No run has failed";
        });
    separate();
    auto* curves = page->curves();
    add(
        "Logarithmic training sizes", {}, "Logarithmic horizontal axis of the study\u2019s plot",
        [curves] { curves->logChip()->toggle(); },
        [curves] { return curves->plot()->canLogX() ? QString() : curves->logChip()->toolTip(); },
        [curves] { return curves->logChip()->isChecked(); });
    add(
        "Published curves", {}, "The papers\u2019 curves in the study\u2019s plot",
        [curves] { curves->publishedChip()->toggle(); },
        [curves] {
            return curves->plot()->has(CurveSource::Published) ? QString()
                                                               : curves->publishedChip()->toolTip();
        },
        [curves] { return curves->publishedChip()->isChecked(); });
    auto* bands = new QActionGroup(this);
    for (const auto band :
         {widgets::StudyBand::Interval, widgets::StudyBand::TwoErrors, widgets::StudyBand::None})
        bands->addAction(add(
            QStringLiteral("Band: ") + widgets::studyBandName(band), {},
            "Band around the means of the study", [curves, band] { curves->setBand(band); }, {},
            [curves, band] { return curves->plot()->band() == band; }));
    separate();
    const auto none = [page, study] {
        return study->path().isEmpty() ? QString("Create or open a study first")
                                       : page->notHereReason();
    };
    add(
        "Open the study\u2019s folder", {}, "Show the files of the study",
        [page] { page->openFolder(); }, none);
    add(
        "Slurm script...", {}, "Script of a job array that runs the study on a cluster",
        [page] { page->showSlurm(); },
        [study, none] {
            const QString why = none();
            return !why.isEmpty() || study->reading() ? why : "The study is being read";
        });
    for (auto signal : {&StudyController::openedChanged, &StudyController::changed,
                        &StudyController::workChanged})
        connect(study, signal, this, &Menus::refresh);
}

namespace {

QString pathOf(const core::PapersFigure& figure, const Controllers& c) {
    const auto& command = figure.view.command;
    return core::isOfWeights(command)    ? c.selection.current()
           : command == core::kStudyView ? c.study.path()
                                         : QString();
}

QString whyNot(const core::PapersFigure& figure, const Controllers& c) {
    const QString path = pathOf(figure, c);
    if (figure.view.command == core::kDataView) return {};
    if (path.isEmpty())
        return QStringLiteral("Open %1 first").arg(QString::fromStdString(figure.of));
    if (core::isOfWeights(figure.view.command))
        return wire::farPathOf(path.toStdString())
                   ? QStringLiteral("Fetch the run to this computer first")
                   : QString();
    const auto reading = c.study.reading();
    const bool fits = reading && reading->info->plan.preset.starts_with(figure.preset);
    return fits ? QString() : QStringLiteral("It is of %1").arg(QString::fromStdString(figure.of));
}

}  // namespace

/// Adds the figures that have a name (views/papers_figures.h). The figures of a run are also on the
/// page Atlas, those of a study also in the menu of the page Study.
void Menus::addFigures() {
    auto* ofRuns = new QMenu(&m_window);
    auto* ofStudies = new QMenu(QStringLiteral("Figures"), &m_window);
    auto& exporter = m_window.runActions().exporter();
    for (const auto& figure : core::papersFigures()) {
        const bool study = figure.view.command == core::kStudyView;
        if (study && ofStudies->isEmpty()) separate();
        auto* action = add(
            QString::fromStdString(figure.title) + QStringLiteral("..."), {},
            QStringLiteral("Draw %1, of %2")
                .arg(QString::fromStdString(figure.name), QString::fromStdString(figure.of)),
            [this, &figure, &exporter] {
                exporter.figure(QString::fromStdString(figure.name), pathOf(figure, m_c));
            },
            [this, &figure, &exporter] {
                const QString busy = exporter.disabledReason();
                return busy.isEmpty() ? whyNot(figure, m_c) : busy;
            });
        (study ? ofStudies : ofRuns)->addAction(action);
    }
    for (auto* other : {m_menu, ofRuns, ofStudies}) {
        other->addSeparator();
        other->addAction(widgets::paperAction());
    }
    for (auto* other : {ofRuns, ofStudies}) fill(other, [] {});
    m_window.studyPage()->menu()->addMenu(ofStudies);
    if (auto* atlas = qobject_cast<AtlasPage*>(m_window.page(PageId::Atlas))) {
        auto* button = new QPushButton(QStringLiteral("Figures"), atlas);
        button->setProperty("compact", true);
        button->setMenu(ofRuns);
        atlas->addControl(button);
    }
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_state.h"

#include <QComboBox>
#include <QSettings>
#include <QSpinBox>
#include <QSplitter>
#include <nlohmann/json.hpp>

#include "app/controllers/controllers.h"
#include "app/edits_tab.h"
#include "app/example_run.h"
#include "app/main_window.h"
#include "app/opener.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/atlas_page.h"
#include "app/pages/duel_page.h"
#include "app/pages/measure_page.h"
#include "app/pages/study_page.h"
#include "app/pages/study_runs.h"
#include "app/pages/workbench_page.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "question/question_json.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/view_options.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

// Settings of another window layout are ignored and kept.
const char* const kVersion = "1/";

QString key(const char* name) {
    return QString::fromLatin1(kVersion) + QString::fromLatin1(name);
}

/// What the Workbench showed: a question for the maps of a run, and how they were looked at.
std::optional<View> shownBefore(const QSettings& s) {
    const auto json = nlohmann::ordered_json::parse(s.value(key("shown")).toString().toStdString(),
                                                    nullptr, false);
    if (!json.is_object()) return std::nullopt;
    try {
        View view;
        static_cast<Question&>(view) = core::questionOf(core::kInspectView, json);
        return view;
    } catch (const std::exception&) {  // written by another version
        return std::nullopt;
    }
}

void restoreView(MainWindow& window, const QSettings& s) {
    const auto shown = shownBefore(s);
    if (!shown) return;
    auto view = widgets::inspectorViewOf(*shown);
    view.shown = widgets::Shown::After;
    // What the question leaves out.
    view.head = qBound(0, s.value(key("view/head"), view.head).toInt(), 99999);
    view.topK = qBound(1, s.value(key("view/topK"), view.topK).toInt(), 1 << 20);
    view.allLayers = s.value(key("view/allLayers")).toBool();
    view.reading =
        static_cast<widgets::ReadingLayout>(qBound(0, s.value(key("view/reading"), 0).toInt(), 2));
    window.controllers().selection.setView(view);
}

void saveView(MainWindow& window, QSettings& s) {
    auto& c = window.controllers();
    const auto& feed = c.runInput.feed();
    const auto& view = c.selection.view();
    View shown;
    // A question has a model: where no run is shown, a place that is none of the runs.
    const QString run = c.selection.current();
    static_cast<Question&>(shown) =
        weightsAt(run.isEmpty() ? QStringLiteral(".") : run, c.selection.step());
    const auto& input = feed.chosen() ? feed.request() : feed.shown();
    shown.options = core::inputOf(input).options;
    widgets::addViewOptions(shown, view, widgets::FigurePart::Map | widgets::FigurePart::SmallMaps);
    s.setValue(key("shown"), QString::fromStdString(core::jsonOf(shown).dump()));
    s.setValue(key("view/head"), view.head);
    s.setValue(key("view/topK"), view.topK);
    s.setValue(key("view/allLayers"), view.allLayers);
    s.setValue(key("view/reading"), static_cast<int>(view.reading));
}

void restoreStudy(MainWindow& window, const QSettings& s) {
    auto* page = window.studyPage();
    auto& study = window.controllers().study;
    study.setOpened(s.value(key("study/opened")).toStringList());
    page->curves()->setBand(
        static_cast<widgets::StudyBand>(qBound(0, s.value(key("study/band")).toInt(), 2)));
    page->curves()->logChip()->setChecked(s.value(key("study/logX")).toBool());
    page->curves()->publishedChip()->setChecked(s.value(key("study/published"), true).toBool());
    page->curves()->referenceChip()->setChecked(s.value(key("study/reference"), false).toBool());
    if (s.contains(key("study/jobs")))
        page->jobsBox()->setValue(s.value(key("study/jobs")).toInt());
    page->rows()->restoreState(s.value(key("study/rows")).toByteArray());
    page->columns()->restoreState(s.value(key("study/columns")).toByteArray());
    const QString metric = s.value(key("study/metric")).toString();
    if (!metric.isEmpty())
        study.setMeasure(
            {metric.toStdString(), s.value(key("study/split")).toString().toStdString()});
    const QString path = s.value(key("study/path")).toString();
    if (!path.isEmpty()) study.open(path, true);  // quietly, as the study may no longer exist
}

void saveStudy(MainWindow& window, QSettings& s) {
    const auto* page = window.studyPage();
    const auto& study = window.controllers().study;
    s.setValue(key("study/opened"), study.opened());
    s.setValue(key("study/path"), study.path());
    s.setValue(key("study/band"), static_cast<int>(page->curves()->plot()->band()));
    s.setValue(key("study/logX"), page->curves()->logChip()->isChecked());
    s.setValue(key("study/published"), page->curves()->publishedChip()->isChecked());
    s.setValue(key("study/reference"), page->curves()->referenceChip()->isChecked());
    s.setValue(key("study/jobs"), page->jobsBox()->value());
    s.setValue(key("study/rows"), page->rows()->saveState());
    s.setValue(key("study/columns"), page->columns()->saveState());
    if (const auto& measure = study.wantedMeasure()) {
        s.setValue(key("study/metric"), QString::fromStdString(measure->metric));
        s.setValue(key("study/split"), QString::fromStdString(measure->split));
    }
}

}  // namespace

void WindowState::restore(MainWindow& window) const {
    if (!m_enabled) return;
    const QSettings s;
    window.restoreGeometry(s.value(key("geometry")).toByteArray());
    window.workbench()->restoreStrip(s.value(key("workbench/strip")).toByteArray());
    window.workbench()->inspector()->restorePanes(s.value(key("workbench/panes")).toByteArray());
    window.setTheme(
        static_cast<widgets::ThemeMode>(qBound(0, s.value(key("theme"), 0).toInt(), 2)));
    widgets::figureStyle().light = s.value(key("figures/light"), true).toBool();
    widgets::paperAction()->setChecked(s.value(key("figures/paper")).toBool());
    window.opener().setRecentRuns(s.value(key("recent")).toStringList());
    std::vector<RecentCheckpoint> checkpoints;
    const QStringList paths = s.value(key("checkpoints")).toStringList();
    const QStringList sizes = s.value(key("checkpointSizes")).toStringList();
    for (qsizetype i = 0; i < paths.size(); ++i)
        checkpoints.push_back({paths[i], sizes.value(i), false});
    window.controllers().checkpoint.recent().set(std::move(checkpoints));
    window.foldForm(s.value(key("formCollapsed"), true).toBool());
    window.sidebar()->setHidden(s.value(key("railHidden")).toBool());
    auto* curves = window.workbench()->curves();
    curves->set(&widgets::CurveOptions::axis,
                static_cast<widgets::CurveAxis>(qBound(0, s.value(key("axis"), 0).toInt(), 3)));
    curves->set(&widgets::CurveOptions::logX, s.value(key("logX")).toBool());
    curves->set(&widgets::CurveOptions::logY, s.value(key("logY")).toBool());
    curves->set(&widgets::CurveOptions::smooth, s.value(key("smooth")).toBool());
    restoreView(window, s);
    restoreStudy(window, s);
    window.measurePage()->restoreOptions(s.value(key("measure")).toByteArray());
    if (auto* atlas = qobject_cast<AtlasPage*>(window.page(PageId::Atlas))) {
        atlas->restoreOptions(s.value(key("atlas/options")).toByteArray());
        atlas->restorePanes(s.value(key("atlas/panes")).toByteArray());
    }
    if (auto* duel = window.duelPage()) {
        duel->restorePanes(s.value(key("duel/panes")).toByteArray());
        duel->tab()->setUnfolded(s.value(key("duel/unfolded")).toBool());
    }
    const QString preset = s.value(key("preset"), QStringLiteral("quick")).toString();
    if (window.controllers().experiment.choosePreset(preset))
        window.controllers().selection.setPreset(preset);
    window.controllers().experiment.restoreForm(s.value(key("form")).toByteArray());
}

void WindowState::readRuns(MainWindow& window) const {
    auto& c = window.controllers();
    const auto read = [&c] { c.runs.refresh(); };
    QSettings s;
    if (!m_enabled || s.value(key("example")).toBool()) return read();
    s.setValue(key("example"), true);  // once: a run that was deleted does not come back
    c.disk.post(
        &window,
        [folder = c.runs.folder().toStdString()](std::stop_token) {
            return copyExampleRun(folder), true;
        },
        [read](bool) { read(); },
        [read, &c](const QString& sentence) {
            c.messages.warning(QStringLiteral("The example run: ") + sentence);
            read();
        });
}

void WindowState::restoreRuns(MainWindow& window) const {
    auto& c = window.controllers();
    if (!m_enabled || !c.selection.runs().isEmpty() || c.training.busy()) return;
    const QSettings s;
    QStringList there;
    for (const auto& path : s.value(key("runs")).toStringList())
        if (c.runs.info(path)) there << path;
    // The example is what opens as long as the user has no run of his own.
    const auto example = exampleRun(c.runs.folder().toStdString());
    const QString shown = QString::fromStdString(example);
    if (there.isEmpty() && c.runs.rows().size() == 1 && c.runs.info(shown)) there << shown;
    for (const auto& row : c.runs.rows())
        if (there == QStringList(shown) && row.info.path != example)
            there = {QString::fromStdString(row.info.path)};
    if (there.isEmpty()) return;
    const auto before = shownBefore(s);
    const QString current = before ? placeOf(*before) : QString();
    c.selection.setRuns(there);
    c.selection.setCurrent(there.contains(current) ? current : there.first());
    if (before && c.selection.current() == current) {
        c.selection.setStep(stepOf(*before));
        c.runInput.choose(core::inputOf(*before));
    }
    c.experiment.follow(c.selection.current());
}

void WindowState::save(MainWindow& window) const {
    if (!m_enabled) return;
    const auto& c = window.controllers();
    const auto* curves = window.workbench()->curves();
    QSettings s;
    s.setValue(key("geometry"), window.saveGeometry());
    s.setValue(key("workbench/strip"), window.workbench()->stripState());
    s.setValue(key("workbench/panes"), window.workbench()->inspector()->panesState());
    s.setValue(key("theme"), static_cast<int>(window.theme()));
    s.setValue(key("figures/light"), widgets::figureStyle().light);
    s.setValue(key("figures/paper"), widgets::figureStyle().paper);
    s.setValue(key("recent"), window.opener().recentRuns());
    QStringList paths, sizes;
    for (const auto& recent : c.checkpoint.recent().list()) {
        paths << recent.path;
        sizes << recent.size;
    }
    s.setValue(key("checkpoints"), paths);
    s.setValue(key("checkpointSizes"), sizes);
    s.setValue(key("formCollapsed"), window.formFolded());
    s.setValue(key("railHidden"), window.sidebar()->isHidden());
    s.setValue(key("axis"), static_cast<int>(curves->axis()));
    s.setValue(key("logX"), curves->options().logX);
    s.setValue(key("logY"), curves->options().logY);
    s.setValue(key("smooth"), curves->options().smooth);
    saveView(window, s);
    saveStudy(window, s);
    s.setValue(key("measure"), window.measurePage()->saveOptions());
    if (const auto* atlas = qobject_cast<AtlasPage*>(window.page(PageId::Atlas))) {
        s.setValue(key("atlas/options"), atlas->saveOptions());
        s.setValue(key("atlas/panes"), atlas->panesState());
    }
    if (const auto* duel = window.duelPage()) {
        s.setValue(key("duel/panes"), duel->panesState());
        s.setValue(key("duel/unfolded"), duel->tab()->isUnfolded());
    }
    s.setValue(key("preset"), c.selection.preset());
    s.setValue(key("form"), c.experiment.saveForm());
    s.setValue(key("runs"), c.selection.runs());
}

}  // namespace relascope::app

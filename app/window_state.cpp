// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_state.h"

#include <QComboBox>
#include <QSettings>
#include <QSpinBox>
#include <QSplitter>

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
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/relation_inspector.h"
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

void restoreView(MainWindow& window, const QSettings& s) {
    widgets::InspectorView v;
    const auto number = [&](const char* name, int fallback, int most) {
        return qBound(0, s.value(key(name), fallback).toInt(), most);
    };
    v.kind = static_cast<MapKind>(number("view/kind", 0, 4));
    v.layer = number("view/layer", 0, 999);
    v.index = number("view/index", 0, 99999);
    v.head = number("view/head", 0, 99999);
    v.source = number("view/source", 1, 1 << 20);
    v.target = number("view/target", 2, 1 << 20);
    v.reversed = s.value(key("view/reversed")).toBool();
    v.processing = static_cast<widgets::Processing>(
        number("view/processing", static_cast<int>(widgets::Processing::Raw), 4));
    v.range = static_cast<widgets::Range>(number("view/range", 1, 3));
    v.topK = qMax(1, number("view/topK", 5, 1 << 20));
    v.paper = s.value(key("view/paper")).toBool();
    v.robust = s.value(key("view/robust"), true).toBool();
    v.order = static_cast<widgets::MapOrder>(number("view/order", 0, widgets::kMapOrders - 1));
    v.allLayers = s.value(key("view/allLayers")).toBool();
    v.reading = static_cast<widgets::ReadingLayout>(number("view/reading", 0, 2));
    window.controllers().selection.setView(v);
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
    if (s.contains(key("view/kind"))) restoreView(window, s);
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
    const QString current = s.value(key("current")).toString();
    c.selection.setSample(s.value(key("split"), QStringLiteral("validation")).toString(),
                          s.value(key("sample"), 0).toLongLong());
    c.selection.setRuns(there);
    c.selection.setCurrent(there.contains(current) ? current : there.first());
    if (s.contains(key("step"))) c.selection.setStep(s.value(key("step")).toLongLong());
    c.experiment.follow(c.selection.current());
    if (const QString text = s.value(key("text")).toString(); !text.isEmpty())
        c.runInput.feed().offerText(text);
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
    const auto& v = c.selection.view();
    s.setValue(key("view/kind"), static_cast<int>(v.kind));
    s.setValue(key("view/layer"), v.layer);
    s.setValue(key("view/index"), v.index);
    s.setValue(key("view/head"), v.head);
    s.setValue(key("view/source"), v.source);
    s.setValue(key("view/target"), v.target);
    s.setValue(key("view/reversed"), v.reversed);
    s.setValue(key("view/processing"), static_cast<int>(v.processing));
    s.setValue(key("view/range"), static_cast<int>(v.range));
    s.setValue(key("view/topK"), v.topK);
    s.setValue(key("view/paper"), v.paper);
    s.setValue(key("view/robust"), v.robust);
    s.setValue(key("view/order"), static_cast<int>(v.order));
    s.setValue(key("view/allLayers"), v.allLayers);
    s.setValue(key("view/reading"), static_cast<int>(v.reading));
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
    s.setValue(key("current"), c.selection.current());
    s.setValue(key("split"), c.selection.split());
    s.setValue(key("sample"), c.selection.sample());
    s.setValue(key("text"), c.runInput.feed().text());
    if (c.selection.step())
        s.setValue(key("step"), *c.selection.step());
    else
        s.remove(key("step"));
}

}  // namespace relascope::app

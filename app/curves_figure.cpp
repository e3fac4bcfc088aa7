// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/curves_figure.h"

#include <QEventLoop>
#include <QSet>
#include <QToolButton>
#include <algorithm>

#include "app/controllers/job_queue.h"
#include "app/controllers/run_records.h"
#include "app/controllers/runs_controller.h"
#include "question/question_fields.h"
#include "question/question_words.h"
#include "run/run_list.h"
#include "types/error.h"
#include "views/curve_look.h"
#include "views/look.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/export/export.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

CurveLook lookOf(const widgets::CurvePanel& panel) {
    const auto& options = panel.options();
    CurveLook look;
    look.title = panel.controls()->title().toStdString();
    look.axis = core::choiceName(core::curveLookFields(), "axis", options.axis);
    look.log_x = options.logX, look.log_y = options.logY;
    look.smooth = options.smooth, look.smoothing = options.beta;
    look.no_training = !options.showTraining, look.no_published = !options.showPublished;
    look.power_law = options.powerLaw;
    look.band = core::choiceName(core::curveLookFields(), "band", options.band);
    look.outliers = !options.withoutOutliers, look.recent = options.recentOnly;
    if (options.second) look.second = metricInfo(*options.second).key;
    return look;
}

}  // namespace

std::vector<widgets::PublishedValue> publishedOf(const RunsController& runs,
                                                 const QStringList& paths) {
    std::vector<widgets::PublishedValue> values;
    for (const QString& path : paths)
        for (const auto& value : runs.published(path))
            if (std::find(values.begin(), values.end(), value) == values.end())
                values.push_back(value);
    return values;
}

std::optional<View> describeCurves(const widgets::CurvePanel& panel, const RunsController& runs,
                                   const QStringList& paths, const QString& highlighted) {
    const bool elsewhere = runs.folder() != QString::fromStdString(core::defaultRunsFolder());
    if (paths.isEmpty() || paths.size() > static_cast<qsizetype>(core::kMostCurves))
        return std::nullopt;
    View view;
    view.command = core::kCurvesView;
    auto look = lookOf(panel);
    for (const auto& run : runs.curveRuns(paths, highlighted)) {
        const auto path = run.id.toStdString();
        if (wire::farPathOf(path) || (elsewhere && !run.group.isEmpty())) return std::nullopt;
        view.subjects.push_back({path, {}, {}, {}, {}});
        look.colours.push_back(run.colorIndex);
    }
    // For several runs the Workbench shows no published numbers.
    look.no_published |= !panel.hasPublished() && !publishedOf(runs, paths).empty();
    look.highlight = highlighted.isEmpty() ? 0 : paths.indexOf(highlighted) + 1;
    core::addLook(view, core::curveLookFields(), look);
    return view;
}

void showLook(widgets::CurvePanel& panel, const CurveLook& look) {
    widgets::CurveOptions options;
    options.axis = core::choiceOf<widgets::CurveAxis>(core::curveLookFields(), "axis", look.axis);
    options.logX = look.log_x, options.logY = look.log_y;
    options.smooth = look.smooth, options.beta = look.smoothing;
    options.showTraining = !look.no_training, options.showPublished = !look.no_published;
    options.powerLaw = look.power_law;
    options.band =
        core::choiceOf<widgets::CurveBandKind>(core::curveLookFields(), "band", look.band);
    options.withoutOutliers = !look.outliers, options.recentOnly = look.recent;
    if (!look.second.empty()) options.second = metricInfo(look.second).id;
    panel.setTitle(QString::fromStdString(look.title));
    panel.setOptions(options);
}

bool renderCurves(const wire::CurvesFigure& figure, const QString& out, QString* error) {
    JobQueue jobs;
    RunsController runs(jobs);
    QEventLoop wait;
    QStringList paths;
    QString problem;
    const auto fail = [&](const QString& sentence) {
        problem = sentence;
        wait.quit();
    };
    QObject::connect(&runs, &RunsController::failed, &wait, fail);
    QObject::connect(&runs.records(), &RunRecords::failed, &wait, fail);
    for (const auto& run : figure.runs) paths << QString::fromStdString(run);
    qsizetype opened = 0;
    for (const QString& path : paths)
        runs.open(path, [&](bool) {
            if (++opened == paths.size()) wait.quit();
        });
    wait.exec();
    QSet<QString> left(paths.begin(), paths.end());
    QObject::connect(&runs.records(), &RunRecords::loaded, &wait, [&](const QString& path) {
        left.remove(path);
        if (left.isEmpty()) wait.quit();
    });
    runs.records().load(paths);
    if (problem.isEmpty() && !left.isEmpty()) wait.exec();
    if (!problem.isEmpty()) throw Error(problem.toStdString());
    widgets::CurvePanel panel;
    showLook(panel, figure.look);
    const auto at = figure.look.highlight - 1;
    auto shown = runs.curveRuns(paths, at >= 0 && at < paths.size() ? paths[at] : QString());
    for (std::size_t k = 0; k < shown.size() && k < figure.look.colours.size(); ++k)
        shown[k].colorIndex = static_cast<int>(figure.look.colours[k]);
    auto published = publishedOf(runs, paths);
    for (auto& value : published)
        for (std::size_t k = 0; k < shown.size(); ++k)
            if (value.colorIndex == runs.colorIndex(shown[k].id)) {
                value.colorIndex = shown[k].colorIndex;
                break;
            }
    panel.setRuns(shown);
    for (const QString& path : paths) {
        panel.appendPoints(path, runs.records().points(path));
        panel.setMarks(path, runs.records().marks(path));
    }
    panel.setPublished(std::move(published));
    panel.flush();
    QToolButton carrier(&panel);
    widgets::ViewMenu menu(
        &carrier, &panel, [&panel] { return panel.figureName(); },
        [&panel] { return panel.csv(); });
    panel.setFigure(menu);
    if (const int dpi = widgets::OriginScope::current().dpi; dpi > 0) menu.setDpi(dpi);
    return menu.write(out, error);
}

}  // namespace relascope::app

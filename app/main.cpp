// SPDX-License-Identifier: GPL-3.0-or-later
// Entry point of the window, which hands commands over to relascope-cli and draws its figures.
#include <unistd.h>

#include <QApplication>
#include <QFile>
#include <QFileInfo>
#include <QHashFunctions>
#include <QScreen>
#include <QSettings>
#include <QThread>
#include <QTimer>
#include <QtGlobal>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "analysis/analysis.h"
#include "app/askpass.h"
#include "app/cli/cli.h"
#include "app/cli/last_words.h"
#include "app/controllers/controllers.h"
#include "app/controllers/study_controller.h"
#include "app/curves_figure.h"
#include "app/help.h"
#include "app/launch.h"
#include "app/main_window.h"
#include "app/one_window.h"
#include "app/opener.h"
#include "app/screenshot.h"
#include "files/program_folder.h"
#include "question/table_command.h"
#include "run/run_list.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/data/sample_grid.h"
#include "widgets/export/export.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/view_options.h"
#include "widgets/study/efficiency_plot.h"
#include "widgets/theme/theme.h"
#include "wire/figures.h"

using namespace relascope;
using namespace relascope::app;

namespace {

bool drawOne(const wire::MapFigure& figure, const QString& out, QString* error) {
    widgets::InspectorView view;
    view.kind = figure.kind;
    view.layer = figure.layer;
    view.index = figure.index;
    view.source = figure.source;
    if (figure.difference) view.shown = widgets::Shown::Difference;
    return widgets::renderFigure(figure.result, widgets::withLook(view, figure.look), out, error,
                                 {QString::fromStdString(figure.run), figure.steps},
                                 widgets::partsOf(figure.look));
}

bool drawOne(const wire::TintFigure& figure, const QString& out, QString* error) {
    std::vector<widgets::InspectorView> views;
    for (const auto& panel : figure.panels) {
        widgets::InspectorView view;
        view.layer = panel.layer, view.index = figure.index;
        view.source = view.target = panel.source;
        view.reversed = panel.reversed;
        using widgets::Processing;
        static const std::map<std::string, Processing> forms = {
            {"tanh", Processing::Tanh},
            {"sign", Processing::Sign},
            {"sigmoid", Processing::Sigmoid},
            {"softmax", Processing::SoftmaxOverJ}};
        if (const auto form = forms.find(panel.form); form != forms.end())
            view.processing = form->second;
        if (panel.form == "attention") view.kind = MapKind::RelationalAttention;
        if (panel.form == "scaled") view.kind = MapKind::AttentionTimesRelation;
        if (panel.form != "tanh") view.range = widgets::Range::ThisMap;
        view.robust = panel.form == "clip";
        views.push_back(view);
    }
    return widgets::renderTints(figure.result, views, out, error,
                                {QString::fromStdString(figure.run), figure.steps});
}

widgets::ShownSample shownOf(const DataExample& example) {
    return {example.sample, QString::fromStdString(example.answer), example.order};
}
QStringList textsOf(const std::vector<std::string>& texts) {
    QStringList all;
    for (const auto& text : texts) all << QString::fromStdString(text);
    return all;
}

bool drawOne(const wire::ExamplesFigure& figure, const QString& out, QString* error) {
    std::vector<widgets::ShownSample> samples;
    for (const auto& example : figure.examples) samples.push_back(shownOf(example));
    return widgets::renderExamples(samples, textsOf(figure.titles), figure.columns, out, error);
}

bool drawOne(const wire::StudyFigure& figure, const QString& out, QString* error) {
    const widgets::StudyMetric metric = studyMetric({figure.metric, {}});
    return widgets::renderStudy(
        widgets::StudyLayout(figure.study), metric, figure.points, figure.published, figure.look,
        QString::fromStdString(figure.title) + QStringLiteral(": ") + metric.title(), out, error);
}

bool drawOne(const wire::AnalysisFigure& figure, const QString& out, QString* error) {
    const auto* analysis = core::describedAnswer(figure.analysis);
    if (!analysis) throw Error("there is no analysis '" + figure.analysis + "'");
    return widgets::renderAnalysis(*analysis, figure.result, QString::fromStdString(figure.caption),
                                   out, error);
}

bool drawOne(const wire::CurvesFigure& figure, const QString& out, QString* error) {
    return renderCurves(figure, out, error);
}

/// Runs `relascope draw FILE`: draws the result of a command, read from standard input
/// (wire/figures.h); with --paper behind it for a paper.
int drawFigure(int argc, char** argv) {
    const bool paper = argc == 4 && std::string_view(argv[3]) == "--paper";
    if (argc != 3 && !paper) {
        std::fputs("relascope: draw is for relascope-cli, which gives it the results\n", stderr);
        return cli::kExitUsage;
    }
    qputenv("QT_QPA_PLATFORM", "offscreen");
    // Parts of a font in a PDF have the order of a table: the same picture is the same bytes.
    QHashSeed::setDeterministicGlobalSeed();
    int count = 1;
    QApplication application(count, argv);
    widgets::applyTheme(application, widgets::ThemeMode::Light);
    widgets::figureStyle().paper = paper;
    QString problem;
    try {
        QFile input;
        if (!input.open(stdin, QIODevice::ReadOnly)) throw Error("standard input cannot be read");
        const QByteArray bytes = input.readAll();
        wire::FrameReader reader;
        reader.append(
            {reinterpret_cast<const std::uint8_t*>(bytes.data()), std::size_t(bytes.size())});
        const auto frame = reader.next();
        if (!frame) throw Error("standard input holds no figure");
        const auto figure = wire::figureFromFrame(*frame);
        const auto origin = wire::originOf(*frame);
        if (origin.dark && !paper) {
            widgets::applyTheme(application, widgets::ThemeMode::Dark);
            widgets::figureStyle().light = false;
        }
        const widgets::OriginScope named({QString::fromStdString(origin.command),
                                          QString::fromStdString(origin.view), origin.dpi});
        const widgets::FigureScope scope;
        const QString out = QString::fromLocal8Bit(argv[2]);
        if (std::visit([&](const auto& one) { return drawOne(one, out, &problem); }, figure))
            return 0;
    } catch (const std::exception& error) {
        problem = QString::fromStdString(userMessage(error));
    }
    std::fprintf(stderr, "%s\n", qPrintable(problem));
    return cli::kExitFailed;
}

/// Replaces this process by relascope-cli with the same arguments.
int runCommand(char** argv) {
    const std::string program = (core::programFolder() / "relascope-cli").string();
    argv[0] = const_cast<char*>(program.c_str());
    execv(program.c_str(), argv);
    std::fprintf(stderr, "relascope: %s cannot be started: %s\n", program.c_str(),
                 std::strerror(errno));
    return cli::kExitFailed;
}

/// The token that the desktop passed to this start, so that its window may take the focus.
QByteArray activationToken() {
    const QByteArray token = qgetenv("XDG_ACTIVATION_TOKEN");
    return token.isEmpty() ? qgetenv("DESKTOP_STARTUP_ID") : token;
}

QtMessageHandler usualMessages = nullptr;
bool displayFound = false;
constexpr const char* kNoDisplay =
    "relascope: there is no display to open a window on; log in with 'ssh -X', add this machine "
    "under Machines in a window elsewhere, or use relascope-cli\n";
constexpr const char* kNoPlugin =
    "relascope: Qt's plugin for Wayland is not there; install qt6-wayland\n";
bool pluginFound = true;
void showMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (displayFound) return usualMessages(type, context, text);
    if (text.contains(QLatin1String("platform plugin \"wayland"))) pluginFound = false;
    // A missing display is reported with one sentence, not as a crash.
    if (type != QtFatalMsg) return;
    std::fputs(pluginFound ? kNoDisplay : kNoPlugin, stderr);
    std::_Exit(cli::kExitFailed);
}

/// A process that was killed, or a machine that lost power, can leave an empty lock beside the
/// settings. Qt removes a lock whose process is gone, but an empty one names none: it would hold
/// the window back for half a minute.
void removeEmptySettingsLock() {
    const QString path = QSettings().fileName() + QStringLiteral(".lock");
    const auto empty = [&path] {
        const QFileInfo lock(path);
        return lock.exists() && lock.size() == 0;
    };
    if (!empty()) return;
    QThread::msleep(200);  // longer than another start takes to write its number
    if (empty()) QFile::remove(path);
}

void openAll(MainWindow& window, const Launch& launch) {
    if (const auto page = pageNamed(launch.page)) window.showPage(*page);
    if (!launch.run.isEmpty()) window.opener().openRun(launch.run);
    if (!launch.checkpoint.isEmpty()) window.opener().openCheckpoint(launch.checkpoint);
    if (!launch.study.isEmpty()) window.opener().openStudy(launch.study);
    window.opener().openAll(launch.files);
    if (!launch.duel.isEmpty()) window.showDuel(launch.duel);
    if (launch.options) {
        window.controllers().selection.setPreset(launch.train);
        window.controllers().experiment.begin(*launch.options);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (isAskpass()) return runAskpass(argc, argv);
    if (argc > 1 && std::string_view(argv[1]) == "--version")
        return cli::printVersion(argc, argv, qVersion());
    if (isCommandLine(argc, argv)) return runCommand(argv);
    cli::installLastWords("relascope");
    if (argc > 1 && std::string_view(argv[1]) == "draw") return drawFigure(argc, argv);
    // Before any thread starts, so that all threads inherit the signal mask.
    const std::stop_token interrupted = cli::stopOnSignals();
    // Without X, Qt would still try it first; without any display, only pictures can be made.
    bool noDisplay = false;
    if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        noDisplay = qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
        qputenv("QT_QPA_PLATFORM", noDisplay ? "offscreen" : "wayland");
    }
    // The LLVM versions of Mesa and LibTorch conflict; OpenGL is not needed.
    if (qEnvironmentVariableIsEmpty("QT_XCB_GL_INTEGRATION"))
        qputenv("QT_XCB_GL_INTEGRATION", "none");
    usualMessages = qInstallMessageHandler(showMessage);
    // Read first, as Qt removes it from the environment.
    const QByteArray activation = activationToken();
    QCoreApplication::setOrganizationName(QStringLiteral("Relascope"));
    QCoreApplication::setApplicationName(QStringLiteral("Relascope"));
    QApplication application(argc, argv);
    displayFound = true;
    application.setDesktopFileName(QStringLiteral("org.relascope.Relascope"));

    int exitCode = 0;
    const QStringList arguments = application.arguments();
    const auto launch = parseLaunch(arguments, &exitCode);
    if (!launch) return exitCode;
    const bool picture = !launch->screenshot.isEmpty();
    const QString place = picture ? QString() : windowPlace();
    OneWindow others(place);
    SecondStart second;
    if (!place.isEmpty() && launch->shares)
        second = handOverOrListen(others, {launch->files, activation});
    else if (!place.isEmpty())
        others.listen();
    if (second.ends) return 0;
    if (noDisplay && !picture) {
        std::fputs(kNoDisplay, stderr);
        return cli::kExitFailed;
    }
    try {
        core::defaultRunsFolder();
    } catch (const Error& error) {
        std::fprintf(stderr, "relascope: %s\n", error.what());
        return cli::kExitFailed;
    }
    removeEmptySettingsLock();
    const widgets::ThemeMode theme = launch->theme == "dark" ? widgets::ThemeMode::Dark
                                     : launch->theme == "light" || picture
                                         ? widgets::ThemeMode::Light
                                         : widgets::ThemeMode::System;
    widgets::applyTheme(application, theme);

    MainWindow window(!picture);
    if (!launch->theme.isEmpty() || picture) window.setTheme(theme);
    QTimer signal;
    QObject::connect(&signal, &QTimer::timeout, &window, [&] {
        if (!interrupted.stop_requested()) return;
        signal.stop();
        exitCode = cli::kExitInterrupted;
        if (const auto& c = window.controllers(); c.training.busy())
            std::fprintf(stderr, "relascope: %s continues without the window\n",
                         qPrintable(c.runs.name(c.training.run())));
        window.closeNow();
    });
    signal.start(200);

    if (picture) {
        Screenshot screenshot(window, *launch);
        QObject::connect(&screenshot, &Screenshot::done, &application, &QCoreApplication::quit,
                         Qt::QueuedConnection);
        screenshot.begin();
        application.exec();
        endProcessWithin(std::chrono::seconds(20), screenshot.exitCode());
        return screenshot.exitCode();
    }
    constexpr QSize frame(2, 40);  // the frame of the window manager
    window.fitTo(window.screen()->availableSize() - frame);
    window.show();
    openAll(window, *launch);
    serveOtherStarts(window, others);
    if (!second.complaint.isEmpty()) {
        std::fprintf(stderr, "relascope: %s\n", qPrintable(second.complaint));
        window.controllers().messages.warning(second.complaint);
    }
    // No tour and no news if the program was started for a specific file or command.
    if (arguments.size() == 1) showNewsAfterUpdate(window, showTourOnFirstStart(window) != nullptr);
    application.exec();
    endProcessWithin(std::chrono::seconds(20), exitCode);
    return exitCode;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// Entry point of the window, which also runs the commands of the command line program.
#include <QApplication>
#include <QScreen>
#include <QTimer>
#include <QtGlobal>
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "app/cli/build_facts.h"
#include "app/cli/cli.h"
#include "app/controllers/controllers.h"
#include "app/controllers/study_controller.h"
#include "app/crash/crash.h"
#include "app/crash_notice.h"
#include "app/help.h"
#include "app/launch.h"
#include "app/main_window.h"
#include "app/one_window.h"
#include "app/opener.h"
#include "app/screenshot.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/export/figure.h"
#include "widgets/study/efficiency_plot.h"
#include "widgets/theme/theme.h"

using namespace relascope;
using namespace relascope::app;

namespace {

bool drawFigure(const cli::MapFigure& figure, std::string* error) {
    widgets::InspectorView view;
    view.kind = figure.kind;
    view.layer = figure.layer;
    view.index = figure.index;
    view.source = figure.source;
    QString sentence;
    const bool done = widgets::renderFigure(figure.result, view, QString::fromStdString(figure.out),
                                            &sentence, QString::fromStdString(figure.run));
    if (error) *error = sentence.toStdString();
    return done;
}

bool drawStudy(const cli::StudyFigure& figure, std::string* error) {
    const widgets::StudyMetric metric = studyMetric({figure.metric, {}});
    QString sentence;
    const bool done = widgets::renderStudy(
        widgets::StudyLayout(figure.study), metric, figure.points, figure.published,
        QString::fromStdString(figure.title) + QStringLiteral(": ") + metric.title(),
        QString::fromStdString(figure.out), &sentence);
    if (error) *error = sentence.toStdString();
    return done;
}

bool drawAnalysis(const cli::AnalysisFigure& figure, std::string* error) {
    QString sentence;
    const bool done = widgets::renderAnalysis(*figure.analysis, figure.result,
                                              QString::fromStdString(figure.caption),
                                              QString::fromStdString(figure.out), &sentence);
    if (error) *error = sentence.toStdString();
    return done;
}

cli::Renderers renderers() {
    return {drawFigure, drawStudy, drawAnalysis};
}

bool drawsFigure(int argc, char** argv) {
    const std::string_view command = argv[1];
    if (command == "inspect") return true;
    // "--figure X", and "--out X" or "--out=X" of a picture.
    return std::any_of(argv + 2, argv + argc, [&](std::string_view word) {
        return command == "study" ? word.substr(0, 8) == "--figure"
                                  : cli::isPicture(std::string(word));
    });
}

int runCommand(int argc, char** argv) {
    if (std::string_view(argv[1]) == "--version") return cli::printVersion(argc, argv, qVersion());
    // Only pictures need a QApplication; other output is faster without one.
    if (!drawsFigure(argc, argv)) return cli::runCommandLine(argc, argv);
    qputenv("QT_QPA_PLATFORM", "offscreen");
    int count = 1;
    QApplication application(count, argv);
    widgets::applyTheme(application, widgets::ThemeMode::Light);
    return cli::runCommandLine(argc, argv, renderers());
}

/// What the desktop gave this start, so that its window may take the focus.
QByteArray activationToken() {
    const QByteArray token = qgetenv("XDG_ACTIVATION_TOKEN");
    return token.isEmpty() ? qgetenv("DESKTOP_STARTUP_ID") : token;
}

QtMessageHandler usualMessages = nullptr;
bool displayFound = false;
/// Qt's messages belong to the log of a crash.
void keepMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    crash::note("Qt: " + text.toStdString());
    usualMessages(type, context, text);
    // A display that is not there is no crash.
    if (type == QtFatalMsg && !displayFound) std::_Exit(cli::kExitFailed);
}

void openAll(MainWindow& window, const Launch& launch) {
    if (const auto page = pageNamed(launch.page)) window.showPage(*page);
    if (!launch.run.isEmpty()) window.opener().openRun(launch.run);
    if (!launch.checkpoint.isEmpty()) window.opener().openCheckpoint(launch.checkpoint);
    if (!launch.study.isEmpty()) window.opener().openStudy(launch.study);
    window.opener().openAll(launch.files);
    if (launch.options) {
        window.controllers().selection.setPreset(launch.train);
        window.controllers().experiment.begin(*launch.options);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool command = isCommandLine(argc, argv);
    crash::install({command ? cli::programName("relascope", argc, argv) : "relascope",
                    versionText(cli::buildFacts(qVersion()))});
    if (command) return runCommand(argc, argv);
    // Before any thread starts, so that all threads inherit the signal mask.
    const std::stop_token interrupted = cli::stopOnSignals();
    if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY") &&
        qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    // The LLVM versions of Mesa and LibTorch conflict; OpenGL is not needed.
    if (qEnvironmentVariableIsEmpty("QT_XCB_GL_INTEGRATION"))
        qputenv("QT_XCB_GL_INTEGRATION", "none");
    usualMessages = qInstallMessageHandler(keepMessage);
    const QByteArray activation = activationToken();  // Qt takes it out of the environment
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
        window.stopAndClose(false);
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
    constexpr QSize frame(2, 40);  // of the window manager
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
    showCrashNotice(window);
    application.exec();
    endProcessWithin(std::chrono::seconds(20), exitCode);
    return exitCode;
}

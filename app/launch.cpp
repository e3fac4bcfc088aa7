// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include <QCommandLineParser>
#include <QFileInfo>
#include <QSysInfo>
#include <QUrl>

#include "analysis/analysis.h"
#include "app/cli/build_facts.h"
#include "app/cli/cli.h"
#include "app/launch.h"
#include "checkpoint/start_from.h"
#include "hub/hub_cache.h"
#include "model/served/served_options.h"
#include "options/run_settings.h"
#include "question/table_command.h"
#include "run/run_folder.h"
#include "study/study.h"
#include "views/view_file.h"

namespace relascope::app {

void endProcessWithin(std::chrono::milliseconds limit, int code) {
    std::thread([limit, code] {
        std::this_thread::sleep_for(limit);
        std::fputs("relascope: a background task did not stop; ending without it\n", stderr);
        std::_Exit(code);
    }).detach();
}

namespace {

void trainOptions(Launch& launch, const QCommandLineParser& parser) {
    const auto number = [&](const char* name) -> std::int64_t {
        bool ok = true;
        const QString text = parser.value(QLatin1String(name));
        const std::int64_t value = text.isEmpty() ? 0 : text.toLongLong(&ok);
        if (!ok || value < 0)
            throw OptionError(std::string("--") + name,
                              "'" + text.toStdString() + "' is not an integer");
        return value;
    };
    static const std::string kStart = "train.init_from=";
    core::RunSettings settings;
    settings.preset = launch.train.toStdString();
    settings.model = launch.model.toStdString();
    for (const auto& setting : parser.values(QStringLiteral("set")))
        if (const auto text = setting.toStdString(); text.starts_with(kStart))
            settings.begin = [from = text.substr(kStart.size())](RunOptions& o) {
                if (!from.empty()) core::startFrom(o, from);
            };
        else
            settings.set.push_back(text);
    settings.data = parser.value("data").toStdString();
    settings.device = parser.value("device").toStdString();
    settings.epochs = number("epochs");
    settings.steps = number("steps");
    if (parser.isSet("seed")) settings.seed = number("seed");
    launch.options = core::runOptions(settings);
}

/// The path that an argument names; file managers also pass URLs. Empty for a URL of another
/// machine.
QString localPath(const QString& word) {
    if (!word.startsWith(QLatin1String("file:"))) return word;
    const QUrl url(word);
    const bool here = url.host().isEmpty() || url.host() == QLatin1String("localhost") ||
                      url.host() == QSysInfo::machineHostName();
    return here ? url.path(QUrl::FullyDecoded) : QString();
}

}  // namespace

const QStringList& commandNames() {
    static const QStringList names = [] {
        QStringList all = {"presets", "families", "datasets", "devices", "eval",   "inspect",
                           "study",   "generate", "tokenize", "data",    "verify", "info",
                           "convert", "points",   "export",   "session", "attach", "figure",
                           "fetch",   "draw",     "curves",   "compare", "mcp",    "served"};
        for (const auto* analysis : core::analyses()) {
            const auto name = QString::fromStdString(analysis->name);
            if (name != QLatin1String("duel")) all << name;  // `duel` opens a window
        }
        for (const auto& tables : core::tableCommands())
            all << QString::fromStdString(tables.described.name);
        return all;
    }();
    return names;
}

bool isCommandLine(int argc, char** argv) {
    if (argc < 2) return false;
    const std::string word = argv[1];
    // `draw` of a view is a command; of another file it draws the figure of one.
    if (word == "draw")
        return std::any_of(argv + 2, argv + argc, [](const std::string& one) {
            return core::isViewFile(one) || one == "--help";
        });
    if (commandNames().contains(QString::fromStdString(core::currentName(word)))) return true;
    // `train` opens a window that trains, `duel` one that compares.
    // Resuming a run and JSON output belong to the command line program.
    const std::set<std::string> rest(argv + 2, argv + argc);
    if (word != "train" && word != "duel") return false;
    return rest.contains("--json") || rest.contains("--out") ||
           (word == "duel" && rest.contains("--help"));
}

namespace {

struct WindowOption {
    const char *name, *help;
    const char* value = "";  ///< "file.png"; empty: a flag
};
constexpr WindowOption kOptions[] = {
    {"version", "Print version, commit and libraries."},
    {"new-instance", "Open another window, also where one is open."},
    {"screenshot", "Save a screenshot of the window and exit.", "file.png"},
    {"size", "Size of the screenshot.", "1440x900"},
    {"page", "Page to show: workbench, compare, study, data, checkpoint, atlas, duel or measure.",
     "page"},
    {"theme", "dark, light or system.", "theme"},
    {"preset", "Experiment shown in the screenshot (default: quick).", "preset"},
    {"run", "Run shown in the screenshot, instead of training one.", "folder"},
    {"after-steps",
     "Training step at which the screenshot is taken, or number of generated tokens.", "n"},
    {"model", "One of the preset's models.", "name"},
    {"set", "KEY=VALUE for any option: model.d_model=64.", "key=value"},
    {"data", "A .npz file, a text file, or a folder of either.", "path"},
    {"epochs", "Total epochs.", "n"},
    {"steps", "Total steps.", "n"},
    {"seed", "One seed instead of the preset's.", "n"},
    {"device", "auto, cpu, cuda:0.", "name"},
};

}  // namespace

std::optional<Launch> parseLaunch(const QStringList& arguments, int* exitCode) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QString(
            "Relascope trains relational Transformers and inspects them during training.\n\n"
            "  relascope                     open the window, or show the one that is open\n"
            "  relascope PATH ...            open runs, checkpoints and studies in that window\n"
            "  relascope train PRESET        open a window and train\n"
            "  relascope duel A B            compare two runs or checkpoints in the window\n"
            "  relascope COMMAND ...         do the same as relascope-cli COMMAND ...\n\n"
            "The commands are %1.")
            .arg(commandNames().join(QStringLiteral(", "))));
    const QCommandLineOption help({"h", "help"}, "Show this help.");
    parser.addOption(help);
    for (const auto& option : kOptions) {
        const QString name = QLatin1String(option.name), help = QLatin1String(option.help);
        parser.addOption(*option.value ? QCommandLineOption(name, help, QLatin1String(option.value))
                                       : QCommandLineOption(name, help));
    }
    const auto bad = [exitCode](const QString& sentence) {
        std::fprintf(stderr, "relascope: %s\n", qPrintable(sentence));
        *exitCode = cli::kExitUsage;
        return std::nullopt;
    };
    if (!parser.parse(arguments))
        return bad(parser.errorText().chopped(1) + QStringLiteral("; see relascope --help"));
    if (parser.isSet(help)) {
        std::fputs(qPrintable(parser.helpText()), stdout);
        *exitCode = 0;
        return std::nullopt;
    }
    if (parser.isSet("version")) {
        std::fputs(versionText(cli::buildFacts(qVersion())).c_str(), stdout);
        *exitCode = 0;
        return std::nullopt;
    }
    Launch launch;
    launch.screenshot = parser.value("screenshot");
    launch.page = parser.value("page");
    launch.theme = parser.value("theme").toLower();
    launch.model = parser.value("model");
    launch.run = parser.value("run");
    launch.train = parser.value("preset");
    if (parser.isSet("size")) {
        const QStringList sides = parser.value("size").toLower().split(u'x');
        launch.size = sides.size() == 2 ? QSize(sides[0].toInt(), sides[1].toInt()) : QSize();
        if (launch.size.width() < 320 || launch.size.height() < 240 ||
            launch.size.width() > 16384 || launch.size.height() > 16384)
            return bad(
                QString("--size: '%1' is not a size such as 1440x900").arg(parser.value("size")));
    }
    if (parser.isSet("after-steps")) {
        bool ok = false;
        launch.afterSteps = parser.value("after-steps").toLongLong(&ok);
        if (!ok || launch.afterSteps < 0)
            return bad(
                QString("--after-steps: '%1' is not an integer").arg(parser.value("after-steps")));
    }
    if (!launch.theme.isEmpty() && launch.theme != "dark" && launch.theme != "light" &&
        launch.theme != "system")
        return bad(QString("--theme: '%1' must be dark, light or system").arg(launch.theme));
    const QStringList positional = parser.positionalArguments();
    if (!positional.isEmpty() && positional.first() == QLatin1String("train")) {
        if (positional.size() != 2)
            return bad(
                QStringLiteral("train: give one experiment; `relascope presets` lists them"));
        launch.train = positional[1];
    } else {
        const bool duel = !positional.isEmpty() && positional.first() == QLatin1String("duel");
        if (duel && positional.size() != 3)
            return bad(QStringLiteral("duel: give two runs or checkpoints, A and B"));
        for (const QString& word : duel ? positional.mid(1) : positional) {
            QString path = localPath(word);
            try {
                if (word.startsWith(QLatin1String(core::kHubPrefix)))
                    path = QString::fromStdString(core::hubPath(word.toStdString()));
            } catch (const Error& error) {
                return bad(QString::fromStdString(userMessage(error)));
            }
            if (path.isEmpty()) return bad(QString("%1: not a file of this machine").arg(word));
            const bool served = core::isServedName(word.toStdString());
            if (!served && !QFileInfo::exists(path))
                return bad(
                    QString("%1: not a run folder, checkpoint or command; see relascope --help")
                        .arg(path));
            (duel ? launch.duel : launch.files)
                << (served ? word : QFileInfo(path).absoluteFilePath());
        }
    }
    launch.shares =
        parser.optionNames().isEmpty() && launch.train.isEmpty() && launch.duel.isEmpty();
    if (!launch.screenshot.isEmpty() && launch.files.size() > 1)
        return bad(QString("'%1': a screenshot shows one of them").arg(positional.join(u' ')));
    if (!launch.screenshot.isEmpty() && !launch.files.isEmpty()) {
        // The content determines the type; errors in checkpoints are shown in the window.
        const QString path = launch.files.takeFirst();
        (core::isRunFolder(path.toStdString())     ? launch.run
         : core::isStudyFolder(path.toStdString()) ? launch.study
                                                   : launch.checkpoint) = path;
    }
    // On the page Checkpoint a run is opened with its newest weights.
    const bool weights = launch.page.compare("checkpoint", Qt::CaseInsensitive) == 0;
    if (weights && launch.files.size() == 1 &&
        core::isRunFolder(launch.files.first().toStdString()))
        launch.checkpoint = launch.files.takeFirst();
    const bool studies = launch.page.compare(QLatin1String("study"), Qt::CaseInsensitive) == 0;
    if (!launch.screenshot.isEmpty() && launch.run.isEmpty() && launch.train.isEmpty() &&
        launch.checkpoint.isEmpty() && launch.study.isEmpty() && launch.duel.isEmpty() && !studies)
        launch.train = QStringLiteral("quick");
    try {
        if (!launch.run.isEmpty() && !core::isRunFolder(launch.run.toStdString()))
            return bad(QString("%1: contains no run.json; give a run folder").arg(launch.run));
        if (!launch.run.isEmpty() && weights) launch.checkpoint = std::exchange(launch.run, {});
        if (!launch.train.isEmpty()) trainOptions(launch, parser);
    } catch (const std::exception& error) {
        return bad(QString::fromStdString(userMessage(error)));
    }
    return launch;
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/controllers.h"

#include <cmath>

#include "options/field_text.h"
#include "widgets/text/run_text.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

widgets::MessageLevel levelOf(Note::Level level) {
    switch (level) {
        case Note::Level::Warning:
        case Note::Level::Jump:
            return widgets::MessageLevel::Warning;
        case Note::Level::Checkpoint:
            return widgets::MessageLevel::Ok;
        default:
            return widgets::MessageLevel::Info;
    }
}

QString firstUpper(QString text) {
    if (!text.isEmpty()) text[0] = text[0].toUpper();
    return text;
}

}  // namespace

Controllers::Controllers(QObject* parent) : QObject(parent) {
    history.setUndoLimit(200);
    // The current run is handled like any other.
    connect(&training, &TrainingController::runBegan, this, [this](const QString& path) {
        runs.setLive(path, !training.resumed() && !training.attached());
        if (training.attached() && path == selection.current())
            return messages.info(
                QString("Watching %1, which another process trains").arg(runs.name(path)));
        QStringList chosen = selection.runs();
        // The next seed of a group joins the others; any other new run is shown alone.
        const bool resumed = chosen.contains(path);
        const QString folder = path.section(u'/', 0, -2);
        const bool sibling = !chosen.isEmpty() && chosen.first().section(u'/', 0, -2) == folder &&
                             folder != runs.folder();
        if (!resumed) selection.setRuns(sibling ? QStringList{path} + chosen : QStringList{path});
        selection.setStep(std::nullopt);
        selection.setCurrent(path);
        messages.info(
            (training.resumed() ? QStringLiteral("Resumed %1") : QStringLiteral("Started %1"))
                .arg(runs.name(path)));
    });
    connect(&training, &TrainingController::runInfo, &runs, &RunsController::liveInfo);
    connect(&training, &TrainingController::runLeft, this, [this] { runs.setLive({}); });
    connect(&runs.records(), &RunRecords::noted, &messages, [this](const Note& note) {
        if (note.level == Note::Level::Sample) return;  // the inspector shows it
        const QString text = firstUpper(QString::fromStdString(note.text));
        const bool dated = note.level == Note::Level::Edit || note.level == Note::Level::Warning ||
                           note.level == Note::Level::Jump;
        messages.say(
            levelOf(note.level),
            dated ? QString("%1 (step %2)").arg(text, widgets::groupedNumber(note.step)) : text);
    });
    // A run that is being prepared is listed once it has begun, or waits for a device.
    connect(&training, &TrainingController::stateChanged, &runs,
            [this] { runs.setStarting(training.preparing() && training.waitsFor().isEmpty()); });
    connect(&training, &TrainingController::failed, &messages, &Messages::error);
    connect(&training, &TrainingController::unreachable, &messages,
            [this](const QString& path, const QString& reason) {
                messages.warning(runs.name(path) + u' ' + reason);
            });
    connect(&training, &TrainingController::runEnded, this, [this](const QString& path) {
        const RunInfo& info = training.info();
        runs.liveInfo(info);
        runs.setLive({});
        QString text = QString("%1: %2").arg(runs.name(path), widgets::runStateLine(info));
        if (const QString kept = widgets::keptText(info); !kept.isEmpty())
            text += QStringLiteral(", ") + kept;
        if (info.state == RunState::Done)
            messages.ok(text);
        else if (info.state != RunState::Failed && info.state != RunState::Running &&
                 info.state != RunState::Paused)
            messages.info(text);  // failures and lost connections were already reported
    });
    connect(&experiment, &ExperimentController::changed, &device, [this] {
        device.setWanted(experiment.hasOptions() ? experiment.options().train.device : "auto",
                         experiment.host().toStdString());
    });
    connect(&hosts, &HostsController::changed, this, [this] {
        runs.setMirrors(hosts.folders());
        std::map<QString, QString> headings;
        std::vector<std::pair<QString, QString>> usable;
        for (const auto& host : hosts.hosts()) {
            const QString name = QString::fromStdString(host.name);
            const auto status = hosts.status(name);
            const bool connected = status->state == wire::HostLink::State::Connected;
            headings[name] = name;
            if (status->state == wire::HostLink::State::Lost)
                headings[name] += QStringLiteral(" \u00b7 not connected, trying again in %1 s")
                                      .arg(status->retryIn);
            else if (!connected || status->otherVersion)
                headings[name] += QStringLiteral(" \u00b7 ") + hosts.statusText(name);
            if (hosts.isUsable(name))
                usable.emplace_back(name, QString::fromStdString(status->folder));
        }
        runs.setHeadings(headings);
        experiment.setHosts(usable);
        std::map<QString, QString> studies;
        for (const auto& [host, folder] : hosts.studies()) studies[host] = folder;
        study.setMirrors(studies);
    });
    study.isUsable = [this](const QString& host) { return hosts.isUsable(host); };
    connect(&hosts, &HostsController::lost, &messages, &Messages::warning);
    connect(&hosts, &HostsController::found, &messages, &Messages::info);
    connect(&hosts, &HostsController::filesChanged, this, [this] {
        runs.refresh();
        runs.records().look(selection.runs());
        study.look();
    });
    connect(&runs, &RunsController::failed, &messages, &Messages::error);
    connect(&experiment, &ExperimentController::failed, &messages, &Messages::error);
    connect(&runInput, &RunInput::failed, &messages, &Messages::error);
    connect(&study, &StudyController::failed, &messages, &Messages::error);
    connect(&study, &StudyController::warned, &messages, &Messages::warning);
    connect(&study, &StudyController::ran, &messages,
            [this](const QString& text) { messages.ok(QStringLiteral("Done: %1").arg(text)); });
    // Each inspector has edits of its own, and each run.
    connect(&selection, &Selection::currentChanged, &runEdits,
            [this] { runEdits.setOwner(selection.current()); });
    connect(&runEdits, &InspectorEdits::changed, &runInput, [this] {
        const bool capture = runInput.showsCapture();
        runInput.setEdits(runEdits.list());
        if (capture && !runInput.showsCapture())
            messages.info(QStringLiteral("Step %1 has maps without weights: with edits the nearest "
                                         "weights that were kept are shown")
                              .arg(widgets::groupedNumber(selection.step().value_or(0))));
    });
    const auto block = [this] { runEdits.setBlocked(runInput.whyNotEdited()); };
    connect(&selection, &Selection::stepChanged, &runEdits, block);
    connect(&runInput, &RunInput::modelChanged, &runEdits, block);
    connect(&runInput.feed(), &InspectorFeed::inspected, &runEdits, block);
    connect(&runs.records(), &RunRecords::loaded, &runEdits, block);
    connect(&runInput, &RunInput::modelChanged, &runEdits, [this] {
        const auto& options = runInput.options();
        // A run without options yet may turn out to have the same model.
        if (options)
            runEdits.setModel(options->model,
                              QString::fromStdString(core::modelText(options->model)));
        else if (runInput.run().isEmpty())
            runEdits.setModel(std::nullopt, {});
    });
    connect(&runInput.feed(), &InspectorFeed::effectsFound, &runEdits, &InspectorEdits::setEffects);
    connect(&checkpoint.feed(), &InspectorFeed::effectsFound, &checkpointEdits,
            &InspectorEdits::setEffects);
    connect(&runInput.feed(), &InspectorFeed::meansFound, &runEdits, &InspectorEdits::setMeans);
    connect(&checkpoint.feed(), &InspectorFeed::meansFound, &checkpointEdits,
            &InspectorEdits::setMeans);
    connect(&runInput.feed(), &InspectorFeed::pointsFound, &runEdits, &InspectorEdits::setPoints);
    connect(&runInput.feed(), &InspectorFeed::editsRefused, &runEdits, &InspectorEdits::setProblem);
    connect(&checkpointEdits, &InspectorEdits::changed, &checkpoint,
            [this] { checkpoint.setEdits(checkpointEdits.list()); });
    const auto checkpointModel = [this] {
        const auto& model = checkpoint.feed().model();
        checkpointEdits.setModel(
            model, model ? QString::fromStdString(core::modelText(*model)) : QString());
    };
    connect(&checkpoint.feed(), &InspectorFeed::loaded, &checkpointEdits, checkpointModel);
    connect(&checkpoint, &CheckpointController::loadedChanged, &checkpointEdits, checkpointModel);
    connect(&checkpoint.feed(), &InspectorFeed::pointsFound, &checkpointEdits,
            &InspectorEdits::setPoints);
    connect(&checkpoint.feed(), &InspectorFeed::editsRefused, &checkpointEdits,
            &InspectorEdits::setProblem);
    m_recording.setInterval(400);
    connect(&m_recording, &QTimer::timeout, this,
            [this] { runs.records().look({selection.current()}); });
    // A run that is shown and trains elsewhere is watched, and can be steered.
    const auto watch = [this] {
        const RunInfo* info = runs.info(selection.current());
        // A run that another program records has no door: its files are read on.
        const bool records = info && info->recorded && info->state == RunState::Running;
        if (!records)
            m_recording.stop();
        else if (!m_recording.isActive())
            m_recording.start();
        if (info && info->recorded) return;
        const QString host = HostsController::hostOf(selection.current());
        const auto status = hosts.status(host);
        const bool connected =
            host.isEmpty() || (status && status->state == wire::HostLink::State::Connected);
        if (info && connected &&
            (info->state == RunState::Running || info->state == RunState::Paused ||
             info->state == RunState::Queued))
            training.attach(selection.current());
    };
    connect(&selection, &Selection::currentChanged, this, watch);
    connect(&runs, &RunsController::rowsChanged, this, [this, watch, isFirst = true]() mutable {
        // A window that shows nothing yet begins with the run that trains.
        if (!runs.rows().empty() && std::exchange(isFirst, false) &&
            selection.current().isEmpty() && !training.busy())
            for (const auto& row : runs.rows()) {
                if (row.info.state != RunState::Running && row.info.state != RunState::Paused)
                    continue;
                const QString path = QString::fromStdString(row.info.path);
                selection.setRuns({path});
                return selection.setCurrent(path);
            }
        watch();
    });
    const auto follow = [this] { hosts.follow(selection.runs() + QStringList{study.path()}); };
    connect(&study, &StudyController::openedChanged, this, follow);
    connect(&study, &StudyController::asked, &hosts,
            [this](const QString& host) { hosts.refresh(host); });
    // The inspector shows the run chosen last, or none.
    connect(&selection, &Selection::runsChanged, this, [this, follow] {
        follow();
        runs.records().load(selection.runs());
        if (!selection.runs().contains(selection.current()))
            selection.setCurrent(selection.runs().isEmpty() ? QString() : selection.runs().first());
    });
}

}  // namespace relascope::app

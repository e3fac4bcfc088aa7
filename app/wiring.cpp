// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/wiring.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <map>

#include "app/controllers/controllers.h"
#include "app/pages/data_source.h"
#include "app/pages/far_file_dialog.h"
#include "app/run_actions.h"
#include "options/device_list.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "run/run_list.h"
#include "widgets/bar/devices_chip.h"
#include "widgets/bar/job_list.h"
#include "widgets/bar/status_strip.h"
#include "widgets/bar/train_bar.h"
#include "widgets/form/field_row.h"
#include "widgets/form/options_form.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

QString modelChip(const ModelOptions& model, const QString& parameters) {
    return QString("%1 · %2 parameters")
        .arg(QString::fromStdString(core::modelText(model)), parameters);
}

// The text that the bar shows without a training.
QString idleSentence(const Controllers& c) {
    const QString why = c.experiment.disabledReason();
    if (!why.isEmpty()) return why;
    if (c.experiment.resumes())
        return QString("Press Resume to continue %1.").arg(c.runs.name(c.experiment.run()));
    if (c.experiment.isSetUp())
        return QString("Ready to train on %1: %2 steps. Press Start.")
            .arg(c.experiment.title(),
                 widgets::groupedNumber(core::totalSteps(c.experiment.options())));
    const int changed = c.experiment.changedFields();
    return QString("Ready: %1 steps of %2%3.")
        .arg(widgets::groupedNumber(core::totalSteps(c.experiment.options())),
             QString::fromStdString(core::modelText(c.experiment.options().model)),
             changed == 0   ? QString()
             : changed == 1 ? QStringLiteral(", 1 field changed from the preset")
                            : QString(", %1 fields changed from the preset").arg(changed));
}

/// "Occurs, dat, 40 epochs".
void showNewRun(widgets::TrainBar& bar, const Controllers& c) {
    const auto& experiment = c.experiment;
    if (!experiment.hasOptions()) return bar.setNewRun({}, {});
    const auto& train = experiment.options().train;
    const QString text =
        QStringLiteral("%1, %2, %3")
            .arg(experiment.title(), QString::fromStdString(experiment.options().variant),
                 train.steps > 0
                     ? QStringLiteral("%1 steps").arg(widgets::groupedNumber(train.steps))
                     : QStringLiteral("%1 epochs").arg(train.epochs));
    bar.setNewRun(text,
                  experiment.valid()
                      ? modelChip(experiment.options().model, experiment.parameters())
                      : QString(),
                  experiment.resumes() ? c.runs.name(experiment.run()) : QString());
}

/// The experiments by their families.
void fillNewRun(QMenu& menu, Controllers& c) {
    std::map<std::string, QMenu*> families;
    for (const auto& preset : core::presets()) {
        auto*& family = families[preset.family];
        if (!family) family = menu.addMenu(QString::fromStdString(preset.family));
        const QString name = QString::fromStdString(preset.name);
        auto* action = family->addAction(QString::fromStdString(preset.title), &menu, [&c, name] {
            c.selection.setPreset(name);
            c.experiment.choosePreset(name);
        });
        action->setToolTip(QString::fromStdString(preset.help));
        action->setCheckable(true);
        action->setData(name);
        family->setToolTipsVisible(true);
    }
}

/// Ticks the chosen experiment, and lists its models below the families.
void tickNewRun(QMenu& menu, Controllers& c) {
    const QString preset = QString::fromStdString(c.experiment.options().preset);
    for (auto* action : menu.actions()) {
        if (!action->menu()) {
            delete action;
            continue;
        }
        for (auto* entry : action->menu()->actions()) entry->setChecked(entry->data() == preset);
    }
    const QStringList variants = c.experiment.variants();
    if (variants.size() < 2) return;
    menu.addSeparator();
    for (const auto& variant : variants) {
        auto* action =
            menu.addAction(variant, &menu, [&c, variant] { c.experiment.chooseVariant(variant); });
        action->setCheckable(true);
        action->setChecked(c.experiment.options().variant == variant.toStdString());
    }
}

void showBar(widgets::TrainBar& bar, Controllers& c) {
    const auto& training = c.training;
    const bool ready = c.experiment.disabledReason().isEmpty();
    bar.setEnding(training.endingNow() ? widgets::TrainBar::Ending::Now
                  : training.ending()  ? widgets::TrainBar::Ending::AfterEpoch
                                       : widgets::TrainBar::Ending::No);
    if (!training.busy() || training.preparing()) {
        bar.setState(RunState::Queued);
        bar.setResumes(c.experiment.resumes());
        if (training.preparing() && !training.waitsFor().isEmpty())
            bar.setPreparing(
                QString("Waits for %1. Start begins beside it.").arg(training.waitsFor()), true);
        else if (training.preparing())
            bar.setPreparing(QStringLiteral("Preparing the data"));
        else
            bar.setIdle(idleSentence(c), ready);
        showNewRun(bar, c);
        return;
    }
    bar.setResumes(false);
    const RunState state = training.info().state;
    bar.setState(state == RunState::Paused ? RunState::Paused : RunState::Running);
    showNewRun(bar, c);
}

// While a run trains, its devices are shown and none can be chosen.
void showDevices(widgets::TrainBar& bar, const Controllers& c) {
    bar.setDevice(c.device.device());
    bar.setDeviceFacts(c.device.facts());
    std::vector<widgets::DeviceChoice> choices;
    QStringList chosen;
    if (!c.training.busy() && c.experiment.hasOptions()) {
        for (const auto& [name, title] : c.device.choices()) choices.push_back({name, title});
        try {
            for (const auto& name : core::deviceList(c.experiment.options().train.device))
                chosen << QString::fromStdString(name);
        } catch (const OptionError&) {  // the error is shown under the field; nothing is ticked
        }
    }
    bar.setDeviceChoices(choices, chosen);
    const bool chooses = !c.training.busy() && c.experiment.hasOptions();
    const QString host = c.experiment.host();
    QStringList hosts = chooses ? c.experiment.hosts() : QStringList();
    // A chosen machine that is not connected is listed, too, so that another can be chosen.
    if (chooses && !host.isEmpty() && !hosts.contains(host)) hosts << host;
    bar.setHosts(hosts, host);
}

}  // namespace

void toggleTraining(Controllers& c) {
    auto& training = c.training;
    if (!training.busy()) return c.experiment.start();
    if (training.preparing() && !training.waitsFor().isEmpty()) return training.beginBeside();
    if (training.preparing() || training.endingNow()) return;
    if (training.paused())
        training.resume();
    else
        training.pause();
}

void wireBar(widgets::TrainBar& bar, Controllers& c) {
    auto* training = &c.training;
    const auto show = [&bar, &c] { showBar(bar, c); };
    QObject::connect(&bar, &widgets::TrainBar::startRequested, &c.experiment,
                     &ExperimentController::start);
    QObject::connect(&bar, &widgets::TrainBar::besideRequested, training,
                     &TrainingController::beginBeside);
    QObject::connect(&bar, &widgets::TrainBar::pauseRequested, training,
                     &TrainingController::pause);
    QObject::connect(&bar, &widgets::TrainBar::resumeRequested, training,
                     &TrainingController::resume);
    QObject::connect(&bar, &widgets::TrainBar::stepRequested, training, &TrainingController::step);
    QObject::connect(&bar, &widgets::TrainBar::stopRequested, training, &TrainingController::stop);
    QObject::connect(&bar, &widgets::TrainBar::cancelRequested, training,
                     &TrainingController::cancel);
    fillNewRun(*bar.newRunMenu(), c);
    QObject::connect(bar.newRunMenu(), &QMenu::aboutToShow, &bar,
                     [&bar, &c] { tickNewRun(*bar.newRunMenu(), c); });
    QObject::connect(training, &TrainingController::stateChanged, &bar, show);
    QObject::connect(training, &TrainingController::modelFitted, &bar, show);
    QObject::connect(training, &TrainingController::progressed, &bar,
                     &widgets::TrainBar::setProgress);
    QObject::connect(training, &TrainingController::silent, &bar, &widgets::TrainBar::setSilence);
    QObject::connect(training, &TrainingController::preparingData, &bar, [&bar](double fraction) {
        bar.setPreparing(QString("Preparing the data, %1 %").arg(qRound(100.0 * fraction)));
    });
    QObject::connect(&c.experiment, &ExperimentController::changed, &bar, show);
    QObject::connect(&c.experiment, &ExperimentController::problemsChanged, &bar, [training, show] {
        if (!training->busy()) show();
    });
    const auto showDevice = [&bar, &c] { showDevices(bar, c); };
    QObject::connect(&c.device, &DeviceMonitor::changed, &bar, showDevice);
    QObject::connect(&c.experiment, &ExperimentController::changed, &bar, showDevice);
    QObject::connect(training, &TrainingController::stateChanged, &bar, showDevice);
    QObject::connect(&bar, &widgets::TrainBar::devicesChosen, &c.experiment,
                     [&c, showDevice](const QStringList& names) {
                         c.experiment.set("train.device", names.join(u',').toStdString());
                         c.experiment.endEdit();
                         showDevice();  // also if only a tick has changed
                     });
    QObject::connect(&bar, &widgets::TrainBar::hostChosen, &c.experiment,
                     &ExperimentController::setHost);
    showDevice();
    show();
}

void wireSidebar(widgets::Sidebar& sidebar, Controllers& c, RunActions& actions) {
    std::vector<widgets::ExperimentEntry> entries;
    for (const auto& preset : core::presets())
        entries.push_back(
            {QString::fromStdString(preset.family), QString::fromStdString(preset.name),
             QString::fromStdString(preset.title), QString::fromStdString(preset.help)});
    sidebar.setExperiments(entries);
    QObject::connect(&c.runs, &RunsController::rowsChanged, &sidebar, [&sidebar, &c] {
        sidebar.setRuns(c.runs.rows());
        sidebar.setHiddenRuns(c.runs.hiddenRuns(), c.runs.showsHidden());
        sidebar.setSelectedRuns(c.selection.runs());
    });
    QObject::connect(&sidebar, &widgets::Sidebar::presetChosen, &c.selection,
                     &Selection::setPreset);
    QObject::connect(&sidebar, &widgets::Sidebar::presetChosen, &c.experiment,
                     [&c](const QString& preset) { c.experiment.choosePreset(preset); });
    QObject::connect(&c.selection, &Selection::presetChanged, &sidebar,
                     [&sidebar, &c] { sidebar.setCurrentPreset(c.selection.preset()); });
    QObject::connect(&sidebar, &widgets::Sidebar::runsSelected, &c.selection,
                     [&c](const QStringList& paths) {
                         const QStringList before = c.selection.runs();
                         if (paths == before) return;
                         // The run added last is inspected.
                         QString fresh;
                         for (const auto& path : paths)
                             if (!before.contains(path)) fresh = path;
                         if (fresh.isEmpty() && paths.size() == 1) fresh = paths.first();
                         c.selection.setRuns(paths);
                         if (fresh.isEmpty()) return;
                         c.selection.setStep(std::nullopt);
                         c.selection.setCurrent(fresh);
                         c.experiment.follow(fresh);
                     });
    QObject::connect(&c.selection, &Selection::runsChanged, &sidebar,
                     [&sidebar, &c] { sidebar.setSelectedRuns(c.selection.runs()); });
    QObject::connect(&sidebar, &widgets::Sidebar::runMenuRequested, &actions, &RunActions::popUp);
    QObject::connect(
        &sidebar, &widgets::Sidebar::deleteRequested, &actions,
        [&actions](const QStringList& paths) { actions.perform(RunActions::Kind::Delete, paths); });
    QObject::connect(&sidebar, &widgets::Sidebar::renameRequested, &actions, &RunActions::rename);
    QObject::connect(&sidebar, &widgets::Sidebar::showHiddenRequested, &c.runs,
                     &RunsController::setShowHidden);
    QObject::connect(&c.experiment, &ExperimentController::changed, &sidebar, [&sidebar, &c] {
        const QString preset = QString::fromStdString(c.experiment.options().preset);
        sidebar.setCurrentPreset(preset);
        c.selection.setPreset(preset);
    });
    // Runs of other processes are listed periodically while the sidebar is visible.
    auto* timer = new QTimer(&sidebar);
    timer->setInterval(4000);
    QObject::connect(timer, &QTimer::timeout, &c.runs, [&sidebar, &c] {
        if (sidebar.isVisible()) c.runs.refresh();
    });
    timer->start();
}

namespace {

/// A path for a field of the options. A run that trains on another machine reads its files there.
QString askPath(widgets::FieldRow& row, const QString& host, bool folder) {
    QWidget* window = row.window();
    if (!host.isEmpty()) {
        const auto kind = folder ? FarFileDialog::Choice::Folder : FarFileDialog::Choice::File;
        const QString chosen = FarFileDialog::choose(host, kind, {}, window);
        const auto far = wire::farPathOf(chosen.toStdString());
        return far ? QString::fromStdString(far->path) : chosen;
    }
    const QString title = QString::fromStdString(row.state().spec.label),
                  now = widgets::fieldText(row.state().value);
    return folder ? QFileDialog::getExistingDirectory(window, title, now)
                  : QFileDialog::getOpenFileName(window, title, now);
}

}  // namespace

void wireForm(widgets::OptionsForm& form, Controllers& c) {
    auto* row = new QWidget(&form);
    auto* column = widgets::columnOf(row, {16, 8, 16, 4}, 2);
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    column->addLayout(line);
    auto* label = widgets::mutedLabel(QStringLiteral("Variant"), row);
    label->setFont(widgets::smallFont());
    auto* variants = new QComboBox(row);
    variants->setFont(widgets::smallFont());
    variants->setObjectName(QStringLiteral("variant"));
    variants->setAccessibleName(QStringLiteral("Variant"));
    variants->setToolTip(
        QStringLiteral("Model of the experiment; options that you have changed keep their values"));
    line->addWidget(label);
    line->addWidget(variants, 1);
    auto* of = new widgets::ElidedLabel({}, row);
    of->setFont(widgets::smallFont());
    of->setObjectName(QStringLiteral("optionsOf"));
    column->insertWidget(0, of);
    auto* help = widgets::mutedLabel({}, row);
    help->setFont(widgets::captionFont());
    help->setWordWrap(true);
    help->setAccessibleName(QStringLiteral("About the variant"));
    column->addWidget(help);
    form.setHeadRow(row);
    form.setAskPath([&c](widgets::FieldRow& field, bool folder) {
        return askPath(field, c.experiment.host(), folder);
    });

    const auto show = [&form, &c, variants, row, help, of] {
        const auto& experiment = c.experiment;
        row->setVisible(experiment.hasOptions());
        if (!experiment.hasOptions()) return;
        of->setText(
            experiment.run().isEmpty() ? QStringLiteral("Options of the new run")
            : experiment.live()
                ? QStringLiteral("Options of %1, which trains").arg(c.runs.name(experiment.run()))
                : QStringLiteral("Options of %1").arg(c.runs.name(experiment.run())));
        const QStringList names = experiment.variants();
        QStringList shown;
        for (int i = 0; i < variants->count(); ++i) shown << variants->itemText(i);
        if (names != shown) {
            variants->clear();
            variants->addItems(names);
        }
        const core::PresetInfo* preset = nullptr;
        for (const auto& info : core::presets())
            if (info.name == experiment.options().preset) preset = &info;
        for (int i = 0; preset && i < variants->count(); ++i)
            variants->setItemData(
                i, QString::fromStdString(preset->helpOf(variants->itemText(i).toStdString())),
                Qt::ToolTipRole);
        const auto& options = experiment.options();
        help->setText(!options.train.init_from.empty()
                          ? QStringLiteral("Starts from %1, in place of the variant's model.")
                                .arg(QString::fromStdString(core::modelName(options)))
                      : preset ? QString::fromStdString(preset->helpOf(options.variant))
                               : QString());
        help->setVisible(!help->text().isEmpty());
        variants->setCurrentIndex(
            variants->findText(QString::fromStdString(experiment.options().variant)));
        variants->setEnabled(!experiment.live() && names.size() > 1);
        form.setStates(experiment.states());
        form.setRunning(experiment.live());
        form.setFact("train.precision", c.device.precision());
    };
    QObject::connect(&c.device, &DeviceMonitor::changed, &form,
                     [&form, &c] { form.setFact("train.precision", c.device.precision()); });
    const auto judge = [&form, &c] {
        form.setProblems(c.experiment.hasOptions() ? c.experiment.problems()
                                                   : std::vector<FieldProblem>());
        form.setEstimates(c.experiment.estimates());
        if (const auto& refusal = c.experiment.refusal())
            form.setRefusal(refusal->field, refusal->sentence, refusal->action);
        else
            form.setRefusal({}, {}, {});
    };
    QObject::connect(&c.experiment, &ExperimentController::refused, &form,
                     &widgets::OptionsForm::showField);
    QObject::connect(&form, &widgets::OptionsForm::mendRequested, &c.experiment,
                     &ExperimentController::mend);
    QObject::connect(&c.experiment, &ExperimentController::changed, &form, show);
    QObject::connect(&c.experiment, &ExperimentController::problemsChanged, &form, judge);
    QObject::connect(&c.training, &TrainingController::stateChanged, &form,
                     [&form, &c] { form.setRunning(c.experiment.live()); });
    QObject::connect(&form, &widgets::OptionsForm::valueChanged, &c.experiment,
                     &ExperimentController::set);
    QObject::connect(&form, &widgets::OptionsForm::editingEnded, &c.experiment,
                     &ExperimentController::endEdit);
    QObject::connect(&form, &widgets::OptionsForm::resetRequested, &c.experiment,
                     &ExperimentController::reset);
    QObject::connect(&form, &widgets::OptionsForm::validityChanged, &c.experiment,
                     &ExperimentController::setFormValid);
    QObject::connect(variants, &QComboBox::activated, &c.experiment,
                     [&c, variants] { c.experiment.chooseVariant(variants->currentText()); });
    show();
    judge();
}

void wireStatus(ErrorStrip& banner, widgets::StatusStrip& strip, widgets::LogDrawer& log,
                Controllers& c) {
    // Progress stays in the status strip; it must not overwrite an error.
    QObject::connect(&c.messages, &Messages::message, &banner,
                     [&banner, &strip](widgets::MessageLevel level, const QString& sentence) {
                         if (level == widgets::MessageLevel::Error)
                             banner.setSentence(sentence);
                         else
                             strip.showMessage(level, sentence);
                     });
    QObject::connect(&c.messages, &Messages::outdated, &banner,
                     [&banner] { banner.setSentence({}); });
    // Successes without a message clear an error.
    auto* messages = &c.messages;
    // What could not be inspected is inspected again.
    const auto refused = std::make_shared<bool>(false);
    QObject::connect(&c.runInput.feed(), &InspectorFeed::refused, messages,
                     [refused] { *refused = true; });
    QObject::connect(&c.runInput.feed(), &InspectorFeed::inspected, messages, [messages, refused] {
        if (std::exchange(*refused, false)) messages->succeeded();
    });
    QObject::connect(&c.selection, &Selection::currentChanged, messages, &Messages::succeeded);
    QObject::connect(&c.training, &TrainingController::runBegan, messages, &Messages::succeeded);
    QObject::connect(&c.checkpoint, &CheckpointController::opened, messages, &Messages::succeeded);
    QObject::connect(&c.checkpoint.feed(), &InspectorFeed::inspected, messages,
                     &Messages::succeeded);
    QObject::connect(&c.checkpoint, &CheckpointController::evaluated, messages,
                     &Messages::succeeded);
    QObject::connect(&c.study, &StudyController::openedChanged, messages, &Messages::succeeded);
    for (const auto said : {&Messages::message, &Messages::noted})
        QObject::connect(
            &c.messages, said, &log,
            [&log](widgets::MessageLevel level, const QString& text) { log.append(level, text); });
    QObject::connect(&strip, &widgets::StatusStrip::logToggled, &log, &QWidget::setVisible);
    QObject::connect(&log, &widgets::LogDrawer::closeRequested, &strip, [&strip, &log] {
        log.hide();
        strip.setLogShown(false);
    });
    QObject::connect(&c.training, &TrainingController::stateChanged, &strip,
                     [&strip, &c] { strip.setHeartbeat(c.training.running()); });
    QObject::connect(&c.training, &TrainingController::progressed, &strip,
                     [&strip] { strip.beat(); });
    log.hide();
}

namespace {

QString titleOfJob(const Measurement& one) {
    return QStringLiteral("%1 of %2")
        .arg(QString::fromStdString(one.analysis.title), one.subject.name);
}

widgets::JobItem jobItem(const Measurement& one) {
    using State = Measurement::State;
    widgets::JobItem job{
        .number = one.number, .title = titleOfJob(one), .fraction = one.job->fraction};
    job.seen = one.seen();
    switch (one.state()) {
        case State::Waiting:
            job.detail = QStringLiteral("waits for another measurement");
            break;
        case State::Running: {
            job.state = widgets::JobItem::State::Running;
            const auto left = one.secondsLeft();
            const auto waits = one.job->waits();
            job.detail = !waits.isEmpty() ? waits
                         : left           ? QStringLiteral("%1 %, about %2 left")
                                      .arg(qRound(100.0 * job.fraction))
                                      .arg(widgets::roughDuration(*left))
                                : QString::fromStdString(one.analysis.progressText);
            break;
        }
        case State::Done:
            job.state = widgets::JobItem::State::Done;
            job.detail = QStringLiteral("measured");
            break;
        default:
            job.state = widgets::JobItem::State::Failed;
            job.detail = one.problem();
    }
    return job;
}

}  // namespace

void wireJobs(widgets::StatusStrip& strip, Controllers& c,
              std::function<void(const Measurement&)> open) {
    auto* measurements = &c.measurements;
    auto* list = new widgets::JobList(&strip);
    auto* timer = new QTimer(list);
    timer->setInterval(500);
    const auto show = [measurements, &strip, list, timer] {
        std::vector<widgets::JobItem> jobs;
        bool active = false;
        std::optional<widgets::MessageLevel> news;
        for (const auto& one : measurements->all()) {
            jobs.push_back(jobItem(*one));
            active = active || one->active();
            if (one->active() || one->seen()) continue;
            const bool failed = one->state() == Measurement::State::Failed;
            if (!news || failed)
                news = failed ? widgets::MessageLevel::Error : widgets::MessageLevel::Ok;
        }
        strip.setJobs(widgets::jobsText(jobs), news);
        list->setJobs(jobs);
        active ? timer->start() : timer->stop();
    };
    const auto find = [measurements](quint64 number) -> MeasurementPtr {
        for (const auto& one : measurements->all())
            if (one->number == number) return one;
        return nullptr;
    };
    QObject::connect(timer, &QTimer::timeout, list, show);
    QObject::connect(measurements, &Measurements::changed, list, show);
    QObject::connect(measurements, &Measurements::measured, &c.messages,
                     [&c](const Measurement& one) {
                         c.messages.ok(QStringLiteral("%1 is done").arg(titleOfJob(one)));
                     });
    QObject::connect(&strip, &widgets::StatusStrip::jobsRequested, list,
                     [&strip, list, measurements] {
                         const auto* button = strip.jobsButton();
                         list->popUp(button->mapToGlobal(QPoint(button->width(), -2)));
                         measurements->seeAll();
                     });
    QObject::connect(list, &widgets::JobList::openRequested, list, [find, open](quint64 number) {
        if (const auto one = find(number)) open(*one);
    });
    QObject::connect(list, &widgets::JobList::cancelRequested, list,
                     [find, measurements](quint64 number) {
                         if (const auto one = find(number)) measurements->cancel(*one);
                     });
    QObject::connect(list, &widgets::JobList::clearRequested, measurements, &Measurements::clear);
    show();
}

}  // namespace relascope::app

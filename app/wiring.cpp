#include "app/wiring.h"

#include <QComboBox>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QLabel>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

#include "app/controllers/controllers.h"
#include "app/controllers/runtime.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "train/devices.h"
#include "widgets/bar/status_strip.h"
#include "widgets/bar/train_bar.h"
#include "widgets/form/options_form.h"
#include "widgets/lists/rail.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

// `counted`: of the model as it was made, whose vocabulary may be that of its text.
QString modelChip(const RunOptions& options, std::int64_t counted = 0) {
    return QString("%1 · %2 parameters")
        .arg(QString::fromStdString(modelWords(options.model)),
             groupedNumber(counted > 0 ? counted : parameterCount(options.model)));
}

// What the bar says while nothing trains.
QString idleSentence(const Controllers& c) {
    const QString why = c.experiment.obstacle();
    if (!why.isEmpty()) return why;
    if (c.experiment.resumes())
        return QString("Press Resume to continue %1.").arg(c.runs.name(c.experiment.run()));
    return QString("Ready: %1 steps of %2.")
        .arg(groupedNumber(totalSteps(c.experiment.options())),
             QString::fromStdString(modelWords(c.experiment.options().model)));
}

void showBar(TrainBar& bar, Controllers& c) {
    const auto& training = c.training;
    const bool ready = c.experiment.obstacle().isEmpty();
    const bool models = c.experiment.hasOptions() && c.experiment.problems().empty();
    if (!training.busy() || training.preparing()) {
        bar.setState(RunState::Queued);
        bar.setResumes(c.experiment.resumes());
        if (training.preparing())
            bar.setPreparing(QStringLiteral("Preparing the data"));
        else
            bar.setIdle(idleSentence(c), ready);
        bar.setModel(models ? modelChip(c.experiment.options()) : QString());
        return;
    }
    bar.setResumes(false);
    const RunState state = training.info().state;
    bar.setState(state == RunState::Paused ? RunState::Paused : RunState::Running);
    bar.setModel(modelChip(training.options(), training.info().parameters));
    if (!training.info().device.empty())
        bar.setDevice(QString::fromStdString(training.info().device));
    if (training.ending())
        for (auto* button : {bar.startButton(), bar.stopButton()}) button->setEnabled(false);
}

}  // namespace

void toggleTraining(Controllers& c) {
    auto& training = c.training;
    if (!training.busy()) return c.experiment.start();
    if (training.preparing() || training.ending()) return;
    if (training.paused())
        training.goOn();
    else
        training.pause();
}

void wireBar(TrainBar& bar, Controllers& c) {
    auto* training = &c.training;
    const auto show = [&bar, &c] { showBar(bar, c); };
    QObject::connect(&bar, &TrainBar::startRequested, &c.experiment, &ExperimentController::start);
    QObject::connect(&bar, &TrainBar::pauseRequested, training, &TrainingController::pause);
    QObject::connect(&bar, &TrainBar::resumeRequested, training, &TrainingController::goOn);
    QObject::connect(&bar, &TrainBar::stepRequested, training, &TrainingController::step);
    QObject::connect(&bar, &TrainBar::stopRequested, training, &TrainingController::stop);
    QObject::connect(&bar, &TrainBar::cancelRequested, training, &TrainingController::cancel);
    QObject::connect(training, &TrainingController::stateChanged, &bar, show);
    QObject::connect(training, &TrainingController::progressed, &bar, &TrainBar::setProgress);
    QObject::connect(training, &TrainingController::preparingData, &bar, [&bar](double share) {
        bar.setPreparing(QString("Preparing the data, %1 %").arg(qRound(100.0 * share)));
    });
    QObject::connect(&c.experiment, &ExperimentController::changed, &bar, show);
    QObject::connect(&c.experiment, &ExperimentController::problemsChanged, &bar, [training, show] {
        if (!training->busy()) show();
    });
    // Which device "auto" stands for is known once LibTorch is there.
    c.models.post(
        &bar, [](std::stop_token) { return awaitRuntime(), resolveDevice("auto"); },
        [&bar](const std::string& device) { bar.setDevice(QString::fromStdString(device)); });
    show();
}

void wireRail(Rail& rail, Controllers& c) {
    std::vector<ExperimentEntry> entries;
    for (const auto& preset : presets())
        entries.push_back(
            {QString::fromStdString(preset.family), QString::fromStdString(preset.name),
             QString::fromStdString(preset.title), QString::fromStdString(preset.help)});
    rail.setExperiments(entries);
    QObject::connect(&c.runs, &RunsController::rowsChanged, &rail, [&rail, &c] {
        rail.setRuns(c.runs.rows());
        rail.setSelectedRuns(c.selection.runs());
    });
    QObject::connect(&rail, &Rail::presetChosen, &c.selection, &Selection::setPreset);
    QObject::connect(&rail, &Rail::presetChosen, &c.experiment,
                     [&c](const QString& preset) { c.experiment.choosePreset(preset); });
    QObject::connect(&c.selection, &Selection::presetChanged, &rail,
                     [&rail, &c] { rail.setCurrentPreset(c.selection.preset()); });
    QObject::connect(&rail, &Rail::runsSelected, &c.selection, [&c](const QStringList& paths) {
        const QStringList before = c.selection.runs();
        if (paths == before) return;
        // The run that was added last is the one to look into.
        QString fresh;
        for (const auto& path : paths)
            if (!before.contains(path)) fresh = path;
        if (fresh.isEmpty() && paths.size() == 1) fresh = paths.first();
        c.selection.setRuns(paths);
        if (fresh.isEmpty()) return;
        c.selection.setStep(std::nullopt);
        c.selection.setCurrent(fresh);
        c.experiment.showRun(fresh);
    });
    QObject::connect(&c.selection, &Selection::runsChanged, &rail,
                     [&rail, &c] { rail.setSelectedRuns(c.selection.runs()); });
    QObject::connect(&rail, &Rail::removeRequested, &c.runs, &RunsController::remove);
    QObject::connect(&rail, &Rail::openFolderRequested, &c.messages, [&c](const QString& path) {
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path)))
            c.messages.warning(
                QString("No file manager could be opened; the run is in %1").arg(path));
    });
    QObject::connect(&c.experiment, &ExperimentController::changed, &rail, [&rail, &c] {
        const QString preset = QString::fromStdString(c.experiment.options().preset);
        rail.setCurrentPreset(preset);
        c.selection.setPreset(preset);
    });
    // Runs of other processes come and go: looked for while the rail can be seen.
    auto* timer = new QTimer(&rail);
    timer->setInterval(4000);
    QObject::connect(timer, &QTimer::timeout, &c.runs, [&rail, &c] {
        if (rail.isVisible()) c.runs.refresh();
    });
    timer->start();
}

void wireForm(OptionsForm& form, Controllers& c) {
    auto* row = new QWidget(&form);
    auto* column = new QVBoxLayout(row);
    column->setContentsMargins(16, 8, 16, 4);
    column->setSpacing(2);
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    column->addLayout(line);
    auto* words = mutedLabel(QStringLiteral("Variant"), row);
    words->setFont(smallFont());
    auto* variants = new QComboBox(row);
    variants->setFont(smallFont());
    variants->setAccessibleName(QStringLiteral("Variant"));
    variants->setToolTip(
        QStringLiteral("Model of the experiment; sets the options to its preset values"));
    line->addWidget(words);
    line->addWidget(variants, 1);
    auto* help = mutedLabel({}, row);
    help->setFont(captionFont());
    help->setWordWrap(true);
    help->setAccessibleName(QStringLiteral("About the variant"));
    column->addWidget(help);
    form.setHeadRow(row);

    const auto show = [&form, &c, variants, row, help] {
        const auto& experiment = c.experiment;
        row->setVisible(experiment.hasOptions());
        if (!experiment.hasOptions()) return;
        const QStringList names = experiment.variants();
        QStringList shown;
        for (int i = 0; i < variants->count(); ++i) shown << variants->itemText(i);
        if (names != shown) {
            variants->clear();
            variants->addItems(names);
        }
        const PresetInfo* preset = nullptr;
        for (const auto& info : presets())
            if (info.name == experiment.options().preset) preset = &info;
        for (int i = 0; preset && i < variants->count(); ++i)
            variants->setItemData(
                i, QString::fromStdString(preset->helpOf(variants->itemText(i).toStdString())),
                Qt::ToolTipRole);
        help->setText(preset ? QString::fromStdString(preset->helpOf(experiment.options().variant))
                             : QString());
        help->setVisible(!help->text().isEmpty());
        variants->setCurrentIndex(
            variants->findText(QString::fromStdString(experiment.options().variant)));
        variants->setEnabled(!experiment.live() && names.size() > 1);
        form.setStates(experiment.states());
        form.setRunning(experiment.live());
    };
    const auto judge = [&form, &c] {
        form.setProblems(c.experiment.hasOptions() ? c.experiment.problems()
                                                   : std::vector<FieldProblem>());
        form.setEstimates(c.experiment.estimates());
    };
    QObject::connect(&c.experiment, &ExperimentController::changed, &form, show);
    QObject::connect(&c.experiment, &ExperimentController::problemsChanged, &form, judge);
    QObject::connect(&c.training, &TrainingController::stateChanged, &form,
                     [&form, &c] { form.setRunning(c.experiment.live()); });
    QObject::connect(&form, &OptionsForm::valueChanged, &c.experiment, &ExperimentController::set);
    QObject::connect(&form, &OptionsForm::validityChanged, &c.experiment,
                     &ExperimentController::setFormValid);
    QObject::connect(variants, &QComboBox::activated, &c.experiment, [&c, variants] {
        c.experiment.choosePreset(QString::fromStdString(c.experiment.options().preset),
                                  variants->currentText());
    });
    show();
    judge();
}

void wireStatus(StatusStrip& strip, LogDrawer& log, Controllers& c) {
    QObject::connect(&c.messages, &Messages::message, &strip, &StatusStrip::showMessage);
    QObject::connect(&c.messages, &Messages::outdated, &strip, &StatusStrip::clearError);
    // What the user does next and what succeeds without a word of its own.
    auto* messages = &c.messages;
    QObject::connect(&c.selection, &Selection::currentChanged, messages, &Messages::succeeded);
    QObject::connect(&c.selection, &Selection::presetChanged, messages, &Messages::succeeded);
    QObject::connect(&c.selection, &Selection::sampleChanged, messages, &Messages::succeeded);
    QObject::connect(&c.training, &TrainingController::runBegan, messages, &Messages::succeeded);
    QObject::connect(&c.checkpoint, &CheckpointController::opened, messages, &Messages::succeeded);
    QObject::connect(&c.checkpoint, &CheckpointController::probed, messages, &Messages::succeeded);
    QObject::connect(&c.checkpoint, &CheckpointController::evaluated, messages,
                     &Messages::succeeded);
    QObject::connect(&c.study, &StudyController::openedChanged, messages, &Messages::succeeded);
    QObject::connect(&c.messages, &Messages::message, &log,
                     [&log](MessageLevel level, const QString& text) { log.append(level, text); });
    QObject::connect(&strip, &StatusStrip::logToggled, &log, &QWidget::setVisible);
    QObject::connect(&log, &LogDrawer::closeRequested, &strip, [&strip, &log] {
        log.hide();
        strip.setLogShown(false);
    });
    QObject::connect(&c.training, &TrainingController::stateChanged, &strip,
                     [&strip, &c] { strip.setHeartbeat(c.training.running()); });
    QObject::connect(&c.training, &TrainingController::pointsArrived, &strip,
                     [&strip] { strip.beat(); });
    log.hide();
}

}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFileInfo>
#include <algorithm>
#include <cmath>

#include "app/controllers/examples.h"
#include "app/controllers/experiment_controller.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/looker.h"
#include "app/controllers/run_estimates.h"
#include "app/controllers/runs_controller.h"
#include "app/controllers/step.h"
#include "app/controllers/training_controller.h"
#include "checkpoint/start_from.h"
#include "model/recorded/recorded_options.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "options/run_settings.h"
#include "ranks/rank_lost.h"
#include "run/run_folder.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

/// The options of a preset as the form shows them.
RunOptions presetForm(const std::string& preset, const std::string& variant) {
    RunOptions options = core::presetOptions(preset, variant);
    core::fitToData(options);
    return options;
}

constexpr const char* kStartField = "train.init_from";

/// The options without train.init_from; options that the checkpoint had set get their values in
/// `before`.
RunOptions withoutStart(RunOptions options, const RunOptions& before) {
    options.train.init_from.clear();
    options.model = before.model;
    options.data.tokenizer = before.data.tokenizer;
    options.data.context = before.data.context;
    options.data.preprocessor.clear();
    options.train.learning_rate = before.train.learning_rate;
    options.train.min_learning_rate = before.train.min_learning_rate;
    core::fitToData(options);
    return options;
}

/// Fields that can be changed when a run is resumed; the others would make it another run.
bool keepsRun(const std::string& key) {
    return key == "train.epochs" || key == "train.steps" || key == "train.device" ||
           RunOptions::field(key).spec.live;
}

}  // namespace

ExperimentController::ExperimentController(RunsController& runs, TrainingController& training,
                                           QUndoStack& history, JobQueue& jobs, Looker& devices,
                                           QObject* parent)
    : QObject(parent),
      m_runs(runs),
      m_training(training),
      m_history(history),
      m_jobs(jobs),
      m_devices(devices) {
    // The free memory is queried after a pause in editing, not at each key.
    m_memoryTimer.setSingleShot(true);
    m_memoryTimer.setInterval(200);
    connect(&m_memoryTimer, &QTimer::timeout, this, &ExperimentController::measureMemory);
    connect(this, &ExperimentController::changed, &m_memoryTimer, qOverload<>(&QTimer::start));
    connect(&training, &TrainingController::progressed, this, &ExperimentController::measureSpeed);
    connect(&training, &TrainingController::runBegan, this, [this](const QString& path) {
        // The next seed of a group has the same options. A form that shows another run or preset is
        // left unchanged.
        if (!m_run.isEmpty() && m_runs.group(m_run).isEmpty() && m_run != path) return;
        adopt(m_training.options(), path);
        m_trained = path;
    });
    connect(&training, &TrainingController::modelFitted, this, [this] {
        if (!live()) return;
        m_options.model = m_ofRun->model = m_training.options().model;
        Q_EMIT changed();
        Q_EMIT problemsChanged();
    });
    connect(&training, &TrainingController::refused, this, &ExperimentController::takeRefusal);
    connect(&training, &TrainingController::finished, this, [this] {
        Q_EMIT changed();
        const QString trained = m_trained;
        if (!m_run.isEmpty()) showRun(m_run);  // a vocabulary may have been fitted to its text
        m_trained = trained;
    });
    connect(&runs, &RunsController::rowsChanged, this, [this, was = false]() mutable {
        // A run that is done is not resumed: Start begins another one.
        const RunInfo* info = m_runs.info(m_trained);
        if (info && info->state == RunState::Done && !m_training.busy()) {
            if (m_run == m_trained) showNewRun();
            m_trained.clear();
        }
        if (std::exchange(was, resumes()) != resumes()) Q_EMIT changed();
    });
}

QStringList ExperimentController::variants() const {
    QStringList names;
    if (const core::PresetInfo* preset = core::findPreset(m_options.preset))
        for (const auto& variant : preset->variants) names << QString::fromStdString(variant);
    return names;
}

std::vector<FieldState> ExperimentController::states() const {
    auto states = m_options.states(m_preset);
    for (auto& state : states)
        if (const auto reason = m_reasons.find(state.key);
            reason != m_reasons.end() && reason->second.first == state.value)
            state.spec.help += " " + reason->second.second;
    const core::PresetInfo* preset = core::findPreset(m_options.preset);
    if (!preset) return states;
    for (auto& state : states)
        if (const auto note = preset->notes.find(state.key);
            note != preset->notes.end() && state.value == state.preset)
            state.spec.help += " " + note->second;
    return states;
}

QString ExperimentController::title() const {
    const core::PresetInfo* preset = core::findPreset(m_options.preset);
    if (!preset) return QString::fromStdString(m_options.preset);
    const QString title =
        QString::fromStdString(m_options.data.name.empty() ? preset->title : m_options.data.name);
    if (m_options.data.isText())
        return QString("%1, context %2").arg(title).arg(m_options.data.context);
    return m_options.data.train_size > 0
               ? QStringLiteral("%1, %2").arg(
                     title, exampleCount(m_options.data, m_options.data.train_size))
               : title;
}

bool ExperimentController::live() const {
    return !m_run.isEmpty() && m_training.busy() && m_training.run() == m_run;
}

bool ExperimentController::resumes() const {
    if (m_run.isEmpty() || !m_ofRun || live()) return false;
    const RunInfo* info = m_runs.info(m_run);
    if (!info) return false;
    // A run that ended without memory names the smaller batch to resume it with; one that lost a
    // process may be resumed as it is.
    const bool failed = info->state == RunState::Failed;
    for (const auto& field : RunOptions::fieldTable())
        if (field.get(m_options) != field.get(*m_ofRun) && !keepsRun(field.spec.name) &&
            !(failed && field.spec.name == std::string("train.batch_size")))
            return false;
    if (failed)
        return m_options.train.batch_size < m_ofRun->train.batch_size ||
               info->message.find(core::kWasLost) != std::string::npos;
    if (info->state == RunState::Stopped || info->state == RunState::Interrupted) return true;
    return info->state == RunState::Done &&
           core::totalSteps(m_options) > core::totalSteps(*m_ofRun);
}

std::vector<FieldProblem> ExperimentController::problems() const {
    auto found = m_options.problems();
    if (!m_startProblem.empty())
        found.insert(found.begin(), FieldProblem{kStartField, m_startProblem});
    for (const auto& field : RunOptions::fieldTable()) {
        if (!field.applies(m_options)) continue;
        try {
            core::checkFieldValue(field.spec.name, field.spec, field.get(m_options));
        } catch (const OptionError& error) {
            found.push_back({field.spec.name, error.message()});
        }
    }
    return found;
}

std::vector<std::pair<QString, QString>> ExperimentController::estimates() const {
    if (!valid()) return {};
    // During a training the free memory counts as unknown (0), as the run has taken a part of it.
    auto rows = runEstimates(m_options, m_training.busy() ? 0 : m_free, m_flopsPerSecond);
    rows.emplace_back("Parameters", parameters());
    return rows;
}

QString ExperimentController::parameters() const {
    if (!valid()) return {};
    const QString count = widgets::groupedNumber(core::parameterCount(m_options.model));
    const bool fittedLater =
        m_run.isEmpty() && m_options.data.isText() && m_options.data.tokenizer == "characters";
    return fittedLater ? "about " + count : count;
}

int ExperimentController::changedFields() const {
    int count = 0;
    for (const auto& state : m_options.states(m_preset))
        count += state.applies && state.value != state.preset;
    return count;
}

QString ExperimentController::disabledReason() const {
    if (!hasOptions()) return QStringLiteral("Choose an experiment on the left, then press Start.");
    const auto found = problems();
    if (found.empty() && !m_formValid)
        return QStringLiteral("An option has an invalid value; see the message under its field.");
    if (found.empty() && !resumes() && !m_host.isEmpty() && !hosts().contains(m_host))
        return QStringLiteral("%1 is not connected; choose another machine at the device, or wait.")
            .arg(m_host);
    if (found.empty()) {
        if (m_training.busy()) return {};  // the running training has already taken its memory
        const auto memory = core::memoryProblem(m_options, m_free);
        return memory.empty() ? QString() : "Memory: " + QString::fromStdString(memory);
    }
    const auto& field = RunOptions::field(found.front().field).spec;
    return QString("%1: %2").arg(QString::fromStdString(field.label),
                                 QString::fromStdString(found.front().message));
}

bool ExperimentController::choosePreset(const QString& preset, const QString& variant,
                                        QString* error) {
    try {
        const RunOptions options = presetForm(preset.toStdString(), variant.toStdString());
        const FormState before = formState();
        m_wanted.clear();
        restore({options, options, std::nullopt, {}});
        if (!before.options.preset.empty()) remember(QStringLiteral("Choose ") + title(), before);
        return true;
    } catch (const Error& problem) {
        if (error) *error = QString::fromStdString(problem.what());
        return false;
    }
}

void ExperimentController::chooseVariant(const QString& variant) {
    if (live() || variant.toStdString() == m_options.variant) return;
    RunOptions chosen;
    try {
        chosen = presetForm(m_options.preset, variant.toStdString());
    } catch (const Error& problem) {
        Q_EMIT failed(QString::fromStdString(problem.what()));
        return;
    }
    const RunOptions values = chosen,
                     own = m_options.train.init_from.empty()
                               ? m_options
                               : withoutStart(m_options, m_beforeStart.value_or(m_preset));
    // Twice: whether a field applies may depend on one that comes after it.
    for (int pass = 0; pass < 2; ++pass)
        for (const auto& field : RunOptions::fieldTable()) {
            const FieldValue value = field.get(own);
            if (value == field.get(m_preset) || !field.applies(chosen)) continue;
            const auto choices =
                field.choicesFor ? field.choicesFor(chosen) : std::vector<std::string>();
            const auto* text = std::get_if<std::string>(&value);
            if (!choices.empty() && text &&
                std::find(choices.begin(), choices.end(), *text) == choices.end())
                continue;
            field.set(chosen, value);
        }
    core::fitToData(chosen);
    const FormState before = formState();
    m_wanted.clear();
    restore({chosen, values, std::nullopt, {}, {}, false, m_reasons});
    remember(QStringLiteral("Choose variant ") + variant, before);
}

void ExperimentController::restore(const FormState& state) {
    forgetStart();
    forgetRefusal();
    if (live() && state.run == m_run) {
        for (const auto& field : RunOptions::fieldTable())
            if (const auto value = field.get(state.options);
                field.spec.live && value != field.get(m_options)) {
                m_training.changeOption(QString::fromStdString(field.spec.name), value);
                field.set(*m_ofRun, value);
                field.set(m_options, value);
            }
    } else {
        m_options = state.options;
        m_preset = state.preset;
        m_ofRun = state.ofRun;
        m_run = state.run;
        m_beforeStart = state.beforeStart;
        m_reasons = state.reasons;
        if (state.unread) takeStart();
    }
    Q_EMIT changed();
    Q_EMIT problemsChanged();
}

void ExperimentController::remember(const QString& what, FormState before,
                                    const QString& mergeKey) {
    m_history.push(new Step(
        what, [this, before = std::move(before)] { restore(before); },
        [this, after = formState()] { restore(after); }, mergeKey,
        [this, shown = m_shown] { return shown == m_shown; }));
}

void ExperimentController::endEdit() {
    m_history.setClean();
}

void ExperimentController::adopt(const RunOptions& options, const QString& run) {
    if (m_run.isEmpty() && hasOptions()) m_newRun = formState();
    m_options = options;
    m_ofRun = options;
    m_run = m_wanted = run;
    m_reasons.clear();
    forgetStart();
    forgetRefusal();
    m_beforeStart.reset();
    ++m_shown;
    try {
        m_preset = presetForm(options.preset, options.variant);
        // Fitted to the characters of the text, not changed by the user.
        if (options.data.isText() && options.data.tokenizer == "characters")
            m_preset.model.set("vocab_size", options.model.value("vocab_size"));
    } catch (const Error&) {
        m_preset = options;  // a preset of another version: nothing counts as changed
    }
    const RunInfo* info = m_runs.info(run);
    if (info && m_flopsPerSecond <= 0.0 && info->seconds > 1.0 && info->step > 0)
        m_flopsPerSecond =
            core::trainingFlops(options) * static_cast<double>(info->step) / info->seconds;
    Q_EMIT changed();
    Q_EMIT problemsChanged();
}

void ExperimentController::showRun(const QString& path) {
    m_wanted = path;
    if (m_training.busy() && m_training.run() == path) return adopt(m_training.options(), path);
    readOptions(path, [this, path](const RunOptions& options) { adopt(options, path); });
}

void ExperimentController::showNewRun() {
    m_wanted.clear();
    if (m_run.isEmpty() || !m_newRun) return;
    ++m_shown;
    restore(*std::exchange(m_newRun, std::nullopt));
}

void ExperimentController::follow(const QString& path) {
    // What another program recorded has no options: those that are shown stay.
    if (const auto* info = m_runs.info(path); info && info->recorded) return;
    if (!hasOptions() || !m_run.isEmpty() || (m_training.busy() && m_training.run() == path))
        showRun(path);
}

void ExperimentController::resume(const QString& path) {
    readOptions(path, [this, path](const RunOptions& options) {
        adopt(options, path);
        if (resumes()) start();
    });
}

/// `use` is called unless another run or preset was chosen meanwhile.
void ExperimentController::readOptions(const QString& path,
                                       std::function<void(const RunOptions&)> use) {
    m_wanted = path;
    m_trained.clear();  // the options of a run were asked for
    const int asked = ++m_asked;
    m_jobs.post(
        this, [file = path.toStdString()](std::stop_token) { return core::readRunOptions(file); },
        [this, path, asked, use = std::move(use)](const RunOptions& options) {
            if (m_wanted != path || m_asked != asked) return;
            if (!core::isRecorded(options.model)) return use(options);
            Q_EMIT failed(QFileInfo(path).fileName() + u' ' + QLatin1String(core::kNoModel));
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void ExperimentController::duplicate(const QString& path) {
    readOptions(path, [this](const RunOptions& options) {
        const FormState before = formState();
        FormState copy{options, options, std::nullopt, {}};
        try {
            copy.preset = presetForm(options.preset, options.variant);
        } catch (const Error&) {
            // A preset of another version: no field counts as changed.
        }
        m_wanted.clear();
        restore(copy);
        if (!before.options.preset.empty()) remember(QStringLiteral("Duplicate a run"), before);
    });
}

void ExperimentController::extend(const QString& path, std::int64_t total) {
    readOptions(path, [this, path, total](const RunOptions& options) {
        adopt(options, path);
        auto& train = m_options.train;
        (train.steps > 0 ? train.steps : train.epochs) = total;
        Q_EMIT changed();
        Q_EMIT problemsChanged();
        if (m_training.busy() || !disabledReason().isEmpty()) {
            const QString why = disabledReason();
            Q_EMIT failed(why.isEmpty() ? QStringLiteral("Wait until the run that trains has ended")
                                        : why);
            return;
        }
        m_training.resumeRun(path, m_options);
    });
}

void ExperimentController::set(const QString& key, const FieldValue& value) {
    const auto& field = RunOptions::field(key.toStdString());
    if (field.get(m_options) == value) return;
    const FormState before = formState();
    forgetRefusal();
    if (live()) {
        if (!field.spec.live) return;
        m_training.changeOption(key, value);
        field.set(*m_ofRun, value);
    }
    field.set(m_options, value);
    if (!live()) core::fitToData(m_options);  // sizes of the model follow the data
    if (key == QLatin1String(kStartField)) {
        if (before.options.train.init_from.empty()) m_beforeStart = before.options;
        forgetStart();
        if (m_options.train.init_from.empty())
            m_options = withoutStart(m_options, m_beforeStart.value_or(m_preset));
        else
            takeStart();
    }
    remember(QStringLiteral("Change ") + QString::fromStdString(field.spec.label), before, key);
    Q_EMIT changed();
    Q_EMIT problemsChanged();
}

void ExperimentController::forgetStart() {
    ++m_startAsked;
    m_startProblem.clear();
}

void ExperimentController::takeStart() {
    m_startProblem = "is being read";
    const int number = ++m_startAsked;
    m_jobs.post(
        this,
        [options = m_options](const std::stop_token&) mutable {
            core::startFrom(options, std::string(options.train.init_from));
            return options;
        },
        [this, number, asked = m_options](const RunOptions& options) {
            if (m_startAsked != number) return;
            if (!(m_options == asked)) return takeStart();  // another field was changed
            m_options = options;
            m_startProblem.clear();
            Q_EMIT changed();
            Q_EMIT problemsChanged();
        },
        [this, number](const QString& sentence) {
            if (m_startAsked != number) return;
            m_startProblem = sentence.toStdString();
            Q_EMIT problemsChanged();
        });
}

void ExperimentController::setFormValid(bool valid) {
    if (std::exchange(m_formValid, valid) != valid) Q_EMIT problemsChanged();
}

void ExperimentController::reset() {
    if (live() || m_options == m_preset) return;
    const FormState before = formState();
    m_options = m_preset;
    forgetStart();
    m_beforeStart.reset();
    remember(QStringLiteral("Reset options"), before);
    Q_EMIT changed();
    Q_EMIT problemsChanged();
}

void ExperimentController::begin(const RunOptions& options) {
    adopt(options, {});
    start();
}

void ExperimentController::start() {
    if (m_training.busy()) return;
    if (m_refusal) {
        forgetRefusal();
        Q_EMIT problemsChanged();
    }
    if (const auto found = hasOptions() ? problems() : std::vector<FieldProblem>();
        !found.empty()) {
        Q_EMIT refused(QString::fromStdString(found.front().field));
        return;
    }
    if (const QString why = disabledReason(); !why.isEmpty()) {
        Q_EMIT failed(why);
        return;
    }
    if (resumes()) {
        m_training.resumeRun(m_run, m_options);
        return;
    }
    m_run.clear();  // the form follows the run that is started
    m_wanted.clear();
    QString folder = m_runs.folder();
    for (const auto& [host, mirror] : m_hosts)
        if (host == m_host) folder = mirror;
    m_training.start(m_options, folder);
}

void ExperimentController::setHosts(std::vector<std::pair<QString, QString>> hosts) {
    if (std::exchange(m_hosts, hosts) == hosts) return;
    measureMemory();
    Q_EMIT changed();
}

QStringList ExperimentController::hosts() const {
    QStringList names;
    for (const auto& [host, mirror] : m_hosts) names << host;
    return names;
}

void ExperimentController::setHost(const QString& host) {
    if (std::exchange(m_host, host) == host) return;
    m_free = 0;
    measureMemory();
    Q_EMIT changed();
}

void ExperimentController::measureMemory() {
    if (!hasOptions() || std::exchange(m_measuring, true)) return;
    m_devices.post(
        this,
        [device = m_options.train.device, host = m_host.toStdString()](
            Engine& models, const Looker::Progress& progress) {
            return wire::devices(models.session, device, true, progress, host).free;
        },
        [this, device = m_options.train.device, host = m_host](std::uint64_t free) {
            m_measuring = false;
            if (device != m_options.train.device || host != m_host) return m_memoryTimer.start();
            // Rounded to two digits, as shown.
            const double before = static_cast<double>(std::exchange(m_free, free));
            if (std::abs(static_cast<double>(free) - before) > 0.02 * before)
                Q_EMIT problemsChanged();
        },
        [this](const QString&) {
            m_measuring = false;  // an unusable device is reported when the run starts
            m_free = 0;
        });
}

void ExperimentController::measureSpeed() {
    const double rate = m_training.progress().examplesPerSecond;
    const auto& options = m_training.options();
    if (!(rate > 0.0)) return;
    const double before = m_flopsPerSecond;
    m_flopsPerSecond = core::trainingFlops(options) * rate /
                       static_cast<double>(options.train.batch_size * core::stepBatches(options));
    // The text has two digits, and updating it twenty times a second would make it unreadable.
    if (before <= 0.0 || std::abs(m_flopsPerSecond / before - 1.0) > 0.1)
        Q_EMIT problemsChanged();
    else
        m_flopsPerSecond = before;
}

}  // namespace relascope::app

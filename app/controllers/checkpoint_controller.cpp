// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <filesystem>
#include <utility>

#include <QFileInfo>
#include <QStringList>

#include "answers/evaluation_answer.h"
#include "app/controllers/checkpoint_controller.h"
#include "checkpoint/checkpoint.h"
#include "model/architecture.h"
#include "model/public/public_options.h"
#include "model/served/served_options.h"
#include "question/question_input.h"
#include "run/run_folder.h"
#include "types/text_format.h"
#include "widgets/source/text_input.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"
#include "wire/served_link.h"

namespace relascope::app {

Question firstInput(const widgets::InputOffer& offer) {
    if (offer.kind == widgets::InputOffer::Kind::Text)
        return inputAs({{"text", std::string(widgets::exampleTexts().front().text)}});
    if (offer.references > 0) return inputAs({{"reference", std::int64_t{1}}});
    return inputAs({{"random", std::int64_t{0}}});
}

void CheckpointNumbers::setCheckpoint(const CheckpointInfo& info) {
    ++m_shown;
    abandon();
    m_path = info.path;
    m_tensors = info.tensors.size();
    m_broken.clear();
    m_read.clear();
    if (info.bytes <= kReadAllBytes && m_tensors <= kReadAllTensors)
        for (const auto& tensor : info.tensors)
            m_unread.push_back(QString::fromStdString(tensor.name));
    m_toRead = m_unread.size();
}

void CheckpointNumbers::read() {
    if (m_toRead > 0)
        m_task.begin(QStringLiteral("Reading the values of %1 tensors")
                         .arg(widgets::groupedNumber(static_cast<qlonglong>(m_toRead))));
    readNext();
}

void CheckpointNumbers::abandon() {
    m_unread.clear();
    m_reading.clear();
    m_task.abandon();
    Q_EMIT finished();
}

void CheckpointNumbers::chooseTensor(const QString& name) {
    if (m_path.empty() || m_read.contains(name) || m_reading == name) return;
    const auto waiting = std::find(m_unread.begin(), m_unread.end(), name);
    if (waiting != m_unread.end()) m_unread.erase(waiting);
    m_unread.push_front(name);
    m_toRead = std::max(m_toRead, m_read.size() + m_unread.size());
    readNext();
}

void CheckpointNumbers::readNext() {
    if (!m_reading.isEmpty()) return;
    const auto& job = m_task.job();
    if (job && m_toRead > 0)
        job->fraction = static_cast<double>(m_read.size()) / static_cast<double>(m_toRead);
    if (m_unread.empty()) {
        m_task.finish();
        return Q_EMIT finished();
    }
    m_reading = m_unread.front();
    m_unread.pop_front();
    const auto stop = job ? job->stop.get_token() : std::stop_token();
    m_queue.post(
        this,
        [path = m_path, name = m_reading.toStdString(), stop, far = m_far](std::stop_token queue) {
            if (!wire::farPathOf(path)) return core::tensorStatistics(path, name, 64, stop);
            return wire::farTensorStatistics(*far, path, name, [&](double) {
                return !stop.stop_requested() && !queue.stop_requested();
            });
        },
        [this, name = m_reading, shown = m_shown](const TensorStatistics& statistics) {
            if (shown == m_shown) take(name, statistics);
        },
        [this, shown = m_shown](const QString& sentence) {
            if (shown != m_shown) return;
            abandon();  // the file no longer matches its header
            Q_EMIT failed(sentence);
        });
}

void CheckpointNumbers::take(const QString& name, const TensorStatistics& statistics) {
    if (m_reading == name) m_reading.clear();
    m_read.insert(name);
    if (statistics.notFinite > 0)
        m_broken.push_back({ProblemKind::NotFinite, statistics.name,
                            statistics.name + ": " + std::to_string(statistics.notFinite) + " of " +
                                std::to_string(statistics.count) +
                                " values are not finite (NaN or infinity)"});
    Q_EMIT statisticsReady(statistics);
    readNext();
}

namespace {

constexpr std::size_t kRemembered = 8;

/// Whether files on this machine can be looked for.
bool hasFiles(const QString& path) {
    return !wire::farPathOf(path.toStdString()) && !core::isServedName(path.toStdString());
}

}  // namespace

void RecentCheckpoints::add(const QString& path, const QString& size) {
    // One that is listed keeps its place: the list does not move under the pointer.
    const auto known = std::find_if(m_list.begin(), m_list.end(),
                                    [&](const RecentCheckpoint& r) { return r.path == path; });
    if (known != m_list.end())
        *known = {path, size, false};
    else
        m_list.insert(m_list.begin(), {path, size, false});
    if (m_list.size() > kRemembered) m_list.resize(kRemembered);
    Q_EMIT changed();
}

void RecentCheckpoints::set(std::vector<RecentCheckpoint> list) {
    m_list = std::move(list);
    if (m_list.size() > kRemembered) m_list.resize(kRemembered);
    Q_EMIT changed();
    // Checking for files can be slow if the disk is asleep.
    QStringList paths;
    // Files on other machines are checked when they are chosen.
    for (const auto& r : m_list)
        if (hasFiles(r.path)) paths << r.path;
    m_disk.post(
        this,
        [paths](std::stop_token) {
            QStringList gone;
            for (const QString& path : paths)
                if (!QFileInfo::exists(path)) gone << path;
            return gone;
        },
        [this](const QStringList& gone) {
            for (auto& r : m_list) r.missing = gone.contains(r.path);
            if (!gone.isEmpty()) Q_EMIT changed();
        });
}

void RecentCheckpoints::choose(const QString& path) {
    m_disk.post(
        this, [path](std::stop_token) { return !hasFiles(path) || QFileInfo::exists(path); },
        [this, path, choice = ++m_choice](bool there) {
            if (choice != m_choice) return;
            if (there) return Q_EMIT chosen(path);
            std::erase_if(m_list, [&](const RecentCheckpoint& r) { return r.path == path; });
            Q_EMIT changed();
            Q_EMIT failed(path + QStringLiteral(": not found; removed from the list"));
        });
}

namespace {

bool isFar(const QString& path) {
    return wire::farPathOf(path.toStdString()).has_value();
}

/// What the program that serves a model says of it; of one on another machine a session there asks.
ModelOptions servedModel(const std::string& path, LongJob& job, std::stop_token stop) {
    const wire::ServedWaitScope wait([&job, stop](const std::string& text) {
        job.setWaits(text);
        return !stop.stop_requested() && !job.stop.stop_requested();
    });
    if (!wire::farPathOf(path))
        return core::servedOptions(wire::openServedDoor(core::doorOf(path))->declaration());
    wire::Session session;
    const auto asked = weightsAt(QString::fromStdString(path), std::nullopt);
    auto opened = wire::openWeights(session, asked, job.callback(std::move(stop)));
    if (!core::isServed(opened.model)) throw Error(path + " is no served model there.");
    return std::move(opened.model);
}

/// A model that another program serves, which has no files.
OpenedCheckpoint openServed(const std::string& path, LongJob& job, std::stop_token stop) {
    OpenedCheckpoint opened;
    auto& info = opened.info;
    info.path = info.folder = path;
    info.model = servedModel(path, job, std::move(stop));
    const auto declared = core::declarationOf(*info.model);
    info.name = declared.name, info.title = declared.model;
    info.form = "served by " + std::filesystem::path(declared.program).filename().string();
    const auto far = wire::farPathOf(path);
    if (far) info.form += " on " + far->host;
    if (declared.step >= 0) info.form += ", step " + groupedNumber(declared.step);
    info.parameters = declared.parameters, info.classNames = declared.classNames;
    info.unusedKeys = declared.leftOut;
    opened.data.kind = core::kServedData;
    opened.data.path = far ? far->path : path;
    return opened;
}

}  // namespace

CheckpointController::CheckpointController(QObject* parent)
    : QObject(parent), m_feed(m_looker), m_generator(m_feed, m_looker) {
    for (LongTask* task : {&m_task, &m_numbers.task(), &m_feed.task()}) {
        connect(task, &LongTask::began, this, &CheckpointController::stateChanged);
        connect(task, &LongTask::ended, this, &CheckpointController::stateChanged);
    }
    connect(&m_task, &LongTask::failed, this, &CheckpointController::failed);
    connect(&m_numbers, &CheckpointNumbers::failed, this, &CheckpointController::failed);
    connect(&m_recent, &RecentCheckpoints::chosen, this, &CheckpointController::open);
    connect(&m_recent, &RecentCheckpoints::failed, this, &CheckpointController::failed);
    connect(&m_feed, &InspectorFeed::failed, this, &CheckpointController::failed);
    connect(&m_feed, &InspectorFeed::loaded, this, &CheckpointController::weightsLoaded);
    connect(&m_feed, &InspectorFeed::tokenizerChosen, this, &CheckpointController::loadedChanged);
    connect(&m_feed, &InspectorFeed::inputRead, this, &CheckpointController::inspect);
    connect(&m_feed, &InspectorFeed::textRead, this,
            [this] { Q_EMIT textProblem(m_feed.textNote()); });
    connect(&m_feed, &InspectorFeed::inspected, this, [this] {
        if (!m_feed.text().isEmpty()) Q_EMIT textProblem(m_feed.textNote());
        readSteps();
    });
    connect(&m_feed, &InspectorFeed::refused, this, [this](const QString& sentence) {
        m_feed.text().isEmpty() ? failed(sentence) : textProblem(sentence);
    });
}

CheckpointController::~CheckpointController() {
    m_generator.clear();
    for (LongTask* task : {&m_task, &m_numbers.task(), &m_feed.task(), &m_openingData}) {
        task->disconnect();
        task->abandon();
    }
    for (JobQueue* queue :
         {&m_headers, &m_checks, &m_doors, &m_looker.queue(), &m_verifier.queue()})
        queue->clear();
}

QString CheckpointController::path() const {
    return m_info ? QString::fromStdString(m_info->path) : QString();
}

std::vector<CheckpointProblem> CheckpointController::problems() const {
    if (!m_info) return {};
    auto all = m_info->problems;
    for (const auto& problem : m_numbers.problems())
        if (std::none_of(all.begin(), all.end(), [&](const CheckpointProblem& p) {
                return p.kind == problem.kind && p.subject == problem.subject;
            }))
            all.push_back(problem);
    return all;
}

QString CheckpointController::loadDisabledReason() const {
    if (!m_info) return QStringLiteral("Open a checkpoint first");
    if (m_info->loads()) return {};
    return m_info->model
               ? QStringLiteral("The weights cannot be loaded because of the problems listed")
               : QStringLiteral("No configuration was found, so the model is unknown");
}
QString CheckpointController::verifyDisabledReason() const {
    if (!m_info) return QStringLiteral("Open a checkpoint first");
    if (!m_info->hasReference)
        return QStringLiteral("No reference outputs (io.safetensors) found next to the checkpoint");
    return m_task.busy() ? QStringLiteral("Another task is running; wait for it or cancel it")
                         : QString();
}
QString CheckpointController::evaluateDisabledReason() const {
    if (const QString why = loadDisabledReason(); !why.isEmpty()) return why;
    if (isServed())
        return QStringLiteral("Its data lie in the program that serves it: Measure uses them");
    if (m_info->model->input() != InputKind::Images && !isLanguage())
        return QStringLiteral("Only image and language models can be evaluated on data");
    if (isLanguage() && loaded() && !m_feed.tokenizer()) return noTokenizer();
    return m_task.busy() ? QStringLiteral("Another task is running; wait for it or cancel it")
                         : QString();
}

QString CheckpointController::noTokenizer() const {
    if (m_info->model->info().opened)
        return QStringLiteral(
            "No tokenizer that can be read was found next to these weights: choose a "
            "tokenizer.json or vocab.json.");
    return QStringLiteral(
               "No tokenizer was found next to these weights, and the vocabulary size %1 is "
               "not GPT-2\u2019s 50,257: choose a tokenizer.json or vocab.json.")
        .arg(widgets::groupedNumber(m_info->model->outputs()));
}

bool CheckpointController::typesIds() const {
    return loaded() && isLanguage() && !m_feed.tokenizer() && m_info->model->info().opened;
}

bool CheckpointController::isEncoder() const {
    return m_info && m_info->model && core::readsBothWays(*m_info->model);
}

QString CheckpointController::generateDisabledReason() const {
    if (const QString why = loadDisabledReason(); !why.isEmpty()) return why;
    if (!isLanguage()) return QStringLiteral("Only language models generate text");
    if (auto why = core::noNextTokenText(*m_info->model); !why.empty()) {
        why[0] = 'A';
        return QString::fromStdString(why);
    }
    if (isServed())
        return QStringLiteral(
            "A served model generates in its own program: its text can be looked "
            "at here.");
    if (!loaded()) return QStringLiteral("Press Inspect to load the weights.");
    return m_feed.tokenizer() || typesIds() ? QString() : noTokenizer();
}

void CheckpointController::open(const QString& path) {
    m_task.run(
        m_headers, QStringLiteral("Reading %1").arg(QFileInfo(path).fileName()),
        [path](LongJob& job, std::stop_token stop) {
            if (core::isServedName(path.toStdString()))
                return openServed(path.toStdString(), job, stop);
            const std::string wanted = QFileInfo(path).absoluteFilePath().toStdString();
            if (!isFar(path)) return core::openCheckpoint(wanted);
            wire::Session session;
            return wire::openFarCheckpoint(session, wanted, job.callback(std::move(stop)));
        },
        [this](OpenedCheckpoint read) {
            take(std::move(read.info), QString::fromStdString(read.run), read.data);
        });
}

void CheckpointController::take(CheckpointInfo info, const QString& run, const DataOptions& data) {
    m_run = run;
    m_data = data;
    m_evaluatedOn.reset();
    m_opened.reset();
    m_openingData.abandon();
    m_numbers.setCheckpoint(info);
    m_info = std::move(info);
    m_steps.clear(), m_step.reset();
    if (isServed()) {
        const auto steps = core::declarationOf(*m_info->model).steps;
        m_steps.assign(steps.begin(), steps.end());
    }
    m_first = {};
    if (m_feed.path() != path()) forgetWeights();
    m_recent.add(path(), isServed() ? QStringLiteral("served") : widgets::byteSize(m_info->bytes));
    Q_EMIT opened();
    m_numbers.read();
}

void CheckpointController::verify() {
    if (!verifyDisabledReason().isEmpty()) return;
    const wire::Asked asked(Question{"verify", {{m_info->folder, {}, {}, {}, {}, {}}}, {}});
    m_verifier.askOnce(
        m_task, QStringLiteral("Comparing with the reference outputs"), asked, core::verifyReportOf,
        [this](const VerifyReport& report) { Q_EMIT verified(report); }, true);
}

void CheckpointController::convert(const QString& out) {
    if (!m_info || m_task.busy()) return;
    m_task.run(
        m_checks, QStringLiteral("Writing %1").arg(QFileInfo(out).fileName()),
        [in = m_info->path, out = out.toStdString()](LongJob& job, std::stop_token stop) {
            core::convertCheckpoint(in, out, job.stop.get_token(), job.callback(stop));
            return 0;
        },
        [this, out](int) { Q_EMIT converted(out); });
}

void CheckpointController::forgetWeights() {
    m_generator.clear();
    m_prompt.clear();
    m_feed.forget();
    m_feed.dropWeights();
    Q_EMIT loadedChanged();
}

void CheckpointController::loadWith(const std::string& tokenizer) {
    if (!loadDisabledReason().isEmpty() || (loaded() && tokenizer.empty())) return;
    auto weights = weightsAt(path(), std::nullopt);
    if (!tokenizer.empty()) weights.set("tokenizer", tokenizer);
    m_feed.load(
        weights,
        QStringLiteral("Loading the weights of %1").arg(QString::fromStdString(m_info->name)));
}

void CheckpointController::show(const Question& question) {
    auto input = core::inputOf(question);
    const auto tokenizer = input.text("tokenizer");
    std::erase_if(input.options, [](const Option& option) { return option.name == "tokenizer"; });
    if (loaded() && (tokenizer.empty() || tokenizer == m_feed.tokenizerPath()))
        return choose(input);
    m_first = std::move(input);
    loadWith(tokenizer);
}

void CheckpointController::choose(const Question& input) {
    if (input.option("text"))
        m_feed.offerText(QString::fromStdString(input.text("text")));
    else if (core::hasOwnInput(input) || input.option("sample"))
        m_feed.choose(input);
    else
        inspect();
}

void CheckpointController::weightsLoaded(const QString& warning) {
    m_prompt = m_data.isText() ? QString::fromStdString(m_data.prompt) : QString();
    Q_EMIT loadedChanged();
    if (!warning.isEmpty()) Q_EMIT warned(warning);
    if (!isServed()) return chooseFirst();
    m_looker.run(
        m_openingData, {},
        [data = m_data, path = m_info->path](Engine& models, LongJob&,
                                             const Looker::Progress& progress) {
            wire::Data served;
            served.options = data, served.imported = true;
            if (wire::farPathOf(path)) served.run = path;
            return std::make_shared<const wire::OpenedData>(
                wire::openData(models.session, served, progress));
        },
        [this](std::shared_ptr<const wire::OpenedData> opened) {
            m_opened = std::move(opened);
            chooseFirst();
        },
        // Without data it can be looked at all the same.
        [this](const QString&) { chooseFirst(); });
}

void CheckpointController::chooseFirst() {
    if (const auto wanted = std::exchange(m_first, {});
        core::hasOwnInput(wanted) || wanted.option("sample"))
        return choose(wanted);
    auto first = firstInput(m_feed.offer());
    if (first.option("text") && m_data.isText() && !m_data.pinned_text.empty())
        first.set("text", m_data.pinned_text);
    m_feed.choose(first);
}

void CheckpointController::chooseTokenizer(const QString& path) {
    if (m_feed.path().isEmpty()) return;
    m_generator.stop();
    m_feed.chooseTokenizer(path);
}

void CheckpointController::chooseHead(const QString& path) {
    if (headDisabledReason().isEmpty()) m_feed.chooseHead(path);
}

QString CheckpointController::headDisabledReason() const {
    if (!loaded() || !m_feed.model()) return QStringLiteral("Load the weights first");
    if (!core::takesHead(*m_feed.model())) return QStringLiteral("The model answers by itself");
    if (wire::farPathOf(path().toStdString()))
        return QStringLiteral("Its files are on another machine");
    return {};
}

void CheckpointController::setBfloat16(bool on) {
    if (m_feed.bfloat16() == on) return;
    m_feed.setBfloat16(on);
    if (loaded() && !on) inspect();  // shows the maps of the exact weights again
}

void CheckpointController::setEdits(const EditList& edits) {
    if (edits == m_edits) return;
    m_edits = edits;
    m_generator.setEdits(edits);
    if (loaded()) inspect();
}

void CheckpointController::inspect() {
    m_feed.show(weightsAt(m_feed.path(), loaded() ? m_step : std::nullopt, m_edits));
}

void CheckpointController::setStep(std::optional<qint64> step) {
    if (!isServed() || step == m_step) return;
    m_step = step;
    Q_EMIT stepsChanged();
    if (loaded()) inspect();
}

std::string CheckpointController::shownCheckpoint() const {
    const auto shown = m_feed.shownStep();
    return shown && stepOf(m_feed.shown()) ? std::to_string(*shown) : std::string();
}

// A connection of its own asks, since one that is open knows what was declared to it. A session on
// another machine has that one alone.
void CheckpointController::readSteps() {
    if (!isServed() || isFar(path()) || std::exchange(m_readingSteps, true)) return;
    m_doors.post(
        this,
        [path = m_info->path](const std::stop_token& stop) {
            const wire::ServedWaitScope wait(
                [&](const std::string&) { return !stop.stop_requested(); });
            return wire::openServedDoor(core::doorOf(path))->declaration();
        },
        [this, path = path()](const nlohmann::json& declared) {
            m_readingSteps = false;
            if (path != this->path()) return;
            const auto read = core::declarationFrom(declared).steps;
            std::vector<qint64> steps(read.begin(), read.end());
            if (std::exchange(m_steps, std::move(steps)) != m_steps) Q_EMIT stepsChanged();
        },
        [this](const QString&) { m_readingSteps = false; });  // the maps say that nobody serves it
}

void CheckpointController::evaluate(const NamedEvaluation& wanted) {
    if (!evaluateDisabledReason().isEmpty()) return;
    auto [asked, name] = wanted;
    // The exact weights are evaluated, also after generating with rounded ones.
    asked.subjects = weightsAt(path(), std::nullopt).subjects;
    if (const auto tokenizer = m_feed.tokenizerPath(); loaded() && !tokenizer.empty())
        asked.set("tokenizer", tokenizer);
    m_looker.askOnce(
        m_task, QStringLiteral("Evaluating on %1").arg(name), asked, core::evaluationOf,
        [this, asked, name = name](const Evaluation& evaluation) {
            m_evaluatedOn = asked;
            Q_EMIT evaluated(evaluation, name);
        },
        false);
}

}  // namespace relascope::app

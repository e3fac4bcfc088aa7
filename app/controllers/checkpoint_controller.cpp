#include "app/controllers/checkpoint_controller.h"

#include <QFileInfo>
#include <algorithm>

#include "app/controllers/runtime.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/verify.h"
#include "datasets/readers/image_file.h"
#include "datasets/registry.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr std::size_t kRemembered = 8;
constexpr std::int64_t kEvaluationBatch = 256;

InputOffer offerOf(const OpenedModel& model) {
    const ModelOptions& o = model.options();
    InputOffer offer;
    offer.references = model.referenceInputs();
    switch (o.input()) {
        case InputKind::Images:
            offer.kind = InputOffer::Kind::Images;
            break;
        case InputKind::Tokens:
            offer.kind = InputOffer::Kind::Tokens;
            offer.vocabulary = o.vocab_size;
            offer.longest = static_cast<int>(o.max_block_size);
            break;
        case InputKind::Pairs:
            offer.kind = InputOffer::Kind::Vectors;
            if (o.input_type != "token" || o.output_type != "token") break;  // nobody types vectors
            offer.kind = InputOffer::Kind::Tokens;
            offer.vocabulary = o.input_size;
            offer.longest = static_cast<int>(o.in_block_size);
            offer.targetVocabulary = o.output_size;
            offer.targetLongest = static_cast<int>(o.out_block_size);
            break;
        case InputKind::Objects:
            offer.kind = InputOffer::Kind::Vectors;
            break;
    }
    return offer;
}

ProbeSample sampleOf(const OpenedModel& model, const InputWish& wish) {
    ProbeSample sample;
    switch (wish.kind) {
        case InputWish::Kind::Reference:
            return model.referenceInput(wish.reference);
        case InputWish::Kind::Random:
            return model.randomInput(wish.seed);
        case InputWish::Kind::Tokens:
            sample.source.tokens.assign(wish.source.begin(), wish.source.end());
            sample.target.tokens.assign(wish.target.begin(), wish.target.end());
            sample.origin = "typed";
            break;
        case InputWish::Kind::Picture: {
            const auto& shape = model.options().image_shape;  // channels, width, height
            sample.image =
                fitImage(readImageFile(wish.picture.toStdString()), static_cast<int>(shape[1]),
                         static_cast<int>(shape[2]), static_cast<int>(shape[0]));
            sample.origin = QFileInfo(wish.picture).fileName().toStdString();
            break;
        }
    }
    return sample;
}

DatasetPtr dataOf(const EvaluationWish& wish, const ModelOptions& model,
                  const ProgressCallback& progress, const std::stop_token& stop) {
    DatasetPtr data;
    if (wish.file.isEmpty())
        data = openData(wish.options, progress, stop).find(wish.split);
    else
        data =
            openEvaluationData(wish.file.toStdString(), wish.options, wish.split, progress, stop);
    if (!data) throw OptionError("split", "there is no split '" + wish.split + "'");
    const DatasetInfo& info = data->info();
    requireFit(info, model.image_shape[0], model.image_shape[2], model.image_shape[1],
               model.num_classes);
    return data;
}

}  // namespace

struct CheckpointController::Weights {
    std::unique_ptr<OpenedModel> model;
};

CheckpointController::CheckpointController(QObject* parent)
    : QObject(parent), m_weights(std::make_shared<Weights>()) {}

CheckpointController::~CheckpointController() {
    // Long jobs end at their next look, so that closing the window does not wait for a file.
    for (const Job& job : {m_task, m_numbers, m_inspector})
        if (job) job->stop.request_stop();
    for (JobQueue* queue : {&m_headers, &m_tensors, &m_checks, &m_models}) queue->clear();
}

CheckpointController::Job& CheckpointController::slot(Strip strip) {
    return strip == Strip::Task ? m_task : strip == Strip::Numbers ? m_numbers : m_inspector;
}

CheckpointController::Job CheckpointController::begin(Strip strip, const QString& words) {
    abandon(strip);
    slot(strip) = std::make_shared<LongJob>();
    Q_EMIT began(strip, words, slot(strip));
    Q_EMIT stateChanged();
    return slot(strip);
}

void CheckpointController::finish(Strip strip) {
    if (!slot(strip)) return;
    slot(strip).reset();
    Q_EMIT ended(strip);
    Q_EMIT stateChanged();
}

void CheckpointController::abandon(Strip strip) {
    if (strip == Strip::Task) ++m_tasks;
    if (strip == Strip::Inspector) ++m_probes;
    if (strip == Strip::Numbers) {
        m_unread.clear();
        m_reading.clear();
    }
    if (Job& job = slot(strip)) {
        job->stop.request_stop();
        finish(strip);
    }
    if (strip == Strip::Numbers) Q_EMIT numbersFinished();
}

QString CheckpointController::path() const {
    return m_info ? QString::fromStdString(m_info->path) : QString();
}

std::vector<CheckpointProblem> CheckpointController::problems() const {
    std::vector<CheckpointProblem> all = m_info ? m_info->problems : m_broken;
    for (const auto& problem : m_broken)
        if (m_info && std::none_of(all.begin(), all.end(), [&](const CheckpointProblem& p) {
                return p.kind == problem.kind && p.subject == problem.subject;
            }))
            all.push_back(problem);
    return all;
}

QString CheckpointController::loadObstacle() const {
    if (!m_info) return QStringLiteral("Open a checkpoint first");
    if (m_info->loads()) return {};
    return m_info->model
               ? QStringLiteral("The problems listed keep the weights from loading")
               : QStringLiteral("There is no configuration that says which model this is");
}
QString CheckpointController::verifyObstacle() const {
    if (!m_info) return QStringLiteral("Open a checkpoint first");
    if (!m_info->hasReference)
        return QStringLiteral("No reference outputs (io.safetensors) stand beside it");
    return busy() ? QStringLiteral("Something else goes on; wait or cancel it") : QString();
}
QString CheckpointController::evaluateObstacle() const {
    if (const QString why = loadObstacle(); !why.isEmpty()) return why;
    if (m_info->model->input() != InputKind::Images)
        return QStringLiteral("Only image models can be evaluated on data");
    return busy() ? QStringLiteral("Something else goes on; wait or cancel it") : QString();
}

void CheckpointController::open(const QString& path) {
    // A part of a folder stands for the folder.
    const QFileInfo file(path);
    const QString name = file.fileName();
    const bool part = file.isFile() && (name == QLatin1String("config.json") ||
                                        name.endsWith(QLatin1String(".index.json")) ||
                                        name == QLatin1String("io.safetensors"));
    const QString wanted = part ? file.absolutePath() : file.absoluteFilePath();
    const auto job = begin(Strip::Task, QStringLiteral("Reading %1").arg(name));
    m_headers.post(
        this,
        [wanted](std::stop_token) {
            awaitRuntime();
            return readCheckpointInfo(wanted.toStdString());
        },
        [this, request = m_tasks](CheckpointInfo info) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            ++m_shown;
            abandon(Strip::Numbers);
            m_info = std::move(info);
            m_broken.clear();
            m_read.clear();
            // One that cannot be loaded leaves the model in use where it is.
            if (m_info->loads() && m_loaded != this->path()) forgetWeights();
            remember();
            Q_EMIT opened();
            readNumbers();
        },
        [this, request = m_tasks](const QString& sentence) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT failed(sentence);
        });
}

/// All of them, where that takes seconds and not minutes; else those that are chosen.
void CheckpointController::readNumbers() {
    std::deque<QString> all;
    if (m_info->bytes <= kReadAllBytes && m_info->tensors.size() <= kReadAllTensors)
        for (const auto& tensor : m_info->tensors)
            all.push_back(QString::fromStdString(tensor.name));
    m_toRead = all.size();
    if (!all.empty())
        begin(Strip::Numbers, QStringLiteral("Reading the numbers of %1 tensors")
                                  .arg(groupedNumber(static_cast<qlonglong>(m_toRead))));
    m_unread = std::move(all);
    readNext();
}

void CheckpointController::chooseTensor(const QString& name) {
    if (!m_info || m_read.contains(name) || m_reading == name) return;
    const auto waiting = std::find(m_unread.begin(), m_unread.end(), name);
    if (waiting != m_unread.end()) m_unread.erase(waiting);
    m_unread.push_front(name);
    m_toRead = std::max(m_toRead, m_read.size() + m_unread.size());
    readNext();
}

void CheckpointController::readNext() {
    if (!m_reading.isEmpty()) return;
    if (m_numbers && m_toRead > 0)
        m_numbers->share = static_cast<double>(m_read.size()) / static_cast<double>(m_toRead);
    if (m_unread.empty()) {
        finish(Strip::Numbers);
        if (m_info) Q_EMIT numbersFinished();
        return;
    }
    m_reading = m_unread.front();
    m_unread.pop_front();
    const auto stop = m_numbers ? m_numbers->stop.get_token() : std::stop_token();
    m_tensors.post(
        this,
        [path = m_info->path, name = m_reading.toStdString(), stop](std::stop_token) {
            awaitRuntime();
            return tensorStatistics(path, name, 64, stop);
        },
        [this, name = m_reading, request = m_shown](const TensorStatistics& statistics) {
            if (request == m_shown) take(name, statistics);
        },
        [this, request = m_shown](const QString& sentence) {
            if (request != m_shown) return;
            abandon(Strip::Numbers);  // the file is no longer what its header said
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::take(const QString& name, const TensorStatistics& statistics) {
    if (m_reading == name) m_reading.clear();
    m_read.insert(name);
    if (statistics.notFinite > 0)
        m_broken.push_back({ProblemKind::NotFinite, statistics.name,
                            statistics.name + ": " + std::to_string(statistics.notFinite) + " of " +
                                std::to_string(statistics.count) +
                                " numbers are not finite (NaN or infinity)"});
    Q_EMIT statisticsReady(statistics);
    readNext();
}

void CheckpointController::verify() {
    if (!verifyObstacle().isEmpty()) return;
    const QFileInfo file(path());
    const QString folder = file.isDir() ? file.absoluteFilePath() : file.absolutePath();
    begin(Strip::Task, QStringLiteral("Comparing with the reference outputs"));
    m_checks.post(
        this,
        [folder](std::stop_token) {
            awaitRuntime();
            return verifyFolder(folder.toStdString());
        },
        [this, request = m_tasks](const VerifyReport& report) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT verified(report);
        },
        [this, request = m_tasks](const QString& sentence) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::forgetWeights() {
    abandon(Strip::Inspector);
    m_loaded.clear();
    // Models are destroyed where they were made.
    m_models.post(
        this, [weights = m_weights](std::stop_token) { return weights->model.reset(), 0; },
        [](int) {});
    Q_EMIT loadedChanged();
}

void CheckpointController::load() {
    if (!loadObstacle().isEmpty() || loaded()) return;
    const auto job = begin(
        Strip::Inspector,
        QStringLiteral("Loading the weights of %1").arg(QString::fromStdString(m_info->name)));
    struct Loaded {
        InputOffer offer;
        std::string warning;
    };
    m_models.post(
        this,
        [weights = m_weights, path = m_info->path, job](std::stop_token stop) {
            awaitRuntime();
            auto model = std::make_unique<OpenedModel>(path, "", "auto", job->stop.get_token(),
                                                       job->callback(stop));
            weights->model = std::move(model);
            return Loaded{offerOf(*weights->model), weights->model->warning()};
        },
        [this, request = m_probes, path = path()](const Loaded& loaded) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            m_loaded = path;
            m_offer = loaded.offer;
            Q_EMIT loadedChanged();
            if (!loaded.warning.empty()) Q_EMIT warned(QString::fromStdString(loaded.warning));
            InputWish first;
            if (m_offer.references > 0) first.kind = InputWish::Kind::Reference;
            probe(first);
        },
        [this, request = m_probes](const QString& sentence) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::probe(const InputWish& wish) {
    if (m_loaded.isEmpty()) return;
    begin(Strip::Inspector, QStringLiteral("Looking inside"));
    m_models.post(
        this,
        [weights = m_weights, wish](std::stop_token) {
            if (!weights->model) throw Cancelled();
            return std::make_shared<const ProbeResult>(
                weights->model->probe(sampleOf(*weights->model, wish), {}));
        },
        [this, wish, request = m_probes](const std::shared_ptr<const ProbeResult>& result) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            Q_EMIT probed(result, wish);
        },
        [this, request = m_probes](const QString& sentence) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::evaluate(const EvaluationWish& wish) {
    if (!evaluateObstacle().isEmpty()) return;
    if (!loaded() && !m_inspector) load();  // its job stands before this one
    const auto job = begin(Strip::Task, QStringLiteral("Evaluating on %1").arg(wish.name));
    m_models.post(
        this,
        [weights = m_weights, wish, job](std::stop_token stop) {
            if (!weights->model) throw Error("The weights were not loaded; press Inspect first");
            const auto data =
                dataOf(wish, weights->model->options(), job->callback(stop), job->stop.get_token());
            job->share = 0.0;
            return weights->model->evaluate(data, kEvaluationBatch, job->stop.get_token(),
                                            job->callback(stop));
        },
        [this, name = wish.name, request = m_tasks](const Evaluation& evaluation) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT evaluated(evaluation, name);
        },
        [this, request = m_tasks](const QString& sentence) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::convert(const QString& out) {
    if (!m_info || busy()) return;
    const auto job =
        begin(Strip::Task, QStringLiteral("Writing %1").arg(QFileInfo(out).fileName()));
    m_checks.post(
        this,
        [in = m_info->path, out, job](std::stop_token stop) {
            awaitRuntime();
            convertCheckpoint(in, out.toStdString(), job->stop.get_token(), job->callback(stop));
            return 0;
        },
        [this, out, request = m_tasks](int) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT converted(out);
        },
        [this, request = m_tasks](const QString& sentence) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::remember() {
    const QString now = path();
    std::erase_if(m_recent, [&](const RecentCheckpoint& r) { return r.path == now; });
    m_recent.insert(m_recent.begin(), {now, byteSize(m_info->bytes), false});
    if (m_recent.size() > kRemembered) m_recent.resize(kRemembered);
    Q_EMIT recentChanged();
}

void CheckpointController::setRecent(std::vector<RecentCheckpoint> recent) {
    m_recent = std::move(recent);
    if (m_recent.size() > kRemembered) m_recent.resize(kRemembered);
    Q_EMIT recentChanged();
    // A disk that sleeps may take its time to say what is gone.
    QStringList paths;
    for (const auto& r : m_recent) paths << r.path;
    m_headers.post(
        this,
        [paths](std::stop_token) {
            QStringList gone;
            for (const QString& path : paths)
                if (!QFileInfo::exists(path)) gone << path;
            return gone;
        },
        [this](const QStringList& gone) {
            for (auto& r : m_recent) r.missing = gone.contains(r.path);
            if (!gone.isEmpty()) Q_EMIT recentChanged();
        });
}

void CheckpointController::openRecent(const QString& path) {
    if (QFileInfo::exists(path)) return open(path);
    std::erase_if(m_recent, [&](const RecentCheckpoint& r) { return r.path == path; });
    Q_EMIT recentChanged();
    Q_EMIT failed(path + QStringLiteral(": is gone; it was taken off the list"));
}

}  // namespace relascope

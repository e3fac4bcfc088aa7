#include "app/controllers/checkpoint_controller.h"

#include <QFileInfo>
#include <algorithm>

#include "app/controllers/opened_weights.h"
#include "app/controllers/runtime.h"
#include "app/controllers/text_input.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/verify.h"
#include "datasets/readers/image_file.h"
#include "datasets/registry.h"
#include "run/run_folder.h"
#include "train/text_evaluation.h"
#include "widgets/source/text_input.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr std::int64_t kEvaluationBatch = 256, kTextBatch = 4;

InputOffer offerOf(const OpenedModel& model) {
    const ModelOptions& o = model.options();
    InputOffer offer;
    offer.references = model.referenceInputs();
    offer.kind = InputOffer::Kind::Vectors;
    if (o.input() == InputKind::Images) offer.kind = InputOffer::Kind::Images;
    if (const auto* tokens = o.find<TokenInput>()) {
        offer.kind = model.tokenizer() ? InputOffer::Kind::Text : InputOffer::Kind::Tokens;
        offer.vocabulary = tokens->vocab_size;
        offer.longest = static_cast<int>(tokens->max_block_size);
    }
    const auto* pairs = o.find<PairInput>();
    if (pairs && pairs->input_type == "token" && pairs->output_type == "token") {
        offer.kind = InputOffer::Kind::Tokens;
        offer.vocabulary = pairs->input_size;
        offer.longest = static_cast<int>(pairs->in_block_size);
        offer.targetVocabulary = pairs->output_size;
        offer.targetLongest = static_cast<int>(pairs->out_block_size);
    }
    return offer;
}

/// What was stored or made up, by pieces of text where the tokenizer is known.
ProbeSample inPieces(const OpenedModel& model, const ProbeSample& sample) {
    const auto tokenizer = model.tokenizer();
    return tokenizer ? tokenSample(tokenizer.get(), sample.source.tokens, sample.origin) : sample;
}

ProbeSample sampleOf(const OpenedModel& model, const InputWish& wish, std::string* note) {
    ProbeSample sample;
    switch (wish.kind) {
        case InputWish::Kind::Reference:
            return inPieces(model, model.referenceInput(wish.reference));
        case InputWish::Kind::Random:
            return inPieces(model, model.randomInput(wish.seed));
        case InputWish::Kind::Text: {
            const auto tokenizer = model.tokenizer();
            if (!tokenizer)
                throw OptionError("text", "needs the tokenizer of the model; choose it");
            auto typed = typedText(*tokenizer, wish.text.toStdString(), model.options());
            *note = std::move(typed.note);
            return typed.sample;
        }
        case InputWish::Kind::Tokens:
            sample.source.tokens.assign(wish.source.begin(), wish.source.end());
            sample.target.tokens.assign(wish.target.begin(), wish.target.end());
            sample.origin = "typed";
            if (sample.target.tokens.empty()) return inPieces(model, sample);
            break;
        case InputWish::Kind::Picture: {
            // Channels, width, height.
            const auto& shape = model.options().get<ImageInput>().image_shape;
            sample.image =
                fitImage(readImageFile(wish.picture.toStdString()), static_cast<int>(shape[1]),
                         static_cast<int>(shape[2]), static_cast<int>(shape[0]));
            sample.origin = QFileInfo(wish.picture).fileName().toStdString();
            break;
        }
    }
    return sample;
}

DatasetPtr dataOf(const EvaluationWish& wish, const OpenedModel& opened, const std::string& run,
                  const ProgressCallback& progress, const std::stop_token& stop) {
    if (wish.text)
        return openEvaluationText(opened, {run, wish.file.toStdString(), wish.split, wish.windows},
                                  progress, stop);
    DatasetPtr data;
    if (wish.file.isEmpty())
        data = openData(wish.options, progress, stop).find(wish.split);
    else
        data =
            openEvaluationData(wish.file.toStdString(), wish.options, wish.split, progress, stop);
    if (!data) throw OptionError("split", "there is no split '" + wish.split + "'");
    const DatasetInfo& info = data->info();
    const auto& images = opened.options().get<ImageInput>();
    requireFit(info, images.image_shape[0], images.image_shape[2], images.image_shape[1],
               images.num_classes);
    return data;
}

}  // namespace

CheckpointController::CheckpointController(QObject* parent)
    : QObject(parent),
      m_weights(std::make_shared<OpenedWeights>()),
      m_generator(new TextGenerator(m_weights, m_models, this)) {
    m_typing.setSingleShot(true);
    m_typing.setInterval(150);
    connect(&m_typing, &QTimer::timeout, this, [this] {
        if (m_text.isEmpty()) return;
        InputWish wish;
        wish.kind = InputWish::Kind::Text;
        wish.text = m_text;
        probe(wish);
    });
}

CheckpointController::~CheckpointController() {
    m_generator->clear();
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
               ? QStringLiteral("The weights cannot be loaded because of the problems listed")
               : QStringLiteral("No configuration was found, so the model is unknown");
}
QString CheckpointController::verifyObstacle() const {
    if (!m_info) return QStringLiteral("Open a checkpoint first");
    if (!m_info->hasReference)
        return QStringLiteral("No reference outputs (io.safetensors) found next to the checkpoint");
    return busy() ? QStringLiteral("Another task is running; wait for it or cancel it") : QString();
}
QString CheckpointController::evaluateObstacle() const {
    if (const QString why = loadObstacle(); !why.isEmpty()) return why;
    if (m_info->model->input() != InputKind::Images && !isLanguage())
        return QStringLiteral("Only image and language models can be evaluated on data");
    if (isLanguage() && loaded() && m_tokenizer.isEmpty()) return generateObstacle();
    return busy() ? QStringLiteral("Another task is running; wait for it or cancel it") : QString();
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
            const std::string path = wanted.toStdString();
            auto info = readCheckpointInfo(isRunFolder(path) ? newestWeights(path) : path);
            const std::string run = runOfWeights(info.path);
            // Of a run the step alone says little.
            if (!run.empty())
                info.name = QFileInfo(QString::fromStdString(run)).fileName().toStdString() + ", " +
                            info.name;
            return std::pair(std::move(info), run);
        },
        [this, request = m_tasks](std::pair<CheckpointInfo, std::string> read) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            CheckpointInfo& info = read.first;
            m_run = QString::fromStdString(read.second);
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
        begin(Strip::Numbers, QStringLiteral("Reading the values of %1 tensors")
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
                                " values are not finite (NaN or infinity)"});
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
    m_generator->clear();
    m_loaded.clear();
    m_tokenizer.clear();
    m_prompt.clear();
    m_text.clear();
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
        std::string warning, tokenizer;
        DataOptions data;  ///< of the run
    };
    m_models.post(
        this,
        [weights = m_weights, path = m_info->path, run = m_run.toStdString(),
         job](std::stop_token stop) {
            awaitRuntime();
            weights->load(path, job->stop.get_token(), job->callback(stop));
            const auto& model = *weights->model;
            Loaded loaded{offerOf(model), model.warning(), {}, {}};
            if (const auto tokenizer = model.tokenizer()) loaded.tokenizer = tokenizer->name();
            if (!run.empty()) loaded.data = readRunOptions(run).data;
            return loaded;
        },
        [this, request = m_probes, path = path()](const Loaded& loaded) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            m_loaded = path;
            m_offer = loaded.offer;
            m_tokenizer = QString::fromStdString(loaded.tokenizer);
            m_prompt =
                loaded.data.isText() ? QString::fromStdString(loaded.data.prompt) : QString();
            m_bfloat16 = false;
            m_generator->setBfloat16(false);
            Q_EMIT loadedChanged();
            if (!loaded.warning.empty()) Q_EMIT warned(QString::fromStdString(loaded.warning));
            InputWish first;
            if (m_offer.references > 0) first.kind = InputWish::Kind::Reference;
            if (m_offer.kind == InputOffer::Kind::Text) {
                first.kind = InputWish::Kind::Text;
                first.text = loaded.data.isText() && !loaded.data.pinned_text.empty()
                                 ? QString::fromStdString(loaded.data.pinned_text)
                                 : QString::fromUtf8(exampleTexts().front().text);
            }
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
    m_wish = wish;
    if (wish.kind != InputWish::Kind::Text) m_text.clear();
    const auto job = begin(Strip::Inspector, QStringLiteral("Computing the maps"));
    struct Looked {
        std::shared_ptr<const ProbeResult> result;
        std::string note;
    };
    m_models.post(
        this,
        [weights = m_weights, wish, job, rounded = m_bfloat16](std::stop_token stop) {
            if (job->stop.stop_requested()) throw Cancelled();  // another wish came meanwhile
            OpenedModel& model = weights->as(rounded, job->stop.get_token(), job->callback(stop));
            Looked looked;
            const ProbeSample sample = sampleOf(model, wish, &looked.note);
            looked.result = std::make_shared<const ProbeResult>(model.probe(sample, {}));
            return looked;
        },
        [this, wish, request = m_probes](const Looked& looked) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            Q_EMIT probed(looked.result, wish);
            if (wish.kind == InputWish::Kind::Text)
                Q_EMIT textProblem(QString::fromStdString(looked.note));
        },
        [this, wish, request = m_probes](const QString& sentence) {
            if (request != m_probes) return;
            finish(Strip::Inspector);
            if (wish.kind == InputWish::Kind::Text) return Q_EMIT textProblem(sentence);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::evaluate(const EvaluationWish& wish) {
    if (!evaluateObstacle().isEmpty()) return;
    if (!loaded() && !m_inspector) load();  // its job stands before this one
    const auto job = begin(Strip::Task, QStringLiteral("Evaluating on %1").arg(wish.name));
    m_models.post(
        this,
        [weights = m_weights, wish, job, run = m_run.toStdString()](std::stop_token stop) {
            if (!weights->model) throw Error("The weights were not loaded; press Inspect first");
            // The exact weights are measured, whatever was written with them last.
            OpenedModel& model = weights->as(false, job->stop.get_token(), job->callback(stop));
            const auto data = dataOf(wish, model, run, job->callback(stop), job->stop.get_token());
            job->share = 0.0;
            return model.evaluate(data, wish.text ? kTextBatch : kEvaluationBatch,
                                  job->stop.get_token(), job->callback(stop));
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

}  // namespace relascope

// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <QFileInfo>

#include "app/controllers/inspection_session.h"
#include "app/controllers/runtime.h"
#include "data/text_tokens.h"
#include "datasets/readers/image_folder.h"
#include "files/memory.h"
#include "probe/probe_memory.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::app {

std::int64_t longestLook(const ModelOptions& model) {
    return core::longestProbe(model, core::probeBudget());
}

TypedText typedText(const core::Tokenizer& tokenizer, const std::string& text,
                    const ModelOptions& model) {
    const auto ids = tokenizer.encode(text);
    if (ids.empty()) throw OptionError("text", "is empty; enter a text to inspect");
    TypedText typed;
    const auto count = static_cast<std::int64_t>(ids.size());
    const std::uint64_t budget = core::probeBudget();
    const std::int64_t longest = core::longestProbe(model, budget);
    std::vector<std::int64_t> kept(ids.begin(), ids.begin() + std::min(count, longest));
    if (count > model.tokens())
        typed.note = std::to_string(count) + " tokens: the model's context is " +
                     std::to_string(model.tokens()) + "; ";
    if (longest < std::min(count, model.tokens()))
        typed.note += "the maps of " + std::to_string(std::min(count, model.tokens())) +
                      " tokens need " +
                      core::byteText(core::probeBytes(model, std::min(count, model.tokens()))) +
                      ", " + core::byteText(budget) + " are free; ";
    if (count > longest) typed.note += "the first " + std::to_string(longest) + " are shown";
    typed.sample = core::tokenSample(&tokenizer, std::move(kept), kTyped);
    return typed;
}

void shorten(ProbeSample& sample, std::int64_t longest) {
    const auto most = static_cast<std::size_t>(longest);
    if (sample.source.tokens.size() <= most) return;
    sample.source.tokens.resize(most);
    if (sample.source.labels.size() > most) sample.source.labels.resize(most);
}

std::string beginningOfText(const std::string& path) {
    constexpr std::size_t most = 64 * 1024;
    std::ifstream file(path, std::ios::binary);
    std::string bytes(most, ' ');
    if (file) file.read(bytes.data(), static_cast<std::streamsize>(most));
    if (file.bad() || (!file && !file.eof())) throw FileError(path, "cannot be read");
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    if (bytes.find('\0') != std::string::npos)
        throw FileError(path, "is not a text file; choose a UTF-8 text");
    return validUtf8(bytes);
}

std::vector<TokenChoice> nextTokens(const ProbeResult& result) {
    std::vector<TokenChoice> choices;
    if (!result.sample.source.text) return choices;
    const std::size_t count =
        std::min<std::size_t>({result.probabilities.size(), result.classNames.size(), 6});
    for (std::size_t k = 0; k < count; ++k)
        choices.push_back({static_cast<std::int64_t>(k), result.classNames[k],
                           static_cast<double>(result.probabilities[k])});
    return choices;
}

std::vector<float> nextTokensBefore(const ProbeResult& result, const ProbeResult* before) {
    std::vector<float> probabilities;
    if (!before) return probabilities;
    for (const TokenChoice& choice : nextTokens(result)) {
        const auto& names = before->classNames;
        const auto found = std::find(names.begin(), names.end(), choice.piece);
        const auto at = static_cast<std::size_t>(found - names.begin());
        // A token that is not among the likeliest has a smaller probability than these.
        probabilities.push_back(at < before->probabilities.size() ? before->probabilities[at]
                                                                  : 0.0F);
    }
    return probabilities;
}

namespace fs = std::filesystem;

void OpenedWeights::load(const std::string& from, const std::string& device, std::stop_token stop,
                         const core::ProgressCallback& progress, const std::string& step) {
    auto fresh = std::make_unique<core::OpenedModel>(from, step, device, std::move(stop), progress);
    // The tokenizer of a run is in the run folder, not next to the weights.
    const std::string run = runOfWeights(from), own = run + "/tokenizer.json";
    if (fresh->options().input() == InputKind::Tokens) {
        if (from == path && !tokenizer.empty())
            fresh->setTokenizer(tokenizer);
        else if (!run.empty() && fs::exists(own))
            fresh->setTokenizer(own);
    }
    if (from != path) tokenizer.clear();
    if (!model || !(model->options() == fresh->options())) points.reset();
    base.reset();
    model = std::move(fresh);
    path = from;
    checkpoint = step;
    bfloat16 = false;
}

core::OpenedModel& OpenedWeights::as(bool rounded, std::stop_token stop,
                                     const core::ProgressCallback& progress) {
    if (!model) throw Cancelled();
    if (bfloat16 && !rounded) load(std::string(path), "auto", std::move(stop), progress);
    if (rounded && !bfloat16) {
        model->narrow();
        base.reset();
        bfloat16 = true;
    }
    return *model;
}

void OpenedWeights::setTokenizer(const std::string& nameOrPath) {
    if (!model) throw Cancelled();
    model->setTokenizer(nameOrPath);
    tokenizer = nameOrPath;
}

std::string runOfWeights(const std::string& path) {
    fs::path folder = fs::absolute(path).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    if (!fs::is_directory(folder)) folder = folder.parent_path();
    if (folder.parent_path().filename() != "checkpoints") return {};
    const std::string run = folder.parent_path().parent_path().string();
    return core::isRunFolder(run) ? run : std::string();
}

std::string newestWeights(const std::string& run) {
    std::int64_t newest = -1;
    std::string found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::path(run) / "checkpoints", none)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = -1;
        if (name.rfind("step-", 0) != 0 || !fs::exists(entry.path() / "manifest.json")) continue;
        std::from_chars(name.data() + 5, name.data() + name.size(), step);
        if (step > newest) newest = step, found = entry.path().string();
    }
    if (found.empty())
        throw FileError(run,
                        "has no checkpoint yet; checkpoints are written during and after training");
    return found;
}

namespace {

widgets::InputOffer offerOf(const core::OpenedModel& model) {
    const ModelOptions& o = model.options();
    widgets::InputOffer offer;
    offer.references = model.referenceInputs();
    offer.kind = widgets::InputOffer::Kind::Vectors;
    if (o.input() == InputKind::Images) offer.kind = widgets::InputOffer::Kind::Images;
    if (const auto* tokens = o.find<TokenInput>()) {
        offer.kind =
            model.tokenizer() ? widgets::InputOffer::Kind::Text : widgets::InputOffer::Kind::Tokens;
        offer.vocabulary = tokens->vocab_size;
        offer.longest = static_cast<int>(tokens->max_block_size);
    }
    const auto* pairs = o.find<PairInput>();
    if (pairs && pairs->input_type == "token" && pairs->output_type == "token") {
        offer.kind = widgets::InputOffer::Kind::Tokens;
        offer.vocabulary = pairs->input_size;
        offer.longest = static_cast<int>(pairs->in_block_size);
        offer.targetVocabulary = pairs->output_size;
        offer.targetLongest = static_cast<int>(pairs->out_block_size);
    }
    return offer;
}

ProbeSample sampleOfTokens(const InputRequest& request, const core::Tokenizer* tokenizer) {
    const std::vector<std::int64_t> source(request.source.begin(), request.source.end());
    const bool pair = !request.target.empty();
    ProbeSample sample = core::tokenSample(pair ? nullptr : tokenizer, source, "typed");
    sample.target.tokens.assign(request.target.begin(), request.target.end());
    return sample;
}

/// A stored or random input, with the text of its tokens if the tokenizer is known.
ProbeSample sampleOfModel(const core::OpenedModel& model, const InputRequest& request) {
    const auto sample = request.kind == InputRequest::Kind::Reference
                            ? model.referenceInput(request.reference)
                            : model.randomInput(request.seed);
    const auto tokenizer = model.tokenizer();
    return tokenizer ? core::tokenSample(tokenizer.get(), sample.source.tokens, sample.origin)
                     : sample;
}

struct Captured {
    ProbeResult result;
    std::int64_t samples = 0;
};

Captured nearestCapture(const std::string& folder, std::int64_t wanted, std::int64_t sample) {
    const auto steps = core::captureSteps(folder);
    if (steps.empty())
        throw Error(
            "this run has no captures; set train.capture_samples to the number of inputs to "
            "capture");
    const auto after = std::lower_bound(steps.begin(), steps.end(), wanted);
    auto nearest = after == steps.end() ? steps.back() : *after;
    if (after != steps.begin() && (after == steps.end() || wanted - *(after - 1) < *after - wanted))
        nearest = *(after - 1);
    const auto count = core::captureSamples(folder, nearest);
    const auto last = std::max<std::int64_t>(0, count - 1);
    return {core::loadCapture(folder, nearest, std::clamp<std::int64_t>(sample, 0, last)), count};
}

}  // namespace

ProbeSample readPicture(const std::string& path, const ModelOptions& model) {
    const auto& shape = model.get<ImageInput>().image_shape;  // channels, width, height
    ProbeSample sample;
    sample.image = datasets::fitImage(datasets::readImageFile(path), static_cast<int>(shape[1]),
                                      static_cast<int>(shape[2]), static_cast<int>(shape[0]));
    sample.origin = QFileInfo(QString::fromStdString(path)).fileName().toStdString();
    return sample;
}

InspectionSession::InspectionSession(JobQueue& models, QObject* parent)
    : QObject(parent), m_models(models), m_weights(std::make_shared<OpenedWeights>()) {
    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingDelay);
    connect(&m_typing, &QTimer::timeout, this, &InspectionSession::readText);
    connect(&m_task, &LongTask::failed, this, &InspectionSession::failed);
}

InspectionSession::~InspectionSession() = default;

// The model
// ---------------------------------------------------------------------------------------------------

void InspectionSession::setModel(std::optional<ModelOptions> model, core::TokenizerPtr tokenizer,
                                 const QString& noTokenizer) {
    m_model = std::move(model);
    m_tokenizer = std::move(tokenizer);
    m_noTokenizer = noTokenizer;
    if (m_model && !m_text.isEmpty()) m_typing.start();
}

void InspectionSession::load(const QString& path, const QString& text) {
    struct Loaded {
        ModelOptions model;
        core::TokenizerPtr tokenizer;
        widgets::InputOffer offer;
        std::string warning;
    };
    const auto work = [weights = m_weights, from = path.toStdString()](LongJob& job,
                                                                       std::stop_token stop) {
        awaitRuntime();
        weights->load(from, "auto", job.stop.get_token(), job.callback(stop));
        const auto& model = *weights->model;
        return Loaded{model.options(), model.tokenizer(), offerOf(model), model.warning()};
    };
    m_task.run(m_models, text, work, [this, path](Loaded read) {
        m_path = path;
        m_offer = read.offer;
        m_bfloat16 = false;
        setModel(std::move(read.model), std::move(read.tokenizer));
        Q_EMIT loaded(QString::fromStdString(read.warning));
    });
}

void InspectionSession::chooseTokenizer(const QString& path) {
    const auto work = [weights = m_weights, path](LongJob&, std::stop_token) {
        weights->setTokenizer(path.toStdString());
        return weights->model->tokenizer();
    };
    m_task.run(m_models, QStringLiteral("Reading %1").arg(QFileInfo(path).fileName()), work,
               [this](core::TokenizerPtr tokenizer) {
                   m_tokenizer = std::move(tokenizer);
                   m_offer.kind = widgets::InputOffer::Kind::Text;
                   Q_EMIT tokenizerChosen();
                   choose(InputRequest(m_request));
               });
}

void InspectionSession::dropWeights() {
    m_task.abandon();
    m_effects.abandon();
    m_models.post(
        this, [weights = m_weights](std::stop_token) { return weights->model.reset(), 0; },
        [](int) {});
}

void InspectionSession::clear() {
    m_path.clear();
    m_offer = {};
    setModel(std::nullopt, nullptr);
    forgetInput();
    dropWeights();
}

// The input
// ---------------------------------------------------------------------------------------------------

void InspectionSession::forgetInput() {
    ++m_inputs;
    m_own.reset();
    m_text.clear();
    m_textNote.clear();
}

void InspectionSession::choose(const InputRequest& request) {
    using Kind = InputRequest::Kind;
    ++m_inputs;  // what is being read is of the input before
    m_request = request;
    m_text = request.kind == Kind::Text ? request.text : QString();
    switch (request.kind) {
        case Kind::Reference:
        case Kind::Random:
            m_own.reset();
            return Q_EMIT inputRead();
        case Kind::Tokens:
            m_own = sampleOfTokens(request, m_tokenizer.get());
            return Q_EMIT inputRead();
        case Kind::Text:
            return readText();
        case Kind::Picture:
            break;
    }
    if (!m_model) return;
    m_reading.post(
        this,
        [file = request.picture.toStdString(), model = *m_model](std::stop_token) {
            return readPicture(file, model);
        },
        [this, input = m_inputs](ProbeSample read) {
            if (input != m_inputs) return;
            m_own = std::move(read);
            Q_EMIT inputRead();
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void InspectionSession::chooseText(const QString& text) {
    ++m_inputs;
    m_text = text;
    m_textNote.clear();
    m_typing.start();
}

void InspectionSession::note(const QString& sentence) {
    m_textNote = sentence;
    Q_EMIT textRead();
}

/// Tokenizing a long text is slow, so it does not run on the window's thread.
void InspectionSession::readText() {
    if (m_text.isEmpty() || !m_model) return;
    m_request = {};
    m_request.kind = InputRequest::Kind::Text;
    m_request.text = m_text;
    if (!m_tokenizer) return note(m_noTokenizer);
    m_reading.post(
        this,
        [text = m_text.toStdString(), tokenizer = m_tokenizer, model = *m_model](std::stop_token) {
            return typedText(*tokenizer, text, model);
        },
        [this, input = m_inputs](TypedText typed) {
            if (input != m_inputs) return;
            m_own = std::move(typed.sample);
            note(QString::fromStdString(typed.note));
            Q_EMIT inputRead();
        },
        [this, input = m_inputs](const QString& sentence) {
            if (input == m_inputs) note(sentence);
        });
}

void InspectionSession::offerText(const QString& text) {
    Q_EMIT textOffered(text);
    chooseText(text);
}

void InspectionSession::chooseTextFile(const QString& path) {
    m_reading.post(
        this,
        [path](std::stop_token) {
            return QString::fromStdString(beginningOfText(path.toStdString()));
        },
        [this, input = m_inputs](const QString& text) {
            if (input == m_inputs) offerText(text);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

// The maps
// ---------------------------------------------------------------------------------------------------

/// `make` is called with the weights and computes a result.
template <class Make>
void InspectionSession::inspectBy(Make make) {
    m_effects.abandon();
    const auto work = [this, weights = m_weights, make = std::move(make), layer = m_shownLayer,
                       request = m_request](LongJob& job, std::stop_token stop) {
        if (job.stop.stop_requested()) throw Cancelled();  // another request came meanwhile
        core::ProbeWatch watch;
        watch.shownLayer = layer;
        watch.progress = job.callback(stop);
        watch.delay = std::chrono::milliseconds(100);
        // Reported on the window's thread, and only while this session wants the result.
        watch.partial = [this, &job, request](ProbeResult part) {
            job.report(
                [this, request, part = std::make_shared<const ProbeResult>(std::move(part))] {
                    Q_EMIT partlyInspected(part, request);
                });
        };
        return make(*weights, job, stop, watch);
    };
    m_task.run(
        m_models, QStringLiteral("Computing the maps"), work,
        [this, request = m_request](const EditedProbe& probe) {
            Q_EMIT pointsFound(probe.points);
            Q_EMIT editsRefused(QString::fromStdString(probe.problem));
            Q_EMIT meansFound(probe.edits, probe.means);
            Q_EMIT inspected(probe.inspected, request);
            if (probe.inspected.edited()) measureEffects(probe.inspected.result);
        },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

/// The inspector is served first: a new request ends these passes.
void InspectionSession::measureEffects(const std::shared_ptr<const ProbeResult>& edited) {
    m_effects.run(
        m_models, {},
        [weights = m_weights, interventions = m_interventions, edited](LongJob& job,
                                                                       std::stop_token stop) {
            return effectsAlone(*weights, interventions, edited, [&] {
                return !stop.stop_requested() && !job.stop.stop_requested();
            });
        },
        [this](const QStringList& effects) { Q_EMIT effectsFound(effects); },
        [](const QString&) {});
}

void InspectionSession::inspect() {
    if (m_path.isEmpty()) return;
    inspectBy([own = m_own, request = m_request, rounded = m_bfloat16,
               interventions = m_interventions](OpenedWeights& weights, LongJob& job,
                                                std::stop_token stop,
                                                const core::ProbeWatch& watch) {
        core::OpenedModel& model = weights.as(rounded, job.stop.get_token(), job.callback(stop));
        return probeEdited(weights, own ? *own : sampleOfModel(model, request), {}, interventions,
                           watch);
    });
}

void InspectionSession::inspectRun(const QString& run, std::optional<qint64> step,
                                   ProbeSample sample, std::vector<std::string> names) {
    inspectBy([path = run.toStdString(), step, sample = std::move(sample), names = std::move(names),
               interventions = m_interventions](OpenedWeights& weights, LongJob& job,
                                                std::stop_token stop,
                                                const core::ProbeWatch& watch) {
        awaitRuntime();
        if (weights.path != path) weights.model.reset();  // not two of them in the memory
        const std::string checkpoint =
            step ? core::stepToOpen(path, *step).checkpoint : std::string();
        if (!weights.model || weights.checkpoint != checkpoint)
            weights.load(path, "cpu", job.stop.get_token(), job.callback(stop), checkpoint);
        return probeEdited(weights, sample, names, interventions, watch);
    });
}

void InspectionSession::inspectCapture(const QString& run, qint64 step, qint64 sample) {
    const auto work = [folder = run.toStdString() + "/captures", step, sample](LongJob&,
                                                                               std::stop_token) {
        return nearestCapture(folder, step, sample);
    };
    m_task.run(
        m_models, {}, work,
        [this](Captured captured) {
            Q_EMIT capturesCounted(captured.samples);
            Q_EMIT inspected(
                {std::make_shared<const ProbeResult>(std::move(captured.result)), {}, {}, {}, {}},
                m_request);
        },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

}  // namespace relascope::app

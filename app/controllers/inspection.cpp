// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <QFileInfo>

#include "app/controllers/inspection.h"
#include "checkpoint/adapter.h"
#include "data/text_tokens.h"
#include "files/memory.h"
#include "model/public/public_options.h"
#include "probe/probe_memory.h"
#include "question/question_fields.h"
#include "question/question_input.h"
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
    const auto ids = tokenizer.encodeTyped(text);
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

bool isOneText(const ProbeSample& sample) {
    return sample.source.text && sample.target.size() == 0;
}

namespace {

/// The probability of a token; 0 if it is not among the likeliest of the result.
float probabilityOf(const ProbeResult& result, const std::string& piece) {
    const auto& names = result.classNames;
    const auto at =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), piece) - names.begin());
    return at < result.probabilities.size() ? result.probabilities[at] : 0.0F;
}

}  // namespace

std::vector<TokenChoice> nextTokens(const ProbeResult& result, const ProbeResult* other) {
    constexpr std::size_t most = 6;
    std::vector<TokenChoice> choices;
    if (!result.sample.source.text) return choices;
    // The likeliest tokens of both results in turn, so that neither hides those of the other.
    for (std::size_t k = 0; k < most; ++k)
        for (const ProbeResult* of : {&result, other}) {
            if (!of || k >= std::min(of->probabilities.size(), of->classNames.size())) continue;
            const auto& piece = of->classNames[k];
            const bool known = std::any_of(choices.begin(), choices.end(),
                                           [&](const auto& one) { return one.piece == piece; });
            if (known || choices.size() == most) continue;
            choices.push_back({static_cast<std::int64_t>(choices.size()), piece,
                               static_cast<double>(probabilityOf(result, piece))});
        }
    const auto larger = [&](const TokenChoice& choice) {
        return std::max(choice.probability,
                        other ? static_cast<double>(probabilityOf(*other, choice.piece)) : 0.0);
    };
    std::stable_sort(
        choices.begin(), choices.end(),
        [&](const TokenChoice& a, const TokenChoice& b) { return larger(a) > larger(b); });
    return choices;
}

std::vector<float> nextTokensBefore(const std::vector<TokenChoice>& choices,
                                    const ProbeResult* other) {
    std::vector<float> probabilities;
    if (other)
        for (const auto& choice : choices)
            probabilities.push_back(probabilityOf(*other, choice.piece));
    return probabilities;
}

namespace fs = std::filesystem;

namespace {

/// The tokenizer that a session uses for these weights; null if it is unknown.
core::TokenizerPtr tokenizerOf(const Question& opened, const ModelOptions& model) {
    if (model.input() != InputKind::Tokens) return nullptr;
    if (const auto chosen = opened.text("tokenizer"); !chosen.empty())
        return core::openTokenizer(chosen);
    const auto& path = opened.subjects.front().path;
    try {
        // The tokenizer of a run is in the run folder, not next to the weights.
        const std::string run = core::runOfWeights(path), own = run + "/tokenizer.json";
        if (!run.empty() && fs::exists(own)) return core::openTokenizer(own);
        return core::checkpointTokenizer(path, core::knownVocabulary(model));
    } catch (const Error&) {
        return nullptr;  // the session warns of it
    }
}

}  // namespace

namespace {

widgets::InputOffer offerOf(const ModelOptions& o, int references, bool text) {
    widgets::InputOffer offer;
    offer.references = references;
    offer.kind = widgets::InputOffer::Kind::Vectors;
    if (o.input() == InputKind::Images) offer.kind = widgets::InputOffer::Kind::Images;
    if (const auto* tokens = o.find<TokenInput>()) {
        offer.kind = text ? widgets::InputOffer::Kind::Text : widgets::InputOffer::Kind::Tokens;
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

ProbeSample sampleOfTokens(const Question& input, const core::Tokenizer* tokenizer) {
    using Ids = std::vector<std::int64_t>;
    const auto target = input.value<Ids>("target");
    ProbeSample sample = core::tokenSample(target.empty() ? tokenizer : nullptr,
                                           input.value<Ids>("tokens"), "typed");
    sample.target.tokens = target;
    return sample;
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

Inspection::Inspection(Looker& looker, QObject* parent) : QObject(parent), m_looker(looker) {
    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingDelay);
    connect(&m_typing, &QTimer::timeout, this, &Inspection::readText);
    connect(&m_task, &LongTask::failed, this, &Inspection::failed);
}

Inspection::~Inspection() = default;

// The model
// ---------------------------------------------------------------------------------------------------

void Inspection::setModel(std::optional<ModelOptions> model, core::TokenizerPtr tokenizer,
                          const QString& noTokenizer) {
    m_model = std::move(model);
    m_tokenizer = std::move(tokenizer);
    m_noTokenizer = noTokenizer;
    if (m_model && !m_text.isEmpty()) m_typing.start();
}

void Inspection::load(const Question& wanted, const QString& text) {
    struct Loaded {
        wire::OpenedWeights weights;
        core::TokenizerPtr tokenizer;
    };
    const auto work = [wanted](Engine& models, LongJob&, const Looker::Progress& progress) {
        Loaded loaded{wire::openWeights(models.session, wire::Asked(wanted), progress), nullptr};
        // For a checkpoint of a host this was done when it was opened.
        const auto& path = wanted.subjects.front().path;
        if (core::isRunFolder(path)) wire::mirrorTokenizer(models.session, path, progress);
        loaded.tokenizer = tokenizerOf(wanted, loaded.weights.model);
        return loaded;
    };
    m_looker.use(wanted.subjects.front());
    m_looker.run(m_task, text, work, [this, wanted](Loaded read) {
        m_opened = wanted;
        m_offer = offerOf(read.weights.model, read.weights.references, read.tokenizer != nullptr);
        setModel(std::move(read.weights.model), std::move(read.tokenizer));
        Q_EMIT loaded(QString::fromStdString(read.weights.warning));
    });
}

void Inspection::chooseTokenizer(const QString& path) {
    auto wanted = m_opened;
    wanted.set("tokenizer", path.toStdString());
    const auto work = [wanted](Engine& models, LongJob&, const Looker::Progress& progress) {
        return tokenizerOf(wanted,
                           wire::openWeights(models.session, wire::Asked(wanted), progress).model);
    };
    m_looker.run(m_task, QStringLiteral("Reading %1").arg(QFileInfo(path).fileName()), work,
                 [this, wanted](core::TokenizerPtr tokenizer) {
                     m_opened = wanted;
                     m_tokenizer = std::move(tokenizer);
                     m_offer.kind = widgets::InputOffer::Kind::Text;
                     Q_EMIT tokenizerChosen();
                     choose(Question(m_request));
                 });
}

void Inspection::setBfloat16(bool on) {
    std::erase_if(m_opened.options, [](const Option& option) { return option.name == "bf16"; });
    if (on) m_opened.set("bf16", true);
}

void Inspection::dropWeights() {
    m_task.abandon();
    m_effects.abandon();
    m_looker.drop();
}

void Inspection::clear() {
    m_opened = weightsAt({}, std::nullopt);
    m_offer = {};
    setModel(std::nullopt, nullptr);
    forgetInput();
    dropWeights();
}

// The input
// ---------------------------------------------------------------------------------------------------

void Inspection::forgetInput() {
    ++m_inputs;
    m_request = {};
    m_own.reset();
    m_text.clear();
    m_textNote.clear();
}

void Inspection::choose(const Question& input) {
    ++m_inputs;  // an input that is being read is no longer wanted
    m_request = input;
    m_text = QString::fromStdString(input.text("text"));
    if (input.option("text")) return readText();
    if (input.option("reference") || input.option("random")) {
        m_own.reset();
        return Q_EMIT inputRead();
    }
    if (input.option("tokens")) {
        m_own = sampleOfTokens(input, m_tokenizer.get());
        return Q_EMIT inputRead();
    }
    if (!m_model || !input.option("image")) return;
    m_looker.post(
        this,
        [file = input.text("image"), model = *m_model](Engine& models,
                                                       const Looker::Progress& progress) {
            return wire::picture(models.session, file, model, progress);
        },
        [this, input = m_inputs](ProbeSample read) {
            if (input != m_inputs) return;
            m_own = std::move(read);
            Q_EMIT inputRead();
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void Inspection::chooseText(const QString& text) {
    ++m_inputs;
    m_text = text;
    m_textNote.clear();
    m_typing.start();
}

void Inspection::note(const QString& sentence) {
    m_textNote = sentence;
    Q_EMIT textRead();
}

/// Tokenizing a long text is slow, so it does not run on the window's thread.
void Inspection::readText() {
    if (m_text.isEmpty() || !m_model) return;
    m_request = inputAs({{"text", m_text.toStdString()}});
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

void Inspection::offerText(const QString& text) {
    Q_EMIT textOffered(text);
    chooseText(text);
}

void Inspection::chooseTextFile(const QString& path) {
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

void Inspection::probe(wire::Asked asked) {
    m_effects.abandon();
    asked.edits = {m_edits};
    m_asked = asked;
    m_looker.use(asked.subjects.front());
    const auto work = [this, asked, layer = m_shownLayer, input = m_request](
                          Engine& models, LongJob& job, const Looker::Progress& progress) {
        // Reported on the window's thread, and only while this session wants the result.
        const auto partial = [this, &job, input](ProbeResult part) {
            job.report([this, input, part = std::make_shared<const ProbeResult>(std::move(part))] {
                Q_EMIT partlyInspected(part, input);
            });
        };
        auto probed = models.prober.probe(models.session, asked, progress, partial, layer);
        auto inspected = inspectedOf(probed.result, probed.before, asked.edits[0], *probed.points);
        return std::pair(std::move(probed), std::move(inspected));
    };
    m_looker.run(
        m_task, m_progressText, work,
        [this, asked, input = m_request](const std::pair<wire::Probed, widgets::Inspected>& done) {
            const auto& [probed, inspected] = done;
            Q_EMIT pointsFound(probed.points);
            Q_EMIT editsRefused(QString::fromStdString(probed.problem));
            Q_EMIT meansFound(probed.before ? asked.edits[0] : EditList(), probed.means);
            Q_EMIT this->inspected(inspected, input);
            if (inspected.edited()) measureEffects(asked);
        },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

/// The inspector is served first: a new request ends these passes.
void Inspection::measureEffects(const wire::Asked& asked) {
    m_looker.run(
        m_effects, {},
        [asked](Engine& models, LongJob&, const Looker::Progress& progress) {
            QStringList texts;
            for (const auto& effect : wire::effectsAlone(models.session, asked, progress))
                texts << (effect ? effectText(*effect) : QString());
            return texts;
        },
        [this](const QStringList& effects) { Q_EMIT effectsFound(effects); },
        [](const QString&) {});
}

void Inspection::inspect() {
    if (path().isEmpty()) return;
    auto asked = input();
    asked.subjects = m_opened.subjects;
    for (const auto& option : m_opened.options) asked.set(option.name, option.value);
    probe(std::move(asked));
}

wire::Asked Inspection::input() const {
    wire::Asked asked(m_request);
    asked.command = core::kInspectView;
    asked.sample = m_own;
    return asked;
}

void Inspection::inspectRun(const QString& run, std::optional<qint64> step, wire::Asked input) {
    input.subjects = weightsAt(run, step).subjects;
    probe(std::move(input));
}

void Inspection::inspectCapture(const QString& run, qint64 step, qint64 sample) {
    const auto work = [folder = run.toStdString() + "/captures", step, sample](
                          Engine&, LongJob&, const Looker::Progress&) {
        return nearestCapture(folder, step, sample);
    };
    m_looker.run(
        m_task, {}, work,
        [this](Captured captured) {
            Q_EMIT capturesCounted(captured.samples);
            Q_EMIT inspected(
                {std::make_shared<const ProbeResult>(std::move(captured.result)), {}, {}, {}, {}},
                m_request);
        },
        [this](const QString& sentence) { Q_EMIT refused(sentence); });
}

}  // namespace relascope::app

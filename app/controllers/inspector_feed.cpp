// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/inspector_feed.h"

#include <QFileInfo>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "app/controllers/typed_text.h"
#include "checkpoint/adapter.h"
#include "data/text_tokens.h"
#include "model/public/public_options.h"
#include "model/served/served_options.h"
#include "probe/probe_memory.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "types/error.h"

namespace relascope::app {

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
    offer.examples = core::isServed(o);
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

InspectorFeed::InspectorFeed(Looker& looker, QObject* parent) : QObject(parent), m_looker(looker) {
    m_typing.setSingleShot(true);
    m_typing.setInterval(kTypingDelay);
    m_pace.setSingleShot(true);
    connect(&m_pace, &QTimer::timeout, this, &InspectorFeed::ask);
    connect(&m_typing, &QTimer::timeout, this, &InspectorFeed::readText);
    // A relation that is fitted anew and saved under its name is shown anew.
    connect(&m_relations, &QFileSystemWatcher::fileChanged, this, &InspectorFeed::ask);
    connect(&m_task, &LongTask::failed, this, &InspectorFeed::failed);
}

InspectorFeed::~InspectorFeed() = default;

// The model
// ---------------------------------------------------------------------------------------------------

void InspectorFeed::setModel(std::optional<ModelOptions> model, core::TokenizerPtr tokenizer,
                             const QString& noTokenizer) {
    m_model = std::move(model);
    m_tokenizer = std::move(tokenizer);
    m_noTokenizer = noTokenizer;
    if (m_model && !m_text.isEmpty()) m_typing.start();
}

void InspectorFeed::load(const Question& wanted, const QString& text) {
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

void InspectorFeed::chooseTokenizer(const QString& path) {
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

void InspectorFeed::chooseHead(const QString& head) {
    auto wanted = m_opened;
    wanted.subjects.front().head = head.toStdString();
    const auto work = [wanted](Engine& models, LongJob&, const Looker::Progress& progress) {
        return wire::openWeights(models.session, wire::Asked(wanted), progress).model;
    };
    m_looker.run(m_task, QStringLiteral("Reading %1").arg(QFileInfo(head).fileName()), work,
                 [this, wanted](ModelOptions model) {
                     m_opened = wanted;
                     m_model = std::move(model);
                     choose(Question(m_request));
                 });
}

void InspectorFeed::setBfloat16(bool on) {
    std::erase_if(m_opened.options, [](const Option& option) { return option.name == "bf16"; });
    if (on) m_opened.set("bf16", true);
}

void InspectorFeed::dropWeights() {
    m_task.abandon();
    m_effects.abandon();
    m_looker.drop();
}

void InspectorFeed::forget() {
    m_opened = weightsAt({}, std::nullopt);
    m_wanted = m_shown = weightsAt({}, std::nullopt);
    m_offer = {};
    m_points.reset();
    m_example.reset();
    m_tokenNames.clear();
    m_shownStep.reset();
    m_again = false;
    setModel(std::nullopt, nullptr);
    forgetInput();
    drop();
}

// The input
// ---------------------------------------------------------------------------------------------------

void InspectorFeed::forgetInput() {
    ++m_inputs;
    m_unread = false;
    m_request = {};
    m_own.reset();
    m_text.clear();
    m_textNote.clear();
}

void InspectorFeed::choose(const Question& input) {
    ++m_inputs;  // an input that is being read is no longer wanted
    m_unread = input.option("text") || input.option("image");
    m_request = input;
    m_text = QString::fromStdString(input.text("text"));
    if (input.option("text")) return readText();
    if (input.option("reference") || input.option("random") || input.option("sample")) {
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
            m_unread = false;
            m_own = std::move(read);
            Q_EMIT inputRead();
        },
        [this](const QString& sentence) {
            m_unread = false;
            Q_EMIT failed(sentence);
        });
}

void InspectorFeed::chooseText(const QString& text) {
    ++m_inputs;
    m_unread = !text.isEmpty();
    m_text = text;
    m_textNote.clear();
    m_typing.start();
}

void InspectorFeed::note(const QString& sentence) {
    m_unread = false;
    m_textNote = sentence;
    Q_EMIT textRead();
}

/// Tokenizing a long text is slow, so it does not run on the window's thread.
void InspectorFeed::readText() {
    if (m_text.isEmpty() || !m_model) return;
    m_request = inputAs({{"text", m_text.toStdString()}});
    if (!m_tokenizer) return note(m_noTokenizer);
    m_reading.post(
        this,
        [text = m_text.toStdString(), tokenizer = m_tokenizer,
         model = *m_model](const std::stop_token&) { return typedText(*tokenizer, text, model); },
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

void InspectorFeed::offerText(const QString& text) {
    Q_EMIT textOffered(text);
    chooseText(text);
}

void InspectorFeed::chooseTextFile(const QString& path) {
    m_reading.post(
        this,
        [path](const std::stop_token&) {
            return QString::fromStdString(beginningOfText(path.toStdString()));
        },
        [this, input = m_inputs](const QString& text) {
            if (input == m_inputs) offerText(text);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

// The maps
// ---------------------------------------------------------------------------------------------------

void InspectorFeed::setWatched(const QObject* by, bool watched) {
    const bool before = !m_watching || !m_watching->empty();
    if (!m_watching) m_watching.emplace();
    if (watched)
        m_watching->insert(by);
    else
        m_watching->erase(by);
    if (before == !m_watching->empty()) return;
    if (!before)
        ask();
    else
        m_pace.stop();
}

bool InspectorFeed::busy() const {
    return m_task.busy() || m_exampleReading.busy() || m_live;
}

void InspectorFeed::drop() {
    m_task.abandon();
    m_exampleReading.abandon();
    m_live.reset();
}

void InspectorFeed::show(wire::Asked wanted, Source from) {
    m_wanted = std::move(wanted);
    m_from = from;
    ask();
}

wire::Asked InspectorFeed::question() const {
    auto asked = m_wanted;
    if (chosen() && m_from != Source::Captures)
        asked.options = m_request.options, asked.sample = m_own;
    if (placeOf(asked) == path()) {
        for (const auto& option : m_opened.options) asked.set(option.name, option.value);
        asked.subjects.front().head = m_opened.subjects.front().head;
    }
    return asked;
}

void InspectorFeed::ask() {
    if (placeOf(m_wanted).isEmpty() || (m_watching && m_watching->empty())) return;
    m_again = m_trainer.probe && busy();
    if (m_again) return;
    switch (m_from) {
        case Source::Weights:
            return probe();
        case Source::Training:
            return askTraining();
        case Source::Captures:
            return readCapture();
    }
}

void InspectorFeed::deliver(const wire::Asked& asked, widgets::Inspected result) {
    m_shown = asked;
    m_shownStep = result.result->step;
    const bool partial = result.result->partial;
    result.result = named(std::move(result.result));
    if (result.before) result.before = named(std::move(result.before));
    Q_EMIT inspected(result);
    if (!partial && std::exchange(m_again, false)) ask();
}

void InspectorFeed::refuse(const QString& sentence) {
    if (m_from == Source::Captures) m_again = false;  // a missing one is not requested again
    Q_EMIT refused(sentence);
    if (std::exchange(m_again, false)) ask();
}

std::shared_ptr<const ProbeResult> InspectorFeed::named(
    std::shared_ptr<const ProbeResult> result) const {
    if (m_tokenNames.empty()) return result;
    auto copy = std::make_shared<ProbeResult>(*result);
    for (auto& name : copy->classNames) {
        std::size_t token = 0;
        const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), token);
        const bool number = problem == std::errc() && end == name.data() + name.size();
        if (number && token < m_tokenNames.size()) name = m_tokenNames[token];
    }
    return copy;
}

// Weights
// ---------------------------------------------------------------------------------------------------

/// A file that is written in one piece is another one under the same name, which has to be watched
/// anew. Those of other machines are not there.
void InspectorFeed::watchRelations(const EditList& edits) {
    if (const auto files = m_relations.files(); !files.isEmpty()) m_relations.removePaths(files);
    for (const auto& file : edits.relations())
        if (const auto path = QString::fromStdString(file); QFileInfo::exists(path))
            m_relations.addPath(path);
}

void InspectorFeed::probe() {
    m_effects.abandon();
    const auto asked = question();
    watchRelations(asked.edits[0]);
    m_looker.use(asked.subjects.front());
    const auto work = [this, asked, layer = m_shownLayer](Engine& models, LongJob& job,
                                                          const Looker::Progress& progress) {
        // Reported on the window's thread, and only while the result is wanted.
        const auto partial = [this, &job, asked](ProbeResult part) {
            job.report([this, asked, part = std::make_shared<const ProbeResult>(std::move(part))] {
                deliver(asked, {part, {}, {}, {}, {}});
            });
        };
        auto probed = models.prober.probe(models.session, asked, progress, partial, layer);
        auto inspected = inspectedOf(probed.result, probed.before, asked.edits[0], *probed.points);
        return std::pair(std::move(probed), std::move(inspected));
    };
    m_looker.run(
        m_task, m_progressText, work,
        [this, asked](const std::pair<wire::Probed, widgets::Inspected>& done) {
            const auto& [probed, inspected] = done;
            m_points = probed.points;
            Q_EMIT pointsFound(probed.points);
            Q_EMIT editsRefused(QString::fromStdString(probed.problem));
            Q_EMIT meansFound(probed.before ? asked.edits[0] : EditList(), probed.means);
            deliver(asked, inspected);
            if (inspected.edited() && !m_task.busy()) measureEffects(asked);
        },
        [this](const QString& sentence) { refuse(sentence); });
}

/// The inspector is served first: a new request ends these passes.
void InspectorFeed::measureEffects(const wire::Asked& asked) {
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

// Captures
// ---------------------------------------------------------------------------------------------------

void InspectorFeed::readCapture() {
    const auto asked = question();
    const auto work = [folder = asked.subjects[0].path + "/captures",
                       step = stepOf(asked).value_or(std::numeric_limits<qint64>::max()),
                       sample = asked.value<std::int64_t>("sample")](Engine&, LongJob&,
                                                                     const Looker::Progress&) {
        return nearestCapture(folder, step, sample);
    };
    m_looker.run(
        m_task, {}, work,
        [this, asked](Captured captured) {
            Q_EMIT capturesCounted(captured.samples);
            deliver(
                asked,
                {std::make_shared<const ProbeResult>(std::move(captured.result)), {}, {}, {}, {}});
        },
        [this](const QString& sentence) { refuse(sentence); });
}

// A training
// ---------------------------------------------------------------------------------------------------

void InspectorFeed::askTraining() {
    auto asked = question();
    if (!asked.sample && (!asked.option("sample") || asked.option("data")))
        return refuse(
            QStringLiteral("A training reads texts, pictures and examples: choose one of these"));
    if (!asked.sample) {
        const wire::Example example{*asked.data, asked.text("split"),
                                    asked.value<std::int64_t>("sample")};
        const auto isKnown = [&](const wire::Example& known) {
            return known.split == example.split && known.index == example.index;
        };
        if (!m_example || !isKnown(m_example->first)) return readExample(example);
        asked.sample = m_example->second;
    }
    if (const auto request = m_trainer.probe(*asked.sample, asked.edits[0], !m_points))
        m_live.emplace(request, std::move(asked));
}

/// Reads an example, to be sent to a training: the split and index may mean another example in the
/// data of the training.
void InspectorFeed::readExample(const wire::Example& example) {
    const auto longest = example.data.options.isText() && m_model ? longestLook(*m_model) : 0;
    m_looker.run(
        m_exampleReading, {},
        [example, longest](Engine& models, LongJob&, const Looker::Progress& progress) {
            auto found = wire::examples(models.session, example.data, example.split,
                                        {example.index}, progress);
            if (longest > 0) core::shorten(found.front().sample, longest);
            return std::move(found.front().sample);
        },
        [this, example](ProbeSample sample) {
            m_example.emplace(example, std::move(sample));
            ask();
        },
        [this](const QString& sentence) { refuse(sentence); });
}

void InspectorFeed::stepped(qint64 step) {
    // Paused: each single step is inspected. Running: the timer sends requests.
    const bool asked = m_pace.isActive() || (busy() && m_trainer.runs());
    if (m_from == Source::Training && step != m_shownStep && !asked) ask();
}

void InspectorFeed::answered(const ProbeAnswer& answer) {
    if (!m_live || answer.request != m_live->first) return;
    const auto asked = std::exchange(m_live, std::nullopt)->second;
    const auto& edits = asked.edits[0];
    if (m_trainer.runs())
        m_pace.start(std::max(kLiveInterval, static_cast<int>(1000 * answer.seconds)));
    if (!answer.error.empty()) {
        const auto sentence = QString::fromStdString(answer.error);
        if (edits.anyEnabled()) Q_EMIT editsRefused(sentence);
        return refuse(sentence);
    }
    if (!answer.points.empty()) {
        m_points = std::make_shared<const std::vector<PointInfo>>(answer.points);
        Q_EMIT pointsFound(m_points);
    }
    Q_EMIT editsRefused({});
    Q_EMIT meansFound(edits, answer.means);
    deliver(asked, inspectedOf(std::make_shared<const ProbeResult>(answer.result), answer.base,
                               edits, m_points ? *m_points : std::vector<PointInfo>()));
}

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/text_generator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/controllers/inspection_session.h"
#include "app/controllers/job_queue.h"
#include "data/text_tokens.h"
#include "probe/probe_memory.h"

namespace relascope::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Inspection {
    std::shared_ptr<const ProbeResult> result;
    int first = 0;
};

/// Maps are computed several times a second during generation, so their size is limited.
constexpr std::uint64_t kFollowedMaps = 128ULL << 20;

/// The last tokens up to `end`, at most so many.
Inspection inspectTokens(core::OpenedModel& model, const EditList& edits,
                         const std::vector<std::int64_t>& tokens, std::size_t end,
                         std::int64_t longest) {
    const auto most = static_cast<std::size_t>(longest);
    const std::size_t first = end > most ? end - most : 0;
    const auto tokenizer = model.tokenizer();
    const std::vector<std::int64_t> window(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                           tokens.begin() + static_cast<std::ptrdiff_t>(end));
    return {std::make_shared<const ProbeResult>(model.probe(
                core::tokenSample(tokenizer.get(), window, "generated text"), {}, {edits, {}})),
            static_cast<int>(first)};
}

QString endText(TextEnd end) {
    switch (end) {
        case TextEnd::Length:
            return {};
        case TextEnd::StopText:
            return QStringLiteral("stop text reached");
        case TextEnd::EndOfText:
            return QStringLiteral("end of text reached");
        case TextEnd::Stopped:
            break;
    }
    return QStringLiteral("stopped");
}

}  // namespace

/// What the window and the thread share; emptied by a timer, so that the cost for the window does
/// not depend on the number of tokens per second.
struct TextGenerator::Job {
    struct Batch {
        std::optional<std::vector<std::string>> pieces;
        std::vector<std::int64_t> ids;
        std::vector<GeneratedToken> plain, tokens;
        std::optional<Inspection> inspection;
        std::optional<QString> end;
    };
    template <class Change>
    void put(Change change) {
        std::lock_guard lock(m_mutex);
        change(m_post);
    }
    Batch take() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_post, {});
    }
    std::stop_source stop;
    std::atomic<bool> follow = false;
    bool bfloat16 = false;
    EditList edits;
    bool both() const { return edits.anyEnabled(); }

private:
    std::mutex m_mutex;
    Batch m_post;
};

TextGenerator::TextGenerator(std::shared_ptr<OpenedWeights> weights, JobQueue& models,
                             QObject* parent)
    : QObject(parent), m_weights(std::move(weights)), m_models(models) {
    m_timer.setInterval(50);
    connect(&m_timer, &QTimer::timeout, this, &TextGenerator::fetch);
}

TextGenerator::~TextGenerator() {
    if (m_job) m_job->stop.request_stop();
}

bool TextGenerator::writePlain(core::OpenedModel& model, Job& job, const std::string& prompt,
                               const GenerateOptions& options) {
    // Edits that do not fit are refused now, not after a whole text.
    model.generate(prompt, options, [](const GeneratedToken&) { return false; }, {job.edits, {}});
    if (job.stop.stop_requested()) return false;
    model.generate(prompt, options, [&job](const GeneratedToken& token) {
        job.put([&](auto& post) { post.plain.push_back(token); });
        return !job.stop.stop_requested();
    });
    return !job.stop.stop_requested();
}

void TextGenerator::write(OpenedWeights& weights, Job& job, const std::string& prompt,
                          const GenerateOptions& options) {
    if (!weights.model) throw Error("The weights were not loaded; press Inspect first");
    const auto asked = [&job](double) { return !job.stop.stop_requested(); };
    core::OpenedModel& model = weights.as(job.bfloat16, job.stop.get_token(), asked);
    const auto tokenizer = model.tokenizer();
    if (!tokenizer)
        throw Error("The tokenizer of this model is unknown; choose its tokenizer.json");
    std::vector<std::int64_t> ids;
    std::vector<std::string> pieces;
    for (const auto id : tokenizer->encode(prompt)) {
        ids.push_back(id);
        pieces.emplace_back(tokenizer->piece(id));
    }
    job.put([&](auto& post) { post.pieces = pieces, post.ids = ids; });

    if (job.both() && !writePlain(model, job, prompt, options)) return;  // stop() reported it
    auto last = Clock::now() - std::chrono::hours(1);
    std::chrono::nanoseconds pause{};
    const auto end =
        model.generate(prompt, options,
                       [&](const GeneratedToken& token) {
                           ids.push_back(token.chosen.id);
                           job.put([&](auto& post) { post.tokens.push_back(token); });
                           if (job.stop.stop_requested()) return false;
                           // Generation has priority: slow inspections are done less often.
                           if (job.follow && Clock::now() - last >= pause) {
                               const auto begin = Clock::now();
                               const Inspection inspection = inspectTokens(
                                   model, job.edits, ids, ids.size(),
                                   core::longestProbe(model.options(), kFollowedMaps));
                               job.put([&](auto& post) { post.inspection = inspection; });
                               last = Clock::now();
                               pause = std::max<std::chrono::nanoseconds>(
                                   std::chrono::milliseconds(kLookInterval), 4 * (last - begin));
                           }
                           return !job.stop.stop_requested();
                       },
                       {job.edits, {}});
    job.put([&](auto& post) { post.end = endText(end); });
}

void TextGenerator::setEdits(const EditList& edits) {
    m_edits = edits;
    Q_EMIT editsChanged();
}

void TextGenerator::start(const QString& prompt, const GenerateOptions& options) {
    stop();
    ++m_inspections;
    m_tokens.clear();
    m_job = std::make_shared<Job>();
    m_job->follow = m_follow;
    m_job->bfloat16 = m_bfloat16;
    m_job->edits = m_edits;
    Q_EMIT began({prompt.toStdString()}, m_job->both());
    Q_EMIT runningChanged();
    m_timer.start();
    m_models.post(
        this,
        [weights = m_weights, job = m_job, text = prompt.toStdString(), options](std::stop_token) {
            write(*weights, *job, text, options);
            return 0;
        },
        [this, job = m_job](int) {
            if (job == m_job) fetch();
        },
        [this, job = m_job](const QString& sentence) {
            if (job != m_job) return;
            fetch();
            finish();
            Q_EMIT failed(sentence);
        });
}

void TextGenerator::fetch() {
    if (!m_job) return;
    auto post = m_job->take();
    if (post.pieces) {
        m_tokens = std::move(post.ids);
        Q_EMIT began(*post.pieces, m_job->both());
    }
    if (!post.plain.empty()) Q_EMIT plainWritten(post.plain);
    for (const auto& token : post.tokens) m_tokens.push_back(token.chosen.id);
    if (!post.tokens.empty()) Q_EMIT written(post.tokens);
    if (post.inspection && m_follow)
        Q_EMIT inspected(post.inspection->result, post.inspection->first);
    if (!post.end) return;
    finish();
    Q_EMIT ended(*post.end);
    if (m_follow && size() > 0) inspect(size() - 1);
}

void TextGenerator::finish() {
    m_timer.stop();
    m_job.reset();
    Q_EMIT runningChanged();
}

void TextGenerator::stop() {
    if (!m_job) return;
    fetch();
    if (!m_job) return;
    m_job->stop.request_stop();
    finish();
    Q_EMIT ended(QStringLiteral("stopped"));
    if (m_follow && size() > 0) inspect(size() - 1);
}

void TextGenerator::clear() {
    if (m_job) {
        m_job->stop.request_stop();
        finish();
        Q_EMIT ended(QStringLiteral("stopped"));
    }
    ++m_inspections;
    m_tokens.clear();
}

void TextGenerator::setFollow(bool on) {
    m_follow = on;
    if (m_job) m_job->follow = on;
    if (on && !m_job && size() > 0) inspect(size() - 1);
}

void TextGenerator::inspect(int index) {
    if (index < 0 || index >= size()) return;
    m_models.post(
        this,
        [weights = m_weights, tokens = m_tokens, bfloat16 = m_bfloat16, edits = m_edits,
         index](std::stop_token stop) {
            core::OpenedModel& model = weights->as(bfloat16, stop, {});
            const std::int64_t longest = longestLook(model.options());
            const auto most = static_cast<std::size_t>(longest);
            // The whole text, or as much as fits with the token in the middle.
            const std::size_t end =
                std::min(tokens.size(), std::max(most, static_cast<std::size_t>(index) + most / 2));
            return inspectTokens(model, edits, tokens, end, longest);
        },
        [this, request = ++m_inspections](const Inspection& inspection) {
            if (request == m_inspections) Q_EMIT inspected(inspection.result, inspection.first);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

}  // namespace relascope::app

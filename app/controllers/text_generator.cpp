// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/text_generator.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "app/controllers/inspector_feed.h"
#include "app/controllers/looker.h"
#include "app/controllers/typed_text.h"
#include "data/text_tokens.h"

namespace relascope::app {
namespace {

struct TextMaps {
    std::shared_ptr<const ProbeResult> result;
    int first = 0;
};

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

/// State shared by the window and the thread that generates; emptied by a timer, so that the cost
/// for the window does not depend on the number of tokens per second.
struct TextGenerator::Job {
    struct Batch {
        std::optional<std::vector<std::string>> pieces;
        std::vector<std::int64_t> ids;
        std::vector<GeneratedToken> plain, tokens;
        std::optional<TextMaps> inspection;
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
    wire::Asked asked;
    bool both() const { return asked.edits.at(0).anyEnabled(); }

private:
    std::mutex m_mutex;
    Batch m_post;
};

TextGenerator::TextGenerator(const InspectorFeed& feed, Looker& looker, QObject* parent)
    : QObject(parent), m_feed(feed), m_looker(looker) {
    m_timer.setInterval(50);
    connect(&m_timer, &QTimer::timeout, this, &TextGenerator::fetch);
}

TextGenerator::~TextGenerator() {
    if (m_job) m_job->stop.request_stop();
}

namespace {

/// Generates the text on the thread of the models, and passes on tokens and maps as they come.
void write(wire::Session& session, auto& job, const Looker::Progress& progress) {
    wire::GenerateWatch watch;
    watch.prompt = [&](std::vector<std::string> pieces, std::vector<std::int64_t> ids) {
        job.put([&](auto& post) { post.pieces = std::move(pieces), post.ids = std::move(ids); });
    };
    const auto append = [&job](auto member) {
        return [&job, member](std::vector<GeneratedToken> tokens) {
            job.put([&](auto& post) {
                auto& all = post.*member;
                all.insert(all.end(), tokens.begin(), tokens.end());
            });
        };
    };
    using Batch = std::remove_reference_t<decltype(job)>::Batch;
    watch.plain = append(&Batch::plain);
    watch.tokens = append(&Batch::tokens);
    watch.result = [&](ProbeResult result, int first) {
        job.put([&](auto& post) {
            post.inspection =
                TextMaps{std::make_shared<const ProbeResult>(std::move(result)), first};
        });
    };
    watch.follows = [&] { return job.follow.load(); };
    const auto end = wire::generate(session, job.asked, watch, [&](double done) {
        return progress(done) && !job.stop.stop_requested();
    });
    job.put([&](auto& post) { post.end = endText(end); });
}

}  // namespace

namespace {

/// What is not the default is said.
wire::Asked questionOf(const Question& opened, const std::string& prompt,
                       const GenerateOptions& given) {
    wire::Asked asked(Question{"generate", opened.subjects, {{"prompt", prompt}}});
    const GenerateOptions usual;
    const auto add = [&](const char* name, auto value, auto unless) {
        if (value != unless) asked.set(name, value);
    };
    add("tokens", given.tokens, usual.tokens);
    add("temperature", given.temperature, usual.temperature);
    add("top_k", given.top_k, usual.top_k);
    add("top_p", given.top_p, usual.top_p);
    add("seed", given.seed, usual.seed);
    add("stop", given.stop, usual.stop);
    for (const auto& option : opened.options) asked.set(option.name, option.value);
    return asked;
}

}  // namespace

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
    m_job->asked = questionOf(m_feed.opened(), prompt.toStdString(), options);
    m_job->asked.edits = {m_edits};
    m_asked = m_job->asked;
    Q_EMIT began({prompt.toStdString()}, m_job->both());
    Q_EMIT runningChanged();
    m_timer.start();
    m_looker.post(
        this,
        [job = m_job](Engine& models, const Looker::Progress& progress) {
            write(models.session, *job, progress);
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
    m_asked.reset();
}

void TextGenerator::setFollow(bool on) {
    m_follow = on;
    if (m_job) m_job->follow = on;
    if (on && !m_job && size() > 0) inspect(size() - 1);
}

void TextGenerator::inspect(int index) {
    if (index < 0 || index >= size()) return;
    if (!m_feed.model() || !m_feed.tokenizer()) return;
    // The whole text, or as much as fits with the token in the middle.
    const auto longest = static_cast<std::size_t>(longestLook(*m_feed.model()));
    const std::size_t end =
        std::min(m_tokens.size(), std::max(longest, static_cast<std::size_t>(index) + longest / 2));
    const std::size_t first = end > longest ? end - longest : 0;
    wire::Asked asked(m_feed.opened());
    asked.edits = {m_edits};
    m_looker.post(
        this,
        [tokenizer = m_feed.tokenizer(), asked,
         tokens = std::vector<std::int64_t>(m_tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                            m_tokens.begin() + static_cast<std::ptrdiff_t>(end)),
         first](Engine& models, const Looker::Progress& progress) mutable {
            asked.sample = core::tokenSample(tokenizer.get(), tokens, "generated text");
            return TextMaps{wire::probeOnce(models.session, asked, progress),
                            static_cast<int>(first)};
        },
        [this, request = ++m_inspections](const TextMaps& inspection) {
            if (request == m_inspections) Q_EMIT inspected(inspection.result, inspection.first);
        },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

}  // namespace relascope::app

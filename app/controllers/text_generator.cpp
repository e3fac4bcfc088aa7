// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/text_generator.h"

#include <algorithm>
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

TextGenerator::TextGenerator(const InspectorFeed& feed, Looker& looker, QObject* parent)
    : QObject(parent), m_feed(feed), m_looker(looker) {
    connect(&m_task, &LongTask::began, this, &TextGenerator::runningChanged);
    connect(&m_task, &LongTask::ended, this, &TextGenerator::runningChanged);
}

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
    m_asked = questionOf(m_feed.opened(), prompt.toStdString(), options);
    m_asked->edits = {m_edits};
    Q_EMIT began({prompt.toStdString()}, m_edits.anyEnabled());
    const auto work = [this, asked = *m_asked, follows = m_follow](
                          Engine& models, LongJob& job, const Looker::Progress& progress) {
        wire::GenerateWatch watch;
        watch.prompt = [&](const std::vector<std::string>& pieces,
                           const std::vector<std::int64_t>& ids) {
            job.report([this, pieces, ids, both = asked.edits.at(0).anyEnabled()] {
                m_tokens = ids;
                Q_EMIT began(pieces, both);
            });
        };
        watch.plain = [&](const std::vector<GeneratedToken>& tokens) {
            job.report([this, tokens] { Q_EMIT plainWritten(tokens); });
        };
        watch.tokens = [&](const std::vector<GeneratedToken>& tokens) {
            job.report([this, tokens] {
                for (const auto& token : tokens) m_tokens.push_back(token.chosen.id);
                Q_EMIT written(tokens);
            });
        };
        watch.result = [&](ProbeResult result, int first) {
            job.report(
                [this, first, maps = std::make_shared<const ProbeResult>(std::move(result))] {
                    if (*m_follow) Q_EMIT inspected(maps, first);
                });
        };
        watch.follows = [&] { return follows->load(); };
        return wire::generate(models.session, asked, watch, progress);
    };
    m_looker.run(
        m_task, {}, work, [this](TextEnd end) { finish(endText(end)); },
        [this](const QString& sentence) { Q_EMIT failed(sentence); });
}

void TextGenerator::finish(const QString& reason) {
    Q_EMIT ended(reason);
    if (*m_follow && size() > 0) inspect(size() - 1);
}

void TextGenerator::stop() {
    if (!running()) return;
    m_task.abandon();
    finish(endText(TextEnd::Stopped));
}

void TextGenerator::clear() {
    if (running()) {
        m_task.abandon();
        Q_EMIT ended(endText(TextEnd::Stopped));
    }
    ++m_inspections;
    m_tokens.clear();
    m_asked.reset();
}

void TextGenerator::setFollow(bool on) {
    *m_follow = on;
    if (on && !running() && size() > 0) inspect(size() - 1);
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

// SPDX-License-Identifier: GPL-3.0-or-later
// A text that a language model writes, token by token, and what it looks like inside meanwhile.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <string>
#include <vector>

#include "types/generate_options.h"
#include "types/relation_map.h"

namespace relascope::app {

class JobQueue;
struct OpenedWeights;

class TextGenerator : public QObject {
    Q_OBJECT
public:
    /// Between two looks inside at least; and never more than a fifth of the time goes there.
    static constexpr int kLookInterval = 400;

    TextGenerator(std::shared_ptr<OpenedWeights> weights, JobQueue& models,
                  QObject* parent = nullptr);
    ~TextGenerator() override;

    void start(const QString& prompt, const GenerateOptions& options);
    /// With weights rounded to bfloat16, from the next start on.
    void setBfloat16(bool on) { m_bfloat16 = on; }
    /// At once: what the model still writes is not shown.
    void stop();
    /// Stops and forgets the text: the model goes.
    void clear();
    /// The inspector looks at the text while it grows.
    void setFollow(bool on);
    /// Looks at the text around one of its tokens; the answer comes as `looked`.
    void look(int index);

    bool running() const { return m_job != nullptr; }
    /// Tokens of prompt and text together.
    int size() const { return static_cast<int>(m_tokens.size()); }

Q_SIGNALS:
    void began(const std::vector<std::string>& promptPieces);  ///< again once they are known
    void written(const std::vector<relascope::GeneratedToken>& tokens);
    /// The first token of the result is the one of that number of the text.
    void looked(const std::shared_ptr<const relascope::ProbeResult>& result, int first);
    void ended(const QString& words);  ///< why; empty where all tokens came
    void failed(const QString& sentence);
    void runningChanged();

private:
    struct Job;
    static void write(OpenedWeights& weights, Job& job, const std::string& prompt,
                      const GenerateOptions& options);
    void fetch();
    void finish();

    std::shared_ptr<OpenedWeights> m_weights;
    JobQueue& m_models;
    std::shared_ptr<Job> m_job;
    std::vector<std::int64_t> m_tokens;
    bool m_follow = false, m_bfloat16 = false;
    quint64 m_looks = 0;
    QTimer m_timer;
};

}  // namespace relascope::app

// SPDX-License-Identifier: GPL-3.0-or-later
// Text generation by a language model, token by token, and the maps of the growing text. With
// edits, the text without them is generated first, then the one with them.
#pragma once

#include <QObject>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/controllers/job_queue.h"
#include "types/edit.h"
#include "types/generate_options.h"
#include "types/relation_map.h"
#include "wire/requests.h"

namespace relascope::app {

class InspectorFeed;
class Looker;

class TextGenerator : public QObject {
    Q_OBJECT
public:
    /// Generates texts with the model of `feed`; its jobs run in the queue of `looker`.
    TextGenerator(const InspectorFeed& feed, Looker& looker, QObject* parent = nullptr);

    void start(const QString& prompt, const GenerateOptions& options);
    /// Sets the edits for texts that are started later; a text that is being generated keeps its
    /// own.
    void setEdits(const EditList& edits);
    const EditList& edits() const { return m_edits; }
    /// Stops immediately: tokens that are still in progress are not shown.
    void stop();
    /// Stops and removes the text, as the model is being replaced.
    void clear();
    /// Whether the inspector follows the text while it is generated.
    void setFollow(bool on);
    /// Computes the maps of the text around one of its tokens; inspected() is emitted with them.
    void inspect(int index);

    /// What the text shown was asked for with; nullopt without a text.
    const std::optional<wire::Asked>& asked() const { return m_asked; }
    bool running() const { return m_task.busy(); }
    /// Tokens of prompt and text together.
    int size() const { return static_cast<int>(m_tokens.size()); }

Q_SIGNALS:
    /// Generation has begun; emitted again once the pieces are known. `both`: plainWritten() is
    /// emitted before written().
    void began(const std::vector<std::string>& promptPieces, bool both);
    /// New tokens of the text without the edits, generated with the same options and seed.
    void plainWritten(const std::vector<relascope::GeneratedToken>& tokens);
    void written(const std::vector<relascope::GeneratedToken>& tokens);
    /// `first` is the index in the text of the first token of the result.
    void inspected(const std::shared_ptr<const relascope::ProbeResult>& result, int first);
    void ended(const QString& reason);  ///< empty if all tokens were generated
    void failed(const QString& sentence);
    void runningChanged();
    void editsChanged();

private:
    void finish(const QString& reason);

    const InspectorFeed& m_feed;
    Looker& m_looker;
    std::optional<wire::Asked> m_asked;
    std::vector<std::int64_t> m_tokens;
    EditList m_edits;
    /// Asked by the thread that generates.
    std::shared_ptr<std::atomic<bool>> m_follow = std::make_shared<std::atomic<bool>>(false);
    quint64 m_inspections = 0;
    LongTask m_task;
};

}  // namespace relascope::app

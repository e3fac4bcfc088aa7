// SPDX-License-Identifier: GPL-3.0-or-later
// A model that is looked into: where it came from, its tokenizer, an input, the maps asked for.
// Runs, captures and checkpoints are inspected by it; their controllers say where the model is.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/controllers/long_task.h"
#include "text/tokenizer.h"
#include "types/model_options.h"
#include "types/relation_map.h"
#include "widgets/source/input_chooser.h"

namespace relascope::app {

struct OpenedWeights;

/// What a model is asked to look at.
struct InputRequest {
    enum class Kind { Reference, Random, Tokens, Picture, Text };
    Kind kind = Kind::Random;
    int reference = 0;
    quint64 seed = 0;
    std::vector<qint64> source, target;
    QString picture;
    QString text;
};

/// Inputs are read and maps computed off the window's thread. Only the answer to the newest request
/// is delivered; earlier ones are dropped.
class InspectionSession : public QObject {
    Q_OBJECT
public:
    /// How long after a key a typed text is read.
    static constexpr int kTypingDelay = 150;

    /// Jobs that use the weights run in `models`.
    explicit InspectionSession(JobQueue& models, QObject* parent = nullptr);
    ~InspectionSession() override;

    // The model
    /// What inputs have to fit, of a model whose weights are elsewhere. A text typed before is read
    /// now; `noTokenizer` is why that cannot be done without one.
    void setModel(std::optional<ModelOptions> model, core::TokenizerPtr tokenizer,
                  const QString& noTokenizer = {});
    /// Reads the weights of a checkpoint; `words` stand in the strip meanwhile.
    void load(const QString& path, const QString& words);
    /// Another tokenizer: a file or a folder.
    void chooseTokenizer(const QString& path);
    /// Weights rounded for faster generation; off, the exact ones come from the file again.
    void setBfloat16(bool on) { m_bfloat16 = on; }
    bool bfloat16() const { return m_bfloat16; }
    /// Where the weights in use came from; empty: none.
    const QString& path() const { return m_path; }
    const std::optional<ModelOptions>& model() const { return m_model; }
    const core::TokenizerPtr& tokenizer() const { return m_tokenizer; }
    const widgets::InputOffer& offer() const { return m_offer; }
    /// Touched by jobs of the queue only.
    const std::shared_ptr<OpenedWeights>& weights() const { return m_weights; }
    /// Gives the weights back; they are destroyed where they were made.
    void dropWeights();
    /// The model goes, and its input.
    void clear();

    // The input
    void choose(const InputRequest& request);
    /// A typed text, read shortly after the last key; an empty one changes nothing.
    void chooseText(const QString& text);
    /// The same, shown in the field, too: from a file, or from the last session.
    void offerText(const QString& text);
    void chooseTextFile(const QString& path);
    /// The user's own text that is looked at; empty when it is something else.
    const QString& text() const { return m_text; }
    /// What is the matter with that text; empty where all is well.
    const QString& textNote() const { return m_textNote; }
    /// The picture, tokens or text that was chosen; none: what the model or the data have.
    const std::optional<ProbeSample>& own() const { return m_own; }
    void forgetInput();

    // The maps
    /// Of the input chosen, by the weights that were loaded.
    void look();
    /// Of a sample, by the newest weights of a finished run, read when they are needed.
    void lookAtRun(const QString& run, ProbeSample sample, std::vector<std::string> names);
    /// Those that a run kept nearest to a step, of one of the inputs that it captured.
    void lookAtCapture(const QString& run, qint64 step, qint64 sample);
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void loaded(const QString& warning);  ///< empty: all is well
    void tokenizerChosen();
    void inputRead();                       ///< own() or the request is another one
    void textRead();                        ///< textNote() is another one
    void textOffered(const QString& text);  ///< from a file
    void looked(const std::shared_ptr<const relascope::ProbeResult>& result,
                const relascope::app::InputRequest& request);
    void capturesCounted(qint64 samples);   ///< before looked()
    void refused(const QString& sentence);  ///< no maps, and why
    void failed(const QString& sentence);   ///< model or input could not be read

private:
    void readText();
    void note(const QString& sentence);
    template <class Make>
    void lookBy(Make make);

    JobQueue& m_models;
    std::shared_ptr<OpenedWeights> m_weights;
    QString m_path, m_noTokenizer, m_text, m_textNote;
    std::optional<ModelOptions> m_model;
    core::TokenizerPtr m_tokenizer;
    widgets::InputOffer m_offer;
    InputRequest m_request;  ///< the last one
    std::optional<ProbeSample> m_own;
    bool m_bfloat16 = false;
    quint64 m_inputs = 0;  ///< counts inputs, so that late ones know they are late
    QTimer m_typing;
    JobQueue m_reading;
    LongTask m_task;
};

}  // namespace relascope::app

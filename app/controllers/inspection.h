// SPDX-License-Identifier: GPL-3.0-or-later
// The inspection of a model: its weights, its tokenizer, an input and the requested maps. Serves
// runs, captures and checkpoints; their controllers provide the location of the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <QObject>
#include <QString>
#include <QTimer>

#include "app/controllers/edited_probe.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/looker.h"
#include "app/controllers/subject.h"
#include "text/tokenizer.h"
#include "types/generate_options.h"
#include "types/model_options.h"
#include "types/relation_map.h"
#include "widgets/source/input_chooser.h"
#include "wire/requests.h"

namespace relascope::app {

// Typed texts as inputs for the inspector.

inline constexpr const char* kTyped = "typed text";  ///< ProbeSample::origin of a typed text

/// Maximum number of tokens to inspect: the context of the model, or as many as fit into the free
/// memory (the size of maps is quadratic in the length).
std::int64_t longestLook(const ModelOptions& model);

struct TypedText {
    ProbeSample sample;
    std::string note;  ///< a message if the text was shortened, otherwise empty
};
/// The first tokens of a text, as many as longestLook() allows. Throws OptionError for an empty
/// text.
TypedText typedText(const core::Tokenizer& tokenizer, const std::string& text,
                    const ModelOptions& model);

/// The beginning of a text file, as much as a model can read. Throws FileError if it is not text.
std::string beginningOfText(const std::string& path);

/// Whether the input is one text.
bool isOneText(const ProbeSample& sample);
/// The likeliest next tokens after a text in `result` or in `other`, which may be null.
std::vector<TokenChoice> nextTokens(const ProbeResult& result, const ProbeResult* other);
/// The probabilities of `choices` in `other`; empty if `other` is null.
std::vector<float> nextTokensBefore(const std::vector<TokenChoice>& choices,
                                    const ProbeResult* other);

/// An input of the user as a question names it, without a model: {{"text", "a cat"}}.
inline Question inputAs(std::vector<Option> options) {
    return {{}, {}, std::move(options)};
}

/// Inputs are read and maps computed off the window's thread. Only the answer to the newest request
/// is delivered; earlier ones are dropped.
class Inspection : public QObject {
    Q_OBJECT
public:
    /// Delay between the last key and the tokenization of a typed text.
    static constexpr int kTypingDelay = 150;

    explicit Inspection(Looker& looker, QObject* parent = nullptr);
    ~Inspection() override;

    // The model
    /// Sets the options that inputs must fit, for a model that is loaded elsewhere. A text typed
    /// before is tokenized now; `noTokenizer` is the message if there is no tokenizer.
    void setModel(std::optional<ModelOptions> model, core::TokenizerPtr tokenizer,
                  const QString& noTokenizer = {});
    /// Opens weights to find out which inputs they accept; `text` is shown with the progress.
    void load(const Question& wanted, const QString& text);
    /// Sets another tokenizer, read from a file or folder.
    void chooseTokenizer(const QString& path);
    /// Rounds the weights to bfloat16 for faster generation, or reads the exact ones from the file
    /// again.
    void setBfloat16(bool on);
    bool bfloat16() const { return m_opened.value("bf16", false); }
    /// The model in use, with its tokenizer and form of weights as options.
    const Question& opened() const { return m_opened; }
    /// The tokenizer that was chosen; empty: the model's own.
    std::string tokenizerPath() const { return m_opened.text("tokenizer"); }
    /// Empty: no model is in use.
    QString path() const { return QString::fromStdString(m_opened.subjects.at(0).path); }
    const std::optional<ModelOptions>& model() const { return m_model; }
    const core::TokenizerPtr& tokenizer() const { return m_tokenizer; }
    const widgets::InputOffer& offer() const { return m_offer; }
    /// Releases the weights, because those on the disk have changed or none are needed.
    void dropWeights();
    /// Removes the model and its input.
    void clear();

    // The input
    void choose(const Question& input);
    /// Sets a typed text, which is tokenized shortly after the last key. An empty text is ignored.
    void chooseText(const QString& text);
    /// Sets a text from a file or the last session, and shows it in the field.
    void offerText(const QString& text);
    void chooseTextFile(const QString& path);
    /// The text of the user that is inspected; empty for any other input.
    const QString& text() const { return m_text; }
    /// What is wrong with text(); empty if it is valid.
    const QString& textNote() const { return m_textNote; }
    /// The picture, tokens or text chosen by the user; without one, an input of the model or the
    /// data.
    const std::optional<ProbeSample>& own() const { return m_own; }
    /// Whether the user has chosen an input that is no example of the data.
    bool chosen() const { return !m_request.options.empty(); }
    /// The last input that was chosen; own() is it once it has been read.
    const Question& request() const { return m_request; }
    /// The question for the maps of the input, without a model.
    wire::Asked input() const;
    void forgetInput();

    // The maps
    /// Sets the text that is shown while maps are computed.
    void setProgressText(const QString& text) { m_progressText = text; }
    /// Computes the maps of the chosen input with the loaded weights.
    void inspect();
    /// Computes the maps of an input with the weights of a run at `step` or the nearest kept step;
    /// nullopt: with the newest weights. The weights are read if needed.
    void inspectRun(const QString& run, std::optional<qint64> step, wire::Asked input);
    /// Reads the maps of a captured input at the captured step nearest to `step`.
    void inspectCapture(const QString& run, qint64 step, qint64 sample);
    /// Sets the edits for later probes with weights; captured maps are never edited.
    void setEdits(const EditList& edits) { m_edits = edits; }
    const EditList& edits() const { return m_edits; }
    /// The question whose maps are shown, or are on their way.
    const wire::Asked& asked() const { return m_asked; }
    LongTask& task() { return m_task; }
    /// Sets the layer that is shown, from 0; its maps are delivered as soon as it has run.
    void setShownLayer(int layer) { m_shownLayer = layer; }

Q_SIGNALS:
    void loaded(const QString& warning);  ///< a warning; empty if there is none
    void tokenizerChosen();
    void inputRead();                       ///< own() or the request changed
    void textRead();                        ///< textNote() changed
    void textOffered(const QString& text);  ///< text from a file or the last session
    void inspected(const relascope::widgets::Inspected& result, const relascope::Question& input);
    /// The hook points of the model; emitted before inspected().
    void pointsFound(const relascope::app::Points& points);
    /// Emitted with the reason if an edit does not fit; the maps without edits follow. Empty if all
    /// edits fit.
    void editsRefused(const QString& sentence);
    /// The means that a probe with these edits has taken; emitted before inspected().
    void meansFound(const relascope::EditList& edits, const relascope::TakenMeans& means);
    /// The effect of each edit alone, by line of the list; emitted some time after inspected().
    void effectsFound(const QStringList& effects);
    /// The maps of some layers, while the others are computed; inspected() follows.
    void partlyInspected(const std::shared_ptr<const relascope::ProbeResult>& result,
                         const relascope::Question& input);
    void capturesCounted(qint64 samples);   ///< emitted before inspected()
    void refused(const QString& sentence);  ///< there are no maps, for this reason
    void failed(const QString& sentence);   ///< model or input could not be read

private:
    void readText();
    void note(const QString& sentence);
    void probe(wire::Asked asked);
    void measureEffects(const wire::Asked& asked);

    Looker& m_looker;
    Question m_opened = weightsAt({}, std::nullopt);
    wire::Asked m_asked;
    QString m_noTokenizer, m_text, m_textNote;
    QString m_progressText = QStringLiteral("Computing the maps");
    std::optional<ModelOptions> m_model;
    core::TokenizerPtr m_tokenizer;
    widgets::InputOffer m_offer;
    Question m_request;  ///< the last one; without options where none was chosen
    std::optional<ProbeSample> m_own;
    int m_shownLayer = 0;
    quint64 m_inputs = 0;  ///< incremented with each input, so that late results can be dropped
    EditList m_edits;
    QTimer m_typing;
    JobQueue m_reading;
    LongTask m_task, m_effects;
};

}  // namespace relascope::app

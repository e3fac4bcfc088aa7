// SPDX-License-Identifier: GPL-3.0-or-later
// What an inspector shows: the maps of a model for an input, with edits or without, from weights on
// a disk here or far, from a training, or from captures. The Workbench, the page Checkpoint and
// each side of a duel have one; who owns it says which weights and which example, and the feed
// itself reads what the user typed, drew or dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>

#include "app/controllers/edited_probe.h"
#include "app/controllers/job_queue.h"
#include "app/controllers/looker.h"
#include "app/controllers/subject.h"
#include "text/tokenizer.h"
#include "types/model_options.h"
#include "types/relation_map.h"
#include "types/train_event.h"
#include "widgets/source/input_chooser.h"
#include "wire/requests.h"

namespace relascope::app {

/// An input of the user as a question names it, without a model: {{"text", "a cat"}}.
inline Question inputAs(std::vector<Option> options) {
    return {{}, {}, std::move(options)};
}

/// Inputs are read and maps computed off the window's thread. Only the answer to the newest request
/// is delivered; earlier ones are dropped.
class InspectorFeed : public QObject {
    Q_OBJECT
public:
    /// Delay in ms between the last key and the tokenization of a typed text.
    static constexpr int kTypingDelay = 150;
    /// Minimum pause in ms between two inspections of a running training; the pause is also at
    /// least as long as the last inspection took.
    static constexpr int kLiveInterval = 100;

    explicit InspectorFeed(Looker& looker, QObject* parent = nullptr);
    ~InspectorFeed() override;

    // The model
    /// Sets the options that inputs must fit, for a model that is loaded elsewhere. A text typed
    /// before is tokenized now; `noTokenizer` is the message if there is no tokenizer.
    void setModel(std::optional<ModelOptions> model, core::TokenizerPtr tokenizer,
                  const QString& noTokenizer = {});
    /// Opens weights to find out which inputs they accept; `text` is shown with the progress.
    void load(const Question& wanted, const QString& text);
    /// Sets another tokenizer, read from a file or folder.
    void chooseTokenizer(const QString& path);
    /// Gives a model of features a head: a file of texts or of a head, or another value of
    /// Model::head.
    void chooseHead(const QString& head);
    /// Rounds the weights to bfloat16 for faster generation, or reads the exact ones from the file
    /// again.
    void setBfloat16(bool on);
    bool bfloat16() const { return m_opened.value("bf16", false); }
    /// The model in use, with its tokenizer and form of weights as options.
    const Question& opened() const { return m_opened; }
    /// The tokenizer that was chosen; empty: the model's own.
    std::string tokenizerPath() const { return m_opened.text("tokenizer"); }
    /// Empty: no model is in use.
    QString path() const { return placeOf(m_opened); }
    const std::optional<ModelOptions>& model() const { return m_model; }
    const core::TokenizerPtr& tokenizer() const { return m_tokenizer; }
    const widgets::InputOffer& offer() const { return m_offer; }
    /// Releases the weights, because those on the disk have changed or none are needed.
    void dropWeights();
    /// Forgets the question, its model and its input, without releasing the weights.
    void forget();

    // The input of the user
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
    void forgetInput();

    // The maps
    enum class Source { Weights, Training, Captures };
    /// A training that can be asked for maps between two of its steps.
    struct Trainer {
        /// As TrainingController::probe() and running().
        std::function<quint64(const ProbeSample& sample, const EditList& edits, bool points)> probe;
        std::function<bool()> runs;
    };
    /// With a trainer requests are answered one after another, so that all that is scrubbed over is
    /// seen; without one a newer request ends the one before.
    void setTrainer(Trainer trainer) { m_trainer = std::move(trainer); }
    /// Sets the text that is shown while maps are computed.
    void setProgressText(const QString& text) { m_progressText = text; }
    /// Shows the maps that are asked for. An input of the user, where one is chosen, stands in the
    /// place of the question's. Captures: the one nearest to the step, of the input "sample".
    void show(wire::Asked wanted, Source from = Source::Weights);
    /// Where they come from.
    Source source() const { return m_from; }
    /// The question whose maps are shown; without a path before the first ones.
    const wire::Asked& shown() const { return m_shown; }
    /// The step of the weights whose maps are shown; nullopt without a result.
    std::optional<qint64> shownStep() const { return m_shownStep; }
    /// Whether what is shown is what was asked for last.
    bool settled() const { return !busy() && !m_again && !m_unread; }
    /// Drops the requests that have no answer yet.
    void drop();
    /// Drops the one that a training has not answered, as it has ended.
    void dropLive() { m_live.reset(); }
    LongTask& task() { return m_task; }
    /// Sets the layer that is shown, from 0; its maps are delivered as soon as it has run.
    void setShownLayer(int layer) { m_shownLayer = layer; }
    /// Names of answer tokens, which only the data know, for results that have their ids.
    void setTokenNames(std::vector<std::string> names) { m_tokenNames = std::move(names); }
    /// No requests are sent while nothing that shows the result is in sight: the inspector, the
    /// page Measure.
    void setWatched(const QObject* by, bool watched);

    // What a training says
    void stepped(qint64 step);
    void answered(const ProbeAnswer& answer);

Q_SIGNALS:
    void loaded(const QString& warning);  ///< a warning; empty if there is none
    void tokenizerChosen();
    void inputRead();                       ///< own() or request() changed
    void textRead();                        ///< textNote() changed
    void textOffered(const QString& text);  ///< text from a file or the last session
    /// Maps, also of some layers while the others are computed (ProbeResult::partial).
    void inspected(const relascope::widgets::Inspected& result);
    /// The hook points of the model; emitted before inspected().
    void pointsFound(const relascope::app::Points& points);
    /// Emitted with the reason if an edit does not fit; the maps without edits follow. Empty if all
    /// edits fit.
    void editsRefused(const QString& sentence);
    /// The means that a probe with these edits has taken; emitted before inspected().
    void meansFound(const relascope::EditList& edits, const relascope::TakenMeans& means);
    /// The effect of each edit alone, by line of the list; emitted some time after inspected().
    void effectsFound(const QStringList& effects);
    void capturesCounted(qint64 samples);   ///< emitted before inspected()
    void refused(const QString& sentence);  ///< there are no maps, for this reason
    void failed(const QString& sentence);   ///< model or input could not be read

private:
    void readText();
    void note(const QString& sentence);
    bool busy() const;
    wire::Asked question() const;
    void ask();
    void probe();
    void askTraining();
    void readExample(const wire::Example& example);
    void readCapture();
    void watchRelations(const EditList& edits);
    void measureEffects(const wire::Asked& asked);
    void deliver(const wire::Asked& asked, widgets::Inspected inspected);
    void refuse(const QString& sentence);
    std::shared_ptr<const ProbeResult> named(std::shared_ptr<const ProbeResult> result) const;

    Looker& m_looker;
    Trainer m_trainer;
    Question m_opened = weightsAt({}, std::nullopt);
    QString m_noTokenizer, m_text, m_textNote;
    QString m_progressText = QStringLiteral("Computing the maps");
    std::optional<ModelOptions> m_model;
    core::TokenizerPtr m_tokenizer;
    widgets::InputOffer m_offer;
    Points m_points;
    std::vector<std::string> m_tokenNames;

    Question m_request;  ///< the input that was chosen last; without options where none was
    std::optional<ProbeSample> m_own;
    bool m_unread = false;  ///< m_request is typed or being read
    quint64 m_inputs = 0;   ///< incremented with each input, so that late results can be dropped
    /// The example of the data that is sent to a training, and its name.
    std::optional<std::pair<wire::Example, ProbeSample>> m_example;

    wire::Asked m_wanted = weightsAt({}, std::nullopt), m_shown = m_wanted;
    Source m_from = Source::Weights;
    std::optional<qint64> m_shownStep;
    int m_shownLayer = 0;
    bool m_again = false;  ///< another request has come while one is answered
    /// The request to a training that has no answer yet, with its question.
    std::optional<std::pair<quint64, wire::Asked>> m_live;
    /// What shows the result; until something has been in sight, all of it is asked for.
    std::optional<std::set<const QObject*>> m_watching;

    QFileSystemWatcher m_relations;  ///< fitted relations that are shown or taken out
    QTimer m_typing, m_pace;
    JobQueue m_reading;
    LongTask m_task, m_effects, m_exampleReading;
};

}  // namespace relascope::app

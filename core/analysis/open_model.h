// SPDX-License-Identifier: GPL-3.0-or-later
// A model for inspection or evaluation, from a run folder or a checkpoint. Does not include torch.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "interventions/edit_data.h"
#include "probe/probe_watch.h"
#include "types/edit_results.h"
#include "types/generate_options.h"
#include "types/head_choice.h"
#include "types/metric.h"
#include "types/relation_map.h"
#include "types/run_options.h"

namespace relascope::core {

class ActiveEdits;    // active_edits.h
class AnswerNames;    // answer_names.h
struct ModelImpl;     // model.h
struct ModelInput;    // model.h
struct PairReading;   // pair_reading.h
struct PairReadings;  // pair_reading.h
class EditedModel;    // edited_model.h
class HeadRefit;      // head_refit.h

/// The weights that OpenedModel opens for a step of a run.
struct StepToOpen {
    std::string checkpoint;  ///< the step, or the kept one nearest to it where it has no checkpoint
    std::string kept;        ///< "step 96 (kept nearest to 100)"; empty for a checkpoint
};
StepToOpen stepToOpen(const std::string& run, std::int64_t step);

/// The head that a model was given whose answer are features.
struct HeadFacts {
    HeadChoice::Kind kind = HeadChoice::Kind::None;  ///< Means, Ridge or Texts; None: its own end
    std::vector<std::string> classes;
    std::int64_t fittedOn = 0;  ///< pictures; 0: it was not fitted
    double ridge = 0.0;         ///< its penalty
    std::string file = {};      ///< that it comes from; empty: none
    std::string note = {};      ///< how texts were taken for the classes of the data; or empty
};
/// "a head of nearest means that was fitted on 900 pictures"; empty without one.
std::string headText(const HeadFacts& head);

/// A head to give (OpenedModel::setHead()).
struct HeadToGive {
    HeadChoice choice;
    /// Labelled pictures to fit it on, none of which is measured on; null: a file says everything.
    DatasetPtr fitting = {};
    /// The classes of the data that are measured on, by whose numbers scores are ordered; empty: as
    /// the head has them.
    std::vector<std::string> classes = {};
    std::uint32_t dataChecksum = 0;  ///< examplesChecksum() of `fitting`
    std::string key = {};  ///< key of choice, data and classes; the same one is not given again
};

/// Belongs to the thread that uses it; one call at a time.
class OpenedModel {
public:
    /// `path` is a run folder (`checkpoint`: "last", "best" or a step; "" = last, or best where the
    /// run restores the best), or any form of checkpoint (checkpoint.h). A step without a
    /// checkpoint may be one whose weights were kept along training (kept_weights.h). `progress`
    /// gets the fraction read and returns false to cancel. `imageSize`: Model::imageSize. Throws
    /// FileError if it is neither, OptionError for another size, Cancelled.
    OpenedModel(const std::string& path, const std::string& checkpoint, const std::string& device,
                std::stop_token stop = {}, const ProgressCallback& progress = {},
                const std::string& imageSize = {});
    /// A model without a file, whose weights are drawn by `seed` as when a training begins.
    OpenedModel(const ModelOptions& options, std::uint64_t seed, const std::string& device);
    ~OpenedModel();
    OpenedModel(OpenedModel&&) noexcept;
    OpenedModel& operator=(OpenedModel&&) noexcept;

    const ModelOptions& options() const;
    /// The options of the run; for a checkpoint only `model` is valid.
    const RunOptions& run() const;
    bool isRun() const;
    std::int64_t step() const;
    /// A warning, "not finite: ...", when the weights hold NaN or infinity; else empty.
    const std::string& warning() const;
    /// CRC-32 of all weights in the order of stateOf() (model.h).
    std::uint32_t checksum() const;
    /// "VisionTransformer, weights 1234567", as files of fitted relations name theirs.
    std::string weightsText() const;
    /// False once files in which weights lie were truncated or changed (every pass throws then),
    /// others lie in their place, or the run has a newer checkpoint of that name ("", "last",
    /// "best"). Files that are gone are no reason to open others.
    bool filesUnchanged() const;

    /// Gives a model whose answer are features a head, so that it answers with classes from now on:
    /// of means, ridge, texts (those of `classes`) or a file; of none, its features again. What is
    /// fitted is fitted by features of the weights without edits, and stays while edits are in
    /// force. Throws OptionError("head", ...), FileError, Cancelled.
    void setHead(const HeadToGive& given, const std::stop_token& stop = {},
                 const ProgressCallback& progress = {});
    const HeadFacts& head() const;
    /// HeadToGive::key of what was given last; empty: nothing was.
    const std::string& headKey() const;
    /// Gives another model of these options, as one with fresh weights, the same head: fitted anew
    /// on its features of the same pictures, of texts by its own text tower, else as it is.
    void fitHead(ModelImpl& fresh) const;
    /// What fits the head anew behind edits, on the same pictures; belongs to this model. Throws
    /// OptionError("refit", ...) for one whose head was not fitted on pictures that are at hand.
    std::unique_ptr<HeadRefit> headRefit();
    /// Writes a head that was fitted (feature_heads.h). Throws OptionError without one, FileError.
    void saveHead(const std::string& path) const;

    /// Inputs stored beside the checkpoint (io.safetensors), 0 without any.
    int referenceInputs() const;
    /// Stored input number `index`, from 0. Throws OptionError for an invalid index.
    ProbeSample referenceInput(int index) const;
    /// A random input of the right shape, the same for the same seed.
    ProbeSample randomInput(std::uint64_t seed) const;

    /// For a language model: the tokenizer of the run, or the one in the folder of the checkpoint;
    /// null if unknown.
    TokenizerPtr tokenizer() const;
    /// Sets another tokenizer: "gpt2", a file or a folder. Throws OptionError if it does not match
    /// the model.
    void setTokenizer(const std::string& nameOrPath);
    /// A text as input, cut to the context of the model. Throws OptionError without a tokenizer or
    /// a token.
    ProbeSample textInput(const std::string& text) const;
    /// The tokens that generate() reads first, cut to the context: the tokens of the prompt, or for
    /// an empty one the token that separates documents. Throws OptionError as generate().
    ProbeSample promptInput(const std::string& prompt) const;
    /// Continues a text, token by token. Throws OptionError for invalid options or an invalid
    /// prompt, or if the edits do not fit.
    TextEnd generate(const std::string& prompt, const GenerateOptions& options,
                     const TokenSink& sink, const Interventions& interventions = {});
    /// Converts the weights to bfloat16 (parameters.h): faster generation, less exact.
    void narrow();

    /// All maps of all layers for one sample. Throws OptionError if the sample or the edits do not
    /// fit the model or its maps do not fit into the memory, Cancelled.
    ProbeResult probe(const ProbeSample& sample, const std::vector<std::string>& classNames,
                      const Interventions& interventions = {}, ProbeWatch watch = {});
    /// The hook points that such an input meets, in the order of the forward pass.
    std::vector<PointInfo> points(const ProbeSample& sample);
    /// The interventions that the weights of a run are trained with, applied before all others
    /// wherever the model runs. Usually empty. Analyses of examples and of one input skip those
    /// that take values from other examples (resample).
    const EditList& trainingEdits() const;
    /// Runs the weights without their training edits from now on.
    void leaveOutTrainingEdits();
    /// The means that the edits of the last call took, by the index of the edit; empty if they took
    /// none, and after withData().
    const TakenMeans& takenMeans() const;
    /// The change of the scores by the edits over a data set, or over `examples` of it that are
    /// drawn by seed 0, as analyses draw them; `refit`: also that with a head fitted anew. Throws
    /// OptionError if an edit does not fit, Cancelled.
    EditEffect effect(const DatasetPtr& data, std::int64_t batchSize,
                      const Interventions& interventions, const std::stop_token& stop = {},
                      const ProgressCallback& progress = {}, std::int64_t examples = 0,
                      bool refit = false);

    /// The model with these edits in force, for analyses of two models; this OpenedModel must
    /// outlive the result.
    std::unique_ptr<EditedModel> edited(const Interventions& interventions);
    /// The values of maps on pairs of objects (pair_reading.h), with the edits in force, for an
    /// atlas.
    PairReadings readPairs(
        const DatasetPtr& data, const Interventions& interventions, const PairReading& what,
        const std::stop_token& stop = {}, const ProgressCallback& progress = {},
        const std::function<void(const PairReadings&, std::int64_t)>& partial = {});
    /// The values of maps as readPairs(), of weights drawn by `seed` and not trained, without
    /// edits.
    PairReadings readUntrainedPairs(std::uint64_t seed, const DatasetPtr& data,
                                    const PairReading& what, const std::stop_token& stop = {},
                                    const ProgressCallback& progress = {}) const;
    /// The metric of `count` models with these options and fresh weights on these examples of the
    /// data: what a guard compares with (answersBetter(), claims.h).
    std::vector<double> untrainedScores(std::int64_t count, const DatasetPtr& data,
                                        const std::vector<std::int64_t>& examples,
                                        std::int64_t batchSize, const std::string& metric,
                                        const std::stop_token& stop = {},
                                        const ProgressCallback& progress = {}) const;
    /// Calls `reader` with the model and the input of a sample, with the edits in force, for
    /// analyses of one input. Throws OptionError if the sample or the edits do not fit the model.
    void withInput(const ProbeSample& sample, const Interventions& interventions,
                   const std::function<void(ModelImpl&, const ModelInput&)>& reader);
    /// Calls `reader` with the model and the edits, completed and not in force, for analyses of
    /// examples, which it takes `batchSize` at a time; takenMeans() are empty after it. Throws
    /// OptionError if the data do not fit the model.
    void withData(const DatasetPtr& data, const Interventions& interventions,
                  std::int64_t batchSize,
                  const std::function<void(ModelImpl&, const Interventions&)>& reader);
    /// Calls `reader` with the model and the edits as a session that is not prepared for an input;
    /// null: there are none.
    void withEdits(const Interventions& interventions,
                   const std::function<void(ModelImpl&, ActiveEdits*)>& reader);
    /// The names of the classes by the checkpoint's own configuration; empty without any.
    const std::vector<std::string>& classNames() const;
    /// The names of the answers to a sample. `classNames` empty: the checkpoint's own.
    AnswerNames answerNames(const ProbeSample& sample,
                            const std::vector<std::string>& classNames) const;
    /// Loss, accuracy and the other metrics of the task over a data set; sequences also with
    /// free-running decoding. Throws OptionError if the data do not fit the model, Cancelled.
    Evaluation evaluate(const DatasetPtr& data, std::int64_t batchSize, std::stop_token stop = {},
                        const ProgressCallback& progress = {});

private:
    struct Parts;
    std::unique_ptr<Parts> m_parts;
};

/// The text that a language model is evaluated on.
struct TextToEvaluate {
    std::string run;    ///< run folder that the model belongs to; "" without one
    std::string file;   ///< a text, used completely. Empty: the data of the run
    std::string split;  ///< split of the data of the run; empty = "validation"
    std::int64_t windows =
        0;  ///< at most so many windows; 0 = all of a file, or the validation size of the run
};

/// Opens the text with the model's tokenizer and context. Throws FileError, OptionError for a model
/// whose tokenizer is not known, Cancelled.
/// For a model that reads in both directions, windows with hidden words (data/token_hidden.h).
DatasetPtr openEvaluationText(const OpenedModel& model, const TextToEvaluate& text,
                              const ProgressCallback& progress = {}, std::stop_token stop = {});
/// The id of the token that hides a word. Throws OptionError where the tokenizer has none.
std::int64_t maskToken(const OpenedModel& model);

}  // namespace relascope::core

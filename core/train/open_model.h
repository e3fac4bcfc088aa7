// SPDX-License-Identifier: GPL-3.0-or-later
// A model to look at or to evaluate: from a run folder or a published checkpoint folder. No torch
// here.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "types/generate_options.h"
#include "types/relation_map.h"
#include "types/run_options.h"

namespace relascope::core {

struct Evaluation {
    std::int64_t examples = 0;
    double loss = 0.0;                  ///< mean cross entropy, nats
    double accuracy = 0.0;              ///< 0..1; of text, of the next token; NaN of numbers
    std::vector<double> classAccuracy;  ///< by label; NaN for a class without examples
    /// What else the task measures: "sequence_accuracy", "mean_error" and so on.
    std::vector<std::pair<std::string, double>> values;
};

/// Belongs to the thread that uses it; one call at a time.
class OpenedModel {
public:
    /// `path` is a run folder (`which`: "last", "best" or a step; "" = last, or best where the run
    /// restores the best), or any form of checkpoint (checkpoint.h). `progress` gets the fraction
    /// read and returns false to cancel. Throws FileError saying what it is not, Cancelled.
    OpenedModel(const std::string& path, const std::string& which, const std::string& device,
                std::stop_token stop = {}, const ProgressCallback& progress = {});
    ~OpenedModel();
    OpenedModel(OpenedModel&&) noexcept;
    OpenedModel& operator=(OpenedModel&&) noexcept;

    const ModelOptions& options() const;
    /// Of a run; for a checkpoint only `model` counts.
    const RunOptions& run() const;
    bool isRun() const;
    std::int64_t step() const;
    /// "not finite: ..." when the weights hold NaN or infinity; else empty.
    const std::string& warning() const;

    /// Inputs stored beside the checkpoint (io.safetensors), 0 without any.
    int referenceInputs() const;
    /// One of them. Throws OptionError for a number there is none of.
    ProbeSample referenceInput(int index) const;
    /// A made-up input that fits, the same for the same seed.
    ProbeSample randomInput(std::uint64_t seed) const;

    /// Of a language model: the run's tokenizer, or the one beside the checkpoint; null when none
    /// is known.
    TokenizerPtr tokenizer() const;
    /// Another one: "gpt2", a file or a folder. Throws OptionError when it does not fit the model.
    void setTokenizer(const std::string& nameOrPath);
    /// A text as an input; what is beyond the model's context is left out. Throws OptionError
    /// without a tokenizer or a token.
    ProbeSample textInput(const std::string& text) const;
    /// Continues a text, token by token. Throws OptionError for options or a prompt that cannot be.
    TextEnd generate(const std::string& prompt, const GenerateOptions& options,
                     const TokenSink& sink);
    /// Keeps weights as bfloat16 from here on (parameters.h): faster generation, less exact.
    void narrow();

    /// Every map of every layer for one sample. Throws OptionError when it does not fit.
    ProbeResult probe(const ProbeSample& sample, const std::vector<std::string>& classNames);
    /// Loss, accuracy and what else the task measures over a data set; sequences are also answered
    /// freely. Throws OptionError when the data are not what the model reads, Cancelled.
    Evaluation evaluate(const DatasetPtr& data, std::int64_t batchSize, std::stop_token stop = {},
                        const ProgressCallback& progress = {});

private:
    struct Parts;
    std::unique_ptr<Parts> m_parts;
};

}  // namespace relascope::core

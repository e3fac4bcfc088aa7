// SPDX-License-Identifier: GPL-3.0-or-later
// What a question is about: the inputs, data, edits and models that it names, or has in memory,
// opened. Commands, Python, agents and sessions ask with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "app/serve/data.h"
#include "app/serve/given_head.h"
#include "interventions/named_edits.h"
#include "types/generate_options.h"
#include "types/relation_map.h"
#include "wire/requests.h"

namespace relascope::serve {

/// The device that a model is asked on.
inline std::string deviceOf(const Model& model) {
    return model.device.empty() ? "auto" : model.device;
}

struct SampleInput {
    ProbeSample sample;
    std::vector<std::string> classNames;  ///< as given, or as in the example's data
};
/// Reads an image file as an input of the model. Throws OptionError(`option`, ...) if the model
/// does not read images, FileError if the file cannot be read.
ProbeSample readPicture(const std::string& file, const ModelOptions& model,
                        const std::string& option);
/// The input of a question, which the model reads in its own tokens. Throws OptionError naming the
/// option, or FileError.
SampleInput readSample(core::OpenedModel& model, const wire::Asked& asked, OpenedDataSets& sets);
/// The data of a question: those given, or of the run at `path`; nullopt for a checkpoint.
std::optional<wire::Data> dataOf(const wire::Asked& asked, const std::string& path);
/// The classes of a run's data; empty for a checkpoint, and where the data cannot be opened.
std::vector<std::string> classNamesOf(const std::string& path, OpenedDataSets& sets);

/// The data from which edits of a model take examples and pictures. `sets` must outlive it.
core::EditData editData(const ModelOptions& model, const std::optional<wire::Data>& data,
                        OpenedDataSets& sets);
/// The edits of one of the models that are asked, with the data that they take values from. Those
/// that are words are read for `sample`, an input of the model.
core::Interventions interventionsOf(const wire::Asked& asked, std::size_t which,
                                    core::OpenedModel& model, const ProbeSample& sample,
                                    OpenedDataSets& sets,
                                    core::EditUse use = core::EditUse::Inspect);

/// The examples that `eval` measures on, and the name of what they are a part of.
struct EvaluationData {
    core::DatasetPtr data;
    std::string split;
};
/// Gives a model of features its head by them. Throws OptionError.
EvaluationData evaluationData(const wire::Asked& asked, core::OpenedModel& model,
                              OpenedDataSets& sets);
/// The edits that `generate` continues a text with.
core::Interventions generateEdits(const wire::Asked& asked, core::OpenedModel& model,
                                  const std::string& prompt, OpenedDataSets& sets);
/// How `generate` continues a text. Throws OptionError.
GenerateOptions generateOptionsOf(const Question& asked);

/// What an analysis is asked of, and its names in captions.
struct AskedSubject {
    core::AnalysisSubject subject;
    ProbeSample points;          ///< an input of the model, for the edits
    HeadPictures pictures = {};  ///< by which a model of features got its head
    std::string caption, sample;
};
/// Opens the inputs, data and edits of a question to the model. Null for an analysis of kept steps
/// of an input in memory, which opens the weights of each step itself. Throws OptionError that
/// names the option, FileError, Cancelled.
AskedSubject subjectOf(const core::Analysis& analysis, const wire::Asked& asked,
                       const core::OptionValues& values, core::OpenedModel* model,
                       OpenedDataSets& sets);
/// What an analysis is asked of where captures stand for a model (core::capturesOf()); nullopt
/// otherwise.
std::optional<AskedSubject> capturedSubject(const core::Analysis& analysis,
                                            const wire::Asked& asked);
/// The second of two models, with its edits.
std::shared_ptr<const core::AnalysisSubject> otherSubject(const wire::Asked& asked,
                                                          const AskedSubject& first,
                                                          OpenedDataSets& sets);

}  // namespace relascope::serve

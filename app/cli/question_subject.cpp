// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/question_subject.h"

#include <algorithm>
#include <set>

#include "analysis/open_model.h"
#include "analysis/pair_accuracy.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/question_arguments.h"
#include "app/cli/run_text.h"
#include "data/text_tokens.h"
#include "datasets/readers/image_folder.h"
#include "datasets/registry.h"
#include "files/command_line.h"
#include "model/public/family.h"
#include "options/pair_data.h"
#include "probe/probe_memory.h"
#include "run/run_folder.h"
#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::cli {

using core::AnalysisInput;

namespace {

std::string splitOf(const Question& a, const std::string& usual = "validation") {
    return a.value("split", usual);
}
std::string deviceOf(const Question& a) {
    const auto& device = a.subjects.front().device;
    return device.empty() ? "auto" : device;
}

}  // namespace

bool hasOwnInput(const Question& a) {
    return std::any_of(a.options.begin(), a.options.end(), [](const Option& option) {
        static const std::set<std::string> own = {"image", "text", "tokens", "reference", "random"};
        return own.contains(option.name);
    });
}

ProbeSample readPicture(const std::string& file, const core::OpenedModel& opened,
                        const std::string& option) {
    if (!opened.options().find<ImageInput>())
        throw OptionError(
            option, "is for models of images; this is a " + core::modelTitle(opened.options()));
    return datasets::imageSample(file, opened.options());
}

SampleInput readSample(core::OpenedModel& opened, const std::string& path, const Question& a) {
    SampleInput input;
    auto& sample = input.sample;
    using Ids = std::vector<std::int64_t>;
    if (a.option("image")) {
        sample = readPicture(a.text("image"), opened, "--image");
    } else if (a.option("text")) {
        if (const auto tokenizer = a.text("tokenizer"); !tokenizer.empty())
            opened.setTokenizer(tokenizer);
        sample = opened.textInput(a.text("text"));
    } else if (a.option("reference")) {
        sample = opened.referenceInput(static_cast<int>(a.value<std::int64_t>("reference")) - 1);
    } else if (a.option("random")) {
        sample = opened.randomInput(static_cast<std::uint64_t>(a.value<std::int64_t>("random")));
    } else if (a.option("tokens")) {
        sample.origin = "tokens";
        sample.source.tokens = a.value<Ids>("tokens");
        sample.target.tokens = a.value<Ids>("target");
    } else {
        if (!opened.isRun())
            throw OptionError("--image",
                              "a checkpoint has no data of its own; give --image, --text, "
                              "--tokens, --reference N or --random SEED");
        const auto splits = datasets::openData(core::runData(path, opened.run().data));
        const auto split = splitOf(a);
        const auto data = splits.find(split);
        if (!data) throw OptionError("--split", unknownName("split", split, splits.names()));
        const auto number = a.value<std::int64_t>("sample");
        if (number >= data->size())
            throw OptionError("--sample", std::to_string(number) + " is out of range: there are " +
                                              std::to_string(data->size()) + " examples of " +
                                              split);
        sample = data->sample(number);
        input.classNames = data->info().classNames;
    }
    return input;
}

std::vector<std::string> classNamesOf(const core::OpenedModel& opened, const std::string& path) {
    if (!opened.isRun()) return {};
    try {
        const auto splits = datasets::openData(core::runData(path, opened.run().data));
        return splits.train ? splits.train->info().classNames : std::vector<std::string>{};
    } catch (const Error&) {
        return {};  // the data no longer exist: classes are shown by their numbers
    }
}

namespace {

/// The minimal pairs of a file, or those of the grammar, for a model that reads text.
core::DatasetPtr pairsOf(const core::OpenedModel& model, const Question& a,
                         const std::stop_token& stop) {
    if (model.options().input() != InputKind::Tokens)
        throw OptionError("--pairs", "is for language models; " +
                                         core::modelTitle(model.options()) + " does not read text");
    if (!model.tokenizer())
        throw OptionError("--pairs",
                          "the tokenizer of this model is unknown, so no sentence can be read");
    const auto given = a.text("pairs");
    const auto path = given == core::pairData().kind ? std::string() : given;
    auto pairs = datasets::openData(core::pairData(path, a.text("fields")), {}, stop).validation;
    sayNote(pairs->info());
    return pairs;
}

void readData(AskedSubject& input, const core::Analysis& analysis, const Question& a,
              const std::stop_token& stop) {
    auto& model = *input.subject.model;
    const auto text = a.text("text"), data = a.text("data"), split = splitOf(a, analysis.split);
    if (analysis.dataOptional && !model.isRun() && text.empty() && data.empty()) {
        input.points = model.randomInput(0);
        input.caption = "weights alone";
        return;
    }
    input.subject.where = !text.empty()   ? core::optionText("--data", text)
                          : !data.empty() ? core::optionText("--data", data)
                                          : core::optionText("--split", split);
    const auto use = [&](const std::string& name) {
        if (input.subject.data->size() == 0) throw OptionError("--data", name + " has no examples");
        sayNote(input.subject.data->info());
        input.points = input.subject.data->sample(0);
        input.caption = name;
    };
    if (a.option("pairs")) {
        input.subject.pairs = pairsOf(model, a, stop);
        input.subject.data = core::textOfPairs(model, input.subject.pairs);
        input.subject.where = core::optionText("--pairs", a.text("pairs"));
        return use(input.subject.pairs->info().name);
    }
    if (!text.empty()) {
        if (model.options().input() != InputKind::Tokens)
            throw OptionError("--text", "is for language models; " +
                                            core::modelTitle(model.options()) +
                                            " does not read text");
        input.subject.data = core::openEvaluationText(model, {"", text, "", 0}, {}, stop);
        return use(folderName(text));
    }
    if (!data.empty()) {
        input.subject.data = datasets::openEvaluationData(data, model.run().data, split, {}, stop);
        return use(folderName(data));
    }
    const auto& path = a.subjects.front().path;
    if (!model.isRun())
        throw OptionError("path", path +
                                      " is a checkpoint, which has no data of its own; give a "
                                      ".npz file with --data, or a text with --text");
    const auto splits = datasets::openData(core::runData(path, model.run().data), {}, stop);
    input.subject.data = splits.find(split);
    if (!input.subject.data)
        throw OptionError("--split", unknownName("split", split, splits.names()));
    use(split);
}

void readSentences(AskedSubject& input, const Question& a, const std::stop_token& stop) {
    const auto& model = *input.subject.model;
    input.subject.data = pairsOf(model, a, stop);
    if (const auto pairs = a.text("pairs"); !pairs.empty())
        input.subject.where = core::optionText("--pairs", pairs);
    input.points = core::inTokensOf(model.tokenizer().get(), input.subject.data->sample(0));
    core::shorten(input.points, model.options().tokens());
    input.caption = input.subject.data->info().name;
}

/// Of inputs that have classes without being examples of the data.
std::vector<std::string> classNamesFor(const core::OpenedModel& model, const std::string& path) {
    const auto kind = model.options().input();
    if (kind != InputKind::Images && kind != InputKind::Objects) return {};
    return classNamesOf(model, path);
}

void readTwo(AskedSubject& input, const Question& a) {
    auto& model = *input.subject.model;
    const auto read = [&](const char* name) {
        return inputFromWords(a.text(name), optionName(name), a.subjects.front().path, model,
                              splitOf(a));
    };
    input.points = read("clean");
    input.subject.sample = input.points;
    input.subject.second = read("corrupt");
}

/// The good sentence of a minimal pair and the wrong one.
void readMinimalPair(AskedSubject& input, const Question& a, const std::stop_token& stop) {
    const auto& model = *input.subject.model;
    const auto pairs = pairsOf(model, a, stop);
    const auto count = pairs->info().size;
    const auto pair = a.value<std::int64_t>("pair", 1);
    if (pair > count)
        throw OptionError("--pair", std::to_string(pair) + " is behind the last of " +
                                        std::to_string(count) + " pairs");
    auto [good, wrong] = core::samplesOfPair(model, pairs, pair - 1);
    input.points = good;
    input.subject.sample = std::move(good), input.subject.second = std::move(wrong);
}

void readPair(AskedSubject& input, const Question& a, const std::stop_token& stop) {
    auto& model = *input.subject.model;
    if (a.option("pairs"))
        readMinimalPair(input, a, stop);
    else if (!a.option("clean") || !a.option("corrupt"))
        throw OptionError(!a.option("clean") ? "--clean" : "--corrupt",
                          "is missing; give it, or --pairs with minimal pairs");
    else
        readTwo(input, a);
    input.subject.classNames = classNamesFor(model, a.subjects.front().path);
    input.caption = "A: " + input.points.origin + ", B: " + input.subject.second->origin;
}

void readOne(AskedSubject& input, const Question& a) {
    auto& model = *input.subject.model;
    auto [sample, classNames] = readSample(model, a.subjects.front().path, a);
    if (!hasOwnInput(a)) input.example = a.value<std::int64_t>("sample");
    if (classNames.empty()) classNames = classNamesFor(model, a.subjects.front().path);
    input.points = sample;
    input.subject.sample = std::move(sample);
    input.subject.classNames = std::move(classNames);
}

}  // namespace

AskedSubject subjectOf(const core::Analysis& analysis, const Question& a,
                       const core::OptionValues& values, core::OpenedModel& model,
                       const std::stop_token& stop) {
    AskedSubject input;
    input.subject.model = &model;
    const auto& path = a.subjects.front().path;
    input.subject.path = path;
    input.subject.device = deviceOf(a);
    input.subject.run = core::isRunFolder(path) ? path : core::runOfWeights(path);
    const bool given = a.option("sample") || hasOwnInput(a);
    if (analysis.input == AnalysisInput::Data)
        readData(input, analysis, a, stop);
    else if (analysis.input == AnalysisInput::Sentences)
        readSentences(input, a, stop);
    else if (analysis.input == AnalysisInput::Pair)
        readPair(input, a, stop);
    else if (analysis.input == AnalysisInput::OwnPrompts ||
             (analysis.input == AnalysisInput::OwnText && !given &&
              model.options().input() == InputKind::Tokens))
        input.points = core::runnerOf(analysis).ownText(model, values);
    else
        readOne(input, a);
    if (input.caption.empty()) input.caption = input.sample = input.points.origin;
    return input;
}

std::shared_ptr<const core::AnalysisSubject> otherSubject(const Question& a,
                                                          const AskedSubject& input,
                                                          const std::stop_token& stop) {
    struct Opened : core::AnalysisSubject {
        std::unique_ptr<core::OpenedModel> own;
    };
    const auto other = std::make_shared<Opened>();
    const auto& asked = a.subjects.at(1);
    other->path = asked.path.empty() ? a.subjects.front().path : asked.path;
    try {
        other->own =
            std::make_unique<core::OpenedModel>(other->path, asked.checkpoint, deviceOf(a), stop);
    } catch (const OptionError& error) {
        throw OptionError("other", error.what());
    }
    other->model = other->own.get();
    if (asked.edits.empty()) return other;
    // If the other model has other tokens, it reads the text of the same example.
    const auto sample = core::inTokensOf(other->model->tokenizer().get(), input.points);
    try {
        other->interventions.edits = core::editsNamed(asked.edits, other->model->points(sample),
                                                      core::EditUse::Inspect, "--other-edit");
    } catch (const OptionError& error) {
        throw OptionError("--other-edit", error.message());
    }
    // Of the data of A, on its example; pictures as B reads them.
    other->interventions.data = input.subject.interventions.data;
    other->interventions.data.image = editData(other->path, *other->model).image;
    if (core::namesNone(asked.edits)) other->model->leaveOutTrainingEdits();
    return other;
}

}  // namespace relascope::cli

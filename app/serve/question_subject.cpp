// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/serve/question_subject.h"

#include <algorithm>
#include <filesystem>
#include <type_traits>

#include "analysis/analysis.h"
#include "analysis/open_model.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/pairs/pair_inputs.h"
#include "data/text_tokens.h"
#include "datasets/labelled_pictures.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/masked_pictures.h"
#include "datasets/registry.h"
#include "files/command_line.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "model/recorded/recorded_options.h"
#include "model/served/served_options.h"
#include "options/pair_data.h"
#include "probe/probe_memory.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "run/run_folder.h"
#include "types/text_piece.h"

namespace relascope::serve {

using core::AnalysisInput;

namespace {

std::string splitOf(const Question& a, const std::string& usual = "validation") {
    return a.value("split", usual);
}
const std::string& pathOf(const Question& a) {
    return a.subjects.front().path;
}
std::string runOf(const std::string& path) {
    if (core::isServedName(path)) return {};
    return core::isRunFolder(path) ? path : core::runOfWeights(path);
}
bool readsText(const core::OpenedModel& model) {
    return model.options().input() == InputKind::Tokens;
}

/// The example that is inspected; -1: the input is none.
std::int64_t exampleOf(const wire::Asked& a) {
    return core::hasOwnInput(a) ? -1 : a.value<std::int64_t>("sample", a.sample ? -1 : 0);
}

}  // namespace

ProbeSample readPicture(const std::string& file, const ModelOptions& model,
                        const std::string& option) {
    if (!model.find<ImageInput>())
        throw OptionError(option, "is for models of images; this is a " + core::modelTitle(model));
    return datasets::imageSample(file, model);
}

std::optional<wire::Data> dataOf(const wire::Asked& a, const std::string& path) {
    if (a.data) return a.data;
    if (core::isServedName(path)) {
        wire::Data data;
        data.options.kind = core::kServedData, data.options.path = path;
        data.imported = true;
        return data;
    }
    if (!core::isRunFolder(path)) return std::nullopt;
    return wire::Data{core::runData(path, core::readRunOptions(path).data)};
}

namespace {

/// Throws where images are of other sizes or classes than the model's.
void requireFit(const core::OpenedModel& model, const core::Dataset& data) {
    if (const auto* images = model.options().find<ImageInput>())
        datasets::requireFit(data.info(), images->image_shape[0], images->image_shape[2],
                             images->image_shape[1], images->num_classes);
}

/// A stored or random input with the text of its tokens, where the tokenizer is known.
ProbeSample withText(const core::OpenedModel& model, const ProbeSample& sample) {
    const auto tokenizer = model.tokenizer();
    return tokenizer ? core::tokenSample(tokenizer.get(), sample.source.tokens, sample.origin)
                     : sample;
}

/// An input in memory. Another model may read the data of this run, or the text of that model (the
/// page Duel).
ProbeSample givenSample(const core::OpenedModel& model, const ProbeSample& sample) {
    auto read = core::inTokensOf(model.tokenizer().get(), sample);
    if (readsText(model) && read != sample)
        core::shorten(read, core::longestProbe(model.options(), core::probeBudget()));
    return read;
}

core::DatasetPtr evaluationFile(const core::OpenedModel& model, const std::string& file,
                                const std::string& split, OpenedDataSets& sets);

/// The data of `--data` whose examples are looked at, as analyses number them.
core::DatasetPtr exampleData(const core::OpenedModel& model, wire::Asked a, OpenedDataSets& sets) {
    const auto file = a.text("data");
    if (readsText(model))
        return core::openEvaluationText(model, {"", file, "", 0}, sets.progress(), sets.stop());
    if (!core::takesHead(model.options())) return evaluationFile(model, file, splitOf(a), sets);
    auto& head = a.subjects.front().head;
    try {
        return headPictures(a, model, sets).measured;
    } catch (const OptionError&) {
        if (!head.empty()) throw;
        head = "none";  // pictures without classes
        return headPictures(a, model, sets).measured;
    }
}

}  // namespace

SampleInput readSample(core::OpenedModel& opened, const wire::Asked& a, OpenedDataSets& sets) {
    SampleInput input;
    giveHead(opened, a, sets);
    auto& sample = input.sample;
    input.classNames = a.classNames;
    using Ids = std::vector<std::int64_t>;
    if (a.sample) {
        sample = givenSample(opened, *a.sample);
    } else if (a.option("image")) {
        sample = readPicture(a.text("image"), opened.options(), "--image");
    } else if (a.option("text")) {
        if (const auto tokenizer = a.text("tokenizer"); !tokenizer.empty())
            opened.setTokenizer(tokenizer);
        sample = opened.textInput(a.text("text"));
    } else if (a.option("reference")) {
        sample = withText(opened, opened.referenceInput(
                                      static_cast<int>(a.value<std::int64_t>("reference")) - 1));
    } else if (a.option("random")) {
        const auto seed = static_cast<std::uint64_t>(a.value<std::int64_t>("random"));
        sample = withText(opened, opened.randomInput(seed));
    } else if (a.option("tokens")) {
        sample.origin = "tokens";
        sample.source.tokens = a.value<Ids>("tokens");
        sample.target.tokens = a.value<Ids>("target");
    } else {
        const auto named = dataOf(a, pathOf(a));
        const bool given = a.option("data") != nullptr;
        if (!named && !given)
            throw OptionError("--image",
                              "a checkpoint has no data of its own; give --image, --text, "
                              "--data with --sample N, --tokens, --reference N or --random SEED");
        const auto split = given ? core::folderName(a.text("data")) : splitOf(a);
        const auto data = given ? exampleData(opened, a, sets)
                                : datasets::readyFor(opened.options(), sets.at(*named, split));
        const auto number = a.value<std::int64_t>("sample");
        if (number >= data->size())
            throw OptionError("--sample", std::to_string(number) + " is out of range: there are " +
                                              std::to_string(data->size()) + " examples of " +
                                              split);
        sample = data->sample(number);
        if (a.data) sample = givenSample(opened, sample);  // another model's data, perhaps
        if (input.classNames.empty()) input.classNames = data->info().classNames;
    }
    return input;
}

std::vector<std::string> classNamesOf(const std::string& path, OpenedDataSets& sets) {
    if (!core::isRunFolder(path)) return {};
    try {
        const auto& splits = sets.splits({core::runData(path, core::readRunOptions(path).data)});
        return splits.empty() ? std::vector<std::string>{} : splits[0].second->info().classNames;
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        return {};  // the data no longer exist: classes are shown by their numbers
    }
}

core::EditData editData(const ModelOptions& model, const std::optional<wire::Data>& data,
                        OpenedDataSets& sets) {
    core::EditData found;
    if (data)
        found.split = [&sets, data = *data](const std::string& name) {
            return sets.find(data, name);
        };
    found.image = [model](const std::string& file) { return readPicture(file, model, "image"); };
    return found;
}

core::Interventions interventionsOf(const wire::Asked& a, std::size_t which,
                                    core::OpenedModel& model, const ProbeSample& sample,
                                    OpenedDataSets& sets, core::EditUse use) {
    core::Interventions all;
    const auto& asked = a.subjects.at(which);
    if (which < a.edits.size())
        all.edits = a.edits[which];
    else if (!asked.edits.empty())
        all.edits = core::editsNamed(asked.edits, model.points(sample), use,
                                     which == 0 ? "--edit" : "--other-edit");
    all.data = editData(model.options(), dataOf(a, pathOf(a)), sets);
    all.data.exampleSplit = splitOf(a);
    all.data.example = exampleOf(a);
    return all;
}

namespace {

/// The pictures of a question about data, with the head by them given; none for models that take
/// no head. `features`: it stays without one unless one is named.
HeadPictures giveHeadFor(wire::Asked a, core::OpenedModel& model, OpenedDataSets& sets,
                         bool features = false) {
    HeadPictures pictures;
    auto& head = a.subjects.front().head;
    const bool takes = core::takesHead(model.options());
    features = features && takes && (head.empty() || head == "none");
    if (features) head = "none";
    if (takes) pictures = headPictures(a, model, sets);
    auto given = pictures;
    if (features) given.measured.reset();  // no classes are measured
    giveHead(model, head, given, sets);
    return pictures;
}

/// Reads pictures as the model does, whatever it was trained on.
void fitPictures(const ModelOptions& model, DataOptions& options) {
    const auto* images = model.find<ImageInput>();
    if (!images)
        throw OptionError("--data", "is a folder of pictures with masks, and " +
                                        core::modelTitle(model) + " does not read images");
    options.image_side = images->image_shape[1];
    if (const auto* family = model.find<core::PublicImageOptions>())
        options.preprocessor = family->preprocessor;
}

/// The classes that a public model answers with.
std::vector<std::string> classesOf(const core::OpenedModel& model,
                                   const core::PublicImageOptions& images) {
    auto names = model.classNames();
    for (auto k = std::ssize(names); k < images.num_classes; ++k)
        names.push_back(std::to_string(k));
    return names;
}

/// A file or folder to measure on; pictures of a folder as the model reads them.
core::DatasetPtr evaluationFile(const core::OpenedModel& model, const std::string& file,
                                const std::string& split, OpenedDataSets& sets) {
    const auto* images = model.options().find<core::PublicImageOptions>();
    const bool masked = datasets::isMaskedFolder(file);
    if (images && !model.isRun() && (masked || std::filesystem::is_directory(file))) {
        const auto parts =
            datasets::openLabelledPictures(file, model.options(), sets.progress(), sets.stop());
        const auto& all = parts.test && split != "train" ? parts.test : parts.train;
        return datasets::readyFor(model.options(),
                                  datasets::inClassesOf(classesOf(model, *images), all));
    }
    auto options = model.run().data;
    if (masked) fitPictures(model.options(), options);
    auto data = datasets::openEvaluationData(file, options, split, sets.progress(), sets.stop());
    if (masked) requireFit(model, *data);
    return data;
}

}  // namespace

EvaluationData evaluationData(const wire::Asked& a, core::OpenedModel& model,
                              OpenedDataSets& sets) {
    const auto& path = pathOf(a);
    const auto file = a.text("data");
    EvaluationData all{nullptr, a.text("split")};
    auto& split = all.split;
    const auto pictures = giveHeadFor(a, model, sets);
    if (pictures.measured) {
        all = {pictures.measured, pictures.split};
    } else if (a.data) {
        if (split.empty()) split = "validation";
        all.data = sets.at(*a.data, split);
    } else if (readsText(model) && (!file.empty() || !core::isServed(model.options()))) {
        all.data = core::openEvaluationText(
            model, {runOf(path), file, split, a.value<std::int64_t>("windows")}, sets.progress(),
            sets.stop());
        if (split.empty()) split = file.empty() ? "validation" : "text";
    } else if (!file.empty()) {
        all.data = evaluationFile(model, file, split, sets);
        if (split.empty()) split = std::filesystem::path(file).stem().string();
    } else {
        const auto own = dataOf(a, path);
        if (!own)
            throw OptionError(
                "--data",
                "a checkpoint has no data of its own; give a .npz file with --data, or a "
                "folder with one folder for each class");
        if (split.empty()) {
            // Data that training has never seen, if there are any; with edits, the split on which
            // analyses that take parts out measure.
            const auto& words = a.subjects.front().edits;
            const bool edited = std::any_of(words.begin(), words.end(),
                                            [](const auto& edit) { return edit != "none"; });
            split = edited ? std::string("validation") : sets.firstTest(*own);
        }
        all.data = sets.at(*own, split);
    }
    if (all.data->size() == 0) throw OptionError("--data", split + " has no examples");
    sets.note(all.data->info());
    requireFit(model, *all.data);
    return all;
}

core::Interventions generateEdits(const wire::Asked& a, core::OpenedModel& model,
                                  const std::string& prompt, OpenedDataSets& sets) {
    // Only words need an input, and a long prompt takes time.
    const bool words = a.edits.empty() && !a.subjects.front().edits.empty();
    auto all = interventionsOf(a, 0, model, words ? model.promptInput(prompt) : ProbeSample(), sets,
                               core::EditUse::Generate);
    all.data.example = -1;
    return all;
}

GenerateOptions generateOptionsOf(const Question& asked) {
    GenerateOptions options;
    const auto take = [&](const char* name, auto& value) {
        using Value = std::decay_t<decltype(value)>;
        using Given = std::conditional_t<std::is_integral_v<Value>, std::int64_t, Value>;
        value = static_cast<Value>(asked.value(name, static_cast<Given>(value)));
    };
    take("tokens", options.tokens);
    take("temperature", options.temperature);
    take("top_k", options.top_k);
    take("top_p", options.top_p);
    take("seed", options.seed);
    options.stop = asked.value("stop", options.stop);
    options.check();
    return options;
}

namespace {

/// An input given in words: "sample:N" (of the split that is asked), "text:T", "tokens:1,2,3",
/// "image:FILE", "reference:N" or "random:SEED".
ProbeSample inputFromWords(const std::string& name, core::OpenedModel& opened, const wire::Asked& a,
                           OpenedDataSets& sets) {
    const auto option = "--" + name;
    try {
        wire::Asked one;
        one.subjects = a.subjects;
        one.data = a.data;
        one.options = {core::inputOfWord(option, a.text(name))};
        one.set("split", splitOf(a));
        return readSample(opened, one, sets).sample;
    } catch (const OptionError& error) {
        if (error.field() == "--split") throw;
        throw OptionError(option, error.message());
    }
}

/// The minimal pairs of a file, or those of the grammar, for a model that reads text.
core::DatasetPtr pairsOf(const core::OpenedModel& model, const Question& a, OpenedDataSets& sets) {
    if (!readsText(model))
        throw OptionError("--pairs", "is for language models; " +
                                         core::modelTitle(model.options()) + " does not read text");
    if (!model.tokenizer())
        throw OptionError("--pairs",
                          "the tokenizer of this model is unknown, so no sentence can be read");
    const auto given = a.text("pairs");
    const auto path = given == core::pairData().kind ? std::string() : given;
    auto pairs = sets.at({core::pairData(path, a.text("fields"))}, "validation");
    sets.note(pairs->info());
    return pairs;
}

void readData(AskedSubject& input, const core::Analysis& analysis, const wire::Asked& a,
              OpenedDataSets& sets) {
    auto& subject = input.subject;
    auto& model = *subject.model;
    input.pictures = giveHeadFor(a, model, sets, analysis.readsFeatures);
    const auto text = a.text("text"), file = a.text("data"), split = splitOf(a, analysis.split);
    const auto own = dataOf(a, pathOf(a));
    if (analysis.dataOptional && !own && text.empty() && file.empty()) {
        input.points = model.randomInput(0);
        input.caption = "weights alone";
        return;
    }
    subject.where = !text.empty()   ? core::optionText("--data", text)
                    : !file.empty() ? core::optionText("--data", file)
                                    : core::optionText("--split", split);
    const auto use = [&](const std::string& name) {
        if (subject.data->size() == 0) throw OptionError("--data", name + " has no examples");
        sets.note(subject.data->info());
        input.points = subject.data->sample(0);
        input.caption = name;
    };
    if (input.pictures.measured) {
        subject.data = input.pictures.measured;
        return use(file.empty() ? input.pictures.split : core::folderName(file));
    }
    if (a.option("pairs")) {
        subject.pairs = pairsOf(model, a, sets);
        subject.data = core::textOfPairs(model, subject.pairs);
        subject.where = core::optionText("--pairs", a.text("pairs"));
        return use(subject.pairs->info().name);
    }
    if (!text.empty()) {
        if (!readsText(model))
            throw OptionError("--text", "is for language models; " +
                                            core::modelTitle(model.options()) +
                                            " does not read text");
        subject.data =
            core::openEvaluationText(model, {"", text, "", 0}, sets.progress(), sets.stop());
        return use(core::folderName(text));
    }
    if (!file.empty()) {
        subject.data = evaluationFile(model, file, split, sets);
        return use(core::folderName(file));
    }
    if (!own)
        throw OptionError("path", pathOf(a) +
                                      " is a checkpoint, which has no data of its own; give a "
                                      ".npz file with --data, or a text with --text");
    subject.data = sets.at(*own, split);
    requireFit(model, *subject.data);
    use(split);
}

void readSentences(AskedSubject& input, const Question& a, OpenedDataSets& sets) {
    const auto& model = *input.subject.model;
    input.subject.data = pairsOf(model, a, sets);
    if (const auto pairs = a.text("pairs"); !pairs.empty())
        input.subject.where = core::optionText("--pairs", pairs);
    input.points = core::inTokensOf(model.tokenizer().get(), input.subject.data->sample(0));
    core::shorten(input.points, model.options().tokens());
    input.caption = input.subject.data->info().name;
}

/// The class names for inputs that have classes without being examples of the data.
std::vector<std::string> classNamesFor(const core::OpenedModel& model, const std::string& path,
                                       OpenedDataSets& sets) {
    const auto kind = model.options().input();
    if (kind != InputKind::Images && kind != InputKind::Objects) return {};
    return classNamesOf(path, sets);
}

/// The good sentence of a minimal pair and the wrong one.
void readMinimalPair(AskedSubject& input, const Question& a, OpenedDataSets& sets) {
    const auto& model = *input.subject.model;
    const auto pairs = pairsOf(model, a, sets);
    const auto count = pairs->info().size;
    const auto pair = a.value<std::int64_t>("pair", 1);
    if (pair > count)
        throw OptionError("--pair", std::to_string(pair) + " is behind the last of " +
                                        std::to_string(count) + " pairs");
    auto [good, wrong] = core::samplesOfPair(model, pairs, pair - 1);
    input.subject.sample = std::move(good), input.subject.second = std::move(wrong);
}

void readPair(AskedSubject& input, const wire::Asked& a, OpenedDataSets& sets) {
    auto& subject = input.subject;
    auto& model = *subject.model;
    const bool pairs = a.option("pairs") != nullptr;
    giveHead(model, a, sets);
    const auto read = [&](const char* name, const std::optional<ProbeSample>& given) {
        if (given) return givenSample(model, *given);
        if (!a.option(name))
            throw OptionError(std::string("--") + name,
                              "is missing; give it, or --pairs with minimal pairs");
        return inputFromWords(name, model, a, sets);
    };
    if (pairs) {
        readMinimalPair(input, a, sets);
    } else {
        subject.sample = read("clean", a.sample);
        subject.second = read("corrupt", a.second);
    }
    input.points = *subject.sample;
    if (subject.classNames.empty()) subject.classNames = classNamesFor(model, pathOf(a), sets);
    input.caption = "A: " + input.points.origin + ", B: " + subject.second->origin;
}

void readOne(AskedSubject& input, const wire::Asked& a, OpenedDataSets& sets) {
    auto& subject = input.subject;
    if (!subject.model) {
        subject.sample = a.sample;
    } else {
        auto [sample, classNames] = readSample(*subject.model, a, sets);
        subject.sample = std::move(sample);
        subject.classNames = std::move(classNames);
        if (subject.classNames.empty() && !a.sample)
            subject.classNames = classNamesFor(*subject.model, pathOf(a), sets);
    }
    input.points = *subject.sample;
}

}  // namespace

AskedSubject subjectOf(const core::Analysis& analysis, const wire::Asked& a,
                       const core::OptionValues& values, core::OpenedModel* model,
                       OpenedDataSets& sets) {
    AskedSubject input;
    auto& subject = input.subject;
    const auto& path = pathOf(a);
    if (analysis.needsWeights && model && core::isServed(model->options()))
        throw OptionError("path", analysis.name +
                                      " needs weights, which a served model does not send; "
                                      "`patch` and `lens` work");
    subject.model = model;
    subject.path = path;
    subject.device = deviceOf(a.subjects.front());
    subject.run = runOf(path);
    subject.classNames = a.classNames;
    subject.cell = a.cell;
    const bool given = a.sample || a.option("sample") || core::hasOwnInput(a);
    if (analysis.input == AnalysisInput::Data)
        readData(input, analysis, a, sets);
    else if (analysis.input == AnalysisInput::Sentences)
        readSentences(input, a, sets);
    else if (analysis.input == AnalysisInput::Pair)
        readPair(input, a, sets);
    else if (analysis.input == AnalysisInput::OwnPrompts ||
             (analysis.input == AnalysisInput::OwnText && !given && readsText(*model)))
        input.points = core::runnerOf(analysis).ownText(*model, values);
    else
        readOne(input, a, sets);
    if (input.caption.empty()) input.caption = input.sample = input.points.origin;
    if (model) {
        subject.interventions = interventionsOf(a, 0, *model, input.points, sets);
    } else {
        // Without a run the analysis says that it needs one.
        const auto options =
            subject.run.empty() ? ModelOptions() : core::readRunOptions(subject.run).model;
        subject.interventions = {a.edits.at(0), editData(options, dataOf(a, path), sets)};
        subject.interventions.data.exampleSplit = splitOf(a);
        subject.interventions.data.example = exampleOf(a);
    }
    if (!subject.sample || subject.second) subject.interventions.data.example = -1;
    subject.leaveOutTrainingEdits = core::namesNone(a.subjects.front().edits);
    return input;
}

std::optional<AskedSubject> capturedSubject(const core::Analysis& analysis, const wire::Asked& a) {
    const auto& asked = a.subjects.front();
    auto captured = core::capturesOf(analysis, asked.path, asked.checkpoint);
    if (!captured) return std::nullopt;
    if (!asked.edits.empty()) throw OptionError("--edit", asked.path + " " + core::kNoModel);
    AskedSubject input;
    auto& subject = input.subject;
    subject.path = subject.run = asked.path;
    subject.device = deviceOf(a.subjects.front());
    subject.classNames = a.classNames;
    subject.cell = a.cell;
    subject.data = captured->data();
    subject.captured = std::move(captured);
    input.caption = "captured";
    return input;
}

std::shared_ptr<const core::AnalysisSubject> otherSubject(const wire::Asked& a,
                                                          const AskedSubject& first,
                                                          OpenedDataSets& sets) {
    struct Opened : core::AnalysisSubject {
        std::unique_ptr<core::OpenedModel> own;
    };
    const auto other = std::make_shared<Opened>();
    const auto& asked = a.subjects.at(1);
    other->path = asked.path.empty() ? pathOf(a) : asked.path;
    try {
        other->own = std::make_unique<core::OpenedModel>(other->path, asked.checkpoint,
                                                         deviceOf(a.subjects.front()), sets.stop(),
                                                         sets.progress(), asked.imageSize);
    } catch (const OptionError& error) {
        throw OptionError("other", error.what());
    }
    other->model = other->own.get();
    // Without a head of its own it gets that of the first, where it takes one.
    const bool takes = core::takesHead(other->model->options());
    const auto& head = asked.head.empty() && takes ? a.subjects.front().head : asked.head;
    giveHead(*other->model, head, first.pictures, sets);
    // If the other model has other tokens, it reads the text of the same example.
    const auto sample = core::inTokensOf(other->model->tokenizer().get(), first.points);
    try {
        // The edits use the data of A, on its example; pictures as B reads them.
        other->interventions = interventionsOf(a, 1, *other->model, sample, sets);
    } catch (const OptionError& error) {
        throw OptionError("--other-edit", error.message());
    }
    if (core::namesNone(asked.edits)) other->model->leaveOutTrainingEdits();
    return other;
}

}  // namespace relascope::serve

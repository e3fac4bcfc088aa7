// SPDX-License-Identifier: GPL-3.0-or-later
#include "question/question_fields.h"

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "analysis/analysis.h"
#include "answers/runs_answer.h"
#include "question/table_command.h"
#include "types/data_example.h"
#include "types/data_kind.h"
#include "types/error.h"
#include "types/suggest.h"
#include "types/text_format.h"
#include "views/curve_look.h"
#include "views/map_look.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostIndex = 1 << 30;  // for tokens, samples and objects

FieldSpec askedField(const char* name, FieldKind kind, const char* help, double least = 0,
                     double most = static_cast<double>(kMostIndex)) {
    FieldSpec spec{name, "", help, kind};
    if (kind == FieldKind::Integer || kind == FieldKind::IntegerList)
        spec.minimum = least, spec.maximum = most;
    return spec;
}
FieldSpec askedChoice(const char* name, std::vector<std::string> choices, const char* help,
                      FieldKind kind = FieldKind::Choice) {
    auto spec = askedField(name, kind, help);
    spec.choices = std::move(choices);
    return spec;
}
FieldSpec askedPath(const char* name, const char* help) {
    auto spec = askedField(name, FieldKind::Text, help);
    spec.path = true;
    return spec;
}

using Specs = std::vector<FieldSpec>;

}  // namespace

std::vector<FieldSpec> minimalPairFields() {
    return {
        askedPath("pairs",
                  "minimal-pairs (twelve phenomena), JSON lines with sentence_good and "
                  "sentence_bad, or a folder of them"),
        askedField("fields", FieldKind::Text, "names of their fields: GOOD,BAD,PREFIX,PHENOMENON")};
}

namespace {

void append(Specs& all, const Specs& more) {
    all.insert(all.end(), more.begin(), more.end());
}

template <class Look>
Specs specsOf(const FieldTable<Look>& table) {
    Specs all;
    for (const auto& field : table) all.push_back(field.spec);
    return all;
}

Specs inspectSpecs() {
    auto all = inputFields();
    append(all,
           {askedChoice(
                "kind",
                {"relation", "attention-ra", "attention-sa", "attention-x-relation", "symbols",
                 "fitted"},
                "which maps; attention-x-relation of a picture; fitted: the last relation that "
                "--edit \"fitted FILE shown\" names"),
            askedField("layer", FieldKind::Integer, "layer, from 1", 1, 1000),
            askedField("index", FieldKind::Integer, "index of the relation or head, from 1", 1,
                       100000),
            askedField("source", FieldKind::Integer, "token i, from 0 (0 is the class token)"),
            askedField("to", FieldKind::Integer,
                       "token j, from 0: of a picture, and of the cell of --along"),
            askedField("bf16", FieldKind::Boolean, "with weights rounded to bfloat16"),
            askedField("transposed", FieldKind::Boolean,
                       "what i sends, as on the authors' pages, not what it receives"),
            askedChoice("show", {"after", "before", "difference"},
                        "with edits: after, before or difference; of two models: the first, the "
                        "other or the difference"),
            askedField("layers", FieldKind::IntegerList,
                       "of a picture: the input tinted by the relation in each of these layers", 1,
                       1000),
            askedField("words", FieldKind::TextList,
                       "the token i of each of --layers: the end of that word"),
            askedChoice(
                "tints",
                {"attention", "relation", "scaled", "clip", "tanh", "sign", "sigmoid", "softmax"},
                "with --layers: what tints it (default: relation)", FieldKind::TextList)});
    append(all, specsOf(mapLookFields()));
    return all;
}

Specs analysisSpecs(const Analysis& analysis) {
    Specs all;
    if (analysis.input == AnalysisInput::Data) {
        all = {askedField("split", FieldKind::Text, "split to measure on"),
               askedPath("text", "a text to measure on"),
               askedPath("data",
                         ".npz images to measure on, or a folder of pictures with masks; for a "
                         "public model also a folder with one folder of pictures for each class")};
        if (!analysis.onPairs.empty() || analysis.readsPairs) append(all, minimalPairFields());
    } else if (analysis.input == AnalysisInput::Sentences) {
        all = minimalPairFields();
    } else if (analysis.input == AnalysisInput::Pair) {
        all = {askedField("clean", FieldKind::Text,
                          "input A: sample:N, text:T, tokens:1,2, image:FILE"),
               askedField("corrupt", FieldKind::Text, "input B, which A's parts are put into"),
               askedField("split", FieldKind::Text, "split that samples are from")};
        append(all, minimalPairFields());
        all.push_back(askedField("pair", FieldKind::Integer,
                                 "which of them: A is its good sentence, B its wrong one", 1));
    } else if (analysis.input != AnalysisInput::OwnPrompts) {
        all = inputFields();
    }
    for (const auto& field : analysis.fields) all.push_back(field.spec);
    return all;
}

}  // namespace

namespace {

Specs evalSpecs() {
    auto untrained = askedField("untrained", FieldKind::Integer,
                                "models with fresh weights that score the same pairs", 0, 64);
    Specs all = {
        askedPath("data",
                  ".npz images, a folder with one folder of pictures for each class, or "
                  "text files and token shards"),
        askedPath("save_head", "a .safetensors file that the fitted head is kept in, for --head"),
        askedField("refit", FieldKind::Boolean,
                   "with --edit, of a head that is fitted: also with one that is fitted anew "
                   "behind the edits"),
        askedPath("tokenizer", "tokenizer for a text: gpt2, or a tokenizer file or folder")};
    append(all, minimalPairFields());
    append(all,
           {askedChoice("score", {"sum", "mean"},
                        "of a sentence: the sum of its tokens' log-probabilities, or their mean"),
            untrained,
            askedField("split", FieldKind::Text,
                       "train, validation, pentos, hexos or stripes; of a run without it: the "
                       "first test split, with --edit or without any validation"),
            askedField("step", FieldKind::Text,
                       "the weights of a step, or those kept nearest to it; last or best"),
            askedField("batch_size", FieldKind::Integer,
                       "batch size; of a run's data without it: that of its training", 1, 1048576),
            askedField("examples", FieldKind::Integer,
                       "with --edit: on so many examples, drawn as analyses draw them", 1),
            askedField("windows", FieldKind::Integer, "of text: so many windows, at most", 1),
            askedField("tokens", FieldKind::Integer, "of text: tokens of a window, at most", 1)});
    return all;
}

Specs generateSpecs() {
    return {askedField("prompt", FieldKind::Text, "the text to continue"),
            askedField("tokens", FieldKind::Integer, "number of tokens to generate"),
            askedField("temperature", FieldKind::Real, "0: greedy decoding"),
            askedField("top_k", FieldKind::Integer, "sample from the K most likely tokens"),
            askedField("top_p", FieldKind::Real,
                       "sample from the smallest set of tokens with this total probability"),
            askedField("seed", FieldKind::Integer, "random seed; the same seed gives the same text",
                       0, 9e15),
            askedField("stop", FieldKind::Text, "stop after this text"),
            askedPath("tokenizer", "gpt2, or a tokenizer file or folder"),
            askedField("bf16", FieldKind::Boolean, "use bfloat16 weights: faster, less exact")};
}

Specs infoSpecs() {
    return {
        askedField("outline", FieldKind::Boolean, "the parts of the model with their parameters"),
        askedField("tensor", FieldKind::Text,
                   "the statistics and the histogram of the values of this tensor")};
}

Specs compareSpecs() {
    return {
        askedField("differences", FieldKind::Boolean, "the options that differ from the first run"),
        askedPath("reference", "the run that is put first"),
        askedField("all", FieldKind::Boolean,
                   "all options, also those that are equal; with --differences"),
        askedChoice("columns", runColumns(),
                    "run, model, parameters, seed, state, loss, validation, test, published, "
                    "difference, time, tags, note; the usual ones without",
                    FieldKind::TextList)};
}

Specs studySpecs() {
    Specs all = {
        askedField("metric", FieldKind::Text,
                   "metric of the table: accuracy, sequence_accuracy, loss ..."),
        askedField("split", FieldKind::Text,
                   "split of the table: test, hexos, validation, validation-last, "
                   "validation-best"),
        askedField("runs", FieldKind::Boolean,
                   "print a line for each run, not the means over seeds"),
        askedField("curves", FieldKind::TextList, "of the figure: these models of the study only")};
    append(all, specsOf(studyLookFields()));
    return all;
}

Specs dataSpecs() {
    std::vector<std::string> forms;
    for (const auto& import : dataImports()) forms.push_back(import.form->id);
    const auto formHelp = "of files to import, where their names do not say it: " + joined(forms);
    return {
        askedField("statistics", FieldKind::Boolean,
                   "counts of labels and lengths, ranges of numbers, of the first 2,000 "
                   "examples or of --count"),
        askedField("sample", FieldKind::Integer, "one example, counted from 0"),
        askedField("grid", FieldKind::Boolean, "several examples: --count of them (24)"),
        askedField("count", FieldKind::Integer,
                   "examples (1,000, of a split all); of minimal pairs those of each "
                   "phenomenon (60), of rules in context those of each rule (100)",
                   1, 100000000),
        askedField("first", FieldKind::Integer, "of a grid: its first example, counted from 0"),
        askedField("split", FieldKind::Text, "train, validation or a test split (the first one)"),
        askedField("label", FieldKind::Text, "of a grid or .npz: only examples with this label"),
        askedField("epoch", FieldKind::Integer, "of training data that differ between epochs (0)"),
        askedField("seed", FieldKind::Integer, "random seed", 0, 9e15),
        askedField("family", FieldKind::Text, "pentos, hexos or stripes"),
        askedField("set", FieldKind::TextList, "data.KEY=VALUE"),
        askedPath("data", "file or folder that an experiment's data are read from"),
        askedField("form", FieldKind::Text, formHelp.c_str())};
}

/// A command that is a question and no analysis.
struct AskedCommand {
    std::string name, summary;
    AskedModels models;
    std::function<Specs()> fields;
    bool drawn = false;  ///< a view file may keep it
};
/// The commands with those of tables behind them.
std::vector<AskedCommand> withTables(std::vector<AskedCommand> rows) {
    for (const auto& one : tableCommands()) {
        const auto& described = one.described;
        rows.push_back({described.name,
                        described.summary,
                        {1, {}, false, false},
                        [&described] {
                            Specs all;
                            for (const auto& field : described.fields) all.push_back(field.spec);
                            return all;
                        },
                        true});
    }
    return rows;
}
const std::vector<AskedCommand>& askedCommands() {
    static const std::vector<AskedCommand> all = withTables(
        {{kInspectView,
          "gives a map of the relations or of the attention",
          {2, "step"},
          inspectSpecs,
          true},
         {"eval", "evaluates a run or a checkpoint", {1, "checkpoint"}, evalSpecs},
         {"generate", "continues a text with a language model", {1, "checkpoint"}, generateSpecs},
         {"points",
          "lists the hook points of a model, where edits can be made",
          {1, "checkpoint", false, false},
          [] { return Specs(); }},
         {"info",
          "prints the contents of a checkpoint or run, from the headers, or of a tensor",
          {1, "", false, false, AskedOf::Weights, "path",
           "a weights file, a checkpoint folder or a run folder"},
          infoSpecs},
         {"verify",
          "verifies a model against stored reference outputs",
          {kMostCurves, "", false, true, AskedOf::Files, "folder",
           "config.json, model.safetensors and io.safetensors"},
          [] {
              return Specs{askedPath("models",
                                     "folder of the models that cases of edits name (default: two "
                                     "levels up)")};
          }},
         {"compare",
          "prints the results of runs side by side, or their options",
          {kMostCurves, "", false, false, AskedOf::Runs, "runs",
           "run folders, or folders of runs, of which the best are first"},
          compareSpecs},
         {kCurvesView,
          "draws or prints the learning curves of runs",
          {kMostCurves, "", false, false, AskedOf::Runs, "runs",
           "run folders; seeds of one run are drawn together"},
          [] { return specsOf(curveLookFields()); },
          true},
         {kStudyView,
          "prints the results of a study over its models, sizes and seeds",
          {1, "", false, false, AskedOf::Files, "path", "the folder of a study"},
          studySpecs,
          true},
         {kDataView,
          "shows data: counts of a split, an example or several",
          {1, "", false, false, AskedOf::Files, "place",
           "experiment or kind of data, a run folder, a file or folder to import; or "
           "minimal-pairs, or rules-in-context"},
          dataSpecs,
          true}});
    return all;
}
const AskedCommand* askedCommand(const std::string& name) {
    for (const auto& one : askedCommands())
        if (one.name == name) return &one;
    return nullptr;
}

}  // namespace

std::vector<std::string> questionCommands() {
    std::vector<std::string> all;
    for (const auto& one : askedCommands()) all.push_back(one.name);
    for (const auto* one : analyses()) all.push_back(one->name);
    return all;
}

bool isQuestion(const std::string& command) {
    return askedCommand(command) || analysisOfCommand(command);
}

std::string summaryOf(const std::string& command) {
    const auto* other = askedCommand(command);
    return other ? other->summary : analysisOfCommand(command)->summary;
}

const Analysis* analysisOfCommand(const std::string& command) {
    const auto name = currentName(command);
    for (const auto* one : analyses())
        if (one->name == name) return one;
    return nullptr;
}

AskedModels modelsAsked(const std::string& command) {
    const auto* analysis = analysisOfCommand(command);
    if (!analysis) {
        if (const auto* other = askedCommand(command)) return other->models;
        throw OptionError("command", unknownName("command", command, questionCommands()));
    }
    AskedModels asked{analysis->twoModels ? std::size_t{2} : 1, "checkpoint"};
    if (analysis->input == AnalysisInput::KeptSteps)
        asked.checkpoint.clear(), asked.help = "run folder";
    return asked;
}

std::vector<FieldSpec> inputFields() {
    return {
        askedField("sample", FieldKind::Integer, "example number"),
        askedField("split", FieldKind::Text, "split the example is from"),
        askedPath("data",
                  "data that the example is of, in place of a run's own: .npz images, a folder of "
                  "pictures or a text file"),
        askedPath("image", "a PNG or JPEG file instead of an example of the data"),
        askedField("text", FieldKind::Text, "a text instead of an example of the data"),
        askedPath("tokenizer", "tokenizer for --text: gpt2, or a tokenizer file or folder"),
        askedField("tokens", FieldKind::IntegerList, "token ids of the input (source) sequence"),
        askedField("target", FieldKind::IntegerList, "token ids of the target sequence"),
        askedField("reference", FieldKind::Integer,
                   "reference input N stored with a checkpoint, from 1", 1, 100000),
        askedField("random", FieldKind::Integer, "a random input drawn with that seed", 0, 9e15)};
}

std::vector<FieldSpec> questionFields(const std::string& command) {
    if (const auto* other = askedCommand(command)) return other->fields();
    if (const auto* analysis = analysisOfCommand(command)) return analysisSpecs(*analysis);
    throw OptionError("command", unknownName("question", command, questionCommands()));
}

bool isView(const std::string& command) {
    const auto* other = askedCommand(command);
    return other ? other->drawn : analysisOfCommand(command) != nullptr;
}

void checkIsView(const std::string& command) {
    if (isView(command)) return;
    std::vector<std::string> known;
    for (const auto& one : askedCommands())
        if (one.drawn) known.push_back(one.name);
    for (const auto* one : analyses()) known.push_back(one->name);
    throw OptionError("command", unknownName("view", command, known));
}

OptionValues valuesOf(const Analysis& analysis, const Question& asked) {
    OptionValues values;
    for (const auto& field : analysis.fields)
        if (const auto* given = asked.option(field.spec.name)) values[field.spec.name] = *given;
    return values;
}

void checkTogether(const Question& question) {
    static constexpr const char* kExcluding[][2] = {
        {"data", "text"}, {"pairs", "text"}, {"pairs", "data"}, {"pairs", "clean"}};
    for (const auto& [one, other] : kExcluding)
        if (question.option(one) && question.option(other))
            throw OptionError(std::string("--") + one,
                              std::string("is given with --") + other + "; give one of them");
    std::vector<std::string> ofPairs = {"fields", "pair"};
    if (question.command == "eval") {
        ofPairs.insert(ofPairs.end(), {"score", "untrained"});
        const auto& model = question.subjects.front();
        if (question.option("step") && !model.checkpoint.empty())
            throw OptionError("--step", "is given with --checkpoint; give one of them");
        if (question.option("examples") && model.edits.empty())
            throw OptionError("--examples", "is for --edit, which is missing");
        if (question.value("refit", false) && model.edits.empty())
            throw OptionError("--refit", "is for --edit, which is missing");
        if (question.option("examples") && question.option("pairs"))
            throw OptionError("--examples", "is given with --pairs; give one of them");
    }
    for (const auto& of : ofPairs)
        if (question.option(of) && !question.option("pairs"))
            throw OptionError("--" + of, "is for --pairs, which is missing");
}

std::string unreadByWindow(const Question& view) {
    const auto* analysis = analysisOfCommand(view.command);
    const auto textOf = [&](const char* name) {
        const auto* value = view.option(name);
        const auto* text = value ? std::get_if<std::string>(value) : nullptr;
        return text ? *text : std::string();
    };
    const auto unread = [](const std::string& name, const std::string& value) {
        return "the window does not measure with '" + name + "' (" + value.substr(0, 200) + ")";
    };
    if (view.option("bf16")) return unread("bf16", "true");
    if (findTableCommand(view.command))
        return "the window has no page for '" + view.command + "'; relascope-cli draw draws it";
    if (view.command == kDataView) return "the window opens no views of data";
    if (!analysis) return {};
    std::vector<const char*> names;
    if (analysis->input == AnalysisInput::Data) names = {"text", "data", "pairs", "fields"};
    if (analysis->input == AnalysisInput::Sentences) names = {"fields"};
    if (analysis->input == AnalysisInput::Pair) names = {"pairs", "fields"};
    for (const auto* name : names)
        if (const auto value = textOf(name); !value.empty()) return unread(name, value);
    if (analysis->input != AnalysisInput::Pair) return {};
    const auto isOneOf = [](const std::string& word, std::initializer_list<const char*> forms) {
        return word.empty() || std::any_of(forms.begin(), forms.end(), [&](const char* form) {
                   return word.starts_with(form);
               });
    };
    if (const auto clean = textOf("clean");
        !isOneOf(clean, {"sample:", "text:", "tokens:", "image:", "reference:", "random:"}))
        return unread("clean", clean);
    if (const auto corrupt = textOf("corrupt"); !isOneOf(corrupt, {"sample:", "text:"}))
        return unread("corrupt", corrupt);
    return {};
}

const FieldSpec& fieldNamed(const std::vector<FieldSpec>& options, const std::string& name) {
    std::vector<std::string> known;
    for (const auto& spec : options) {
        if (spec.name == name) return spec;
        known.push_back(spec.name);
    }
    throw OptionError("options", unknownName("option", name, known));
}

}  // namespace relascope::core

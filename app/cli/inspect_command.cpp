// SPDX-License-Identifier: GPL-3.0-or-later
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "analysis/open_model.h"
#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/edit_arguments.h"
#include "app/cli/question_arguments.h"
#include "app/serve/question_subject.h"
#include "checkpoint/kept_weights.h"
#include "files/atomic_file.h"
#include "interventions/edit_words.h"
#include "model/public/public_options.h"
#include "model/recorded/recorded_options.h"
#include "model/served/served_options.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "types/field_text.h"
#include "types/map_difference.h"
#include "types/suggest.h"
#include "types/text_piece.h"
#include "views/look.h"
#include "views/map_look.h"

namespace relascope::cli {
namespace {

namespace fs = std::filesystem;

MapKind kindFromName(const std::string& name) {
    const std::vector<MapKind> kinds = {MapKind::Relation, MapKind::RelationalAttention,
                                        MapKind::SensoryAttention, MapKind::AttentionTimesRelation,
                                        MapKind::Symbols};
    std::vector<std::string> names;
    for (const auto kind : kinds) {
        names.emplace_back(mapKindName(kind));
        if (names.back() == name) return kind;
    }
    throw OptionError("--kind", unknownName("kind", name, names));
}

constexpr const char* kFittedKind = "fitted";

// Whether all maps are written, as a capture (formats.md section 10).
bool isCapture(const std::string& out) {
    return out.ends_with(".safetensors");
}

// Writes what was seen of the input as a capture to that file.
void writeCapture(const std::string& file, const ProbeResult& result) {
    const auto folder = file + ".tmp-" + std::to_string(::getpid());
    core::makeDirectories(folder);
    std::error_code ignored;
    try {
        core::saveCapture(folder, {result});
        for (const auto& entry : fs::directory_iterator(folder)) fs::rename(entry.path(), file);
    } catch (...) {
        fs::remove_all(folder, ignored);
        throw;
    }
    fs::remove_all(folder, ignored);
}

struct InspectResult {
    ProbeResult result;
    nlohmann::ordered_json head;   ///< as addHead() says it; null: none
    std::string keptStep;          ///< the name of the kept weights that were used, if any
    EditList training;             ///< the edits that the weights are trained with
    std::string edits;             ///< the edits of the command line, in words
    nlohmann::ordered_json means;  ///< means that the edits took (meansJson())
};

// A probe with the edits of the command line.
void probeWithEdits(const InspectArguments& a, core::OpenedModel& opened,
                    const serve::SampleInput& input, core::Interventions interventions,
                    InspectResult& looked) {
    const auto& [sample, classNames] = input;
    // Edits of the training may need the data.
    const auto& edits = interventions.edits;
    const core::Interventions none{edits.switchedOff(), interventions.data};
    if (edits.anyEnabled()) looked.edits = core::wordsOf(edits);
    if (!edits.anyEnabled() || a.show == "before") {
        nameRelations(opened, edits);
        looked.result = opened.probe(sample, classNames, none);
        return;
    }
    std::shared_ptr<const ProbeResult> before;
    if (a.show == "difference")
        before = std::make_shared<const ProbeResult>(opened.probe(sample, classNames, none));
    looked.result = opened.probe(sample, classNames, interventions);
    nameMeans(opened, edits);
    looked.means = meansJson(opened, edits);
    if (before)
        looked.result =
            differenceOf(std::make_shared<const ProbeResult>(std::move(looked.result)), before);
}

// `input`: what is seen in place of the input of the command line; null: that one.
InspectResult inspectInput(InspectArguments a, const ProbeSample* input = nullptr) {
    InspectResult looked;
    const bool recorded =
        core::isRunFolder(a.path) && core::isRecorded(core::readRunOptions(a.path).model);
    if (recorded && a.named == "best")
        throw OptionError("--step",
                          "is 'best', which a run that another program recorded does "
                          "not name; give one of its captured steps");
    // All that can be looked at are the captures: without a step the newest.
    if (recorded && a.step < 0)
        if (const auto steps = core::captureSteps(a.path + "/captures"); !steps.empty())
            a.step = steps.back();
    const bool served = core::isServedName(a.path);
    if ((a.step >= 0 || !a.named.empty()) && !served && !core::isRunFolder(a.path))
        throw OptionError("--step", "needs a run folder: only runs have captures and kept weights");
    const bool ownInput = core::hasOwnInput(a.input);
    // A capture holds maps alone; edits need the weights.
    if (a.step >= 0 && !served && !ownInput && a.edits.empty() && (!input || recorded)) {
        const std::string captures = a.path + "/captures";
        const auto steps = core::captureSteps(captures);
        const auto number = a.input.value<std::int64_t>("sample");
        const bool captured = std::find(steps.begin(), steps.end(), a.step) != steps.end();
        const bool kept = !recorded && !core::KeptWeights(a.path).steps().empty();
        if (captured && (!kept || number < core::captureSamples(captures, a.step))) {
            // A capture is taken before edits that begin at its step, except at the start.
            looked.training = core::editsAfterStep(a.path, std::max<std::int64_t>(0, a.step - 1));
            if (looked.training.anyEnabled())
                std::cerr << plainName(a.path) << ": captured with the edits of its training: "
                          << core::wordsOf(looked.training) << "\n";
            looked.result = core::loadCapture(captures, a.step, number);
            return looked;
        }
        if (!captured && !kept) {
            std::string known;
            for (const auto s : steps) known += (known.empty() ? "" : ", ") + std::to_string(s);
            throw OptionError(
                "--step", std::to_string(a.step) + " was not captured; captured steps: " + known);
        }
    }
    const auto chosen =
        a.step >= 0 ? core::stepToOpen(a.path, a.step) : core::StepToOpen{a.named, ""};
    looked.keptStep = chosen.kept;
    core::OpenedModel opened(a.path, chosen.checkpoint, a.device, {}, {}, a.imageSize);
    if (const auto none = core::noRelationsText(opened.options());
        !none.empty() && a.edits.empty() && !isCapture(a.out) &&
        kindFromName(a.kind) != MapKind::SensoryAttention)
        throw OptionError("--kind", none + "; give --kind attention-sa");
    if (a.input.value("bf16", false)) opened.narrow();
    serve::OpenedDataSets sets;
    wire::Asked asked(a.input);
    asked.subjects = {{a.path, {}, {}, {}, a.edits, a.device, a.head, a.imageSize}};
    const auto read = input ? serve::SampleInput{*input, serve::classNamesOf(a.path, sets)}
                            : serve::readSample(opened, asked, sets);
    if (!a.imageSize.empty() && !opened.warning().empty())
        std::cerr << plainName(a.path) << ": " << plainName(opened.warning()) << "\n";
    if (const auto said = serve::headRemark(opened); !said.empty())
        std::cerr << plainName(a.path) << ": " << plainName(said) << "\n";
    addHead(looked.head, opened);
    resolveTrainingEdits(a.edits, a.path, opened);
    looked.training = opened.trainingEdits();
    if (!a.edits.empty() || looked.training.anyEnabled())
        probeWithEdits(a, opened, read, serve::interventionsOf(asked, 0, opened, read.sample, sets),
                       looked);
    else
        looked.result = opened.probe(read.sample, read.classNames);
    return looked;
}

// What the pictures of the window say of edits.
std::string captionOf(const InspectArguments& a, const InspectResult& looked) {
    const auto name = folderName(a.path);
    if (looked.edits.empty()) return name;
    return name + ", " +
           (a.show == "before"       ? "before the edits: "
            : a.show == "difference" ? "changed by: "
                                     : "edited: ") +
           looked.edits;
}

// `looked` minus what the other model shows of the same input, or that alone; returns the caption.
std::string compareWith(const InspectArguments& given, InspectResult& looked) {
    auto a = given, b = given;
    a.show = b.show = "after";
    b.path = a.other, b.step = a.otherStep, b.named = a.otherNamed, b.edits = a.otherEdits;
    b.head = a.otherHead, b.imageSize = a.otherImageSize;
    // Models make random inputs of their own, and runs have data of their own.
    const bool each = a.input.option("image") || a.input.option("text") || a.input.option("tokens");
    const auto sample = looked.result.sample;
    auto other = inspectInput(b, each ? nullptr : &sample);
    const auto caption = captionOf(a, looked);
    auto otherName = folderName(b.path);
    if (b.step >= 0 || !b.named.empty()) otherName += ", step " + groupedNumber(other.result.step);
    if (!other.edits.empty()) otherName += ", edited: " + other.edits;
    const auto &source = looked.result.sample.source, &otherSource = other.result.sample.source;
    if (source.tokens != otherSource.tokens || source.labels != otherSource.labels)
        throw OptionError("other", "the tokens of " + plainName(a.path) + " and " +
                                       plainName(b.path) +
                                       " differ, so that their maps have no difference; look at "
                                       "each of them");
    if (given.show == "before") {
        looked = std::move(other);
        return otherName;
    }
    if (given.show == "after") return caption;
    const auto requireSame = [&](MapKind kind, std::int64_t index) {
        const auto* own = looked.result.find(kind, a.layer - 1, static_cast<int>(index) - 1);
        const auto* theirs = other.result.find(kind, a.layer - 1, static_cast<int>(index) - 1);
        // What the first lacks is said where its maps are looked for.
        if (own && (!theirs || own->rows != theirs->rows || own->columns != theirs->columns))
            throw OptionError("other", plainName(b.path) +
                                           " has no map of the same objects in "
                                           "layer " +
                                           std::to_string(a.layer) + " to be taken from it");
    };
    const auto kind = kindFromName(a.kind);
    const bool product = kind == MapKind::AttentionTimesRelation;
    requireSame(product ? MapKind::Relation : kind, a.index);
    if (product) requireSame(MapKind::RelationalAttention, a.look.head);
    looked.result = differenceOf(std::make_shared<const ProbeResult>(std::move(looked.result)),
                                 std::make_shared<const ProbeResult>(std::move(other.result)));
    return caption + ", minus " + otherName;
}

std::string csvOf(const ProbeResult& result, const RelationMap& map) {
    std::ostringstream text;
    text.precision(9);
    // Tokens of a text have their pieces as names, quoted as in RFC 4180; all other objects have
    // numbers.
    const auto name = [&](int side, int at) {
        const auto& sides = result.sides;
        if (!result.sample.source.text || side >= static_cast<int>(sides.size()) ||
            at >= static_cast<int>(sides[static_cast<std::size_t>(side)].labels.size()))
            return std::to_string(at);
        return csvField(sides[static_cast<std::size_t>(side)].labels[static_cast<std::size_t>(at)]);
    };
    const auto& layer = result.layers.at(static_cast<std::size_t>(map.layer));
    text << "i\\j";
    const bool symbols = map.kind == MapKind::Symbols && !map.libraryRows;
    for (int j = 0; j < map.columns; ++j)
        text << ',' << (symbols ? std::to_string(j) : name(layer.columns, j));
    text << "\n";
    std::vector<float> row(static_cast<std::size_t>(map.columns));
    for (int i = 0; i < map.rows; ++i) {
        map.readRows(i, 1, row.data());
        text << name(layer.rows, i);
        for (const float value : row) text << ',' << value;
        text << "\n";
    }
    return text.str();
}

// The error for a missing kind of maps: "layer 3 (decoder 1 cross) has no relation maps; it has
// attention-sa".
std::string kindsOf(const ProbeResult& result, int layer, MapKind wanted) {
    std::string there;
    for (const auto kind : {MapKind::Relation, MapKind::RelationalAttention,
                            MapKind::SensoryAttention, MapKind::Symbols})
        if (result.count(kind, layer) > 0)
            there += std::string(there.empty() ? "; it has " : ", ") + mapKindName(kind);
    return "layer " + std::to_string(layer + 1) + " (" +
           result.layers.at(static_cast<std::size_t>(layer)).name + ") has no " +
           mapKindName(wanted) + " maps" + there;
}

// The source object whose values for the other objects have the largest range.
int tellingSource(const RelationMap& map) {
    std::vector<float> row(static_cast<std::size_t>(map.columns));
    int best = 0;
    float most = -1.0F;
    for (int i = 0; i < map.rows; ++i) {
        map.readRows(i, 1, row.data());
        if (i < map.columns) row[static_cast<std::size_t>(i)] = row.back();
        const auto [low, high] = std::minmax_element(row.begin(), row.end());
        if (*high - *low > most) most = *high - *low, best = i;
    }
    return best;
}

// The token at the end of a word of the text; -1 if the text has no such word.
int tokenOfWord(const std::vector<std::string>& pieces, const std::string& word) {
    std::string text = " ";
    std::vector<std::size_t> ends;
    for (const auto& piece : pieces) ends.push_back((text += piece).size());
    const auto at = (text + " ").find(" " + word + " ");
    if (at == std::string::npos) return -1;
    return static_cast<int>(std::lower_bound(ends.begin(), ends.end(), at + 1 + word.size()) -
                            ends.begin());
}

// One panel per layer and form. The source in a layer is the token that was asked for, otherwise
// the last token of a text or the object of tellingSource(); layers beyond the last one mean the
// last.
wire::TintFigure tintFigure(const InspectArguments& a, const ProbeResult& result,
                            const RelationMap& map, const std::string& caption) {
    wire::TintFigure figure{result, a.index - 1, {}, caption, core::isRunFolder(a.path)};
    const auto& read = result.sample.source;
    if (!a.words.empty() && !read.text)
        throw OptionError("--words", "the input is no text; choose a run on text");
    for (std::size_t k = 0; k < a.layers.size(); ++k) {
        const int layer = std::min(a.layers[k], static_cast<int>(result.layers.size())) - 1;
        int source = a.source;
        if (source < 0 && k < a.words.size()) source = tokenOfWord(read.labels, a.words[k]);
        if (source < 0) source = read.text ? map.rows - 1 : tellingSource(map);
        const bool twice = !figure.panels.empty() && figure.panels.back().layer == layer &&
                           figure.panels.back().source == source;
        if (!twice && result.count(MapKind::Relation, layer) > 0)
            for (const auto& form : a.tints)
                figure.panels.push_back({layer, source, form, a.transposed});
    }
    return figure;
}

MapLook lookOf(const InspectArguments& a) {
    auto look = a.look;
    look.to = a.to, look.reversed = a.transposed;
    return look;
}

/// The arguments with what the question says.
InspectArguments withQuestion(InspectArguments a) {
    const auto& asked = a.input;
    const auto &first = asked.subjects.at(0), &second = asked.subjects.at(1);
    const auto whole = [&](const char* name, std::int64_t missing) {
        return static_cast<int>(asked.value(name, missing));
    };
    a.path = first.path, a.edits = first.edits;
    a.head = first.head, a.imageSize = first.imageSize;
    a.other = second.path, a.otherEdits = second.edits;
    a.otherHead = second.head, a.otherImageSize = second.imageSize;
    if (!first.device.empty()) a.device = first.device;
    const auto step = stepOf(first.checkpoint), otherStep = stepOf(second.checkpoint);
    a.step = step.number, a.named = step.name;
    a.otherStep = otherStep.number, a.otherNamed = otherStep.name;
    a.kind = asked.value("kind", a.kind), a.show = asked.text("show");
    a.layer = whole("layer", 1), a.index = whole("index", 1);
    a.source = whole("source", -1), a.to = whole("to", -1);
    for (const auto layer : asked.value<std::vector<std::int64_t>>("layers"))
        a.layers.push_back(static_cast<int>(layer));
    a.words = asked.value("words", a.words), a.tints = asked.value("tints", a.tints);
    a.transposed = asked.value("transposed", false);
    a.look = core::lookOf(asked, core::mapLookFields());
    return a;
}

int inspect(const InspectArguments& given, const Call& call) {
    auto a = withQuestion(given);
    // With --words and no input, the figure of a run shows its pinned sentence.
    if (const auto& given = a.input; !a.words.empty() && !given.option("text") &&
                                     !given.option("tokens") && !given.option("sample") &&
                                     !given.option("random") && core::isRunFolder(a.path))
        if (auto pinned = core::readRunOptions(a.path).data.pinned_text; !pinned.empty())
            a.input.set("text", std::move(pinned));
    if (a.other.empty() && (a.otherStep >= 0 || !a.otherNamed.empty() || !a.otherEdits.empty()))
        a.other = a.path;
    if (a.show.empty()) a.show = a.other.empty() ? "after" : "difference";
    if (!a.other.empty() && (a.along || !a.layers.empty()))
        throw OptionError("other", "is for one map; leave out --along and --layers");
    const bool fitted = a.kind == kFittedKind;
    if (fitted) {
        a.kind = mapKindName(MapKind::Relation);
        if (a.along || !a.other.empty())
            throw OptionError("--kind",
                              "fitted is of one input and one model; leave --along and "
                              "--other away");
    }
    const MapKind kind = kindFromName(a.kind);
    if (!a.out.empty()) endingOf(a.out, {".csv", ".safetensors"});
    if (a.along) return inspectAlong(a, call);
    if (!a.answer.empty()) throw OptionError("--answer", "is for --along only");
    if (a.to >= 0 && !isPicture(a.out))
        throw OptionError("--to", "is for pictures and --along only");
    requireDrawing(a.out);
    const bool product = kind == MapKind::AttentionTimesRelation;
    if (product && (!isPicture(a.out) || !a.layers.empty()))
        throw OptionError("--kind",
                          "attention-x-relation is for pictures of one map; give --out with .png, "
                          ".svg or .pdf, or --kind relation");

    InspectResult looked;
    std::string caption;
    if (a.other.empty()) {
        looked = inspectInput(a);
        caption = captionOf(a, looked);
    } else {
        auto first = a;
        first.show = "after";
        looked = inspectInput(first);
        caption = compareWith(a, looked);
    }
    auto& result = looked.result;
    if (looked.training.anyEnabled())
        result.sample.origin += ", trained with edits: " + core::wordsOf(looked.training);
    if (!looked.keptStep.empty()) std::cerr << looked.keptStep << "\n";
    if (!result.notFinite.empty()) std::cerr << "warning: " << plainName(result.notFinite) << "\n";
    if (fitted) {
        const auto found = std::find_if(result.maps.rbegin(), result.maps.rend(),
                                        [](const auto& map) { return !map.fitted.empty(); });
        if (found == result.maps.rend())
            throw OptionError("--kind",
                              "fitted: no relation is named; give --edit \"fitted "
                              "FILE shown\", with a file of fit-relation --save");
        a.layer = found->layer + 1, a.index = found->index + 1;
        // Those before have no values.
        if (a.source < 0) a.source = result.grid.firstTokens();
        if (a.to < 0) a.to = std::min(result.grid.firstTokens() + 1, found->columns - 1);
    }
    // A product is made of a relation and the attention of a head.
    const auto stored = product ? MapKind::Relation : kind;
    const auto* map = result.find(stored, a.layer - 1, a.index - 1);
    if (isCapture(a.out)) {
        writeCapture(a.out, result);
        map = nullptr;
    } else if (!map) {
        if (a.layer > static_cast<int>(result.layers.size()))
            throw OptionError("--layer", std::to_string(a.layer) + " is beyond the model's " +
                                             std::to_string(result.layers.size()));
        const int count = result.count(stored, a.layer - 1);
        if (count == 0) throw OptionError("--kind", kindsOf(result, a.layer - 1, stored));
        throw OptionError(
            "--index", std::to_string(a.index) + " is beyond the layer's " + std::to_string(count));
    }
    if (map && a.source >= map->rows)
        throw OptionError("--source", std::to_string(a.source) + " is out of range: there are " +
                                          std::to_string(map->rows) + " tokens");
    if (map && a.to >= map->columns)
        throw OptionError("--to", std::to_string(a.to) + " is out of range: there are " +
                                      std::to_string(map->columns) + " columns");
    const auto heads = result.count(MapKind::RelationalAttention, a.layer - 1);
    if (map && product && a.look.head > heads)
        throw OptionError("--head", std::to_string(a.look.head) + " is beyond the layer's " +
                                        std::to_string(heads));
    if (isPicture(a.out) && !a.layers.empty()) {
        draw(a.out, tintFigure(a, result, *map, caption), a.paper);
    } else if (isPicture(a.out)) {
        const bool ofOther = !a.other.empty() && a.show == "before";
        draw(a.out,
             wire::MapFigure{result, kind, a.layer - 1, a.index - 1, std::max(0, a.source), caption,
                             core::isRunFolder(ofOther ? a.other : a.path), lookOf(a),
                             a.show == "difference" && caption != folderName(a.path)},
             a.paper);
    } else if (map && !a.out.empty()) {
        core::writeTextFile(a.out, csvOf(result, *map));
    }
    if (!a.out.empty()) std::cerr << "wrote " << plainName(a.out) << "\n";
    const auto at = static_cast<std::size_t>(a.layer - 1);
    const std::string layerName = at < result.layers.size() ? result.layers[at].name : "";
    if (a.json) {
        // Pictures say of edits and of the other model in their captions.
        const auto name = folderName(a.path);
        const auto more = caption.starts_with(name) ? caption.substr(name.size()) : ", " + caption;
        nlohmann::ordered_json json = {{"step", result.step},
                                       {"sample", result.sample.origin + more},
                                       {"label", result.sample.label},
                                       {"classes", result.classNames},
                                       {"probabilities", result.probabilities}};
        if (map)
            json.update({{"kind", a.kind},
                         {"layer", a.layer},
                         {"layer_name", layerName},
                         {"index", a.index},
                         {"rows", map->rows},
                         {"columns", map->columns},
                         {"values", map->all()}});
        if (!looked.keptStep.empty()) json["kept"] = looked.keptStep;
        if (looked.training.anyEnabled()) json["training_edits"] = wordsOfEach(looked.training);
        if (!result.notFinite.empty()) json["not_finite"] = result.notFinite;
        if (!looked.means.is_null()) json["means"] = std::move(looked.means);
        if (!looked.head.is_null()) json.update(looked.head);
        std::cout << json.dump() << "\n";
    } else if (a.out.empty()) {
        std::cout << csvOf(result, *map);
    }
    return 0;
}

void inspectOptions(CLI::App& command, InspectArguments& a) {
    declareQuestion(command, core::kInspectView, a.input, a.fetches);
    command.add_flag("--along", a.along,
                     "the map, the cell --source, --to, and an answer at every kept step");
    command.add_option("--answer", a.answer,
                       "with --along: a class, token or id, else the likeliest");
    command.add_option("--out", a.out,
                       ".png, .svg, .pdf, .csv, or .safetensors: every map, as a capture");
}

}  // namespace

Command inspectCommand() {
    return commandOf("inspect", "draws or prints the relations and attention of a model",
                     inspectOptions, inspect, Needs::Threads);
}

}  // namespace relascope::cli

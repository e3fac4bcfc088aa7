// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of served models without a pass: the declaration, and the descriptors.
#include <algorithm>
#include <limits>

#include "model/group_fields.h"
#include "model/outline.h"
#include "model/served/served_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using ServedJson = nlohmann::json;

constexpr std::int64_t kMostServed = std::int64_t{1} << 31;
constexpr std::size_t kMostServedPoints = 20'000, kMostServedText = 400;

/// An object of the declaration, whose keys are read by name.
class Declared {
public:
    Declared(const ServedJson& object, std::string where)
        : m_object(object), m_where(std::move(where)) {
        if (!object.is_object()) refuse("", "is missing");
    }
    bool has(const char* name) const {
        return m_object.contains(name) && !m_object.at(name).is_null();
    }
    std::int64_t number(const char* name, std::int64_t least, std::int64_t most,
                        std::int64_t missing) const {
        return has(name) ? number(name, least, most) : missing;
    }
    std::int64_t number(const char* name, std::int64_t least = 0,
                        std::int64_t most = kMostServed) const {
        const auto& value = at(name);
        if (!value.is_number_integer()) refuse(name, "is no whole number");
        const bool large = value.is_number_unsigned() &&
                           value.get<std::uint64_t>() >
                               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        const auto given = large ? most : value.get<std::int64_t>();
        if (large || given < least || given > most)
            refuse(name, "is " + value.dump() + ", and may be " + std::to_string(least) + " to " +
                             std::to_string(most));
        return given;
    }
    std::string text(const char* name, const std::string& missing) const {
        return has(name) ? text(name) : missing;
    }
    std::string text(const char* name) const {
        const auto& value = at(name);
        if (!value.is_string() || value.get_ref<const std::string&>().size() > 4096)
            refuse(name, "is no text");
        return plainName(value.get<std::string>());
    }
    bool flag(const char* name) const {
        if (!has(name)) return false;
        if (!at(name).is_boolean()) refuse(name, "is neither true nor false");
        return at(name).get<bool>();
    }
    const ServedJson& list(const char* name, std::size_t most) const {
        const auto& value = at(name);
        if (!value.is_array() || value.size() > most)
            refuse(name, "is no list of at most " + std::to_string(most));
        return value;
    }
    std::vector<std::string> texts(const char* name, std::size_t most) const {
        std::vector<std::string> all;
        if (!has(name)) return all;
        for (const auto& one : list(name, most)) {
            if (!one.is_string()) refuse(name, "has an element that is no text");
            all.push_back(plainName(one.get<std::string>().substr(0, kMostServedText)));
        }
        return all;
    }
    std::vector<std::int64_t> numbers(const char* name, std::size_t most,
                                      std::int64_t least) const {
        std::vector<std::int64_t> all;
        if (!has(name)) return all;
        for (const auto& one : list(name, most)) {
            if (!one.is_number_integer() || one.get<std::int64_t>() < least ||
                one.get<std::int64_t>() > kMostServed)
                refuse(name, "has " + one.dump() + ", which is no size");
            all.push_back(one.get<std::int64_t>());
        }
        return all;
    }
    Declared inside(const char* name) const {
        return {at(name), m_where.empty() ? std::string(name) : m_where + "." + name};
    }
    [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
        const auto key = m_where.empty() || name.empty() ? m_where + name : m_where + "." + name;
        throw OptionError("declare" + (key.empty() ? key : "." + key),
                          why +
                              "; the program that serves the model has another version of "
                              "relascope.serve, perhaps");
    }

private:
    const ServedJson& at(const char* name) const {
        if (!has(name)) refuse(name, "is missing");
        return m_object.at(name);
    }
    const ServedJson& m_object;
    std::string m_where;
};

void readServedInput(const Declared& all, ServedDeclaration& d) {
    const auto input = all.inside("input");
    const auto kind = input.text("kind");
    if (kind == "image") {
        d.input = InputKind::Images;
        d.channels = input.number("channels", 1, 64);
        d.height = input.number("height", 1, 65536), d.width = input.number("width", 1, 65536);
        d.patchHeight = d.patchWidth = 0;
        const auto grid = input.numbers("grid", 2, 1);
        const auto patch = input.numbers("patch", 2, 1);
        if (grid.size() == 2 && d.height % grid[0] == 0 && d.width % grid[1] == 0)
            d.patchHeight = d.height / grid[0], d.patchWidth = d.width / grid[1];
        else if (patch.size() == 2 && d.height % patch[0] == 0 && d.width % patch[1] == 0)
            d.patchHeight = patch[0], d.patchWidth = patch[1];
        d.firstTokens = input.number("first_tokens", 0, 8, 0);
    } else if (kind == "tokens") {
        d.input = InputKind::Tokens;
        d.length = input.number("length", 1, 1048576);
        d.vocabulary = input.number("vocabulary", 1, 10000000);
        d.causal = input.flag("causal");
        d.tokensAlone = !input.has("alone") || input.flag("alone");
    } else if (kind == "objects") {
        d.input = InputKind::Objects;
        d.objects = input.number("count", 1, 65536);
        d.objectDim = input.number("dim", 1, 1048576);
    } else {
        input.refuse("kind", "is '" + kind + "', and may be image, tokens or objects");
    }
    const auto output = all.inside("output");
    if (output.text("kind") == "tokens") {
        d.outputs = output.number("vocabulary", 1, 10000000);
    } else {
        d.outputs = output.number("count", 1, 1000000);
        d.classNames = output.texts("names", 1000000);
        // One score of yes or no has the names of both answers.
        const bool answers = d.outputs == 1 && d.classNames.size() == 2;
        if (!d.classNames.empty() && !answers && std::ssize(d.classNames) != d.outputs)
            output.refuse("names", "has " + std::to_string(d.classNames.size()) + " names for " +
                                       std::to_string(d.outputs) + " classes");
    }
    d.tokenScores = output.text("kind") == "tokens";
}

ServedPoint servedPointFrom(const Declared& one) {
    static const std::vector<std::string> axes = {"batch", "position", "head",   "dim",  "i",
                                                  "j",     "relation", "symbol", "slot", "expert"};
    ServedPoint point;
    point.name = one.text("name");
    point.axes = one.texts("axes", 8);
    point.sizes = one.numbers("sizes", 8, -1);
    if (point.name.empty()) one.refuse("name", "is empty");
    if (point.axes.empty() || point.axes.size() != point.sizes.size())
        one.refuse("sizes", "of " + point.name + " has not one number for each axis");
    for (const auto& axis : point.axes)
        if (std::find(axes.begin(), axes.end(), axis) == axes.end())
            one.refuse("axes", "of " + point.name + " has '" + axis + "', which is none");
    point.causal = one.flag("causal");
    point.gradient = one.flag("gradient");
    point.replace = !one.has("replace") || one.flag("replace");
    return point;
}

}  // namespace

const ServedPoint* ServedDeclaration::point(const std::string& wanted) const {
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const auto& one) { return one.name == wanted; });
    return found == points.end() ? nullptr : &*found;
}

const ServedSplit* ServedDeclaration::split(const std::string& wanted) const {
    const auto found = std::find_if(splits.begin(), splits.end(),
                                    [&](const auto& one) { return one.name == wanted; });
    return found == splits.end() ? nullptr : &*found;
}

ServedDeclaration declarationFrom(const nlohmann::json& message) {
    const Declared all(message, "");
    ServedDeclaration d;
    d.name = all.text("name"), d.program = all.text("program", "");
    d.model = all.text("model", "model");
    d.device = all.text("device", ""), d.dtype = all.text("dtype", "");
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    d.parameters = all.number("parameters", 0, most, 0), d.step = all.number("step", -1, most, -1);
    readServedInput(all, d);
    const bool described = all.has("layers");
    for (const auto& block : all.texts("blocks", 10'000)) {
        ServedLayer layer;
        layer.block = block;
        if (described && message.at("layers").is_object() && message.at("layers").contains(block)) {
            const Declared one(message.at("layers").at(block), "layers." + block);
            layer.heads = one.number("heads", 0, 65536, 0);
            layer.relations = one.number("relations", 0, 65536, 0);
            layer.skipped = !one.has("skip") || one.flag("skip");
        }
        d.layers.push_back(std::move(layer));
    }
    for (const auto& one : all.list("points", kMostServedPoints))
        d.points.push_back(servedPointFrom(Declared(one, "points")));
    d.leftOut = all.texts("left_out", 10'000);
    if (all.has("splits"))
        for (const auto& one : all.list("splits", 1000)) {
            const Declared split(one, "splits");
            d.splits.push_back({split.text("name"), split.number("size"), split.flag("labels")});
        }
    d.tokenizer = all.text("tokenizer", "");
    if (all.has("can")) {
        const auto can = all.inside("can");
        d.gradients = can.flag("gradients"), d.fresh = can.flag("fresh");
        d.encode = can.flag("encode"), d.steps = can.numbers("steps", 100'000, 0);
    }
    return d;
}

namespace {

constexpr const char* kServedNames[] = {"ServedImages", "ServedText", "ServedObjects"};

const char* servedArchitecture(InputKind kind) {
    return kServedNames[kind == InputKind::Images ? 0 : kind == InputKind::Tokens ? 1 : 2];
}

ServedDeclaration declarationOf(const ServedFacts& facts) {
    return declarationFrom(ServedJson::parse(facts.declaration, nullptr, false));
}

FieldTable<ServedFacts> servedFacts() {
    using namespace fields;
    return {advanced(text(&ServedFacts::declaration, "declaration", "Declaration",
                          "What the process that serves the model says of it."))};
}

// The last part of a block's name counts from 0: "layer 1", "encoder 2".
std::string servedLayerName(const std::string& block) {
    const auto dot = block.rfind('.');
    const auto number = dot == std::string::npos ? std::string() : block.substr(dot + 1);
    if (number.empty() || number.size() > 6 ||
        number.find_first_not_of("0123456789") != std::string::npos)
        return block;
    const auto stack = block.substr(0, dot);
    return (stack == "blocks" ? "layer" : stack) + " " + std::to_string(std::stoi(number) + 1);
}

std::vector<LayerPlace> servedLayers(const ServedFacts& facts) {
    if (facts.declaration.empty()) return {};
    const auto declared = declarationOf(facts);
    std::vector<LayerPlace> places;
    for (const auto& layer : declared.layers) {
        const auto begins = [&](const ServedPoint& point) {
            return point.name.starts_with(layer.block + ".");
        };
        LayerPlace place;
        place.module = layer.block;
        place.layer.name = servedLayerName(layer.block);
        place.causal =
            std::any_of(declared.points.begin(), declared.points.end(),
                        [&](const ServedPoint& point) { return begins(point) && point.causal; });
        place.relational = layer.relations > 0;
        places.push_back(std::move(place));
    }
    return places;
}

template <class Options>
WorkEstimate servedWork(const Options& o) {
    WorkEstimate work;
    if (o.declaration.empty()) return work;
    const auto declared = declarationOf(o);
    work.layers = std::max<std::int64_t>(1, std::ssize(declared.layers));
    for (const auto& layer : declared.layers) {
        work.heads = std::max(work.heads, layer.heads);
        work.relations = std::max(work.relations, layer.relations);
    }
    for (const auto& point : declared.points)
        if (point.name.ends_with(".hook_resid_post")) work.d_model = point.sizes.back();
    return work;
}

template <class Options>
Architecture<Options> servedModel(int order, FieldTable<Options> input,
                                  FieldTable<Options> own = {}) {
    Architecture<Options> a;
    a.name = servedArchitecture(core::inputOf<Options>());
    a.title = "Served by another program";
    a.order = order;
    a.fields = fields::joined<Options>({input, own, fields::of<Options>(servedFacts())});
    a.text = [](const Options& o) {
        return o.declaration.empty() ? std::string("served model") : declarationOf(o).model;
    };
    a.shapes = [](const Options&, ShapeList&) {};
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        if (o.declaration.empty()) return;
        const auto declared = declarationOf(o);
        auto& root = builder.root();
        root.title = declared.model, root.parameters = declared.parameters;
        for (const auto& layer : declared.layers) {
            OutlineNode node;
            node.title = servedLayerName(layer.block);
            node.detail = countText(layer.heads, "head");
            if (layer.relations > 0) node.detail += ", " + countText(layer.relations, "relation");
            root.children.push_back(std::move(node));
        }
    };
    a.layers = [](const Options& o) { return servedLayers(o); };
    a.work = servedWork<Options>;
    a.opened = true;
    return a;
}

const RegisterArchitecture servedImages([] {
    using O = ServedImageOptions;
    return servedModel<O>(
        910, fields::of<O>(fields::imageInput()),
        {fields::advanced(fields::integer(&O::first_tokens, "first_tokens", "First tokens",
                                          "Positions before those of the patches.", 0, 8))});
}());
const RegisterArchitecture servedText([] {
    return servedModel<ServedTextOptions>(911, fields::of<ServedTextOptions>(fields::tokenInput()));
}());
const RegisterArchitecture servedObjects([] {
    return servedModel<ServedObjectOptions>(912,
                                            fields::of<ServedObjectOptions>(fields::objectInput()));
}());

}  // namespace

ServedDeclaration declarationOf(const ModelOptions& options) {
    return declarationOf(options.get<ServedFacts>());
}

ModelOptions servedOptions(const nlohmann::json& message) {
    const auto declared = declarationFrom(message);
    ModelOptions options(servedArchitecture(declared.input));
    options.get<ServedFacts>().declaration =
        message.dump(-1, ' ', false, ServedJson::error_handler_t::replace);
    if (auto* images = options.find<ServedImageOptions>()) {
        // As people see them.
        images->image_shape = {declared.channels == 1 ? 1 : 3, declared.width, declared.height};
        images->patch_size = {declared.patchWidth > 0 ? declared.patchWidth : declared.width,
                              declared.patchHeight > 0 ? declared.patchHeight : declared.height};
        images->num_classes = declared.outputs;
        images->first_tokens = declared.firstTokens;
    } else if (auto* text = options.find<ServedTextOptions>()) {
        text->vocab_size = declared.vocabulary, text->max_block_size = declared.length;
    } else {
        auto& objects = options.get<ServedObjectOptions>();
        objects.n_objects = declared.objects, objects.object_dim = declared.objectDim;
        objects.out_dim = declared.outputs;
    }
    options.check();
    return options;
}

std::string doorOf(const std::string& path) {
    const auto name = path.substr(sizeof kServedPrefix - 1);
    const bool plain = !name.empty() && name.size() <= 64 && name[0] != '.' &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
                       });
    if (plain) return name;
    throw OptionError("path", "'" + path +
                                  "' names no door: names have letters, digits, dots, dashes and "
                                  "underscores; `relascope-cli served` lists them");
}

}  // namespace relascope::core

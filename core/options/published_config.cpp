// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/published_config.h"

#include "model/architecture.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "options/family_ledger.h"
#include "options/field_text.h"
#include "options/json_arguments.h"
#include "options/options_json.h"
#include "types/suggest.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

using Json = JsonArguments::Json;

// The fields under their own names, or the names of earlier versions.
void readFields(ModelOptions& m, JsonArguments& a) {
    for (const char* size : {"n_objects", "object_dim", "image_shape"})
        if (m.has(size)) a.require({size});
    for (const auto& field : m.info().fields) {
        if (!field.applies(m)) continue;
        for (const auto& name : {field.spec.formerName, field.spec.name}) {
            if (name.empty()) continue;
            std::visit(
                [&](auto value) {
                    if constexpr (std::is_same_v<decltype(value), std::vector<std::int64_t>>)
                        a.read(name.c_str(), value, 0);
                    else if constexpr (!std::is_same_v<decltype(value), std::vector<std::string>>)
                        a.read(name.c_str(), value);
                    field.set(m, value);
                },
                field.get(m));
        }
    }
}

Json fieldsToJson(const ModelOptions& m) {
    Json a = Json::object();
    for (const auto& field : m.info().fields)
        if (field.applies(m)) a[field.spec.name] = fieldValueToJson(field.get(m));
    return a;
}

// The class of a configuration without a class name, from its keys.
std::string classOf(const Json& arguments) {
    const auto has = [&](const char* key) { return arguments.contains(key); };
    const auto dual = [](const Json& a) { return a.is_object() && a.contains("n_heads_ra"); };
    if (has("image_shape"))
        return dual(arguments) ? "VisionDualAttnTransformer" : "VisionTransformer";
    if (has("input_spec")) {
        if (has("n_layers_abs")) return "Seq2SeqAbstractor";
        return has("encoder_kwargs") && dual(arguments["encoder_kwargs"])
                   ? "Seq2SeqDualAttnTransformer"
                   : "Seq2SeqTransformer";
    }
    if (has("vocab_size")) return dual(arguments) ? "DualAttnTransformerLM" : "TransformerLM";
    throw Error(
        "is not a model configuration: it has neither 'class' and 'arguments' nor the keys of a "
        "published model (vocab_size, image_shape or input_spec)");
}

Json parseShallow(const std::string& text) {
    bool deep = false;
    const auto limit = [&deep](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > 32;
        return !deep;
    };
    Json json;
    try {
        json = Json::parse(text, limit);
    } catch (const Json::parse_error& error) {
        if (!deep)
            throw Error((std::string(error.what()).find("UTF-8") != std::string::npos
                             ? "is not UTF-8 at byte "
                             : "is not JSON at byte ") +
                        std::to_string(error.byte) + "; correct it, or download it again");
    } catch (const Json::exception& error) {
        if (!deep) throw Error("has a number beyond what fits: " + std::string(error.what()));
    }
    if (deep) throw Error("is nested too deeply for a configuration");
    if (!json.is_object()) throw Error("is not a JSON object");
    if (json.contains("model_type")) return json;
    for (const auto& family : families()) {
        const auto& keys = family.keysOf;
        if (keys.empty() || !std::all_of(keys.begin(), keys.end(),
                                         [&](const auto& key) { return json.contains(key); }))
            continue;
        json["model_type"] = family.type;
        // The norms have biases where the layers have them.
        if (json.value("bias", Json(true)) == Json(false)) json["norm_type"] = "layernorm_no_bias";
    }
    return json;
}

// Whether a configuration of the family's model_type names a class of it, where other models have
// the same model_type.
bool namesClass(const Family& family, const Json& json) {
    if (family.configClass.empty()) return true;
    const auto names = [&family](const Json& value) {
        if (!value.is_string()) return false;
        const auto text = value.get<std::string>();
        const auto last = text.substr(text.rfind('.') + 1);  // "X" of "module.X"
        return last == family.configClass || std::find(family.classes.begin(), family.classes.end(),
                                                       last) != family.classes.end();
    };
    for (const char* key : {"auto_map", "architectures"}) {
        const auto found = json.find(key);
        if (found == json.end()) continue;
        if (names(*found) ||
            (found->is_structured() && std::any_of(found->begin(), found->end(), names)))
            return true;
    }
    return false;
}

// The family of a configuration, by its model_type or the class it was saved from; null for those
// of the papers.
const Family* familyIn(const Json& json) {
    const auto type = json.find("model_type");
    if (type != json.end() && type->is_string()) {
        const auto* family = findFamily(type->get<std::string>());
        return family && namesClass(*family, json) ? family : nullptr;
    }
    const auto classes = json.find("architectures");
    if (classes == json.end() || !classes->is_array()) return nullptr;
    for (const auto& family : families())
        for (const auto& name : family.classes)
            if (std::find(classes->begin(), classes->end(), Json(name)) != classes->end())
                return &family;
    return nullptr;
}

// A model_type that is missing or no family's, in a configuration without the keys of a model of
// the papers.
void refuseUnknownType(const Json& json) {
    const auto type = json.find("model_type");
    const bool given = type != json.end() && type->is_string();
    if (!given && !json.contains("architectures") && !json.contains("transformers_version")) return;
    for (const char* own : {"n_heads_ra", "max_block_size", "input_spec", "image_shape", "class"})
        if (json.contains(own)) return;
    std::string known;
    for (const auto& family : families()) known += (known.empty() ? "" : ", ") + family.type;
    if (!given)
        throw OptionError(
            "model_type",
            "is missing, and 'architectures' names no class that opens; add it: " + known);
    const auto name = type->get<std::string>().substr(0, 60);
    if (const auto why = unopenedText(name, json); !why.empty())
        throw OptionError("model_type",
                          why + "; these open: " + known + " and the models of the papers");
    throw OptionError("model_type",
                      "is '" + name + "', which is not supported" +
                          (json.contains("auto_map") ? " (code in the folder is never run)" : "") +
                          "; where the package transformers has it, relascope.watch shows its "
                          "attention from PyTorch; " +
                          known + " and the models of the papers open");
}

}  // namespace

bool isFamilyConfig(const std::string& text) {
    try {
        return familyIn(parseShallow(text)) != nullptr;
    } catch (const Error&) {
        return false;
    }
}

std::vector<std::string> classNamesOfConfig(const std::string& text) {
    std::vector<std::string> names;
    try {
        const auto json = parseShallow(text);
        if (const auto list = json.find("label_names"); list != json.end() && list->is_array()) {
            for (const auto& name : *list)
                names.push_back(
                    plainName(name.is_string() ? name.get<std::string>() : name.dump()));
            return names;
        }
        const auto labels = json.find("id2label");
        if (labels == json.end() || !labels->is_object()) return {};
        for (std::size_t id = 0; id < labels->size(); ++id) {
            const auto name = labels->find(std::to_string(id));
            if (name == labels->end() || !(name->is_string() || name->is_number())) return {};
            names.push_back(plainName(name->is_string() ? name->get<std::string>() : name->dump()));
        }
    } catch (const Error&) {
        return {};
    }
    return names;
}

ModelOptions modelFromPublishedConfig(
    const std::string& text,
    const std::function<std::vector<std::int64_t>(const std::string&)>& shape,
    std::vector<std::string>* unused) {
    const Json json = parseShallow(text);
    if (const auto* family = familyIn(json)) return modelOfFamily(*family, json, shape, unused);
    refuseUnknownType(json);
    const bool named = json.contains("class") && json.contains("arguments");
    if (named && !json["class"].is_string()) throw OptionError("class", "is not a string");
    const std::string name = named ? json["class"].get<std::string>() : classOf(json);
    const auto& known = architectures();
    if (std::none_of(known.begin(), known.end(),
                     [&](const auto* one) { return one->name == name; }))
        throw OptionError("class", unknownName("model class", name, ModelOptions::architectures()));
    const auto& info = architectureInfo(name);
    ModelOptions m = info.constructed();
    JsonArguments a(named ? json["arguments"] : json, named ? "arguments" : "");
    if (info.readConfig)
        info.readConfig(m, a);
    else
        readFields(m, a);
    a.done();
    // Checks bounds first, so that the code below need not handle a billion layers.
    for (const auto& field : info.fields)
        if (field.applies(m)) checkFieldValue(a.key(field.spec.name), field.spec, field.get(m));
    m.check();
    return m;
}

std::string configOfTrained(const std::string& text, const ModelOptions& model,
                            const std::vector<std::string>& classNames) {
    Json json = parseShallow(text);
    bool changed = false;
    const auto configured = modelFromPublishedConfig(text);
    if (const auto* images = model.find<ImageInput>();
        images && (images->num_classes != configured.get<ImageInput>().num_classes ||
                   (!classNames.empty() && classNames != classNamesOfConfig(text)))) {
        Json names = Json::object(), ids = Json::object();
        for (std::int64_t id = 0; id < images->num_classes; ++id) {
            const auto at = static_cast<std::size_t>(id);
            const auto number = std::to_string(id);
            const auto name = at < classNames.size() ? classNames[at] : "LABEL_" + number;
            names[number] = name, ids[name] = id;
        }
        json["id2label"] = names, json["label2id"] = ids;
        json.erase("num_labels");
        changed = true;
    }
    if (const auto* decoder = model.find<OutputLayer>();
        decoder && !decoder->tie_word_embeddings &&
        configured.get<OutputLayer>().tie_word_embeddings) {
        json["tie_word_embeddings"] = false;
        changed = true;
    }
    return changed ? json.dump(2) + "\n" : text;
}

std::string modelToPublishedConfig(const ModelOptions& m) {
    const auto& info = m.info();
    const Json arguments = info.writeConfig ? info.writeConfig(m) : fieldsToJson(m);
    return info.plainConfig ? arguments.dump(1)
                            : Json{{"class", m.architecture()}, {"arguments", arguments}}.dump(1);
}

}  // namespace relascope::core

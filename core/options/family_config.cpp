// SPDX-License-Identifier: GPL-3.0-or-later
// config.json of a public family, read by its table.
#include <algorithm>
#include <map>
#include <set>

#include "model/architecture.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "options/field_text.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

// Keys that change nothing here: of training, of generation, of heads that are not opened, and
// types, since those of the files count.
const std::set<std::string> kNeutral = {"_name_or_path",
                                        "architectures",
                                        "attention_dropout",
                                        "attention_probs_dropout_prob",
                                        "attn_pdrop",
                                        "auto_map",
                                        "classifier_dropout",
                                        "dropout",
                                        "dtype",
                                        "embd_pdrop",
                                        "encoder_stride",
                                        "hidden_dropout",
                                        "hidden_dropout_prob",
                                        "id2label",
                                        "initializer_range",
                                        "label2id",
                                        "model_type",
                                        "n_ctx",
                                        "num_labels",
                                        "pretraining_tp",
                                        "reorder_and_upcast_attn",
                                        "resid_pdrop",
                                        "task_specific_params",
                                        "torch_dtype",
                                        "transformers_version",
                                        "use_cache"};

bool isNeutral(const std::string& key) {
    return kNeutral.count(key) > 0 || key.ends_with("_token_id") || key.starts_with("summary_") ||
           key.starts_with("pooler_");
}

// Keys whose values are refused for every family.
const std::vector<FamilyLimit>& commonLimits() {
    static const std::vector<FamilyLimit> all = {{"add_cross_attention", {false}},
                                                 {"is_encoder_decoder", {false}},
                                                 {"use_sliding_window", {false}},
                                                 {"quantization_config", {nullptr}}};
    return all;
}

std::string shown(const Json& value) {
    const auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

std::string listOf(const std::vector<Json>& values) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : " or ") + shown(value);
    return text;
}

class Reader {
public:
    Reader(const Family& family, const Json& config) : m_family(family), m_config(config) {}

    ModelOptions read(const ShapeInFile& shape) {
        requireClass();
        for (const auto* limits : {&m_family.limits, &commonLimits()})
            for (const auto& limit : *limits) require(limit);
        requireFullAttention();
        ModelOptions m(m_family.architecture);
        m.set("family", m_family.type);
        for (const auto& [option, value] : m_family.fixed) m.set(option, value);
        for (const auto& key : m_family.keys)
            if (applies(m, key)) m.set(key.option, valueOf(m, key));
        if (m_family.rotary) readRotary(m);
        if (auto* images = m.find<PublicImageOptions>()) readImages(*images, shape);
        requireBounds(m);
        for (const auto& problem : m.problems())
            throw OptionError(nameOf(problem.field), problem.message);
        return m;
    }

    std::vector<std::string> unused() const {
        std::vector<std::string> names;
        for (const auto& [key, value] : m_config.items())
            if (!m_used.count(key) && !isNeutral(key) &&
                std::find(m_family.neutral.begin(), m_family.neutral.end(), key) ==
                    m_family.neutral.end())
                names.push_back(key);
        names.insert(names.end(), m_unusedParts.begin(), m_unusedParts.end());
        return names;
    }

private:
    // Null also where the key is there as null.
    const Json* find(const std::string& key) {
        const auto found = m_config.find(key);
        if (found == m_config.end()) return nullptr;
        m_used.insert(key);
        return found->is_null() ? nullptr : &*found;
    }

    [[noreturn]] static void refuse(const std::string& key, const Json& value,
                                    const std::string& wanted) {
        throw OptionError(key, "is " + shown(value) + ", which is not supported; " + wanted);
    }

    void requireClass() {
        const auto found = m_config.find("architectures");
        if (found == m_config.end() || found->empty()) return;
        if (!found->is_array() && !found->is_string()) return;
        const auto& known = m_family.classes;
        const auto isKnown = [&known](const Json& name) {
            return name.is_string() &&
                   std::find(known.begin(), known.end(), name.get<std::string>()) != known.end();
        };
        const bool one = found->is_string();
        if (one ? isKnown(*found) : std::any_of(found->begin(), found->end(), isKnown)) return;
        std::string all;
        for (const auto& name : known) all += (all.empty() ? "" : " or ") + name;
        const auto& name = one ? *found : found->front();
        throw OptionError("architectures", "is " + shown(name) + ", which has no answers of " +
                                               m_family.title + "; save the model as " + all);
    }

    void require(const FamilyLimit& limit) {
        const auto* value = find(limit.name);
        if (!value || limit.values.empty()) return;
        if (std::find(limit.values.begin(), limit.values.end(), *value) != limit.values.end())
            return;
        refuse(limit.name, *value,
               limit.values.front().is_null()
                   ? "save the model without it, in float32, float16 or bfloat16"
                   : listOf(limit.values) + " would open");
    }

    void requireFullAttention() {
        const auto* types = find("layer_types");
        if (!types) return;
        if (!types->is_array())
            refuse("layer_types", *types, "a list of full_attention would open");
        for (const auto& type : *types)
            if (type != "full_attention")
                refuse("layer_types", type, "full_attention in every layer would open");
    }

    // A value of the kind of the option, from 1 where it is a count.
    static FieldValue typed(const std::string& key, const Json& value, const FieldValue& like,
                            std::int64_t least = 1) {
        if (std::holds_alternative<bool>(like)) {
            if (!value.is_boolean()) refuse(key, value, "true or false would open");
            return value.get<bool>();
        }
        if (std::holds_alternative<double>(like)) {
            if (!value.is_number() || !(value.get<double>() > 0.0))
                refuse(key, value, "a number above 0 would open");
            return value.get<double>();
        }
        if (std::holds_alternative<std::string>(like)) {
            if (!value.is_string()) refuse(key, value, "a text would open");
            return value.get<std::string>();
        }
        return count(key, value, least);
    }
    static std::int64_t count(const std::string& key, const Json& value, std::int64_t least = 1) {
        constexpr std::int64_t most = 1'000'000'000;
        if (!value.is_number_unsigned() ||
            value.get<std::uint64_t>() < static_cast<std::uint64_t>(least) ||
            value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
            refuse(key, value,
                   "a whole number from " + std::to_string(least) + " to 1000000000 would open");
        return value.get<std::int64_t>();
    }
    static double number(const std::string& key, const Json& value) {
        return std::get<double>(typed(key, value, 0.0));
    }

    // Whether the model has what a key says; refuses a key that would have to do something.
    bool applies(const ModelOptions& m, const FamilyKey& key) {
        if (key.when.holds(m)) return true;
        m_used.insert(key.names.begin(), key.names.end());
        if (key.otherwise == FamilyKey::Otherwise::Ignored) return false;
        for (const auto& name : key.names)
            if (const auto* value = find(name); value && *value != false)
                throw OptionError(name, "is " + shown(*value) + ", which only models of " +
                                            key.when.spelled + " have; leave it out");
        return false;
    }

    FieldValue valueOf(const ModelOptions& m, const FamilyKey& key) {
        m_used.insert(key.names.begin(), key.names.end());
        const Json* value = nullptr;
        bool there = false;
        std::string name = key.names.front();
        for (const auto& one : key.names) {
            if (!m_config.contains(one)) continue;
            name = one, value = find(one), there = true;
            break;
        }
        m_names[key.option] = name;
        auto result = value         ? given(m, key, name, *value)
                      : key.derived ? key.derived(m)
                      : there       ? key.null
                                    : key.absent;
        if (key.times.empty()) return result;
        // Sizes beyond the bounds of the field are refused later.
        const auto product = static_cast<double>(std::get<std::int64_t>(result)) *
                             static_cast<double>(m.number(key.times));
        if (product > 1e15)
            refuse(name, std::get<std::int64_t>(result), "a smaller one would open");
        return std::get<std::int64_t>(result) * m.number(key.times);
    }

    static FieldValue given(const ModelOptions& m, const FamilyKey& key, const std::string& name,
                            const Json& value) {
        if (key.texts.empty()) return typed(name, value, m.value(key.option), key.least);
        std::vector<Json> known;
        for (const auto& [spelled, own] : key.texts) {
            if (value == spelled) return own;
            known.push_back(spelled);
        }
        refuse(name, value, listOf(known) + " would open");
    }

    // theta, scaling and the rotated part: from rope_parameters (version 5 of the package), or from
    // the older keys.
    void readRotary(ModelOptions& m) {
        auto& o = m.get<PublicDecoderOptions>();
        double share = m_family.rotaryShareAbsent;
        std::string shareKey = "partial_rotary_factor";
        for (const auto& key : {std::string("partial_rotary_factor"), m_family.rotaryShare})
            if (const auto* value = key.empty() ? nullptr : find(key))
                share = number(key, *value), shareKey = key;
        for (const char* key : {"rope_scaling", "rope_parameters"}) {
            const auto* given = find(key);
            if (!given) continue;
            const std::string name = key;
            if (!given->is_object()) refuse(name, *given, "an object would open");
            std::string type = name == "rope_parameters" ? "default" : "";
            for (const char* of : {"type", "rope_type"})
                if (const auto at = given->find(of); at != given->end() && !at->is_null()) {
                    if (!at->is_string()) refuse(name + "." + of, *at, "\"llama3\" would open");
                    type = at->get<std::string>();
                    if (type != "default" && type != "llama3")
                        refuse(name + "." + of, *at, "\"default\" and \"llama3\" would open");
                }
            if (type.empty()) throw OptionError(name, "has no rope_type; \"llama3\" would open");
            std::set<std::string> taken = {"type", "rope_type"};
            const auto part = [&](const char* of) -> const Json* {
                taken.insert(of);
                const auto at = given->find(of);
                return at == given->end() || at->is_null() ? nullptr : &*at;
            };
            const auto needed = [&](const char* of) -> const Json& {
                const auto* at = part(of);
                if (!at)
                    throw OptionError(name + "." + of, "is missing; rope_type llama3 needs it");
                return *at;
            };
            if (const auto* theta = part("rope_theta"))
                o.rope_theta = number(name + ".rope_theta", *theta);
            if (const auto* of = part("partial_rotary_factor"))
                share = number(name + ".partial_rotary_factor", *of),
                shareKey = name + ".partial_rotary_factor";
            o.rope_factor = 1.0;  // undoes the other key, where a file has both
            if (type == "llama3") {
                o.rope_factor = number(name + ".factor", needed("factor"));
                o.rope_low_freq_factor =
                    number(name + ".low_freq_factor", needed("low_freq_factor"));
                o.rope_high_freq_factor =
                    number(name + ".high_freq_factor", needed("high_freq_factor"));
                o.rope_original = count(name + ".original_max_position_embeddings",
                                        needed("original_max_position_embeddings"));
                if (o.rope_high_freq_factor <= o.rope_low_freq_factor)
                    throw OptionError(name + ".high_freq_factor",
                                      "is " + shown(needed("high_freq_factor")) +
                                          ", which is not above low_freq_factor, " +
                                          shown(needed("low_freq_factor")) + "; give a larger one");
            }
            for (const auto& [of, value] : given->items())
                if (!taken.count(of)) m_unusedParts.push_back(name + "." + of);
        }
        if (m_family.rotaryShare.empty()) {
            if (share != 1.0)
                refuse(shareKey, share, "1 would open: all dimensions of a head turn");
            return;
        }
        if (share > 1.0) refuse(shareKey, share, "a share up to 1 would open");
        const auto width = stackOf(o).headDim();
        o.rotary_dims = static_cast<std::int64_t>(static_cast<double>(width) * share);
        m_names["rotary_dims"] = shareKey;
        if (o.rotary_dims < 1)
            throw OptionError(shareKey, "is " + shown(share) + ", so that none of the " +
                                            std::to_string(width) +
                                            " dimensions of a head turn; give a larger share");
    }

    // Height before width here, a number or both; the options have width before height.
    std::vector<std::int64_t> sides(const char* key, std::int64_t absent) {
        const auto* value = find(key);
        if (!value) return {absent, absent};
        if (!value->is_array()) return {count(key, *value), count(key, *value)};
        if (value->size() != 2) refuse(key, *value, "a number or two would open");
        return {count(key, (*value)[1]), count(key, (*value)[0])};
    }

    void readImages(PublicImageOptions& o, const ShapeInFile& shape) {
        const auto image = sides("image_size", 224);
        const auto* channels = find("num_channels");
        o.image_shape = {channels ? count("num_channels", *channels) : 3, image[0], image[1]};
        o.patch_size = sides("patch_size", 16);
        m_names["image_shape"] = "image_size", m_names["patch_size"] = "patch_size";
        const auto classes = m_config.find("architectures");
        o.two_classifiers = !m_family.teacher.empty() && classes != m_config.end() &&
                            classes->is_array() && !classes->empty() &&
                            classes->front() == m_family.teacher;
        m_names["num_classes"] = "id2label";
        if (const auto* names = find("id2label"); names && names->is_object()) {
            o.num_classes = static_cast<std::int64_t>(names->size());
            return;
        }
        for (const auto& tensor : m_family.tensors) {
            const auto rows = shape && tensor.outside ? shape(tensor.stored + ".weight")
                                                      : std::vector<std::int64_t>();
            if (rows.size() == 2) o.num_classes = rows[0];
        }
    }

    std::string nameOf(const std::string& option) const {
        const auto found = m_names.find(option);
        return found == m_names.end() ? option : found->second;
    }

    void requireBounds(const ModelOptions& m) const {
        for (const auto& field : m.info().fields)
            if (field.applies(m))
                checkFieldValue(nameOf(field.spec.name), field.spec, field.get(m));
    }

    const Family& m_family;
    const Json& m_config;
    std::set<std::string> m_used;
    std::vector<std::string> m_unusedParts;
    std::map<std::string, std::string> m_names;  // key of the file, by option
};

}  // namespace

ModelOptions modelOfFamily(const Family& family, const Json& config, const ShapeInFile& shape,
                           std::vector<std::string>* unused) {
    if (family.read) return family.read(config);
    Reader reader(family, config);
    auto model = reader.read(shape);
    if (unused) *unused = reader.unused();
    return model;
}

}  // namespace relascope::core

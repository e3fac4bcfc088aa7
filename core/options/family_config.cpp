// SPDX-License-Identifier: GPL-3.0-or-later
// config.json of a public family, read by its table.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "model/architecture.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "options/field_text.h"
#include "options/neutral_keys.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using Json = nlohmann::ordered_json;

// Keys whose values are refused for every family.
const std::vector<FamilyLimit>& commonLimits() {
    static const std::vector<FamilyLimit> all = {{"add_cross_attention", {false}},
                                                 {"is_encoder_decoder", {false}},
                                                 {"use_sliding_window", {false}},
                                                 {"use_bidirectional_attention", {false}},
                                                 {"quantization_config",
                                                  {nullptr},
                                                  "save the model without it, in float32, float16 "
                                                  "or bfloat16"}};
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

// The object of a key. The first folders of CLIP have it as KEY_dict, which counts then.
const Json& partOf(const Json& config, const std::string& key) {
    static const Json none = Json::object();
    if (key.empty()) return config;
    for (const auto& name : {key + "_dict", key})
        if (const auto found = config.find(name); found != config.end() && found->is_object())
            return *found;
    return none;
}

// The object of a configuration that is read: the whole, or that of `inner`.
const Json& readPart(const Family& family, const Json& config) {
    if (family.inner.empty()) return config;
    const auto& part = partOf(config, family.inner);
    const auto found = config.find(family.inner);
    if (!part.empty() || (found != config.end() && found->is_object())) return part;
    throw OptionError(family.inner, found == config.end()
                                        ? "is missing; it holds the configuration of the text model"
                                        : "is " + shown(*found) + "; an object would open");
}

class Reader : public FamilyConfig {
public:
    Reader(const Family& family, const Json& config)
        : m_family(family), m_whole(config), m_config(readPart(family, config)) {}
    /// Of one object of the configuration, whose keys are named with that of the object.
    Reader(const Family& family, const Json& whole, const Json& part, std::string prefix)
        : m_family(family), m_whole(whole), m_config(part), m_prefix(std::move(prefix)) {}

    ModelOptions read(const ShapeInFile& shape) {
        requireClass();
        for (const auto* limits : {&m_family.limits, &commonLimits()})
            for (const auto& limit : *limits)
                if (limit.name != m_family.windowSwitch) require(limit);
        const bool windows =
            std::any_of(m_family.keys.begin(), m_family.keys.end(),
                        [](const auto& key) { return key.option == "sliding_window"; });
        if (!windows) requireFullAttention();
        ModelOptions m(m_family.architecture);
        m.set("family", m_family.type);
        for (const auto& [option, value] : m_family.fixed) m.set(option, value);
        for (const auto& key : m_family.keys)
            if (applies(m, key)) m.set(key.option, valueOf(m, key));
        m_shape = &shape;
        if (auto* images = m.find<PublicImageOptions>()) readImages(*images, shape);
        if (m_family.rotary) readRotary(m);
        if (windows) readKinds(m);
        if (m_family.settle) m_family.settle(m, *this);
        if (m_family.rotary) readFactors(m);
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

    std::int64_t count(const std::string& key, std::int64_t absent) override {
        const auto* value = find(key);
        return value ? count(key, *value) : absent;
    }
    bool flag(const std::string& key, bool absent) override {
        const auto* value = find(key);
        return value ? std::get<bool>(typed(key, *value, absent)) : absent;
    }
    double real(const std::string& key, double absent) override {
        const auto* value = find(key);
        if (!value) return absent;
        if (!value->is_number() || !std::isfinite(value->get<double>()))
            refuse(key, *value, "a number would open");
        return value->get<double>();
    }
    std::string text(const std::string& key, const std::string& absent) override {
        const auto* value = find(key);
        return value ? std::get<std::string>(typed(key, *value, absent)) : absent;
    }
    std::unique_ptr<FamilyConfig> part(const std::string& key) override {
        return std::make_unique<Reader>(m_family, m_whole, partOf(m_whole, key),
                                        key.empty() ? key : key + ".");
    }
    std::vector<std::int64_t> shape(const std::string& name) override {
        return m_shape && *m_shape ? (*m_shape)(name) : std::vector<std::int64_t>();
    }
    [[noreturn]] void refuse(const std::string& key, const std::string& wanted) override {
        const auto* value = find(key);
        refuse(m_prefix + key, value ? *value : Json(nullptr), wanted);
    }
    const Json* find(const std::string& key) override {
        const auto found = m_config.find(key);
        if (found == m_config.end()) return nullptr;
        m_used.insert(key);
        return found->is_null() ? nullptr : &*found;
    }

private:
    [[noreturn]] static void refuse(const std::string& key, const Json& value,
                                    const std::string& wanted) {
        throw OptionError(key, "is " + shown(value) + ", which is not supported; " + wanted);
    }

    void requireClass() {
        const auto found = m_whole.find("architectures");
        if (found == m_whole.end() || found->empty()) return;
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
        const auto text = name.is_string() ? name.get<std::string>() : std::string();
        // The class without any output; those with one end in "HeadModel" or say what for.
        if (text.ends_with("Model") && !text.ends_with("HeadModel")) {
            all.clear();
            for (const auto& known : m_family.classes) all += (all.empty() ? "" : " and ") + known;
            throw OptionError("architectures",
                              "is a " + plainName(text.substr(0, 60)) +
                                  ", which has no output layer; " + all +
                                  (m_family.classes.size() == 1 ? " opens" : " open"));
        }
        throw OptionError("architectures", "is " + shown(name) + ", which has no answers of " +
                                               m_family.title + "; save the model as " + all);
    }

    void require(const FamilyLimit& limit) {
        const auto* value = find(limit.name);
        if (!value || limit.values.empty()) return;
        if (std::find(limit.values.begin(), limit.values.end(), *value) != limit.values.end())
            return;
        refuse(limit.name, *value,
               limit.wanted.empty() ? listOf(limit.values) + " would open" : limit.wanted);
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
            if (!value.is_number() || !(value.get<double>() > 0.0) ||
                !std::isfinite(value.get<double>()))
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
        if (there && !value && !key.nullable) refuse(name, nullptr, "a number would open");
        if (key.made) result = key.made(result);
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

    // The kinds of layers: from layer_types, or as the family's class has them.
    void readKinds(ModelOptions& m) {
        auto& o = m.get<PublicDecoderOptions>();
        const auto layers = static_cast<std::size_t>(o.n_layers);
        if (layers > kMostLayers) return;  // refused later
        std::string letters = m_family.kinds ? m_family.kinds(m, *this)
                                             : std::string(o.sliding_window > 0 ? "W" : "F");
        const auto period = letters;
        letters.resize(layers);
        for (std::size_t i = 0; i < layers; ++i) letters[i] = period[i % period.size()];
        const bool rotary = letters.find_first_of("fw") == std::string::npos;
        if (!m_family.windowSwitch.empty() && !flag(m_family.windowSwitch, false))
            for (char& letter : letters) letter = std::isupper(letter) ? 'F' : 'f';
        if (const auto* types = find("layer_types")) {
            if (!types->is_array() || types->size() != layers)
                refuse(
                    "layer_types", *types,
                    "a list of " + std::to_string(layers) +
                        " kinds, as num_hidden_layers says, would open" +
                        (types->is_array() ? ", and it has " + std::to_string(types->size()) : ""));
            for (std::size_t i = 0; i < layers; ++i) {
                const auto& type = (*types)[i];
                const bool windowed = type == "sliding_attention";
                if (!windowed && type != "full_attention")
                    refuse("layer_types", type, "full_attention and sliding_attention would open");
                const bool upper = std::isupper(letters[i]);
                letters[i] = windowed ? (upper ? 'W' : 'w') : upper ? 'F' : 'f';
            }
        }
        const bool windowed = letters.find_first_of("Ww") != std::string::npos;
        if (windowed && o.sliding_window == 0)
            throw OptionError("sliding_window",
                              "is missing or null, and " +
                                  std::to_string(std::count_if(
                                      letters.begin(), letters.end(),
                                      [](char letter) { return letter == 'W' || letter == 'w'; })) +
                                  " of the " + std::to_string(layers) +
                                  " layers attend within a window; give its width in tokens");
        if (!windowed) o.sliding_window = 0;
        const bool alike = letters.find_first_not_of(letters.front()) == std::string::npos;
        o.layer_kinds = alike && rotary ? "" : letters;
    }

    // The numbers of a list, as an option of the model.
    std::string numbersOf(const std::string& key, const Json& list) {
        if (!list.is_array()) refuse(key, list, "a list of numbers would open");
        std::string text;
        for (const auto& value : list)
            text += (text.empty() ? "" : " ") + Json(number(key, value)).dump();
        return text;
    }

    // longrope has one divisor for each pair of dimensions that turn.
    void readFactors(const ModelOptions& m) {
        const auto& o = m.get<PublicDecoderOptions>();
        if (!o.dependsOnLength()) return;
        const auto pairs = o.dims(stackOf(o).headDim()) / 2;
        for (const auto& [key, list] : m_factorLists)
            if (list != pairs)
                throw OptionError(key, "has " + std::to_string(list) + " numbers, and " +
                                           std::to_string(pairs) +
                                           " pairs of dimensions turn; give one for each");
    }

    // What yarn multiplies cosines and sines by (Peng et al. 2023, section 3.4).
    static double yarnLength(double factor, double scale) {
        return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
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
            std::string name = key;
            if (!given->is_object()) refuse(name, *given, "an object would open");
            // By kind of layer, as version 5 of the package writes it.
            if (const auto local = given->find("sliding_attention");
                local != given->end() && local->is_object()) {
                readLocalRotary(o, name + ".sliding_attention", *local);
                const auto whole = given->find("full_attention");
                if (whole == given->end() || !whole->is_object())
                    throw OptionError(name + ".full_attention",
                                      "is missing; give it beside sliding_attention");
                given = &*whole, name += ".full_attention";
            }
            std::string type = name.starts_with("rope_parameters") ? "default" : "";
            for (const char* of : {"type", "rope_type"})
                if (const auto at = given->find(of); at != given->end() && !at->is_null())
                    type = rotaryType(name + "." + of, *at);
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
                    throw OptionError(name + "." + of,
                                      "is missing; rope_type " + type + " needs it");
                return *at;
            };
            const auto length = [&] {
                if (const auto* at = part("attention_factor"))
                    o.rope_attention = number(name + ".attention_factor", *at);
            };
            if (const auto* theta = part("rope_theta"))
                o.rope_theta = number(name + ".rope_theta", *theta);
            if (const auto* of = part("partial_rotary_factor"))
                share = number(name + ".partial_rotary_factor", *of),
                shareKey = name + ".partial_rotary_factor";
            // Undoes the other key, where a file has both.
            o.rope_factor = o.rope_attention = 1.0, o.rope_type = RotaryOptions().rope_type;
            if (type == "longrope") {
                o.rope_type = type;
                o.rope_original = m_family.longRope;
                const char* original = "original_max_position_embeddings";
                if (const auto* at = part(original))
                    o.rope_original = count(name + "." + original, *at);
                if (const auto* at = find(original)) o.rope_original = count(original, *at);
                m_factorLists.clear();
                for (const auto& [of, list] : {std::pair{"short_factor", &o.rope_short_factors},
                                               {"long_factor", &o.rope_long_factors}}) {
                    *list = numbersOf(name + "." + of, needed(of));
                    m_factorLists.emplace_back(name + "." + of,
                                               static_cast<std::int64_t>(needed(of).size()));
                }
                const auto context = static_cast<double>(o.max_block_size),
                           first = static_cast<double>(o.rope_original);
                if (context > first && first > 1)
                    o.rope_attention = std::sqrt(1 + std::log(context / first) / std::log(first));
                length();
            } else if (type == "linear" || type == "yarn") {
                o.rope_type = type;
                o.rope_factor = number(name + ".factor", needed("factor"));
            }
            if (type == "yarn") {
                const auto real = [&](const char* of, double absent) {
                    const auto* at = part(of);
                    return at ? number(name + "." + of, *at) : absent;
                };
                const auto* original = part("original_max_position_embeddings");
                o.rope_original = original
                                      ? count(name + ".original_max_position_embeddings", *original)
                                      : o.max_block_size;
                o.yarn_beta_fast = real("beta_fast", 32.0),
                o.yarn_beta_slow = real("beta_slow", 1.0);
                const auto* truncate = part("truncate");
                o.yarn_truncate =
                    !truncate || std::get<bool>(typed(name + ".truncate", *truncate, true));
                o.rope_attention = yarnLength(o.rope_factor, 1.0);
                if (const double scale = real("mscale", 0.0), all = real("mscale_all_dim", 0.0);
                    scale > 0 && all > 0)
                    o.rope_attention =
                        yarnLength(o.rope_factor, scale) / yarnLength(o.rope_factor, all);
                length();
            }
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
        if (o.rope_theta <= 0.0)
            throw OptionError(
                "rope_theta",
                "is missing, and versions of transformers differ in what they take it "
                "for (10000 or 500000); add the one that the model was trained with");
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

    // A name of a scaling, or "default".
    std::string rotaryType(const std::string& key, const Json& value) const {
        std::vector<Json> known = {"default", "llama3", "linear", "yarn"};
        if (m_family.longRope > 0) {
            for (const char* name : {"longrope", "su", "yarn"})
                if (value == name) return "longrope";
            known = {"default", "llama3", "linear", "longrope"};
        }
        if (std::find(known.begin(), known.end(), value) == known.end())
            refuse(key, value, listOf(known) + " would open");
        return value.get<std::string>();
    }

    // The rotary positions of layers with a window: a base of their own.
    void readLocalRotary(PublicDecoderOptions& o, const std::string& name, const Json& given) {
        for (const auto& [of, value] : given.items()) {
            if (of == "rope_theta")
                o.local_rope_theta = number(name + ".rope_theta", value);
            else if (of == "rope_type" || of == "type") {
                if (value != "default" && !value.is_null())
                    refuse(name + "." + of, value, "\"default\" would open");
            } else {
                m_unusedParts.push_back(name + "." + of);
            }
        }
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
        o.patch_size = sides("patch_size", m_family.patch);
        m_names["image_shape"] = "image_size", m_names["patch_size"] = "patch_size";
        o.position_grid = {o.gridColumns(), o.gridRows()};
        const auto classes = m_whole.find("architectures");
        const auto names = [&](const std::string& name) {
            return classes != m_whole.end() && classes->is_array() && !classes->empty() &&
                   !name.empty() && classes->front() == name;
        };
        o.two_classifiers = names(m_family.teacher);
        m_names["num_classes"] = "id2label";
        if (m_family.bare == m_family.classes && !m_family.bare.empty()) {
            o.num_classes = 0;
            return;
        }
        if (std::any_of(m_family.bare.begin(), m_family.bare.end(), names)) {
            o.num_classes = 0;
            return;
        }
        const auto labels = m_whole.find("id2label");
        if (labels != m_whole.end() && labels->is_object()) {
            o.num_classes = static_cast<std::int64_t>(labels->size());
            return;
        }
        bool found = false;
        for (const auto& tensor : m_family.tensors) {
            const bool classifier = tensor.outside && (tensor.parts.front() == "final_out.1" ||
                                                       tensor.parts.front() == "class_out");
            const auto rows = shape && classifier ? shape(tensor.stored + ".weight")
                                                  : std::vector<std::int64_t>();
            if (rows.size() == 2) o.num_classes = rows[0], found = true;
        }
        // A file that says neither has features alone, where the family knows such.
        if ((shape || m_family.bareFirst()) && !found && !m_family.bare.empty()) o.num_classes = 0;
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

    static constexpr std::size_t kMostLayers = 100000;

    const Family& m_family;
    const Json &m_whole, &m_config;
    std::string m_prefix;
    const ShapeInFile* m_shape = nullptr;
    std::set<std::string> m_used;
    std::vector<std::pair<std::string, std::int64_t>>
        m_factorLists;  // keys of longrope's lists, and their lengths
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

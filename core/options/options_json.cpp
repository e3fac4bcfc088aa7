#include "options/options_json.h"

#include <nlohmann/json.hpp>

#include "options/field_text.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;

Json valueToJson(const FieldValue& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

FieldValue valueFromJson(const std::string& key, const FieldSpec& spec, const Json& json) {
    FieldValue value;
    const auto expect = [&](bool ok, const char* what) {
        if (!ok)
            throw OptionError(key,
                              std::string("needs ") + what + ", not " + json.dump().substr(0, 60));
    };
    switch (spec.kind) {
        case FieldKind::Boolean:
            expect(json.is_boolean(), "true or false");
            value = json.get<bool>();
            break;
        case FieldKind::Integer:
            expect(json.is_number_integer(), "a whole number");
            value = json.get<std::int64_t>();
            break;
        case FieldKind::Real:
            expect(json.is_number(), "a number");
            value = json.get<double>();
            break;
        case FieldKind::Choice:
        case FieldKind::Text:
            expect(json.is_string(), "a text");
            value = json.get<std::string>();
            break;
        case FieldKind::IntegerList: {
            expect(json.is_array(), "a list of whole numbers");
            std::vector<std::int64_t> list;
            for (const auto& item : json) {
                expect(item.is_number_integer(), "a list of whole numbers");
                list.push_back(item.get<std::int64_t>());
            }
            value = list;
            break;
        }
    }
    checkFieldValue(key, spec, value);
    return value;
}

void readGroup(RunOptions& options, const std::string& prefix, const Json& object) {
    if (!object.is_object()) throw OptionError(prefix, "is not a JSON object");
    for (const auto& [name, value] : object.items()) {
        const std::string key = prefix + "." + name;
        if (value.is_object()) {
            readGroup(options, key, value);
            continue;
        }
        const auto& field = RunOptions::field(key);
        field.set(options, valueFromJson(key, field.spec, value));
    }
}

// Reads the arguments of a published constructor; whatever nobody asked for is refused by name.
class Arguments {
public:
    Arguments(const Json& object, std::string where) : m_object(object), m_where(std::move(where)) {
        if (!object.is_object() && !object.is_null())
            throw OptionError(m_where, "is not a JSON object");
    }
    bool has(const char* name) { return take(name) != nullptr; }
    void read(const char* name, std::int64_t& out, std::int64_t max = 1'000'000'000) {
        const auto* json = take(name);
        if (!json) return;
        if (!json->is_number_integer() ||
            (json->is_number_unsigned()
                 ? json->get<std::uint64_t>() > static_cast<std::uint64_t>(max)
                 : json->get<std::int64_t>() < 0))
            refuse(name, *json, "a whole number from 0 to " + std::to_string(max));
        out = json->get<std::int64_t>();
    }
    void read(const char* name, double& out) {
        if (const auto* json = take(name)) {
            if (!json->is_number()) refuse(name, *json, "a number");
            out = json->get<double>();
        }
    }
    void read(const char* name, bool& out) {
        if (const auto* json = take(name)) {
            if (!json->is_boolean()) refuse(name, *json, "true or false");
            out = json->get<bool>();
        }
    }
    void read(const char* name, std::string& out) {
        if (const auto* json = take(name)) {
            if (!json->is_string()) refuse(name, *json, "a text");
            out = json->get<std::string>();
        }
    }
    void read(const char* name, std::vector<std::int64_t>& out, std::size_t count) {
        if (const auto* json = take(name)) {
            if (!json->is_array() || json->size() != count)
                refuse(name, *json, std::to_string(count) + " whole numbers");
            out.clear();
            for (const auto& item : *json) {
                if (!item.is_number_unsigned() || item.get<std::uint64_t>() > 1'000'000)
                    refuse(name, *json, std::to_string(count) + " whole numbers");
                out.push_back(item.get<std::int64_t>());
            }
        }
    }
    Arguments sub(const char* name) {
        const auto* json = take(name);
        return Arguments(json ? *json : Json(nullptr), m_where + "." + name);
    }
    /// Throws for a key that was never asked for.
    void done() const {
        if (!m_object.is_object()) return;
        for (const auto& [name, value] : m_object.items())
            if (std::find(m_taken.begin(), m_taken.end(), name) == m_taken.end())
                throw OptionError(m_where + "." + name, "is not an option of this model");
    }

private:
    const Json* take(const char* name) {
        m_taken.emplace_back(name);
        if (!m_object.is_object()) return nullptr;
        const auto found = m_object.find(name);
        return found == m_object.end() || found->is_null() ? nullptr : &*found;
    }
    [[noreturn]] void refuse(const char* name, const Json& json, const std::string& what) const {
        throw OptionError(m_where + "." + name,
                          "needs " + what + ", not " + json.dump().substr(0, 60));
    }

    Json m_object;
    std::string m_where;
    std::vector<std::string> m_taken;
};

void readSymbols(ModelOptions& m, Arguments a) {
    std::int64_t width = m.d_model;
    if (m.symbol_retrieval == "positional_symbols") {
        a.read("symbol_dim", width);
        a.read("max_length", m.max_length);
        a.has("sinusoidal");  // stored by some checkpoints, ignored by the published code
    } else if (m.symbol_retrieval == "position_relative") {
        a.read("symbol_dim", width);
        a.read("max_rel_pos", m.max_rel_pos);
    } else if (m.symbol_retrieval == "symbolic_attention") {
        a.read("d_model", width);
        a.read("n_heads", m.symbol_heads);
        a.read("n_symbols", m.n_symbols);
        a.read("dropout", m.symbol_dropout);
        a.read("scale", m.symbol_scale);
        a.read("trainable_symbols", m.trainable_symbols);
    } else if (m.symbol_retrieval == "rel_sym_attn") {
        a.read("d_model", width);
        a.read("rel_n_heads", m.rel_n_heads);
        a.read("symbolic_attn_n_heads", m.symbol_heads);
        a.read("n_symbols", m.n_symbols);
        a.read("nbhd_delta", m.nbhd_delta);
        a.read("causal_nbhd", m.causal_nbhd);
        a.read("include_self", m.include_self);
        a.read("normalize_rels", m.normalize_rels);
        a.read("dropout", m.symbol_dropout);
        a.read("rel_scale", m.rel_scale);
        a.read("symbolic_attn_scale", m.symbol_scale);
    } else {
        throw OptionError("symbol_retrieval",
                          "unknown symbol assignment '" + m.symbol_retrieval + "'");
    }
    a.done();
    if (width != m.d_model)
        throw OptionError("symbol_retrieval_kwargs", "symbols of width " + std::to_string(width) +
                                                         " do not fit the model's " +
                                                         std::to_string(m.d_model));
}

}  // namespace

std::string runOptionsToJson(const RunOptions& options) {
    Json json = {{"preset", options.preset}, {"variant", options.variant}};
    for (const auto& field : RunOptions::fieldTable()) {
        std::string pointer = "/" + field.spec.name;
        for (auto& c : pointer)
            if (c == '.') c = '/';
        json[Json::json_pointer(pointer)] = valueToJson(field.get(options));
    }
    return json.dump(2);
}

RunOptions runOptionsFromJson(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) throw Error("the options are not a JSON object");
    RunOptions options;
    for (const auto& [key, value] : json.items()) {
        if (key == "preset" && value.is_string())
            options.preset = value.get<std::string>();
        else if (key == "variant" && value.is_string())
            options.variant = value.get<std::string>();
        else if (key == "model" || key == "train" || key == "data")
            readGroup(options, key, value);
        else
            throw OptionError(key, "is not an option");
    }
    return options;
}

ModelOptions modelFromPublishedConfig(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("class") || !json["class"].is_string() ||
        !json.contains("arguments"))
        throw Error("needs an object with 'class' and 'arguments'");
    ModelOptions m;
    m.architecture = json["class"].get<std::string>();
    const std::vector<std::string> known = {"VisionDualAttnTransformer", "VisionTransformer"};
    if (std::find(known.begin(), known.end(), m.architecture) == known.end())
        throw OptionError("class", unknownName("model class", m.architecture, known));
    m.bias = true, m.pool = "cls", m.symmetric_rels = false;  // the constructors' defaults
    Arguments a(json["arguments"], "arguments");
    for (const char* name : {"image_shape", "patch_size", "num_classes", "d_model", "n_layers",
                             "dff", "dropout_rate", "activation", "norm_first"})
        if (!json["arguments"].contains(name))
            throw OptionError(std::string("arguments.") + name, "is missing");
    a.read("image_shape", m.image_shape, 3);
    a.read("patch_size", m.patch_size, 2);
    a.read("num_classes", m.num_classes);
    a.read("d_model", m.d_model);
    a.read("n_layers", m.n_layers);
    m.dff = 0;
    a.read("dff", m.dff);
    a.read("dropout_rate", m.dropout_rate);
    a.read("activation", m.activation);
    a.read("norm_first", m.norm_first);
    a.read("norm_type", m.norm_type);
    a.read("bias", m.bias);
    a.read("pool", m.pool);
    if (!m.isDual()) {
        a.read("n_heads", m.n_heads_sa);
        m.n_heads_ra = 0;
        a.done();
    } else {
        a.read("n_heads_sa", m.n_heads_sa);
        a.read("n_heads_ra", m.n_heads_ra);
        a.read("symbol_retrieval", m.symbol_retrieval);
        a.read("ra_type", m.ra_type);
        a.read("share_attn_params", m.share_attn_params);
        readSymbols(m, a.sub("symbol_retrieval_kwargs"));
        auto sa = a.sub("sa_kwargs");
        sa.read("n_kv_heads", m.sa_n_kv_heads);
        sa.read("key_dim", m.sa_key_dim);
        bool saBiasKv = false, saBiasOut = false, raBiasKv = false, raBiasOut = false,
             relative = false;
        sa.read("add_bias_kv", saBiasKv);
        sa.read("add_bias_out", saBiasOut);
        sa.done();
        auto ra = a.sub("ra_kwargs");
        ra.read("n_kv_heads", m.ra_n_kv_heads);
        ra.read("add_bias_kv", raBiasKv);
        ra.read("add_bias_out", raBiasOut);
        ra.read("use_relative_positional_symbols", relative);
        if (m.ra_type == "relational_attention") {
            ra.read("key_dim", m.ra_key_dim);
            ra.read("n_relations", m.n_relations);
            ra.read("rel_proj_dim", m.rel_proj_dim);
            ra.read("rel_activation", m.rel_activation);
            ra.read("symmetric_rels", m.symmetric_rels);
        } else if (m.ra_type == "disrca") {
            ra.read("rel_activation", m.rel_activation);
        } else if (m.ra_type == "rca") {
            ra.read("activation", m.rca_activation);
        } else {
            throw OptionError("arguments.ra_type",
                              "unknown relational attention '" + m.ra_type + "'");
        }
        ra.done();
        a.done();
        m.sa_add_bias_kv = saBiasKv, m.sa_add_bias_out = saBiasOut;
        m.ra_add_bias_kv = raBiasKv, m.ra_add_bias_out = raBiasOut;
        if (m.n_heads_ra > 0 && relative != (m.symbol_retrieval == "position_relative"))
            throw OptionError("arguments.ra_kwargs.use_relative_positional_symbols",
                              "contradicts symbol_retrieval " + m.symbol_retrieval);
    }
    m.check();
    for (const auto& field : ModelOptions::fieldTable())
        checkFieldValue("arguments." + field.spec.name, field.spec, field.get(m));
    return m;
}

std::string modelToPublishedConfig(const ModelOptions& m) {
    const auto orNull = [](std::int64_t n) { return n > 0 ? Json(n) : Json(nullptr); };
    Json a = {{"image_shape", m.image_shape},
              {"patch_size", m.patch_size},
              {"num_classes", m.num_classes},
              {"d_model", m.d_model},
              {"n_layers", m.n_layers}};
    if (m.isDual())
        a["n_heads_sa"] = m.n_heads_sa, a["n_heads_ra"] = m.n_heads_ra;
    else
        a["n_heads"] = m.n_heads_sa;
    a["dff"] = orNull(m.dff);
    a["dropout_rate"] = m.dropout_rate;
    a["activation"] = m.activation;
    a["norm_first"] = m.norm_first;
    if (m.isDual()) {
        a["symbol_retrieval"] = m.symbol_retrieval;
        Json& s = a["symbol_retrieval_kwargs"];
        if (m.symbol_retrieval == "positional_symbols")
            s = {{"symbol_dim", m.d_model},
                 {"max_length", m.max_length > 0 ? m.max_length : m.tokens()}};
        else if (m.symbol_retrieval == "position_relative")
            s = {{"symbol_dim", m.d_model},
                 {"max_rel_pos", m.max_rel_pos > 0 ? m.max_rel_pos : m.tokens()}};
        else if (m.symbol_retrieval == "symbolic_attention")
            s = {{"d_model", m.d_model},
                 {"n_heads", m.symbol_heads},
                 {"n_symbols", m.n_symbols},
                 {"dropout", m.symbol_dropout},
                 {"scale", m.symbol_scale > 0 ? Json(m.symbol_scale) : Json(nullptr)},
                 {"trainable_symbols", m.trainable_symbols}};
        else
            s = {
                {"d_model", m.d_model},
                {"rel_n_heads", m.rel_n_heads},
                {"symbolic_attn_n_heads", m.symbol_heads},
                {"n_symbols", m.n_symbols},
                {"nbhd_delta", m.nbhd_delta},
                {"causal_nbhd", m.causal_nbhd},
                {"include_self", m.include_self},
                {"normalize_rels", m.normalize_rels},
                {"dropout", m.symbol_dropout},
                {"rel_scale", m.rel_scale > 0 ? Json(m.rel_scale) : Json(nullptr)},
                {"symbolic_attn_scale", m.symbol_scale > 0 ? Json(m.symbol_scale) : Json(nullptr)}};
        a["ra_type"] = m.ra_type;
        Json ra = {{"n_kv_heads", orNull(m.ra_n_kv_heads)},
                   {"add_bias_kv", m.ra_add_bias_kv},
                   {"add_bias_out", m.ra_add_bias_out},
                   {"use_relative_positional_symbols", m.symbol_retrieval == "position_relative"}};
        if (m.ra_type == "relational_attention") {
            ra["key_dim"] = orNull(m.ra_key_dim);
            ra["n_relations"] = orNull(m.n_relations);
            ra["rel_proj_dim"] = orNull(m.rel_proj_dim);
            ra["rel_activation"] = m.rel_activation;
            ra["symmetric_rels"] = m.symmetric_rels;
        } else if (m.ra_type == "disrca") {
            ra["rel_activation"] = m.rel_activation;
        } else {
            ra["activation"] = m.rca_activation;
        }
        a["ra_kwargs"] = ra;
        a["sa_kwargs"] = {{"n_kv_heads", orNull(m.sa_n_kv_heads)},
                          {"key_dim", orNull(m.sa_key_dim)},
                          {"add_bias_kv", m.sa_add_bias_kv},
                          {"add_bias_out", m.sa_add_bias_out}};
    }
    a["norm_type"] = m.norm_type;
    a["bias"] = m.bias;
    a["pool"] = m.pool;
    return Json{{"class", m.architecture}, {"arguments", a}}.dump(1);
}

}  // namespace relascope

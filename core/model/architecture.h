// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of an architecture: all properties of a model that are known without building it.
// The form, the command line, JSON, the probe, the outline and the estimates iterate over these. No
// torch here: the descriptors of a family are in core/model/FAMILY/*_info.cpp, next to the models.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/outline.h"
#include "model/problem_list.h"
#include "model/shapes.h"
#include "options/json_arguments.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::core {

/// A layer of the probe and the modules that belong to it: those whose registered path begins with
/// `module`, unless a longer prefix claims them.
struct LayerPlace {
    std::string module;
    ProbeLayer layer;
    bool causal = false;
    bool relational = false;  ///< its attention mixes relations, or symbols weighted by them
};

/// A value of Architecture::layers for layers that are the same for all options.
inline auto fixedLayers(std::vector<LayerPlace> places) {
    return [places = std::move(places)](const auto&) { return places; };
}

/// Sizes of one layer, for estimates of memory and time.
struct WorkEstimate {
    std::int64_t layers = 1;
    std::int64_t d_model = 0;
    std::int64_t dff = 0;        ///< width of the feed-forward block
    std::int64_t heads = 0;      ///< attention matrices of n x n in each layer
    std::int64_t relations = 0;  ///< relations r_ij in each layer
    /// Numbers a token has in the queries and keys of all heads, and of all relations, of a layer:
    /// the factors of their maps. 0: a probe keeps the maps themselves.
    std::int64_t headFactors = 0, relationFactors = 0;
    std::int64_t symbolScores = 0;  ///< weights of the symbol retrieval, for each token and layer
    std::int64_t tokenNumbers = 0;  ///< numbers of the input and the output, for each token
    std::int64_t vocabulary = 0;    ///< scores of every token, with softmax and gradient
    bool keepsMatrices = false;     ///< dropout on weights keeps n x n matrices at any length
};

using ConfigJson = JsonArguments::Json;

/// The definition of an architecture with options of type `Options`: its own struct, or one that a
/// family shares. It inherits its groups of types/option_groups.h.
template <class Options>
struct Architecture {
    std::string name;   ///< the published class, in files and on the command line
    std::string title;  ///< on screens
    int order = 0;      ///< place in the form
    Options defaults = {};
    FieldTable<Options> fields;
    /// Adds problems to those of the groups (ProblemList::groups). Null: there are no others.
    void (*problems)(const Options&, ProblemList&) = nullptr;
    /// A short description of the model for lists of runs: "ViDAT sa4 ra4".
    std::string (*text)(const Options&) = nullptr;
    void (*shapes)(const Options&, ShapeList&) = nullptr;
    void (*outline)(const Options&, OutlineBuilder&) = nullptr;
    /// All layers with maps, in the order of computation; empty if there are none.
    std::function<std::vector<LayerPlace>(const Options&)> layers;
    /// The module of the layer that a symbol retrieval belongs to; null: retrieval i belongs to
    /// layer i.
    std::string (*symbolLayer)(const Options&, const std::string& retriever,
                               int retrieval) = nullptr;
    /// Further objects along the maps, besides those of the input: "selection" with E1 and E2.
    std::vector<ProbeSide> furtherSides = {};
    /// The estimate of work without tokenNumbers and vocabulary, which follow from the input.
    WorkEstimate (*work)(const Options&) = nullptr;
    /// The published constructor's arguments, read over its defaults, and written. Null: the fields
    /// under their own names, over `constructed`.
    Options constructed = {};
    void (*readConfig)(Options&, JsonArguments&) = nullptr;
    ConfigJson (*writeConfig)(const Options&) = nullptr;
    /// Sets options that are missing from a configuration but follow from the tensors; `shape`
    /// returns the shape of a tensor by name, empty if there is none.
    using ShapeOf = std::function<std::vector<std::int64_t>(const std::string&)>;
    void (*readTensors)(Options&, const ShapeOf& shape) = nullptr;
    bool numbers = false;      ///< its outputs are values, not scores of classes
    bool dual = false;         ///< has sensory and relational heads
    bool classToken = false;   ///< for images: token 0 stands for the whole image
    bool plainConfig = false;  ///< config.json holds the bare arguments, as the hub's files do
    bool opened = false;       ///< opened from checkpoints alone, and not offered for new models
};

/// An architecture with the type of its options erased, as used by the rest of the program.
struct ArchitectureInfo {
    template <class Options>
    explicit ArchitectureInfo(Architecture<Options> a);
    ArchitectureInfo(const ArchitectureInfo&) = delete;
    ArchitectureInfo& operator=(const ArchitectureInfo&) = delete;

    std::string name, title;
    InputKind input;
    int order;
    bool numbers, dual, classToken, plainConfig, opened;
    FieldTable<ModelOptions> fields;
    std::vector<ProbeSide> furtherSides;
    std::function<ModelOptions()> defaults;
    std::function<ModelOptions()> constructed;  ///< the defaults for reading a configuration
    std::function<std::vector<FieldProblem>(const ModelOptions&)> problems;
    std::function<std::string(const ModelOptions&)> text;
    std::function<std::int64_t(const ModelOptions&)> tokens, outputs;
    std::function<std::vector<TensorShape>(const ModelOptions&)> shapes;
    std::function<void(const ModelOptions&, OutlineBuilder&)> outline;
    std::function<std::vector<LayerPlace>(const ModelOptions&)> layers;
    std::function<std::string(const ModelOptions&, const std::string&, int)>
        symbolLayer;  // or null
    std::function<WorkEstimate(const ModelOptions&)> work;
    std::function<void(ModelOptions&, JsonArguments&)> readConfig;
    std::function<ConfigJson(const ModelOptions&)> writeConfig;
    std::function<void(ModelOptions&,
                       const std::function<std::vector<std::int64_t>(const std::string&)>&)>
        readTensors;

    /// The field of that name; null if the architecture has none.
    const Field<ModelOptions>* field(const std::string& name) const;

private:
    template <class Options, class Result, class... Arguments>
    static auto asking(Result (*function)(const Options&, Arguments...)) {
        return [function](const ModelOptions& m, Arguments... arguments) {
            return function(m.get<Options>(), std::forward<Arguments>(arguments)...);
        };
    }
};

/// Every registered architecture, in the order of the form.
const std::vector<const ArchitectureInfo*>& architectures();
/// The architecture of that name. Throws OptionError("architecture", ...) with the nearest names
/// for an unknown one.
const ArchitectureInfo& architectureInfo(const std::string& name);

/// Adds a descriptor to architectures(), as a static object in the file that defines it.
/// architectures() must not be called during static initialisation.
struct RegisterArchitecture {
    template <class Options>
    explicit RegisterArchitecture(Architecture<Options> a)
        : RegisterArchitecture(std::make_unique<ArchitectureInfo>(std::move(a))) {}

private:
    explicit RegisterArchitecture(std::unique_ptr<const ArchitectureInfo> info);
};

namespace fields {
using namespace relascope::fields;  // fields of one value; here are fields of an architecture

/// Converts the fields of a group to fields of a struct that inherits it.
template <class Options, class Group>
FieldTable<Options> of(const FieldTable<Group>& group) {
    FieldTable<Options> table;
    for (const auto& inner : group) {
        Field<Options> field;
        field.spec = inner.spec;
        const auto part = [](auto& o) -> auto& {
            if constexpr (std::is_same_v<Group, ModelOptions> ||
                          !std::is_same_v<Options, ModelOptions>)
                return o;
            else
                return o.template get<Group>();
        };
        field.get = [inner, part](const Options& o) { return inner.get(part(o)); };
        field.set = [inner, part](Options& o, const FieldValue& v) { inner.set(part(o), v); };
        field.applies = [inner, part](const Options& o) { return inner.applies(part(o)); };
        if (inner.choicesFor)
            field.choicesFor = [inner, part](const Options& o) {
                return inner.choicesFor(part(o));
            };
        if (inner.automatic)
            field.automatic = [inner, part](const Options& o) { return inner.automatic(part(o)); };
        table.push_back(std::move(field));
    }
    return table;
}

/// Concatenates tables.
template <class Options>
FieldTable<Options> joined(std::vector<FieldTable<Options>> tables) {
    FieldTable<Options> all;
    for (auto& table : tables)
        for (auto& field : table) all.push_back(std::move(field));
    return all;
}

}  // namespace fields

template <class Options>
constexpr InputKind inputOf() {
    return std::is_base_of_v<ImageInput, Options>   ? InputKind::Images
           : std::is_base_of_v<TokenInput, Options> ? InputKind::Tokens
           : std::is_base_of_v<PairInput, Options>  ? InputKind::Pairs
                                                    : InputKind::Objects;
}

template <class Options>
ArchitectureInfo::ArchitectureInfo(Architecture<Options> a)
    : name(a.name),
      title(a.title),
      input(inputOf<Options>()),
      order(a.order),
      numbers(a.numbers),
      dual(a.dual),
      classToken(a.classToken),
      plainConfig(a.plainConfig),
      opened(a.opened),
      fields(fields::of<ModelOptions>(a.fields)),
      furtherSides(a.furtherSides),
      text(asking(a.text)),
      tokens([](const ModelOptions& m) { return m.get<Options>().tokens(); }),
      outputs([](const ModelOptions& m) { return m.get<Options>().outputs(); }),
      outline(asking(a.outline)) {
    defaults = [this, options = a.defaults] { return ModelOptions(*this, options); };
    constructed = [this, options = a.readConfig ? a.defaults : a.constructed] {
        return ModelOptions(*this, options);
    };
    problems = [function = a.problems](const ModelOptions& m) {
        const auto& o = m.get<Options>();
        ProblemList list;
        list.groups(o);
        if (function) function(o, list);
        return list.take();
    };
    work = [function = a.work](const ModelOptions& m) {
        const auto& o = m.get<Options>();
        WorkEstimate estimate = function(o);
        if constexpr (inputOf<Options>() == InputKind::Tokens)
            estimate.vocabulary = o.vocab_size;
        else
            estimate.tokenNumbers = o.tokenNumbers();
        return estimate;
    };
    shapes = [function = a.shapes](const ModelOptions& m) {
        ShapeList list;
        function(m.get<Options>(), list);
        return list.take();
    };
    layers = [function = a.layers](const ModelOptions& m) {
        return function ? function(m.get<Options>()) : std::vector<LayerPlace>{};
    };
    if (a.symbolLayer) symbolLayer = asking(a.symbolLayer);
    if (a.readConfig)
        readConfig = [function = a.readConfig](ModelOptions& m, JsonArguments& json) {
            function(m.get<Options>(), json);
        };
    if (a.writeConfig) writeConfig = asking(a.writeConfig);
    if (a.readTensors)
        readTensors = [function = a.readTensors](ModelOptions& m, const auto& shape) {
            function(m.get<Options>(), shape);
        };
}

}  // namespace relascope::core

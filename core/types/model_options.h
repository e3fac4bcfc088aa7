// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a model: its architecture and sizes. Names and defaults are those of the published
// constructors.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "types/block_options.h"
#include "types/option_groups.h"

namespace relascope::core {
struct ArchitectureInfo;
}  // namespace relascope::core

namespace relascope {

/// The kind of input of a model.
enum class InputKind {
    Images,   ///< [b, channels, height, width] in 0..1
    Tokens,   ///< [b, n] ids, one sequence
    Pairs,    ///< a source sequence and a target sequence, each of tokens or of vectors
    Objects,  ///< [b, n_objects, object_dim]
};

/// An architecture and its own options: a value that holds one of the option structs of
/// core/model/*/, and its descriptor (model/architecture.h).
class ModelOptions {
public:
    /// The first architecture of the form, with its defaults.
    ModelOptions();
    /// The defaults of that architecture. Throws OptionError, with the nearest names, for an
    /// unknown one.
    explicit ModelOptions(const std::string& architecture);
    ModelOptions(const ModelOptions& other);
    ModelOptions(ModelOptions&&) noexcept = default;
    ModelOptions& operator=(const ModelOptions& other);
    ModelOptions& operator=(ModelOptions&&) noexcept = default;
    ~ModelOptions() = default;

    const core::ArchitectureInfo& info() const { return *m_info; }
    /// The published class name: "VisionDualAttnTransformer".
    const std::string& architecture() const;
    /// Changes to another architecture: its defaults, with the values of all fields that both have.
    void setArchitecture(const std::string& name);

    /// The group of options, or the architecture's own struct; null if it has none of that type.
    template <class Group>
    const Group* find() const {
        return dynamic_cast<const Group*>(m_options.get());
    }
    template <class Group>
    Group* find() {
        return dynamic_cast<Group*>(m_options.get());
    }
    /// The group of options, of a type that the architecture is known to have.
    template <class Group>
    const Group& get() const {
        if (const auto* group = find<Group>()) return *group;
        missing();
    }
    template <class Group>
    Group& get() {
        if (auto* group = find<Group>()) return *group;
        missing();
    }

    /// A field by its name, as in --set model.NAME. Throws OptionError if the architecture has no
    /// such field.
    FieldValue value(const std::string& field) const;
    void set(const std::string& field, const FieldValue& value);
    /// The value of a field that is known to be an integer.
    std::int64_t number(const std::string& field) const {
        return std::get<std::int64_t>(value(field));
    }
    /// Whether this architecture has that field.
    bool has(const std::string& field) const;

    InputKind input() const;
    /// Number of outputs of the model: classes, vocabulary rows or values.
    std::int64_t outputs() const;
    /// Objects of the longest input: patches and class token, context, source sequence, set.
    std::int64_t tokens() const;
    /// The target value that the loss ignores; -1: none.
    std::int64_t ignoredTarget() const;

    /// The problem of every value that no model can be built with, before anything is allocated.
    std::vector<FieldProblem> problems() const;
    /// Throws OptionError ("model.FIELD: ...") with the first problem.
    void check() const;

    bool operator==(const ModelOptions& other) const;

    /// The fields of all architectures, each name once, in the order of the form. A field applies
    /// if the architecture has it and it has an effect there; setting it elsewhere changes nothing.
    static const FieldTable<ModelOptions>& fieldTable();
    /// Every architecture that a new model can have, in the order of the form.
    static const std::vector<std::string>& architectures();

private:
    friend struct core::ArchitectureInfo;
    struct Holder {
        virtual ~Holder() = default;
        virtual std::unique_ptr<Holder> clone() const = 0;
        virtual bool equals(const Holder& other) const = 0;
    };
    template <class Options>
    struct Holding final : Holder, Options {
        explicit Holding(Options options) : Options(std::move(options)) {}
        std::unique_ptr<Holder> clone() const override { return std::make_unique<Holding>(*this); }
        bool equals(const Holder& other) const override {
            return static_cast<const Options&>(*this) ==
                   static_cast<const Options&>(dynamic_cast<const Holding&>(other));
        }
    };

    template <class Options>
    ModelOptions(const core::ArchitectureInfo& info, Options options)
        : m_info(&info), m_options(std::make_unique<Holding<Options>>(std::move(options))) {}
    [[noreturn]] void missing() const;

    const core::ArchitectureInfo* m_info;
    std::unique_ptr<Holder> m_options;
};

}  // namespace relascope

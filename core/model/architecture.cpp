// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/architecture.h"

#include <algorithm>
#include <memory>

#include "types/suggest.h"

namespace relascope::core {
namespace {

std::vector<std::unique_ptr<const ArchitectureInfo>>& registered() {
    static std::vector<std::unique_ptr<const ArchitectureInfo>> all;
    return all;
}

}  // namespace

RegisterArchitecture::RegisterArchitecture(std::unique_ptr<const ArchitectureInfo> info) {
    auto& all = registered();
    all.insert(std::upper_bound(all.begin(), all.end(), info->order,
                                [](int order, const auto& other) { return order < other->order; }),
               std::move(info));
}

const std::vector<const ArchitectureInfo*>& architectures() {
    static const auto list = [] {
        std::vector<const ArchitectureInfo*> all;
        for (const auto& info : registered()) all.push_back(info.get());
        return all;
    }();
    return list;
}

const ArchitectureInfo& architectureInfo(const std::string& name) {
    for (const auto* info : architectures())
        if (info->name == name) return *info;
    throw OptionError("model.architecture",
                      unknownName("model", name, ModelOptions::architectures()));
}

const Field<ModelOptions>* ArchitectureInfo::field(const std::string& wanted) const {
    for (const auto& candidate : fields)
        if (candidate.spec.name == wanted) return &candidate;
    for (const auto& candidate : fields)
        if (!wanted.empty() && candidate.spec.formerName == wanted) return &candidate;
    return nullptr;
}

}  // namespace relascope::core

namespace relascope {
namespace {

// The field of the own architecture of the model; null if it has none of that name.
const Field<ModelOptions>* own(const ModelOptions& m, const std::string& name) {
    return m.info().field(name);
}

// A field by name for models of any architecture. A model without the field reads as `missing` and
// ignores writes.
Field<ModelOptions> sharedField(const FieldSpec& spec, FieldValue missing) {
    const std::string name = spec.name;
    Field<ModelOptions> field;
    field.spec = spec;
    field.get = [name, missing = std::move(missing)](const ModelOptions& m) {
        const auto* at = own(m, name);
        return at ? at->get(m) : missing;
    };
    field.set = [name](ModelOptions& m, const FieldValue& value) {
        if (const auto* at = own(m, name)) at->set(m, value);
    };
    field.present = [name](const ModelOptions& m) {
        const auto* at = own(m, name);
        return at && at->spec.name == name;
    };
    field.applies = [name](const ModelOptions& m) {
        const auto* at = own(m, name);
        return at && at->spec.name == name && at->applies(m);
    };
    field.choicesFor = [name, all = spec.choices](const ModelOptions& m) {
        const auto* at = own(m, name);
        if (!at) return all;
        return at->choicesFor ? at->choicesFor(m) : at->spec.choices;
    };
    field.automatic = [name](const ModelOptions& m) {
        const auto* at = own(m, name);
        return at && at->automatic ? at->automatic(m) : std::string();
    };
    return field;
}

FieldTable<ModelOptions> allFields() {
    FieldTable<ModelOptions> all;
    Field<ModelOptions> which;
    which.spec = {"architecture", "Architecture",
                  "Model class: dual attention, its Transformer baselines, the Abstractor, or "
                  "another relational baseline.",
                  FieldKind::Choice};
    for (const auto* info : core::architectures()) {
        which.spec.choices.push_back(info->name);
        which.spec.choiceTitles.push_back(info->title);
    }
    // Architectures that are only opened from checkpoints are offered only to a model that has one.
    which.choicesFor = [](const ModelOptions& m) {
        auto names = ModelOptions::architectures();
        if (m.info().opened) names.push_back(m.architecture());
        return names;
    };
    which.get = [](const ModelOptions& m) { return FieldValue(m.architecture()); };
    which.set = [](ModelOptions& m, const FieldValue& value) {
        m.setArchitecture(std::get<std::string>(value));
    };
    all.push_back(std::move(which));
    const auto place = [&all](const std::string& name) {
        return std::find_if(all.begin(), all.end(),
                            [&name](const auto& field) { return field.spec.name == name; });
    };
    for (const auto* info : core::architectures()) {
        std::string before = "architecture";
        const auto defaults = info->defaults();
        for (const auto& field : info->fields) {
            const auto& spec = field.spec;
            if (const auto at = place(spec.name); at == all.end()) {
                all.insert(place(before) + 1, sharedField(spec, field.get(defaults)));
            } else {
                auto shared = at->spec;
                for (const auto& choice : spec.choices)
                    if (std::find(shared.choices.begin(), shared.choices.end(), choice) ==
                        shared.choices.end())
                        shared.choices.push_back(choice);
                shared.minimum = std::min(shared.minimum, spec.minimum);
                shared.maximum = std::max(shared.maximum, spec.maximum);
                *at = sharedField(shared, at->get(defaults));
            }
            before = spec.name;
        }
    }
    return all;
}

}  // namespace

ModelOptions::ModelOptions() : ModelOptions(core::architectures().front()->defaults()) {}

ModelOptions::ModelOptions(const std::string& architecture)
    : ModelOptions(core::architectureInfo(architecture).defaults()) {}

ModelOptions::ModelOptions(const ModelOptions& other)
    : m_info(other.m_info), m_options(other.m_options->clone()) {}

ModelOptions& ModelOptions::operator=(const ModelOptions& other) {
    if (this == &other) return *this;
    m_options = other.m_options->clone();
    m_info = other.m_info;
    return *this;
}

const std::string& ModelOptions::architecture() const {
    return m_info->name;
}

void ModelOptions::setArchitecture(const std::string& name) {
    ModelOptions next(name);
    for (const auto& field : next.info().fields) {
        const auto* before = own(*this, field.spec.name);
        if (!before || before->spec.kind != field.spec.kind) continue;
        const auto value = before->get(*this);
        const auto& choices = field.spec.choices;
        if (const auto* text = std::get_if<std::string>(&value);
            !text || choices.empty() ||
            std::find(choices.begin(), choices.end(), *text) != choices.end())
            field.set(next, value);
    }
    *this = std::move(next);
}

bool ModelOptions::has(const std::string& field) const {
    return own(*this, field) != nullptr;
}

FieldValue ModelOptions::value(const std::string& field) const {
    if (const auto* at = own(*this, field)) return at->get(*this);
    throw OptionError("model." + field, "is not an option of " + architecture());
}

void ModelOptions::set(const std::string& field, const FieldValue& value) {
    const auto* at = own(*this, field);
    if (!at) throw OptionError("model." + field, "is not an option of " + architecture());
    const auto* integer = std::get_if<std::int64_t>(&value);
    at->set(*this, integer && at->spec.kind == FieldKind::Real
                       ? FieldValue(static_cast<double>(*integer))
                       : value);
}

InputKind ModelOptions::input() const {
    return m_info->input;
}
std::int64_t ModelOptions::outputs() const {
    return m_info->outputs(*this);
}
std::int64_t ModelOptions::tokens() const {
    return m_info->tokens(*this);
}
std::int64_t ModelOptions::ignoredTarget() const {
    const auto* pairs = find<PairInput>();
    return pairs && pairs->loss_ignore_idx >= 0 ? pairs->loss_ignore_idx : -1;
}

std::vector<FieldProblem> ModelOptions::problems() const {
    return m_info->problems(*this);
}

void ModelOptions::check() const {
    const auto found = problems();
    if (!found.empty()) throw OptionError("model." + found[0].field, found[0].message);
}

bool ModelOptions::operator==(const ModelOptions& other) const {
    return m_info == other.m_info && m_options->equals(*other.m_options);
}

const FieldTable<ModelOptions>& ModelOptions::fieldTable() {
    static const FieldTable<ModelOptions> table = allFields();
    return table;
}

const std::vector<std::string>& ModelOptions::architectures() {
    static const auto names = [] {
        std::vector<std::string> all;
        for (const auto* info : core::architectures())
            if (!info->opened) all.push_back(info->name);
        return all;
    }();
    return names;
}

void ModelOptions::missing() const {
    throw std::logic_error(architecture() + " has no such group of options");
}

}  // namespace relascope

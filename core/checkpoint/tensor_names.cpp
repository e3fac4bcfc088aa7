// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/tensor_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include "model/public/family.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

// Wrappers of any module of a model, whose names mean nothing wherever they stand.
constexpr std::array<std::string_view, 5> kAnywhere = {"_orig_mod", "_fsdp_wrapped_module",
                                                       "_fpw_module", "_checkpoint_wrapped_module",
                                                       "_forward_module"};
// Names under which training modules hold a whole model. Weights before their averages.
constexpr std::array<std::string_view, 9> kBefore = {"module",  "model",          "net",
                                                     "network", "base_model",     "ema_model",
                                                     "ema",     "averaged_model", "module_ema"};
// Words in names of tensors that training keeps beside a model: metrics, losses, counts of
// averages.
constexpr std::array<std::string_view, 14> kBeside = {
    "metric",   "metrics",  "loss", "losses", "criterion", "optimizer", "scheduler",
    "averaged", "accuracy", "acc",  "auroc",  "confmat",   "f1",        "updates"};
constexpr std::size_t kMostRules = 400;

using NameSet = std::unordered_set<std::string_view>;

template <class List>
bool isOneOf(const List& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

// Calls `use` with each part of a name between dots, or other marks.
template <class Use>
void eachPart(std::string_view name, Use use, const char* marks = ".") {
    for (std::size_t from = 0; from <= name.size();) {
        const auto end = std::min(name.find_first_of(marks, from), name.size());
        use(name.substr(from, end - from));
        from = end + 1;
    }
}

std::string withoutWrappers(const std::string& stored) {
    std::string name;
    eachPart(stored, [&](std::string_view part) {
        if (isOneOf(kAnywhere, part)) return;
        if (!name.empty()) name += '.';
        name += part;
    });
    return name.empty() ? stored : name;
}

// Whether a prefix consists of names of wrappers.
bool wraps(std::string_view prefix) {
    if (prefix.empty()) return true;
    bool all = true;
    prefix.remove_suffix(1);
    eachPart(prefix, [&](std::string_view part) { all = all && isOneOf(kBefore, part); });
    return all;
}

// How many of the expected names there are after each prefix.
std::map<std::string_view, std::size_t> prefixesOf(const std::vector<StoredTensor>& tensors,
                                                   const NameSet& expected) {
    std::map<std::string_view, std::size_t> found;
    for (const auto& tensor : tensors) {
        const std::string_view name = tensor.name;
        for (std::size_t from = 0; from < name.size();) {
            if (expected.count(name.substr(from))) ++found[name.substr(0, from)];
            const auto dot = name.find('.', from);
            if (dot == std::string_view::npos) break;
            from = dot + 1;
        }
    }
    return found;
}

NameSet allNames(const NamesOfModel& known) {
    NameSet all(known.required.begin(), known.required.end());
    all.insert(known.optional.begin(), known.optional.end());
    return all;
}

// The order in which prefixes of as many names are taken: the shortest, then by kBefore.
bool comesFirst(std::string_view a, std::string_view b) {
    const auto depth = [](std::string_view p) { return std::count(p.begin(), p.end(), '.'); };
    if (depth(a) != depth(b)) return depth(a) < depth(b);
    const auto rank = [](std::string_view p) {
        return std::find(kBefore.begin(), kBefore.end(), p.substr(0, p.find('.'))) -
               kBefore.begin();
    };
    return std::pair(rank(a), a) < std::pair(rank(b), b);
}

// The wrappers before the names of the model: those that fit most of them.
std::string wrapperOf(const std::vector<StoredTensor>& tensors,
                      const std::vector<NamesOfModel>& known) {
    std::string best;
    std::size_t most = 0, wanted = 1;
    for (const auto& form : known)
        for (const auto& [prefix, count] : prefixesOf(tensors, allNames(form))) {
            if (!wraps(prefix) || count < most) continue;
            if (count == most && !comesFirst(prefix, best)) continue;
            best = prefix, most = count, wanted = form.required.size();
        }
    // A few names alone may fit by chance.
    return 2 * most >= wanted ? best : "";
}

// Removes the wrappers that all names share, where no model is known.
void removeShared(std::vector<StoredTensor>& tensors) {
    for (bool changed = !tensors.empty(); changed;) {
        changed = false;
        for (const auto& wrapper : kBefore) {
            const auto prefix = std::string(wrapper) + ".";
            if (!std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
                    return tensor.name.size() > prefix.size() && tensor.name.starts_with(prefix);
                }))
                continue;
            for (auto& tensor : tensors) tensor.name.erase(0, prefix.size());
            changed = true;
        }
    }
}

bool standsBeside(std::string_view name) {
    bool beside = false;
    eachPart(
        name, [&](std::string_view word) { beside = beside || isOneOf(kBeside, word); }, "._");
    return beside;
}

}  // namespace

NamesOfModel namesOf(const std::vector<TensorShape>& shapes) {
    NamesOfModel names;
    for (const auto& tensor : shapes)
        (tensor.aliasOf.empty() ? names.required : names.optional).push_back(tensor.name);
    return names;
}

std::vector<NamesOfModel> namesInFiles(const ModelOptions& model) {
    const auto own = namesOf(modelShapes(model));
    const auto* family = familyOf(model);
    if (!family) return {own};
    std::vector<NamesOfModel> forms;
    const auto tensors = fileTensors(model);
    for (const bool memory : {false, true})
        for (const auto& prefix : {family->prefix, std::string()}) {
            auto& form = forms.emplace_back();
            for (const auto& tensor : tensors) {
                const auto& name = memory && !tensor.also.empty() ? tensor.also : tensor.name;
                (tensor.optional || tensor.further ? form.optional : form.required)
                    .push_back(tensor.outside ? name : prefix + name);
            }
        }
    forms.push_back(own);
    return forms;
}

std::vector<std::string> nameTensors(std::vector<StoredTensor>& tensors,
                                     const std::vector<NamesOfModel>& known) {
    std::vector<std::string> beside(tensors.size());
    for (auto& tensor : tensors) tensor.name = plainName(withoutWrappers(tensor.stored));
    if (known.empty()) {
        removeShared(tensors);
        return beside;
    }
    const auto wrapper = wrapperOf(tensors, known);
    NameSet expected;
    for (const auto& form : known) expected.merge(allNames(form));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        auto& name = tensors[i].name;
        if (!name.starts_with(wrapper) || name.size() == wrapper.size()) {
            beside[i] = "is not under '" + wrapper.substr(0, wrapper.size() - 1) +
                        "', as the tensors of the model are";
            name = plainName(tensors[i].stored);
            continue;
        }
        name.erase(0, wrapper.size());
        if (!expected.count(name) && standsBeside(name)) {
            beside[i] = "does not belong to the model";
            name = plainName(tensors[i].stored);
        }
    }
    return beside;
}

namespace {

// "blocks" for "layers": a part of names that the file has in place of another.
struct NameRule {
    std::string from, to;  ///< whole parts with their dot, one may be empty

    std::string operator()(const std::string& name) const {
        if (from.empty()) return to + name;
        for (auto at = name.find(from); at != std::string::npos; at = name.find(from, at + 1))
            if (at == 0 || name[at - 1] == '.')
                return name.substr(0, at) + to + name.substr(at + from.size());
        return name;
    }
    bool ofWholeParts() const {
        return (from.empty() || from.ends_with('.')) && (to.empty() || to.ends_with('.'));
    }
    bool operator<(const NameRule& other) const {
        return std::pair(from, to) < std::pair(other.from, other.to);
    }
};

// The rule that makes one name of another, without the parts that they begin and end with.
NameRule ruleOf(std::string_view name, std::string_view wanted) {
    const auto first = [](std::string_view text) {
        const auto dot = text.find('.');
        return dot == std::string_view::npos ? text : text.substr(0, dot + 1);
    };
    while (name.find('.') != std::string_view::npos && first(name) == first(wanted)) {
        const auto length = first(name).size();
        name.remove_prefix(length), wanted.remove_prefix(length);
    }
    const auto shared =
        std::mismatch(name.rbegin(), name.rend(), wanted.rbegin(), wanted.rend()).first -
        name.rbegin();
    auto end = name.substr(name.size() - static_cast<std::size_t>(shared));
    // Whole parts: one of the two ends where the other has a dot.
    while (!end.empty()) {
        const auto whole = [&](std::string_view text) {
            return text.size() == end.size() || text[text.size() - end.size() - 1] == '.';
        };
        if (whole(name) && whole(wanted)) break;
        const auto dot = end.find('.');
        end = dot == std::string_view::npos ? std::string_view() : end.substr(dot + 1);
    }
    return {std::string(name.substr(0, name.size() - end.size())),
            std::string(wanted.substr(0, wanted.size() - end.size()))};
}

std::string ruleText(const NameRule& rule, std::size_t names) {
    const auto all = "all " + std::to_string(names) + " names would fit ";
    if (rule.to.empty()) return all + "without the prefix '" + rule.from + "'";
    if (rule.from.empty()) return all + "with the prefix '" + rule.to + "' before them";
    return all + "with '" + rule.to + "' in place of '" + rule.from + "'";
}

}  // namespace

std::string howNamesDiffer(const std::vector<StoredTensor>& tensors,
                           const std::vector<NamesOfModel>& known) {
    NameSet there;
    for (const auto& tensor : tensors) {
        there.insert(tensor.name);
        if (tensor.name.find(".lora_A.") != std::string::npos)
            return "it holds the matrices of LoRA beside the weights they change; save the adapter "
                   "alone (save_pretrained), or the model after merge_and_unload()";
    }
    // The plainest explanation first: a prefix that is too much.
    for (const bool plain : {true, false})
        for (const auto& form : known) {
            const auto lacks = [&](const auto& name) { return !there.count(name); };
            const auto missing = std::find_if(form.required.begin(), form.required.end(), lacks);
            if (missing == form.required.end()) return {};
            // One name may be like another by chance.
            if (!plain && std::count_if(missing, form.required.end(), lacks) < 2) continue;
            std::set<NameRule> rules;
            for (const auto& tensor : tensors) {
                const auto rule = ruleOf(tensor.name, *missing);
                if (rule.to.empty() == plain && rule.ofWholeParts() &&
                    rule(tensor.name) == *missing && rules.size() < kMostRules)
                    rules.insert(rule);
            }
            for (const auto& rule : rules) {
                std::set<std::string> renamed;
                for (const auto& tensor : tensors) renamed.insert(rule(tensor.name));
                if (std::all_of(form.required.begin(), form.required.end(),
                                [&](const auto& name) { return renamed.count(name) > 0; }))
                    return ruleText(rule, form.required.size());
            }
        }
    return {};
}

}  // namespace relascope::core

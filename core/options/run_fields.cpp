// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of a whole run: those of its model, its training and its data under one table.
#include "options/step_share.h"
#include "types/data_kind.h"
#include "types/run_options.h"
#include "types/suggest.h"

namespace relascope {
namespace {

template <class Part>
void add(FieldTable<RunOptions>& all, const char* group, Part RunOptions::*part) {
    for (const auto& inner : Part::fieldTable()) {
        Field<RunOptions> field;
        field.spec = inner.spec;
        field.spec.name = std::string(group) + "." + inner.spec.name;
        field.get = [inner, part](const RunOptions& o) { return inner.get(o.*part); };
        field.set = [inner, part](RunOptions& o, const FieldValue& v) { inner.set(o.*part, v); };
        field.applies = [inner, part](const RunOptions& o) { return inner.applies(o.*part); };
        field.present = [inner, part](const RunOptions& o) { return inner.present(o.*part); };
        if (inner.choicesFor)
            field.choicesFor = [inner, part](const RunOptions& o) {
                return inner.choicesFor(o.*part);
            };
        if (inner.automatic)
            field.automatic = [inner, part](const RunOptions& o) {
                return inner.automatic(o.*part);
            };
        all.push_back(std::move(field));
    }
}

}  // namespace

const FieldTable<RunOptions>& RunOptions::fieldTable() {
    static const FieldTable<RunOptions> table = [] {
        FieldTable<RunOptions> all;
        add(all, "model", &RunOptions::model);
        add(all, "train", &RunOptions::train);
        add(all, "data", &RunOptions::data);
        return all;
    }();
    return table;
}

std::vector<std::string> RunOptions::keys() {
    std::vector<std::string> names;
    for (const auto& field : fieldTable()) names.push_back(field.spec.name);
    return names;
}

const Field<RunOptions>& RunOptions::field(const std::string& key) {
    for (const auto& candidate : fieldTable())
        if (candidate.spec.name == key) return candidate;
    throw OptionError(key, unknownName("option", key, keys()));
}

std::vector<FieldProblem> RunOptions::problems() const {
    std::vector<FieldProblem> all;
    for (const auto& p : model.problems()) all.push_back({"model." + p.field, p.message});
    for (const auto& p : data.problems()) all.push_back({"data." + p.field, p.message});
    for (const auto& p : train.problems()) all.push_back({"train." + p.field, p.message});
    const auto* kind = findDataKind(data.kind);
    if (kind && kind->input != model.input()) {
        static const char* const words[] = {"images", "text", "pairs of sequences",
                                            "sets of objects"};
        all.push_back(
            {"data.kind", data.kind + " data are " + words[static_cast<std::size_t>(kind->input)] +
                              ", but model.architecture " + model.architecture() + " expects " +
                              words[static_cast<std::size_t>(model.input())]});
    } else if (kind && kind->input == InputKind::Tokens && data.context > model.tokens()) {
        all.push_back({"data.context", std::to_string(data.context) +
                                           " tokens exceed model.max_block_size " +
                                           std::to_string(model.tokens())});
    }
    if (kind && all.empty())  // what follows computes with these values
        all = core::rankProblems(*this, core::ranksOf(*this).count);
    if (!train.pretrain.empty() && train.start_from.empty())
        all.push_back(
            {"train.start_from",
             "must list the weights to take from the pretraining stage; give all, or names"});
    return all;
}

void RunOptions::check() const {
    const auto found = problems();
    if (!found.empty()) throw OptionError(found[0].field, found[0].message);
}

std::vector<FieldState> RunOptions::states(const RunOptions& presetValues) const {
    // For another architecture than that of the preset, common fields are compared with the preset
    // and the others with the defaults.
    RunOptions reference = presetValues;
    if (reference.model.architecture() != model.architecture())
        reference.model.setArchitecture(model.architecture());
    std::vector<FieldState> all;
    for (const auto& f : fieldTable()) {
        const bool itself = f.spec.name == "model.architecture";
        all.push_back({f.spec.name, f.spec, f.get(*this), f.get(itself ? presetValues : reference),
                       f.applies(*this)});
        if (f.choicesFor) all.back().spec.choices = f.choicesFor(*this);
        if (f.automatic) all.back().automatic = f.automatic(*this);
    }
    return all;
}

}  // namespace relascope

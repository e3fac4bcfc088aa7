// SPDX-License-Identifier: GPL-3.0-or-later
// What the descriptors of decoders and of image models of public families share. Internal to them.
#pragma once

#include "model/baselines/patch_info.h"
#include "model/blocks/block_info.h"
#include "model/public/family.h"
#include "model/public/public_options.h"

namespace relascope::core {

/// Activations and norms that families have. Asked for before objects of other files exist.
std::vector<std::string> familyActivations();
std::vector<std::string> familyNorms();
/// The details of blocks of every family; with `decoder` those that only decoders have, otherwise
/// those of image models.
FieldTable<BlockDetails> familyDetails(bool decoder);

/// The fields that all of them have; `families`: whose names can be chosen.
template <class Options>
FieldTable<Options> familyFields(bool rotary, const std::vector<Family>& families) {
    using namespace fields;
    using O = FamilyName;
    FieldSpec family{"family", "Family", "The public family whose checkpoint this is.",
                     FieldKind::Choice};
    for (const auto& one : families)
        if (one.architecture != kPublicDualDecoder)
            family.choices.push_back(one.type), family.choiceTitles.push_back(one.title);
    auto blocks = plainBlock(plainHeads());
    for (auto& field : blocks) {
        if (field.spec.name == "activation") field.spec.choices = familyActivations();
        if (field.spec.name == "norm_type") field.spec.choices = familyNorms();
    }
    return joined<Options>({of<Options>(FieldTable<O>{
                                make(family, &O::family),
                                advanced(boolean(&O::ff_bias, "ff_bias", "Feed-forward bias",
                                                 "Adds biases inside the feed-forward block."))}),
                            of<Options>(depth()), of<Options>(stream()),
                            block<Options>(blocks, false), of<Options>(familyDetails(rotary))});
}

/// Sizes of heads that cannot be built.
template <class Options>
void headProblems(const Options& o, ProblemList& list) {
    if (!list.empty()) return;
    const auto n = [](std::int64_t value) { return std::to_string(value); };
    const std::int64_t heads = o.n_heads_sa;
    if (heads < 1) return list.refuse("n_heads_sa", "there are no heads; give at least one");
    if (o.head_dim == 0 && o.d_model % heads != 0)
        return list.refuse("d_model", n(o.d_model) + " is not a multiple of the " + n(heads) +
                                          " heads; the next multiple is " +
                                          n((o.d_model / heads + 1) * heads));
    if (const auto kv = o.sa_n_kv_heads; kv > 0 && heads % kv != 0)
        list.refuse("sa_n_kv_heads", n(kv) + " does not divide the " + n(heads) + " heads");
}

/// The blocks of a stack, each with the parts of its attention.
void addFamilyBlocks(OutlineBuilder& builder, const char* title, const std::string& name,
                     std::int64_t layers, const StackOptions& stack);

/// "GPT-2 12 layers, 12 heads".
template <class Options>
std::string familyText(const Options& o) {
    const auto* family = findFamily(o.family);
    return (family ? family->title : o.family) + " " + std::to_string(o.n_layers) + " layers, " +
           std::to_string(o.n_heads_sa) + " heads";
}

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
// Names of tensors as training scripts leave them.
#include "checkpoint/tensor_names.h"

#include <gtest/gtest.h>

namespace relascope::core {
namespace {

std::vector<StoredTensor> tensorsOf(const std::vector<std::string>& stored) {
    std::vector<StoredTensor> all;
    for (const auto& name : stored) all.push_back({name, name, "F32", {2}, 8, "", 0, ""});
    return all;
}

const NamesOfModel kPlain = {{"in.weight", "blocks.0.weight", "blocks.1.weight"}, {"out.weight"}};
const NamesOfModel kWithBase = {{"base.in.weight", "base.blocks.0.weight", "head.weight"}, {}};
const NamesOfModel kWithoutBase = {{"in.weight", "blocks.0.weight", "head.weight"}, {}};

// The names of a file in the model, and what is left out as "(name)".
std::string named(const std::vector<std::string>& stored, const std::vector<NamesOfModel>& known) {
    auto tensors = tensorsOf(stored);
    const auto beside = nameTensors(tensors, known);
    std::string all;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        all += (all.empty() ? "" : " ") +
               (beside[i].empty() ? tensors[i].name : "(" + tensors[i].name + ")");
    return all;
}

std::vector<std::string> with(const std::string& prefix) {
    std::vector<std::string> all;
    for (const auto& name : kPlain.required) all.push_back(prefix + name);
    return all;
}

const std::string kNames = "in.weight blocks.0.weight blocks.1.weight";

TEST(TensorNames, LoseWrappersInAnyOrderAndDepth) {
    for (const char* prefix :
         {"", "module.", "_orig_mod.", "_fsdp_wrapped_module.", "model.", "net.",
          "base_model.model.", "ema_model.", "module._orig_mod.", "_orig_mod.module.",
          "model.module._orig_mod.", "_forward_module.model.", "model.net._fsdp_wrapped_module."})
        EXPECT_EQ(named(with(prefix), {kPlain}), kNames) << prefix;
    EXPECT_EQ(named({"in.weight", "blocks.0._checkpoint_wrapped_module.weight",
                     "blocks._fsdp_wrapped_module.1._orig_mod.weight"},
                    {kPlain}),
              kNames)
        << "and those of single layers";
    // A tied output and names that are in no list keep their place in the model.
    EXPECT_EQ(named({"module.in.weight", "module.blocks.0.weight", "module.blocks.1.weight",
                     "module.out.weight", "module.more.weight"},
                    {kPlain}),
              kNames + " out.weight more.weight");
}

TEST(TensorNames, LeaveOutWhatStandsBesideTheModel) {
    auto names = with("model.");
    for (const char* other : {"train_acc.correct", "loss_fn.weight", "ema_model.in.weight"})
        names.push_back(other);
    EXPECT_EQ(named(names, {kPlain}),
              kNames + " (train_acc.correct) (loss_fn.weight) (ema_model.in.weight)");
    names = with("module.");
    names.push_back("n_averaged");
    EXPECT_EQ(named(names, {kPlain}), kNames + " (n_averaged)");
    names = with("");
    for (const char* other : {"criterion.weight", "val_metrics.f1.tp", "n_averaged"})
        names.push_back(other);
    EXPECT_EQ(named(names, {kPlain}),
              kNames + " (criterion.weight) (val_metrics.f1.tp) (n_averaged)");
    names.push_back("adapter.weight");
    EXPECT_NE(named(names, {kPlain}).find(" adapter.weight"), std::string::npos)
        << "what may be of the model is no guess";
    // An average of the weights, with the weights themselves beside it.
    names = with("ema_model.");
    for (const auto& name : with("online_model.")) names.push_back(name);
    EXPECT_EQ(named(names, {kPlain}), kNames +
                                          " (online_model.in.weight) (online_model.blocks.0.weight)"
                                          " (online_model.blocks.1.weight)");
}

// "model." may be a wrapper, or the prefix of a family's base model.
TEST(TensorNames, KeepThePrefixOfABaseModel) {
    const NamesOfModel withModel = {{"model.in.weight", "model.blocks.0.weight", "head.weight"},
                                    {}};
    const std::vector<NamesOfModel> forms = {withModel, kWithoutBase};
    const std::string own = "model.in.weight model.blocks.0.weight head.weight";
    EXPECT_EQ(named({"model.in.weight", "model.blocks.0.weight", "head.weight"}, forms), own);
    EXPECT_EQ(named({"model.model.in.weight", "model.model.blocks.0.weight", "model.head.weight",
                     "metric.total"},
                    forms),
              own + " (metric.total)");
    EXPECT_EQ(named({"in.weight", "blocks.0.weight", "head.weight"}, forms),
              "in.weight blocks.0.weight head.weight");
}

TEST(TensorNames, LoseSharedWrappersWhereNoModelIsKnown) {
    EXPECT_EQ(named({"module.model.a", "module.model.b"}, {}), "a b");
    EXPECT_EQ(named({"module.a", "b"}, {}), "module.a b");
}

std::string how(const std::vector<std::string>& stored, const std::vector<NamesOfModel>& known) {
    auto tensors = tensorsOf(stored);
    nameTensors(tensors, known);
    return howNamesDiffer(tensors, known);
}

TEST(TensorNames, SayHowTheyDiffer) {
    EXPECT_EQ(how(with("student."), {kPlain}),
              "all 3 names would fit without the prefix 'student.'");
    EXPECT_EQ(how(with("a.student."), {kPlain}),
              "all 3 names would fit without the prefix 'a.student.'");
    auto names = with("student.");
    names.push_back("teacher.in.weight");
    EXPECT_EQ(how(names, {kPlain}), "all 3 names would fit without the prefix 'student.'");
    EXPECT_EQ(how({"in.weight", "blocks.0.weight", "head.weight"}, {kWithBase}), "");
    EXPECT_EQ(
        how({"in.weight", "blocks.0.weight"}, {{{"base.in.weight", "base.blocks.0.weight"}, {}}}),
        "all 2 names would fit with the prefix 'base.' before them");
    EXPECT_EQ(how({"in.weight", "layers.0.weight", "layers.1.weight"}, {kPlain}),
              "all 3 names would fit with 'blocks.' in place of 'layers.'");
    EXPECT_EQ(how(with(""), {kPlain}), "") << "nothing is missing";
    EXPECT_EQ(how({"x.weight", "y.weight"}, {kPlain}), "") << "no rule explains it";
    EXPECT_EQ(how({}, {kPlain}), "");
}

}  // namespace
}  // namespace relascope::core

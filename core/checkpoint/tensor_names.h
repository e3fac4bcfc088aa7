// SPDX-License-Identifier: GPL-3.0-or-later
// Maps the names of a file's tensors to the model's, whatever training wrapped around it, and finds
// tensors that do not belong to the model. Does not include torch.
//
// Wrappers and the names that they add: torch.nn.DataParallel and DistributedDataParallel
// ("module."), torch.compile ("_orig_mod."), FSDP ("_fsdp_wrapped_module.", "_fpw_module."),
// activation checkpointing ("_checkpoint_wrapped_module."), Fabric and Accelerate
// ("_forward_module."), Lightning modules ("model.", "net."), PEFT ("base_model.model."), averages
// of weights ("module." beside "n_averaged", "ema_model.").
#pragma once

#include <string>
#include <vector>

#include "model/shapes.h"
#include "types/checkpoint_info.h"
#include "types/model_options.h"

namespace relascope::core {

/// One set of names that a model's tensors may have in files: the model's own, or the names of a
/// public family with or without the prefix of its base model.
struct NamesOfModel {
    std::vector<std::string> required;
    std::vector<std::string> optional;  ///< further names of tied tensors
};

NamesOfModel namesOf(const std::vector<TensorShape>& shapes);
/// All forms of names that files of the model have. Throws OptionError as modelShapes().
std::vector<NamesOfModel> namesInFiles(const ModelOptions& model);

/// Sets `name` from `stored`: wrappers that stand anywhere in a name are removed, and those before
/// it that all tensors of the model share. `known` are the forms of names of the model; none where
/// no configuration says which model it is, and then the wrappers that all names share go. Returns
/// the reason why each tensor does not belong to the model, by index; "" for those that do.
std::vector<std::string> nameTensors(std::vector<StoredTensor>& tensors,
                                     const std::vector<NamesOfModel>& known);

/// How the names of a file differ from those of a model, where one rule explains it all: "all 45
/// names would fit without the prefix 'student.'"; empty where none does.
std::string howNamesDiffer(const std::vector<StoredTensor>& tensors,
                           const std::vector<NamesOfModel>& known);

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
// Options of a run as text: the command line's --set, tables of differences, messages.
#pragma once

#include <string>

#include "types/field_text.h"
#include "types/run_options.h"

namespace relascope::core {

/// Whether a model option that only other architectures have is an error or has no effect.
enum class OtherArchitectures { Refuse, Ignore };

/// Sets an option as --set KEY=TEXT does. "train.early_stopping={...}" takes a JSON object of its
/// fields. Throws OptionError, for an unknown key with the nearest ones.
void setOption(RunOptions& options, const std::string& key, const std::string& text,
               OtherArchitectures others = OtherArchitectures::Refuse);
/// Sets options in order, the architecture first, as its options exist only after that.
void setOptions(RunOptions& options, const std::vector<std::pair<std::string, std::string>>& values,
                OtherArchitectures others = OtherArchitectures::Refuse);

/// Every option as key and text, in the order of the form; those that do not apply are left out.
std::vector<std::pair<std::string, std::string>> optionTexts(const RunOptions& options);

/// A short description of a model: "ViDAT sa1 ra1", "ViT sa2".
std::string modelText(const ModelOptions& model);

}  // namespace relascope::core

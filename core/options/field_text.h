// SPDX-License-Identifier: GPL-3.0-or-later
// Options of a run as text: the command line's --set, tables of differences, messages.
#pragma once

#include <string>

#include "types/field_text.h"
#include "types/run_options.h"

namespace relascope::core {

/// What to do with a model option that only other architectures have.
enum class OtherArchitectures { Refuse, Ignore };

/// --set KEY=TEXT. "train.early_stopping={...}" takes a JSON object of its fields. Throws
/// OptionError; an unknown key names the nearest ones.
void setOption(RunOptions& options, const std::string& key, const std::string& text,
               OtherArchitectures others = OtherArchitectures::Refuse);
/// Applies them in order, the architecture first, as its options exist only after that.
void setOptions(RunOptions& options, const std::vector<std::pair<std::string, std::string>>& values,
                OtherArchitectures others = OtherArchitectures::Refuse);

/// Every option as key and text, in the order of the form; those that do not apply are left out.
std::vector<std::pair<std::string, std::string>> optionTexts(const RunOptions& options);

/// "ViDAT sa1 ra1", "ViT sa2".
std::string modelText(const ModelOptions& model);

}  // namespace relascope::core

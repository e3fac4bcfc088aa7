// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration of published checkpoints: constructor arguments as JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "types/model_options.h"

namespace relascope::core {

/// Reads the golden form {"class", "arguments"}, or the hub's: the arguments of a language model,
/// image model or sequence model alone, with the class inferred from the keys (`n_heads_ra` means
/// dual attention). Throws OptionError naming a key that is missing, of the wrong type, out of
/// bounds or not supported. A configuration of a public family (model/public/family.h) has its
/// `model_type`; `shape` and `unused` are as in modelOfFamily().
ModelOptions modelFromPublishedConfig(
    const std::string& text,
    const std::function<std::vector<std::int64_t>(const std::string&)>& shape = {},
    std::vector<std::string>* unused = nullptr);

/// Whether a configuration is one of a public family, whose tensors keep the file's own names.
bool isFamilyConfig(const std::string& text);

/// The names of the classes of a family's configuration (`id2label`), by id; empty without any.
std::vector<std::string> classNamesOfConfig(const std::string& text);

/// The configuration of a public family after training: with the classes of a new classifier and
/// their names, as far as given, and untied where the output was stored apart. Otherwise as
/// it is.
std::string configOfTrained(const std::string& text, const ModelOptions& model,
                            const std::vector<std::string>& classNames);

/// The inverse of modelFromPublishedConfig(), in the names of the published constructors: the bare
/// arguments for language models (as the hub stores them), {"class", "arguments"} for all others.
std::string modelToPublishedConfig(const ModelOptions& model);

}  // namespace relascope::core

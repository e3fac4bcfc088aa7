// SPDX-License-Identifier: GPL-3.0-or-later
// The files of nanochat: model_000200.pt, a state dictionary, with its configuration in
// meta_000200.json beside it, one pair for each step that was kept (formats.md section 18). Does
// not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope::core {

/// The step of "model_000200.pt", from a path or a name; -1 for other names.
std::int64_t nanochatStep(const std::string& path);
/// The weights of the largest step in a folder; empty without any.
std::string newestNanochat(const std::string& folder);
/// The meta file of weights by that name, whether it is there or not.
std::string nanochatMeta(const std::string& weights);

/// The configuration in a meta file, with `model_type`. Throws FileError naming file and key.
std::string nanochatConfig(const std::string& meta);
/// The configuration in the text of such a file.
std::string nanochatConfigIn(const std::string& text, const std::string& meta);
/// Throws FileError for weights of nanochat without their meta file, naming another that is there.
void requireNanochatMeta(const std::string& weights);

/// Writes the meta file of `weights`, which were converted from files beside `source`: a copy of
/// theirs, or one with the configuration alone.
void writeNanochatMeta(const std::string& weights, const std::string& source,
                       const std::string& configuration);
/// Copies the meta file that the weights `source` have, if they have one, to a folder.
void copyNanochatMeta(const std::string& source, const std::string& folder);

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
// Text as training data: files, folders, JSON lines or token shards, tokenised once into a cache
// that is keyed by content, and read as windows from a mapped file.
#pragma once

#include <stop_token>

#include "data/dataset.h"
#include "types/data_options.h"
#include "types/error.h"

namespace relascope::core {

/// A text of which no window of data.context tokens fits into both splits.
class ShortText : public FileError {
    using FileError::FileError;
};

/// Opens data.path: a text file (also .gz), a folder of them (in the order of their names), JSON
/// lines (.jsonl, .json: one object a line or an array), or token shards (.bin, .npy; formats.md 8;
/// or a folder of them); empty means the English text that comes with Relascope. The last
/// validation_fraction is held out; with 0, both splits are the whole text. With the tokenizer
/// "characters" the vocabulary is that of the whole text. Text is tokenised in pieces with progress
/// into a cache file, found again by content, tokenizer and version; without a writable cache
/// everything works, but more slowly. Throws FileError (file, record or offset, value; ShortText),
/// OptionError or Cancelled.
///
/// A document is a file, a record, or a part of a plain text between "<|endoftext|>" marks. Each
/// begins with the tokenizer's endOfText(); where it has none, a blank line stands between two.
/// Shards get the chosen tokenizer, else the one in their folder, else GPT-2's if their header says
/// so.
///
/// splits.trainEpoch: train_size windows an epoch (0: one round), from where the last epoch ended;
/// a round is the windows side by side, and each round begins at another offset. splits.train is
/// epoch 0. splits.validation: validation_size of the windows held out, spread evenly, always the
/// same.
DataSplits openText(const DataOptions& options, const ProgressCallback& progress = {},
                    std::stop_token stop = {});

/// The path of the installed English text; empty if it is not installed.
std::string installedText();

/// Refuses token shards whose ids are beyond `vocabulary`, naming file and offset, and texts with
/// tokens that were added to their tokenizer and that the model does not have. Reads the mapped
/// file once; the result is cached.
void requireTokensWithin(const DataSplits& splits, std::int64_t vocabulary,
                         const ProgressCallback& progress = {}, std::stop_token stop = {});

}  // namespace relascope::core

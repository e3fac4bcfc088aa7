// SPDX-License-Identifier: GPL-3.0-or-later
// From text files to token ids in the cache.
#pragma once

#include "data/dataset.h"
#include "data/text_files.h"
#include "data/token_file.h"
#include "types/data_options.h"

namespace relascope::core {

/// Reports the fraction done of several passes, ten times a second. Throws Cancelled on request of
/// the callback or the stop token.
class TextProgress {
public:
    TextProgress(const ProgressCallback& callback, std::stop_token stop)
        : m_callback(callback), m_stop(std::move(stop)) {}
    /// The next pass takes the progress from its current value to `fraction`.
    void begin(double fraction);
    void at(double fractionOfPass);
    const std::stop_token& stop() const { return m_stop; }

private:
    const ProgressCallback& m_callback;
    std::stop_token m_stop;
    double m_from = 0.0, m_to = 0.0;
    std::int64_t m_shown = 0;  // nanoseconds of the steady clock
};

struct EncodedText {
    TokenPart tokens;
    TokenizerPtr tokenizer;
};

/// Encodes the documents of the files, or returns them from the cache. `tokenizer` is null for
/// characters.
EncodedText encodeTexts(const std::vector<TextFile>& files, const TokenizerPtr& tokenizer,
                        const std::string& field, TextProgress& progress);

/// False if the files were written so recently that a further change could leave the same time.
bool isSettled(const std::vector<TextFile>& files);

}  // namespace relascope::core

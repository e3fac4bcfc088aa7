// SPDX-License-Identifier: GPL-3.0-or-later
// Opens text; core/data reads it.
#include "data/text.h"

#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

constexpr std::int64_t kLeastContext = 16;

// A short text is shown in shorter windows.
NamedSplits importText(const DataOptions& o, const core::ProgressCallback& progress,
                       std::stop_token stop) {
    DataOptions shorter = o;
    for (;;) try {
            const auto splits = core::openText(shorter, progress, stop);
            return {{"train", splits.train}, {"validation", splits.validation}};
        } catch (const core::ShortText&) {
            shorter.context /= 2;
            if (shorter.context < kLeastContext) throw;
        }
}

const KindOpenerRegistrar registered("text", {core::openText, nullptr, importText});

}  // namespace
}  // namespace relascope::datasets

// SPDX-License-Identifier: GPL-3.0-or-later
// Documents of a text, and padding: cells of attention that are closed besides those of the causal
// mask (models.md 2).
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "model/blocks/block_details.h"

namespace relascope::core {

/// Where the documents of a batch of texts begin. Query i may use key j if first[i] <= j <= i and
/// neither is padding. Empty: every text is one document.
struct Documents {
    torch::Tensor first;    ///< [b, m] int64: the position where the document of each token begins
    torch::Tensor padding;  ///< [b, m] bool: tokens that no token uses; undefined: there are none

    explicit operator bool() const { return first.defined(); }
    /// Whether some row has no open cell.
    bool closesRows() const { return padding.defined(); }
};

/// The documents of tokens [b, m], all that the model has read of the texts. Empty if the options
/// name no token that begins a document and no padding, or none of the tokens matters; on a device
/// that records a graph nothing is read back, and the result is not empty.
Documents documentsOf(const torch::Tensor& tokens, const DocumentOptions& options);

/// The mask of closed cells: true where query i of n, at position `before` + i, may not use key j
/// of m. [n, m], or [b, 1, n, m] with documents. `window` and `causal` as futureMask() has them.
torch::Tensor closedCells(std::int64_t n, std::int64_t m, std::int64_t before,
                          const torch::Device& device, std::int64_t window,
                          const Documents& documents, bool causal = true);

/// The documents of the current forward pass on this thread; empty outside of a scope.
const Documents& activeDocuments();

/// Makes documents current on this thread in its scope.
class DocumentScope {
public:
    explicit DocumentScope(const Documents& documents);
    ~DocumentScope();
    DocumentScope(const DocumentScope&) = delete;
    DocumentScope& operator=(const DocumentScope&) = delete;

private:
    Documents m_previous;
};

}  // namespace relascope::core

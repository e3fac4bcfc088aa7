// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/documents.h"

#include <utility>

#include "model/attention/attention.h"
#include "model/graph/device_graph.h"

namespace relascope::core {
namespace {
thread_local Documents t_documents;
}

Documents documentsOf(const torch::Tensor& tokens, const DocumentOptions& o) {
    if (!o.closesCells() || tokens.is_meta()) return {};
    const auto position = torch::arange(tokens.size(1), tokens.options());
    const bool reads = !isRecordingGraph();
    Documents documents;
    if (o.padding >= 0) {
        const auto padding = tokens.eq(o.padding);
        if (!reads || padding.any().item<bool>()) documents.padding = padding;
    }
    auto first = torch::zeros_like(tokens);
    if (o.document_start >= 0) {
        // The last start up to each token.
        const auto starts = torch::where(tokens.eq(o.document_start), position, first);
        first = std::get<0>(torch::cummax(starts, 1));
    }
    if (!reads || documents.padding.defined() || first.any().item<bool>()) documents.first = first;
    return documents;
}

torch::Tensor closedCells(std::int64_t n, std::int64_t m, std::int64_t before,
                          const torch::Device& device, std::int64_t window,
                          const Documents& documents, bool causal) {
    const auto future = futureMask(n, m, before, device, window, causal);
    if (!documents) return future;
    const auto j = torch::arange(m, documents.first.options());
    auto closed =
        future.logical_or(j.lt(documents.first.slice(1, before, before + n).unsqueeze(2)));
    if (documents.padding.defined())
        closed = closed.logical_or(documents.padding.slice(1, before, before + n).unsqueeze(2))
                     .logical_or(documents.padding.slice(1, 0, m).unsqueeze(1));
    return closed.unsqueeze(1);  // [b, 1, n, m]
}

const Documents& activeDocuments() {
    return t_documents;
}

DocumentScope::DocumentScope(const Documents& documents)
    : m_previous(std::exchange(t_documents, documents)) {}

DocumentScope::~DocumentScope() {
    t_documents = std::move(m_previous);
}

}  // namespace relascope::core

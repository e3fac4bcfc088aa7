// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/public/stored_form.h"

#include <torch/utils.h>

namespace relascope::core {

std::vector<torch::Tensor> partsOf(const FileTensor& tensor, const torch::Tensor& stored) {
    switch (tensor.form) {
        case StoredForm::Plain:
            break;
        case StoredForm::Transposed:
            return {stored.dim() == 2 ? stored.t() : stored};
        case StoredForm::Thirds:
            return (stored.dim() == 2 ? stored.t() : stored).chunk(3, 0);
        case StoredForm::Rows:
            return stored.split_with_sizes(tensor.rows, 0);
        case StoredForm::ByHead: {
            auto rows = tensor.rows;
            for (auto& count : rows) count /= tensor.heads;
            auto parts = stored.unflatten(0, {tensor.heads, stored.size(0) / tensor.heads})
                             .split_with_sizes(rows, 1);
            for (auto& part : parts) part = part.flatten(0, 1);
            return parts;
        }
        case StoredForm::Patches:
            return {stored.dim() == 4 ? stored.flatten(1) : stored};
        case StoredForm::PatchRows: {
            if (stored.dim() != 2) return {stored};
            const auto [rows, columns, channels] = tensor.patch;
            return {
                stored.unflatten(1, {rows, columns, channels}).permute({0, 3, 1, 2}).flatten(1)};
        }
        case StoredForm::Unbatched:
            return {stored.dim() == 1 ? stored.view({1, 1, -1}) : stored.unsqueeze(0)};
    }
    return {stored};
}

torch::Tensor storedOf(const FileTensor& tensor, const std::vector<torch::Tensor>& parts) {
    const auto& first = parts.front();
    switch (tensor.form) {
        case StoredForm::Plain:
            break;
        case StoredForm::Transposed:
            return first.dim() == 2 ? first.t() : first;
        case StoredForm::Thirds: {
            const auto all = torch::cat(parts, 0);
            return all.dim() == 2 ? all.t() : all;
        }
        case StoredForm::Rows:
            return torch::cat(parts, 0);
        case StoredForm::ByHead: {
            std::vector<torch::Tensor> heads;  // each [heads, d_h, ...]
            for (const auto& part : parts)
                heads.push_back(part.unflatten(0, {tensor.heads, part.size(0) / tensor.heads}));
            return torch::cat(heads, 1).flatten(0, 1);
        }
        case StoredForm::Patches:
        case StoredForm::Unbatched:
            return first.view(tensor.shape);
        case StoredForm::PatchRows: {
            if (first.dim() != 2) return first;
            const auto [rows, columns, channels] = tensor.patch;
            return first.unflatten(1, {channels, rows, columns}).permute({0, 2, 3, 1}).flatten(1);
        }
    }
    return first;
}

}  // namespace relascope::core

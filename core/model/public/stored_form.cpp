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
        case StoredForm::ByHead: {
            const auto heads =
                stored.unflatten(0, {tensor.heads, 3, stored.size(0) / (3 * tensor.heads)});
            return {heads.select(1, 0).flatten(0, 1), heads.select(1, 1).flatten(0, 1),
                    heads.select(1, 2).flatten(0, 1)};
        }
        case StoredForm::Patches:
            return {stored.dim() == 4 ? stored.flatten(1) : stored};
    }
    return {stored};
}

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/attention/row_kernels.h"

namespace relascope::core {
namespace {

struct Sizes {
    std::int64_t b, h, n, l, p;
};

Sizes sizesOf(const torch::Tensor& keys, std::int64_t relations) {
    return {keys.size(0), keys.size(1), keys.size(2), relations, keys.size(3) / relations};
}

// Rows of (b, i): data that all heads of a query share are read once.
template <class Row>
void forEachQuery(const Sizes& s, const Row& row) {
    const std::int64_t work = s.h * s.l * s.p;
    at::parallel_for(0, s.b * s.n, std::max<std::int64_t>(1, 32768 / work),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t at = begin; at < end; ++at) row(at / s.n, at % s.n);
                     });
}

struct ContractKeys : torch::autograd::Function<ContractKeys> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& keysIn, const torch::Tensor& qIn,
                                 std::int64_t relations, double scale) {
        const auto keys = keysIn.contiguous(), q = qIn.contiguous();
        const auto s = sizesOf(keys, relations);
        auto out = torch::empty({s.b, s.h, s.n, s.l}, keys.options());
        AT_DISPATCH_FLOATING_TYPES(keys.scalar_type(), "contractKeys", [&] {
            const auto* k = keys.const_data_ptr<scalar_t>();
            const auto* query = q.const_data_ptr<scalar_t>();
            auto* to = out.mutable_data_ptr<scalar_t>();
            const auto by = static_cast<scalar_t>(scale);
            const std::int64_t width = s.l * s.p;
            forEachQuery(s, [&](std::int64_t b, std::int64_t i) {
                const auto* x = query + (b * s.n + i) * width;
                for (std::int64_t h = 0; h < s.h; ++h) {
                    const std::int64_t row = (b * s.h + h) * s.n + i;
                    const auto* y = k + row * width;
                    for (std::int64_t l = 0; l < s.l; ++l) {
                        scalar_t sum = 0;
                        for (std::int64_t p = 0; p < s.p; ++p)
                            sum += y[l * s.p + p] * x[l * s.p + p];
                        to[row * s.l + l] = sum * by;
                    }
                }
            });
        });
        context->save_for_backward({keys, q});
        context->saved_data["relations"] = relations;
        context->saved_data["scale"] = scale;
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto &keys = saved[0], &q = saved[1];
        const auto s = sizesOf(keys, context->saved_data["relations"].toInt());
        const double scale = context->saved_data["scale"].toDouble();
        const auto given = gradients[0].contiguous();
        auto dKeys = torch::empty_like(keys), dQuery = torch::zeros_like(q);
        AT_DISPATCH_FLOATING_TYPES(keys.scalar_type(), "contractKeys", [&] {
            const auto* k = keys.const_data_ptr<scalar_t>();
            const auto* query = q.const_data_ptr<scalar_t>();
            const auto* g = given.const_data_ptr<scalar_t>();
            auto* dk = dKeys.mutable_data_ptr<scalar_t>();
            auto* dq = dQuery.mutable_data_ptr<scalar_t>();
            const auto by = static_cast<scalar_t>(scale);
            const std::int64_t width = s.l * s.p;
            forEachQuery(s, [&](std::int64_t b, std::int64_t i) {
                const auto* x = query + (b * s.n + i) * width;
                auto* dx = dq + (b * s.n + i) * width;
                for (std::int64_t h = 0; h < s.h; ++h) {
                    const std::int64_t row = (b * s.h + h) * s.n + i;
                    const auto* y = k + row * width;
                    auto* dy = dk + row * width;
                    for (std::int64_t l = 0; l < s.l; ++l) {
                        const scalar_t each = g[row * s.l + l] * by;
                        for (std::int64_t p = l * s.p; p < (l + 1) * s.p; ++p) {
                            dy[p] = each * x[p];
                            dx[p] += each * y[p];
                        }
                    }
                }
            });
        });
        return {dKeys, dQuery, torch::Tensor(), torch::Tensor()};
    }
};

}  // namespace

torch::Tensor contractKeys(const torch::Tensor& keys, const torch::Tensor& q,
                           std::int64_t relations, double scale) {
    const bool plain = keys.scalar_type() == torch::kFloat || keys.scalar_type() == torch::kDouble;
    if (keys.is_cpu() && plain && q.scalar_type() == keys.scalar_type())
        return ContractKeys::apply(keys, q, relations, scale);
    const auto s = sizesOf(keys, relations);
    const auto products = keys.view({s.b, s.h, s.n, s.l, s.p}) * q.view({s.b, 1, s.n, s.l, s.p});
    return products.sum(-1) * scale;
}

}  // namespace relascope::core

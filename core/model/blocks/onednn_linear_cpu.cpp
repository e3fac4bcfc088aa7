// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>

#include "model/blocks/onednn_linear.h"

namespace relascope::core {
namespace {

std::atomic<LinearForm> s_form = LinearForm::Automatic;

// Below, the longer call (about 10 microseconds) costs more than the faster product saves.
constexpr std::int64_t kFewestProducts = std::int64_t{1} << 20;

// The operators that LibTorch's compiler uses for linear layers; no header declares them.
using Pointwise = torch::Tensor(const torch::Tensor&, const torch::Tensor&,
                                const std::optional<torch::Tensor>&, std::string_view,
                                c10::List<std::optional<at::Scalar>>,
                                std::optional<std::string_view>);
using PointwiseAdd = torch::Tensor(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                   const std::optional<torch::Tensor>&, std::string_view);

struct Operators {
    std::optional<c10::TypedOperatorHandle<Pointwise>> linear;
    std::optional<c10::TypedOperatorHandle<PointwiseAdd>> linearAdd;
};

const Operators& operators() {
    static const Operators found = [] {
        Operators all;
        auto& dispatcher = c10::Dispatcher::singleton();
        const auto linear = dispatcher.findSchema({"mkldnn::_linear_pointwise", ""});
        const auto linearAdd = dispatcher.findSchema({"mkldnn::_linear_pointwise", "binary"});
        if (!linear || !linearAdd || !at::globalContext().hasMKLDNN()) return all;
        all.linear = linear->typed<Pointwise>();
        all.linearAdd = linearAdd->typed<PointwiseAdd>();
        return all;
    }();
    return found;
}

// MKL has AVX-512 code for Intel's processors only.
bool isIntel() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    static const bool intel = __builtin_cpu_is("intel");
    return intel;
#else
    return true;
#endif
}

std::optional<torch::Tensor> given(const torch::Tensor& x) {
    return x.defined() ? std::optional(x) : std::nullopt;
}

// a b^T + bias: a [m, k] is copied unless it is contiguous, b [n, k] may be a transposed view.
torch::Tensor multiply(const torch::Tensor& a, const torch::Tensor& b, const torch::Tensor& bias) {
    return operators().linear->call(a, b, given(bias), "none",
                                    c10::List<std::optional<at::Scalar>>(), "");
}
torch::Tensor multiplyAdd(const torch::Tensor& a, const torch::Tensor& b,
                          const torch::Tensor& sum) {
    return operators().linearAdd->call(a, sum, b, std::nullopt, "add");
}

// x^T as a contiguous copy, on all threads, by tiles: more than 16 rows at a distance of a power of
// two would push one another out of the first cache.
torch::Tensor transposed(const torch::Tensor& x) {
    constexpr std::int64_t kTile = 16;
    const std::int64_t rows = x.size(0), columns = x.size(1);
    auto y = torch::empty({columns, rows}, x.options());
    const auto* from = x.const_data_ptr<float>();
    auto* to = y.mutable_data_ptr<float>();
    const auto tile = [=](std::int64_t row, std::int64_t column) {
        const std::int64_t rowEnd = std::min(rows, row + kTile),
                           columnEnd = std::min(columns, column + kTile);
        for (std::int64_t c = column; c < columnEnd; ++c)
            for (std::int64_t r = row; r < rowEnd; ++r) to[c * rows + r] = from[r * columns + c];
    };
    at::parallel_for(0, (rows + kTile - 1) / kTile, std::max<std::int64_t>(1, 4096 / columns),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row)
                             for (std::int64_t c = 0; c < columns; c += kTile) tile(row * kTile, c);
                     });
    return y;
}

struct LinearLayers : torch::autograd::Function<LinearLayers> {
    static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                  const torch::Tensor& x, at::TensorList weights,
                                                  at::TensorList biases,
                                                  const std::vector<std::int64_t>& biasOf) {
        context->set_materialize_grads(false);
        const auto rows = x.contiguous();
        torch::autograd::variable_list outputs, saved = {rows};
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const auto bias = biasOf[i] < 0 ? torch::Tensor() : biases[biasOf[i]];
            outputs.push_back(multiply(rows, weights[i], bias));
            saved.push_back(weights[i]);
        }
        context->save_for_backward(saved);
        context->saved_data["biasOf"] = biasOf;
        return outputs;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto x = saved[0].view({-1, saved[0].size(-1)});
        const std::size_t count = saved.size() - 1;
        std::int64_t outputs = 0, products = 0;
        for (std::size_t i = 0; i < count; ++i) {
            auto& g = gradients[i];
            if (!g.defined()) continue;
            g = g.reshape({-1, g.size(-1)}).contiguous();
            outputs += g.size(1), products += g.size(1) * x.size(1);
        }
        // g^T x needs one of the two as a transposed copy: x, and then small results are transposed
        // back, or every g; the smaller.
        const bool turnsInput = x.numel() + products < x.size(0) * outputs;
        torch::Tensor dx, turned;
        const auto biasOf = context->saved_data["biasOf"].toIntVector();
        torch::autograd::variable_list all(numberOfInputs(biasOf));
        for (std::size_t i = 0; i < count; ++i) {
            const auto &g = gradients[i], &weight = saved[1 + i];
            if (!g.defined()) continue;
            if (context->needs_input_grad(0))
                dx = dx.defined() ? multiplyAdd(g, weight.t(), dx) : multiply(g, weight.t(), {});
            if (context->needs_input_grad(1 + i)) {
                if (turnsInput && !turned.defined()) turned = transposed(x);
                all[1 + i] = turnsInput ? transposed(multiply(turned, g.t(), {}))
                                        : multiply(transposed(g), x.t(), {});
            }
            const auto bias = 1 + count + static_cast<std::size_t>(biasOf[i]);
            if (biasOf[i] >= 0 && context->needs_input_grad(bias)) all[bias] = g.sum(0);
        }
        if (dx.defined()) all[0] = dx.view(saved[0].sizes());
        return all;
    }

    // x, the weights, the biases of those that have one, and the numbers of the biases.
    static std::size_t numberOfInputs(const std::vector<std::int64_t>& biasOf) {
        const auto biases =
            std::count_if(biasOf.begin(), biasOf.end(), [](auto i) { return i >= 0; });
        return 2 + biasOf.size() + static_cast<std::size_t>(biases);
    }
};

}  // namespace

LinearFormScope::LinearFormScope(LinearForm form) : m_previous(s_form.exchange(form)) {}
LinearFormScope::~LinearFormScope() {
    s_form = m_previous;
}

bool hasOnednnLinear(const torch::Tensor& x, const torch::Tensor& weight) {
    const auto form = s_form.load();
    if (form == LinearForm::Plain || (form == LinearForm::Automatic && isIntel())) return false;
    const auto served = [](const torch::Tensor& t) {
        return t.device().is_cpu() && t.scalar_type() == torch::kFloat &&
               t.layout() == torch::kStrided;
    };
    if (!served(x) || !served(weight) || !weight.is_contiguous() || x.numel() == 0) return false;
    if (at::autocast::is_autocast_enabled(at::kCPU)) return false;
    if (form == LinearForm::Automatic && x.numel() * weight.size(0) < kFewestProducts) return false;
    return operators().linear.has_value();
}

std::vector<torch::Tensor> onednnLinear(const torch::Tensor& x,
                                        const std::vector<LinearWeights>& layers) {
    return applyLayers<LinearLayers>(x, layers);
}

}  // namespace relascope::core

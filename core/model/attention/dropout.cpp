// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/dropout.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/attention/counter_mix.h"
#include "model/attention/tile_levels.h"

namespace relascope::core {
namespace {

// The mask of cell i of the whole is a function of (seed, i) alone; x and y begin at cell `begin`.
template <class Scalar>
inline __attribute__((always_inline)) void maskLoop(const Scalar* x, Scalar* y, std::int64_t begin,
                                                    std::int64_t count, std::uint64_t seed,
                                                    std::uint32_t threshold, Scalar scale) {
    const auto low = static_cast<std::uint32_t>(seed) + static_cast<std::uint32_t>(begin),
               high = static_cast<std::uint32_t>(seed >> 32);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t random =
            mixedCounter(mixedCounter(static_cast<std::uint32_t>(i) + low) ^ high);
        y[i] = random >= threshold ? x[i] * scale : Scalar(0);
    }
}

// All compiled versions give the same mask.
RELASCOPE_VECTORS void maskInto(const float* x, float* y, std::int64_t begin, std::int64_t count,
                                std::uint64_t seed, std::uint32_t threshold, float scale) {
    maskLoop(x, y, begin, count, seed, threshold, scale);
}
RELASCOPE_VECTORS void maskInto(const double* x, double* y, std::int64_t begin, std::int64_t count,
                                std::uint64_t seed, std::uint32_t threshold, double scale) {
    maskLoop(x, y, begin, count, seed, threshold, scale);
}

// The position of a tensor within the [.., rows, columns] of the whole mask.
struct Place {
    std::int64_t first, rows, columns;
};

torch::Tensor masked(const torch::Tensor& input, double p, std::uint64_t seed, const Place* place) {
    if (input.scalar_type() == torch::kBFloat16)
        return masked(input.to(torch::kFloat), p, seed, place).to(torch::kBFloat16);
    const auto x = input.contiguous();
    auto y = torch::empty_like(x);
    const auto threshold = static_cast<std::uint32_t>(p * 4294967296.0);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
        const auto* from = x.const_data_ptr<scalar_t>();
        auto* to = y.mutable_data_ptr<scalar_t>();
        const auto scale = static_cast<scalar_t>(1.0 / (1.0 - p));
        if (!place) {
            at::parallel_for(0, x.numel(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
                maskInto(from + begin, to + begin, begin, end - begin, seed, threshold, scale);
            });
            return;
        }
        const std::int64_t r = x.size(-2), c = x.size(-1), lines = x.numel() / c;
        at::parallel_for(0, lines, std::max<std::int64_t>(1, (1 << 15) / c),
                         [&](std::int64_t begin, std::int64_t end) {
                             for (std::int64_t line = begin; line < end; ++line) {
                                 const std::int64_t row =
                                     line / r * place->rows + place->first + line % r;
                                 maskInto(from + line * c, to + line * c, row * place->columns, c,
                                          seed, threshold, scale);
                             }
                         });
    });
    return y;
}

struct CounterDropout : torch::autograd::Function<CounterDropout> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                                 double p, std::int64_t seed, std::vector<std::int64_t> place) {
        context->saved_data["p"] = p;
        context->saved_data["seed"] = seed;
        context->saved_data["place"] = place;
        return maskedAs(x, p, seed, place);
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        return {maskedAs(gradients[0], context->saved_data["p"].toDouble(),
                         context->saved_data["seed"].toInt(),
                         context->saved_data["place"].toIntVector()),
                torch::Tensor(), torch::Tensor(), torch::Tensor()};
    }
    static torch::Tensor maskedAs(const torch::Tensor& x, double p, std::int64_t seed,
                                  const std::vector<std::int64_t>& place) {
        if (place.empty()) return masked(x, p, static_cast<std::uint64_t>(seed), nullptr);
        const Place where{place[0], place[1], place[2]};
        return masked(x, p, static_cast<std::uint64_t>(seed), &where);
    }
};

}  // namespace

std::int64_t drawDropoutSeed() {
    auto generator = at::detail::getDefaultCPUGenerator();
    std::lock_guard<std::mutex> lock(generator.mutex());
    return static_cast<std::int64_t>(
        at::check_generator<at::CPUGeneratorImpl>(generator)->random64());
}

torch::Tensor dropout(const torch::Tensor& x, double p) {
    if (p <= 0.0) return x;
    if (!x.is_cpu()) return torch::dropout(x, p, true);
    return CounterDropout::apply(x, p, drawDropoutSeed(), std::vector<std::int64_t>());
}

torch::Tensor dropoutRows(const torch::Tensor& x, double p, std::int64_t seed, std::int64_t first,
                          std::int64_t rows, std::int64_t columns) {
    if (p <= 0.0) return x;
    return CounterDropout::apply(x, p, seed, std::vector<std::int64_t>{first, rows, columns});
}

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/chunked_attention.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>
#include <torch/utils.h>

#include <algorithm>
#include <mutex>

#include "model/graph/device_graph.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Whether autocast is on, on the GPU and on the CPU.
struct AutocastOn {
    bool cuda, cpu;
};

// Autocast is set for each thread, and the backward pass of a GPU runs on another thread.
class AutocastAs {
public:
    explicit AutocastAs(AutocastOn on)
        : m_before(now()), m_cached(at::autocast::is_autocast_cache_enabled()) {
        set(on);
        // The autocast cache of weights is global: entries made in the backward pass would outlive
        // the optimizer step.
        at::autocast::set_autocast_cache_enabled(false);
    }
    ~AutocastAs() {
        at::autocast::set_autocast_cache_enabled(m_cached);
        set(m_before);
    }
    AutocastAs(const AutocastAs&) = delete;
    AutocastAs& operator=(const AutocastAs&) = delete;
    static AutocastOn now() {
        return {at::autocast::is_autocast_enabled(at::kCUDA),
                at::autocast::is_autocast_enabled(at::kCPU)};
    }

private:
    static void set(AutocastOn on) {
        at::autocast::set_autocast_enabled(at::kCUDA, on.cuda);
        at::autocast::set_autocast_enabled(at::kCPU, on.cpu);
    }
    AutocastOn m_before;
    bool m_cached;
};

// Kept by the autograd graph between the two passes.
struct BlockPlan : torch::CustomClassHolder {
    std::int64_t rows, blockRows;
    bool causal;
    AutocastOn autocast = AutocastAs::now();
    std::vector<ChunkInput::Part> parts;
    std::vector<std::int64_t> dims;
    BlockFunction attend;

    torch::Tensor part(std::size_t i, const torch::Tensor& whole, std::int64_t first,
                       std::int64_t count) const {
        if (parts[i] == ChunkInput::Part::Rows) return whole.narrow(dims[i], first, count);
        if (parts[i] == ChunkInput::Part::Columns && causal)
            return whole.narrow(dims[i], 0, first + count);
        return whole;
    }
};

struct RowBlocks : torch::autograd::Function<RowBlocks> {
    static variable_list forward(AutogradContext* context,
                                 const c10::intrusive_ptr<BlockPlan>& plan, at::TensorList inputs) {
        context->save_for_backward(inputs.vec());
        context->saved_data["plan"] = at::IValue::make_capsule(plan);
        std::vector<variable_list> outputs;
        for (std::int64_t first = 0; first < plan->rows; first += plan->blockRows) {
            const std::int64_t count = std::min(plan->blockRows, plan->rows - first);
            variable_list parts;
            for (std::size_t i = 0; i < inputs.size(); ++i)
                parts.push_back(plan->part(i, inputs[i], first, count));
            const auto results = plan->attend(parts, first);
            outputs.resize(results.size());
            for (std::size_t o = 0; o < results.size(); ++o) outputs[o].push_back(results[o]);
        }
        variable_list whole;
        for (const auto& pieces : outputs)
            whole.push_back(pieces.size() == 1 ? pieces[0] : torch::cat(pieces, 2));
        return whole;
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto plan =
            c10::static_intrusive_pointer_cast<BlockPlan>(context->saved_data["plan"].toCapsule());
        const auto inputs = context->get_saved_variables();
        variable_list sums(inputs.size());
        for (std::int64_t first = 0; first < plan->rows; first += plan->blockRows) {
            const std::int64_t count = std::min(plan->blockRows, plan->rows - first);
            variable_list parts, wanted;
            std::vector<std::size_t> which;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                parts.push_back(plan->part(i, inputs[i], first, count).detach());
                if (!inputs[i].requires_grad()) continue;
                parts.back().requires_grad_();
                wanted.push_back(parts.back());
                which.push_back(i);
            }
            variable_list outputs, given;
            {
                const torch::AutoGradMode enabled(true);
                const AutocastAs autocast(plan->autocast);
                const auto results = plan->attend(parts, first);
                for (std::size_t o = 0; o < results.size(); ++o) {
                    if (!gradients[o].defined() || !results[o].requires_grad()) continue;
                    outputs.push_back(results[o]);
                    given.push_back(gradients[o].narrow(2, first, count));
                }
            }
            const auto found = torch::autograd::grad(outputs, wanted, given, /*retain_graph=*/false,
                                                     /*create_graph=*/false, /*allow_unused=*/true);
            for (std::size_t k = 0; k < which.size(); ++k) {
                const std::size_t i = which[k];
                if (!found[k].defined()) continue;
                // Many blocks add to a key: in float32, also where the keys are bfloat16.
                if (!sums[i].defined())
                    sums[i] = torch::zeros_like(
                        inputs[i], inputs[i].scalar_type() == torch::kBFloat16 && inputs[i].is_cpu()
                                       ? torch::kFloat
                                       : inputs[i].scalar_type());
                plan->part(i, sums[i], first, count).add_(found[k]);
            }
        }
        sums.insert(sums.begin(), torch::Tensor());  // the plan has no gradient
        return sums;
    }
};

// The state of the generators that dropout uses.
struct Generators {
    torch::Tensor cpu, device;

    static at::Generator of(const torch::Device& device) {
        return at::globalContext().defaultGenerator(device);
    }
    static Generators save(const torch::Device& device) {
        const auto state = [](at::Generator generator) {
            std::lock_guard<std::mutex> lock(generator.mutex());
            return generator.get_state();
        };
        Generators g{state(of(torch::kCPU)), {}};
        if (!device.is_cpu()) g.device = state(of(device));
        return g;
    }
    void restore(const torch::Device& on) const {
        const auto put = [](at::Generator generator, const torch::Tensor& state) {
            std::lock_guard<std::mutex> lock(generator.mutex());
            generator.set_state(state);
        };
        put(of(torch::kCPU), cpu);
        if (!on.is_cpu()) put(of(on), device);
    }
};

struct RecomputePlan : torch::CustomClassHolder {
    std::function<torch::Tensor(const torch::Tensor&)> f;
    Generators before;
    AutocastOn autocast = AutocastAs::now();
};

struct Recomputed : torch::autograd::Function<Recomputed> {
    static torch::Tensor forward(AutogradContext* context,
                                 const c10::intrusive_ptr<RecomputePlan>& plan,
                                 const torch::Tensor& x) {
        if (isRecordingGraph())
            throw Error(
                "with train.activation_checkpointing the state of random numbers is saved in each "
                "block, which a graph cannot repeat");
        context->save_for_backward({x});
        plan->before = Generators::save(x.device());
        context->saved_data["plan"] = at::IValue::make_capsule(plan);
        const AutocastAs autocast(plan->autocast);
        return plan->f(x);
    }

    static variable_list backward(AutogradContext* context, variable_list gradients) {
        const auto plan = c10::static_intrusive_pointer_cast<RecomputePlan>(
            context->saved_data["plan"].toCapsule());
        const auto x = context->get_saved_variables()[0].detach().requires_grad_();
        const auto now = Generators::save(x.device());
        plan->before.restore(x.device());
        torch::Tensor y;
        {
            const torch::AutoGradMode enabled(true);
            const AutocastAs autocast(plan->autocast);
            y = plan->f(x);
        }
        now.restore(x.device());
        torch::autograd::backward({y}, {gradients[0]});
        return {torch::Tensor(), x.grad()};
    }
};

}  // namespace

std::vector<torch::Tensor> attendInChunks(std::int64_t rows, std::int64_t blockRows, bool causal,
                                          const std::vector<ChunkInput>& inputs,
                                          const BlockFunction& attend) {
    auto plan = c10::make_intrusive<BlockPlan>();
    plan->rows = rows;
    plan->blockRows = blockRows;
    plan->causal = causal;
    plan->attend = attend;
    variable_list tensors;
    for (const auto& input : inputs) {
        tensors.push_back(input.tensor);
        plan->parts.push_back(input.part);
        plan->dims.push_back(input.dim);
    }
    return RowBlocks::apply(plan, at::TensorList(tensors));  // autograd ignores vectors
}

torch::Tensor activationCheckpoint(const std::function<torch::Tensor(const torch::Tensor&)>& f,
                                   const torch::Tensor& x) {
    if (!torch::GradMode::is_enabled()) return f(x);
    auto plan = c10::make_intrusive<RecomputePlan>();
    plan->f = f;
    return Recomputed::apply(plan, x);
}

}  // namespace relascope::core

// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/cuda_dual_attention.h"

#include <ATen/autocast_mode.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>

#include "model/attention/cuda_calls.h"

namespace relascope::core {

using namespace cuda_calls;

namespace {

using kernels::KernelTable;
using kernels::SmallArgs;
using kernels::SmallPart;
using torch::autograd::variable_list;

}  // namespace

kernels::View cuda_calls::viewOfWr(const torch::Tensor& x) {
    const auto view = viewOf(x.dim() == 4 ? x : x.unsqueeze(0));
    return {view.data, x.dim() == 4 ? view.batch : 0, view.token, view.head};
}

std::size_t cuda_calls::sharedLimitOf(const KernelTable& table, const torch::Device& device) {
    kernels::DeviceLimits limits;
    const int index = device.is_cpu() ? 0 : device.index();
    return table.deviceLimits(index, &limits) == 0 ? limits.sharedBytes : 0;
}

namespace {

/// Arguments without pointers, for the backward pass too.
struct SmallCalls : torch::CustomClassHolder {
    SmallArgs args;
    const KernelTable* table = nullptr;
    std::int64_t groups[2] = {};  ///< blocks that write relations' gradients, for a batch element
};

// Rows of consecutive numbers: of W_r [h, d_h, d_r] as of all others.
torch::Tensor readableInput(const torch::Tensor& x) {
    return x.dim() == 4 ? readable(x) : x.contiguous();
}
SmallPart partOf(const KernelCall& call) {
    SmallPart part;
    part.rel = argsOf(call.in, call.options);
    part.symmetric = part.rel.relations > 0 && !call.in.relations.k.defined();
    return part;
}

struct SmallHeads : torch::autograd::Function<SmallHeads> {
    // `inputs` are those of each part in turn: q, k, s and, with relations, q_rel, k_rel (unless
    // symmetric) and W_r. Gives the outputs [b, n, h, d_h] of each part.
    static variable_list forward(torch::autograd::AutogradContext* context,
                                 const c10::intrusive_ptr<SmallCalls>& calls,
                                 at::TensorList inputs) {
        const auto device = inputs[0].device();
        const c10::DeviceGuard guard(device);
        SmallArgs& args = calls->args;
        variable_list in, outputs;
        for (const auto& x : inputs) in.push_back(readableInput(x));
        point(args, in);
        for (int i = 0; i < args.count; ++i) {
            auto& a = args.parts[i].rel;
            outputs.push_back(
                torch::empty({a.batch, a.queries, a.heads, a.valueDim}, in[0].options()));
            a.out = viewOf(byHead(outputs.back()));
        }
        require(*calls->table, calls->table->smallForward(&args, streamOf(device)), "forward");
        context->save_for_backward(in);
        context->saved_data["calls"] = at::IValue::make_capsule(calls);
        return outputs;
    }

    static variable_list backward(torch::autograd::AutogradContext* context,
                                  variable_list gradients) {
        const auto calls = c10::static_intrusive_pointer_cast<SmallCalls>(
            context->saved_data["calls"].toCapsule());
        SmallArgs args = calls->args;
        const auto in = context->get_saved_variables();
        const auto device = in[0].device();
        const c10::DeviceGuard guard(device);
        point(args, in);
        variable_list found = {torch::Tensor()};  // of the calls
        std::vector<std::size_t> summed;          // what several blocks write their parts of
        variable_list dOut;                       // lives until the launch
        const auto relationGradients = [&](const SmallPart& part, std::int64_t groups,
                                           std::int64_t& distance) {
            const auto& a = part.rel;
            const auto parts =
                torch::empty({groups, a.batch, a.queries, a.relations, a.relDim}, in[0].options())
                    .transpose(2, 3);
            distance = parts.stride(0);
            if (groups > 1) summed.push_back(found.size());
            found.push_back(groups > 1 ? parts : parts[0]);
            return viewOf(parts[0]);
        };
        for (int i = 0; i < args.count; ++i) {
            SmallPart& part = args.parts[i];
            auto& a = part.rel;
            dOut.push_back(readable(byHead(gradients[static_cast<std::size_t>(i)])));
            a.dOut = viewOf(dOut.back());
            for (auto* gradient : {&a.dq, &a.dk, &a.ds}) {
                found.push_back(emptyLike(in[found.size() - 1]));
                *gradient = viewOf(found.back());
            }
            if (a.relations == 0) continue;
            a.dqRel = relationGradients(part, calls->groups[i], part.dqRelGroup);
            if (!part.symmetric)
                a.dkRel = relationGradients(part, calls->groups[i], part.dkRelGroup);
            summed.push_back(found.size());
            found.push_back(
                torch::empty({a.batch, a.heads, a.valueDim, a.relations}, in[0].options()));
            part.dwr = viewOfWr(found.back());
        }
        require(*calls->table, calls->table->smallBackward(&args, streamOf(device)), "backward");
        for (const auto i : summed) found[i] = found[i].sum(0);
        return found;
    }

private:
    static void point(SmallArgs& args, const variable_list& in) {
        auto next = in.begin();
        for (int i = 0; i < args.count; ++i) {
            SmallPart& part = args.parts[i];
            auto& a = part.rel;
            a.q = viewOf(*next++), a.k = viewOf(*next++), a.s = viewOf(*next++);
            if (a.relations == 0) continue;
            a.qRel = viewOf(*next++);
            a.kRel = part.symmetric ? a.qRel : viewOf(*next++);
            part.wr = viewOfWr(*next++);
        }
    }
};

}  // namespace

bool cuda_calls::hasRoomForSmall(const KernelTable& table, const torch::Device& device,
                                 const SmallPart& part) {
    return table.small(part, sharedLimitOf(table, device)).serves();
}

std::vector<torch::Tensor> cuda_calls::smallAttentionBy(const KernelTable& table,
                                                        const std::vector<KernelCall>& calls) {
    const auto device = calls.at(0).in.q.device();
    const auto all = c10::make_intrusive<SmallCalls>();
    all->table = &table;
    all->args.count = static_cast<int>(calls.size());
    all->args.sharedLimit = sharedLimitOf(table, device);
    variable_list inputs;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& in = calls[i].in;
        SmallPart& part = all->args.parts[i];
        part = partOf(calls[i]);
        if (part.rel.dropThreshold > 0) part.rel.philox = drawPhilox(device);
        all->groups[i] = table.small(part, all->args.sharedLimit).backwardGroups;
        auto s = in.v;
        if (in.maxOffset >= 0)
            s = s.unsqueeze(0).expand({in.q.size(0), s.size(0), s.size(1), s.size(2)});
        inputs.insert(inputs.end(), {in.q, in.k, s});
        if (part.rel.relations == 0) continue;
        inputs.push_back(in.relations.q);
        if (!part.symmetric) inputs.push_back(in.relations.k);
        inputs.push_back(in.relations.wr);
    }
    auto outputs = SmallHeads::apply(all, at::TensorList(inputs));
    for (auto& out : outputs) out = out.flatten(2);
    return outputs;
}

bool servesSmall(const torch::Tensor& x, const std::vector<KernelHeads>& heads) {
    if (x.scalar_type() != torch::kFloat || x.numel() == 0 || heads.empty() || heads.size() > 2 ||
        at::autocast::is_autocast_enabled(x.device().type()))
        return false;
    const KernelTable* table = tableFor(x.device());
    if (!table) return false;
    return std::all_of(heads.begin(), heads.end(), [&](const KernelHeads& h) {
        if (h.form != AttentionForm::Automatic && h.form != AttentionForm::Cuda) return false;
        if (!knowsActivation(h.relActivation)) return false;
        SmallPart part;
        auto& a = part.rel;
        const auto narrow = [](std::int64_t size) { return static_cast<std::int32_t>(size); };
        a.batch = narrow(x.size(0)), a.queries = a.keys = narrow(x.size(1));
        a.heads = narrow(h.heads), a.keyHeads = narrow(h.keyHeads);
        a.keyDim = narrow(h.keyDim), a.valueDim = narrow(h.valueDim);
        a.relations = narrow(h.relations), a.relDim = narrow(h.relDim);
        a.maxOffset = narrow(h.maxOffset);
        part.symmetric = h.symmetric;
        return hasRoomForSmall(*table, x.device(), part);
    });
}

std::vector<torch::Tensor> smallAttention(const std::vector<KernelCall>& calls) {
    return smallAttentionBy(*tableFor(calls.at(0).in.q.device()), calls);
}

}  // namespace relascope::core

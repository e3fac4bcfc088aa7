// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/attribute/direction.h"

#include <torch/utils.h>

#include "interventions/editor.h"
#include "model/public/public_image_model.h"

namespace relascope::core {
namespace {

// The weights [d] of x, through a norm whose scale is held at its value for x [d].
torch::Tensor throughNorm(NormImpl& norm, const torch::Tensor& x, const torch::Tensor& weights) {
    if (norm.isNone()) return weights;
    const auto weight = norm.gain().defined() ? precise(norm.gain()) : torch::ones_like(weights);
    auto y = precise(norm.forward(x));
    auto scaled = precise(x), back = weights * weight;
    if (norm.bias.defined()) y = y - precise(norm.bias);
    if (norm.centres()) {  // centring is linear and its own transpose
        scaled = scaled - scaled.mean();
        back = back - back.mean();
    }
    scaled = scaled * weight;
    const double size = scaled.square().sum().item<double>();
    return size > 0 ? back * ((y * scaled).sum() / size) : torch::zeros_like(back);
}

// Adds the direction `of` [d] of what a learned query makes of tokens x [1, n, d] to `into` [n, d],
// by the weights that it has for them.
void throughQuery(LearnedQueryImpl& query, const torch::Tensor& x, const torch::Tensor& of,
                  torch::Tensor into, std::vector<std::pair<std::string, double>>& biases) {
    PointReader reader({"pool.hook_pattern", "pool.hook_mlp_out"});
    {
        const InterventionScope scope(&reader);
        query.forward(x);
    }
    const auto alpha = precise(reader.tensors().at("pool.hook_pattern"))[0].squeeze(1);  // [h, n]
    const auto& attention = *query.query_attn;
    const auto heads = alpha.size(0);
    const auto ofHeads = torch::matmul(of, precise(attention.wo->weight)).view({heads, -1});
    const auto values = precise(attention.wv->weight).view({heads, -1, x.size(2)});
    into += torch::einsum("hn,hk,hkd->nd", {alpha, ofHeads, values});
    double bias = (of * precise(attention.wo->bias)).sum().item<double>();
    bias += (ofHeads.flatten() * precise(attention.wv->bias)).sum().item<double>();
    biases.emplace_back("learned query", bias);
    const auto fed = precise(reader.tensors().at("pool.hook_mlp_out"))[0][0];
    biases.emplace_back("feed-forward of the learned query", (of * fed).sum().item<double>());
}

// The direction through the end of a model of images (public_image_model.h). `row`: of the weight
// or bias of a classifier, for the chosen answers.
template <class Row>
Direction imageDirection(PublicImageModelImpl& model, const torch::Tensor& x, const Row& row) {
    Direction d;
    const auto& o = model.imageOptions();
    const auto enter = [&](const char* name, const torch::Tensor& weights,
                           const torch::Tensor& bias) {
        if (bias.defined())
            d.biases.emplace_back(name, (weights * precise(bias)).sum().item<double>());
    };
    const auto one = torch::ones({1}, torch::kDouble);
    auto& norm = *model.final_norm;
    const auto normed = norm.forward(x);           // [1, n, d]
    auto back = torch::zeros_like(precise(x[0]));  // of the normed tokens
    if (o.two_classifiers) {
        for (std::int64_t token = 0; token < 2; ++token) {
            const auto& layer = token == 0 ? *model.class_out : *model.distillation_out;
            back[token] += row(layer.weight) / 2;
            if (layer.bias.defined()) enter("output layer", one, row(layer.bias) / 2);
        }
    } else {
        torch::Tensor of;  // of the features, then of what was pooled
        if (const auto& head = model.givenHead(); head.weights.defined()) {
            // Their length is held as the scale of a norm is.
            const double length =
                head.unit ? precise(model.features(x)).norm().item<double>() : 1.0;
            of = row(head.weights) / std::max(length, 1e-300);
            if (head.bias.defined()) enter("head", one, row(head.bias));
        } else {
            of = row(model.final_out->weight);
            if (model.final_out->bias.defined())
                enter("output layer", one, row(model.final_out->bias));
        }
        if (!model.projection.is_empty()) {
            enter("projection", of, model.projection->bias);
            of = torch::matmul(of, precise(model.projection->weight));
        }
        const auto first = o.pool_all ? 0 : o.before(), count = x.size(1) - first;
        if (!model.pooled_norm.is_empty()) {
            enter("norm of the pooled", of, model.pooled_norm->bias);
            of = throughNorm(*model.pooled_norm, model.pooled(normed)[0], of);
        }
        const auto mean = [&](const torch::Tensor& weights) {
            back.slice(0, first) += weights / static_cast<double>(count);
        };
        if (o.pool == "query")
            throughQuery(*model.pool, normed.slice(1, first), of, back.slice(0, first), d.biases);
        else if (o.pool == "mean")
            mean(of);
        else
            back[0] += of.slice(0, 0, x.size(2));
        if (o.pool == "cls_mean") mean(of.slice(0, x.size(2)));
    }
    enter("final norm", back.sum(0), norm.bias);
    std::vector<torch::Tensor> weights;
    for (std::int64_t token = 0; token < x.size(1); ++token)
        weights.push_back(throughNorm(norm, x[0][token], back[token]));
    d.weights = torch::stack(weights);
    return d;
}

}  // namespace

Direction directionOf(const AnswerStream& stream, const torch::Tensor& x,
                      const AttributionOptions& what, std::int64_t position) {
    using Pool = AnswerStream::Pool;
    Direction d;
    const auto row = [&](const torch::Tensor& of) {  // of a weight or bias, for the chosen answers
        const auto one = [&](std::int64_t id) {
            if (id < 0) return torch::zeros_like(precise(of[0]));
            if (of.size(0) > 1) return precise(of[id]);
            return id == 1 ? precise(of[0]) : torch::zeros_like(precise(of[0]));  // a single score
        };
        return one(what.answer) - one(what.minus);
    };
    const auto bias = [&](const char* name, const torch::Tensor& value) {
        d.biases.insert(d.biases.begin(), {name, value.sum().item<double>()});
    };
    if (stream.images) return imageDirection(*stream.images, x, row);
    const auto& out = *stream.out;
    const double scale = stream.form ? stream.form->logit_scale : 1.0;
    auto back = row(out.weight) * scale;
    if (out.bias.defined()) bias("output layer", row(out.bias) * scale);
    if (!stream.project.is_empty()) back = torch::matmul(back, precise(stream.project->weight));
    const auto pooled = stream.pool == Pool::None ? x[0][position] : stream.pooled(x)[0][0];
    if (!stream.hidden.is_empty()) {
        // A relu's gates are held as the norm's scale is.
        const auto& hidden = *stream.hidden;
        back = back * precise(hidden.forward(pooled)).gt(0).to(torch::kDouble);
        if (hidden.bias.defined()) bias("hidden layer", back * precise(hidden.bias));
        back = torch::matmul(back, precise(hidden.weight));
    }
    if (!stream.norm.is_empty()) {
        auto& norm = *stream.norm.ptr();
        if (norm.bias.defined()) bias("final norm", back * precise(norm.bias));
        back = throughNorm(norm, pooled, back);
    }
    const auto n = x.size(1);
    switch (stream.pool) {
        case Pool::None:
            d.first = position;
            [[fallthrough]];
        case Pool::First:
        case Pool::Ended:
            d.weights = back.unsqueeze(0);
            break;
        case Pool::Mean:
            d.weights = (back / static_cast<double>(n)).expand({n, back.size(0)});
            break;
        case Pool::Flat:
            d.weights = back.view({n, -1});
            break;
    }
    return d;
}

}  // namespace relascope::core
